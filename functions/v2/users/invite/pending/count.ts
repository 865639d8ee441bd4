import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { findOrganization } from '../../../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../../../lib/directory/organizationScope.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { countInvitations, MAX_COUNTED_INVITATIONS } from '../../../../../lib/invitations/invitationStore.ts';
import { PendingCountQuery } from '../../../../../lib/invitations/rules.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/users/invite/pending/count',
    summary: 'Count the pending invitations of an organization, of one type',
    description:
      'Expired invitations do not count. Those to a deleted document or folder count until their purge, a minute or more later. An invitation or an answer of the last second can be missing from the count.',
    auth: 'apiKey',
    kind: 'read',
    input: PendingCountQuery,
    output: z.object({
      data: z.object({
        count: z
          .int()
          .describe(
            `The number of pending invitations. Above ${MAX_COUNTED_INVITATIONS}, it is ${MAX_COUNTED_INVITATIONS}.`,
          ),
      }),
    }),
    message: 'Pending invited users count retrieved successfully.',
    errors: [],
    uses: { organizations: findOrganization, invitations: countInvitations },
    impact: 'customers cannot count pending invitations',
    example: { data: { organizationId: 'acme', type: 'org_user' }, result: { data: { count: 3 } } },
    cost: { calls: 2, roundTrips: 1, readUnits: 1.5, writeUnits: 0 },
  },
  async ({ input: { organizationId, type }, caller, deps, now }) => {
    const { content } = await deps.organizations.readWithin(caller.tenant, organizationId, (keys) =>
      deps.invitations.countPending(organizationScope(caller.tenant, keys), type, now),
    );
    return { data: { count: content } };
  },
);

export const handler = toLambda(endpoint);
