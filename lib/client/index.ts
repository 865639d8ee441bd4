/** A client of the API: a typed method for every endpoint, retries that do nothing twice, paging, and the check of webhooks. */
import { setTimeout as pause } from 'node:timers/promises';
import { errorCatalogue, type ErrorStatus } from '../errors.ts';
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

/** A failure that the service answered. */
export class ServiceError extends Error {
  /** INTERNAL for an answer that is none of the service's. */
  readonly status: ErrorStatus;
  readonly httpStatus: number;
  /** What to quote when asking about it. */
  readonly requestId: string | undefined;
  readonly details: unknown;

  constructor(path: string, httpStatus: number, requestId: string | undefined, { status = 'INTERNAL', message = `HTTP ${httpStatus}`, details }: { status?: ErrorStatus; message?: string; details?: unknown } = {}) {
    super(`${path}: ${status}: ${message}`);
    this.name = 'ServiceError';
    this.status = status;
    this.httpStatus = httpStatus;
    this.requestId = requestId;
    this.details = details;
  }
}

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;

/**
 * A client of a service. Methods throw ServiceError when the service refuses a call, what `fetch` throws when it cannot be reached. What passes is
 * tried again, a write under one idempotency key, so that it happens once.
 */
export function createClient({ attempts = 4, timeoutMilliseconds = 35_000, serviceName = 'svc', ...options }: ClientOptions): Methods {
  const send = options.fetch ?? fetch;
  const prefix = `x-${serviceName}-`;
  const headers = credentialHeaders(prefix, options);

  async function call(operation: Operation, data: unknown = {}, { idempotencyKey, signal }: CallOptions = {}): Promise<unknown> {
    const { path, repeats } = operation;
    const key = idempotencyKey ?? (repeats ? crypto.randomUUID() : undefined);
    const request = { method: 'POST', headers: { 'content-type': 'application/json', ...headers, ...(key !== undefined && { 'idempotency-key': key }) }, body: JSON.stringify({ data }) };
    for (let attempt = 1; ; attempt++) {
      try {
        const timeout = AbortSignal.timeout(timeoutMilliseconds);
        return await resultOf(path, await send(new URL(path, options.baseUrl), { ...request, signal: signal ? AbortSignal.any([signal, timeout]) : timeout }));
      } catch (error) {
        if (attempt >= attempts || signal?.aborted || (error instanceof ServiceError && !errorCatalogue[error.status].retryable)) throw error;
      }
      await pause(Math.random() * Math.min(FIRST_PAUSE * 2 ** attempt, LONGEST_PAUSE), undefined, { signal });
    }
  }

  const methods: Tree = {};
  for (const operation of operations) {
    const last = operation.names.at(-1) as string;
    const parent = operation.names.slice(0, -1).reduce<Tree>((tree, name) => (tree[name] ??= {}) as Tree, methods);
    // A path can go on beneath another one.
    parent[last] = Object.assign((data?: unknown, callOptions?: CallOptions) => call(operation, data, callOptions), parent[last]);
  }
  return methods as unknown as Methods;
}

interface Tree {
  [name: string]: Tree | ((data?: unknown, options?: CallOptions) => Promise<unknown>);
}

function credentialHeaders(prefix: string, { apiKey, authToken, workspaceId, workspaceAuthToken }: Partial<ClientOptions>): Record<string, string> {
  const given = { 'api-key': apiKey, 'auth-token': authToken, 'workspace-id': workspaceId, 'workspace-auth-token': workspaceAuthToken };
  return Object.fromEntries(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[prefix + name, value]])));
}

async function resultOf(path: string, response: Response): Promise<unknown> {
  const text = await response.text();
  const body = parsed(text);
  if (body?.result !== undefined && response.ok) return body.result;
  throw new ServiceError(path, response.status, response.headers.get('x-request-id') ?? undefined, body?.error);
}

function parsed(text: string): { result?: unknown; error?: { status: ErrorStatus; message: string; details?: unknown } } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
