import * as z from 'zod';
import { defineEntity, type Stored } from '../table/entity.ts';
import { type Table, upsert, type WriteOp } from '../table/table.ts';
import { type Document, DocumentEntity } from './documents.ts';
import { organizationPartition, type OrganizationScope } from './organizationScope.ts';

/** Longer than any delivery, mail or job that has the id of before. A mail can wait for half a year. */
const LIFETIME_SECONDS = 220 * 24 * 60 * 60;

export const RenamedDocumentEntity = defineEntity({
  type: 'RenamedDocument',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The id that a migration gave to a document, for events and jobs with the id of before',
  schema: z.object({ documentKey: z.string(), documentId: z.string(), renamedAt: z.number() }),
  pk: (of: Pick<OrganizationScope, 'tenant' | 'organizationKey'>) => organizationPartition(of, 'RENAMED_DOCUMENTS'),
  sk: (key: { documentKey: string }) => [key.documentKey],
  expiresAt: ({ renamedAt }) => Math.floor(renamedAt / 1000) + LIFETIME_SECONDS,
});

export function recordRename(
  scope: OrganizationScope,
  renamed: { readonly documentKey: string; readonly documentId: string; readonly renamedAt: number },
): WriteOp {
  const { tenant, organizationKey } = scope;
  return upsert(RenamedDocumentEntity, { tenant, organizationKey, ...renamed });
}

/**
 * Returns the document with an internal key under its present id, or undefined if it was deleted. `named` is what the
 * id of the event, job or session leads to. Costs up to two more reads if `named` is undefined or another document.
 */
export async function findRenamed(
  table: Table,
  { tenant, organizationKey, documentKey }: OrganizationScope & { readonly documentKey: string },
  named: Stored<Document> | undefined,
): Promise<Stored<Document> | undefined> {
  if (named?.internalId === documentKey) return named;
  const renamed = await table.get(RenamedDocumentEntity, { tenant, organizationKey, documentKey });
  const document =
    renamed && (await table.get(DocumentEntity, { tenant, organizationKey, documentId: renamed.documentId }));
  return document?.internalId === documentKey ? document : undefined;
}

/** Returns the document if it had its present id at a time (epoch ms). Costs a read. */
export async function unlessLater(
  table: Table,
  { tenant, organizationKey }: OrganizationScope,
  document: Stored<Document>,
  at: number,
): Promise<Stored<Document> | undefined> {
  if (document.createdAt > at || document.arriving) return undefined;
  const documentKey = document.internalId;
  const renamed = await table.get(RenamedDocumentEntity, { tenant, organizationKey, documentKey });
  return renamed && renamed.renamedAt > at ? undefined : document;
}
