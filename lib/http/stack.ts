import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { withRetryContext } from '../table/retryOnConflict.ts';
import { ApiError } from '../shared/errors.ts';
import { failureResponse } from './envelope.ts';
import {
  type FunctionName,
  mapErrors,
  type Middleware,
  observe,
  securityHeaders,
  type RequestState,
} from './middlewares.ts';

export type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<APIGatewayProxyStructuredResultV2>;

/** So long before the function's end a request is given up, so that the answer still reaches the caller. */
const EARLY_TIMEOUT_MILLISECONDS = 500;
/** Retries of conflicting writes end this long before the function's end, so that ABORTED is answered and not DEADLINE_EXCEEDED. */
const RETRIES_END_MILLISECONDS = 1_500;

/**
 * The shared stack around a base handler: observation, headers, then the given middlewares, then error mapping, in which
 * `failed` makes the answer.
 */
export function stack(
  name: FunctionName,
  middlewares: readonly Middleware[],
  base: (event: APIGatewayProxyEventV2, state: RequestState) => Promise<APIGatewayProxyStructuredResultV2>,
  failed: (error: ApiError) => APIGatewayProxyStructuredResultV2 = failureResponse,
): Handler {
  // middy hands the base handler the request's context, so the state takes its place there.
  const stateForHandler: Middleware = {
    before: (request) => {
      request.context = request.internal as unknown as Context;
    },
  };
  const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>(
    async (event: APIGatewayProxyEventV2, state: Context) => base(event, state as unknown as RequestState),
    {
      timeoutEarlyInMillis: EARLY_TIMEOUT_MILLISECONDS,
      timeoutEarlyResponse: () => {
        throw new ApiError('DEADLINE_EXCEEDED', 'The request took too long. Its effect may or may not have happened.');
      },
    },
  );
  handler.use([observe(name), securityHeaders(), ...middlewares, stateForHandler, mapErrors(failed)] as never);
  const handle = handler as unknown as Handler;
  return (event, context) =>
    withRetryContext(
      { until: Date.now() + (context.getRemainingTimeInMillis?.() ?? Infinity) - RETRIES_END_MILLISECONDS },
      () => handle(event, context),
    );
}
