import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { listingCursor, readListing } from '../../../lib/content/recordListing.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { exampleRecording } from '../../../lib/recordings/example.ts';
import { listRecordings } from '../../../lib/recordings/recordings.ts';
import { RecordingResponse } from '../../../lib/recordings/rules.ts';
import { distinct } from '../../../lib/shared/collections.ts';
import { Id, limits, list, NextToken, optional, PageSize, PageToken } from '../../../lib/shared/schema.ts';

const path = '/v2/recordings/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get recordings by id, or the recordings of a document or an organization in pages',
    description:
      'The newest recording of a document is first. Without a document, recordings are listed document by document. Unknown ids are left out. Continue with the `pageToken` of the answer while it is not null. ' +
      'Only for API keys. `/v2/recordings/add` adds recordings.',
    auth: 'apiKey',
    kind: 'read',
    input: z.object({
      organizationId: Id,
      documentId: optional(Id).describe(
        'The document whose recordings are listed. By default those of the whole organization.',
      ),
      recordingIds: optional(list(Id, limits.readIds)).describe('Only the recordings with these ids.'),
      pageSize: optional(PageSize),
      pageToken: optional(PageToken),
    }),
    output: z.object({ data: z.array(RecordingResponse).describe('The recordings.'), pageToken: NextToken }),
    message: 'Recorder annotations retrieved successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { readListing, recordings: listRecordings },
    narrowBy: 'recordingIds',
    impact: 'customers cannot read recordings',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', recordingIds: ['walkthrough'] },
      result: {
        data: [
          {
            ...exampleRecording,
            type: 'recorder',
            mode: 'floating',
            latestVersion: 1,
            createdAt: 1767225600000,
            lastUpdated: 1767225600000,
            metadata: { apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', organizationId: 'acme', documentId: 'nda' },
          },
        ],
        pageToken: null,
      },
    },
  },
  async ({
    input: { organizationId, documentId, recordingIds, pageSize = limits.pageSize, pageToken },
    caller,
    deps,
    now,
  }) => {
    const names = { apiKey: caller.tenant, organizationId };
    const ids = recordingIds && distinct(recordingIds);
    return deps.readListing(caller.tenant, { organizationId, documentId }, async (listing) => {
      const { organization, document, documents } = listing;
      const pages = paging(
        caller,
        [path, organization.organizationKey, JSON.stringify([document?.scope.documentKey, ids])],
        { pageToken },
        now,
      );
      if (document && ids) return { data: await deps.recordings.findByIds(document, names, ids), pageToken: null };
      const { values, next } = await deps.recordings.list(documents, names, ids, {
        from: listingCursor.position(pages.after),
        limit: pageSize,
      });
      return { data: values, pageToken: pages.next(listingCursor.of(next)) };
    });
  },
);

export const handler = toLambda(endpoint);
