import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { renewPresences } from '../../../lib/presence/renewPresence.ts';
import { defaultLease, PresenceCall, withProfile } from '../../../lib/presence/rules.ts';
import { Succeeded } from '../../../lib/shared/results.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/presence/update',
    summary: 'Change the presence of users in a document, and renew their leases',
    description:
      'Changes only the fields that are sent, and renews the leases. A user who is not present is added, as by `/v2/presence/add`. ' +
      'With a user token, only the presence of the user of the token changes.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document', actor: [{ path: 'users', holds: 'users' }] }),
    kind: 'write',
    input: PresenceCall,
    output: z.object({ data: Succeeded }),
    message: 'Presence updated successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { renewPresences },
    impact: 'users do not see who is in a document, and presences expire',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        users: [{ userId: 'ada', status: 'away' }],
      },
      result: { data: { success: true } },
    },
    cost: { calls: 4, roundTrips: 3, readUnits: 3, writeUnits: 1 },
  },
  async ({ input: { users, ...reference }, caller, deps, now, log }) => {
    const sent = caller.level === 'user' ? users.map((user) => withProfile(user, caller.user.profile)) : users;
    const renewal = { mode: 'update', defaultLease: defaultLease[caller.level], now } as const;
    await deps.renewPresences(caller.tenant, { ...reference, users: sent }, renewal, log);
    return { data: { success: true } };
  },
);

export const handler = toLambda(endpoint);
