import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { deleteDocuments } from '../../../../lib/deletion/deleteDocuments.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { distinct } from '../../../../lib/shared/collections.ts';
import { batchMessage, byId, DocumentResults } from '../../../../lib/shared/results.ts';
import { Id, limits, list } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/documents/delete',
    summary: 'Delete documents with everything in them',
    description:
      'When the call has answered, nothing in the documents can be reached, and their ids can be used again for empty documents. A job removes the stored data from a minute later on. An unknown document fails in its own result (`success: false` with `code`). If one of the documents is being migrated to another id, the whole call is FAILED_PRECONDITION with `details.migrationId`. The call also works for disabled documents. To delete only what one user wrote, call `/v2/users/delete`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({ organizationId: Id, documentIds: list(Id, limits.list) }),
    output: DocumentResults,
    message: batchMessage('document', 'deleted'),
    errors: ['FAILED_PRECONDITION'],
    uses: { organizations: findOrganization, deleteDocuments },
    impact: 'customers cannot delete documents',
    example: {
      data: { organizationId: 'acme', documentIds: ['nda'] },
      result: {
        data: { nda: { success: true, id: 'doc_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', message: 'Deleted Successfully' } },
      },
    },
  },
  async ({ input, caller, deps, now, log }) => {
    const scope = organizationScope(
      caller.tenant,
      await deps.organizations.require(caller.tenant, input.organizationId),
    );
    const documentIds = distinct(input.documentIds);
    const results = await deps.deleteDocuments(scope, documentIds, { now, log });
    return { data: byId(documentIds, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
