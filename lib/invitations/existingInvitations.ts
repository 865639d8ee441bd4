import { DocumentReader } from '../directory/documents.ts';
import { FolderReader } from '../directory/folders/folders.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { distinct } from '../shared/collections.ts';
import type { Table } from '../table/table.ts';
import type { Invitation } from './rules.ts';

type Named = Pick<Invitation, 'resourceKey' | 'documentId' | 'folderId'>;

/** Leaves out invitations to a deleted document or folder, which are stored until a job purges them. */
export async function existingInvitations<I extends Named>(
  table: Table,
  scope: OrganizationScope,
  invitations: readonly I[],
): Promise<I[]> {
  const documentIds = distinct(invitations.flatMap(({ documentId }) => documentId ?? []));
  const folderIds = distinct(invitations.flatMap(({ folderId }) => folderId ?? []));
  const [documents, folders] = await Promise.all([
    new DocumentReader(table).getByIds(scope, documentIds),
    new FolderReader(table).getByIds(scope, folderIds),
  ]);
  const keys = new Set([scope.organizationKey, ...[...documents, ...folders].map((resource) => resource?.internalId)]);
  return invitations.filter(({ resourceKey }) => keys.has(resourceKey));
}
