import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findDocument } from '../../../lib/content/documentScope.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { listPresence } from '../../../lib/presence/presences.ts';
import { PresenceResponse } from '../../../lib/presence/rules.ts';
import { Id } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/presence/get',
    summary: 'Get the users who are present in a document',
    description:
      'Returns the users whose lease has not ended. Every user who may read the document can call it with a user token. ' +
      '`/v2/live/connect` delivers later changes at once.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document' }),
    kind: 'read',
    input: z.object({ organizationId: Id, documentId: Id }),
    output: z.object({
      data: z
        .object({ users: z.array(PresenceResponse).describe('The users, each once.') })
        .describe('Who is present.'),
    }),
    message: 'Presence retrieved successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { findDocument, presences: listPresence },
    impact: 'users do not see who is in a document when they open it',
    example: {
      data: { organizationId: 'acme', documentId: 'nda' },
      result: {
        data: {
          users: [
            {
              userId: 'ada',
              name: 'Ada Lovelace',
              email: 'ada@example.com',
              status: 'online',
              leaseEndsAt: 1767226200000,
              changedAt: 1767225600000,
            },
          ],
        },
      },
    },
    cost: { calls: 3, roundTrips: 2, readUnits: 3, writeUnits: 0 },
  },
  async ({ input, caller, deps, now }) => {
    const { scope } = await deps.findDocument(caller.tenant, input);
    return { data: { users: await deps.presences.list(scope, now) } };
  },
);

export const handler = toLambda(endpoint);
