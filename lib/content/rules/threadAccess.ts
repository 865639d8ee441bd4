import type { UserAccess } from '../../app/rules/access.ts';
import {
  accessContext,
  contextAllows,
  type DocumentAccess,
  documentPermission,
  foldersAbove,
  organizationPermission,
} from '../../directory/rules/access.ts';
import { isPrivate, type ThreadAccess, visibleToMembersOf } from '../../directory/rules/visibility.ts';

export interface RecordAccess {
  /** Undefined: no access to a document is required. */
  readonly document?: DocumentAccess | undefined;
  readonly thread?: ThreadAccess | undefined;
  readonly accessFields?: readonly string[] | undefined;
  /** Otherwise every user id may see records of a public document. */
  readonly knownUsersOnly?: boolean | undefined;
}

export interface CheckedUser {
  readonly userId: string;
  /** To check an access context, it must have all grants of the user. */
  readonly access: UserAccess;
  readonly memberOf: ReadonlySet<string>;
}

export function requiredContext({ thread, accessFields = [] }: RecordAccess): readonly string[] {
  return [...(thread?.accessFields ?? []), ...accessFields];
}

export function isOpenToAll(record: RecordAccess): boolean {
  const { document, thread, knownUsersOnly = false } = record;
  if (knownUsersOnly) return false;
  const isPublic = document === undefined || (document.folder?.accessType ?? document.accessType) === 'public';
  return isPublic && !isPrivate(thread?.visibility) && requiredContext(record).length === 0;
}

/**
 * Access to the document, the visibility of the thread and the access context must all allow it. The visibility always
 * allows the author.
 */
export function canSee(record: RecordAccess, user: CheckedUser): boolean {
  return (
    canSeeWithoutContext(record, user) &&
    contextAllows({ accessFields: requiredContext(record) }, contextOf(user, record))
  );
}

export function canSeeWithoutContext(record: RecordAccess, user: CheckedUser): boolean {
  if (isOpenToAll(record)) return true;
  const { document, thread, knownUsersOnly = false } = record;
  const access = { ...user.access, exists: user.access.exists || !knownUsersOnly };
  return (
    (document === undefined || documentPermission(access, document).errorCode === undefined) &&
    (thread === undefined || isVisible(thread, user))
  );
}

function isVisible(thread: ThreadAccess, { userId, access, memberOf }: CheckedUser): boolean {
  const { visibility, authorId, organizationId } = thread;
  if (!isPrivate(visibility) || userId === authorId) return true;
  if (visibility.type === 'restricted') return (visibility.userIds ?? []).includes(userId);
  const members = visibleToMembersOf(thread) as string;
  return members === organizationId ? organizationPermission(access).errorCode === undefined : memberOf.has(members);
}

/** Leaves out grants that ended when the user was removed from a folder above the document. */
function contextOf({ access }: CheckedUser, { document }: RecordAccess): readonly string[] | undefined {
  const chain = document ? [document.internalId, ...foldersAbove(document)] : [];
  return accessContext(access, (internalId) => {
    const index = chain.indexOf(internalId);
    return index < 0 ? undefined : chain.slice(index + 1);
  });
}
