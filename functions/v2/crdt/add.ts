import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { createEditor, type WriteChange } from '../../../lib/editors/changeEditor.ts';
import { requireFitting, ValueRequest } from '../../../lib/editors/rules/valueRequest.ts';
import { addEditor } from '../../../lib/editors/writeValue.ts';
import { toLambda } from '../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/add',
    summary: 'Add a collaborative editor to a document, with its data',
    description:
      'Adds the editor to an existing document. The editor is stored as a Yjs document, which clients then change with `/v2/crdt/updates/push`. ' +
      'An editor with this id is ALREADY_EXISTS: call `/v2/crdt/update`. An unknown document is NOT_FOUND, a disabled one FAILED_PRECONDITION. ' +
      'A value that does not fit its type is INVALID_ARGUMENT. So is malformed XML, with its position. The event `crdt.update_data` reports the value about five seconds later. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    limitClass: 'expensive',
    input: ValueRequest,
    output: z.object({}),
    message: 'CRDT data added successfully.',
    fixedMessages: { required: { editorId: 'Editor ID is required.' } },
    errors: ['NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { createEditor },
    impact: 'customers cannot add data of collaborative editors',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        editorId: 'summary',
        type: 'text',
        data: 'The engine weaves algebraic patterns.',
        userId: 'ada',
      },
      result: {},
    },
  },
  async ({ input, caller, deps, now, log }) => {
    requireFitting(input);
    const change: WriteChange = (editors, context, author) => addEditor(editors, context, input, author);
    await deps.createEditor(caller.tenant, input, change, { now, log });
    return {};
  },
);

export const handler = toLambda(endpoint);
