import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findDocument } from '../../../lib/content/documentScope.ts';
import { refuseMigrating } from '../../../lib/directory/documents.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { changePresence } from '../../../lib/presence/presences.ts';
import { PresenceDeletion } from '../../../lib/presence/rules.ts';
import { Succeeded } from '../../../lib/shared/results.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/presence/delete',
    summary: 'End the presence of users in a document',
    description:
      'Other users see at once that these users have left. Ending the presence of a user who is not present succeeds. ' +
      'With a user token, only the presence of the user of the token ends.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document', actor: [{ path: 'userIds', holds: 'userIds' }] }),
    kind: 'write',
    input: PresenceDeletion,
    output: z.object({ data: Succeeded }),
    message: 'Presence deleted successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND', 'ABORTED'],
    uses: { findDocument, presences: changePresence },
    impact: 'users who have left a document are shown until their leases end',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', userIds: ['ada'] },
      result: { data: { success: true } },
    },
    cost: { calls: 4, roundTrips: 3, readUnits: 3, writeUnits: 2 },
  },
  async ({ input: { userIds, ...reference }, caller, deps, now }) => {
    const { scope, document } = await deps.findDocument(caller.tenant, reference);
    refuseMigrating([document]);
    await deps.presences.end(scope, userIds, now);
    return { data: { success: true } };
  },
);

export const handler = toLambda(endpoint);
