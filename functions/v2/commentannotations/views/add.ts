import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { writeViews } from '../../../../lib/comments/viewWriter.ts';
import { findWritableDocument } from '../../../../lib/content/documentScope.ts';
import { viewerOf } from '../../../../lib/content/viewer.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { distinct } from '../../../../lib/shared/collections.ts';
import { batchMessage, byId, ItemOutcome } from '../../../../lib/shared/results.ts';
import { Id, limits, list, optional } from '../../../../lib/shared/schema.ts';
import { Instant } from '../../../../lib/shared/times.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/commentannotations/views/add',
    summary: 'Record that a user has seen comment threads, so that they are read',
    description:
      'A thread is unread for a user if somebody else has added a comment that the user may see after the user last viewed the thread or wrote in it. `/v2/commentannotations/count/get` and `/v2/commentannotations/get` follow this rule. ' +
      'What counts is when the service got a comment, not the `createdAt` that you sent. Edits do not count. ' +
      'A thread that is unknown, or that the user may not see, fails alone. An older time never replaces a newer one. ' +
      'All pages of the user with the document open get the hint `comment_annotation.view`, also the one that sent the call. Notifications about the threads stay unread. With a user token, `userId` is the user of the token.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'document', actor: [{ path: 'userId', holds: 'userId' }] }),
    kind: 'write',
    input: z.object({
      organizationId: Id,
      documentId: Id,
      annotationIds: list(Id, limits.readIds).describe('The threads of the document that the user has seen.'),
      userId: Id.describe('The user who has seen them.'),
      viewedAt: optional(Instant).describe(
        'When the user saw the threads, in epoch milliseconds or ISO 8601. By default now. A future time counts as now.',
      ),
    }),
    output: z.object({
      data: z.record(z.string(), ItemOutcome).describe('The result for each thread, by its id.'),
    }),
    message: batchMessage('annotation', 'viewed', 'Annotations viewed successfully.'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findWritableDocument, views: writeViews },
    impact: 'threads that users have read stay unread',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', annotationIds: ['clause-4'], userId: 'grace' },
      result: { data: { 'clause-4': { success: true, message: 'Viewed successfully' } } },
    },
    cost: { calls: 6, roundTrips: 5, readUnits: 5, writeUnits: 1 },
  },
  async ({ input: { annotationIds, userId, viewedAt = Infinity, ...reference }, caller, deps, now }) => {
    const document = await deps.findWritableDocument(caller.tenant, reference);
    const ids = distinct(annotationIds);
    const view = { userId, viewedAt: Math.min(viewedAt, now), viewer: viewerOf(caller), now };
    return { data: byId(ids, await deps.views.add(document, ids, view)) };
  },
);

export const handler = toLambda(endpoint);
