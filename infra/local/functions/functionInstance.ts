import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { FunctionLog } from './functionLog.ts';
import { ACCOUNT, REGION } from '../iam/identity.ts';
import type { Measurements } from '../metrics/measurements.ts';
import { MetricLines } from '../metrics/metricLines.ts';
import type { FunctionModel } from '../assembly/functionModel.ts';

/** Time limit for loading a function. The timeout of a call starts after loading, as in Lambda. */
const LOAD_MILLISECONDS = 60_000;

/** A call without a result: the handler threw, timed out, or its thread ended. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
}

/** Receives the output and the measurements of functions. */
export interface FunctionObserver {
  readonly log: FunctionLog;
  readonly measurements: Pick<Measurements, 'recordRun' | 'recordLine'>;
}

type FromThread =
  'ready' | { id: number; payload: string } | { id: number; error: { name: string; message: string; stack?: string } };

interface Call {
  resolve(payload: string): void;
  reject(error: FunctionError): void;
  readonly timer: NodeJS.Timeout;
}

/**
 * A function in a worker thread. It can process several calls at the same time. After a timeout the thread may be
 * blocked: it accepts no new calls, and ends after the running ones.
 */
export class FunctionInstance {
  readonly function: FunctionModel;
  /**
   * When the last call ended, in `performance.now()`, which is precise enough to order calls of the same millisecond.
   */
  idleSince = performance.now();
  readonly #worker: Worker;
  readonly #log: FunctionLog;
  readonly #measurements: FunctionObserver['measurements'];
  readonly #ready: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #ended: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #calls = new Map<number, Call>();
  #lastId = 0;
  #inFlight = 0;
  #loading = true;
  #usable = true;
  #ending: Promise<unknown> | undefined;

  constructor(model: FunctionModel, environment: Record<string, string>, { log, measurements }: FunctionObserver) {
    this.function = model;
    this.#log = log;
    this.#measurements = measurements;
    const [file = '', exportName = ''] = model.handler.split('.');
    const workerData = { moduleUrl: moduleUrl(model.codeDir, file), exportName, context: contextOf(model) };
    const loadTimer = setTimeout(() => void this.end(), LOAD_MILLISECONDS);
    this.#worker = new Worker(new URL('./functionThread.mjs', import.meta.url), {
      env: environment,
      stdout: true,
      stderr: true,
      workerData,
    });
    for (const output of [this.#worker.stdout, this.#worker.stderr]) {
      const lines = new MetricLines((line) => measurements.recordLine(line));
      output.on('data', (chunk: Buffer) => {
        log.write(chunk);
        lines.write(chunk);
      });
    }
    this.#worker.on('message', (message: FromThread) => {
      if (message !== 'ready') {
        this.#onResult(message);
        return;
      }
      clearTimeout(loadTimer);
      this.#loading = false;
      this.#ready.resolve();
    });
    // Any value can be thrown, not only errors.
    this.#worker.on('error', (error: unknown) =>
      this.#logFailure('The thread crashed', error instanceof Error ? error : new Error(String(error))),
    );
    this.#worker.on('exit', (code) => {
      clearTimeout(loadTimer);
      this.#usable = false;
      const gone = new FunctionError(`The thread ended with exit code ${code}`);
      if (this.#calls.size > 0) this.#logFailure('The thread ended during a call', gone);
      this.#ready.reject(gone);
      for (const id of this.#calls.keys()) this.#removeCall(id)?.reject(gone);
      this.#ended.resolve();
    });
    // A crash while loading is reported above. Without this handler it would end the process if no call waits.
    this.#ready.promise.catch(() => undefined);
  }

  /** Whether it accepts calls. */
  get usable(): boolean {
    return this.#usable;
  }

  get loading(): boolean {
    return this.#loading;
  }

  /** Resolves when the function has loaded; rejects if loading failed. */
  get loaded(): Promise<void> {
    return this.#ready.promise;
  }

  get idle(): boolean {
    return this.#inFlight === 0;
  }

  /** Resolves when the thread has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Calls the handler and returns its result as JSON. Throws a `FunctionError`. */
  async invoke(payload: string): Promise<string> {
    this.#inFlight += 1;
    let startedAt: number | undefined;
    let failed = true;
    try {
      await this.#ready.promise;
      startedAt = performance.now();
      const answer = await this.#call(payload);
      failed = false;
      return answer;
    } finally {
      this.#measurements.recordRun(
        this.function.name,
        startedAt === undefined ? undefined : performance.now() - startedAt,
        failed,
      );
      this.#inFlight -= 1;
      this.idleSince = performance.now();
      if (this.idle && !this.#usable) void this.end();
    }
  }

  /** Ends the thread, even during a call. */
  end(): Promise<unknown> {
    this.#usable = false;
    return (this.#ending ??= this.#worker.terminate());
  }

  #call(payload: string): Promise<string> {
    const id = ++this.#lastId;
    const { timeoutSeconds } = this.function;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const timer = setTimeout(() => {
      this.#usable = false;
      this.#calls.delete(id);
      const error = new FunctionError(`Task timed out after ${timeoutSeconds} seconds`);
      this.#logFailure('The call ran out of time', error);
      reject(error);
    }, timeoutSeconds * 1000);
    this.#calls.set(id, { resolve, reject, timer });
    this.#worker.postMessage({ id, payload, awsRequestId: randomUUID(), deadline: Date.now() + timeoutSeconds * 1000 });
    return promise;
  }

  #onResult(message: Exclude<FromThread, 'ready'>): void {
    const call = this.#removeCall(message.id);
    if ('payload' in message) return call?.resolve(message.payload);
    const { name, message: text, stack } = message.error;
    this.#logFailure('The handler threw', message.error);
    call?.reject(new FunctionError(`${name}: ${text}`, { cause: stack }));
  }

  #removeCall(id: number): Call | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    clearTimeout(call?.timer);
    return call;
  }

  #logFailure(message: string, error: { name: string; message: string; stack?: string }): void {
    const { name, message: text, stack } = error;
    this.#log.write(
      `${JSON.stringify({ level: 'ERROR', message, timestamp: new Date().toISOString(), function: this.function.name, error: { name, message: text, stack } })}\n`,
    );
  }
}

function moduleUrl(codeDir: string, file: string): string {
  const module = ['.mjs', '.js'].map((extension) => join(codeDir, file + extension)).find(existsSync);
  if (!module) throw new FunctionError(`${codeDir} has no module ${file}`);
  return pathToFileURL(module).href;
}

/** Returns the part of Lambda's context that is the same for every call. */
function contextOf({ name, arn, memoryMb }: FunctionModel): object {
  return {
    functionName: name,
    functionVersion: '$LATEST',
    invokedFunctionArn: arn,
    memoryLimitInMB: String(memoryMb),
    logGroupName: `/aws/lambda/${name}`,
    logStreamName: `${ACCOUNT}/${REGION}/[$LATEST]local`,
    callbackWaitsForEmptyEventLoop: true,
  };
}
