import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { countThreads } from '../../../../lib/comments/threadCounter.ts';
import { viewerOf } from '../../../../lib/content/viewer.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { distinct } from '../../../../lib/shared/collections.ts';
import { byId } from '../../../../lib/shared/results.ts';
import { Id, limits, list, optional } from '../../../../lib/shared/schema.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/commentannotations/count/get',
    summary: 'Count the comment threads of documents that a user can see, and how many of them are unread',
    description:
      'Counts the threads that the user may see. A document that is unknown, or that the user may not open, has the count 0. With a user token, it makes the whole call PERMISSION_DENIED instead. ' +
      'A thread is unread if another user has added a comment that the user may see since the user last viewed it (`/v2/commentannotations/views/add`) or wrote in it. Of a thread with more than 1 MB of comments, the first 1 MB and the last 4 MB count. ' +
      'With a user token, `userId` is the user of the token.',
    auth: 'apiKey',
    user: openToUsers({ needs: 'viewer', on: 'documents', actor: [{ path: 'userId', holds: 'userId' }] }),
    kind: 'read',
    input: z.object({
      organizationId: Id,
      documentIds: list(Id, limits.readIds).describe('The documents whose threads are counted.'),
      userId: Id.describe('The user for whom threads are counted.'),
      statusIds: optional(list(Id, limits.readIds)).describe(
        'Only threads with one of these statuses are counted, by the id.',
      ),
    }),
    output: z.object({
      data: z
        .record(
          z.string(),
          z.object({
            total: z.number().describe('How many threads the user may see.'),
            unread: z.number().describe('How many of them have comments that are new to the user.'),
          }),
        )
        .describe('The counts of each document, by its id.'),
    }),
    message: 'Comment count retrieved successfully.',
    fixedMessages: { required: { documentIds: 'Document IDs are required' } },
    errors: ['FAILED_PRECONDITION'],
    uses: { counts: countThreads },
    impact: 'customers cannot count their comment threads',
    example: {
      data: { organizationId: 'acme', documentIds: ['nda'], userId: 'grace', statusIds: ['OPEN'] },
      result: { data: { nda: { total: 3, unread: 2 } } },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { organizationId, userId, statusIds } = input;
    const documentIds = distinct(input.documentIds);
    const counts = await deps.counts.count(caller.tenant, organizationId, documentIds, {
      userId,
      filters: { statusIds },
      viewer: viewerOf(caller),
      now,
    });
    return { data: byId(documentIds, counts) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
