import type { PeopleField } from '../../app/rules/userRule.ts';
import { distinctBy, isObject } from '../../shared/collections.ts';
import { changeAt, type DataPath } from './actor.ts';

export interface NamedPerson {
  readonly at: DataPath;
  readonly userId: string;
}

type Profile = Readonly<Record<string, unknown>>;
type Tagged = Readonly<Record<string, unknown>>;

const MAX_NAMES = 10;

export function peopleIn(data: unknown, fields: readonly PeopleField[]): NamedPerson[] {
  const people: NamedPerson[] = [];
  const add = (at: DataPath, userId: unknown) => {
    if (typeof userId === 'string') people.push({ at, userId });
  };
  const idOf = { users: userIdOf, tagged: taggedId, userIds: (value: unknown) => value } as const;
  for (const { path, holds } of fields)
    changeAt(data, path.split('.'), (value, at) => {
      if (holds === 'user') add(at, userIdOf(value));
      else if (Array.isArray(value))
        for (const [index, item] of value.entries()) add([...at, index], idOf[holds](item));
      return value;
    });
  return people;
}

/** Stored profiles replace all but `userId` and the `text` of a mention. */
export function completePeople(
  data: unknown,
  fields: readonly PeopleField[],
  profiles: ReadonlyMap<string, Profile>,
): unknown {
  const withProfile = (userId: unknown) => ({ ...profiles.get(String(userId)), userId });
  const user = (value: unknown) => (isObject(value) ? withProfile(value.userId) : value);
  const tagged = (value: unknown) => {
    if (!isObject(value)) return value;
    const { userId, contact, text }: Tagged = value;
    return {
      ...(userId != null && { userId }),
      ...(contact != null && { contact: withProfile(taggedId(value)) }),
      ...(typeof text === 'string' && { text }),
    };
  };
  const inList = (change: (value: unknown) => unknown) => (value: unknown) =>
    Array.isArray(value) ? value.map(change) : value;
  const changes = { user, users: inList(user), tagged: inList(tagged), userIds: (value: unknown) => value } as const;
  return fields.reduce((completed, { path, holds }) => changeAt(completed, path.split('.'), changes[holds]), data);
}

export function findStrangers(
  data: unknown,
  fields: readonly PeopleField[],
  strangers: ReadonlySet<string>,
  participants: ReadonlySet<string> = new Set(),
): NamedPerson[] {
  if (strangers.size === 0) return [];
  return peopleIn(data, fields).filter(({ userId }) => strangers.has(userId) && !participants.has(userId));
}

export function namesRefusal(
  data: unknown,
  fields: readonly PeopleField[],
  strangers: ReadonlySet<string>,
): string | undefined {
  return strangersMessage(findStrangers(data, fields, strangers));
}

/** Unknown users and users of other organizations get the same message, so ids cannot be guessed. */
export function strangersMessage(people: readonly NamedPerson[]): string | undefined {
  const [first] = people;
  if (!first) return undefined;
  const names = distinctBy(people, ({ userId }) => userId).map(({ userId }) => userId);
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return `${first.at.join('.')} must not name users who are not members of the organization, have no grant on the document or a folder above it, and take no part in the thread: ${names.slice(0, MAX_NAMES).join(', ')}${more}`;
}

function userIdOf(user: unknown): unknown {
  return isObject(user) ? user.userId : undefined;
}

function taggedId(tagged: unknown): unknown {
  return userIdOf(tagged) ?? (isObject(tagged) ? userIdOf(tagged.contact) : undefined);
}
