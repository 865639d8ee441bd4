import { INVALID_USER_TOKEN } from '../shared/accessDenied.ts';
import { errorCatalogue, type ErrorStatus } from '../shared/errors.ts';
import { parseJson } from '../shared/parseJson.ts';
import type { Operation } from './methods.ts';
import type { CallOptions } from './types.ts';

export interface CallSettings {
  readonly baseUrl: string;
  /** 4 by default. */
  readonly attempts?: number | undefined;
  /** Of one attempt; 35 s by default. */
  readonly timeoutMilliseconds?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
}

export class ServiceError extends Error {
  /** UNAVAILABLE also if no answer came, with the reason as `cause`. */
  readonly status: ErrorStatus;
  readonly httpStatus: number;
  /** Quote it when you ask for support. */
  readonly requestId: string | undefined;
  readonly details: unknown;
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

/** A refused token is not final, because a new token can be accepted. */
export function isFinal(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError) || isTokenRefused(error)) return false;
  return ['PERMISSION_DENIED', 'NOT_FOUND', 'INVALID_ARGUMENT'].includes(error.status);
}

/** Proxies refuse a token with HTTP 401. */
export function isTokenRefused({ status, httpStatus, message }: ServiceError): boolean {
  return status === 'PERMISSION_DENIED' && (httpStatus === 401 || message.endsWith(INVALID_USER_TOKEN));
}

/** Returns milliseconds, for live connections and editors. */
export function pauseBeforeRetry(failures: number): number {
  return randomPause(500, failures, 30_000);
}

function randomPause(first: number, failures: number, most: number): number {
  return Math.random() * Math.min(first * 2 ** failures, most);
}

/** After a longer `retry-after`, the call fails without another attempt. */
const MAX_RETRY_AFTER_SECONDS = 30;

const MAX_RENEWALS = 3;

export interface CallToken {
  read(): Promise<string>;
  refuse(token: string): void;
}

export type SendCall = (
  operation: Pick<Operation, 'path' | 'repeats'>,
  data?: unknown,
  options?: CallOptions,
) => Promise<unknown>;

/**
 * The function throws ServiceError or the abort reason. All attempts of a call have the same idempotency key, if the
 * endpoint takes one, so a repeated write happens once.
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

export function methodTree(operations: readonly Operation[], send: SendCall): object {
  const methods: Tree = {};
  for (const operation of operations) {
    const last = operation.names.at(-1) as string;
    const parent = operation.names.slice(0, -1).reduce<Tree>((tree, name) => (tree[name] ??= {}) as Tree, methods);
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
  // Answers of the gateway have only `apigw-requestid`.
  const requestId = response.headers.get('x-request-id') ?? response.headers.get('apigw-requestid') ?? undefined;
  throw new ServiceError(path, response.status, requestId, {
    ...errorOf(body ?? {}, response.status),
    retryAfterSeconds: secondsOf(response.headers.get('retry-after')),
  });
}

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

function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

function textOf(message: unknown): string | undefined {
  return typeof message === 'string' ? message : undefined;
}

function isErrorStatus(status: string): status is ErrorStatus {
  return Object.hasOwn(errorCatalogue, status);
}

/** HTTP statuses of the platform in front of the service, which the service never returns. */
const platformStatuses: Readonly<Record<number, ErrorStatus>> = { 401: 'PERMISSION_DENIED', 408: 'DEADLINE_EXCEEDED' };

function statusOf(httpStatus: number): ErrorStatus {
  const serviceStatus = (Object.keys(errorCatalogue) as ErrorStatus[]).find(
    (status) => errorCatalogue[status].http === httpStatus,
  );
  const otherStatus = httpStatus >= 400 && httpStatus < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL';
  return platformStatuses[httpStatus] ?? serviceStatus ?? otherStatus;
}
