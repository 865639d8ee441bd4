import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** How long a browser keeps the answer, in seconds. Browsers limit this value, Chrome to two hours. */
const MAX_AGE_SECONDS = 7_200;

/** The headers that a browser may send with a user token. */
const ALLOWED_HEADERS = 'content-type, authorization, idempotency-key';

/**
 * Answers a CORS preflight. A preflight has no credentials, so every origin gets this answer. The browser may read the answer
 * of the later call only if the API key of the user token allows the origin.
 */
export function answerPreflight({ headers }: APIGatewayProxyEventV2): APIGatewayProxyStructuredResultV2 {
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
