import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { serviceName } from '../../../lib/app/serviceName.ts';
import { DeletedThread } from '../../../lib/comments/deletedThreads.ts';
import { exampleThread } from '../../../lib/comments/rules/examples.ts';
import { ThreadListing, toListingOptions } from '../../../lib/comments/rules/threadFilters.ts';
import { ListedThreads } from '../../../lib/comments/rules/threadResponses.ts';
import { threadListingByUsers } from '../../../lib/comments/rules/userCalls.ts';
import { toV1Thread, V1ThreadOrNull } from '../../../lib/comments/rules/v1Rows.ts';
import { readThreadPages, toThreadsResponse } from '../../../lib/comments/threadPages.ts';
import { listingCursor } from '../../../lib/content/recordListing.ts';
import { viewerOf } from '../../../lib/content/viewer.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { defineUnpagedTwin } from '../../../lib/http/twin.ts';
import { distinct } from '../../../lib/shared/collections.ts';
import { limits } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

const path = '/v2/commentannotations/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary:
      'Get comment threads with their comments by id, or the threads of a document, a folder or an organization in pages',
    description:
      'Lists threads document by document, the latest thread first. With `annotationIds`, the answer has the order of the ids, and null for an unknown id. A page can end early: continue while `nextPageToken` is not null. A thread has about 1 MB of its comments. If `hasMoreComments` is true, read the others with `/v2/commentannotations/comments/get`. With `deletedAfter`, the answer lists deleted threads instead. A user token reads by `documentId` or `documentIds`. The answer leaves out threads and comments that the user may not see. With an API key, it has all of them. Comments after the first 4 MB of a thread, or 16 MB of the answer, do not make threads `unread`.',
    auth: 'apiKey',
    user: openToUsers(threadListingByUsers),
    kind: 'read',
    input: ThreadListing,
    output: z.object({
      data: ListedThreads,
      deletedAnnotations: z.array(DeletedThread).describe('The deleted threads, with `deletedAfter` only.').optional(),
      nextPageToken: z.string().nullable(),
    }),
    message: ({ data }) =>
      Array.isArray(data) ? 'Annotation(s) fetched successfully.' : 'Annotations fetched successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { threads: readThreadPages, serviceName },
    narrowBy: 'annotationIds',
    impact: 'customers cannot read comment threads',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', statusIds: ['OPEN'] },
      result: { data: [exampleThread], nextPageToken: null },
    },
  },
  async ({ input, caller, deps, now }) => {
    const {
      documentId,
      documentIds,
      folderId,
      annotationIds,
      deletedAfter,
      userId,
      groupByDocumentId = false,
      order = 'desc',
      pageSize = limits.pageSize,
    } = input;
    const { filters, parts } = toListingOptions(input, deps.serviceName);
    const viewer = viewerOf(caller);
    if (annotationIds) {
      const shared = { filters, parts, viewer, userId, now };
      const threads = await deps.threads.findByIds(caller.tenant, input, distinct(annotationIds), shared);
      return { data: toThreadsResponse(threads, groupByDocumentId), nextPageToken: null };
    }
    const listing = await deps.threads.resolveScope(caller.tenant, input);
    const pagesOf = (...query: string[]) => paging(caller, [path, ...query], input, now);
    const { organizationKey } = listing.scope;
    if (deletedAfter !== undefined) {
      const query = JSON.stringify([documentId, folderId, documentIds, deletedAfter]);
      const pages = pagesOf('deleted', organizationKey, query);
      const from = listingCursor.position(pages.after);
      const { values, next } = await deps.threads.listDeleted(listing, { deletedAfter, limit: pageSize, from });
      return { data: [], deletedAnnotations: values, nextPageToken: pages.next(listingCursor.of(next)) };
    }
    const pages = pagesOf(organizationKey, JSON.stringify([documentId, folderId, documentIds, filters, order]));
    const from = listingCursor.position(pages.after);
    const options = { parts, filters, descending: order === 'desc', limit: pageSize, from, viewer, userId, now };
    const { values, next } = await deps.threads.list(listing, options);
    const data = toThreadsResponse(
      values.map((thread) => [thread]),
      groupByDocumentId,
    );
    return { data, nextPageToken: pages.next(listingCursor.of(next)) };
  },
);

export const twin = defineUnpagedTwin(endpoint, {
  narrowBy: 'annotationIds',
  differs: 'but of one document only, without pages and with fewer fields',
  ignored: ['groupByDocumentId', 'deletedAfter', 'userId'],
  required: ['documentId'],
  message: 'Annotations fetched successfully.',
  row: V1ThreadOrNull,
  toRow: toV1Thread,
});

export const handler = toLambdaWithTwin(endpoint, twin);
