import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { exampleInvitation } from '../../../../lib/invitations/example.ts';
import { readInvitations } from '../../../../lib/invitations/readInvitations.ts';
import { InvitationResponse, ReceivedInvitationsQuery, statusOf } from '../../../../lib/invitations/rules.ts';
import { NextToken } from '../../../../lib/shared/schema.ts';

const path = '/v2/users/invitations/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get the invitations of one e-mail address in an organization, by state and type',
    description:
      'For your server, when the owner of the address has signed in: the call does not check whose address it is. A page can be short or empty and still have a `nextPageToken`. Invitations stay for 90 days after the answer or the expiry. Those to a deleted document or folder are left out.',
    auth: 'apiKey',
    kind: 'read',
    input: ReceivedInvitationsQuery,
    output: z.object({
      data: z.array(InvitationResponse).describe('The invitations.'),
      nextPageToken: NextToken,
    }),
    message: 'User invitations retrieved successfully.',
    errors: [],
    uses: { readInvitations },
    narrowBy: 'pageSize',
    impact: 'customers cannot read the invitations of their users',
    example: {
      data: { organizationId: 'acme', email: 'grace@example.com', status: 'PENDING' },
      result: { data: [exampleInvitation], nextPageToken: null },
    },
    cost: { calls: 3, roundTrips: 2, readUnits: 3, writeUnits: 0 },
  },
  async ({ input: { status, type, ...query }, caller, deps, now }) =>
    deps.readInvitations(query, {
      ...{ path, caller, now },
      filter: [status, type],
      isMatch: (invitation) =>
        (status === undefined || statusOf(invitation, now) === status) &&
        (type === undefined || invitation.type === type),
    }),
);

export const handler = toLambda(endpoint);
