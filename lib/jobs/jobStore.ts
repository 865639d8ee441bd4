import * as z from 'zod';
import type { Capability, QueueName } from '../app/capability.ts';
import { isoTime } from '../shared/isoTime.ts';
import type { Log } from '../app/endpoint.ts';
import { notifyQueue } from '../workers/notifyQueue.ts';
import type { QueueMessage, QueueSender } from '../workers/sender.ts';
import { defineEntity, indexPartition, type Stored } from '../table/entity.ts';
import { tenantOf } from '../table/keys.ts';
import { insert, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** The kinds of jobs (work after the response), each with the queue whose worker runs it. */
export const queueOfJob = {
  removeRecords: 'jobs',
  removeDocuments: 'jobs',
  removeOrganization: 'jobs',
  changeFolders: 'jobs',
  removeUsers: 'jobs',
  eraseUsers: 'jobs',
  recoverDeliveries: 'jobs',
  releaseParked: 'jobs',
  emitEditorUpdate: 'jobs',
  removeAgent: 'jobs',
  countAgentRuns: 'jobs',
  embedJudgments: 'embed',
  changeEmbedding: 'embed',
} as const satisfies Readonly<Record<string, QueueName>>;
export type JobKind = keyof typeof queueOfJob;
/** The queues that carry messages about jobs. */
export type JobQueue = (typeof queueOfJob)[JobKind];
/** The kinds of jobs that the worker of a queue does. */
export type JobKindOn<Q extends JobQueue> = { [K in JobKind]: (typeof queueOfJob)[K] extends Q ? K : never }[JobKind];
export const jobKinds = Object.keys(queueOfJob) as JobKind[];

const SHARDS = 16;
const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

const Schema = z.object({
  jobId: z.string(),
  kind: z.enum(jobKinds),
  /** The data of the job, as JSON text. */
  data: z.string(),
  /** The progress, as JSON text; absent before the first step. */
  progress: z.string().optional(),
  /** When the sweeper notifies the queue again, epoch ms. */
  dueAt: z.number(),
  /** The end of the lease of the worker that runs it, epoch ms. */
  leaseUntil: z.number().optional(),
  /** The start of the next step at the earliest, epoch ms. */
  notBefore: z.number().optional(),
  /** The number of runs since the last finished step. */
  tries: z.number().optional(),
  shard: z.number(),
  createdAt: z.number(),
});
export type Job = z.output<typeof Schema>;

/** A job. It is listed in gsi3 by its due time until it is done and removed. */
export const JobEntity = defineEntity({
  type: 'Job',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'Work after the response: purges, recovered deliveries',
  schema: Schema,
  pk: (of: { tenant: string; jobId: string }) => [of.tenant, 'JOB', of.jobId],
  sk: (_key: unknown) => ['JOB'],
  indexes: {
    gsi3: {
      holds: 'jobs, by shard and the time they are due',
      pk: ({ shard }) => dueJobs(shard),
      sk: ({ tenant, dueAt, jobId }) => [isoTime(dueAt), tenant, jobId],
    },
  },
  // Each run moves the due time, so a job that fails for a long time does not expire.
  expiresAt: ({ dueAt }) => Math.floor(dueAt / 1000) + LIFETIME_SECONDS,
});

function dueJobs(shard: number): string[] {
  return ['JOBS', String(shard)];
}

/** The number of shards in the index of due jobs. */
export const jobShards = SHARDS;

/** A job to start. `dueAt` (epoch ms) is when the sweeper runs it if its message was lost. */
export interface NewJob {
  readonly jobId: string;
  readonly kind: JobKind;
  readonly data: object;
  readonly dueAt: number;
}

/**
 * Returns the operation that stores a job. Write it in the transaction of the change that needs the job, and call
 * `notifyJobs` after the transaction.
 */
export function startJob(tenant: string, job: NewJob, now: number): WriteOp {
  return insert(JobEntity, toJob(tenant, job, now), now);
}

/**
 * Returns the operation that starts a job at its due time, or starts it over if it is stored already. A worker that runs the earlier job stops
 * after its current step.
 */
export function restartJob(tenant: string, job: NewJob, now: number): WriteOp {
  return { put: JobEntity.toItem({ ...toJob(tenant, job, now), notBefore: job.dueAt }, now) };
}

/** The revision of a new job begins at the time, so that a worker that holds an earlier job of the same id cannot write this job. */
function toJob(tenant: string, { jobId, kind, data, dueAt }: NewJob, now: number): Job & { readonly tenant: string } {
  const shard = Array.from(jobId).reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0) % SHARDS;
  return { tenant, jobId, kind, data: JSON.stringify(data), dueAt, shard, createdAt: now };
}

/** Returns the operation that removes a job, at the revision that was read if one is given. */
export function endJob(tenant: string, jobId: string, revision?: number): WriteOp {
  return remove(JobEntity, { tenant, jobId }, revision);
}

