import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { type NewJob, restartJob, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import type { Table, WriteOp } from '../table/table.ts';
import { endIfExpired, PresenceEntity } from './presences.ts';
import type { Presence } from './rules.ts';

/**
 * How long after a user joined the sweep has certainly started a run, in milliseconds. The sweep makes passes while anybody is
 * present.
 */
const SWEPT_MILLISECONDS = 75_000;
/** How long after the end of a lease a step starts, in milliseconds. */
const MARGIN = 500;

const Data = z.object({
  organizationKey: z.string(),
  documentKey: z.string(),
  userId: z.string(),
  /** Epoch milliseconds. */
  joinedAt: z.number(),
});

/** A job that the transaction of a write starts. `delaySeconds` is the delay of its queue message. */
export interface StartedJob {
  readonly op: WriteOp;
  readonly message: { readonly tenant: string; readonly jobId: string };
  readonly delaySeconds: number;
}

/**
 * Returns the job that ends the presence of a user who joins, if the lease can end before the next run of the sweep. Without
 * this job, the presence would stay too long, because the sweep makes no passes while nobody is present. Returns undefined for
 * a longer lease.
 */
export function watchJoin(
  { tenant, organizationKey, documentKey }: DocumentScope,
  { userId, leaseEndsAt }: Presence,
  joinedAt: number,
): StartedJob | undefined {
  if (leaseEndsAt === undefined || leaseEndsAt >= joinedAt + SWEPT_MILLISECONDS) return undefined;
  const job: NewJob = {
    jobId: JSON.stringify(['presence', documentKey, userId]),
    kind: 'endPresence',
    data: { organizationKey, documentKey, userId, joinedAt } satisfies z.output<typeof Data>,
    dueAt: leaseEndsAt + MARGIN,
  };
  return {
    op: restartJob(tenant, job, joinedAt),
    message: { tenant, jobId: job.jobId },
    delaySeconds: Math.ceil((job.dueAt - joinedAt) / 1000),
  };
}

/** Runs a step of the job that `watchJoin` starts: ends the presence, or waits for the end of the renewed lease. */
export async function endPresenceStep(
  table: Table,
  { tenant, data }: Pick<StoredJob, 'tenant' | 'data'>,
  clock: () => number,
): Promise<StepResult> {
  const { joinedAt, userId, ...keys } = Data.parse(JSON.parse(data));
  const scope = { tenant, ...keys };
  const presence = await table.get(PresenceEntity, { ...scope, userId });
  if (presence?.leaseEndsAt === undefined || presence.leaseEndsAt >= joinedAt + SWEPT_MILLISECONDS) return 'done';
  if (presence.leaseEndsAt > clock()) return { progress: {}, notBefore: presence.leaseEndsAt + MARGIN };
  return (await endIfExpired(table, scope, presence, clock())) === 'done' ? 'done' : { progress: {} };
}
