import { ApiError } from '../lib/shared/errors.ts';
import { stack } from '../lib/http/stack.ts';

/** Answers what no route matches: unknown paths and methods other than POST, as NOT_FOUND in the envelope. */
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
