import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import type * as z from 'zod';
import {
  type AuthLevel,
  type BodyForm,
  type Caller,
  endpointId,
  familyOf,
  type FixedMessages,
} from '../app/endpoint.ts';
import type { LimitClass, Work } from '../app/rules/limits.ts';
import type { CleanMarkup, UserRule } from '../app/rules/userRule.ts';
import type { UserAccessChecker, UserTokenCaller } from '../app/userRule.ts';
import { DependencyShares } from '../observability/dependencies.ts';
import { FaultShare } from '../observability/faultShare.ts';
import { type Log, logWith } from '../observability/log.ts';
import * as logMessages from '../observability/logMessages.ts';
import type { LimitedClass } from '../observability/rateLimited.ts';
import { INVALID_USER_TOKEN } from '../shared/accessDenied.ts';
import { connectionErrorCodes } from '../shared/connectionErrors.ts';
import { ApiError, errorCatalogue, type ErrorStatus, invalid } from '../shared/errors.ts';
import type { Credentials } from './credentials.ts';
import { untilDeadline } from './deadline.ts';
import { bodyText, type failureResponse, parseEnvelope } from './envelope.ts';
import type { RateBuckets } from './rateBuckets.ts';
import { MAX_UNITS, tokensOf, unitsOf } from './rules/rateLimit.ts';
import { validateRequest } from './validate.ts';

export interface RequestState extends Record<string, unknown> {
  startedAt: number;
  requestId: string;
  log: Log;
  caller: Caller;
  tokenCaller?: UserTokenCaller;
  allowedOrigin?: string | undefined;
  allowedDomains?: readonly string[];
  body: string;
  data: unknown;
  input: unknown;
  errorStatus?: ErrorStatus;
  limitedClass?: LimitedClass;
  /** An internal id. Undefined if the limit is that of the API key. */
  limitedUser?: string | undefined;
  sharedBucketWrites?: readonly Promise<void>[];
  cause?: unknown;
}

export type Middleware = MiddlewareObj<
  APIGatewayProxyEventV2,
  APIGatewayProxyStructuredResultV2,
  Error,
  Context,
  RequestState
>;

let coldStart = true;

export interface FunctionName {
  readonly endpoint: string;
  readonly path: string;
  readonly serviceName: () => string;
  readonly twin?: { readonly path: string; readonly isFor: (event: APIGatewayProxyEventV2) => boolean };
}

/**
 * Sets the request id and the start time. Writes one log line at the end, without bodies, headers and credentials.
 * Counts 500 and above as a fault.
 */
export function observe(options: FunctionName): Middleware {
  const faultShare = new FaultShare();
  const dependencyShares = new DependencyShares();
  const logRequest = ({ event, response, internal }: Parameters<NonNullable<Middleware['after']>>[0]) => {
    const status = response?.statusCode ?? 500;
    if (response?.headers) response.headers['x-request-id'] = internal.requestId;
    const keys = {
      status,
      ...(internal.errorStatus && { errorStatus: internal.errorStatus }),
      method: event.requestContext.http.method,
      ...(options.twin?.isFor(event) && { twin: endpointId(options.twin.path) }),
      durationMs: Date.now() - internal.startedAt,
      coldStart,
      tenant: internal.tokenCaller?.tenant ?? callerId((internal as Partial<RequestState>).caller),
      ...(internal.limitedClass && { limitedClass: internal.limitedClass }),
      ...(internal.limitedUser && { limitedUser: internal.limitedUser }),
      ...(internal.cause !== undefined && { error: internal.cause }),
    };
    coldStart = false;
    const isFault = status >= 500;
    const isFrequent = faultShare.add(Date.now(), { calls: 1, faults: isFault ? 1 : 0 });
    const failed = dependencyShares.end(Date.now());
    internal.log[isFault ? 'error' : 'info'](logMessages.requestCompleted, keys);
    const { limitedClass } = internal;
    if (limitedClass !== undefined) {
      return import('../observability/rateLimited.ts').then(({ countRateLimited }) =>
        countRateLimited(options.serviceName(), limitedClass),
      );
    }
    if (!isFault && failed.length === 0) return undefined;
    return import('../observability/faults.ts').then(({ countDependencyFaults, countFault }) => {
      if (isFault) countFault(options.serviceName(), familyOf(options.path), options.endpoint, isFrequent);
      countDependencyFaults(options.serviceName(), failed);
    });
  };
  return {
    before: ({ event, context, internal }) => {
      internal.startedAt = Date.now();
      internal.requestId = event.requestContext.requestId;
      internal.log = logWith(options.serviceName(), {
        requestId: internal.requestId,
        lambdaRequestId: context.awsRequestId,
        endpoint: options.endpoint,
      });
    },
    after: logRequest,
    onError: logRequest,
  };
}

export function callerId(caller: Caller | undefined): string | undefined {
  if (caller?.level === 'apiKey' || caller?.level === 'user') return caller.tenant;
  return caller?.level === 'workspace' ? caller.workspaceId : undefined;
}

