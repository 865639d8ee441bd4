import * as z from 'zod';
import { defineEndpoint } from '../../../../../../lib/app/endpoint.ts';
import { changeDocuments } from '../../../../../../lib/directory/documentChanges.ts';
import { findOrganization } from '../../../../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../../../../lib/directory/organizationScope.ts';
import { toLambdaWithTwin } from '../../../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../../../lib/http/twin.ts';
import { distinct } from '../../../../../../lib/shared/collections.ts';
import { batchMessage, byId, outcomeFields } from '../../../../../../lib/shared/results.ts';
import { Id, limits, list } from '../../../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/documents/access/disablestate/update',
    summary: 'Disable or enable documents. Changes in a disabled document are refused',
    description:
      'Additions and changes in a disabled document are refused with FAILED_PRECONDITION; in a batch call, only its item fails. The document can still be read and deleted, and access to it can be revoked. An unknown document fails in its own result (`success: false`). If one of the documents is being migrated to another id, the whole call is FAILED_PRECONDITION with `details.migrationId`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      organizationId: Id,
      documentIds: list(Id, limits.list),
      disabled: z.boolean().describe('True refuses additions and changes in the documents. False allows them again.'),
    }),
    output: z.object({
      data: z
        .record(
          z.string(),
          z.object({
            ...outcomeFields,
            disabled: z.boolean().nullable().describe('The state after the call. Null if the document failed.'),
          }),
        )
        .describe('The result for each document, by the id that you chose.'),
    }),
    message: batchMessage('document disabled state', 'updated', 'Updated disable state for documents successfully.'),
    errors: ['FAILED_PRECONDITION'],
    uses: { organizations: findOrganization, documents: changeDocuments },
    impact: 'customers cannot disable or enable documents',
    example: {
      data: { organizationId: 'acme', documentIds: ['nda'], disabled: true },
      result: { data: { nda: { success: true, disabled: true, message: 'Document disabled state updated.' } } },
    },
  },
  async ({ input, caller, deps, now }) => {
    const organization = await deps.organizations.require(caller.tenant, input.organizationId);
    const documentIds = distinct(input.documentIds);
    const results = await deps.documents.disable(
      organizationScope(caller.tenant, organization),
      documentIds,
      input.disabled,
      now,
    );
    return { data: byId(documentIds, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
