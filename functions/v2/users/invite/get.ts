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
  SentInvitationsQuery,
  statusOf,
  toResponse,
} from '../../../../lib/invitations/rules.ts';
import { NextToken } from '../../../../lib/shared/schema.ts';

const path = '/v2/users/invite/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get the invitations of an organization, its documents and folders',
    description:
      'The order of the rows has no meaning. With `isPendingUsersOnly`, a page can be short or empty and still have a `nextPageToken`. Invitations stay for 90 days after the answer or the expiry. For the invitations of one address by state and type, call `/v2/users/invitations/get`.',
    auth: 'apiKey',
    kind: 'read',
    input: SentInvitationsQuery,
    output: z.object({
      data: z.array(InvitationResponse).describe('The invitations.'),
      nextPageToken: NextToken,
    }),
    message: 'User invites retrieved successfully.',
    errors: [],
    uses: { organizations: findOrganization, invitations: listInvitations },
    narrowBy: 'pageSize',
    impact: 'customers cannot read the invitations of their organizations',
    example: {
      data: { organizationId: 'acme', isPendingUsersOnly: true },
      result: { data: [exampleInvitation], nextPageToken: null },
    },
    cost: { calls: 2, roundTrips: 1, readUnits: 2, writeUnits: 0 },
  },
  async ({ input, caller, deps, now }) => {
    const { organizationId, email, isPendingUsersOnly = false, pageSize = DEFAULT_PAGE_SIZE } = input;
    const { content } = await deps.organizations.readWithin(caller.tenant, organizationId, async (keys) => {
      const scope = organizationScope(caller.tenant, keys);
      const recipient = email === undefined ? '' : recipientOf(email);
      const listing = [path, scope.organizationKey, recipient, String(isPendingUsersOnly)];
      const pages = paging(caller, listing, input, now);
      const { values, next } = await deps.invitations.list(scope, email, {
        limit: pageSize,
        after: pages.after,
        ...(isPendingUsersOnly && { isMatch: (invitation) => statusOf(invitation, now) === 'PENDING' }),
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
