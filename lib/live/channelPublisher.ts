import { setTimeout as wait } from 'node:timers/promises';
import type { WorkerCall } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';
import { BoundedMap } from '../shared/boundedMap.ts';
import { type EventPublisher, PUBLISH_MILLISECONDS } from './eventApi.ts';
import { toPublishes } from './rules/events.ts';

/** The shortest time between two publishes to a channel, in milliseconds. Events that come in between are in the second publish. */
const PACE_MILLISECONDS = 50;
/** The pause before each retry of a publish, in milliseconds. */
const RETRY_PAUSES = [50, 250, 1_000];
/**
 * A publish may start this long (milliseconds) after the process read which channels a document uses. Later, it must
 * read again.
 */
const FRESH_MILLISECONDS = 1_000;
/** After a document has got new channels, a publish to its old channels can still run for this long (milliseconds). */
const RUNNING_MILLISECONDS = FRESH_MILLISECONDS + PUBLISH_MILLISECONDS + 250;
/** The indexes of the table usually have a new item within this time (milliseconds). */
const INDEX_MILLISECONDS = 3_000;
/** The publisher keeps the time of the next publish for this many channels. */
const MAX_REMEMBERED_CHANNELS = 10_000;

export type PublishCall = Pick<WorkerCall<never>, 'clock' | 'log' | 'measures'>;

/**
 * Publishes events to channels, with retries and with a pause between publishes to the same channel. One object serves
 * all runs of a process.
 */
export class ChannelPublisher {
  readonly #events: EventPublisher;
  readonly #sleep: (milliseconds: number) => Promise<unknown>;
  /** The earliest time of the next publish to each channel, epoch ms. */
  readonly #next = new BoundedMap<string, number>(MAX_REMEMBERED_CHANNELS);

  constructor(events: EventPublisher, sleep: (milliseconds: number) => Promise<unknown> = wait) {
    this.#events = events;
    this.#sleep = sleep;
  }

  /**
   * Publishes events in order. If a publish fails after all retries, its events are dropped and the failure is counted.
   * Clients then find a gap in the versions and read the missing changes. A publish that starts late first calls
   * `isCurrent`. If that returns false, the channel is no longer in use, and the events are dropped.
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

  /** Publishes one event. Throws if all attempts fail. */
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

  /** Waits until no publish to the old channels of a document can still run. */
  async waitForRunning(): Promise<void> {
    await this.#sleep(RUNNING_MILLISECONDS);
  }

  /** Waits until the indexes of the table have the items that were written before. */
  async waitForIndex(): Promise<void> {
    await this.#sleep(INDEX_MILLISECONDS);
  }
}

/** Returns whether a channel is still in use. Calls `isCurrent` if the last answer is too old. */
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
