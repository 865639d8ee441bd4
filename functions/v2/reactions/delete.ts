import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { deleteReactions } from '../../../lib/comments/reactionWriter.ts';
import { visibleReactions } from '../../../lib/comments/visibleReactions.ts';
import { findWritableDocument } from '../../../lib/content/documentScope.ts';
import { ContentUser } from '../../../lib/content/rules/contentUser.ts';
import { viewerOf } from '../../../lib/content/viewer.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { distinct } from '../../../lib/shared/collections.ts';
import { batchMessage, byId, ItemOutcome } from '../../../lib/shared/results.ts';
import { Id, limits, list, optional } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/reactions/delete',
    summary: 'Delete reactions with all of their users',
    description:
      'A reaction on a comment causes the event `comment.reaction_delete`. ' +
      'With a user token, only the user of the token is removed, and a reaction that has other users stays. A reaction without this user is PERMISSION_DENIED.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document', actor: [{ path: 'actionUser', holds: 'user' }] }),
    kind: 'write',
    work: ({ annotationIds }) => ({ items: 4 * annotationIds.length, events: annotationIds.length }),
    input: z.object({
      organizationId: Id,
      documentId: Id,
      annotationIds: list(Id, limits.list).describe('The reactions to delete.'),
      actionUser: optional(ContentUser).describe(
        'The actor of the events. By default the first user of each reaction.',
      ),
    }),
    output: z.object({ data: z.record(z.string(), ItemOutcome).describe('The result for each reaction, by its id.') }),
    message: batchMessage('reaction', 'deleted'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: { findWritableDocument, reactions: deleteReactions, visibleReactions },
    impact: 'customers cannot delete reactions',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', annotationIds: ['thumbs-up'] },
      result: { data: { 'thumbs-up': { success: true, message: 'Reaction deleted.' } } },
    },
  },
  async ({ input, caller, deps, now }) => {
    const document = await deps.findWritableDocument(caller.tenant, input);
    const annotationIds = distinct(input.annotationIds);
    const viewer = viewerOf(caller);
    await deps.visibleReactions.requireOwn(document, viewer, annotationIds, now);
    const options = { actor: input.actionUser, onlyOf: viewer?.userId, now };
    const results = await deps.reactions.delete(document, annotationIds, options);
    return {
      data: byId(
        annotationIds,
        results.map(({ success, message }) => ({ success, message })),
      ),
    };
  },
);

export const handler = toLambda(endpoint);
