import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { FunctionModel } from '../assembly/functionModel.ts';
import type { AwsAnswer, ThreadCall } from '../iam/awsService.ts';
import { ACCOUNT, REGION } from '../iam/identity.ts';
import type { Measurements } from '../metrics/measurements.ts';
import { MetricLines } from '../metrics/metricLines.ts';
import type { LogFile } from './functionLog.ts';

/** Loading has a limit of its own, because the timeout of a call starts after loading. */
const LOAD_MILLISECONDS = 60_000;
/** Far below V8's default, with which many threads together keep much garbage. */
const YOUNG_GENERATION_MB = 24;
const UTILIZATION_MILLISECONDS = 25;

export class FunctionError extends Error {
  override readonly name = 'FunctionError';
}

export interface FunctionObserver {
  readonly log: LogFile;
  readonly measurements: Pick<Measurements, 'recordRun' | 'recordLine'>;
}

export interface AwsAccess {
  /** Signed calls to these ports become messages to the main thread. */
  readonly ports: readonly number[];
  /** Returns undefined if the called service is stopped. */
  call(model: FunctionModel, call: ThreadCall, isAborted: () => boolean): Promise<AwsAnswer | undefined>;
}

export interface FunctionThreadOptions {
  readonly environment: Record<string, string>;
  readonly observer: FunctionObserver;
  readonly aws: AwsAccess;
}

type Result =
  | { readonly call: number; readonly payload: string }
  | { readonly call: number; readonly error: { name: string; message: string; stack?: string } };
type OutputName = 'stdout' | 'stderr';
type FromThread =
  | { readonly loaded: number }
  | Result
  | (ThreadCall & { readonly aws: number })
  | { readonly aborted: number }
  | { readonly output: OutputName; readonly text: string };
type ToThread =
  | { readonly load: number }
  | {
      readonly call: number;
      readonly instance: number;
      readonly payload: string;
      readonly awsRequestId: string;
      readonly deadline: number;
    }
  | { readonly aws: number; readonly answer: AwsAnswer | undefined };

interface Call {
  resolve(payload: string): void;
  reject(error: FunctionError): void;
  readonly timer: NodeJS.Timeout;
}

interface Instance {
  readonly loaded: PromiseWithResolvers<void>;
  readonly loadTimer: NodeJS.Timeout;
  loading: boolean;
  inFlight: number;
}

/**
 * An instance is a copy of the function's module with its own state. A call that times out may have blocked the thread.
 * Such a thread gets no new calls and ends after the running ones.
 */
export class FunctionThread {
  readonly function: FunctionModel;
  /** A time of `performance.now()`: its fractions of a millisecond tell which of two calls ended first. */
  idleSince = performance.now();
  readonly #worker: Worker;
  readonly #log: LogFile;
  readonly #measurements: FunctionObserver['measurements'];
  readonly #aws: AwsAccess;
  readonly #outputs: Readonly<Record<OutputName, MetricLines>>;
  readonly #instances: Instance[] = [];
  readonly #ended: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #calls = new Map<number, Call>();
  /** `isAborted`: the thread no longer needs the answer. */
  readonly #awsCalls = new Map<number, { isAborted: boolean }>();
  #lastAwsCall = -Infinity;
  #utilization: { at: number; since: ReturnType<typeof performance.eventLoopUtilization> | undefined; value: number };
  #lastId = 0;
  #inFlight = 0;
  #unsent: ToThread[] = [];
  #usable = true;
  #ending: Promise<unknown> | undefined;

