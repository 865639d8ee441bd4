import * as z from 'zod';
import { findDocument } from '../../../../lib/content/documentScope.ts';
import { readUpdates } from '../../../../lib/editors/editorUpdates.ts';
import { Base64, editorName, UPDATES_ANSWER_BYTES, Version } from '../../../../lib/editors/rules/editors.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { optional } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/crdt/updates/get',
    summary: 'Get what a client of Yjs lacks of a collaborative editor, as an update of Yjs',
    auth: 'apiKey',
    kind: 'read',
    limitClass: 'expensive',
    input: z.object({
      ...editorName,
      /** What the client has; everything is given without it. */
      stateVector: optional(Base64),
      /** The version of the last answer of this endpoint whose update the client has applied: then only what came after it is read. */
      version: optional(Version),
    }),
    output: z.object({
      data: z.object({
        update: z.string(),
        /** What the service has; left out when only what came after a version was read. */
        stateVector: z.string().optional(),
        version: z.number(),
      }),
    }),
    message: 'CRDT updates retrieved successfully.',
    errors: ['NOT_FOUND'],
    uses: { findPlace: findDocument, updates: readUpdates },
    answerBytes: UPDATES_ANSWER_BYTES,
    impact: 'clients of collaborative editors get no updates',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', editorId: 'summary', version: 1767225600000000 },
      result: { data: { update: 'AAA=', version: 1767225600000000 } },
    },
    memoryMb: 1024,
  },
  async ({ input: { organizationId, documentId, editorId, stateVector, version }, caller, deps }) => {
    const { scope: scope } = await deps.findPlace(caller.tenant, { organizationId, documentId });
    return { data: await deps.updates.since(scope, editorId, { stateVector, version }) };
  },
);

export const handler = toLambda(endpoint);
