import * as z from 'zod';
import { accessRoles, accessTypes, permissionErrorCodes, type UserAccess } from '../../app/rules/access.ts';
import { dict } from '../../shared/collections.ts';
import { defineSchema, Id, limits, list, optional } from '../../shared/schema.ts';
import {
  accessContext,
  type DocumentAccess,
  documentPermission,
  type FolderAccess,
  folderChain,
  folderPermission,
  foldersAbove,
  missingEntry,
  organizationPermission,
} from './access.ts';

export interface RequestedResources {
  readonly organization: { readonly organizationId: string };
  readonly folders: readonly { readonly id: string; readonly folder: FolderAccess | undefined }[];
  readonly documents: readonly { readonly id: string; readonly document: DocumentAccess | undefined }[];
}

export const PermissionsQuery = /* @__PURE__ */ defineSchema(() =>
  z.object({
    organizationId: Id,
    userIds: list(Id, limits.permissionIds),
    folderIds: optional(list(Id, limits.permissionIds, 0)),
    documentIds: optional(list(Id, limits.permissionIds, 0)),
    skipResourceExistenceValidation: optional(z.boolean()).describe(
      'True answers with an entry for an unknown folder or document (`does_not_exist`) instead of NOT_FOUND. By default false.',
    ),
  }),
);

const Entries = z.record(
  z.string(),
  z.object({
    accessRole: z.enum(accessRoles).optional().describe('The role that counts for the user. Absent without access.'),
    accessType: z.enum(accessTypes).optional(),
    expiresAt: z.number().optional().describe('When the grant ends, in Unix seconds. Absent if it does not end.'),
    error: z.string().optional().describe('Why the user has no access, as a sentence for people. Absent with access.'),
    errorCode: z.enum(permissionErrorCodes).optional().describe('Why the user has no access. Absent with access.'),
  }),
);

export const UserPermissions = z.object({
  folders: Entries.optional().describe('The permissions by folder id. Absent if the call names no folders.'),
  documents: Entries.optional().describe('The permissions by document id. Absent if the call names no documents.'),
  organization: Entries.describe(
    'The permission in the organization, by its id. Users who are no members have none, also if they can open documents.',
  ),
  context: z
    .object({ accessFields: z.array(z.string()).describe('The values as sorted texts `field:value`.') })
    .optional()
    .describe('The access context of all grants that count, in the whole organization. Absent if it is empty.'),
});
export type UserPermissions = z.output<typeof UserPermissions>;

/**
 * Each requested folder and document has an entry, also if it is denied or does not exist, and so has the organization.
 * An empty access context is left out.
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
