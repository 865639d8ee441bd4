import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { paging } from '../../../../lib/http/paging.ts';
import { recipientOf } from '../../../../lib/invitations/entities.ts';
import { exampleInvitation } from '../../../../lib/invitations/example.ts';
import { listInvitations } from '../../../../lib/invitations/invitationStore.ts';
import {
  DEFAULT_PAGE_SIZE,
  InvitationResponse,
  ReceivedInvitationsQuery,
  statusOf,
  toResponse,
} from '../../../../lib/invitations/rules.ts';
import { NextToken } from '../../../../lib/shared/schema.ts';

const path = '/v2/users/invitations/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get the invitations of one e-mail address in an organization, by state and type',
    description:
      'For your server, when the owner of the address has signed in: the call does not check whose address it is. With `status` or `type`, a page can be short or empty and still have a `nextPageToken`. Invitations stay for 90 days after the answer or the expiry.',
    auth: 'apiKey',
    kind: 'read',
    input: ReceivedInvitationsQuery,
    output: z.object({
      data: z.array(InvitationResponse).describe('The invitations.'),
      nextPageToken: NextToken,
    }),
    message: 'User invitations retrieved successfully.',
    errors: [],
    uses: { organizations: findOrganization, invitations: listInvitations },
    narrowBy: 'pageSize',
    impact: 'customers cannot read the invitations of their users',
    example: {
      data: { organizationId: 'acme', email: 'grace@example.com', status: 'PENDING' },
      result: { data: [exampleInvitation], nextPageToken: null },
    },
    cost: { calls: 2, roundTrips: 1, readUnits: 2, writeUnits: 0 },
  },
  async ({ input, caller, deps, now }) => {
    const { organizationId, email, status, type, pageSize = DEFAULT_PAGE_SIZE } = input;
    const { content } = await deps.organizations.readWithin(caller.tenant, organizationId, async (keys) => {
      const scope = organizationScope(caller.tenant, keys);
      const listing = [path, scope.organizationKey, recipientOf(email), status ?? '', type ?? ''];
      const pages = paging(caller, listing, input, now);
      const { values, next } = await deps.invitations.list(scope, email, {
        limit: pageSize,
        after: pages.after,
        isMatch: (invitation) =>
          (status === undefined || statusOf(invitation, now) === status) &&
          (type === undefined || invitation.type === type),
      });
      return {
        data: values.map((invitation) => toResponse(invitation, organizationId, now)),
        nextPageToken: pages.next(next),
      };
    });
    return content;
  },
);

export const handler = toLambda(endpoint);
