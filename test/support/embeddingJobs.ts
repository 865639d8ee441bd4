import { environment } from '../../lib/app/capability.ts';
import { type JobMessage, JobStore, type StoredJob } from '../../lib/jobs/jobStore.ts';
import { runJob, type RunJobDeps } from '../../lib/jobs/runJob.ts';
import { runEmbeddingJobs } from '../../lib/memory/runEmbeddingJobs.ts';
import type { QueueMessage } from '../../lib/workers/sender.ts';
import { silentLog } from '../support/workers.ts';
import { table } from './acmeWorld.ts';
import { roleOf } from './permissions.ts';
import { recordingMeasures } from './workers.ts';

type Deps = RunJobDeps<'embed'>;

const runWithRole = roleOf('runEmbeddingJobs', [runEmbeddingJobs]);

/**
 * Runs embedding jobs as the worker does. Uses the model that was configured when the object was created. The clock
 * jumps to the time of the next message.
 */
export class EmbeddingWorker {
  now: number;
  readonly sent: QueueMessage[] = [];
  readonly deps: Deps;

  constructor(now: number, wrap: (deps: Deps) => Deps = (deps) => deps) {
    this.now = now;
    this.deps = wrap({
      ...runEmbeddingJobs.open(environment(process.env)),
      queue: { send: async (messages) => void this.sent.push(...messages) },
    });
  }

  readonly call = {
    log: silentLog,
    measures: recordingMeasures(),
  };

  job(message: JobMessage): Promise<StoredJob | undefined> {
    return new JobStore(table).get(message);
  }

  /** Runs a job until `deadline` (epoch milliseconds). With 0, runs a single step. */
  async run(message: JobMessage, { deadline = Infinity } = {}): Promise<void> {
    const call = { ...this.call, message, clock: () => this.now, deadline };
    await runWithRole(() => runJob<'embed'>(this.deps, call));
  }

  /** Runs a job to its end and calls `between` after every step. Returns the number of steps. */
  async finish(message: JobMessage, between: () => Promise<void> = async () => undefined): Promise<number> {
    let steps = 0;
    for (; await this.job(message); steps++) {
      if (steps === 300) throw new Error('The job does not end');
      await this.run(message, { deadline: 0 });
      this.now += this.sent.reduce((longest, { delaySeconds = 0 }) => Math.max(longest, delaySeconds), 0) * 1_000;
      this.sent.length = 0;
      await between();
    }
    return steps;
  }
}
