import * as z from 'zod';
import { DeletedThread } from '../../../lib/comments/deletedThreads.ts';
import { readThreadPages, toThreadsResponse } from '../../../lib/comments/threadPages.ts';
import { listingCursor } from '../../../lib/content/recordListing.ts';
import { distinct } from '../../../lib/shared/collections.ts';
import { V1Thread, toV1Thread } from '../../../lib/comments/rules/v1Rows.ts';
import { toListingOptions, ThreadListing } from '../../../lib/comments/rules/threadFilters.ts';
import { ThreadRow } from '../../../lib/comments/rules/threads.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { defineUnpagedTwin } from '../../../lib/http/twin.ts';
import { limits } from '../../../lib/shared/schema.ts';
import { serviceName } from '../../../lib/app/serviceName.ts';

const path = '/v2/commentannotations/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary:
      "Get comment threads with their comments: by id, or a page of a document's, a folder's or an organization's",
    auth: 'apiKey',
    kind: 'read',
    input: ThreadListing,
    output: z.object({
      data: z.union([z.array(ThreadRow.nullable()), z.record(z.string(), z.array(ThreadRow))]),
      deletedAnnotations: z.array(DeletedThread).optional(),
      nextPageToken: z.string().nullable(),
    }),
    message: ({ data }) =>
      Array.isArray(data) ? 'Annotation(s) fetched successfully.' : 'Annotations fetched successfully.',
    errors: ['NOT_FOUND'],
    uses: { threads: readThreadPages, serviceName },
    narrowBy: 'annotationIds',
    impact: 'customers cannot read comment threads',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', statusIds: ['OPEN'] },
      result: {
        data: [
          {
            annotationId: 'clause-4',
            annotationNumber: 2,
            annotationIndex: 1,
            type: 'comment',
            sourceType: 'rest-api',
            comments: [
              {
                commentId: 1,
                type: 'text',
                status: 'added',
                commentText: 'Two years is too long.',
                from: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
                isEdited: false,
                reactionAnnotationIds: [],
                createdAt: 1767225600000,
                lastUpdated: '2026-01-01T00:00:00.000Z',
                metadata: { apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', organizationId: 'acme', documentId: 'nda' },
                isDraft: false,
                to: [],
                toOrganizationUserGroup: [],
                taggedUserContacts: [],
                attachments: [],
                recorders: [],
                customList: [],
                isCommentTextAvailable: true,
              },
            ],
            commentCount: 1,
            hasMoreComments: false,
            hasDraftComments: false,
            context: { access: {}, accessFields: [] },
            visibilityConfig: { type: 'public' },
            locationId: null,
            customList: [],
            subscribedUsers: [],
            unsubscribedUsers: [],
            subscribedGroups: [],
            pageInfo: {},
            from: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
            status: { id: 'OPEN', name: 'Open', type: 'default' },
            involvedUserIds: ['ada'],
            mentionedUserIds: [],
            createdAt: 1767225600000,
            lastUpdated: 1767225600000,
            metadata: { apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', organizationId: 'acme', documentId: 'nda' },
          },
        ],
        nextPageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const {
      documentIds,
      annotationIds,
      deletedAfter,
      groupByDocumentId = false,
      order = 'desc',
      pageSize = limits.pageSize,
    } = input;
    const { filters, parts } = toListingOptions(input, deps.serviceName);
    if (annotationIds) {
      const found = await deps.threads.findByIds(caller.tenant, input, distinct(annotationIds), { filters, parts });
      return { data: toThreadsResponse(found, groupByDocumentId), nextPageToken: null };
    }
    const scope = await deps.threads.resolveScope(caller.tenant, input);
    if (deletedAfter !== undefined) {
      const deletions = paging(
        caller,
        [
          path,
          'deleted',
          scope.scope.organizationKey,
          JSON.stringify([input.documentId, input.folderId, documentIds, deletedAfter]),
        ],
        input,
        now,
      );
      const deleted = await deps.threads.listDeleted(scope, {
        deletedAfter,
        limit: pageSize,
        from: listingCursor.position(deletions.after),
      });
      return {
        data: [],
        deletedAnnotations: deleted.values,
        nextPageToken: deletions.next(listingCursor.of(deleted.next)),
      };
    }
    const pages = paging(
      caller,
      [path, scope.scope.organizationKey, JSON.stringify([filters, documentIds, order])],
      input,
      now,
    );
    const { values, next } = await deps.threads.list(scope, {
      parts,
      filters,
      descending: order === 'desc',
      limit: pageSize,
      from: listingCursor.position(pages.after),
    });
    return {
      data: toThreadsResponse(
        values.map((one) => [one]),
        groupByDocumentId,
      ),
      nextPageToken: pages.next(listingCursor.of(next)),
    };
  },
);

export const twin = defineUnpagedTwin(endpoint, {
  narrowBy: 'annotationIds',
  differs: 'without pages, of one document and with fewer fields',
  ignored: ['groupByDocumentId', 'deletedAfter'],
  required: ['documentId'],
  message: 'Annotations fetched successfully.',
  row: V1Thread.nullable(),
  toRow: toV1Thread,
});

export const handler = toLambdaWithTwin(endpoint, twin);
