import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { ApiError } from '../shared/errors.ts';
import { withRetryContext } from '../table/retryOnConflict.ts';
import { failureResponse } from './envelope.ts';
import {
  type FunctionName,
  mapErrors,
  type Middleware,
  observe,
  type RequestState,
  securityHeaders,
} from './middlewares.ts';

export type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<APIGatewayProxyStructuredResultV2>;

/** How many milliseconds before the function's timeout a request ends, so that the caller still gets an answer. */
const EARLY_TIMEOUT_MILLISECONDS = 500;
/**
 * How many milliseconds before the function's timeout retries of conflicting writes end. The answer is then ABORTED,
 * which is more precise than DEADLINE_EXCEEDED.
 */
const RETRIES_END_MILLISECONDS = 1_500;

/**
 * Returns a handler that runs `base` inside middlewares. From the outermost on, they are `observe`, `securityHeaders`,
 * the given `middlewares` and `mapErrors`. `toErrorResponse` makes the answer for an error.
 */
export function stack(
  name: FunctionName,
  middlewares: readonly Middleware[],
  base: (
    event: APIGatewayProxyEventV2,
    state: RequestState,
  ) => APIGatewayProxyStructuredResultV2 | Promise<APIGatewayProxyStructuredResultV2>,
  toErrorResponse: (error: ApiError) => APIGatewayProxyStructuredResultV2 = failureResponse,
): Handler {
  // middy passes only the event and the context to the base handler. The state of the request therefore replaces the context.
  const stateForHandler: Middleware = {
    before: (request) => {
      request.context = request.internal as unknown as Context;
    },
  };
  const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>(
    async (event: APIGatewayProxyEventV2, state: Context, { signal }: { signal: AbortSignal }) =>
      await withRetryContext({ signal }, () => base(event, state as unknown as RequestState)),
    {
      timeoutEarlyInMillis: EARLY_TIMEOUT_MILLISECONDS,
      timeoutEarlyResponse: () => {
        throw new ApiError('DEADLINE_EXCEEDED', 'The request took too long. Its effect may or may not have happened.');
      },
    },
  );
  handler.use([observe(name), securityHeaders(), ...middlewares, stateForHandler, mapErrors(toErrorResponse)] as never);
  const handle = handler as unknown as Handler;
  return (event, context) => {
    if (isPing(event)) return Promise.resolve({ statusCode: 204 });
    // The context that tests pass has no `getRemainingTimeInMillis`.
    const remaining = (context as Partial<Context>).getRemainingTimeInMillis?.() ?? Infinity;
    return withRetryContext({ until: Date.now() + remaining - RETRIES_END_MILLISECONDS }, () => handle(event, context));
  };
}

function isPing(event: object): boolean {
  return 'ping' in event && !('requestContext' in event);
}
