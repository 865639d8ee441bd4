import * as z from 'zod';
import type { AuthorizationRequest } from '../app/worker.ts';

const operations = { EVENT_CONNECT: 'connect', EVENT_SUBSCRIBE: 'subscribe', EVENT_PUBLISH: 'publish' } as const;

/** The event that AppSync sends to a Lambda authorizer. The event for a connection has no channel. */
const Event = z.object({
  authorizationToken: z.string().default(''),
  requestContext: z.object({
    operation: z.enum(['EVENT_CONNECT', 'EVENT_SUBSCRIBE', 'EVENT_PUBLISH']),
    channel: z.string().nullish(),
  }),
});

/** Returns the request in an event that AppSync sends to an authorizer. Throws for an event of another shape. */
export function toAuthorizationRequest(event: unknown): AuthorizationRequest {
  const { authorizationToken: token, requestContext } = Event.parse(event);
  return { token, operation: operations[requestContext.operation], channel: requestContext.channel ?? '' };
}
