import type { Messages } from './queueSource.ts';

/** The messages of queues for Lambda's event sources, and none while the queues are stopped: nothing is received then, and nothing deleted. */
export class StoppableMessages implements Messages {
  readonly #messages: Messages;
  /** Who waits for messages of which queue while there are none to be had. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #stopped = false;

  constructor(messages: Messages) {
    this.#messages = messages;
  }

  /** What was received before comes again when its time is over: that it is done cannot be told any more. */
  stop(): void {
    this.#stopped = true;
  }

  start(): void {
    this.#stopped = false;
    for (const name of this.#waiting.keys()) this.wake(name);
  }

  receive(...args: Parameters<Messages['receive']>): ReturnType<Messages['receive']> {
    return this.#stopped ? [] : this.#messages.receive(...args);
  }

  delete(...args: Parameters<Messages['delete']>): void {
    if (!this.#stopped) this.#messages.delete(...args);
  }

  async arrival(name: string, milliseconds: number): Promise<void> {
    if (!this.#stopped) return this.#messages.arrival(name, milliseconds);
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting.add(resolve));
    const timer = setTimeout(resolve, milliseconds);
    await promise;
    clearTimeout(timer);
    waiting.delete(resolve);
  }

  wake(name: string): void {
    this.#messages.wake(name);
    for (const wake of this.#waiting.get(name) ?? []) wake();
  }
}
