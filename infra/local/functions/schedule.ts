import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ScheduleModel } from '../assembly/eventSourceModels.ts';
import { ACCOUNT, REGION } from '../iam/identity.ts';

/** `clock` returns epoch ms. An abort ends a pause. */
interface ScheduleTime {
  readonly clock: () => number;
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

const realTime: ScheduleTime = {
  clock: () => Date.now(),
  pause: (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
};

/**
 * The first call is made at once, for work that an earlier run left. Calls never overlap. A failed call is not retried,
 * because the next one does the same work.
 */
export class Schedule {
  readonly #time: ScheduleTime;
  readonly #ticking: Promise<void>;
  readonly #stop = new AbortController();

  constructor(
    { arn, everySeconds }: ScheduleModel,
    invoke: (event: object) => Promise<unknown>,
    time: ScheduleTime = realTime,
  ) {
    this.#time = time;
    this.#ticking = this.#tick(everySeconds * 1000, () => invoke(tickEvent(arn, new Date(time.clock()))));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ticking;
  }

  async #tick(milliseconds: number, run: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const next = this.#time.clock() + milliseconds;
      await run().catch(() => undefined);
      await this.#time.pause(Math.max(0, next - this.#time.clock()), signal).catch(() => undefined);
    }
  }
}

function tickEvent(ruleArn: string, at: Date): object {
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account: ACCOUNT,
    time: at.toISOString().replace(/\.\d+/, ''),
    region: REGION,
    resources: [ruleArn],
    detail: {},
  };
}
