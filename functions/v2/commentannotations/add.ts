import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { serviceName } from '../../../lib/app/serviceName.ts';
import { requireAgentSources } from '../../../lib/comments/rules/commentAgents.ts';
import { NewThread } from '../../../lib/comments/rules/threadRequests.ts';
import { ThreadResults } from '../../../lib/comments/rules/threadResponses.ts';
import { newThreadsByUsers, peopleOfThread } from '../../../lib/comments/rules/userCalls.ts';
import { workOfThreads } from '../../../lib/comments/rules/work.ts';
import { addThreads } from '../../../lib/comments/threadWriter.ts';
import { ensureDocument } from '../../../lib/content/documentScope.ts';
import { mustVerifyUsers, viewerOf } from '../../../lib/content/viewer.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { userMarkup } from '../../../lib/markup/userMarkup.ts';
import { distinctBy } from '../../../lib/shared/collections.ts';
import { batchMessage, byIdOf } from '../../../lib/shared/results.ts';
import { Id, limits, list, optional } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';
import { namesRefusal } from '../../../lib/userTokens/rules/people.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/commentannotations/add',
    summary: 'Add comment threads to a document, each with its first comments',
    description:
      'Each thread is added in a transaction of its own. A thread that is refused has `success: false` in the answer, and the others are added. Reasons are an id that exists, too many comments for one transaction, or users whom the caller may not name. ' +
      'With a user token, every user who may read the document can start threads, and the author is the user of the token. Without `createDocument`, an unknown document is NOT_FOUND. A disabled document or organization is FAILED_PRECONDITION. ' +
      '`/v2/commentannotations/comments/add` adds replies.',
    auth: 'apiKey',
    user: openToUsers(newThreadsByUsers, userMarkup),
    kind: 'write',
    work: ({ commentAnnotations }) => workOfThreads(commentAnnotations),
    input: z.object({
      organizationId: Id,
      documentId: Id,
      createOrganization: optional(z.boolean()),
      createDocument: optional(z.boolean()),
      verifyUserPermissions: optional(z.boolean()).describe(
        'Whether authors need access to the document. By default false. Without effect with a user token, whose author always needs it.',
      ),
      commentAnnotations: list(NewThread, limits.list).describe('The threads to add.'),
    }),
    output: ThreadResults,
    message: batchMessage('comment annotation', 'added', 'Comment Annotation(s) added successfully.'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: { ensureDocument, threads: addThreads, serviceName },
    impact: 'customers cannot start comment threads',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        createDocument: true,
        commentAnnotations: [
          {
            annotationId: 'clause-4',
            location: { id: 'page-2', locationName: 'Page 2' },
            targetElement: { targetText: 'two years', occurrence: 1 },
            assignedTo: { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' },
            priority: { id: 'P1', name: 'High' },
            commentData: [
              {
                commentText: 'Two years is too long.',
                from: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
                taggedUserContacts: [{ userId: 'grace', text: '@Grace' }],
                triggerNotification: true,
              },
            ],
          },
        ],
      },
      result: {
        data: {
          'clause-4': { success: true, annotationId: 'clause-4', commentIds: [1], message: 'Added Successfully' },
        },
      },
    },
  },
  async ({ input, caller, deps, now, repeatableId }) => {
    for (const [index, { commentData }] of input.commentAnnotations.entries())
      requireAgentSources(commentData, ['commentAnnotations', index, 'commentData'], deps.serviceName);
    const document = await deps.ensureDocument(caller.tenant, input, now);
    const viewer = viewerOf(caller);
    const identified = input.commentAnnotations.map((sent, number) => ({
      annotationId: sent.annotationId ?? repeatableId('ann', number),
      generated: sent.annotationId === undefined,
      refused: viewer && namesRefusal(sent, peopleOfThread, viewer.strangers),
      sent,
    }));
    const threads = distinctBy(identified, ({ annotationId }) => annotationId);
    const options = { verify: mustVerifyUsers(caller, input), byUser: viewer !== undefined, now };
    const results = await deps.threads.add(document, threads, options);
    return { data: byIdOf(threads, ({ annotationId }) => annotationId, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
