import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { serviceName } from '../../../../lib/app/serviceName.ts';
import { writeComments } from '../../../../lib/comments/commentWriter.ts';
import { changeOptionFields, toChangeOptions } from '../../../../lib/comments/rules/changeOptions.ts';
import { requireAgentSource } from '../../../../lib/comments/rules/commentAgents.ts';
import { CommentChange, commentSelectors } from '../../../../lib/comments/rules/commentRequests.ts';
import { CommentResults } from '../../../../lib/comments/rules/commentResponses.ts';
import { commentChangesByUsers, peopleOfCommentUpdate } from '../../../../lib/comments/rules/userCalls.ts';
import { workOfChanges } from '../../../../lib/comments/rules/work.ts';
import { namesRefused, visibleThreads } from '../../../../lib/comments/visibleThreads.ts';
import { findWritableDocument } from '../../../../lib/content/documentScope.ts';
import { viewerOf } from '../../../../lib/content/viewer.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { userMarkup } from '../../../../lib/markup/userMarkup.ts';
import { batchMessage, toItemResults } from '../../../../lib/shared/results.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/commentannotations/comments/update',
    summary: 'Change comments of an annotation: by id, by author, or all',
    description:
      'Without `commentIds` and `userIds`, every comment of the thread changes. Fields that are not sent stay. A comment that cannot be changed has `success: false` in the answer. ' +
      'With a user token, users change only their own comments. ' +
      '`/v2/commentannotations/update` changes the status, the assignee and other fields of the thread.',
    auth: 'apiKey',
    user: openToUsers(commentChangesByUsers, userMarkup),
    kind: 'write',
    work: ({ commentIds, updatedData, triggerNotification }) =>
      workOfChanges({ ids: commentIds, change: updatedData, triggerNotification }),
    input: z.object({
      ...commentSelectors,
      updatedData: CommentChange,
      ...changeOptionFields,
    }),
    output: CommentResults,
    message: batchMessage('comment', 'updated', 'Comment updated successfully.'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findWritableDocument, visibleThreads, comments: writeComments, serviceName },
    impact: 'customers cannot edit comments',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        annotationId: 'clause-4',
        commentIds: [1],
        updatedData: { commentText: 'Three years is too long.' },
      },
      result: { data: { 1: { success: true, id: 1, message: 'Updated successfully' } } },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { annotationId, updatedData } = input;
    requireAgentSource(updatedData, ['updatedData'], deps.serviceName);
    const document = await deps.findWritableDocument(caller.tenant, input);
    const viewer = viewerOf(caller);
    await deps.visibleThreads.require(document, viewer, [input.annotationId], { now });
    const naming = { data: input, fields: peopleOfCommentUpdate, now };
    const refused = await deps.visibleThreads.findRefusals(document, viewer, [annotationId], naming);
    for (const refusal of refused.values()) {
      if (!input.commentIds) throw namesRefused(refusal);
      const { message } = refusal;
      const failed = input.commentIds.map((commentId) => ({ commentId, success: false, message }));
      return { data: toItemResults(failed, ({ commentId }) => commentId) };
    }
    const options = toChangeOptions(input, now, viewer !== undefined);
    const results = await deps.comments.update(document, annotationId, input, updatedData, options);
    return { data: toItemResults(results, ({ commentId }) => commentId) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
