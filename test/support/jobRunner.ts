import { runsJobs } from '../../functions/workers/runJobs.ts';
import { environment } from '../../lib/app/capability.ts';
import type { JobMessage } from '../../lib/jobs/jobStore.ts';
import { runJob, type RunJobDeps } from '../../lib/jobs/runJob.ts';
import type { QueueMessage } from '../../lib/workers/sender.ts';
import { roleOf } from './permissions.ts';
import { recordingMeasures, silentLog } from './workers.ts';

/** Runs a step of a job with the permissions of the worker that runs jobs. */
export const runAsJob = roleOf('runJobs', [runsJobs]);

/** Runs jobs as the worker does. The clock jumps to the time of the next message. */
export class JobRunner {
  now: number;
  readonly #deps: RunJobDeps;
  readonly #sent: QueueMessage[] = [];

  constructor(now: number, { steps }: { steps?: Partial<RunJobDeps['steps']> } = {}) {
    this.now = now;
    const deps = runsJobs.open(environment(process.env));
    this.#deps = {
      ...deps,
      steps: { ...deps.steps, ...steps },
      queue: { send: async (messages) => void this.#sent.push(...messages) },
    };
  }

  /** Runs a job once. */
  async run(message: JobMessage): Promise<void> {
    const call = { message, clock: () => this.now, deadline: Infinity, log: silentLog, measures: recordingMeasures() };
    await runAsJob(() => runJob(this.#deps, call));
  }

  /** Runs a job until it is done. */
  async finish(message: JobMessage): Promise<void> {
    for (let next: JobMessage | undefined = message; next;) {
      await this.run(next);
      const sent = this.#sent.shift();
      this.now += (sent?.delaySeconds ?? 0) * 1_000;
      next = sent?.body as JobMessage | undefined;
    }
  }
}
