import * as z from 'zod';
import type { Capability, QueueName } from '../app/capability.ts';
import type { Log } from '../observability/log.ts';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { readDue } from '../table/indexValues.ts';
import type { ItemPage } from '../table/pages.ts';
import { shardOf } from '../table/queryShards.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, type PageOptions, remove, replace, type Table, upsert, type WriteOp } from '../table/table.ts';
import type { DueIndex } from '../workers/dueShards.ts';
import { notifyQueue } from '../workers/notifyQueue.ts';
import { planAttempt } from '../workers/rules/schedule.ts';
import type { QueueMessage, QueueSender } from '../workers/sender.ts';

export const queueOfJob = {
  purgeLeftover: 'jobs',
  purgeDocuments: 'jobs',
  purgeOrganization: 'jobs',
  changeFolders: 'jobs',
  removeUsers: 'jobs',
  eraseUsers: 'jobs',
  migrateDocument: 'jobs',
  recoverDeliveries: 'jobs',
  releaseParked: 'jobs',
  emitEditorUpdate: 'jobs',
  keepEditorVersion: 'jobs',
  collectEntries: 'jobs',
  endPresence: 'jobs',
  purgeAgent: 'jobs',
  countAgentRuns: 'jobs',
  embedJudgments: 'embed',
  changeEmbedding: 'embed',
} as const satisfies Readonly<Record<string, QueueName>>;
export type JobKind = keyof typeof queueOfJob;
export type JobQueue = (typeof queueOfJob)[JobKind];
export type JobKindOn<Q extends JobQueue> = { [K in JobKind]: (typeof queueOfJob)[K] extends Q ? K : never }[JobKind];
const jobKinds = Object.keys(queueOfJob) as JobKind[];

const SHARDS = 16;
const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

const Schema = z.object({
  jobId: z.string(),
  kind: z.enum(jobKinds),
  data: z.string(),
  progress: z.string().optional(),
  /** Epoch ms, as all times here. The sweep sends the next message then. */
  dueAt: z.number(),
  leaseUntil: z.number().optional(),
  notBefore: z.number().optional(),
  tries: z.number().optional(),
  /** Set while a worker runs a step, which may have read too early: another step follows. */
  isWoken: z.boolean().optional(),
  shard: z.number(),
  createdAt: z.number(),
});
export type Job = z.output<typeof Schema>;

export const JobEntity = defineEntity({
  type: 'Job',
  version: 4,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'Work that continues after the response, such as purges',
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
  // Each run changes the due time, so a job that fails for a long time does not expire.
  expiresAt: ({ dueAt }) => Math.floor(dueAt / 1000) + LIFETIME_SECONDS,
});

function dueJobs(shard: number): string[] {
  return ['JOBS', String(shard)];
}

export const dueJobIndex: DueIndex = { shards: SHARDS, partition: dueJobs };

/** The sweep sends a message at `dueAt` if the first one is lost. */
export interface NewJob {
  readonly jobId: string;
  readonly kind: JobKind;
  readonly data: object;
  readonly dueAt: number;
}

/**
 * Belongs in the transaction of the change that needs the job. Call `notifyJobs` after the transaction. The first
 * revision is `now`, so a worker of an earlier job with the same id cannot overwrite this job.
 */
export function startJob(tenant: string, job: NewJob, now: number): WriteOp {
  return insert(JobEntity, toJob(tenant, job, now), now);
}

/** Replaces a job with the same id, whose worker stops after its current step. No step starts before `dueAt`. */
export function restartJob(tenant: string, job: NewJob, now: number): WriteOp {
  return upsert(JobEntity, { ...toJob(tenant, job, now), notBefore: job.dueAt }, now);
}

function toJob(tenant: string, { jobId, kind, data, dueAt }: NewJob, now: number): Job & { readonly tenant: string } {
  return { tenant, jobId, kind, data: JSON.stringify(data), dueAt, shard: shardOf(jobId, SHARDS), createdAt: now };
}

export function endJob(tenant: string, jobId: string, revision?: number): WriteOp {
  return remove(JobEntity, { tenant, jobId }, revision);
}

export type StoredJob = Stored<Job> & { readonly tenant: string };

/** `notBefore` is in epoch ms. `isPaced` means that the step made progress and waits only to limit its rate. */
export type StepResult =
  'done' | { readonly progress: object; readonly notBefore?: number | undefined; readonly isPaced?: boolean };

