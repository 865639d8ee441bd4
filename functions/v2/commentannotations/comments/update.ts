import * as z from 'zod';
import { writeComments } from '../../../../lib/comments/commentWriter.ts';
import { findWritableDocument } from '../../../../lib/content/documentScope.ts';
import { requireAgentSources } from '../../../../lib/comments/rules/commentAgents.ts';
import { CommentChange, CommentId, CommentResults } from '../../../../lib/comments/rules/comments.ts';
import { ContentUser } from '../../../../lib/content/rules/user.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { byId } from '../../../../lib/shared/results.ts';
import { closedObject, Id, limits, list, optional } from '../../../../lib/shared/schema.ts';
import { serviceName } from '../../../../lib/app/serviceName.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/commentannotations/comments/update',
    summary: 'Change comments of an annotation by id or author, or all of them',
    auth: 'apiKey',
    kind: 'write',
    input: closedObject({
      organizationId: Id,
      documentId: Id,
      annotationId: Id,
      commentIds: optional(list(CommentId, limits.list)),
      /** Authors. With commentIds a comment must match both. Without both all comments of the annotation are selected. */
      userIds: optional(list(Id, limits.list)),
      updatedData: CommentChange,
      /** The actor of events and activities; default: the author of each comment. */
      actionUser: optional(ContentUser),
      /** Emits `comment.update` for each changed comment. A repeated call emits again. */
      triggerNotification: optional(z.boolean()),
      triggerActivities: optional(z.boolean()),
    }),
    output: CommentResults,
    message: 'Comment updated successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findWritableDocument, comments: writeComments, serviceName },
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
    const {
      annotationId,
      commentIds,
      userIds,
      updatedData,
      actionUser: actor,
      triggerNotification: notify = false,
      triggerActivities: log = false,
    } = input;
    requireAgentSources([updatedData], deps.serviceName);
    const document = await deps.findWritableDocument(caller.tenant, input);
    const results = await deps.comments.update(
      document,
      annotationId,
      { commentIds: commentIds && [...new Set(commentIds)], userIds },
      updatedData,
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
