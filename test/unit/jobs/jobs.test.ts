import { describe, expect, jest, test } from '@jest/globals';
import { JobEntity, type JobKind, type JobMessage, type JobStore, type StoredJob } from '../../../lib/jobs/jobStore.ts';
import { runJob, type RunJobDeps, type Step } from '../../../lib/jobs/runJob.ts';
import type { QueueMessage } from '../../../lib/workers/sender.ts';
import { times } from '../../support/times.ts';
import { recordingMeasures } from '../../support/workers.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const message: JobMessage = { tenant: 't', jobId: 'j' };
const log = { info: () => undefined, warn: jest.fn(), error: () => undefined };

/** One job in memory, with revisions as in the table. Tests give it queues and steps, and move its clock. */
class FakeJobs {
  now = Date.UTC(2026, 0, 1);
  job: StoredJob | undefined = {
    tenant: 't',
    jobId: 'j',
    kind: 'purgeDocuments',
    data: '{}',
    dueAt: this.now,
    shard: 1,
    createdAt: this.now,
    _r: this.now,
  };
  readonly sent: QueueMessage[] = [];
  readonly #step: Step;
  /** The number of the store or queue call that fails. The first call is 1. With 0, none fails. */
  failAt = 0;
  #calls = 0;

  constructor(step: Step) {
    this.#step = step;
  }

