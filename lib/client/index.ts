/** A client of the API: a typed method for every endpoint, retries that do nothing twice, paging, and the check of webhooks. */
import { setTimeout as pause } from 'node:timers/promises';
import { errorCatalogue, type ErrorStatus } from '../shared/errors.ts';
import { type Methods, type Operation, operations } from './methods.ts';
import type { CallOptions } from './types.ts';

export type { Methods } from './methods.ts';
export type { CallOptions } from './types.ts';
export { pages } from './pages.ts';
export { readWebhook, WebhookNotGenuine } from './webhook.ts';

export interface ClientOptions {
  /** `https://...`, without a path. */
  readonly baseUrl: string;
  readonly apiKey?: string;
  readonly authToken?: string;
  /** For the endpoints of a workspace itself. */
  readonly workspaceId?: string;
  readonly workspaceAuthToken?: string;
  /** The service's name in the names of its headers. */
  readonly serviceName?: string;
  /** How often a call is sent at most. */
  readonly attempts?: number;
  /** How long one attempt may take. */
  readonly timeoutMilliseconds?: number;
  readonly fetch?: typeof fetch;
}

/** A failure of a call: an answer of the service or of the platform in front of it, or no answer at all. */
export class ServiceError extends Error {
  /** The status in the answer, else the status that its HTTP status stands for. UNAVAILABLE when there was no answer; `cause` is then what `fetch` threw. */
  readonly status: ErrorStatus;
  /** 0 when there was no answer. */
  readonly httpStatus: number;
  /** What to quote when asking about it. */
  readonly requestId: string | undefined;
  readonly details: unknown;
  /** After how many seconds the service asks to send the call again, where it says so. */
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

/**
 * Returns a client of a service. Methods throw ServiceError when the service refuses a call or cannot be reached, and the reason of the
 * call's own signal when that ends it. The client repeats calls whose failure may pass; a write has one idempotency key, so that it happens once.
 */
export function createClient({
  attempts = 4,
  timeoutMilliseconds = 35_000,
  serviceName = 'svc',
  ...options
}: ClientOptions): Methods {
  const send = options.fetch ?? fetch;
  const prefix = `x-${serviceName}-`;
  const headers = credentialHeaders(prefix, options);

  async function call(
    operation: Operation,
    data: unknown = {},
    { idempotencyKey, signal }: CallOptions = {},
  ): Promise<unknown> {
    const { path, repeats } = operation;
    const key = idempotencyKey ?? (repeats ? crypto.randomUUID() : undefined);
    const request = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...(key !== undefined && { 'idempotency-key': key }) },
      body: JSON.stringify({ data }),
    };
    const url = new URL(path, options.baseUrl);
    for (let attempt = 1; ; attempt++) {
      let asked = 0;
      try {
        const timeout = AbortSignal.timeout(timeoutMilliseconds);
        return await resultOf(
          path,
          await send(url, { ...request, signal: signal ? AbortSignal.any([signal, timeout]) : timeout }),
        );
      } catch (error) {
        if (signal?.aborted) throw error;
        const failure = error instanceof ServiceError ? error : unreachable(path, error);
        if (attempt >= attempts || !errorCatalogue[failure.status].retryable) throw failure;
        asked = failure.retryAfterSeconds ?? 0;
        if (asked > LONGEST_RETRY_AFTER_SECONDS) throw failure;
      }
      await pause(asked * 1_000 + Math.random() * Math.min(FIRST_PAUSE * 2 ** attempt, LONGEST_PAUSE), undefined, {
        signal,
      });
    }
  }

  const methods: Tree = {};
  for (const operation of operations) {
    const last = operation.names.at(-1) as string;
    const parent = operation.names.slice(0, -1).reduce<Tree>((tree, name) => (tree[name] ??= {}) as Tree, methods);
    // A path can go on beneath another one.
    parent[last] = Object.assign(
      (data?: unknown, callOptions?: CallOptions) => call(operation, data, callOptions),
      parent[last],
    );
  }
  return methods as unknown as Methods;
}

interface Tree {
  [name: string]: Tree | ((data?: unknown, options?: CallOptions) => Promise<unknown>);
}

function credentialHeaders(
  prefix: string,
  { apiKey, authToken, workspaceId, workspaceAuthToken }: Partial<ClientOptions>,
): Record<string, string> {
  const given = {
    'api-key': apiKey,
    'auth-token': authToken,
    'workspace-id': workspaceId,
    'workspace-auth-token': workspaceAuthToken,
  };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[prefix + name, value]])),
  );
}

async function resultOf(path: string, response: Response): Promise<unknown> {
  const text = await response.text();
  const body = parsed(text);
  if (body?.result !== undefined && response.ok) return body.result;
  // The second one is the gateway's name for the same, where it answers itself.
  const requestId = response.headers.get('x-request-id') ?? response.headers.get('apigw-requestid') ?? undefined;
  throw new ServiceError(path, response.status, requestId, {
    ...errorOf(body ?? {}, response.status),
    retryAfterSeconds: secondsOf(response.headers.get('retry-after')),
  });
}

/** The failure of an attempt that got no answer: no connection, a connection that broke, or a time-out. */
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

/** What an answer says, as far as it says it: the gateway answers `{ "message" }` without an envelope, others in between no JSON at all. */
interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly status?: string; readonly message?: string; readonly details?: unknown };
  readonly message?: string;
}

function parsed(text: string): Answer | undefined {
  try {
    return JSON.parse(text);
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

/** The seconds of a `retry-after` header; undefined when there is none, or when it is a date. */
function secondsOf(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

/** What somebody between here and the service answers may be of any shape. */
function textOf(message: unknown): string | undefined {
  return typeof message === 'string' ? message : undefined;
}

function isErrorStatus(status: string): status is ErrorStatus {
  return Object.hasOwn(errorCatalogue, status);
}

/** HTTP statuses of the platform in front of the service that say something else than that the request is wrong. */
const ofThePlatform: Readonly<Record<number, ErrorStatus>> = { 401: 'PERMISSION_DENIED', 408: 'DEADLINE_EXCEEDED' };

/** The status of an answer without one. What is 4xx is not sent again, unless there were too many requests or they took too long. */
function statusOf(httpStatus: number): ErrorStatus {
  const known = (Object.keys(errorCatalogue) as ErrorStatus[]).find(
    (status) => errorCatalogue[status].http === httpStatus,
  );
  return (
    ofThePlatform[httpStatus] ?? known ?? (httpStatus >= 400 && httpStatus < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL')
  );
}
