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

/** What decides who may see a record. The record is a thread, or a comment, notification or event in a document. */
export interface RecordAccess {
  /** The document of the record. If undefined, no access to a document is required. */
  readonly document?: DocumentAccess | undefined;
  /** The thread that contains the record, or that the record is about. */
  readonly thread?: ThreadAccess | undefined;
  /** The access context that the record itself requires, as `field:value` items. */
  readonly accessFields?: readonly string[] | undefined;
  /** If true, only users of the tenant may see a record in a public document. Otherwise every user id may. */
  readonly knownUsersOnly?: boolean | undefined;
}

/** A user whose access to records is checked. */
export interface CheckedUser {
  readonly userId: string;
  /**
   * The user's access, with the grants on the document, its folders and the organization. To check an access context, it must
   * have all grants of the user.
   */
  readonly access: UserAccess;
  /** The ids of other organizations that the user is a member of. The customer chose these ids. */
  readonly memberOf: ReadonlySet<string>;
}

/** Returns the `field:value` items that a record requires: the items of its thread and its own items. */
export function requiredContext({ thread, accessFields = [] }: RecordAccess): readonly string[] {
  return [...(thread?.accessFields ?? []), ...accessFields];
}

/** Returns whether every user may see a record: its document and thread are public, and it has no access context. */
export function isOpenToAll(record: RecordAccess): boolean {
  const { document, thread, knownUsersOnly = false } = record;
  if (knownUsersOnly) return false;
  const isPublic = document === undefined || (document.folder?.accessType ?? document.accessType) === 'public';
  return isPublic && !isPrivate(thread?.visibility) && requiredContext(record).length === 0;
}

/**
 * Returns whether a user may see a record. Three rules must all allow it: access to the document, the visibility of the thread,
 * and the access context. The author of a thread always passes the rule of visibility.
 */
export function canSee(record: RecordAccess, user: CheckedUser): boolean {
  return (
    canSeeWithoutContext(record, user) &&
    contextAllows({ accessFields: requiredContext(record) }, contextOf(user, record))
  );
}

/**
 * Returns whether a user has access to the document of a record, and whether the visibility of its thread allows the user. Unlike
 * `canSee`, does not check the access context.
 */
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

/**
 * Returns the access context of a user. It leaves out grants that ended because the user was removed from a folder above the
 * record's document.
 */
function contextOf({ access }: CheckedUser, { document }: RecordAccess): readonly string[] | undefined {
  const chain = document ? [document.internalId, ...foldersAbove(document)] : [];
  return accessContext(access, (internalId) => {
    const index = chain.indexOf(internalId);
    return index < 0 ? undefined : chain.slice(index + 1);
  });
}
