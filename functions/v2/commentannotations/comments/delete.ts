import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { writeComments } from '../../../../lib/comments/commentWriter.ts';
import { changeOptionFields, toChangeOptions } from '../../../../lib/comments/rules/changeOptions.ts';
import { commentSelectors } from '../../../../lib/comments/rules/commentRequests.ts';
import { CommentResults } from '../../../../lib/comments/rules/commentResponses.ts';
import { commentDeletionsByUsers } from '../../../../lib/comments/rules/userCalls.ts';
import { workOfChanges } from '../../../../lib/comments/rules/work.ts';
import { visibleThreads } from '../../../../lib/comments/visibleThreads.ts';
import { findWritableDocument } from '../../../../lib/content/documentScope.ts';
import { viewerOf } from '../../../../lib/content/viewer.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { batchMessage, toItemResults } from '../../../../lib/shared/results.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/commentannotations/comments/delete',
    summary:
      'Delete comments of an annotation with their reactions: by id, by author, or all. An annotation without comments is deleted too',
    description:
      'Without `commentIds` and `userIds`, every comment is deleted, and so is the thread. With a user token, users delete only their own comments. ' +
      '`/v2/commentannotations/delete` deletes whole threads.',
    auth: 'apiKey',
    user: openToUsers(commentDeletionsByUsers),
    kind: 'write',
    work: ({ commentIds, triggerNotification }) => workOfChanges({ ids: commentIds, triggerNotification }),
    input: z.object({
      ...commentSelectors,
      ...changeOptionFields,
    }),
    output: CommentResults,
    message: batchMessage('comment', 'deleted', 'Comments(s) deleted successfully.'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findWritableDocument, visibleThreads, comments: writeComments },
    impact: 'customers cannot delete comments',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', annotationId: 'clause-4', commentIds: [2] },
      result: { data: { 2: { success: true, id: 2, message: 'Deleted successfully' } } },
    },
  },
  async ({ input, caller, deps, now }) => {
    const document = await deps.findWritableDocument(caller.tenant, input);
    const viewer = viewerOf(caller);
    await deps.visibleThreads.require(document, viewer, [input.annotationId], { now });
    const results = await deps.comments.delete(
      document,
      input.annotationId,
      input,
      toChangeOptions(input, now, viewer !== undefined),
    );
    return { data: toItemResults(results, ({ commentId }) => commentId) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
