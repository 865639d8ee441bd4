import * as z from 'zod';
import { findWritableDocument } from '../../../../lib/content/documentScope.ts';
import { followChange } from '../../../../lib/editors/followChange.ts';
import { pushToEditors } from '../../../../lib/editors/pushUpdates.ts';
import { Base64, changing, editorName } from '../../../../lib/editors/rules/editors.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/updates/push',
    summary: 'Add an update of Yjs to a collaborative editor',
    auth: 'apiKey',
    kind: 'write',
    limitClass: 'expensive',
    input: z.object({
      ...editorName,
      update: Base64.meta({
        description:
          'An update of Yjs (format 1) in base64: no subdocuments, no other root type than the content key. ' +
          'With the update the editor has at most 4 MB of state, 10,000 clients, 400,000 structs and 64 KB that wait for missing updates.',
      }),
      ...changing,
    }),
    output: z.object({
      data: z.object({
        /** The version since which the editor has the update. Not one to ask `updates/get` with: others can have added updates before it. */
        version: z.number(),
      }),
    }),
    message: 'CRDT update added successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findPlace: findWritableDocument, editors: pushToEditors, follow: followChange },
    impact: 'changes of clients of collaborative editors are not taken',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        editorId: 'summary',
        update: 'AAA=',
        userId: 'ada',
        sessionId: 'tab-1',
      },
      result: { data: { version: 1767225600000000 } },
    },
    memoryMb: 1024,
  },
  async ({ input, caller, deps, now, log }) => {
    const at = await deps.findPlace(caller.tenant, input);
    const pushed = await deps.editors.push(at, input.editorId, input.update, { ...input, now });
    await deps.follow(at.scope, input.editorId, pushed, now, log);
    return { data: { version: pushed.version } };
  },
);

export const handler = toLambda(endpoint);
