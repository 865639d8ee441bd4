import { hash } from 'node:crypto';
import { organizationPartition, type OrganizationScope } from '../directory/organizationScope.ts';
import { usersOfResource } from '../directory/users.ts';
import { isoTime } from '../shared/isoTime.ts';
import { mailboxOf } from '../shared/mailAddress.ts';
import { defineEntity } from '../table/entity.ts';
import { type InvitationKey, InvitationRecord, type InvitationType, KEPT_MILLISECONDS } from './rules.ts';

type Scope = Pick<OrganizationScope, 'tenant' | 'organizationKey'>;

/** The same for all spellings of an address. */
export function recipientOf(email: string): string {
  return hash('sha256', mailboxOf(email) ?? email, 'base64url');
}

export const InvitationEntity = defineEntity({
  type: 'Invitation',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose:
    'An invitation of an e-mail address to an organization, document or folder, for 90 days after the answer or the expiry',
  schema: InvitationRecord,
  pk: (of: Scope) => organizationPartition(of, 'INVITATIONS'),
  sk: (key: InvitationKey) => [key.recipient, key.type, key.resourceKey],
  indexes: {
    gsi1: {
      holds: 'pending invitations of an organization, by type and expiry',
      pk: (of) => (of.answeredAt === undefined ? pendingInvitations(of, of.type) : undefined),
      sk: ({ expiresAt, recipient, resourceKey }) => [isoTime(expiresAt), recipient, resourceKey],
    },
    gsi2: {
      holds: 'invitations to a document or folder, by recipient',
      pk: ({ tenant, type, resourceKey }) => (type === 'org_user' ? undefined : usersOfResource(tenant, resourceKey)),
      sk: ({ recipient }) => [recipient, 'INVITED'],
    },
  },
  expiresAt: ({ answeredAt, expiresAt }) => Math.ceil(((answeredAt ?? expiresAt) + KEPT_MILLISECONDS) / 1000),
});

export function pendingInvitations(scope: Scope, type: InvitationType): string[] {
  return organizationPartition(scope, 'INVITED', type);
}
