import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { PREFLIGHT_ROUTE } from '../lib/app/page.ts';
import { stack } from '../lib/http/stack.ts';
import { ApiError } from '../lib/shared/errors.ts';

/** API Gateway calls this function for CORS preflights and for requests without a route. */
export const handler = stack(
  { endpoint: 'default', path: '/default', serviceName: () => process.env.SERVICE_NAME ?? '' },
  [],
  (event) => {
    if (event.routeKey === PREFLIGHT_ROUTE) return answerPreflight(event);
    const { method, path } = event.requestContext.http;
    throw new ApiError(
      'NOT_FOUND',
      `There is no endpoint ${method} ${path.slice(0, 200)}. Every endpoint is called with POST; the reference is at GET /docs.`,
    );
  },
);

/** Chrome caches the answer of a preflight for at most two hours. */
const MAX_AGE_SECONDS = 7_200;

const ALLOWED_HEADERS = 'content-type, authorization, idempotency-key';

/**
 * A preflight has no credentials, so every origin gets this answer. Scripts can read the answer of the call that
 * follows only if that answer allows their origin.
 */
function answerPreflight({ headers }: APIGatewayProxyEventV2): APIGatewayProxyStructuredResultV2 {
  return {
    statusCode: 204,
    headers: {
      ...(headers.origin !== undefined && { 'access-control-allow-origin': headers.origin }),
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': ALLOWED_HEADERS,
      'access-control-max-age': String(MAX_AGE_SECONDS),
      vary: 'origin',
    },
    body: '',
  };
}
