import * as z from 'zod';
import { findWritableDocument } from '../../../lib/content/documentScope.ts';
import { followChange } from '../../../lib/editors/followChange.ts';
import { replaceEditors } from '../../../lib/editors/replaceEditors.ts';
import { requireFitting, ValueRequest } from '../../../lib/editors/rules/editorValues.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/update',
    summary: 'Replace the data of a collaborative editor by the smallest change, so that connected clients take it up',
    auth: 'apiKey',
    kind: 'write',
    limitClass: 'expensive',
    input: ValueRequest,
    output: z.object({}),
    message: 'CRDT data updated successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findPlace: findWritableDocument, editors: replaceEditors, follow: followChange },
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
    memoryMb: 1024,
  },
  async ({ input, caller, deps, now, log }) => {
    requireFitting(input);
    const at = await deps.findPlace(caller.tenant, input);
    const replaced = await deps.editors.replace(at, input.editorId, input, { ...input, now });
    await deps.follow(at.scope, input.editorId, replaced, now, log);
    return {};
  },
);

export const handler = toLambda(endpoint);
