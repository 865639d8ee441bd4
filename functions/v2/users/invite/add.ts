import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { findWritableOrganization } from '../../../../lib/content/documentScope.ts';
import { readDocuments } from '../../../../lib/directory/documents.ts';
import { readFolders } from '../../../../lib/directory/folders/folders.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { requireResource } from '../../../../lib/directory/resources.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { requireAcceptUrl } from '../../../../lib/invitations/acceptUrls.ts';
import { writeInvitations } from '../../../../lib/invitations/invitationStore.ts';
import { InvitationRequest } from '../../../../lib/invitations/rules.ts';
import { invitationMails } from '../../../../lib/mail/invitationMails.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/users/invite/add',
    summary: 'Invite an e-mail address to an organization, or to one of its documents or folders',
    description:
      'The invitation is `PENDING` for 30 days. A repeated call renews it: the new call replaces all fields, and the 30 days begin again. After an answer or the expiry, a call begins a new invitation. With `useEmailService` of `/v2/workspace/emailconfig/update`, the address gets a mail, at most one every 10 minutes for the same invitation. A mail that was not sent does not count. To store the answer, call `/v2/users/invite/respond`. An unknown document or folder is NOT_FOUND, a disabled organization or document FAILED_PRECONDITION.',
    auth: 'apiKey',
    kind: 'write',
    input: InvitationRequest,
    output: z.object({ data: z.object({}) }),
    message: 'User invite created successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: {
      organization: findWritableOrganization,
      documents: readDocuments,
      folders: readFolders,
      requireAcceptUrl,
      invitations: writeInvitations,
      mails: invitationMails,
    },
    impact: 'customers cannot invite users',
    example: {
      data: {
        email: 'grace@example.com',
        organizationId: 'acme',
        type: 'doc_user',
        documentId: 'nda',
        organizationName: 'Acme',
        documentName: 'Non-disclosure agreement',
        invitedBy: { email: 'ada@example.com', userId: 'ada', clientUserId: 'ada' },
        accessRole: 'editor',
      },
      result: { data: {} },
    },
    cost: { calls: 5, roundTrips: 4, readUnits: 5, writeUnits: 7 },
  },
  async ({ input: { organizationId, type, email, documentId, folderId, ...content }, caller, deps, now, log }) => {
    const [organization, mails] = await Promise.all([
      deps.organization(caller.tenant, organizationId),
      deps.mails.open(caller.tenant, organizationId, now),
      deps.requireAcceptUrl(caller.tenant, content.acceptUrl),
    ]);
    const scope = organizationScope(caller.tenant, organization);
    const resource = await requireResource(deps, scope, { documentId, folderId }, { writable: true });
    const sent = { email, documentId, folderId, ...content };
    const mail = await deps.invitations.invite({ scope, resource, type, email }, sent, now, mails);
    if (mail) await deps.mails.send(mail, log);
    return { data: {} };
  },
);

export const handler = toLambda(endpoint);
