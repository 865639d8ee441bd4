import * as z from 'zod';
import { writeComments } from '../../../../lib/comments/commentWriter.ts';
import { findWritableDocument } from '../../../../lib/content/documentScope.ts';
import { CommentId, CommentResults } from '../../../../lib/comments/rules/comments.ts';
import { ContentUser } from '../../../../lib/content/rules/user.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { byId } from '../../../../lib/shared/results.ts';
import { closedObject, Id, limits, list, optional } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/commentannotations/comments/delete',
    summary:
      'Delete comments of an annotation by id or author, or all of them, with their reactions; an annotation without comments is deleted too',
    auth: 'apiKey',
    kind: 'write',
    input: closedObject({
      organizationId: Id,
      documentId: Id,
      annotationId: Id,
      commentIds: optional(list(CommentId, limits.list)),
      /** Authors. With commentIds a comment must match both. Without both all comments of the annotation are selected. */
      userIds: optional(list(Id, limits.list)),
      /** The actor of events and activities; default: the author of each comment. */
      actionUser: optional(ContentUser),
      triggerNotification: optional(z.boolean()),
      triggerActivities: optional(z.boolean()),
    }),
    output: CommentResults,
    message: 'Comments(s) deleted successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findWritableDocument, comments: writeComments },
    impact: 'customers cannot delete comments',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', annotationId: 'clause-4', commentIds: [2] },
      result: { data: { 2: { success: true, id: 2, message: 'Deleted successfully' } } },
    },
  },
  async ({ input, caller, deps, now }) => {
    const {
      annotationId,
      commentIds,
      userIds,
      actionUser: actor,
      triggerNotification: notify = false,
      triggerActivities: log = false,
    } = input;
    const document = await deps.findWritableDocument(caller.tenant, input);
    const results = await deps.comments.delete(
      document,
      annotationId,
      { commentIds: commentIds && [...new Set(commentIds)], userIds },
      { actor, notify, log, now },
    );
    return {
      data: byId(
        results.map(({ commentId }) => String(commentId)),
        results.map(({ commentId: id, success, message }) => ({ success, id, message })),
      ),
    };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
