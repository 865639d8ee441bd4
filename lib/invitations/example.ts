import type { InvitationResponse } from './rules.ts';

export const exampleInvitation: InvitationResponse = {
  organizationId: 'acme',
  email: 'grace@example.com',
  type: 'doc_user',
  status: 'PENDING',
  documentId: 'nda',
  organizationName: 'Acme',
  documentName: 'Non-disclosure agreement',
  invitedBy: { email: 'ada@example.com', userId: 'ada', clientUserId: 'ada' },
  accessRole: 'editor',
  createdAt: 1748252591000,
  invitedAt: 1748252591000,
  expiresAt: 1750844591000,
};
