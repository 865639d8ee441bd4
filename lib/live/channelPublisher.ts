import type { WorkerCall } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';
import { type EventPublisher, PUBLISH_MILLISECONDS } from './eventApi.ts';
import { toPublishes } from './rules/events.ts';

/** A channel gets at most one publish in this time. Later events are in the next one. */
const PACE_MILLISECONDS = 50;
/** The pauses before another try of a publish. */
const RETRY_PAUSES = [50, 250, 1_000];
/** How long a publish may start after the access epoch of its channel was read. */
const FRESH_MILLISECONDS = 1_000;
/** The longest time after a new access epoch in which a publish to the old channels may still run. */
const RUNNING_MILLISECONDS = FRESH_MILLISECONDS + PUBLISH_MILLISECONDS + 250;
/** Channels whose last publish is remembered. */
const MAX_REMEMBERED_CHANNELS = 10_000;

export type PublishCall = Pick<WorkerCall<never>, 'clock' | 'log' | 'measures'>;

/** Publishes events to channels at the pace of a client, with retries. One object serves all runs of a process. */
export class ChannelPublisher {
  readonly #events: EventPublisher;
  readonly #sleep: (milliseconds: number) => Promise<unknown>;
  /** The earliest time of the next publish to a channel, epoch ms. */
  readonly #next = new Map<string, number>();

  constructor(
    events: EventPublisher,
    sleep: (milliseconds: number) => Promise<unknown> = (milliseconds) =>
      new Promise((resolve) => setTimeout(resolve, milliseconds)),
  ) {
    this.#events = events;
    this.#sleep = sleep;
  }

  /**
   * Publishes events in their order. Publishes that keep failing are counted and dropped: clients see a gap in the versions
   * and read what they missed. Before a late publish, `isCurrent` says whether the channel is still in use.
   */
  async publish(
    channel: string,
    events: readonly object[],
    call: PublishCall,
    isCurrent: () => Promise<boolean> = () => Promise.resolve(true),
  ): Promise<void> {
    const fence = new Fence(call.clock, isCurrent);
    for (const texts of toPublishes(events)) {
      try {
        await this.#publishOnce(channel, texts, call, fence);
      } catch (error) {
        call.measures.count('LivePublishesFailed');
        call.log.error(logMessages.livePublishFailed, { events: texts.length, error });
      }
    }
  }

  /** Publishes one event. Throws if all tries fail. */
  async publishOrThrow(channel: string, event: object, call: PublishCall): Promise<void> {
    await this.#publishOnce(channel, [JSON.stringify(event)], call);
  }

  async #publishOnce(channel: string, texts: readonly string[], { clock }: PublishCall, fence?: Fence): Promise<void> {
    for (const pause of [...RETRY_PAUSES, undefined]) {
      await this.#waitForTurn(channel, clock);
      if (fence && !(await fence.isOpen())) return;
      try {
        await this.#events.publish(channel, texts);
        return;
      } catch (error) {
        if (pause === undefined) throw error;
        await this.#sleep(pause);
      }
    }
  }

  async #waitForTurn(channel: string, clock: () => number): Promise<void> {
    const now = clock();
    const turn = Math.max(now, this.#next.get(channel) ?? 0);
    if (this.#next.size >= MAX_REMEMBERED_CHANNELS) this.#next.clear();
    this.#next.set(channel, turn + PACE_MILLISECONDS);
    if (turn > now) await this.#sleep(turn - now);
  }

  /** Waits until publishes of other runs, which read the access epoch before, have ended. */
  async waitForRunning(): Promise<void> {
    await this.#sleep(RUNNING_MILLISECONDS);
  }
}

/** Knows whether a channel is still in use. It asks again if the last answer is too old. */
class Fence {
  readonly #clock: () => number;
  readonly #isCurrent: () => Promise<boolean>;
  #freshUntil: number;

  constructor(clock: () => number, isCurrent: () => Promise<boolean>) {
    this.#clock = clock;
    this.#isCurrent = isCurrent;
    this.#freshUntil = clock() + FRESH_MILLISECONDS;
  }

  async isOpen(): Promise<boolean> {
    if (this.#clock() < this.#freshUntil) return true;
    const isOpen = await this.#isCurrent();
    this.#freshUntil = this.#clock() + FRESH_MILLISECONDS;
    return isOpen;
  }
}
