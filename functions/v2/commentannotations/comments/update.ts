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
      /** Selects comments by author, among those of commentIds when both are given. Without both the call is about all comments of the annotation. */
      userIds: optional(list(Id, limits.list)),
      updatedData: CommentChange,
      /** Who did it, for events and activities; else the author of each comment. */
      actionUser: optional(ContentUser),
      /** Emits `comment.update` for each comment that the call changes, also when the call is repeated. */
      triggerNotification: optional(z.boolean()),
      triggerActivities: optional(z.boolean()),
    }),
    output: CommentResults,
    message: 'Comment updated successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findPlace: findWritableDocument, comments: writeComments, serviceName },
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
    const at = await deps.findPlace(caller.tenant, input);
    const results = await deps.comments.update(
      at,
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