const securityHeaderValues = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'referrer-policy': 'no-referrer',
};

export function securityHeaders(): Middleware {
  const set: NonNullable<Middleware['after']> = ({ response }) => {
    if (response) response.headers = { ...securityHeaderValues, ...response.headers };
  };
  return { after: set, onError: set };
}

const AUTH_TOKEN = 'auth-token';

export interface UserAuthentication {
  readonly rule: UserRule;
  readonly checker: () => UserAccessChecker;
}

export interface Authentication {
  readonly user: UserAuthentication | undefined;
  readonly level: AuthLevel;
  readonly fresh: boolean;
  readonly serviceName: () => string;
  readonly credentials: () => Credentials;
  readonly denied: string | undefined;
}

/**
 * Sets `caller`, or `tokenCaller` for a user token. Throws PERMISSION_DENIED for wrong credentials.
 *
 * Published clients send the token of a workspace as `auth-token`, so level `workspace` accepts it if
 * `workspace-auth-token` is missing.
 */
export function authenticate(options: Authentication): Middleware {
  return {
    before: async ({ event, internal }) => {
      const header = (name: string) => event.headers[`x-${options.serviceName()}-${name}`];
      const verify = { now: internal.startedAt, fresh: options.fresh };
      const { authorization } = event.headers;
      const isUser = options.level === 'user' || (authorization !== undefined && header(AUTH_TOKEN) === undefined);
      if (options.user && isUser) {
        const origin = event.headers.origin;
        const read = await options.user.checker().readToken({ authorization: authorization ?? '', origin }, verify);
        internal.allowedOrigin = read.allowedOrigin;
        internal.allowedDomains = read.allowedDomains;
        if (!read.caller) throw new ApiError('PERMISSION_DENIED', INVALID_USER_TOKEN);
        internal.tokenCaller = read.caller;
        return;
      }
      const caller = async (): Promise<Caller> => {
        if (options.level === 'user') throw new Error('An endpoint of level user has no rule for users');
        if (options.level === 'none') return { level: 'none' };
        if (options.level === 'apiKey')
          return options.credentials().apiKey(header('api-key'), header(AUTH_TOKEN), verify);
        return options
          .credentials()
          .workspace(header('workspace-id'), header('workspace-auth-token') || header(AUTH_TOKEN), verify);
      };
      internal.caller = await caller().catch((error: unknown) => {
        throw options.denied !== undefined && error instanceof ApiError && error.status === 'PERMISSION_DENIED'
          ? new ApiError(error.status, options.denied)
          : error;
      });
    },
  };
}

export function fillActor({ rule, checker }: UserAuthentication): Middleware {
  return {
    before: ({ internal }) => {
      const { tokenCaller } = internal;
      if (tokenCaller) internal.data = checker().fillActor(rule, tokenCaller, internal.data);
    },
  };
}

/** Runs before the schema check, so that the schema checks the content as stored. */
export function cleanContent(user: UserAuthentication & { readonly cleanMarkup: CleanMarkup | undefined }): Middleware {
  return {
    before: async ({ internal: { tokenCaller, data, allowedDomains = [] } }) => {
      if (!tokenCaller) return;
      await user.checker().cleanContent(data, { allowedDomains, cleanMarkup: user.cleanMarkup });
    },
  };
}

export function checkUserAccess({ rule, checker }: UserAuthentication, fresh: boolean): Middleware {
  return {
    before: async ({ internal }) => {
      const { tokenCaller, startedAt } = internal;
      if (!tokenCaller) return;
      const options = { now: startedAt, fresh };
      const { caller, input } = await checker().checkAccess(rule, tokenCaller, internal.input, options);
      internal.caller = caller;
      internal.input = input;
    },
  };
}

const EXPOSED_HEADERS = 'x-request-id, retry-after, idempotency-replayed';

export function corsHeaders(): Middleware {
  const set: NonNullable<Middleware['after']> = ({ response, internal: { allowedOrigin } }) => {
    if (!response || allowedOrigin === undefined) return;
    response.headers = {
      ...response.headers,
      'access-control-allow-origin': allowedOrigin,
      'access-control-expose-headers': EXPOSED_HEADERS,
      vary: 'origin',
    };
  };
  return { after: set, onError: set };
}

/** Throws RESOURCE_EXHAUSTED with `retry-after` above a limit of the API key or of its user. */
export function limitCalls(options: CallLimit): Middleware {
  // If the write fails or hangs, the call still succeeds. A later write adds these calls.
  const finish: NonNullable<Middleware['after']> = async ({ internal }) => {
    const logFailure = (error: unknown) => internal.log.warn(logMessages.rateLimitUpdateFailed, { error });
    await Promise.all((internal.sharedBucketWrites ?? []).map(async (write) => untilDeadline(write).catch(logFailure)));
  };
  return {
    before: async ({ internal }) => {
      await takeTokens(options, internal.tokenCaller ?? internal.caller, internal);
    },
    after: finish,
    onError: finish,
  };
}

