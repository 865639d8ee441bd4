import { INVALID_USER_TOKEN } from '../shared/accessDenied.ts';
import { errorCatalogue, type ErrorStatus } from '../shared/errors.ts';
import { parseJson } from '../shared/parseJson.ts';
import type { Operation } from './methods.ts';
import type { CallOptions } from './types.ts';

/** The settings for sending calls. */
export interface CallSettings {
  /** The address of the service, `https://...`, without a path. */
  readonly baseUrl: string;
  /** The largest number of attempts of a call; 4 by default. */
  readonly attempts?: number | undefined;
  /** The time-out of one attempt; 35 s by default. */
  readonly timeoutMilliseconds?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
}

/** The error of a failed call: the service or the platform in front of it answered with an error, or there was no answer. */
export class ServiceError extends Error {
  /**
   * The error status. If the answer has none, it follows from the HTTP status. Without an answer it is UNAVAILABLE, and
   * `cause` is the error of `fetch`.
   */
  readonly status: ErrorStatus;
  /** The HTTP status, or 0 without an answer. */
  readonly httpStatus: number;
  /** The id of the request in the logs of the service. Quote it when you ask for support. */
  readonly requestId: string | undefined;
  readonly details: unknown;
  /**
   * The number of seconds that the service asks you to wait before you send the call again. Undefined if the service
   * does not say.
   */
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

/** After a refused token, the next can be accepted. */
export function isFinal(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError) || isTokenRefused(error)) return false;
  return ['PERMISSION_DENIED', 'NOT_FOUND', 'INVALID_ARGUMENT'].includes(error.status);
}

/** Proxies refuse a token with HTTP 401. */
export function isTokenRefused({ status, httpStatus, message }: ServiceError): boolean {
  return status === 'PERMISSION_DENIED' && (httpStatus === 401 || message.endsWith(INVALID_USER_TOKEN));
}

/** Returns the random pause of a live connection or an editor before its next attempt, in milliseconds: at most 30 s. */
export function pauseBeforeRetry(failures: number): number {
  return randomPause(500, failures, 30_000);
}

/** Returns a random time of up to `first` milliseconds, doubled for each failure, but not more than `most`. */
function randomPause(first: number, failures: number, most: number): number {
  return Math.random() * Math.min(first * 2 ** failures, most);
}

/** The longest `retry-after` that the client waits for, in seconds. After a longer one, the call fails without another attempt. */
const MAX_RETRY_AFTER_SECONDS = 30;

const MAX_RENEWALS = 3;

export interface CallToken {
  read(): Promise<string>;
  refuse(token: string): void;
}

/** Sends a call and returns its result. Repeats the call after temporary failures. */
export type SendCall = (
  operation: Pick<Operation, 'path' | 'repeats'>,
  data?: unknown,
  options?: CallOptions,
) => Promise<unknown>;

/**
 * Throws ServiceError or the abort reason. Repeats calls after temporary failures, and with a new token after PERMISSION_DENIED. All
 * attempts have the same idempotency key, so a write happens once.
 */
export function callSender(
  { baseUrl, attempts = 4, timeoutMilliseconds = 35_000, fetch: send = (...args) => fetch(...args) }: CallSettings,
  credentials: () => Promise<Readonly<Record<string, string>>>,
  token?: CallToken,
): SendCall {
  return async ({ path, repeats }, data = {}, { idempotencyKey, signal, keepalive = false } = {}) => {
    const key = idempotencyKey ?? (repeats ? crypto.randomUUID() : undefined);
    const url = new URL(path, baseUrl);
    const body = JSON.stringify({ data });
    let denied: { readonly token: string; readonly failure: ServiceError } | undefined;
    let renewals = 0;
    for (let attempt = 1; ;) {
      let sentToken: string | undefined;
      let milliseconds: number;
      try {
        sentToken = token && (await unlessAborted(token.read(), signal));
        if (denied && denied.token === sentToken) throw denied.failure;
        const request = {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...(await credentials()),
            ...(sentToken !== undefined && { authorization: `Bearer ${sentToken}` }),
            ...(key !== undefined && { 'idempotency-key': key }),
          },
          body,
          ...(keepalive && { keepalive }),
        };
        const timeout = AbortSignal.timeout(timeoutMilliseconds);
        return await resultOf(
          path,
          await send(url, { ...request, signal: signal ? AbortSignal.any([signal, timeout]) : timeout }),
        );
      } catch (error) {
        if (signal?.aborted) throw error;
        const failure = error instanceof ServiceError ? error : unreachable(path, error);
        if (token && sentToken !== undefined && failure.status === 'PERMISSION_DENIED') {
          const mostRenewals = isTokenRefused(failure) ? MAX_RENEWALS : 1;
          const isRepeated = !keepalive && failure !== denied?.failure && renewals < mostRenewals;
          if (isRepeated || isTokenRefused(failure)) token.refuse(sentToken);
          if (!isRepeated) throw failure;
          denied = { token: sentToken, failure };
          milliseconds = renewals === 0 ? 0 : randomPause(100, renewals, 5_000);
          renewals += 1;
        } else {
          if (keepalive || attempt >= attempts || !errorCatalogue[failure.status].retryable) throw failure;
          const requestedSeconds = failure.retryAfterSeconds ?? 0;
          if (requestedSeconds > MAX_RETRY_AFTER_SECONDS) throw failure;
          milliseconds = requestedSeconds * 1_000 + randomPause(100, attempt, 5_000);
          attempt += 1;
        }
      }
      await pause(milliseconds, signal);
    }
  };
}