/** A job with its tenant, which is a part of its key. */
export type StoredJob = Stored<Job> & { readonly tenant: string };

/**
 * The result of a step: `done` ends the job. Otherwise `progress` is where the next step starts, and `notBefore`
 * (epoch ms) is when, if not at once. `isPaced`: the step did a part of a finite amount of work, and pauses only to limit
 * its rate.
 */
export type StepResult =
  'done' | { readonly progress: object; readonly notBefore?: number | undefined; readonly isPaced?: boolean };

/**
 * The time after a deletion until nobody reads or writes the deleted content, milliseconds: requests that read it
 * before have ended, and the indexes show all writes.
 */
export const REQUESTS_ENDED_MS = 60_000;

/** The content of a queue message about a job. */
export const JobMessage = z.object({ tenant: z.string(), jobId: z.string() });
export type JobMessage = z.output<typeof JobMessage>;

/**
 * Returns the queue message about a job. Its group is the tenant: SQS serves groups in turn, so jobs of one tenant do
 * not delay those of others.
 */
export function jobMessage({ tenant, jobId }: JobMessage, delaySeconds?: number): QueueMessage {
  return {
    body: { tenant, jobId } satisfies JobMessage,
    groupId: tenant,
    ...(delaySeconds !== undefined && { delaySeconds }),
  };
}

/** Sends the messages of stored jobs to their queue. Never throws: the sweeper finds jobs whose messages were lost. */
export async function notifyJobs(
  queue: QueueSender,
  jobs: readonly JobMessage[],
  log: Log,
  delaySeconds?: number,
): Promise<void> {
  await notifyQueue(
    queue,
    jobs.map((job) => jobMessage(job, delaySeconds)),
    log,
  );
}

export class JobStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Stores a job; returns `exists` if it is stored already. */
  async start(tenant: string, job: NewJob, now: number): Promise<'done' | 'exists'> {
    return (await this.#table.write([startJob(tenant, job, now)])) === 'done' ? 'done' : 'exists';
  }

  async get({ tenant, jobId }: JobMessage): Promise<StoredJob | undefined> {
    const job = await this.#table.get(JobEntity, { tenant, jobId });
    return job && { ...job, tenant };
  }

  /**
   * Writes changes of a job at the revision that was read. Returns the changed job; `lost` if another worker wrote it.
   */
  async change(job: StoredJob, changes: JobChange): Promise<StoredJob | 'lost'> {
    const { progress, ...times } = changes;
    const next = { ...job, ...times, ...(progress && { progress: JSON.stringify(progress) }) };
    const outcome = await this.#table.write([replace(JobEntity, next, job._r)]);
    return outcome === 'done' ? { ...next, _r: job._r + 1 } : 'lost';
  }

  /** Removes a job at the revision that was read. A job that was started again since stays. */
  async end({ tenant, jobId, _r }: StoredJob): Promise<void> {
    await this.#table.write([endJob(tenant, jobId, _r)]);
  }
}

interface JobChange {
  readonly progress?: object;
  readonly dueAt: number;
  readonly leaseUntil: number | undefined;
  readonly notBefore?: number | undefined;
  readonly tries: number | undefined;
}

export const startJobs: Capability<Pick<JobStore, 'start' | 'get'>> = /* @__PURE__ */ storeCapability(JobStore, [
  'GetItem',
  'PutItem',
]);

export const doJobs: Capability<Pick<JobStore, 'get' | 'change' | 'end'>> = /* @__PURE__ */ storeCapability(JobStore, [
  'GetItem',
  'PutItem',
  'DeleteItem',
]);

/** Finds jobs that are due. */
export class JobSweeper {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns jobs of a shard that were due at a time (epoch ms), the oldest first. */
  async due(
    shard: number,
    at: number,
    options: { limit: number; after?: string | undefined },
  ): Promise<{ jobs: StoredJob[]; next: string | undefined }> {
    const { keys, next } = await this.#table.queryIndex('gsi3', indexPartition('tenant', dueJobs(shard)), {
      ...options,
      between: [isoTime(0), isoTime(at)],
    });
    const found = await this.#table.getByKeys(JobEntity, keys);
    return {
      jobs: keys.flatMap((key, index) => {
        const job = found[index];
        return job && job.dueAt <= at ? [{ ...job, tenant: tenantOf(key) }] : [];
      }),
      next,
    };
  }

  /** Changes the due time (epoch ms) of a job. Returns false if another worker changed or ended it. */
  async putOff(job: StoredJob, dueAt: number): Promise<boolean> {
    return (await this.#table.write([replace(JobEntity, { ...job, dueAt }, job._r)])) === 'done';
  }
}

export const sweepJobs = /* @__PURE__ */ storeCapability(JobSweeper, ['BatchGetItem', 'PutItem'], ['gsi3']);
