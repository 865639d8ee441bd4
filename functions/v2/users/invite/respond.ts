import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { readDocuments } from '../../../../lib/directory/documents.ts';
import { readFolders } from '../../../../lib/directory/folders/folders.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { requireWritable } from '../../../../lib/directory/requireWritable.ts';
import { requireResource } from '../../../../lib/directory/resources.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { answerInvitations } from '../../../../lib/invitations/invitationStore.ts';
import { InvitationAnswer } from '../../../../lib/invitations/rules.ts';
import { requireTokenOf } from '../../../../lib/userTokens/requireTokenOf.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/users/invite/respond',
    summary: 'Store the answer to an invitation. An accepted one gives the user access',
    description:
      'ACCEPTED needs `user` and a user token of this user. It changes the profile by the sent fields, gives the user the role of the invitation, and puts the user on the contact list: of the organization, which makes the user a member, or of the document or folder alone. An existing role is never lowered. An answer is final: another one, also after the expiry, is FAILED_PRECONDITION, and `details.status` names the state. The same answer again succeeds and changes nothing. In a disabled organization or document, ACCEPTED is FAILED_PRECONDITION, and during a migration of the document every answer. Without an invitation, and for an unknown document or folder, the answer is NOT_FOUND.',
    auth: 'apiKey',
    kind: 'write',
    input: InvitationAnswer,
    output: z.object({ data: z.object({}) }),
    message: 'Invite response recorded successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: {
      organizations: findOrganization,
      documents: readDocuments,
      folders: readFolders,
      requireTokenOf,
      invitations: answerInvitations,
    },
    impact: 'invited users get no access',
    example: {
      data: {
        email: 'grace@example.com',
        organizationId: 'acme',
        type: 'doc_user',
        documentId: 'nda',
        status: 'REJECTED',
      },
      result: { data: {} },
    },
    cost: { calls: 4, roundTrips: 4, readUnits: 3, writeUnits: 2 },
  },
  async ({ input, caller, deps, now }) => {
    const { organizationId, type, email, status, user, authToken } = input;
    const organization = await deps.organizations.require(caller.tenant, organizationId);
    const writable = status === 'ACCEPTED';
    if (writable) requireWritable({ organization });
    const scope = organizationScope(caller.tenant, organization);
    const [resource] = await Promise.all([
      requireResource(deps, scope, input, { writable, unmigrated: true }),
      user && authToken !== undefined ? deps.requireTokenOf(caller.tenant, user.userId, authToken, now) : undefined,
    ]);
    const { userId = '', ...profile } = user ?? {};
    await deps.invitations.answer({ scope, resource, type, email }, status, user && { userId, profile }, now);
    return { data: {} };
  },
);

export const handler = toLambda(endpoint);