/** After this time, requests from before a deletion have ended, and the indexes contain their writes. */
export const REQUESTS_ENDED_MS = 60_000;

export const JobMessage = z.object({ tenant: z.string(), jobId: z.string() });
export type JobMessage = z.output<typeof JobMessage>;

/** SQS delivers other groups first while the jobs of one tenant keep the workers busy, so they do not delay others. */
export function jobMessage({ tenant, jobId }: JobMessage, delaySeconds?: number): QueueMessage {
  return {
    body: { tenant, jobId } satisfies JobMessage,
    groupId: tenant,
    ...(delaySeconds !== undefined && { delaySeconds }),
  };
}

/** Never throws, because the sweep finds jobs whose messages were lost. */
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

/** The sweep finds the job this long after the time of a lost message. */
const WAKE_MARGIN = 10_000;

export class JobStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async start(tenant: string, job: NewJob, now: number): Promise<'done' | 'exists'> {
    return (await this.#table.write([startJob(tenant, job, now)])) === 'done' ? 'done' : 'exists';
  }

  /**
   * Starts a job, or makes one due earlier whose next step is later than `dueAt`; both need a message. A worker that
   * runs a step runs another one after it.
   */
  async wake(tenant: string, job: NewJob, now: number): Promise<'started' | 'earlier' | 'unchanged'> {
    const times = { notBefore: job.dueAt, dueAt: planAttempt(job.dueAt, now, WAKE_MARGIN).dueAt };
    return retryOnConflict(async () => {
      const stored = await this.get({ tenant, jobId: job.jobId });
      if (!stored)
        return this.#table.tryWrite([insert(JobEntity, { ...toJob(tenant, job, now), ...times }, now)], 'started');
      const replaceBy = (changes: Partial<Job>) => replace(JobEntity, { ...stored, ...changes }, stored._r);
      if ((stored.leaseUntil ?? 0) > now)
        return stored.isWoken ? 'unchanged' : this.#table.tryWrite([replaceBy({ isWoken: true })], 'unchanged');
      if ((stored.notBefore ?? stored.dueAt) <= job.dueAt) return 'unchanged';
      return this.#table.tryWrite([replaceBy({ ...times, tries: undefined })], 'earlier');
    });
  }

  async get({ tenant, jobId }: JobMessage): Promise<StoredJob | undefined> {
    const job = await this.#table.get(JobEntity, { tenant, jobId });
    return job && { ...job, tenant };
  }

  async change(job: StoredJob, changes: JobChange): Promise<StoredJob | 'lost'> {
    const { progress, ...times } = changes;
    const next = { ...job, ...times, isWoken: undefined, ...(progress && { progress: JSON.stringify(progress) }) };
    const outcome = await this.#table.write([replace(JobEntity, next, job._r)]);
    return outcome === 'done' ? { ...next, _r: job._r + 1 } : 'lost';
  }

  /** `lost`: the job was started again or woken in the meantime, and stays. */
  async end({ tenant, jobId, _r }: StoredJob): Promise<'done' | 'lost'> {
    return (await this.#table.write([endJob(tenant, jobId, _r)])) === 'done' ? 'done' : 'lost';
  }
}

interface JobChange {
  readonly progress?: object;
  readonly dueAt: number;
  readonly leaseUntil: number | undefined;
  readonly notBefore?: number | undefined;
  readonly tries: number | undefined;
}

export const startJobs: Capability<Pick<JobStore, 'start' | 'get' | 'wake'>> = /* @__PURE__ */ storeCapability(
  JobStore,
  ['GetItem', 'PutItem'],
);

export const updateJobs: Capability<Pick<JobStore, 'get' | 'change' | 'end'>> = /* @__PURE__ */ storeCapability(
  JobStore,
  ['GetItem', 'PutItem', 'DeleteItem'],
);

export class JobSweeper {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async listDue(shard: number, at: number, options: PageOptions): Promise<ItemPage<StoredJob>> {
    const { values, next } = await readDue(this.#table, JobEntity, dueJobs(shard), at, options);
    return { values: values.filter(({ dueAt }) => dueAt <= at), next };
  }

  async postpone(job: StoredJob, dueAt: number): Promise<boolean> {
    return (await this.#table.write([replace(JobEntity, { ...job, dueAt }, job._r)])) === 'done';
  }
}

export const sweepJobs = /* @__PURE__ */ storeCapability(JobSweeper, ['BatchGetItem', 'PutItem'], ['gsi3']);
