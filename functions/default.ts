import { PREFLIGHT_ROUTE } from '../lib/app/page.ts';
import { answerPreflight } from '../lib/http/preflight.ts';
import { ApiError } from '../lib/shared/errors.ts';
import { stack } from '../lib/http/stack.ts';

/**
 * Answers CORS preflights. Answers NOT_FOUND to requests without a route, such as unknown paths and methods other than
 * POST.
 */
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
