import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { exampleInvitation } from '../../../../lib/invitations/example.ts';
import { readInvitations } from '../../../../lib/invitations/readInvitations.ts';
import {
  type Invitation,
  InvitationResponse,
  SentInvitationsQuery,
  statusOf,
} from '../../../../lib/invitations/rules.ts';
import { NextToken } from '../../../../lib/shared/schema.ts';

const path = '/v2/users/invite/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get the invitations of an organization, its documents and folders',
    description:
      'The order of the rows has no meaning. A page can be short or empty and still have a `nextPageToken`. Invitations stay for 90 days after the answer or the expiry. Those to a deleted document or folder are left out. For the invitations of one address by state and type, call `/v2/users/invitations/get`.',
    auth: 'apiKey',
    kind: 'read',
    input: SentInvitationsQuery,
    output: z.object({
      data: z.array(InvitationResponse).describe('The invitations.'),
      nextPageToken: NextToken,
    }),
    message: 'User invites retrieved successfully.',
    errors: [],
    uses: { readInvitations },
    narrowBy: 'pageSize',
    impact: 'customers cannot read the invitations of their organizations',
    example: {
      data: { organizationId: 'acme', isPendingUsersOnly: true },
      result: { data: [exampleInvitation], nextPageToken: null },
    },
    cost: { calls: 3, roundTrips: 2, readUnits: 3, writeUnits: 0 },
  },
  async ({ input, caller, deps, now }) => {
    const { isPendingUsersOnly = false, ...query } = input;
    const isPending = (invitation: Invitation) => statusOf(invitation, now) === 'PENDING';
    return deps.readInvitations(query, {
      ...{ path, caller, now },
      filter: [isPendingUsersOnly],
      isMatch: isPendingUsersOnly ? isPending : undefined,
    });
  },
);

export const handler = toLambda(endpoint);
