import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ScheduleModel } from '../streams/eventSourceModels.ts';
import { ACCOUNT, REGION } from '../iam/identity.ts';

/**
 * Calls a function at a rate, for the first time at once, so that what an earlier run left behind need not wait. A tick that
 * takes longer than the rate delays the next one: there are never two at a time.
 */
export class Schedule {
  readonly #ticking: Promise<void>;
  readonly #stop = new AbortController();

  /** Starts at once. A tick that fails is nobody's loss: the next one does its work. */
  constructor({ arn, everySeconds }: ScheduleModel, invoke: (event: object) => Promise<unknown>) {
    this.#ticking = this.#tick(everySeconds * 1000, () => invoke(tickEvent(arn, new Date())));
  }

  /** Resolves when a tick under way is done. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ticking;
  }

  async #tick(milliseconds: number, run: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const next = Date.now() + milliseconds;
      await run().catch(() => undefined);
      await delay(Math.max(0, next - Date.now()), undefined, { signal }).catch(() => undefined);
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
