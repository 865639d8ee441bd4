import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { ensureOrganization } from '../../../../lib/content/documentScope.ts';
import { writeDocuments } from '../../../../lib/directory/documents.ts';
import { folderBoundaries } from '../../../../lib/directory/folderBoundaries.ts';
import { writeFolders } from '../../../../lib/directory/folders/folders.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { DocumentInput } from '../../../../lib/directory/rules/documents.ts';
import { rootFolderId } from '../../../../lib/directory/rules/folders.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { distinctBy } from '../../../../lib/shared/collections.ts';
import { batchMessage, byIdOf, DocumentResults } from '../../../../lib/shared/results.ts';
import { Id, limits, list, optional } from '../../../../lib/shared/schema.ts';
import { newDocumentAccess } from '../../../../lib/workspaces/configs/apiKeyConfig.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/organizations/documents/add',
    summary: 'Add documents to an organization or to one of its folders',
    description:
      'A document that exists already fails in its own result (`success: false` with `code`) and stays as it is. An unknown folder is NOT_FOUND, unless `createFolder` is true. A disabled organization refuses the call with FAILED_PRECONDITION. Other calls create a missing document if they have `createDocument: true`. To change a document, call `/v2/organizations/documents/update`. While users are being removed from a folder, a call that would put a document which exists inside it elsewhere, or the reverse, is ABORTED with `retry-after`.',
    auth: 'apiKey',
    kind: 'write',
    input: z
      .object({
        organizationId: Id,
        createOrganization: optional(z.boolean()),
        folderId: optional(Id).describe(
          'The folder into which the documents are put. By default, or with `root`, they are at the top level.',
        ),
        createFolder: optional(z.boolean()),
        documents: list(DocumentInput, limits.list),
      })
      .check(
        z.refine(({ createFolder, folderId }) => !createFolder || folderId !== undefined, {
          path: ['folderId'],
          error: 'is required if createFolder is true, because it names the folder that the call creates',
        }),
      ),
    output: DocumentResults,
    message: batchMessage('document', 'added'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: {
      ensureOrganization,
      boundaries: folderBoundaries,
      folders: writeFolders,
      documents: writeDocuments,
      newDocumentAccess,
    },
    impact: 'customers cannot add documents',
    example: {
      data: {
        organizationId: 'acme',
        folderId: 'contracts',
        documents: [{ documentId: 'nda', documentName: 'NDA', metadata: { version: 3 } }],
      },
      result: {
        data: { nda: { success: true, id: 'doc_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', message: 'Added Successfully' } },
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const folderId = input.folderId === rootFolderId ? undefined : input.folderId;
    const [organization, accessType] = await Promise.all([
      deps.ensureOrganization(caller.tenant, { ...input, folderId }, now),
      deps.newDocumentAccess(caller.tenant),
    ]);
    const scope = organizationScope(caller.tenant, organization);
    const ensureFolder = async () =>
      folderId === undefined ? undefined : deps.folders.ensure(scope, folderId, input.createFolder ?? false, now);
    const documents = distinctBy(input.documents, ({ documentId }) => documentId).map(
      ({ documentId, documentName, accessType: ownAccess, metadata }) => ({
        documentId,
        documentName,
        accessType: ownAccess,
        // `{}` means no metadata, as in an update.
        metadata: metadata && Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : undefined,
      }),
    );
    const documentIds = documents.map(({ documentId }) => documentId);
    await deps.boundaries.refuseDocuments(scope, documentIds, folderId, now);
    const results = await deps.documents.add(scope, documents, { accessType, ensureFolder }, now);
    return { data: byIdOf(documents, ({ documentId }) => documentId, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
