import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type AwsAccess, FunctionError, type FunctionObserver, FunctionThread } from './functionThread.ts';
import type { FunctionModel } from '../assembly/functionModel.ts';

const IDLE_MILLISECONDS = 60_000;
const MAX_LIVE = 40;
/** Limit of threads of one worker. One has room for all its batches; a second one helps if the first is blocked. */
const MAX_THREADS = Math.min(4, Math.max(2, Math.floor(availableParallelism() / 2)));
/** Limit of instances in a thread. */
const MAX_INSTANCES = 16;
/** How long a call waits for a free instance before it loads a second one. It waits this time longer for each further one. */
const PATIENCE_MILLISECONDS = 50;
/** The same for another thread, if the instances of the first one make no progress. */
const BLOCKED_MILLISECONDS = 5_000;
/** Above this utilization, another instance in the thread would not help. */
const BUSY = 0.8;
/**
 * Up to this number, instances may wait for the same AWS services. More of them would make each other late, and each
 * has code that V8 optimises again.
 */
const INSTANCES_OF_AWS = 2;

export interface PoolOptions {
  readonly environmentOf: (model: FunctionModel) => Record<string, string>;
  readonly observer: FunctionObserver;
  readonly aws: AwsAccess;
  readonly idleMilliseconds?: number;
  readonly maxLive?: number;
  readonly maxThreads?: number;
  readonly maxInstances?: number;
  readonly patienceMilliseconds?: number;
}

/**
 * The threads of all functions. A call starts a thread if needed; a thread ends after a minute without calls. At the
 * limit, the thread that was idle longest ends. If all are busy, a call waits.
 */
export class FunctionPool {
  readonly #options: Required<PoolOptions>;
  /** Includes threads that accept no more calls but have not ended. */
  readonly #live = new Set<FunctionThread>();
  readonly #sweeper: NodeJS.Timeout;
  #freed: PromiseWithResolvers<void> = Promise.withResolvers();
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = {
      idleMilliseconds: IDLE_MILLISECONDS,
      maxLive: MAX_LIVE,
      maxThreads: MAX_THREADS,
      maxInstances: MAX_INSTANCES,
      patienceMilliseconds: PATIENCE_MILLISECONDS,
      ...options,
    };
    this.#sweeper = setInterval(() => this.#endIdle(), this.#options.idleMilliseconds / 10);
    this.#sweeper.unref();
  }

  /**
   * Calls a function with JSON and returns its result as JSON. Throws a `FunctionError`. All calls share one instance,
   * which is efficient for many short calls.
   */
  async invoke(model: FunctionModel, payload: string): Promise<string> {
    for (;;) {
      // No `await` between choosing a thread and calling it: meanwhile it would count as idle and could be ended.
      const [thread] = this.#threadsOf(model);
      if (thread) return this.#call(thread, payload, 0);
      if (this.#hasRoom()) return this.#call(this.#start(model), payload, 0);
      await this.#waitForRoom();
    }
  }

  /**
   * Like `invoke`, but each running call has its own instance, as in Lambda. Loads another instance only after a call
   * has waited for a moment, because short calls need few. It is loaded in the same thread, unless the calls there
   * have made no progress for seconds.
   */
  async invokeExclusively(model: FunctionModel, payload: string): Promise<string> {
    const { maxThreads, maxInstances, patienceMilliseconds } = this.#options;
    let waitedSince = performance.now();
    for (;;) {
      const threads = this.#threadsOf(model);
      for (const thread of threads) {
        const free = thread.freeInstance();
        if (free !== undefined) return this.#call(thread, payload, free);
      }
      if (threads.some(({ loading }) => loading)) waitedSince = performance.now();
      const waited = performance.now() - waitedSince;
      const patience = patienceMilliseconds * threads.reduce((sum, { size }) => sum + size, 0);
      if (waited < patience) {
        await this.#waitForCall(patience - waited);
        continue;
      }
      const roomy = threads.find((thread) => thread.size < maxInstances && canUseAnother(thread, patienceMilliseconds));
      if (roomy) return this.#call(roomy, payload, this.#addInstance(roomy));
      if (threads.length > 0 && (threads.length >= maxThreads || !threads.every(isBlocked)))
        await this.#waitForCall(Math.max(1, patienceMilliseconds));
      else if (this.#hasRoom()) return this.#call(this.#start(model), payload, 0);
      else await this.#waitForRoom();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweeper);
    await Promise.all([...this.#live].map((thread) => thread.end()));
  }

  #threadsOf(model: FunctionModel): FunctionThread[] {
    return [...this.#live].filter((thread) => thread.function === model && thread.usable);
  }

  #hasRoom(): boolean {
    return this.#live.size < this.#options.maxLive;
  }

  async #call(thread: FunctionThread, payload: string, instance: number): Promise<string> {
    try {
      return await thread.invoke(payload, instance);
    } finally {
      this.#announceRoom();
    }
  }

  /** Waits until a call has ended, up to a time limit. */
  async #waitForCall(milliseconds: number): Promise<void> {
    await Promise.race([this.#freed.promise, delay(milliseconds, undefined, { ref: false })]);
  }

  async #waitForRoom(): Promise<void> {
    const [longestIdle] = [...this.#live].filter(({ idle }) => idle).sort((a, b) => a.idleSince - b.idleSince);
    await (longestIdle ? longestIdle.end() : this.#freed.promise);
  }

  #start(model: FunctionModel): FunctionThread {
    if (this.#closed) throw new FunctionError('The functions are being stopped');
    const { environmentOf, observer, aws } = this.#options;
    const thread = new FunctionThread(model, { environment: environmentOf(model), observer, aws });
    this.#live.add(thread);
    this.#announceWhenLoaded(thread, 0);
    void thread.ended.then(() => {
      this.#live.delete(thread);
      this.#announceRoom();
    });
    return thread;
  }

  #addInstance(thread: FunctionThread): number {
    const instance = thread.addInstance();
    this.#announceWhenLoaded(thread, instance);
    return instance;
  }

  #announceWhenLoaded(thread: FunctionThread, instance: number): void {
    const announce = () => this.#announceRoom();
    void thread.loaded(instance).then(announce, announce);
  }

  /** Makes every waiting call check again. */
  #announceRoom(): void {
    this.#freed.resolve();
    this.#freed = Promise.withResolvers();
  }

  #endIdle(): void {
    const since = performance.now() - this.#options.idleMilliseconds;
    for (const thread of this.#live) if (thread.idle && thread.idleSince < since) void thread.end();
  }
}

/** Whether another instance would use time in which the thread waits for something else than this machine. */
function canUseAnother({ size, utilization, withoutAws }: FunctionThread, milliseconds: number): boolean {
  return utilization < BUSY && (size < INSTANCES_OF_AWS || withoutAws >= milliseconds);
}

function isBlocked({ idleSince, loading }: FunctionThread): boolean {
  return !loading && performance.now() - idleSince > BLOCKED_MILLISECONDS;
}
