import middy from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import type { ApiError } from '../shared/errors.ts';
import { untilDeadline, withDeadline } from './deadline.ts';
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

/**
 * Runs `base` inside, from the outermost on, `observe`, `securityHeaders`, the given `middlewares` and `mapErrors`. The
 * `before` hooks and `base` share one deadline, which runs from the start of the invocation.
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
  // middy does not pass `request.internal` to the base handler, so the state replaces the context.
  const stateForHandler: Middleware = {
    before: (request) => {
      request.context = request.internal as unknown as Context;
    },
  };
  const handler = middy<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2>(
    async (event: APIGatewayProxyEventV2, state: Context) =>
      untilDeadline(Promise.resolve(base(event, state as unknown as RequestState))),
  );
  handler.use([
    observe(name),
    securityHeaders(),
    ...middlewares.map(endsAtDeadline),
    stateForHandler,
    mapErrors(toErrorResponse),
  ] as never);
  const handle = handler as unknown as Handler;
  return (event, context) =>
    isPing(event) ? Promise.resolve({ statusCode: 204 }) : withDeadline(context, () => handle(event, context));
}

/** The other hooks run when the answer exists. They must give up at the deadline without an error. */
function endsAtDeadline({ before, ...hooks }: Middleware): Middleware {
  if (!before) return hooks;
  return {
    ...hooks,
    before(request) {
      const work: unknown = before(request);
      return work instanceof Promise ? untilDeadline(work) : work;
    },
  };
}

function isPing(event: object): boolean {
  return 'ping' in event && !('requestContext' in event);
}