  constructor(model: FunctionModel, { environment, observer: { log, measurements }, aws }: FunctionThreadOptions) {
    this.function = model;
    this.#log = log;
    this.#measurements = measurements;
    this.#aws = aws;
    this.#utilization = { at: performance.now(), since: undefined, value: 1 };
    const [file = '', exportName = ''] = model.handler.split('.');
    this.#worker = new Worker(new URL('./threadEntry.mjs', import.meta.url), {
      env: environment,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      workerData: {
        moduleUrl: moduleUrl(model.codeDir, file),
        exportName,
        context: contextOf(model),
        awsPorts: aws.ports,
      },
    });
    this.#addLoading();
    const metricLines = () => new MetricLines((line) => measurements.recordLine(line));
    this.#outputs = { stdout: metricLines(), stderr: metricLines() };
    this.#worker.on('message', (messages: readonly FromThread[]) => {
      for (const message of messages) this.#onMessage(message);
    });
    this.#worker.on('error', (error: unknown) =>
      this.#logFailure('The thread crashed', error instanceof Error ? error : new Error(String(error))),
    );
    this.#worker.on('exit', (code) => {
      this.#usable = false;
      const threadEnded = new FunctionError(`The thread ended with exit code ${code}`);
      if (this.#calls.size > 0) this.#logFailure('The thread ended during a call', threadEnded);
      for (const { loaded, loadTimer } of this.#instances) {
        clearTimeout(loadTimer);
        loaded.reject(threadEnded);
      }
      for (const id of this.#calls.keys()) this.#removeCall(id)?.reject(threadEnded);
      this.#ended.resolve();
    });
  }

  get isUsable(): boolean {
    return this.#usable;
  }

  get isLoading(): boolean {
    return this.#instances.some(({ loading }) => loading);
  }

  get isIdle(): boolean {
    return this.#inFlight === 0;
  }

  get size(): number {
    return this.#instances.length;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** The busy share of at least 25 ms, from 0 to 1. 1 before the first measurement. */
  get utilization(): number {
    const { at, since } = this.#utilization;
    if (performance.now() - at >= UTILIZATION_MILLISECONDS) {
      const now = this.#worker.performance.eventLoopUtilization();
      const { utilization } = this.#worker.performance.eventLoopUtilization(now, since);
      this.#utilization = { at: performance.now(), since: now, value: since ? utilization : 1 };
    }
    return this.#utilization.value;
  }

  get millisecondsWithoutAws(): number {
    return this.#awsCalls.size > 0 ? 0 : performance.now() - this.#lastAwsCall;
  }

  findFreeInstance(): number | undefined {
    const instance = this.#instances.findIndex(({ inFlight }) => inFlight === 0);
    return instance < 0 ? undefined : instance;
  }

  addInstance(): number {
    this.#post({ load: this.#instances.length });
    return this.#addLoading();
  }

  /** Rejects if the instance cannot be loaded. */
  async waitUntilLoaded(number: number): Promise<void> {
    await this.#instances[number]?.loaded.promise;
  }

  /** `payload` and the result are JSON texts. Throws a `FunctionError`. */
  async invoke(payload: string, number = 0): Promise<string> {
    const instance = this.#instances[number];
    if (!instance) throw new Error(`There is no instance ${number}`);
    this.#inFlight += 1;
    instance.inFlight += 1;
    let startedAt: number | undefined;
    let failed = true;
    try {
      if (instance.loading) await instance.loaded.promise;
      startedAt = performance.now();
      const answer = await this.#call(payload, number);
      failed = false;
      return answer;
    } finally {
      this.#measurements.recordRun(
        this.function.name,
        startedAt === undefined ? undefined : performance.now() - startedAt,
        failed,
      );
      this.#inFlight -= 1;
      instance.inFlight -= 1;
      this.idleSince = performance.now();
      if (this.isIdle && !this.#usable) void this.end();
    }
  }

  end(): Promise<unknown> {
    this.#usable = false;
    return (this.#ending ??= this.#worker.terminate());
  }

  #addLoading(): number {
    const loaded: PromiseWithResolvers<void> = Promise.withResolvers();
    // Without a waiting call, the rejection must not end the process.
    loaded.promise.catch(() => undefined);
    const loadTimer = setTimeout(() => void this.end(), LOAD_MILLISECONDS);
    return this.#instances.push({ loaded, loadTimer, loading: true, inFlight: 0 }) - 1;
  }

  #call(payload: string, instance: number): Promise<string> {
    const call = ++this.#lastId;
    const { timeoutSeconds } = this.function;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const timer = setTimeout(() => {
      this.#usable = false;
      this.#calls.delete(call);
      const error = new FunctionError(`Task timed out after ${timeoutSeconds} seconds`);
      this.#logFailure('The call ran out of time', error);
      reject(error);
    }, timeoutSeconds * 1000);
    this.#calls.set(call, { resolve, reject, timer });
    const deadline = Date.now() + timeoutSeconds * 1000;
    this.#post({ call, instance, payload, awsRequestId: randomUUID(), deadline });
    return promise;
  }

  #onMessage(message: FromThread): void {
    if ('aws' in message) void this.#answerAws(message);
    else if ('output' in message) this.#onOutput(message.output, message.text);
    else if ('aborted' in message) {
      const call = this.#awsCalls.get(message.aborted);
      if (call) call.isAborted = true;
    } else if ('call' in message) this.#onResult(message);
    else {
      const instance = this.#instances[message.loaded];
      if (!instance) return;
      clearTimeout(instance.loadTimer);
      instance.loading = false;
      instance.loaded.resolve();
    }
  }

  #onOutput(name: OutputName, text: string): void {
    const chunk = Buffer.from(text);
    this.#log.write(chunk);
    this.#outputs[name].write(chunk);
  }

  async #answerAws({ aws, ...call }: ThreadCall & { readonly aws: number }): Promise<void> {
    const state = { isAborted: false };
    this.#awsCalls.set(aws, state);
    const isAborted = () => state.isAborted || this.#ending !== undefined;
    const answer = await this.#aws.call(this.function, call, isAborted);
    this.#awsCalls.delete(aws);
    this.#lastAwsCall = performance.now();
    if (!isAborted()) this.#post({ aws, answer });
  }

  /** One array for the messages of one turn of the event loop: waking the thread costs more CPU time than a message. */
  #post(message: ToThread): void {
    if (this.#unsent.push(message) > 1) return;
    setImmediate(() => {
      this.#worker.postMessage(this.#unsent);
      this.#unsent = [];
    });
  }

  #onResult(message: Result): void {
    const call = this.#removeCall(message.call);
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
