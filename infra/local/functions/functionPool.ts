import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { FunctionModel } from '../assembly/functionModel.ts';
import { type AwsAccess, FunctionError, type FunctionObserver, FunctionThread } from './functionThread.ts';

const IDLE_MILLISECONDS = 60_000;
const MAX_LIVE = 40;
/**
 * Threads of one function. A thread runs calls in parallel, so a function needs a second one only while the first is
 * blocked.
 */
const MAX_THREADS = Math.min(4, Math.max(2, Math.floor(availableParallelism() / 2)));
/** Instances of a function in one thread. */
const MAX_INSTANCES = 16;
/** A call waits so long, for each existing instance, before it loads another one. */
const PATIENCE_MILLISECONDS = 50;
/** A loaded thread counts as blocked if no call has ended in it for this time. */
const BLOCKED_MILLISECONDS = 5_000;
/** A busier thread could not run more calls with another instance. */
const BUSY = 0.8;
/**
 * More instances of a thread that waits for AWS calls would wait too, and V8 would optimise each instance separately.
 */
const INSTANCES_OF_AWS = 4;

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
 * Ends threads that had no calls for a minute. When `maxLive` threads run, the one that has been idle longest ends
 * before another starts.
 */
export class FunctionPool {
  readonly #options: Required<PoolOptions>;
  readonly #live = new Set<FunctionThread>();
  readonly #sweeper: NodeJS.Timeout;
  #released: PromiseWithResolvers<void> = Promise.withResolvers();
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
   * `payload` and the result are JSON texts. Throws a `FunctionError`. Calls run in parallel in one instance of the
   * function.
   */
  async invoke(model: FunctionModel, payload: string): Promise<string> {
    for (;;) {
      // No `await` may stand between this choice and the call. Otherwise another call could end the idle thread.
      const [thread] = this.#threadsOf(model);
      if (thread) return this.#call(thread, payload, 0);
      if (this.#hasRoom()) return this.#call(this.#start(model), payload, 0);
      await this.#waitForRoom();
    }
  }

  /**
   * Like `invoke`, but each running call has an instance of its own, as in Lambda. A call waits for a free instance,
   * then loads another instance if a thread has room for it, and starts another thread only if all threads of the
   * function are blocked.
   */
  async invokeExclusively(model: FunctionModel, payload: string): Promise<string> {
    const { maxThreads, maxInstances, patienceMilliseconds } = this.#options;
    let waitedSince = performance.now();
    for (;;) {
      const threads = this.#threadsOf(model);
      for (const thread of threads) {
        const free = thread.findFreeInstance();
        if (free !== undefined) return this.#call(thread, payload, free);
      }
      if (threads.some(({ isLoading }) => isLoading)) waitedSince = performance.now();
      const waited = performance.now() - waitedSince;
      const patience = patienceMilliseconds * threads.reduce((sum, { size }) => sum + size, 0);
      if (waited < patience) {
        await this.#waitForCall(patience - waited);
        continue;
      }
      const threadWithRoom = threads.find(
        (thread) => thread.size < maxInstances && canUseAnotherInstance(thread, patienceMilliseconds),
      );
      if (threadWithRoom) return this.#call(threadWithRoom, payload, this.#addInstance(threadWithRoom));
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
    return [...this.#live].filter((thread) => thread.function === model && thread.isUsable);
  }

  #hasRoom(): boolean {
    return this.#live.size < this.#options.maxLive;
  }

  async #call(thread: FunctionThread, payload: string, instance: number): Promise<string> {
    try {
      return await thread.invoke(payload, instance);
    } finally {
      this.#wakeWaitingCalls();
    }
  }

  async #waitForCall(milliseconds: number): Promise<void> {
    await Promise.race([this.#released.promise, delay(milliseconds, undefined, { ref: false })]);
  }

  async #waitForRoom(): Promise<void> {
    const [longestIdle] = [...this.#live].filter(({ isIdle }) => isIdle).sort((a, b) => a.idleSince - b.idleSince);
    await (longestIdle ? longestIdle.end() : this.#released.promise);
  }

  #start(model: FunctionModel): FunctionThread {
    if (this.#closed) throw new FunctionError('The functions are being stopped');
    const { environmentOf, observer, aws } = this.#options;
    const thread = new FunctionThread(model, { environment: environmentOf(model), observer, aws });
    this.#live.add(thread);
    this.#wakeWhenLoaded(thread, 0);
    void thread.ended.then(() => {
      this.#live.delete(thread);
      this.#wakeWaitingCalls();
    });
    return thread;
  }

  #addInstance(thread: FunctionThread): number {
    const instance = thread.addInstance();
    this.#wakeWhenLoaded(thread, instance);
    return instance;
  }

  #wakeWhenLoaded(thread: FunctionThread, instance: number): void {
    const wake = () => this.#wakeWaitingCalls();
    void thread.waitUntilLoaded(instance).then(wake, wake);
  }

  #wakeWaitingCalls(): void {
    this.#released.resolve();
    this.#released = Promise.withResolvers();
  }

  #endIdle(): void {
    const since = performance.now() - this.#options.idleMilliseconds;
    for (const thread of this.#live) if (thread.isIdle && thread.idleSince < since) void thread.end();
  }
}

function canUseAnotherInstance(
  { size, utilization, millisecondsWithoutAws: withoutAws }: FunctionThread,
  milliseconds: number,
): boolean {
  return utilization < BUSY && (size < INSTANCES_OF_AWS || withoutAws >= milliseconds);
}

function isBlocked({ idleSince, isLoading }: FunctionThread): boolean {
  return !isLoading && performance.now() - idleSince > BLOCKED_MILLISECONDS;
}
