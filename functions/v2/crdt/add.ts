import * as z from 'zod';
import { findWritableDocument } from '../../../lib/content/documentScope.ts';
import { followChange } from '../../../lib/editors/followChange.ts';
import { replaceEditors } from '../../../lib/editors/replaceEditors.ts';
import { requireFitting, ValueRequest } from '../../../lib/editors/rules/editorValues.ts';
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
    uses: { findPlace: findWritableDocument, editors: replaceEditors, follow: followChange },
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
    const at = await deps.findPlace(caller.tenant, input);
    const added = await deps.editors.add(at, input.editorId, input, { ...input, now });
    await deps.follow(at.scope, input.editorId, added, now, log);
    return {};
  },
);

export const handler = toLambda(endpoint);
