import * as z from 'zod';
import type { MovedKeys, Revocation } from '../../app/rules/access.ts';
import { ApiError } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import { defineEntity } from '../../table/entity.ts';
import { pages } from '../../table/pages.ts';
import { insert, type Table, type WriteOp } from '../../table/table.ts';
import { organizationPartition, type OrganizationScope } from '../organizationScope.ts';
import { findCrossing } from '../rules/access.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;
/**
 * The largest number of jobs for which one request records its moves. The moves and their records then fit into one transaction.
 */
const MAX_RECORDED_JOBS = 10;
const PAGE = 1_000;

/**
 * A folder that a job is removing users from. Documents and folders can move into and out of it before the job ends. The job's
 * items list which of them were in the folder when the users were removed. The first item is written with the job, each later
 * move adds one, and the end of the job deletes all.
 */
export const FolderRevocationEntity = defineEntity({
  type: 'FolderRevocation',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'A folder that users are being removed from, and the moves into it and out of it since',
  schema: z.object({
    jobId: z.string(),
    folderKey: z.string(),
    /** The job's id in the first item of the job. Otherwise the id of the move. */
    id: z.string(),
    /** The internal ids of moved documents and folders that were in the folder when the users were removed. */
    inside: z.array(z.string()),
    /** The internal ids of moved documents and folders that were outside the folder when the users were removed. */
    outside: z.array(z.string()),
    /** The time of the write in epoch ms. */
    at: z.number(),
  }),
  pk: (of: { tenant: string; organizationKey: string }) => organizationPartition(of, 'FOLDER_REVOCATIONS'),
  sk: (key: { jobId: string; id: string }) => [key.jobId, key.id],
  // A move that runs while the job ends can leave an item in the table. That item then expires.
  expiresAt: ({ at }) => Math.floor(at / 1000) + LIFETIME_SECONDS,
});

/** A folder that a job is removing users from. */
export interface RevokedFolder {
  /** The internal id of the folder. */
  readonly resource: string;
  readonly moved: MovedKeys;
}

/**
 * Returns the folders that users are being removed from, by job id. Call it after the folders were read. If those folders already
 * show a move, the result then includes the record of that move.
 */
export async function readRevokedFolders(
  table: Table,
  scope: OrganizationScope,
): Promise<ReadonlyMap<string, RevokedFolder>> {
  const folders = new Map<string, { readonly resource: string; readonly moved: Map<string, boolean> }>();
  for await (const { values } of pages((after) => table.query(FolderRevocationEntity, scope, { limit: PAGE, after }))) {
    for (const { jobId, folderKey, inside, outside } of values) {
      const folder = folders.get(jobId) ?? { resource: folderKey, moved: new Map<string, boolean>() };
      folders.set(jobId, folder);
      for (const internalId of inside) folder.moved.set(internalId, true);
      for (const internalId of outside) folder.moved.set(internalId, false);
    }
  }
  return folders;
}

/**
 * Returns the revocations of each user. The revocation of a folder includes the moves into and out of the folder since the users
 * were removed. Reads the table only if one of the users is being removed from a folder of this organization. Call it after the
 * folders were read.
 */
export async function readRevocations(
  table: Table,
  scope: OrganizationScope,
  users: readonly ({ readonly revocations?: readonly Revocation[] | undefined } | undefined)[],
): Promise<(readonly Revocation[] | undefined)[]> {
  const all = users.map((user) => user?.revocations);
  const isFromFolder = ({ folder, organizationKey }: Revocation) =>
    folder === true && organizationKey === scope.organizationKey;
  if (!scope.hasFolderRevocations || !all.some((revocations) => revocations?.some(isFromFolder))) return all;
  const folders = await readRevokedFolders(table, scope);
  return all.map((revocations) =>
    revocations?.map((revocation) =>
      isFromFolder(revocation) ? { ...revocation, moved: folders.get(revocation.jobId)?.moved } : revocation,
    ),
  );
}

/**
 * A moved document or folder. `from` and `to` are the folders that contain it before and after the move, nearest first. All
 * values are internal ids.
 */
export interface Move {
  readonly internalId: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/**
 * Returns the operations that record moves into or out of folders that users are being removed from. Write them in the
 * transaction of the moves. Throws ABORTED if the moves need records for too many jobs.
 */
export async function recordCrossings(
  table: Table,
  scope: OrganizationScope,
  moves: readonly Move[],
  now: number,
): Promise<WriteOp[]> {
  if (!scope.hasFolderRevocations || moves.length === 0) return [];
  const id = newId('mov', now);
  const ops: WriteOp[] = [];
  for (const [jobId, folder] of await readRevokedFolders(table, scope)) {
    const inside: string[] = [];
    const outside: string[] = [];
    for (const { internalId, from, to } of moves) {
      const wasInside = findCrossing(folder, internalId, from, to);
      if (wasInside !== undefined) (wasInside ? inside : outside).push(internalId);
    }
    if (inside.length + outside.length > 0)
      ops.push(
        insert(FolderRevocationEntity, { ...scope, jobId, folderKey: folder.resource, id, inside, outside, at: now }),
      );
  }
  if (ops.length > MAX_RECORDED_JOBS)
    throw new ApiError(
      'ABORTED',
      'Users are being removed from many of these folders. Send the request again in a minute.',
    );
  return ops;
}

/** Returns the operation that writes the first item of a job. Write it in the transaction that stores the job. */
export function startFolderRevocation(
  scope: OrganizationScope,
  jobId: string,
  folderKey: string,
  now: number,
): WriteOp {
  return insert(FolderRevocationEntity, { ...scope, jobId, folderKey, id: jobId, inside: [], outside: [], at: now });
}

/** Deletes all items of a job. */
export async function endFolderRevocation(table: Table, scope: OrganizationScope, jobId: string): Promise<void> {
  const read = (after: string | undefined) =>
    table.query(FolderRevocationEntity, scope, { limit: PAGE, prefix: [jobId], after });
  for await (const { values } of pages(read))
    await table.removeKeys(values.map(({ id }) => FolderRevocationEntity.key({ ...scope, jobId, id })));
}
