import { ApiError } from '../lib/shared/errors.ts';
import { stack } from '../lib/http/stack.ts';

/** Answers NOT_FOUND to requests that no route matches, such as requests with unknown paths or methods other than POST. */
export const handler = stack(
  { endpoint: 'default', path: '/default', serviceName: () => process.env.SERVICE_NAME ?? '' },
  [],
  (event) => {
    const { method, path } = event.requestContext.http;
    throw new ApiError(
      'NOT_FOUND',
      `There is no endpoint ${method} ${path.slice(0, 200)}. Every endpoint is called with POST; the reference is at GET /docs.`,
    );
  },
);
