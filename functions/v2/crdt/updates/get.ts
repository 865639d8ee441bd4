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
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document' }),
    kind: 'read',
    limitClass: 'expensive',
    input: z.object({
      ...editorName,
      editorKey: EditorKey,
      /** The state vector of the client. If it is missing, the update in the answer contains the whole state. */
      stateVector: optional(Base64),
      /**
       * The version of the last answer that the client has applied. If it is set, the answer contains only later
       * updates.
       */
      version: optional(Version),
    }),
    output: z.object({
      data: z.object({
        /** The key of the editor. An editor that is deleted and added again under the same id has another key. */
        editorKey: z.string(),
        update: z.string(),
        /** The state vector of the service. Absent if the answer contains only updates after the given `version`. */
        stateVector: z.string().optional(),
        version: z.number(),
      }),
    }),
    message: 'CRDT updates retrieved successfully.',
    errors: ['NOT_FOUND'],
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
