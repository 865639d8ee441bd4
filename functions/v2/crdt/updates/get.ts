import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { findDocument } from '../../../../lib/content/documentScope.ts';
import { readEditors } from '../../../../lib/editors/editorReader.ts';
import { findMissingUpdates } from '../../../../lib/editors/editorUpdates.ts';
import { Base64, EditorKey, editorName, UPDATES_ANSWER_BYTES, Version } from '../../../../lib/editors/rules/editors.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { optional } from '../../../../lib/shared/schema.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/updates/get',
    summary: 'Get the changes of a collaborative editor that a client does not have yet, as one update of Yjs',
    description:
      'The first call of a client sends its `stateVector`, or nothing for the whole state. Apply the `update`, keep `version` and `editorKey`, and send both with the next call, which then reads only later changes. ' +
      'For an API key, or a user token with the role viewer on the document. ' +
      'An unknown document or editor is NOT_FOUND, and so is an editor with another key: start again with an empty Yjs document and without `editorKey`. ' +
      'Send changes with `/v2/crdt/updates/push`.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document' }),
    kind: 'read',
    limitClass: 'expensive',
    input: z.object({
      ...editorName,
      editorKey: EditorKey,
      stateVector: optional(Base64).describe(
        'What the client has: its Yjs state vector, in base64. Without it and without `version`, the answer has the whole state.',
      ),
      version: optional(Version).describe(
        'The version of the last answer that the client has applied. The answer then has only later changes. If the service has merged them, it has all that `stateVector` lacks.',
      ),
    }),
    output: z.object({
      data: z.object({
        editorKey: z
          .string()
          .describe(
            'The key of the editor. An editor that is deleted and added again under the same id has another key.',
          ),
        update: z.string().describe('The changes that the client lacks, as a Yjs update (format 1) in base64.'),
        stateVector: z
          .string()
          .optional()
          .describe(
            'The Yjs state vector of the service, in base64. Absent if the answer has only updates after the given `version`.',
          ),
        version: z.number().describe('Send this version with the next call, after the update is applied.'),
      }),
    }),
    message: 'CRDT updates retrieved successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { findDocument, editors: readEditors },
    answerBytes: UPDATES_ANSWER_BYTES,
    impact: 'clients of collaborative editors get no updates',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', editorId: 'summary', version: 1767225600000000 },
      result: {
        data: { editorKey: 'edt_37kkGJMKKIS19jXVHTBYgMZ07xh', update: 'AAA=', version: 1767225600000000 },
      },
    },
  },
  async ({ input: { organizationId, documentId, editorId, ...clientState }, caller, deps }) => {
    const { scope } = await deps.findDocument(caller.tenant, { organizationId, documentId });
    return { data: await findMissingUpdates(deps.editors, scope, editorId, clientState) };
  },
);

export const handler = toLambda(endpoint);
