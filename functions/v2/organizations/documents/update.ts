import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { findWritableOrganization } from '../../../../lib/content/documentScope.ts';
import { changeDocuments } from '../../../../lib/directory/documentChanges.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { DocumentInput } from '../../../../lib/directory/rules/documents.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { distinctBy } from '../../../../lib/shared/collections.ts';
import { batchMessage, byIdOf, DocumentResults } from '../../../../lib/shared/results.ts';
import { Id, limits, list, optional } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/documents/update',
    summary: 'Change the names, access types and metadata of documents',
    description:
      'Each document changes by the fields that it has. An unknown or disabled document fails in its own result (`success: false` with `code`). A disabled organization refuses the call with FAILED_PRECONDITION. If one of the documents is being migrated to another id, the whole call is FAILED_PRECONDITION with `details.migrationId`. To move documents to another folder, call `/v2/organizations/documents/move`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      organizationId: Id,
      merge: optional(z.boolean()).describe(
        'Whether sent metadata replaces only the fields of the same names. By default it replaces all metadata of the document.',
      ),
      documents: list(DocumentInput, limits.list),
    }),
    output: DocumentResults,
    message: batchMessage('document', 'updated'),
    errors: ['FAILED_PRECONDITION'],
    uses: { findWritableOrganization, documents: changeDocuments },
    impact: 'customers cannot change their documents',
    example: {
      data: {
        organizationId: 'acme',
        documents: [{ documentId: 'nda', documentName: 'NDA, signed', metadata: { version: 4 } }],
      },
      result: {
        data: { nda: { success: true, id: 'doc_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', message: 'Updated Successfully' } },
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const organization = await deps.findWritableOrganization(caller.tenant, input.organizationId);
    const documents = distinctBy(input.documents, ({ documentId }) => documentId);
    const results = await deps.documents.update(
      organizationScope(caller.tenant, organization),
      documents,
      { merge: input.merge ?? false },
      now,
    );
    return { data: byIdOf(documents, ({ documentId }) => documentId, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
