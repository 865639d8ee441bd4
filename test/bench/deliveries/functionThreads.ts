import { Worker } from 'node:worker_threads';
import { times } from '../../support/times.ts';

/** A message from a thread: a call of the table or of SQS, or the end of an invocation. */
export type FromThread =
  | {
      readonly call: number;
      readonly service: 'table' | 'sqs';
      readonly command: { readonly name: string; readonly input: object };
    }
  | { readonly invocation: number; readonly answer?: unknown; readonly error?: string };

/** A message to a thread: an invocation, or the result of a call. */
export type ToThread =
  | {
      readonly invocation: number;
      readonly event: object;
      readonly awsRequestId: string;
      readonly milliseconds: number;
    }
  | { readonly call: number; readonly answer?: object; readonly error?: object };

/** Executes the calls of the threads in this thread. */
interface ThreadServices {
  readonly table: (command: { readonly name: string; readonly input: object }) => Promise<object>;
  readonly sqs: (input: object) => Promise<object>;
}

interface FunctionThread {
  readonly worker: Worker;
  readonly running: Map<number, PromiseWithResolvers<unknown>>;
}

/**
 * Threads that run the invocations of functions. Without them, all invocations share one event loop. In Lambda, each has a
 * processor of its own.
 */
export class FunctionThreads {
  readonly #threads: ReadonlyMap<string, readonly FunctionThread[]>;
  readonly #services: ThreadServices;
  #ids = 0;

  /** Starts threads. `sizes` is the number of threads by name of the function. */
  constructor(sizes: Readonly<Record<string, number>>, services: ThreadServices) {
    this.#services = services;
    this.#threads = new Map(Object.entries(sizes).map(([name, size]) => [name, times(size, () => this.#start(name))]));
  }

  has(name: string): boolean {
    return this.#threads.has(name);
  }

  /** Runs an invocation in the function's thread with the fewest running invocations. */
  async invoke(name: string, event: object, awsRequestId: string, milliseconds: number): Promise<unknown> {
    const threads = this.#threads.get(name) ?? [];
    const [thread] = threads.toSorted((a, b) => a.running.size - b.running.size);
    if (!thread) throw new Error(`The function ${name} has no thread`);
    const invocation = ++this.#ids;
    const result = Promise.withResolvers<unknown>();
    thread.running.set(invocation, result);
    thread.worker.postMessage({ invocation, event, awsRequestId, milliseconds } satisfies ToThread);
    return result.promise.finally(() => thread.running.delete(invocation));
  }

  #start(name: string): FunctionThread {
    const worker = new Worker(new URL('./functionThread.ts', import.meta.url), { workerData: name });
    const thread: FunctionThread = { worker, running: new Map() };
    worker.on('message', (message: FromThread) => {
      if ('call' in message) void this.#answerCall(worker, message);
      else if (message.error !== undefined) thread.running.get(message.invocation)?.reject(new Error(message.error));
      else thread.running.get(message.invocation)?.resolve(message.answer);
    });
    return thread;
  }

  async #answerCall(worker: Worker, { call, service, command }: Extract<FromThread, { call: number }>): Promise<void> {
    try {
      const { table, sqs } = this.#services;
      const answer = await (service === 'table' ? table(command) : sqs(command.input));
      worker.postMessage({ call, answer } satisfies ToThread);
    } catch (error) {
      // A message between threads keeps only the message of an error.
      const { name, message } = error as Error;
      worker.postMessage({ call, error: { ...(error as object), name, message } } satisfies ToThread);
    }
  }
}
