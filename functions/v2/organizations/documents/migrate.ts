import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { findWritableOrganization } from '../../../../lib/content/documentScope.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { startMigration } from '../../../../lib/migration/documentMigrations.ts';
import { Id } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/documents/migrate',
    summary: 'Give a document, with all its content, another id',
    description:
      'A job changes the id in about a minute, or longer for a large document. Until it ends, the old id can be read, and its records can already name the new id. Changes under either id, and reads of the new one, are FAILED_PRECONDITION with `details.migrationId` and the `details.documentId` that was sent. Repeat such a call with another `Idempotency-Key`. `/v2/organizations/documents/add` of the new id fails in its own result, with `already-exists`. Then the old id is NOT_FOUND and free for another document. Grants and user tokens open the document under the new id. Open pages get `system.migrated`. Events from before keep the old id. ' +
      'An unknown document is NOT_FOUND. If the new id belongs to a document, the answer is ALREADY_EXISTS. The same call returns the running migration, and continues a failed one. After the end it is NOT_FOUND: repeat it with the same `Idempotency-Key`, or read `/v2/organizations/documents/migrate/status`.',
    auth: 'apiKey',
    kind: 'write',
    input: z
      .object({
        organizationId: Id,
        documentId: Id.describe('The document, by its present id.'),
        newDocumentId: Id.describe('The id that the document gets. No document may have it.'),
      })
      .refine(({ documentId, newDocumentId }) => documentId !== newDocumentId, {
        path: ['newDocumentId'],
        message: 'newDocumentId must differ from documentId',
      }),
    output: z.object({
      data: z.object({
        migrationId: z.string().describe('For `/v2/organizations/documents/migrate/status`.'),
      }),
    }),
    message: 'Document migration started successfully.',
    errors: ['NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findWritableOrganization, startMigration },
    impact: 'customers cannot give documents other ids',
    example: {
      data: { organizationId: 'acme', documentId: 'nda-draft', newDocumentId: 'nda-2026' },
      result: { data: { migrationId: 'mig_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' } },
    },
    cost: { calls: 3, roundTrips: 3, readUnits: 3, writeUnits: 11 },
  },
  async ({ input: { organizationId, documentId, newDocumentId }, caller, deps, now, repeatableId, log }) => {
    const organization = await deps.findWritableOrganization(caller.tenant, organizationId);
    const migrationId = await deps.startMigration({
      scope: organizationScope(caller.tenant, organization),
      documentId,
      newDocumentId,
      migrationId: repeatableId('mig', 0),
      now,
      log,
    });
    return { data: { migrationId } };
  },
);

export const handler = toLambda(endpoint);
