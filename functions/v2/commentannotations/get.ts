import * as z from 'zod';
import { readThreadPages } from '../../../lib/data/content/threadPages.ts';
import { DeletedThread } from '../../../lib/data/content/deletedThreads.ts';
import { walkCursor } from '../../../lib/data/content/walk.ts';
import { dict, distinct } from '../../../lib/dict.ts';
import { OlderThread, toOlderThread } from '../../../lib/domain/content/olderRows.ts';
import { deletedAlone, listingFilters, oneAgentFilter, selectors } from '../../../lib/domain/content/threadFilters.ts';
import { ThreadRow } from '../../../lib/domain/content/threads.ts';
import { Instant } from '../../../lib/domain/content/times.ts';
import { defineEndpoint } from '../../../lib/endpoint.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { defineUnpagedTwin } from '../../../lib/http/twin.ts';
import { Id, limits, list, optional, PageSize, PageToken } from '../../../lib/schema.ts';
import { serviceName } from '../../../lib/serviceName.ts';

const path = '/v2/commentannotations/get';

const oneScope = z.refine<{ documentId?: string | undefined; documentIds?: string[] | undefined; folderId?: string | undefined }>(
  ({ documentId, documentIds, folderId }) => [documentId, documentIds, folderId].filter((scope) => scope !== undefined).length <= 1,
  { path: ['documentId'], error: 'must not be given together with documentIds or folderId, nor these two together' },
);

export const endpoint = defineEndpoint({
  path,
  summary: 'Get comment threads with their comments: by id, or a page of a document\'s, a folder\'s or an organization\'s',
  auth: 'apiKey',
  kind: 'read',
  input: z.object({
    organizationId: Id,
    documentId: optional(Id),
    documentIds: optional(list(Id, limits.readIds)),
    folderId: optional(Id),
    groupByDocumentId: optional(z.boolean()),
    ...selectors,
    ...listingFilters,
    /** Whether rows carry `metadata`; true when left out. */
    includeMetadata: optional(z.boolean()),
    /** Whether rows carry `pageInfo`; true when left out. */
    includePageInfo: optional(z.boolean()),
    /** Lists the threads that were deleted from this time on instead: `deletedAnnotations`. Epoch ms or ISO 8601. */
    deletedAfter: optional(Instant),
    order: optional(z.enum(['asc', 'desc'])),
    pageSize: optional(PageSize),
    pageToken: optional(PageToken),
  }).check(oneScope, oneAgentFilter, deletedAlone),
  output: z.object({ data: z.union([z.array(ThreadRow.nullable()), z.record(z.string(), z.array(ThreadRow))]), deletedAnnotations: z.array(DeletedThread).optional(), nextPageToken: z.string().nullable() }),
  message: ({ data }) => (Array.isArray(data) ? 'Annotation(s) fetched successfully.' : 'Annotations fetched successfully.'),
  errors: ['NOT_FOUND'],
  uses: { threads: readThreadPages, serviceName },
  narrowBy: 'annotationIds',
  impact: 'customers cannot read comment threads',
  example: {
    data: { organizationId: 'acme', documentId: 'nda', statusIds: ['OPEN'] },
    result: {
      data: [{
        annotationId: 'clause-4',
        type: 'comment',
        sourceType: 'rest-api',
        comments: [{
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
        }],
        commentCount: 1,
        context: { access: {}, accessFields: [] },
        visibilityConfig: { type: 'public' },
        locationId: null,
        customList: [],
        subscribedUsers: [],
        unsubscribedUsers: [],
        subscribedGroups: [],
        hasDraftComments: false,
        pageInfo: {},
        hasMoreComments: false,
        from: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
        status: { id: 'OPEN', name: 'Open', type: 'default' },
        involvedUserIds: ['ada'],
        mentionedUserIds: [],
        createdAt: 1767225600000,
        lastUpdated: 1767225600000,
        metadata: { apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', organizationId: 'acme', documentId: 'nda' },
      }],
      nextPageToken: null,
    },
  },
}, async ({ input, caller, deps, now }) => {
  const { documentIds, annotationIds, deletedAfter, groupByDocumentId, order = 'desc', pageSize = limits.pageSize, pageToken: _, includeMetadata = true, includePageInfo = true, ...sent } = input;
  const filters = { ...sent, agentSource: sent.agentSource === deps.serviceName ? 'svc' : sent.agentSource };
  const parts = { metadata: includeMetadata, pageInfo: includePageInfo };
  const grouped = (listed: Awaited<ReturnType<typeof deps.threads.page>>['values']) =>
    dict([...Map.groupBy(listed, ({ documentId }) => documentId)].map(([documentId, some]) => [documentId, some.map(({ thread }) => thread)] as const));

  if (annotationIds) {
    const found = await deps.threads.named(caller.tenant, input, distinct(annotationIds), { filters, parts });
    return { data: groupByDocumentId ? grouped(found.flat()) : found.flatMap((some) => (some.length > 0 ? some.map(({ thread }) => thread) : [null])), nextPageToken: null };
  }
  const scope = await deps.threads.scope(caller.tenant, input);
  if (deletedAfter !== undefined) {
    const deletions = paging(caller, [path, 'deleted', scope.place.organization, JSON.stringify([input.documentId, input.folderId, documentIds, deletedAfter])], input, now);
    const deleted = await deps.threads.deleted(scope, { deletedAfter, limit: pageSize, from: walkCursor.position(deletions.after) });
    return { data: [], deletedAnnotations: deleted.values, nextPageToken: deletions.next(walkCursor.of(deleted.next)) };
  }
  const pages = paging(caller, [path, scope.place.organization, JSON.stringify([filters, documentIds, order])], input, now);
  const { values, next } = await deps.threads.page(scope, { parts, filters, descending: order === 'desc', limit: pageSize, from: walkCursor.position(pages.after) });
  return { data: groupByDocumentId ? grouped(values) : values.map(({ thread }) => thread), nextPageToken: pages.next(walkCursor.of(next)) };
});

export const twin = defineUnpagedTwin(endpoint, {
  narrowBy: 'annotationIds', differs: 'without pages, of one document and with fewer fields', ignored: ['groupByDocumentId', 'deletedAfter'], required: ['documentId'], message: 'Annotations fetched successfully.',
  row: OlderThread.nullable(), toRow: toOlderThread,
});

export const handler = toLambdaWithTwin(endpoint, twin);
