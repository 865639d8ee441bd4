import * as z from 'zod';
import { REQUESTS_ENDED_MS } from '../../jobs/jobStore.ts';
import { ApiError } from '../../shared/errors.ts';
import { defineEntity } from '../../table/entity.ts';
import { readAll } from '../../table/pages.ts';
import { insert, remove, requireAbsent, type Table, upsert, type WriteOp } from '../../table/table.ts';
import { organizationPartition, type OrganizationScope } from '../organizationScope.ts';
import { crosses, type Move } from '../rules/folders.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;
const PAGE = 1_000;
/** The item with this key exists while users are being removed from any folder. */
const ANY = 'any';
const LAST_PASS_SECONDS = 5;

/**
 * A folder that a job is removing users from. Nothing moves into or out of it until the job has ended. Otherwise the
 * job would miss what moved out, and remove users from what moved in.
 */
export const FolderRevocationEntity = defineEntity({
  type: 'FolderRevocation',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'A folder that users are being removed from, so that nothing moves into it or out of it',
  schema: z.object({
    jobId: z.string(),
    folderKey: z.string(),
    /** The job's id, or `ANY`. Earlier versions also stored items of moves. */
    id: z.string(),
    /** Empty. Earlier versions need them. */
    inside: z.array(z.string()),
    outside: z.array(z.string()),
    at: z.number(),
  }),
  pk: (of: { tenant: string; organizationKey: string }) => organizationPartition(of, 'FOLDER_REVOCATIONS'),
  sk: (key: { jobId: string; id: string }) => [key.jobId, key.id],
  expiresAt: ({ at }) => Math.floor(at / 1000) + LIFETIME_SECONDS,
});

/**
 * Throws ABORTED with `retry-after` if a move enters or leaves a folder that users are being removed from. The caller
 * must first read the organization, then the folders.
 */
export async function refuseCrossings(
  table: Table,
  scope: OrganizationScope,
  moves: readonly Move[],
  now: number,
): Promise<void> {
  if (!scope.hasFolderRevocations || moves.length === 0) return;
  const revocations = await readAll((after) => table.query(FolderRevocationEntity, scope, { limit: PAGE, after }));
  const crossed = revocations.filter(
    ({ jobId, id, folderKey }) => id === jobId && moves.some((move) => crosses(folderKey, move)),
  );
  if (crossed.length === 0) return;
  const secondsLeft = Math.max(...crossed.map(({ at }) => at + REQUESTS_ENDED_MS - now), 0) / 1_000;
  const retryAfterSeconds = Math.ceil(secondsLeft) + LAST_PASS_SECONDS;
  throw new ApiError(
    'ABORTED',
    `Users are being removed from a folder that this call moves something into or out of. Send the request again after ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
}

/** For the transaction that stores and counts the jobs. */
export function startFolderRevocations(
  scope: OrganizationScope,
  jobIds: readonly string[],
  folderKey: string,
  at: number,
): WriteOp[] {
  const item = { ...scope, inside: [], outside: [], at };
  return [
    ...jobIds.map((jobId) => insert(FolderRevocationEntity, { ...item, jobId, id: jobId, folderKey })),
    upsert(FolderRevocationEntity, { ...item, ...anyKey, folderKey: ANY }),
  ];
}

/** The operation conflicts while users are being removed from any folder. */
export function requireNoRevocation(scope: OrganizationScope): WriteOp {
  return requireAbsent(FolderRevocationEntity, { ...scope, ...anyKey });
}

/** Whether users are being removed from any folder of the organization. */
export async function isRemovingUsers(table: Table, scope: OrganizationScope): Promise<boolean> {
  return (await table.get(FolderRevocationEntity, { ...scope, ...anyKey })) !== undefined;
}

/** For the transaction that ends the job. */
export function endFolderRevocation(
  scope: OrganizationScope,
  jobId: string,
  { isLast }: { readonly isLast: boolean },
): WriteOp[] {
  const own = remove(FolderRevocationEntity, { ...scope, jobId, id: jobId });
  return isLast ? [own, remove(FolderRevocationEntity, { ...scope, ...anyKey })] : [own];
}

const anyKey = { jobId: ANY, id: ANY };
