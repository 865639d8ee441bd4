import type { Messages } from './queueSource.ts';

/** While the queues are stopped, nothing is received or deleted. */
export class StoppableMessages implements Messages {
  readonly #messages: Messages;
  /** Wakes the consumers that wait while the queues are stopped, by queue. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #stopped = false;

  constructor(messages: Messages) {
    this.#messages = messages;
  }

  /** A message whose batch ends while the queues are stopped becomes visible again after its visibility timeout. */
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

  async waitForMessage(name: string, milliseconds: number): Promise<void> {
    if (!this.#stopped) return this.#messages.waitForMessage(name, milliseconds);
    const { promise, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
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
