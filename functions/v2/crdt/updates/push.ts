import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { changeEditor, type WriteChange } from '../../../../lib/editors/changeEditor.ts';
import { pushUpdate } from '../../../../lib/editors/pushUpdate.ts';
import { authorFields, Base64, EditorKey, editorName } from '../../../../lib/editors/rules/editors.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/updates/push',
    summary: 'Add an update of Yjs to a collaborative editor',
    description:
      'An update that the editor already has changes nothing and succeeds. An update that needs a missing one waits for it. ' +
      'For an API key, or a user token with the role editor on the document, whose user is stored as the author. ' +
      'An unknown editor or document, or an editor with another key, is NOT_FOUND. An update that is malformed or exceeds a limit is INVALID_ARGUMENT and changes nothing. A disabled document is FAILED_PRECONDITION. After ABORTED, repeat the call.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'editor', on: 'document', actor: [{ path: 'userId', holds: 'userId' }] }),
    kind: 'write',
    limitClass: 'expensive',
    input: z.object({
      ...editorName,
      editorKey: EditorKey,
      update: Base64.meta({
        description:
          'An update of Yjs (format 1) in base64. It must not contain subdocuments, or root types other than the content key. ' +
          'After the update, the editor may have at most 4,194,304 bytes of state, 10,000 clients, 400,000 structs, and 64 KB of updates that wait for missing ones.',
      }),
      ...authorFields,
    }),
    output: z.object({
      data: z.object({
        version: z
          .number()
          .describe(
            'A version of the editor that contains the update. Do not send it to `/v2/crdt/updates/get`, because the client may lack earlier updates of others.',
          ),
      }),
    }),
    message: 'CRDT update added successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { changeEditor },
    impact: 'changes of collaborative editors are not saved',
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
  },
  async ({ input, caller, deps, now, log }) => {
    const change: WriteChange = (editors, context, author) => pushUpdate(editors, context, input, author);
    const { version } = await deps.changeEditor(caller.tenant, input, change, { now, log });
    return { data: { version } };
  },
);

export const handler = toLambda(endpoint);
