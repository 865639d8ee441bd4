import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findWritableDocument } from '../../../lib/content/documentScope.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { exampleRecording } from '../../../lib/recordings/example.ts';
import { addRecordings } from '../../../lib/recordings/recordings.ts';
import { NewRecording } from '../../../lib/recordings/rules.ts';
import { distinctBy } from '../../../lib/shared/collections.ts';
import { AnnotationResults, batchMessage, byIdOf } from '../../../lib/shared/results.ts';
import { Id, limits, list } from '../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/recordings/add',
    summary: 'Add recordings to a document',
    description:
      'Stores what you know about a recording, and no file: `attachments` has the URLs. Each new recording causes the event `recorder.done`. An `annotationId` that exists has `success: false` in the answer. ' +
      'Only for API keys. `/v2/recordings/get` returns the recordings.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      organizationId: Id,
      documentId: Id,
      recordings: list(NewRecording, limits.list).describe('The recordings to add.'),
    }),
    output: AnnotationResults,
    message: batchMessage('recording', 'added'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: { findWritableDocument, recordings: addRecordings },
    impact: 'customers cannot add recordings',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        recordings: [exampleRecording],
      },
      result: { data: { walkthrough: { success: true, annotationId: 'walkthrough', message: 'Recording added.' } } },
    },
  },
  async ({ input, caller, deps, now, repeatableId }) => {
    const document = await deps.findWritableDocument(caller.tenant, input);
    const identified = input.recordings.map((recording, number) => ({
      ...recording,
      annotationId: recording.annotationId ?? repeatableId('rec', number),
      generated: recording.annotationId === undefined,
    }));
    const recordings = distinctBy(identified, ({ annotationId }) => annotationId);
    const results = await deps.recordings.add(document, recordings, now);
    return { data: byIdOf(recordings, ({ annotationId }) => annotationId, results) };
  },
);

export const handler = toLambda(endpoint);
