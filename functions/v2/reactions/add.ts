import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { addReactions } from '../../../lib/comments/reactionWriter.ts';
import { CommentId } from '../../../lib/comments/rules/commentRequests.ts';
import { visibleReactions } from '../../../lib/comments/visibleReactions.ts';
import { commentFilter } from '../../../lib/comments/visibleThreads.ts';
import { findWritableDocument } from '../../../lib/content/documentScope.ts';
import { ContentUser } from '../../../lib/content/rules/contentUser.ts';
import { Location } from '../../../lib/content/rules/location.ts';
import { viewerOf } from '../../../lib/content/viewer.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { groupEntries } from '../../../lib/reactions/rules.ts';
import { AnnotationResults, batchMessage, byIdOf } from '../../../lib/shared/results.ts';
import { Id, limits, list, Name, optional } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

const Entry = z
  .object({
    annotationId: optional(Id).describe('The reaction. By default a new one, also if there is one with the same icon.'),
    icon: Name.describe('The emoji, or the name of a picture of yours. Icons are compared as they are.'),
    from: ContentUser.describe('The user who reacts. With a user token always the user of the token.'),
    commentAnnotationId: optional(Id).describe(
      'The thread of the comment. Without it, a new reaction belongs to the document.',
    ),
    commentId: optional(CommentId).describe('The comment in the thread, by its number.'),
    location: optional(Location).describe('Where in the document the reaction is. By default where the thread is.'),
  })
  .check(
    z.refine(
      ({ commentAnnotationId, commentId }) => (commentAnnotationId === undefined) === (commentId === undefined),
      {
        path: ['commentId'],
        error: 'must be present if commentAnnotationId is present, and absent otherwise',
      },
    ),
  );

export const endpoint = defineEndpoint(
  {
    path: '/v2/reactions/add',
    summary: 'Add reactions to a document or to its comments, or add users to existing reactions',
    description:
      'An `annotationId` that exists adds the user to this reaction, at most 50 users. If the user has reacted already, nothing changes. Another icon or another comment under the same id has `success: false` in the answer. ' +
      'A reaction on a comment causes the event `comment.reaction_add`. A reaction on the document itself causes no event. With a user token, every user who may see the comment can react, and only as the user of the token. ' +
      '`/v2/commentannotations/comments/get` returns comments with their reactions.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document', actor: [{ path: 'reactions.*.from', holds: 'user' }] }),
    kind: 'write',
    work: ({ reactions }) => ({
      items: 4 * reactions.length,
      events: reactions.filter(({ commentId }) => commentId !== undefined).length,
    }),
    input: z.object({
      organizationId: Id,
      documentId: Id,
      reactions: list(Entry, limits.list).describe('The users and their reactions.'),
    }),
    output: AnnotationResults,
    message: batchMessage('reaction', 'added'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: { findWritableDocument, reactions: addReactions, visibleReactions },
    impact: 'customers cannot add reactions',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        reactions: [
          {
            annotationId: 'thumbs-up',
            icon: '👍',
            from: { userId: 'ada' },
            commentAnnotationId: 'clause-4',
            commentId: 1,
          },
        ],
      },
      result: { data: { 'thumbs-up': { success: true, annotationId: 'thumbs-up', message: 'Reaction added.' } } },
    },
  },
  async ({ input, caller, deps, now, repeatableId }) => {
    const document = await deps.findWritableDocument(caller.tenant, input);
    const viewer = viewerOf(caller);
    await deps.visibleReactions.requireTargets(document, viewer, input.reactions, now);
    const reactions = groupEntries(
      input.reactions.map(({ annotationId, commentAnnotationId, commentId, ...entry }, number) => ({
        ...entry,
        annotationId: annotationId ?? repeatableId('rct', number),
        on:
          commentAnnotationId === undefined || commentId === undefined
            ? undefined
            : { annotationId: commentAnnotationId, commentId },
      })),
    );
    const results = await deps.reactions.add(document, reactions, { isReadable: commentFilter(viewer), now });
    return { data: byIdOf(reactions, ({ annotationId }) => annotationId, results) };
  },
);

export const handler = toLambda(endpoint);
