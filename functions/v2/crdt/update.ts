import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { changeEditor, type WriteChange } from '../../../lib/editors/changeEditor.ts';
import { requireFitting, ValueRequest } from '../../../lib/editors/rules/valueRequest.ts';
import { updateEditor } from '../../../lib/editors/writeValue.ts';
import { toLambda } from '../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/update',
    summary: 'Replace the data of a collaborative editor. Connected clients get the replacement as a small change',
    description:
      'Writes only the differences, so that edits of connected clients at the same time survive. `type` and `contentKey` must be those of the editor. ' +
      'An unknown editor or document is NOT_FOUND: add the editor with `/v2/crdt/add`. A disabled document is FAILED_PRECONDITION. After ABORTED, because other calls change the editor, repeat the call. ' +
      'The event `crdt.update_data` reports the value about five seconds later. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    limitClass: 'expensive',
    input: ValueRequest,
    output: z.object({}),
    message: 'CRDT data updated successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { changeEditor },
    impact: 'customers cannot replace the data of collaborative editors',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        editorId: 'summary',
        type: 'text',
        data: 'The engine weaves algebraical patterns.',
      },
      result: {},
    },
  },
  async ({ input, caller, deps, now, log }) => {
    requireFitting(input);
    const change: WriteChange = (editors, context, author) => updateEditor(editors, context, input, author);
    await deps.changeEditor(caller.tenant, input, change, { now, log });
    return {};
  },
);

export const handler = toLambda(endpoint);
