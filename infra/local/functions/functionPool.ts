import { setTimeout as delay } from 'node:timers/promises';
import { FunctionError, FunctionInstance, type FunctionObserver } from './functionInstance.ts';
import type { FunctionModel } from '../assembly/functionModel.ts';

const IDLE_MILLISECONDS = 60_000;
const MAX_LIVE = 40;
/** Limit of threads that process one call at a time. The others serve requests. */
const MAX_EXCLUSIVE = 24;
/** How long a call waits for a free thread before it starts another one. */
const PATIENCE_MILLISECONDS = 50;

export interface PoolOptions {
  readonly environmentOf: (model: FunctionModel) => Record<string, string>;
  readonly observer: FunctionObserver;
  readonly idleMilliseconds?: number;
  readonly maxLive?: number;
  /** At this number of exclusive threads, no function gets a second one. */
  readonly maxExclusive?: number;
  readonly patienceMilliseconds?: number;
}

/**
 * The threads of all functions. A call starts a thread if needed; a thread ends after a minute without calls. At the
 * limit, the thread that was idle longest ends. If all are busy, a call waits.
 */
export class FunctionPool {
  readonly #options: Required<PoolOptions>;
  /** Includes threads that accept no more calls but have not ended. */
  readonly #live = new Set<FunctionInstance>();
  /** Threads that process one call at a time. */
  readonly #exclusive = new Set<FunctionInstance>();
  readonly #sweeper: NodeJS.Timeout;
  #freed: PromiseWithResolvers<void> = Promise.withResolvers();
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = {
      idleMilliseconds: IDLE_MILLISECONDS,
      maxLive: MAX_LIVE,
      maxExclusive: MAX_EXCLUSIVE,
      patienceMilliseconds: PATIENCE_MILLISECONDS,
      ...options,
    };
    this.#sweeper = setInterval(() => this.#endIdle(), this.#options.idleMilliseconds / 10);
    this.#sweeper.unref();
  }

  /**
   * Calls a function with JSON and returns its result as JSON. Throws a `FunctionError`. All calls share one thread,
   * which is efficient for many short calls.
   */
  async invoke(model: FunctionModel, payload: string): Promise<string> {
    for (;;) {
      // No `await` between choosing a thread and calling it: meanwhile it would count as idle and could be ended.
      const [thread] = this.#threadsOf(model);
      if (thread) return this.#call(thread, payload);
      if (this.#hasRoom()) return this.#call(this.#start(model), payload);
      await this.#waitForRoom();
    }
  }

  /**
   * Like `invoke`, but each running call has its own thread, as in Lambda. Starts another thread only after a call has
   * waited for a moment and no thread is loading, because short calls need few threads.
   */
  async invokeExclusively(model: FunctionModel, payload: string): Promise<string> {
    let waitedSince = performance.now();
    for (;;) {
      const threads = this.#threadsOf(model);
      const free = threads.find(({ idle }) => idle);
      if (free) return this.#call(free, payload);
      if (threads.some(({ loading }) => loading)) waitedSince = performance.now();
      const patience = waitedSince + this.#options.patienceMilliseconds - performance.now();
      if (threads.length > 0 && patience > 0)
        await Promise.race([this.#freed.promise, delay(patience, undefined, { ref: false })]);
      else if (!this.#mayStartAnother(threads)) await this.#freed.promise;
      else if (this.#hasRoom()) return this.#call(this.#start(model, true), payload);
      else await this.#waitForRoom();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweeper);
    await Promise.all([...this.#live].map((instance) => instance.end()));
  }

  #threadsOf(model: FunctionModel): FunctionInstance[] {
    return [...this.#live].filter((instance) => instance.function === model && instance.usable);
  }

  #hasRoom(): boolean {
    return this.#live.size < this.#options.maxLive;
  }

  /** Every function may have one thread. Further ones must leave room for functions that serve requests. */
  #mayStartAnother(threads: readonly FunctionInstance[]): boolean {
    return threads.length === 0 || this.#exclusive.size < this.#options.maxExclusive;
  }

  async #call(instance: FunctionInstance, payload: string): Promise<string> {
    try {
      return await instance.invoke(payload);
    } finally {
      this.#announceRoom();
    }
  }

  async #waitForRoom(): Promise<void> {
    const [longestIdle] = [...this.#live].filter(({ idle }) => idle).sort((a, b) => a.idleSince - b.idleSince);
    await (longestIdle ? longestIdle.end() : this.#freed.promise);
  }

  #start(model: FunctionModel, alone = false): FunctionInstance {
    if (this.#closed) throw new FunctionError('The functions are being stopped');
    const instance = new FunctionInstance(model, this.#options.environmentOf(model), this.#options.observer);
    this.#live.add(instance);
    if (alone) this.#exclusive.add(instance);
    const announce = () => this.#announceRoom();
    void instance.loaded.then(announce, announce);
    void instance.ended.then(() => {
      this.#live.delete(instance);
      this.#exclusive.delete(instance);
      announce();
    });
    return instance;
  }

  /** Makes every waiting call check again. */
  #announceRoom(): void {
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }

  #endIdle(): void {
    const since = performance.now() - this.#options.idleMilliseconds;
    for (const instance of this.#live) if (instance.idle && instance.idleSince < since) void instance.end();
  }
}
