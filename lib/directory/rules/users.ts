import * as z from 'zod';
import { accessRoles } from '../../app/rules/access.ts';
import { isNearName } from '../../shared/nearName.ts';
import { defineNamedSchema, Id, optional, UserProfile, withFurtherFields } from '../../shared/schema.ts';

/** Further fields are ignored, but not a misspelt `accessRole`: without it, the user would be an editor. */
export const UserWithRole = /* @__PURE__ */ defineNamedSchema('UserWithRole', () =>
  withFurtherFields(
    UserProfile.extend({
      userId: Id,
      accessRole: optional(z.enum(accessRoles)).describe(
        'The role on the organization, document or folder of the call. A new user is an `editor` by default; an existing role stays.',
      ),
    }).describe(
      'A user with profile and role. Fields of the profile that are not sent stay. Other fields than these are ignored.',
    ),
    (name) => !isNearName(name, 'accessRole'),
  ),
);

interface ProfileFields {
  readonly name?: string | undefined;
  readonly initial?: string | undefined;
}

/** A new name also changes the initial, unless an initial was sent. */
export function mergeProfile<P extends ProfileFields>(stored: P, sent: P): P {
  const sentFields = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as P;
  const initial = sentFields.initial ?? (sentFields.name === undefined ? stored.initial : initialOf(sentFields.name));
  return { ...stored, ...sentFields, ...(initial !== undefined && { initial }) };
}

function initialOf(name: string): string | undefined {
  const [first] = new Intl.Segmenter().segment(name.trim());
  return first?.segment.toUpperCase();
}

interface SearchableUser {
  readonly userId: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

/** Each word must be part of the name, e-mail address or user id, ignoring case. */
export function matchesUser(searchKey: string): (user: SearchableUser) => boolean {
  const words = normalize(searchKey)
    .split(/\s+/)
    .filter((word) => word !== '');
  return ({ userId, name = '', email = '' }) => {
    const fields = [name, email, userId].map(normalize);
    return words.every((word) => fields.some((field) => field.includes(word)));
  };
}

/** NFKC replaces variants such as full-width letters by the plain characters. */
function normalize(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
