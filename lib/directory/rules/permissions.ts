import * as z from 'zod';
import { dict } from '../../shared/collections.ts';
import {
  accessContext,
  accessRoles,
  accessTypes,
  permissionErrorCodes,
  type DocumentAccess,
  documentPermission,
  type FolderAccess,
  folderChain,
  folderPermission,
  missingEntry,
  organizationPermission,
  type UserAccess,
} from './access.ts';

/** The resources in a permission call. A folder or document that does not exist is undefined. */
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
    expiresAt: z.number().optional(),
    error: z.string().optional(),
    errorCode: z.enum(permissionErrorCodes).optional(),
  }),
);

/** One user's part of the response to a permission call. */
export const UserPermissions = z.object({
  folders: Entries.optional(),
  documents: Entries.optional(),
  organization: Entries,
  context: z.object({ accessFields: z.array(z.string()) }).optional(),
});
export type UserPermissions = z.output<typeof UserPermissions>;

/**
 * Returns one user's part of the response to a permission call. It has an entry for each requested folder and document,
 * even if it is denied or missing. It always has the entry of the organization. It has the access context if it is not
 * empty.
 */
export function userPermissions(user: UserAccess, requested: RequestedResources): UserPermissions {
  const above = new Map([
    ...requested.folders.flatMap(({ folder }) =>
      folder ? [[folder.internalId, folderChain(folder).slice(1)] as const] : [],
    ),
    ...requested.documents.flatMap(({ document }) =>
      document?.folder ? [[document.internalId, folderChain(document.folder)] as const] : [],
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