/** Waits. Throws the abort reason if the signal is aborted. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waited = new Promise<void>((resolve) => (timer = setTimeout(resolve, milliseconds)));
  await unlessAborted(waited, signal).finally(() => clearTimeout(timer));
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

interface Tree {
  [name: string]: Tree | ((data?: unknown, options?: CallOptions) => Promise<unknown>);
}

/**
 * Returns nested objects with one method per operation. `names` is the path to the method: `['v2', 'users', 'get']` is
 * `v2.users.get`.
 */
export function methodTree(operations: readonly Operation[], send: SendCall): object {
  const methods: Tree = {};
  for (const operation of operations) {
    const last = operation.names.at(-1) as string;
    const parent = operation.names.slice(0, -1).reduce<Tree>((tree, name) => (tree[name] ??= {}) as Tree, methods);
    // A method can also contain methods: /v2/users/data/delete/status continues the path /v2/users/data/delete.
    parent[last] = Object.assign(
      (data?: unknown, callOptions?: CallOptions) => send(operation, data, callOptions),
      parent[last],
    );
  }
  return methods;
}

async function resultOf(path: string, response: Response): Promise<unknown> {
  const text = await response.text();
  const body = parseJson(text) as Answer | undefined;
  if (body?.result !== undefined && response.ok) return body.result;
  // Answers of the gateway have the header `apigw-requestid` instead of `x-request-id`.
  const requestId = response.headers.get('x-request-id') ?? response.headers.get('apigw-requestid') ?? undefined;
  throw new ServiceError(path, response.status, requestId, {
    ...errorOf(body ?? {}, response.status),
    retryAfterSeconds: secondsOf(response.headers.get('retry-after')),
  });
}

/** Returns the error of an attempt without an answer: no connection, a broken connection or a time-out. */
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

/** The fields of a JSON answer. Answers of the gateway have only `message`. Answers of proxies may not be JSON. */
interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly status?: string; readonly message?: string; readonly details?: unknown };
  readonly message?: string;
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

/** Returns the number of seconds in a `retry-after` header; undefined if the header is missing or has a date. */
function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

/** Returns a message if it is a string, otherwise undefined. In answers of proxies, `message` can have any type. */
function textOf(message: unknown): string | undefined {
  return typeof message === 'string' ? message : undefined;
}

function isErrorStatus(status: string): status is ErrorStatus {
  return Object.hasOwn(errorCatalogue, status);
}

/** The error statuses of HTTP statuses that the service itself never returns. They come from the platform in front of it. */
const platformStatuses: Readonly<Record<number, ErrorStatus>> = { 401: 'PERMISSION_DENIED', 408: 'DEADLINE_EXCEEDED' };

/** Returns the error status of an HTTP status. An unknown 4xx becomes INVALID_ARGUMENT, which is not retried. */
function statusOf(httpStatus: number): ErrorStatus {
  const serviceStatus = (Object.keys(errorCatalogue) as ErrorStatus[]).find(
    (status) => errorCatalogue[status].http === httpStatus,
  );
  const otherStatus = httpStatus >= 400 && httpStatus < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL';
  return platformStatuses[httpStatus] ?? serviceStatus ?? otherStatus;
}
