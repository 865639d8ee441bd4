import { setTimeout as wait } from 'node:timers/promises';
import type { WorkerCall } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';
import { BoundedMap } from '../shared/boundedMap.ts';
import { type HintPublisher, PUBLISH_MILLISECONDS } from './eventApi.ts';
import { toPublishes } from './rules/events.ts';

const PACE_MILLISECONDS = 50;
const RETRY_PAUSES = [50, 250, 1_000];
/** A publish may start this long after the process read which channels a document uses. */
const FRESH_MILLISECONDS = 1_000;
/** How long a publish to the old channels of a document can still run. */
const RUNNING_MILLISECONDS = FRESH_MILLISECONDS + PUBLISH_MILLISECONDS + 250;
/** The indexes of the table usually have a new item within this time. */
const INDEX_MILLISECONDS = 3_000;
const MAX_REMEMBERED_CHANNELS = 10_000;

export type PublishCall = Pick<WorkerCall<never>, 'clock' | 'log' | 'measures'>;

export class ChannelPublisher {
  readonly #events: HintPublisher;
  readonly #sleep: (milliseconds: number) => Promise<unknown>;
  readonly #next = new BoundedMap<string, number>(MAX_REMEMBERED_CHANNELS);

  constructor(events: HintPublisher, sleep: (milliseconds: number) => Promise<unknown> = wait) {
    this.#events = events;
    this.#sleep = sleep;
  }

  /**
   * If a publish fails after all retries, its events are dropped. Clients notice missing hints by a gap in the
   * versions, and read them. A publish that starts late first asks `isCurrent` whether the channel is still in use.
   */
  async publish(
    channel: string,
    events: readonly object[],
    call: PublishCall,
    isCurrent: () => Promise<boolean> = () => Promise.resolve(true),
  ): Promise<void> {
    const use = new ChannelUse(call.clock, isCurrent);
    for (const texts of toPublishes(events)) {
      try {
        await this.#publishOnce(channel, texts, call, use);
      } catch (error) {
        call.measures.count('LivePublishesFailed');
        call.log.error(logMessages.livePublishFailed, { events: texts.length, error });
      }
    }
  }

  async publishOrThrow(channel: string, event: object, call: PublishCall): Promise<void> {
    await this.#publishOnce(channel, [JSON.stringify(event)], call);
  }

  async #publishOnce(
    channel: string,
    texts: readonly string[],
    { clock }: PublishCall,
    use?: ChannelUse,
  ): Promise<void> {
    for (const pause of [...RETRY_PAUSES, undefined]) {
      await this.#waitForPace(channel, clock);
      if (use && !(await use.isCurrent())) return;
      try {
        await this.#events.publish(channel, texts);
        return;
      } catch (error) {
        if (pause === undefined) throw error;
        await this.#sleep(pause);
      }
    }
  }

  async #waitForPace(channel: string, clock: () => number): Promise<void> {
    const now = clock();
    const startsAt = Math.max(now, this.#next.get(channel) ?? 0);
    this.#next.set(channel, startsAt + PACE_MILLISECONDS);
    if (startsAt > now) await this.#sleep(startsAt - now);
  }

  async waitForRunning(): Promise<void> {
    await this.#sleep(RUNNING_MILLISECONDS);
  }

  async waitForIndex(): Promise<void> {
    await this.#sleep(INDEX_MILLISECONDS);
  }
}

class ChannelUse {
  readonly #clock: () => number;
  readonly #isCurrent: () => Promise<boolean>;
  #freshUntil: number;

  constructor(clock: () => number, isCurrent: () => Promise<boolean>) {
    this.#clock = clock;
    this.#isCurrent = isCurrent;
    this.#freshUntil = clock() + FRESH_MILLISECONDS;
  }

  async isCurrent(): Promise<boolean> {
    if (this.#clock() < this.#freshUntil) return true;
    const isCurrent = await this.#isCurrent();
    this.#freshUntil = this.#clock() + FRESH_MILLISECONDS;
    return isCurrent;
  }
}
