import type { ApiKeyCaller, UserCaller } from '../app/callers.ts';
import { type Capability, combine } from '../app/capability.ts';
import { findOrganization } from '../directory/organizations.ts';
import { organizationScope } from '../directory/organizationScope.ts';
import { paging } from '../http/paging.ts';
import { recipientOf } from './entities.ts';
import { listInvitations } from './invitationStore.ts';
import { type Invitation, type InvitationResponse, toResponse } from './rules.ts';

const DEFAULT_PAGE_SIZE = 100;

interface InvitationQuery {
  readonly organizationId: string;
  readonly email?: string | undefined;
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
}

interface InvitationListing {
  readonly path: string;
  readonly caller: ApiKeyCaller | UserCaller;
  readonly now: number;
  /** What `isMatch` depends on, because a page token works only with the same filter. */
  readonly filter: readonly unknown[];
  readonly isMatch: ((invitation: Invitation) => boolean) | undefined;
}

type ReadInvitations = (
  query: InvitationQuery,
  listing: InvitationListing,
) => Promise<{ readonly data: InvitationResponse[]; readonly nextPageToken: string | null }>;

export const readInvitations: Capability<ReadInvitations> = /* @__PURE__ */ combine(
  { organizations: findOrganization, invitations: listInvitations },
  ({ organizations, invitations }): ReadInvitations =>
    async (query, { path, caller, now, filter, isMatch }) => {
      const { organizationId, email, pageSize = DEFAULT_PAGE_SIZE } = query;
      const { content } = await organizations.readWithin(caller.tenant, organizationId, async (keys) => {
        const scope = organizationScope(caller.tenant, keys);
        const recipient = email === undefined ? null : recipientOf(email);
        const listing = [path, scope.organizationKey, JSON.stringify([recipient, ...filter])];
        const pages = paging(caller, listing, query, now);
        const options = { limit: pageSize, after: pages.after, isMatch };
        const { values, next } = await invitations.list(scope, email, options);
        return {
          data: values.map((invitation) => toResponse(invitation, organizationId, now)),
          nextPageToken: pages.next(next),
        };
      });
      return content;
    },
);
