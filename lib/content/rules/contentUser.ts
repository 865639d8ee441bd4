import * as z from 'zod';
import { defineNamedSchema, Id, StoredProfile, UserProfile, withFurtherFields } from '../../shared/schema.ts';

/** Clients send whole users of their own, so further fields are ignored. */
export const ContentUser = /* @__PURE__ */ defineNamedSchema('UserInput', () =>
  withFurtherFields(
    UserProfile.extend({ userId: Id }).describe(
      'A user whom a request names. The stored profile fills in `name`, `email` and `photoUrl` where mails, webhooks and notifications need them. With user tokens it always counts. Other fields than these are ignored.',
    ),
  ),
);
export type ContentUser = z.output<typeof ContentUser>;

export const StoredUser = /* @__PURE__ */ defineNamedSchema('User', () =>
  z
    .object({ userId: z.string(), ...StoredProfile.shape })
    .describe('A user in content. User tokens get the `email` of their own user only.'),
);

export type ProfileResponse = Pick<ContentUser, 'name' | 'email' | 'photoUrl'>;

export interface NamedUser {
  readonly name?: unknown;
  readonly email?: unknown;
  readonly photoUrl?: unknown;
}

/** Both can be null in published events. */
export function isIncomplete({ name, email }: NamedUser): boolean {
  return name == null || email == null;
}

export function completeUser<U extends NamedUser>(user: U, profile: ProfileResponse | undefined): U {
  if (!profile || !isIncomplete(user)) return user;
  const { name, email, photoUrl } = profile;
  const missing = Object.entries({ name, email, photoUrl }).filter(
    ([field, value]) => value !== undefined && user[field as keyof NamedUser] == null,
  );
  return missing.length > 0 ? { ...user, ...Object.fromEntries(missing) } : user;
}

export const MAX_INVOLVED_USERS = 50;
