import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { connectUser, connectUsers } from '../../../lib/live/connectUser.ts';
import { Id } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/live/connect',
    summary: 'Get the address, the token and the channels for live changes of a document',
    description:
      'Only for user tokens. The page opens a WebSocket to AWS AppSync Events at `url`, and subscribes to the three channels with `token`, which lives 15 minutes. Call it again before `expiresAt`, and subscribe to new channels if the answer has others. ' +
      'A user without access to the document is PERMISSION_DENIED. ABORTED means that the access of the user has just changed: send the request again. After a gap, `/v2/live/changes` returns the missed messages.',
    auth: 'user',
    user: openToUsers({ needs: 'viewer', on: 'document' }),
    kind: 'write',
    freshCredentials: true,
    requires: 'live',
    input: z.object({ organizationId: Id, documentId: Id }),
    output: z.object({
      data: z
        .object({
          url: z.string().describe('The address of the WebSocket.'),
          host: z.string().describe('The `host` of the authorization that each message to the WebSocket has.'),
          token: z
            .string()
            .describe('The `Authorization` of each message to the WebSocket. It is valid for nothing else.'),
          expiresAt: z.number().describe('When the token ends, in epoch milliseconds.'),
          channels: z
            .object({
              document: z.string().describe('Changes of the document, presence and live data.'),
              awareness: z.string().describe('What clients publish, such as cursors.'),
              user: z.string().describe('Messages for this user alone, such as notifications.'),
            })
            .describe('The channels to subscribe to.'),
        })
        .describe('What a page needs to connect.'),
    }),
    message: 'Live connection prepared successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'PERMISSION_DENIED', 'ABORTED'],
    uses: { live: connectUsers },
    impact: 'users cannot open live connections, and see changes only after a reload',
    example: {
      data: { organizationId: 'acme', documentId: 'nda' },
      result: {
        data: {
          url: 'wss://example123.appsync-realtime-api.eu-central-1.amazonaws.com/event/realtime',
          host: 'example123.appsync-api.eu-central-1.amazonaws.com',
          token: '1.hR2mZ9f0Tq4vX7…',
          expiresAt: 1_767_226_500_000,
          channels: {
            document: '/live/0c9f…/5b21…/e07a…',
            awareness: '/live/0c9f…/5b21…/e07a…/awareness',
            user: '/user/0c9f…/91d4…',
          },
        },
      },
    },
    cost: { calls: 10, roundTrips: 8, readUnits: 11, writeUnits: 2 },
  },
  async ({ input, caller, deps, now }) => ({ data: await connectUser(deps.live, caller, input, now) }),
);

export const handler = toLambda(endpoint);
