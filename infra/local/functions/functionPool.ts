import { setTimeout as delay } from 'node:timers/promises';
import { FunctionError, FunctionInstance, type FunctionObserver } from './functionInstance.ts';
import type { FunctionModel } from '../assembly/functionModel.ts';

const IDLE_MILLISECONDS = 60_000;
const MAX_LIVE = 40;
/** Of threads that take one call at a time: the rest is for the functions that answer requests. */
const MAX_ALONE = 24;
/** How long a call waits for a thread to be free before it asks for another one. */
const PATIENCE_MILLISECONDS = 50;

export interface PoolOptions {
  readonly environmentOf: (model: FunctionModel) => Record<string, string>;
  readonly observer: FunctionObserver;
  readonly idleMilliseconds?: number;
  readonly maxLive?: number;
  /** When there are so many threads that take one call at a time, no function gets a second one. */
  readonly maxAlone?: number;
  readonly patienceMilliseconds?: number;
}

/**
 * The threads of all functions, started when a call needs one and ended when they were idle for a minute. When the most
 * threads are live that may be, the one idle for longest makes room; when all are busy, a call waits.
 */
export class FunctionPool {
  readonly #options: Required<PoolOptions>;
  /** Also those that take no more calls but have not ended. */
  readonly #live = new Set<FunctionInstance>();
  /** Those of them that take one call at a time. */
  readonly #alone = new Set<FunctionInstance>();
  readonly #sweeper: NodeJS.Timeout;
  #freed = Promise.withResolvers<void>();
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = {
      idleMilliseconds: IDLE_MILLISECONDS,
      maxLive: MAX_LIVE,
      maxAlone: MAX_ALONE,
      patienceMilliseconds: PATIENCE_MILLISECONDS,
      ...options,
    };
    this.#sweeper = setInterval(() => this.#endIdle(), this.#options.idleMilliseconds / 10);
    this.#sweeper.unref();
  }

  /**
   * Calls a function with JSON and gives its answer as JSON; rejects with a `FunctionError` when it gives none. All calls
   * share one thread, which is cheap for many short ones.
   */
  async invoke(model: FunctionModel, payload: string): Promise<string> {
    for (;;) {
      // Nothing may be awaited between choosing a thread and calling it: it would count as idle and could be ended.
      const [thread] = this.#threadsOf(model);
      if (thread) return this.#call(thread, payload);
      if (this.#hasRoom()) return this.#call(this.#start(model), payload);
      await this.#room();
    }
  }

  /**
   * The same with a thread for each call that is under way, as in Lambda. A further one is started when a call has waited for
   * a moment and none is being started: short calls need few, and a machine can only do so much at once.
   */
  async invokeAlone(model: FunctionModel, payload: string): Promise<string> {
    let waitedSince = performance.now();
    for (;;) {
      const threads = this.#threadsOf(model);
      const free = threads.find(({ idle }) => idle);
      if (free) return this.#call(free, payload);
      if (threads.some(({ loading }) => loading)) waitedSince = performance.now();
      const patience = waitedSince + this.#options.patienceMilliseconds - performance.now();
      if (threads.length > 0 && patience > 0)
        await Promise.race([this.#freed.promise, delay(patience, undefined, { ref: false })]);
      else if (!this.#mayHaveMore(threads)) await this.#freed.promise;
      else if (this.#hasRoom()) return this.#call(this.#start(model, true), payload);
      else await this.#room();
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

  /** The first thread is everybody's right; more of them leave room for the functions that answer requests. */
  #mayHaveMore(threads: readonly FunctionInstance[]): boolean {
    return threads.length === 0 || this.#alone.size < this.#options.maxAlone;
  }

  async #call(instance: FunctionInstance, payload: string): Promise<string> {
    try {
      return await instance.invoke(payload);
    } finally {
      this.#announceRoom();
    }
  }

  async #room(): Promise<void> {
    const [longestIdle] = [...this.#live].filter(({ idle }) => idle).sort((a, b) => a.idleSince - b.idleSince);
    await (longestIdle ? longestIdle.end() : this.#freed.promise);
  }

  #start(model: FunctionModel, alone = false): FunctionInstance {
    if (this.#closed) throw new FunctionError('The functions are being stopped');
    const instance = new FunctionInstance(model, this.#options.environmentOf(model), this.#options.observer);
    this.#live.add(instance);
    if (alone) this.#alone.add(instance);
    const announce = () => this.#announceRoom();
    void instance.loaded.then(announce, announce);
    void instance.ended.then(() => {
      this.#live.delete(instance);
      this.#alone.delete(instance);
      announce();
    });
    return instance;
  }

  /** Lets every waiting call look again. */
  #announceRoom(): void {
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }

  #endIdle(): void {
    const since = performance.now() - this.#options.idleMilliseconds;
    for (const instance of this.#live) if (instance.idle && instance.idleSince < since) void instance.end();
  }
}
