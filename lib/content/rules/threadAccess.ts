import {
  accessContext,
  contextAllows,
  type DocumentAccess,
  documentPermission,
  folderChain,
  organizationPermission,
  type UserAccess,
} from '../../directory/rules/access.ts';
import { type ThreadAccess, isPrivate, visibleToMembersOf } from './visibility.ts';

/** A record whose readers are limited: a thread, or a comment, notification or event in a document. */
export interface RecordAccess {
  /** The document of the record; without one, access to a document is not required. */
  readonly document?: DocumentAccess | undefined;
  /** The thread that the record is part of, or is about. */
  readonly thread?: ThreadAccess | undefined;
  /** The access context of the record itself, as `field:value`. */
  readonly accessFields?: readonly string[] | undefined;
  /** Whether a public document is open only to users that the tenant knows. Otherwise a user whom a record names can be one that was never added. */
  readonly knownUsersOnly?: boolean | undefined;
}

/** A user whose access is checked, in one organization. */
export interface CheckedUser {
  readonly userId: string;
  /** With the grants on the document, its folders and the organization. An access context is known only from all grants of the user. */
  readonly access: UserAccess;
  /** The other organizations, by the customer's ids, that the user is a member of. */
  readonly memberOf: ReadonlySet<string>;
}

/** The `field:value` items that a reader of a record needs: those of the thread and those of the record. */
export function requiredContext({ thread, accessFields = [] }: RecordAccess): readonly string[] {
  return [...(thread?.accessFields ?? []), ...accessFields];
}

/** Whether everybody may see a record: its document and thread are public, and it has no access context. */
export function isOpenToAll(guard: RecordAccess): boolean {
  const { document, thread, knownUsersOnly = false } = guard;
  if (knownUsersOnly) return false;
  const isPublic = document === undefined || (document.folder?.accessType ?? document.accessType) === 'public';
  return isPublic && !isPrivate(thread?.visibility) && requiredContext(guard).length === 0;
}

/**
 * Decides whether a user may see a record. All three must allow it: access to the document, the visibility of the thread, and the access
 * context. The author of a thread is within its visibility; the access context applies to authors too.
 */
export function canSee(guard: RecordAccess, viewer: CheckedUser): boolean {
  return (
    canSeeWithoutContext(guard, viewer) &&
    contextAllows({ accessFields: requiredContext(guard) }, contextOf(viewer, guard))
  );
}

/** The part of `maySee` that does not need all grants of the user: access to the document, and the visibility of the thread. */
export function canSeeWithoutContext(guard: RecordAccess, viewer: CheckedUser): boolean {
  if (isOpenToAll(guard)) return true;
  const { document, thread, knownUsersOnly = false } = guard;
  const access = { ...viewer.access, known: viewer.access.known || !knownUsersOnly };
  return (
    (document === undefined || documentPermission(access, document).errorCode === undefined) &&
    (thread === undefined || isVisible(thread, viewer))
  );
}

function isVisible(thread: ThreadAccess, { userId, access, memberOf }: CheckedUser): boolean {
  const { visibility, authorId, organizationId } = thread;
  if (!isPrivate(visibility) || userId === authorId) return true;
  if (visibility.type === 'restricted') return (visibility.userIds ?? []).includes(userId);
  const members = visibleToMembersOf(thread) as string;
  return members === organizationId ? organizationPermission(access).errorCode === undefined : memberOf.has(members);
}

/** The access context of a viewer. A grant on the document, or on a folder above it, counts by where the document is now. */
function contextOf({ access }: CheckedUser, { document }: RecordAccess): readonly string[] | undefined {
  const chain = document ? [document.internalId, ...(document.folder ? folderChain(document.folder) : [])] : [];
  return accessContext(access, (internalId) => {
    const index = chain.indexOf(internalId);
    return index < 0 ? undefined : chain.slice(index + 1);
  });
}
