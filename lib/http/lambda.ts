import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type * as z from 'zod';
import { environment, openAll, optionalVariable, type Uses } from '../app/capability.ts';
import {
  type AuthLevel,
  type Caller,
  type EndpointCall,
  endpointId,
  type EndpointOf,
  type TwinOf,
} from '../app/endpoint.ts';
import { routeKey } from '../app/page.ts';
import type { Work } from '../app/rules/limits.ts';
import { sourceOf } from '../net/sourceOf.ts';
import { withoutAddresses } from '../shared/addresses.ts';
import { ANSWER_BYTES, isLongerThan } from '../shared/bytes.ts';
import { type ApiError, errorCatalogue, invalid } from '../shared/errors.ts';
import { derivedId, newId } from '../shared/ids.ts';
import { lazy } from '../shared/lazy.ts';
import { isRateLimited, takesIdempotencyKey } from './capabilities.ts';
import { credentials } from './credentials.ts';
import { declaredOutput } from './declaredOutput.ts';
import { failureResponse, lambdaBody, successBody } from './envelope.ts';
import { idempotency, type IdempotentAnswer } from './idempotency.ts';
import { countListItems } from './listItems.ts';
import {
  authenticate,
  callerId,
  checkUserAccess,
  cleanContent,
  corsHeaders,
  fillActor,
  limitCalls,
  limitWork,
  parseBody,
  type RequestState,
  toApiError,
  validateInput,
} from './middlewares.ts';
import { rateBuckets } from './rateBuckets.ts';
import { type Handler, stack } from './stack.ts';

export function toLambda<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel>(
  endpoint: EndpointOf<I, O, U, A>,
  source: Record<string, string | undefined> = process.env,
): Handler {
  return handlerOf(endpoint, undefined, source);
}

/** The route of a request decides whether the endpoint or its twin answers. */
export function toLambdaWithTwin<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel>(
  endpoint: EndpointOf<I, O, U, A>,
  twin: TwinOf<z.ZodType<z.output<I>>, z.ZodType, U, A>,
  source: Record<string, string | undefined> = process.env,
): Handler {
  return handlerOf(endpoint, twin as unknown as EndpointOf<I, O, U, A>, source);
}

