import { FunctionInstance } from './functionInstance.ts';
import type { FunctionLog } from './functionLog.ts';
import type { FunctionModel } from './model.ts';

const IDLE_MILLISECONDS = 60_000;
const MAX_LIVE = 40;

export interface PoolOptions {
  readonly environmentOf: (model: FunctionModel) => Record<string, string>;
  readonly log: FunctionLog;
  readonly idleMilliseconds?: number;
  readonly maxLive?: number;
}

/**
 * The threads of all functions: each function has at most one that takes calls, started at its first call and ended when
 * it was idle for a minute. When the most threads are live that may be, the one idle for longest makes room; when all are
 * busy, a call waits.
 */
export class FunctionPool {
  readonly #options: Required<PoolOptions>;
  readonly #current = new Map<FunctionModel, FunctionInstance>();
  /** Also those that take no more calls but have not ended. */
  readonly #live = new Set<FunctionInstance>();
  readonly #sweeper: NodeJS.Timeout;
  #freed = Promise.withResolvers<void>();

  constructor(options: PoolOptions) {
    this.#options = { idleMilliseconds: IDLE_MILLISECONDS, maxLive: MAX_LIVE, ...options };
    this.#sweeper = setInterval(() => this.#endIdle(), this.#options.idleMilliseconds / 10);
    this.#sweeper.unref();
  }

  /** Calls a function with JSON and gives its answer as JSON; rejects with a `FunctionError` when it gives none. */
  async invoke(model: FunctionModel, payload: string): Promise<string> {
    for (;;) {
      const current = this.#current.get(model);
      // Nothing may be awaited between choosing a thread and calling it: it would count as idle and could be ended.
      if (current?.usable) return this.#call(current, payload);
      if (this.#live.size < this.#options.maxLive) return this.#call(this.#start(model), payload);
      await this.#room();
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all([...this.#live].map((instance) => instance.end()));
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

  #start(model: FunctionModel): FunctionInstance {
    const instance = new FunctionInstance(model, this.#options.environmentOf(model), this.#options.log);
    this.#live.add(instance);
    this.#current.set(model, instance);
    void instance.ended.then(() => {
      this.#live.delete(instance);
      if (this.#current.get(model) === instance) this.#current.delete(model);
      this.#announceRoom();
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
