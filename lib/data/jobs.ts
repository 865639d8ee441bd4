import * as z from 'zod';
import { instantKey } from '../domain/content/times.ts';
import { defineEntity } from './entity.ts';
import { insert, remove, type WriteOp } from './table.ts';

/** Work that goes on after the answer; each kind has a function in the worker that runs jobs. */
export const jobKinds = ['removeRecords', 'recoverDeliveries'] as const;
export type JobKind = (typeof jobKinds)[number];

const SHARDS = 16;
const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

const Schema = z.object({
  jobId: z.string(),
  kind: z.enum(jobKinds),
  /** What to do, as JSON text. */
  data: z.string(),
  /** How far it got, as JSON text; absent before the first step. */
  progress: z.string().optional(),
  /** When the sweeper looks after it, epoch ms. */
  dueAt: z.number(),
  shard: z.number(),
  createdAt: z.number(),
});
export type Job = z.output<typeof Schema>;

/** A piece of work that survives whoever began it: due in gsi3 until it is done and removed. */
export const JobEntity = defineEntity({
  type: 'Job',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'Work that goes on after the answer: removals, recovered deliveries',
  schema: Schema,
  pk: (of: { tenant: string; jobId: string }) => [of.tenant, 'JOB', of.jobId],
  sk: (_key: unknown) => ['JOB'],
  indexes: {
    gsi3: { holds: 'jobs, by shard and the time they are due', pk: ({ shard }) => ['JOBS', String(shard)], sk: ({ tenant, dueAt, jobId }) => [instantKey(dueAt), tenant, jobId] },
  },
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + LIFETIME_SECONDS,
});

/** Shards of the jobs that are due. */
export const jobShards = SHARDS;

/** The operation that begins a job, for the transaction of the change that calls for it. `dueAt` is when the sweeper runs it unless somebody has finished it before. */
export function beginJob(tenant: string, job: { jobId: string; kind: JobKind; data: object; dueAt: number }, now: number): WriteOp {
  const shard = [...job.jobId].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0) % SHARDS;
  return insert(JobEntity, { tenant, jobId: job.jobId, kind: job.kind, data: JSON.stringify(job.data), dueAt: job.dueAt, shard, createdAt: now });
}

/** The operation that ends a job. */
export function endJob(tenant: string, jobId: string): WriteOp {
  return remove(JobEntity, { tenant, jobId });
}
