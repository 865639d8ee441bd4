import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { type NewJob, restartJob, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import type { Table, WriteOp } from '../table/table.ts';
import { endIfExpired, PresenceEntity } from './presences.ts';
import type { Presence } from './rules.ts';

/**
 * The sweep, which ends expired leases, starts at least once in this period. Only a shorter lease needs a job of its
 * own.
 */
const SWEPT_MILLISECONDS = 75_000;
const MARGIN = 500;

const Data = z.object({
  organizationKey: z.string(),
  documentKey: z.string(),
  userId: z.string(),
  startedAt: z.number(),
});

export interface StartedJob {
  readonly op: WriteOp;
  readonly message: { readonly tenant: string; readonly jobId: string };
  readonly delaySeconds: number;
}

/** Returns undefined for a long lease, which the sweep ends. */
export function watchLease(
  { tenant, organizationKey, documentKey }: DocumentScope,
  { userId, leaseEndsAt }: Presence,
  startedAt: number,
): StartedJob | undefined {
  if (leaseEndsAt === undefined || leaseEndsAt >= startedAt + SWEPT_MILLISECONDS) return undefined;
  const job: NewJob = {
    jobId: JSON.stringify(['presence', documentKey, userId]),
    kind: 'endPresence',
    data: { organizationKey, documentKey, userId, startedAt } satisfies z.output<typeof Data>,
    dueAt: leaseEndsAt + MARGIN,
  };
  return {
    op: restartJob(tenant, job, startedAt),
    message: { tenant, jobId: job.jobId },
    delaySeconds: Math.ceil((job.dueAt - startedAt) / 1000),
  };
}

export async function endPresenceStep(
  table: Table,
  { tenant, data }: Pick<StoredJob, 'tenant' | 'data'>,
  clock: () => number,
): Promise<StepResult> {
  const { startedAt, userId, ...keys } = Data.parse(JSON.parse(data));
  const scope = { tenant, ...keys };
  const presence = await table.get(PresenceEntity, { ...scope, userId });
  if (presence?.leaseEndsAt === undefined || presence.leaseEndsAt >= startedAt + SWEPT_MILLISECONDS) return 'done';
  if (presence.leaseEndsAt > clock()) return { progress: {}, notBefore: presence.leaseEndsAt + MARGIN };
  return (await endIfExpired(table, scope, presence, clock())) === 'done' ? 'done' : { progress: {} };
}
