import { errorCatalogue, type ErrorStatus } from '../shared/errors.ts';
import type { Operation } from './methods.ts';
import type { CallOptions } from './types.ts';

/** How calls are sent. */
export interface CallSettings {
  /** `https://...`, without a path. */
  readonly baseUrl: string;
  /** The most attempts of a call. */
  readonly attempts?: number | undefined;
  /** The time-out of one attempt. */
  readonly timeoutMilliseconds?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
}

/** A failed call: an error of the service or of the platform in front of it, or no answer. */
export class ServiceError extends Error {
  /**
   * The status in the answer, otherwise one for its HTTP status. UNAVAILABLE without an answer; `cause` is then the
   * error of `fetch`.
   */
  readonly status: ErrorStatus;
  /** 0 without an answer. */
  readonly httpStatus: number;
  /** Name it when you ask for support. */
  readonly requestId: string | undefined;
  readonly details: unknown;
  /** The seconds after which the service asks to send the call again, if it does. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    path: string,
    httpStatus: number,
    requestId: string | undefined,
    {
      status,
      message,
      details,
      retryAfterSeconds,
    }: { status: ErrorStatus; message: string; details?: unknown; retryAfterSeconds?: number | undefined },
    options?: ErrorOptions,
  ) {
    super(`${path}: ${status}: ${message}`, options);
    this.name = 'ServiceError';
    this.status = status;
    this.httpStatus = httpStatus;
    this.requestId = requestId;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;
/** A call that the service asks to send again later than this is not repeated. */
const LONGEST_RETRY_AFTER_SECONDS = 30;

/** Sends a call with its repetitions and returns the result. */
export type SendCall = (operation: Operation, data?: unknown, options?: CallOptions) => Promise<unknown>;

/**
 * Returns the function that sends calls. It throws ServiceError when the service rejects a call or cannot be reached, and
 * the abort reason when the call's signal ends it. It repeats calls after temporary failures. All attempts of a write have
 * one idempotency key, so it happens once.
 */
export function callSender(
  { baseUrl, attempts = 4, timeoutMilliseconds = 35_000, fetch: send = (...args) => fetch(...args) }: CallSettings,
  credentials: () => Promise<Readonly<Record<string, string>>>,
): SendCall {
  return async ({ path, repeats }, data = {}, { idempotencyKey, signal } = {}) => {
    const key = idempotencyKey ?? (repeats ? crypto.randomUUID() : undefined);
    const url = new URL(path, baseUrl);
    for (let attempt = 1; ; attempt++) {
      let requestedSeconds = 0;
      try {
        const request = {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...(await credentials()),
            ...(key !== undefined && { 'idempotency-key': key }),
          },
          body: JSON.stringify({ data }),
        };
        const timeout = AbortSignal.timeout(timeoutMilliseconds);
        return await resultOf(
          path,
          await send(url, { ...request, signal: signal ? AbortSignal.any([signal, timeout]) : timeout }),
        );
      } catch (error) {
        if (signal?.aborted) throw error;
        const failure = error instanceof ServiceError ? error : unreachable(path, error);
        if (attempt >= attempts || !errorCatalogue[failure.status].retryable) throw failure;
        requestedSeconds = failure.retryAfterSeconds ?? 0;
        if (requestedSeconds > LONGEST_RETRY_AFTER_SECONDS) throw failure;
      }
      await pause(
        requestedSeconds * 1_000 + Math.random() * Math.min(FIRST_PAUSE * 2 ** attempt, LONGEST_PAUSE),
        signal,
      );
    }
  };
}

/** Waits. Throws the abort reason when the signal ends the wait. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

interface Tree {
  [name: string]: Tree | ((data?: unknown, options?: CallOptions) => Promise<unknown>);
}

/** Returns a method for each operation, at the position of its names. */
export function methodTree(operations: readonly Operation[], send: SendCall): object {
  const methods: Tree = {};
  for (const operation of operations) {
    const last = operation.names.at(-1) as string;
    const parent = operation.names.slice(0, -1).reduce<Tree>((tree, name) => (tree[name] ??= {}) as Tree, methods);
    // A path can continue another one: /v2/users/data/delete and /v2/users/data/delete/status.
    parent[last] = Object.assign(
      (data?: unknown, callOptions?: CallOptions) => send(operation, data, callOptions),
      parent[last],
    );
  }
  return methods;
}

async function resultOf(path: string, response: Response): Promise<unknown> {
  const text = await response.text();
  const body = parseAnswer(text);
  if (body?.result !== undefined && response.ok) return body.result;
  // The gateway's own answers have the second header.
  const requestId = response.headers.get('x-request-id') ?? response.headers.get('apigw-requestid') ?? undefined;
  throw new ServiceError(path, response.status, requestId, {
    ...errorOf(body ?? {}, response.status),
    retryAfterSeconds: secondsOf(response.headers.get('retry-after')),
  });
}

/** Returns the failure of an attempt without an answer: no connection, a broken connection or a time-out. */
function unreachable(path: string, cause: unknown): ServiceError {
  const { message } = Object(cause) as { readonly message?: unknown };
  return new ServiceError(
    path,
    0,
    undefined,
    { status: 'UNAVAILABLE', message: textOf(message) ?? String(cause) },
    { cause },
  );
}

/**
 * The fields of an answer. The gateway answers `{ "message" }` without an envelope, and a proxy may answer no JSON at
 * all.
 */
interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly status?: string; readonly message?: string; readonly details?: unknown };
  readonly message?: string;
}

function parseAnswer(text: string): Answer | undefined {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return undefined;
  }
}

function errorOf(
  { error, message }: Answer,
  httpStatus: number,
): { status: ErrorStatus; message: string; details?: unknown } {
  const { status = '', details } = error ?? {};
  return {
    status: isErrorStatus(status) ? status : statusOf(httpStatus),
    message: textOf(error?.message) ?? textOf(message) ?? `HTTP ${httpStatus}`,
    details,
  };
}

/** Returns the seconds of a `retry-after` header; undefined without one or for a date. */
function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

/** Returns a message if it is a text. Answers of proxies may have any shape. */
function textOf(message: unknown): string | undefined {
  return typeof message === 'string' ? message : undefined;
}

function isErrorStatus(status: string): status is ErrorStatus {
  return Object.hasOwn(errorCatalogue, status);
}

/** HTTP statuses of the platform in front of the service that do not mean an invalid request. */
const platformStatuses: Readonly<Record<number, ErrorStatus>> = { 401: 'PERMISSION_DENIED', 408: 'DEADLINE_EXCEEDED' };

/** Returns the status for an HTTP status. Other 4xx are INVALID_ARGUMENT and so not sent again. */
function statusOf(httpStatus: number): ErrorStatus {
  const known = (Object.keys(errorCatalogue) as ErrorStatus[]).find(
    (status) => errorCatalogue[status].http === httpStatus,
  );
  return (
    platformStatuses[httpStatus] ?? known ?? (httpStatus >= 400 && httpStatus < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
  );
}
