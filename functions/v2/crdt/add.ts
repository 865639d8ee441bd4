import * as z from 'zod';
import { findWritableDocument } from '../../../lib/content/documentScope.ts';
import { changeEditors } from '../../../lib/editors/editorLog.ts';
import { finishChange } from '../../../lib/editors/finishChange.ts';
import { requireFitting, ValueRequest } from '../../../lib/editors/rules/valueRequest.ts';
import { addEditor } from '../../../lib/editors/writeValue.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/add',
    summary: 'Add a collaborative editor to a document, with its data',
    auth: 'apiKey',
    kind: 'write',
    limitClass: 'expensive',
    input: ValueRequest,
    output: z.object({}),
    message: 'CRDT data added successfully.',
    fixedMessages: { required: { editorId: 'Editor ID is required.' } },
    errors: ['NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findDocument: findWritableDocument, editors: changeEditors, finishChange },
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
    memoryMb: 1024,
  },
  async ({ input, caller, deps, now, log }) => {
    requireFitting(input);
    const context = await deps.findDocument(caller.tenant, input);
    const changed = await addEditor(deps.editors, context, input, { ...input, now });
    await deps.finishChange(context.scope, input.editorId, changed, now, log);
    return {};
  },
);

export const handler = toLambda(endpoint);
