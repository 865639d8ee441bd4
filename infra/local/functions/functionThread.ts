import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { FunctionLog } from './functionLog.ts';
import type { ThreadCall } from '../iam/awsEndpoint.ts';
import type { AwsAnswer } from '../iam/awsService.ts';
import { ACCOUNT, REGION } from '../iam/identity.ts';
import type { Measurements } from '../metrics/measurements.ts';
import { MetricLines } from '../metrics/metricLines.ts';
import type { FunctionModel } from '../assembly/functionModel.ts';

/** Time limit for loading an instance. The timeout of a call starts after loading, as in Lambda. */
const LOAD_MILLISECONDS = 60_000;
/** A quarter of V8's default. Many threads with the default hold a gigabyte of garbage. */
const YOUNG_GENERATION_MB = 12;
/** The shortest time over which the utilization is measured. */
const UTILIZATION_MILLISECONDS = 25;

/** A call without a result: the handler threw, timed out, or its thread ended. */
export class FunctionError extends Error {
  override readonly name = 'FunctionError';
}

/** Receives the output and the measurements of functions. */
export interface FunctionObserver {
  readonly log: FunctionLog;
  readonly measurements: Pick<Measurements, 'recordRun' | 'recordLine'>;
}

/** How the functions reach AWS. */
export interface AwsAccess {
  /** The ports of the AWS endpoint, which threads call through this process. */
  readonly ports: readonly number[];
  /** Answers a call under the function's role. Returns undefined if the called service is stopped. */
  call(model: FunctionModel, call: ThreadCall, hasCallerLeft: () => boolean): Promise<AwsAnswer | undefined>;
}

export interface FunctionThreadOptions {
  readonly environment: Record<string, string>;
  readonly observer: FunctionObserver;
  readonly aws: AwsAccess;
}

type Result =
  | { readonly call: number; readonly payload: string }
  | { readonly call: number; readonly error: { name: string; message: string; stack?: string } };
type FromThread =
  { readonly loaded: number } | Result | (ThreadCall & { readonly aws: number }) | { readonly left: number };

interface Call {
  resolve(payload: string): void;
  reject(error: FunctionError): void;
  readonly timer: NodeJS.Timeout;
}

/** A copy of the function's module. */
interface Instance {
  readonly loaded: PromiseWithResolvers<void>;
  readonly loadTimer: NodeJS.Timeout;
  loading: boolean;
  inFlight: number;
}

/**
 * A worker thread with instances of one function. After a timeout the thread may be blocked: it accepts no new calls,
 * and ends after the running ones.
 */
export class FunctionThread {
  readonly function: FunctionModel;
  /**
   * When the last call ended, in `performance.now()`, which is precise enough to order calls of the same millisecond.
   */
  idleSince = performance.now();
  readonly #worker: Worker;
  readonly #log: FunctionLog;
  readonly #measurements: FunctionObserver['measurements'];
  readonly #aws: AwsAccess;
  readonly #instances: Instance[] = [];
  readonly #ended: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly #calls = new Map<number, Call>();
  /** The running AWS calls, and whether the thread still waits for them. */
  readonly #awsCalls = new Map<number, { hasLeft: boolean }>();
  #lastAwsCall = -Infinity;
  #utilization: { at: number; since: ReturnType<typeof performance.eventLoopUtilization> | undefined; value: number };
  #lastId = 0;
  #inFlight = 0;
  #usable = true;
  #ending: Promise<unknown> | undefined;

