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

/** Of a thread, or of a comment, notification or event in a document. */
export interface RecordAccess {
  /** If undefined, no access to a document is required. */
  readonly document?: DocumentAccess | undefined;
  /** The thread that contains the record, or that the record is about. */
  readonly thread?: ThreadAccess | undefined;
  /** Of the record itself, as `field:value`. */
  readonly accessFields?: readonly string[] | undefined;
  /** Only users of the tenant may see a record in a public document. Otherwise every user id may. */
  readonly knownUsersOnly?: boolean | undefined;
}

export interface CheckedUser {
  readonly userId: string;
  /**
   * With the grants on the document, its folders and the organization. To check an access context, with all grants of
   * the user.
   */
  readonly access: UserAccess;
  /** Other organizations, by the customer's ids. */
  readonly memberOf: ReadonlySet<string>;
}

/** Of its thread and of itself. */
export function requiredContext({ thread, accessFields = [] }: RecordAccess): readonly string[] {
  return [...(thread?.accessFields ?? []), ...accessFields];
}

/** Document and thread are public, and there is no access context. */
export function isOpenToAll(record: RecordAccess): boolean {
  const { document, thread, knownUsersOnly = false } = record;
  if (knownUsersOnly) return false;
  const isPublic = document === undefined || (document.folder?.accessType ?? document.accessType) === 'public';
  return isPublic && !isPrivate(thread?.visibility) && requiredContext(record).length === 0;
}

/**
 * Three rules must allow it: access to the document, the visibility of the thread, and the access context. The author
 * of a thread always passes the second.
 */
export function canSee(record: RecordAccess, user: CheckedUser): boolean {
  return (
    canSeeWithoutContext(record, user) &&
    contextAllows({ accessFields: requiredContext(record) }, contextOf(user, record))
  );
}

/** Unlike `canSee`, does not check the access context. */
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

/** Without grants that ended because the user was removed from a folder above the document. */
function contextOf({ access }: CheckedUser, { document }: RecordAccess): readonly string[] | undefined {
  const chain = document ? [document.internalId, ...foldersAbove(document)] : [];
  return accessContext(access, (internalId) => {
    const index = chain.indexOf(internalId);
    return index < 0 ? undefined : chain.slice(index + 1);
  });
}