function handlerOf<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel>(
  endpoint: EndpointOf<I, O, U, A>,
  twin: EndpointOf<I, O, U, A> | undefined,
  source: Record<string, string | undefined>,
): Handler {
  const isForTwin = (event: APIGatewayProxyEventV2) => twin !== undefined && event.routeKey === routeKey(twin);
  const endpointOf = (event: APIGatewayProxyEventV2) => (twin && isForTwin(event) ? twin : endpoint);
  const env = lazy(() => environment(source));
  const serviceName = lazy(() => env().SERVICE_NAME);
  const verifier = lazy(() => credentials.open(env()));
  const buckets = lazy(() => rateBuckets.open(env()));
  const idempotencyStore = lazy(() => idempotency.open(env()));
  const deps = lazy(() => openAll(endpoint.uses, env()));
  const { user: rule } = endpoint;
  const user = rule && { rule, checker: lazy(() => rule.checker.open(env())) };
  const limit = isRateLimited(endpoint) && { limitClass: endpoint.limitClass ?? endpoint.kind, buckets };
  const workOf = ({ input, data }: RequestState): Work =>
    endpoint.work?.(input as z.output<I>) ?? { items: countListItems(endpoint.input, data) };
  const isStrict = lazy(() => optionalVariable(env(), 'STRICT_OUTPUT') === 'true');

  const run = async (
    event: APIGatewayProxyEventV2,
    state: RequestState,
    repeatableId?: EndpointCall<never, U, A>['repeatableId'],
  ): Promise<IdempotentAnswer> => {
    const called = endpointOf(event);
    const call: EndpointCall<z.output<I>, U, A> = {
      input: state.input as z.output<I>,
      caller: state.caller as EndpointCall<z.output<I>, U, A>['caller'],
      deps: deps(),
      now: state.startedAt,
      newId: newIdOf(state),
      repeatableId: repeatableId ?? newIdOf(state),
      hasIdempotencyKey: repeatableId !== undefined,
      sourceIp: sourceOf(event.requestContext.http.sourceIp),
      log: state.log,
    };
    const result = await called.run(call);
    const visible = state.caller.level === 'user' ? withoutAddresses(result, state.caller.user.userId) : result;
    const output = declaredOutput(called, visible, {
      isStrict: isStrict(),
      log: state.log,
    }) as z.output<O>;
    const message = typeof called.message === 'function' ? called.message(output, call.input) : called.message;
    const body = successBody(message, output as object);
    const { answerBytes = ANSWER_BYTES } = called;
    const narrowBy = typeof called.narrowBy === 'function' ? called.narrowBy(call.input) : called.narrowBy;
    if (isLongerThan(body, answerBytes)) throw tooLarge(narrowBy, `${answerBytes} bytes`);
    if (!lambdaBody(body)) throw tooLarge(narrowBy, 'Lambda can carry, which escapes its quotes and backslashes');
    return { httpStatus: 200, body };
  };

  return stack(
    {
      endpoint: endpointId(endpoint.path),
      path: endpoint.path,
      serviceName,
      ...(twin && { twin: { path: twin.path, isFor: isForTwin } }),
    },
    [
      ...(user ? [corsHeaders()] : []),
      authenticate({
        level: endpoint.auth,
        user,
        fresh: endpoint.freshCredentials ?? false,
        serviceName,
        credentials: verifier,
        denied: endpoint.fixedMessages?.denied,
      }),
      ...(limit ? [limitCalls(limit)] : []),
      parseBody(endpoint.body ?? 'required'),
      ...(user ? [fillActor(user)] : []),
      ...(user && endpoint.kind === 'write' ? [cleanContent({ ...user, cleanMarkup: user.rule.cleanMarkup })] : []),
      validateInput((event) => endpointOf(event).input, endpoint.fixedMessages),
      ...(user ? [checkUserAccess(user, endpoint.freshCredentials ?? false)] : []),
      ...(limit && endpoint.kind === 'write' ? [limitWork({ ...limit, workOf })] : []),
    ],
    async (event, state) => {
      const key = takesIdempotencyKey(endpoint) ? idempotencyKey(event) : undefined;
      if (key === undefined) return toResult(await run(event, state));
      const { caller, body, startedAt: now } = state;
      const owner = callerId(caller) ?? '';
      const path = idempotencyPath(endpointOf(event).path, caller);
      const authToken = secretOf(event, serviceName(), caller);
      const answer = await idempotencyStore().once({ owner, authToken, path, key, body, now }, (since) =>
        run(event, state, (prefix, number) => derivedId(prefix, since, [owner, path, key, number])).catch(
          (error: unknown) => answerForCallerError(error, state),
        ),
      );
      return toResult(answer, answer.replayed ? { 'idempotency-replayed': 'true' } : {});
    },
  );
}

function newIdOf({ startedAt }: RequestState): (prefix: string) => string {
  return (prefix) => newId(prefix, startedAt);
}

/** Rethrows errors that the caller has not caused, so that they are not stored under the `Idempotency-Key`. */
function answerForCallerError(error: unknown, state: RequestState): IdempotentAnswer {
  const apiError = toApiError(error, state.requestId);
  if (apiError !== error || errorCatalogue[apiError.status].http >= 500) throw error;
  state.errorStatus = apiError.status;
  const { statusCode = 500, body = '' } = failureResponse(apiError);
  return { httpStatus: statusCode, body };
}

function toResult(answer: IdempotentAnswer, headers: Record<string, string> = {}): APIGatewayProxyStructuredResultV2 {
  return { statusCode: answer.httpStatus, headers, ...(lambdaBody(answer.body) ?? { body: answer.body }) };
}

function tooLarge(narrowBy: string | undefined, limit: string): ApiError {
  const hint = narrowBy ? `: narrow it by ${narrowBy}` : '';
  return invalid({
    path: narrowBy ? [narrowBy] : [],
    code: 'answer_too_large',
    message: `The answer would be larger than ${limit}${hint}`,
  });
}

function idempotencyKey(event: APIGatewayProxyEventV2): string | undefined {
  const key = event.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw invalid({
    path: ['Idempotency-Key'],
    code: 'invalid_format',
    message: 'Idempotency-Key must be 1 to 255 visible ASCII characters',
  });
}

function idempotencyPath(path: string, caller: Caller): string {
  return caller.level === 'user' ? `${path}?user=${caller.user.userId}` : path;
}

/** The secret of the verified credentials. Other headers may contain unverified tokens. */
function secretOf(event: APIGatewayProxyEventV2, serviceName: string, caller: Caller): string {
  if (caller.level === 'workspace') return caller.authToken;
  if (caller.level === 'user') return caller.claims.answerKey;
  return event.headers[`x-${serviceName}-auth-token`] ?? '';
}