  /** Starts the thread and loads its first instance. */
  constructor(model: FunctionModel, { environment, observer: { log, measurements }, aws }: FunctionThreadOptions) {
    this.function = model;
    this.#log = log;
    this.#measurements = measurements;
    this.#aws = aws;
    this.#utilization = { at: performance.now(), since: undefined, value: 1 };
    const [file = '', exportName = ''] = model.handler.split('.');
    this.#worker = new Worker(new URL('./threadEntry.mjs', import.meta.url), {
      env: environment,
      stdout: true,
      stderr: true,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
      workerData: {
        moduleUrl: moduleUrl(model.codeDir, file),
        exportName,
        context: contextOf(model),
        awsPorts: aws.ports,
      },
    });
    this.#addLoading();
    for (const output of [this.#worker.stdout, this.#worker.stderr]) {
      const lines = new MetricLines((line) => measurements.recordLine(line));
      output.on('data', (chunk: Buffer) => {
        log.write(chunk);
        lines.write(chunk);
      });
    }
    this.#worker.on('message', (message: FromThread) => this.#onMessage(message));
    // Any value can be thrown, not only errors.
    this.#worker.on('error', (error: unknown) =>
      this.#logFailure('The thread crashed', error instanceof Error ? error : new Error(String(error))),
    );
    this.#worker.on('exit', (code) => {
      this.#usable = false;
      const gone = new FunctionError(`The thread ended with exit code ${code}`);
      if (this.#calls.size > 0) this.#logFailure('The thread ended during a call', gone);
      for (const { loaded, loadTimer } of this.#instances) {
        clearTimeout(loadTimer);
        loaded.reject(gone);
      }
      for (const id of this.#calls.keys()) this.#removeCall(id)?.reject(gone);
      this.#ended.resolve();
    });
  }

  /** Whether it accepts calls. */
  get usable(): boolean {
    return this.#usable;
  }

  /** Whether an instance is loading. */
  get loading(): boolean {
    return this.#instances.some(({ loading }) => loading);
  }

  get idle(): boolean {
    return this.#inFlight === 0;
  }

  /** The number of instances. */
  get size(): number {
    return this.#instances.length;
  }

  /** Resolves when the thread has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** The part of the last moments in which the thread was busy, from 0 to 1. A thread that loads is busy. */
  get utilization(): number {
    const { at, since } = this.#utilization;
    if (performance.now() - at >= UTILIZATION_MILLISECONDS) {
      const now = this.#worker.performance.eventLoopUtilization();
      const { utilization } = this.#worker.performance.eventLoopUtilization(now, since);
      this.#utilization = { at: performance.now(), since: now, value: since ? utilization : 1 };
    }
    return this.#utilization.value;
  }

  /** How long no AWS call has been running, in milliseconds. */
  get withoutAws(): number {
    return this.#awsCalls.size > 0 ? 0 : performance.now() - this.#lastAwsCall;
  }

  /** Returns the number of an instance without a running call, or undefined. */
  freeInstance(): number | undefined {
    const free = this.#instances.findIndex(({ inFlight }) => inFlight === 0);
    return free < 0 ? undefined : free;
  }

  /** Loads another instance and returns its number. */
  addInstance(): number {
    this.#worker.postMessage({ load: this.#instances.length });
    return this.#addLoading();
  }

  /** Resolves when an instance has loaded; rejects if loading failed. */
  async loaded(number: number): Promise<void> {
    await this.#instances[number]?.loaded.promise;
  }

  /** Calls the handler of an instance and returns its result as JSON. Throws a `FunctionError`. */
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
      if (this.idle && !this.#usable) void this.end();
    }
  }

  /** Ends the thread, even during a call. */
  end(): Promise<unknown> {
    this.#usable = false;
    return (this.#ending ??= this.#worker.terminate());
  }

  #addLoading(): number {
    const loaded: PromiseWithResolvers<void> = Promise.withResolvers();
    // A crash while loading is reported when the thread ends. Without this handler it would end the process if no call
    // waits.
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
    this.#worker.postMessage({ call, instance, payload, awsRequestId: randomUUID(), deadline });
    return promise;
  }

  #onMessage(message: FromThread): void {
    if ('aws' in message) void this.#answerAws(message);
    else if ('left' in message) {
      const call = this.#awsCalls.get(message.left);
      if (call) call.hasLeft = true;
    } else if ('call' in message) this.#onResult(message);
    else {
      const instance = this.#instances[message.loaded];
      if (!instance) return;
      clearTimeout(instance.loadTimer);
      instance.loading = false;
      instance.loaded.resolve();
    }
  }

  async #answerAws({ aws, ...call }: ThreadCall & { readonly aws: number }): Promise<void> {
    const caller = { hasLeft: false };
    this.#awsCalls.set(aws, caller);
    const hasLeft = () => caller.hasLeft || this.#ending !== undefined;
    const answer = await this.#aws.call(this.function, call, hasLeft);
    this.#awsCalls.delete(aws);
    this.#lastAwsCall = performance.now();
    if (!hasLeft()) this.#worker.postMessage({ aws, answer });
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
