import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findDocument } from '../../../lib/content/documentScope.ts';
import { readEditors } from '../../../lib/editors/editorReader.ts';
import { listEditorRecords } from '../../../lib/editors/editorRecords.ts';
import { EditorRecord, ownIds } from '../../../lib/editors/rules/editors.ts';
import { crdtTypes } from '../../../lib/editors/rules/yjs/values.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { Id, optional } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/get',
    summary: 'Get the data of one or all collaborative editors of a document',
    description:
      'Returns editors in the order of their ids. An `editorId` that does not exist gives an empty list, an unknown document NOT_FOUND. ' +
      'For an API key, or a user token with the role viewer on the document. ' +
      'If all editors together are larger than one answer, the call is INVALID_ARGUMENT: send an `editorId`. ' +
      'A client that keeps the editor in sync calls `/v2/crdt/updates/get` instead.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document' }),
    kind: 'read',
    limitClass: 'expensive',
    input: z.object({
      organizationId: Id,
      documentId: Id,
      editorId: optional(Id).describe('The editor to return. By default all editors of the document.'),
      type: optional(z.enum(crdtTypes)).describe('Only editors of this type. By default all types.'),
      ...ownIds,
    }),
    output: z.object({ data: z.array(EditorRecord).describe('The editors in the order of their ids.') }),
    message: 'CRDT data retrieved successfully.',
    fixedMessages: { required: { organizationId: 'Organization ID is required' } },
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { findDocument, editors: readEditors },
    narrowBy: 'editorId',
    impact: 'customers cannot read the data of collaborative editors',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', editorId: 'summary' },
      result: {
        data: [
          {
            data: 'The engine weaves algebraic patterns.',
            id: 'summary',
            lastUpdate: '2026-01-01T00:00:00.000Z',
            lastUpdatedBy: 'ada',
            sessionId: null,
          },
        ],
      },
    },
  },
  async ({ input: { editorId, type, ...reference }, caller, deps }) => {
    const { scope } = await deps.findDocument(caller.tenant, reference);
    return { data: await listEditorRecords(deps.editors, scope, { editorId, type }) };
  },
);

export const handler = toLambda(endpoint);