  async run(deadline = Infinity): Promise<void> {
    const call = async <T>(effect: () => T): Promise<T> => {
      if (++this.#calls === this.failAt) throw new Error('killed');
      return effect();
    };
    const jobs: Pick<JobStore, 'get' | 'change' | 'end'> = {
      get: () => call(() => this.job && { ...this.job }),
      change: (job, { progress, ...times }) =>
        call(() => {
          if (this.job?._r !== job._r) return 'lost';
          this.job = {
            ...this.job,
            isWoken: undefined,
            ...times,
            ...(progress && { progress: JSON.stringify(progress) }),
            _r: job._r + 1,
          };
          return { ...this.job };
        }),
      end: (job) =>
        call(() => {
          if (this.job?._r !== job._r) return 'lost';
          this.job = undefined;
          return 'done';
        }),
    };
    const steps = new Proxy({} as Record<JobKind, Step>, { get: () => this.#step });
    const deps: RunJobDeps = {
      jobs,
      steps,
      queue: { send: (messages) => call(() => void this.sent.push(...messages)) },
    };
    await runJob(deps, { message, clock: () => this.now, deadline, log, measures: recordingMeasures() });
  }

  /** As `JobStore.wake` marks a job that a worker runs. */
  markWoken(): void {
    if (this.job) this.job = { ...this.job, isWoken: true, _r: this.job._r + 1 };
  }

  /** Whether the sweep would find the job. */
  get isDue(): boolean {
    return this.job !== undefined && this.job.dueAt <= this.now;
  }
}

const stepsOf = (...results: Awaited<ReturnType<Step>>[]) => {
  const seen: (string | undefined)[] = [];
  const step: Step = async ({ progress }) => {
    seen.push(progress);
    return results[seen.length - 1] ?? 'done';
  };
  return { seen, step };
};

describe('runJob', () => {
  test('runs each step with the progress of the previous step, and ends the job', async () => {
    const { seen, step } = stepsOf({ progress: { at: 1 } }, { progress: { at: 2 } }, 'done');
    const world = new FakeJobs(step);
    await world.run();
    expect(seen).toEqual([undefined, '{"at":1}', '{"at":2}']);
    expect([world.job, world.sent]).toEqual([undefined, []]);
    await world.run();
    expect(seen).toHaveLength(3);
  });

  test('releases the job and sends a message for the next run when no time is left', async () => {
    const { seen, step } = stepsOf({ progress: { at: 1 } });
    const world = new FakeJobs(step);
    await world.run(world.now);
    expect(world.sent).toEqual([{ body: message, groupId: message.tenant }]);
    expect(world.job).toMatchObject({ progress: '{"at":1}', leaseUntil: undefined, dueAt: world.now + 5 * MINUTE });
    await world.run(world.now + MINUTE);
    expect([seen, world.job]).toEqual([[undefined, '{"at":1}'], undefined]);
  });

  test('stops after ten seconds and queues the job again, so that other jobs get the worker', async () => {
    const world: FakeJobs = new FakeJobs(async () => {
      world.now += SECOND;
      return { progress: { at: world.now } };
    });
    const start = world.now;
    await world.run(start + 15 * MINUTE);
    expect(world.now - start).toBe(11 * SECOND);
    expect(world.sent).toEqual([{ body: message, groupId: message.tenant }]);
    expect(world.job).toMatchObject({ progress: JSON.stringify({ at: world.now }), leaseUntil: undefined });
  });

  test('a hundred slow jobs of one tenant delay the job of another tenant by one run', async () => {
    let now = 0;
    const slowJobs = times(100, () => {
      const world: FakeJobs = new FakeJobs(async () => {
        now += SECOND;
        world.now = now;
        return { progress: {} };
      });
      return world;
    });
    const other = new FakeJobs(async () => 'done');
    // SQS fair queues serve the groups in turn. Within a group, they keep the order of the messages.
    const groups = [[...slowJobs], [other]];
    while (other.job) {
      for (const group of groups) {
        const world = group.shift();
        if (!world) continue;
        world.now = now;
        await world.run(Infinity);
        if (world.job) group.push(world);
      }
    }
    expect(now).toBeLessThanOrEqual(11 * SECOND);
  });

  test('a step postpones the job with a delayed message, and an earlier message does nothing', async () => {
    const world = new FakeJobs(stepsOf({ progress: { at: 1 }, notBefore: Date.UTC(2026, 0, 1) + MINUTE }).step);
    await world.run();
    expect(world.sent).toEqual([{ body: message, groupId: message.tenant, delaySeconds: 60 }]);
    expect(world.job).toMatchObject({
      progress: '{"at":1}',
      notBefore: world.now + MINUTE,
      dueAt: world.now + MINUTE,
      leaseUntil: undefined,
    });
    world.now += MINUTE - 1;
    await world.run();
    expect([world.job?.progress, world.isDue]).toEqual(['{"at":1}', false]);
    world.now += 1;
    expect(world.isDue).toBe(true);
    await world.run();
    expect(world.job).toBeUndefined();
  });

  test('leaves a start time more than 15 minutes ahead to the sweep, and ignores a past one', async () => {
    const start = Date.UTC(2026, 0, 1);
    const world = new FakeJobs(
      stepsOf({ progress: {}, notBefore: start }, { progress: {}, notBefore: start + 901 * SECOND }).step,
    );
    await world.run();
    expect(world.sent).toEqual([]);
    // The sweep sends a delayed message, so that the job runs at the second.
    expect(world.job).toMatchObject({ notBefore: start + 901 * SECOND, dueAt: start + 811 * SECOND });
  });

  test('a job that is always postponed sends messages for an hour, and then waits for the sweep', async () => {
    const world: FakeJobs = new FakeJobs(async () => ({ progress: {}, notBefore: world.now + MINUTE }));
    for (let minute = 0; minute < 180; minute++) {
      await world.run();
      world.now += MINUTE;
      expect(world.isDue).toBe(true);
    }
    expect(world.sent).toHaveLength(60);
  });

  test.each<[string, Awaited<ReturnType<Step>>]>([
    ['ends the job', 'done'],
    ['makes progress', { progress: { at: 1 } }],
    ['waits', { progress: { at: 1 }, notBefore: Date.UTC(2026, 0, 2) }],
  ])('a job that is woken during a step that %s runs another step at once, with its progress', async (_what, first) => {
    const seen: (string | undefined)[] = [];
    const world: FakeJobs = new FakeJobs(async ({ progress }) => {
      seen.push(progress);
      if (seen.length > 1) return 'done';
      world.markWoken();
      return first;
    });
    await world.run();
    expect(seen).toEqual([undefined, first === 'done' ? undefined : '{"at":1}']);
    expect(world.job).toBeUndefined();
  });

  test('a job that is woken when its worker has no time left keeps its progress', async () => {
    const world: FakeJobs = new FakeJobs(async () => {
      world.markWoken();
      return { progress: { at: 1 } };
    });
    await world.run(world.now);
    expect(world.job).toMatchObject({ progress: '{"at":1}', leaseUntil: undefined, isWoken: undefined });
    expect(world.sent).toHaveLength(1);
  });

  test('only one worker runs a job during its lease', async () => {
    let release: () => void = () => undefined;
    let startCount = 0;
    const world = new FakeJobs(async () => {
      if (++startCount === 1)
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      return 'done';
    });
    const first = world.run();
    await new Promise(setImmediate);
    await world.run();
    world.now += 89 * SECOND;
    await world.run();
    expect(startCount).toBe(1);
    release();
    await first;
    expect(world.job).toBeUndefined();
  });

  test('after a lease expires, only one of two workers continues, writes and ends the job', async () => {
    const waiting: (() => void)[] = [];
    const world = new FakeJobs(async ({ progress }) => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return progress === undefined ? { progress: { by: waiting.length } } : 'done';
    });
    const step = () =>
      new Promise((resolve) => {
        setImmediate(resolve);
      });
    const slow = world.run();
    await step();
    world.now += 91 * SECOND;
    const other = world.run();
    await step();
    waiting[0]!();
    await slow;
    expect(log.warn).toHaveBeenLastCalledWith('job lease held by another worker', { jobId: 'j' });
    expect(world.job).toBeDefined();
    waiting[1]!();
    await step();
    waiting[2]!();
    await other;
    expect(world.job).toBeUndefined();
  });

  test('a job that is killed at any call is due again, and the next runs end it', async () => {
    for (let failAt = 1; ; failAt++) {
      let done = 0;
      const world: FakeJobs = new FakeJobs(async ({ progress }) => {
        const { at } = JSON.parse(progress ?? '{"at":0}') as { at: number };
        if (at === 2) {
          done += 1;
          return 'done';
        }
        return { progress: { at: at + 1 }, ...(at === 0 && { notBefore: world.now + MINUTE }) };
      });
      world.failAt = failAt;
      const failures: unknown[] = [];
      const isEnded = () => world.job === undefined;
      for (let i = 0; i < 6 && !isEnded(); i++) {
        await world.run().catch((error: unknown) => failures.push(error));
        world.now += 2 * MINUTE;
        expect(isEnded() || world.isDue).toBe(true);
      }
      expect([world.job, done > 0]).toEqual([undefined, true]);
      if (failures.length === 0) break;
    }
  });

  test('a job that always fails rethrows its error, and is always retried within six hours', async () => {
    let fails = true;
    const world = new FakeJobs(async () => (fails ? Promise.reject(new Error('no')) : 'done'));
    const pauses: number[] = [];
    for (let i = 0; i < 12; i++) {
      await expect(world.run()).rejects.toThrow('no');
      pauses.push(world.job!.dueAt - world.now);
      world.now = world.job!.dueAt;
    }
    expect(pauses.slice(0, 4)).toEqual([90, 180, 360, 720].map((seconds) => seconds * SECOND));
    expect(pauses.slice(-3)).toEqual([6 * HOUR, 6 * HOUR, 6 * HOUR]);
    fails = false;
    await world.run();
    expect(world.job).toBeUndefined();
  });

  test('a job that makes progress between failures is retried after the first, short pause', async () => {
    let steps = 0;
    const world: FakeJobs = new FakeJobs(async () =>
      ++steps % 2 === 0 ? Promise.reject(new Error('no')) : { progress: { steps } },
    );
    for (let i = 0; i < 5; i++) {
      await expect(world.run()).rejects.toThrow('no');
      expect(world.job!.dueAt - world.now).toBe(90 * SECOND);
      world.now = world.job!.dueAt;
    }
  });
});

test('a job expires 30 days after its due time, however often it was postponed', () => {
  const { job } = new FakeJobs(async () => 'done');
  const days = 24 * HOUR;
  const later = { ...job!, dueAt: job!.createdAt + 60 * days };
  expect(JobEntity.fromItem(JobEntity.toItem(later), job!.createdAt + 89 * days)).toBeDefined();
  expect(JobEntity.fromItem(JobEntity.toItem(later), job!.createdAt + 91 * days)).toBeUndefined();
});
