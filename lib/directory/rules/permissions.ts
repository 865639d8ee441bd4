import { dict } from '../../shared/collections.ts';
import {
  accessContext,
  type DocumentAccess,
  documentPermission,
  type FolderAccess,
  folderChain,
  folderPermission,
  missing,
  organizationPermission,
  type PermissionEntry,
  type UserAccess,
} from './access.ts';

/** What a permission call asks about; what does not exist is undefined. */
export interface AskedResources {
  readonly organization: { readonly organizationId: string };
  readonly folders: readonly { readonly id: string; readonly folder: FolderAccess | undefined }[];
  readonly documents: readonly { readonly id: string; readonly document: DocumentAccess | undefined }[];
}

export interface UserPermissions {
  folders?: Record<string, PermissionEntry>;
  documents?: Record<string, PermissionEntry>;
  organization: Record<string, PermissionEntry>;
  context?: { accessFields: string[] };
}

/**
 * One user's part of the answer of spec 4.1: an entry for each folder and document asked about (denied and missing ones
 * included, rules 1 and 2), always the organization's, and the access context when there is any.
 */
export function userPermissions(user: UserAccess, asked: AskedResources): UserPermissions {
  const above = new Map([
    ...asked.folders.flatMap(({ folder }) =>
      folder ? [[folder.internalId, folderChain(folder).slice(1)] as const] : [],
    ),
    ...asked.documents.flatMap(({ document }) =>
      document?.folder ? [[document.internalId, folderChain(document.folder)] as const] : [],
    ),
  ]);
  const fields = accessContext(user, (internalId) => above.get(internalId));
  return {
    ...(asked.folders.length > 0 && {
      folders: dict(
        asked.folders.map(
          ({ id, folder }) => [id, folder ? folderPermission(user, folder) : missing('folder')] as const,
        ),
      ),
    }),
    ...(asked.documents.length > 0 && {
      documents: dict(
        asked.documents.map(
          ({ id, document }) => [id, document ? documentPermission(user, document) : missing('document')] as const,
        ),
      ),
    }),
    organization: dict([[asked.organization.organizationId, organizationPermission(user)]]),
    ...(fields && { context: { accessFields: fields } }),
  };
}
