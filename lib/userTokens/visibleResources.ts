import type { ApiKeyCaller, UserCaller } from '../app/callers.ts';
import type { ResourceType, UserAccess } from '../app/rules/access.ts';
import { deniedEntry, type DocumentAccess, type FolderAccess } from '../directory/rules/access.ts';
import { type RequestedResources, type UserPermissions, userPermissions } from '../directory/rules/permissions.ts';
import { dict } from '../shared/collections.ts';
import { morePermissive, tokenDocumentPermission, tokenFolderPermission } from './rules/tokenAccess.ts';

type Caller = ApiKeyCaller | UserCaller;

/** An API key may see every document. */
export function maySeeDocument(caller: Caller): (document: DocumentAccess) => boolean {
  if (caller.level !== 'user') return () => true;
  const { access } = caller.user;
  return (document) => tokenDocumentPermission(access, document).errorCode === undefined;
}

/** Undefined for an API key, which may see all folders. */
export function folderFilter(caller: Caller): ((folder: FolderAccess) => boolean) | undefined {
  if (caller.level !== 'user') return undefined;
  const { access } = caller.user;
  return (folder) => tokenFolderPermission(access, folder).errorCode === undefined;
}

/** Also true if the organization does not exist. */
export function isStranger(caller: Caller): boolean {
  return caller.level === 'user' && caller.user.access.all.organizationKey === '';
}

/**
 * For a user token, ignores `user`: the access counts that the check of the token has read. Unknown folders and
 * documents then have the same entries as forbidden ones, so that ids cannot be guessed.
 */
export function permissionsOf(caller: Caller, user: UserAccess, requested: RequestedResources): UserPermissions {
  if (caller.level !== 'user') return userPermissions(user, requested);
  const { stored, token, all } = caller.user.access;
  const [byStored, byToken] = [userPermissions(stored, requested), userPermissions(token, requested)];
  const { context } = userPermissions(all, requested);
  return {
    ...(byStored.folders && { folders: withoutUnknown('folder', mergeEntries(byStored.folders, byToken.folders)) }),
    ...(byStored.documents && {
      documents: withoutUnknown('document', mergeEntries(byStored.documents, byToken.documents)),
    }),
    organization: mergeEntries(byStored.organization, byToken.organization),
    ...(context && { context }),
  };
}

export function permissionsOfStranger(
  organizationId: string,
  userIds: readonly string[],
  folderIds: readonly string[],
  documentIds: readonly string[],
): Record<string, UserPermissions> {
  const denied = (type: ResourceType, ids: readonly string[]) =>
    dict(ids.map((id) => [id, deniedEntry(type)] as const));
  const permissions = {
    ...(folderIds.length > 0 && { folders: denied('folder', folderIds) }),
    ...(documentIds.length > 0 && { documents: denied('document', documentIds) }),
    organization: denied('organization', [organizationId]),
  };
  return dict(userIds.map((userId) => [userId, permissions] as const));
}

type Entries = UserPermissions['organization'];

function mergeEntries(stored: Entries, token: Entries = {}): Entries {
  return dict(Object.entries(stored).map(([id, entry]) => [id, morePermissive(entry, token[id] ?? entry)] as const));
}

function withoutUnknown(type: 'folder' | 'document', entries: Entries): Entries {
  return dict(
    Object.entries(entries).map(
      ([id, entry]) => [id, entry.errorCode === undefined ? entry : deniedEntry(type)] as const,
    ),
  );
}
