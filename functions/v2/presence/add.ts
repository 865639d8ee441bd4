import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { renewPresences } from '../../../lib/presence/renewPresence.ts';
import { defaultLease, PresenceCall, withProfile } from '../../../lib/presence/rules.ts';
import { Succeeded } from '../../../lib/shared/results.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/presence/add',
    summary: 'Show users as present in a document, for the time of their lease',
    description:
      'A user counts as present until the lease ends or `/v2/presence/delete` is called. Call it again before the end. A call for a user who is present renews the lease and resets the fields that are not sent. ' +
      'With a user token, only the user of the token becomes present, under the name and address of the stored profile. A disabled document is FAILED_PRECONDITION.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document', actor: [{ path: 'users', holds: 'users' }] }),
    kind: 'write',
    input: PresenceCall,
    output: z.object({ data: Succeeded }),
    message: 'Presence added successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { renewPresences },
    impact: 'users do not see who is in a document',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        users: [{ userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com', status: 'online' }],
      },
      result: { data: { success: true } },
    },
    cost: { calls: 4, roundTrips: 3, readUnits: 3, writeUnits: 2 },
  },
  async ({ input: { users, ...reference }, caller, deps, now, log }) => {
    const sent = caller.level === 'user' ? users.map((user) => withProfile(user, caller.user.profile)) : users;
    const renewal = { mode: 'add', defaultLease: defaultLease[caller.level], now } as const;
    await deps.renewPresences(caller.tenant, { ...reference, users: sent }, renewal, log);
    return { data: { success: true } };
  },
);

export const handler = toLambda(endpoint);
