import type { Visibility } from '../../directory/rules/visibility.ts';
import { readJson } from '../../shared/jsonFields.ts';
import type { ContentUser } from './contentUser.ts';

/** Rules for removed and erased users. Their names in free text stay, because they cannot be recognised. */

export interface RemovedUsers {
  readonly userIds: ReadonlySet<string>;
  /** Epoch ms. Later records do not change. */
  readonly removedAt: number;
}

export type Open = Readonly<Record<string, unknown>>;

const personalFields: ReadonlySet<string> = new Set([
  'name',
  'email',
  'photoUrl',
  'initial',
  'color',
  'textColor',
  'plan',
]);

export function keepId<U extends ContentUser>(user: U, { userIds }: RemovedUsers): U | { userId: string } {
  return userIds.has(user.userId) ? { userId: user.userId } : user;
}

export function isMadeBy(userId: string, at: number, { userIds, removedAt }: RemovedUsers): boolean {
  return at <= removedAt && userIds.has(userId);
}

function removePersonalFields(value: unknown, removed: RemovedUsers): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => removePersonalFields(item, removed));
  const object = value as Open;
  const isOfRemovedUser =
    Object.hasOwn(object, 'userId') && typeof object.userId === 'string' && removed.userIds.has(object.userId);
  const remaining = Object.entries(object).filter(([key]) => !isOfRemovedUser || !personalFields.has(key));
  return Object.fromEntries(remaining.map(([key, part]) => [key, removePersonalFields(part, removed)]));
}

/** Returns the same text if nothing changes. */
function removePersonalFieldsFromText(text: string | undefined, removed: RemovedUsers): string | undefined {
  if (text === undefined || !canMention(text, removed)) return text;
  const before: unknown = JSON.parse(text);
  const after = JSON.stringify(removePersonalFields(before, removed));
  return after === JSON.stringify(before) ? text : after;
}

const USER_ID = /"userId":("(?:[^"\\]|\\.)*")/g;

/** Avoids parsing most texts: an erasure of up to 500 users reads all comments of a thread in one step. */
function canMention(text: string, { userIds }: RemovedUsers): boolean {
  for (const [, id = ''] of text.matchAll(USER_ID)) if (userIds.has(JSON.parse(id) as string)) return true;
  return false;
}

export function changedFieldsWithoutPersonal<T extends object>(
  record: T,
  fields: readonly (keyof T)[],
  removed: RemovedUsers,
): Partial<T> {
  const changed = fields.flatMap((field) => {
    const before = record[field] as string | undefined;
    const after = removePersonalFieldsFromText(before, removed);
    return after === before ? [] : [[field, after]];
  });
  return Object.fromEntries(changed) as Partial<T>;
}

/** Returns the same object if nothing changes, so that callers skip the write. */
export function withChanges<T extends object>(before: T, changes: Partial<T>): T {
  const different = Object.entries(changes).some(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof T]),
  );
  return different ? { ...before, ...changes } : before;
}

export function withoutUsers(text: string | undefined, { userIds }: RemovedUsers): string | undefined {
  return text === undefined
    ? undefined
    : JSON.stringify((JSON.parse(text) as ContentUser[]).filter(({ userId }) => !userIds.has(userId)));
}

export function withoutVisibleUsers(
  visibility: Visibility | undefined,
  { userIds }: RemovedUsers,
): Visibility | undefined {
  return visibility?.userIds
    ? { ...visibility, userIds: visibility.userIds.filter((userId) => !userIds.has(userId)) }
    : visibility;
}

export function isRecordBy(text: string | undefined, removed: RemovedUsers): boolean {
  if (text === undefined || !canMention(text, removed)) return false;
  const { from } = (readJson<Open | null>(text) ?? {}) as { from?: { userId?: unknown } | null };
  return typeof from?.userId === 'string' && removed.userIds.has(from.userId);
}
