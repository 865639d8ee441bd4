import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findDocument } from '../../../lib/content/documentScope.ts';
import { refuseMigrating } from '../../../lib/directory/documents.ts';
import { deleteEditors } from '../../../lib/editors/deleteEditors.ts';
import { ownIds } from '../../../lib/editors/rules/editors.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { distinct } from '../../../lib/shared/collections.ts';
import { batchMessage, byId, ItemOutcome } from '../../../lib/shared/results.ts';
import { Id, limits, list, optional } from '../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/delete',
    summary: 'Delete some or all collaborative editors of a document with their data',
    description:
      'Without `editorIds`, a call deletes up to 500 editors. If `hasMore` is true, send the request again. ' +
      'Each editor has its own result in `data`, by its id. If an id is unknown, its result says so, and the other editors are deleted. Clients that have a deleted editor get NOT_FOUND. ' +
      'An unknown document is NOT_FOUND. Editors of a disabled document can be deleted. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    limitClass: 'expensive',
    work: ({ editorIds }) => ({ items: editorIds?.length ?? limits.list }),
    input: z.object({
      organizationId: Id,
      documentId: Id,
      editorIds: optional(list(Id, limits.list)).describe(
        'The editors to delete, by their ids. By default all of the document.',
      ),
      ...ownIds,
    }),
    output: z.object({
      data: z.record(z.string(), ItemOutcome).describe('The result for each editor, by its id.'),
      hasMore: z.boolean().describe('If true, editors remain. Send the same request again to delete the next ones.'),
    }),
    message: batchMessage('CRDT data', 'deleted', ({ hasMore }) =>
      hasMore ? 'CRDT data deleted. There is more: send the request again.' : 'CRDT data deleted successfully.',
    ),
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { findDocument, editors: deleteEditors },
    impact: 'customers cannot delete data of collaborative editors',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', editorIds: ['summary'] },
      result: { data: { summary: { success: true, message: 'CRDT data deleted.' } }, hasMore: false },
    },
  },
  async ({ input: { editorIds, ...reference }, caller, deps, now }) => {
    const context = await deps.findDocument(caller.tenant, reference);
    refuseMigrating([context.document]);
    const { editorIds: ids, hasMore } = editorIds
      ? { editorIds: distinct(editorIds), hasMore: false }
      : await deps.editors.listIds(context.scope, limits.list);
    return { data: byId(ids, await deps.editors.delete(context, ids, now)), hasMore };
  },
);

export const handler = toLambda(endpoint);
