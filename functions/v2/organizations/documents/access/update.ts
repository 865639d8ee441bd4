import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { accessTypes } from '../../../../../lib/app/rules/access.ts';
import { findWritableOrganization } from '../../../../../lib/content/documentScope.ts';
import { changeDocuments } from '../../../../../lib/directory/documentChanges.ts';
import { organizationScope } from '../../../../../lib/directory/organizationScope.ts';
import { toLambdaWithTwin } from '../../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../../lib/http/twin.ts';
import { distinct } from '../../../../../lib/shared/collections.ts';
import { batchMessage, byId, outcomeFields } from '../../../../../lib/shared/results.ts';
import { Id, limits, list } from '../../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/documents/access/update',
    summary: 'Set the access type of documents',
    description:
      'The access type of a document counts while the document is in no folder. In a folder, that of the folder counts. An unknown or disabled document fails in its own result (`success: false`). A disabled organization refuses the call with FAILED_PRECONDITION. If one of the documents is being migrated to another id, the whole call is FAILED_PRECONDITION with `details.migrationId`. To give single users access, call `/v2/auth/permissions/add`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({ organizationId: Id, documentIds: list(Id, limits.list), accessType: z.enum(accessTypes) }),
    output: z.object({
      data: z
        .record(
          z.string(),
          z.object({
            ...outcomeFields,
            accessType: z
              .enum(accessTypes)
              .nullable()
              .describe('The access type after the call. Null if the document failed.'),
          }),
        )
        .describe('The result for each document, by the id that you chose.'),
    }),
    message: batchMessage('document access type', 'updated', 'Updated access for documents successfully.'),
    errors: ['FAILED_PRECONDITION'],
    uses: { findWritableOrganization, documents: changeDocuments },
    impact: 'customers cannot change who can open documents',
    example: {
      data: { organizationId: 'acme', documentIds: ['nda'], accessType: 'restricted' },
      result: { data: { nda: { success: true, accessType: 'restricted', message: 'Document access type updated.' } } },
    },
  },
  async ({ input, caller, deps, now }) => {
    const organization = await deps.findWritableOrganization(caller.tenant, input.organizationId);
    const documentIds = distinct(input.documentIds);
    const results = await deps.documents.updateAccess(
      organizationScope(caller.tenant, organization),
      documentIds,
      input.accessType,
      now,
    );
    return { data: byId(documentIds, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
