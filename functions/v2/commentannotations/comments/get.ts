import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { type CommentWithReactions, readCommentPages } from '../../../../lib/comments/commentPages.ts';
import { CommentId } from '../../../../lib/comments/rules/commentRequests.ts';
import { ReactedCommentRow, toCommentResponse, toCommentRow } from '../../../../lib/comments/rules/commentResponses.ts';
import { exampleReactedComment } from '../../../../lib/comments/rules/examples.ts';
import { toV1Comment, V1CommentOrNull } from '../../../../lib/comments/rules/v1Rows.ts';
import { visibleThreads } from '../../../../lib/comments/visibleThreads.ts';
import { viewerOf } from '../../../../lib/content/viewer.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { paging } from '../../../../lib/http/paging.ts';
import { defineUnpagedTwin } from '../../../../lib/http/twin.ts';
import { toReactionResponse } from '../../../../lib/reactions/rules.ts';
import { Id, limits, list, optional, pagesOrIds } from '../../../../lib/shared/schema.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

const path = '/v2/commentannotations/comments/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get comments of an annotation by id, or all comments in pages, in the order of their ids',
    description:
      'With `commentIds`, the answer has the order of the ids, and null for an unknown id. A page ends early at about 4 MB: continue while `nextPageToken` is not null. A comment has up to 500 KB of its reactions, and the ids of all. An unknown thread is NOT_FOUND. With a user token, the answer leaves out comments that the user may not see, and an unknown or hidden thread is PERMISSION_DENIED.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document' }),
    kind: 'read',
    input: pagesOrIds('commentIds', {
      organizationId: Id,
      documentId: Id,
      annotationId: Id,
      userIds: optional(list(Id, limits.readIds)).describe('Only comments of these authors.'),
      commentIds: optional(list(CommentId, limits.readIds)),
    }),
    output: z.object({
      data: z.array(ReactedCommentRow.nullable()).describe('The comments.'),
      nextPageToken: z.string().nullable(),
    }),
    message: 'Comments retrieved successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { comments: readCommentPages, visibleThreads },
    narrowBy: 'commentIds',
    impact: 'customers cannot read the comments of an annotation',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', annotationId: 'clause-4', commentIds: [1] },
      result: {
        data: [exampleReactedComment],
        nextPageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { annotationId, userIds, commentIds, pageSize: limit = limits.pageSize } = input;
    const viewer = viewerOf(caller);
    const thread = await deps.comments.findThread(caller.tenant, input, viewer);
    await deps.visibleThreads.require(thread, viewer, [annotationId], { now });
    const names = { apiKey: caller.tenant, organizationId: input.organizationId };
    const toResponse = ({ comment, reactions }: CommentWithReactions) => ({
      ...toCommentRow(toCommentResponse({ ...thread, ...names }, comment)),
      reactionAnnotations: reactions.map((reaction) => toReactionResponse(names, reaction)),
    });
    if (commentIds) {
      const comments = await deps.comments.findByIds(thread, [...new Set(commentIds)], viewer);
      const isSelected = ({ comment }: CommentWithReactions) => userIds?.includes(comment.from.userId) ?? true;
      const data = comments.map((comment) => (comment && isSelected(comment) ? toResponse(comment) : null));
      return { data, nextPageToken: null };
    }
    const query = [thread.scope.documentKey, annotationId, String(thread.key.createdAt), JSON.stringify(userIds ?? [])];
    const pages = paging(caller, [path, ...query], input, now);
    const page = await deps.comments.list(thread, { userIds, limit, after: pages.after, viewer }, toResponse);
    return { data: page.values, nextPageToken: pages.next(page.next) };
  },
);

export const twin = defineUnpagedTwin(endpoint, {
  narrowBy: 'commentIds',
  differs: 'without pages and with fewer fields',
  message: 'Comments(s) retrieved successfully.',
  row: V1CommentOrNull,
  toRow: toV1Comment,
});

export const handler = toLambdaWithTwin(endpoint, twin);
