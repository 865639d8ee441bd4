import * as z from 'zod';
import { dict } from '../../shared/collections.ts';
import {
  accessContext,
  accessRoles,
  accessTypes,
  type DocumentAccess,
  documentPermission,
  type FolderAccess,
  folderChain,
  folderPermission,
  foldersAbove,
  missingEntry,
  organizationPermission,
  permissionErrorCodes,
  type UserAccess,
} from './access.ts';

/** The resources in a request for permissions. `folder` or `document` is undefined if it does not exist. */
export interface RequestedResources {
  readonly organization: { readonly organizationId: string };
  readonly folders: readonly { readonly id: string; readonly folder: FolderAccess | undefined }[];
  readonly documents: readonly { readonly id: string; readonly document: DocumentAccess | undefined }[];
}

const Entries = z.record(
  z.string(),
  z.object({
    accessRole: z.enum(accessRoles).optional(),
    accessType: z.enum(accessTypes).optional(),
    expiresAt: z.number().meta({ description: 'Unix time in seconds.' }).optional(),
    error: z.string().optional(),
    errorCode: z.enum(permissionErrorCodes).optional(),
  }),
);

/** The permissions of one user in a response. */
export const UserPermissions = z.object({
  folders: Entries.optional(),
  documents: Entries.optional(),
  organization: Entries,
  context: z.object({ accessFields: z.array(z.string()) }).optional(),
});
export type UserPermissions = z.output<typeof UserPermissions>;

/**
 * Returns the permissions of one user for a response. Each requested folder and document has an entry, also if it is denied or
 * does not exist. The organization has an entry too. The access context is left out if it is empty.
 */
export function userPermissions(user: UserAccess, requested: RequestedResources): UserPermissions {
  const above = new Map([
    ...requested.folders.flatMap(({ folder }) =>
      folder ? [[folder.internalId, folderChain(folder).slice(1)] as const] : [],
    ),
    ...requested.documents.flatMap(({ document }) =>
      document ? [[document.internalId, foldersAbove(document)] as const] : [],
    ),
  ]);
  const fields = accessContext(user, (internalId) => above.get(internalId));
  return {
    ...(requested.folders.length > 0 && {
      folders: dict(
        requested.folders.map(
          ({ id, folder }) => [id, folder ? folderPermission(user, folder) : missingEntry('folder')] as const,
        ),
      ),
    }),
    ...(requested.documents.length > 0 && {
      documents: dict(
        requested.documents.map(
          ({ id, document }) => [id, document ? documentPermission(user, document) : missingEntry('document')] as const,
        ),
      ),
    }),
    organization: dict([[requested.organization.organizationId, organizationPermission(user)]]),
    ...(fields && { context: { accessFields: fields } }),
  };
}