interface CallLimit {
  readonly limitClass: LimitClass;
  readonly buckets: () => RateBuckets;
}

/** Runs after all checks, so a request that they refuse takes only the token of `limitCalls`. */
export function limitWork(options: CallLimit & { readonly workOf: (state: RequestState) => Work }): Middleware {
  return {
    before: async ({ internal }) => {
      const work = options.workOf(internal);
      const bodyBytes = Buffer.byteLength(internal.body);
      const units = unitsOf(work, bodyBytes);
      if (units > MAX_UNITS) throw tooMuchWork(units, internal.data);
      const more = tokensOf(work, bodyBytes) - 1;
      if (more > 0) await takeTokens(options, internal.caller, internal, more);
    },
  };
}

async function takeTokens(
  { limitClass, buckets }: CallLimit,
  caller: Caller | UserTokenCaller,
  state: RequestState,
  more?: number,
): Promise<void> {
  if (caller.level !== 'apiKey' && caller.level !== 'user') return;
  const userKey = caller.level === 'user' ? caller.claims.userKey : undefined;
  const request = { tenant: caller.tenant, limitClass, userKey, perSecond: caller.limits[limitClass], more };
  const result = await buckets().take({ ...request, now: state.startedAt });
  state.sharedBucketWrites = [...(state.sharedBucketWrites ?? []), ...result.sharedBucketWrites];
  if (!('retryAfter' in result)) return;
  state.limitedClass = limitClass;
  const isOfUser = result.emptyBucketOf === 'user';
  if (isOfUser) state.limitedUser = userKey;
  const problem = more === undefined ? `sends too many ${limitedCalls[limitClass]}` : 'writes too much';
  throw tooManyCalls(isOfUser ? 'user' : 'API key', problem, result.retryAfter);
}

export function tooManyCalls(sender: string, problem: string, retryAfter: number): ApiError {
  const retryAfterSeconds = Math.ceil(retryAfter / 1000);
  return new ApiError(
    'RESOURCE_EXHAUSTED',
    `The ${sender} ${problem}. Send the request again after ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
}

function tooMuchWork(units: number, data: unknown): ApiError {
  const lists = Object.entries(data as object).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const [name] = lists.toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
  const calls = Math.ceil(units / MAX_UNITS);
  return invalid({
    path: name === undefined ? [] : [name],
    code: 'too_much_work',
    message: `${name ?? 'data'}: the call would write about ${units} items and KB, which takes too long. At most ${MAX_UNITS} are allowed. Split it into ${calls} or more calls`,
  });
}

const limitedCalls: Readonly<Record<LimitClass, string>> = {
  read: 'reads',
  write: 'writes',
  expensive: 'expensive calls',
};

export function parseBody(body: BodyForm): Middleware {
  return {
    before: ({ event, internal }) => {
      internal.body = bodyText(event);
      internal.data = parseEnvelope(internal.body, body, event);
    },
  };
}

export function validateInput(
  schemaOf: (event: APIGatewayProxyEventV2) => z.ZodType,
  messages?: FixedMessages,
): Middleware {
  return {
    before: ({ event, internal }) => {
      internal.input = validateRequest(schemaOf(event), internal.data, messages);
    },
  };
}

const THROTTLED = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'TooManyRequestsException',
  'ThrottlingError',
  'InternalServerError',
  'ServiceUnavailable',
  'TransactionInProgressException',
  'TimeoutError',
  'RequestTimeout',
  'RequestThrottled',
]);
const CAUSES_FOLLOWED = 5;

/**
 * Uses the first known error in `error` and its chain of causes. Temporary failures of AWS and the network become
 * UNAVAILABLE, unknown errors INTERNAL.
 */
export function toApiError(error: unknown, requestId: string): ApiError {
  let cause = error;
  for (let i = 0; i < CAUSES_FOLLOWED && cause instanceof Error; i++) {
    if (cause instanceof ApiError) return cause;
    if (
      THROTTLED.has(cause.name) ||
      connectionErrorCodes.has((cause as NodeJS.ErrnoException).code) ||
      isServerError(cause)
    )
      return new ApiError('UNAVAILABLE', 'The service is not available for a moment. Send the request again.', {
        cause: error,
      });
    cause = cause.cause;
  }
  return new ApiError('INTERNAL', `Internal error. Quote the request id ${requestId}.`, { cause: error });
}

function isServerError({ $metadata }: Error & { readonly $metadata?: { readonly httpStatusCode?: number } }): boolean {
  return ($metadata?.httpStatusCode ?? 0) >= 500;
}

/** Must be the last middleware: its `onError` runs first, and the others add their headers to the answer. */
export function mapErrors(toResponse: typeof failureResponse): Middleware {
  return {
    onError: (request) => {
      const { internal } = request;
      const error = toApiError(request.error, internal.requestId);
      internal.errorStatus = error.status;
      if (errorCatalogue[error.status].http >= 500) internal.cause = error.cause ?? error;
      request.response = toResponse(error);
    },
  };
}
