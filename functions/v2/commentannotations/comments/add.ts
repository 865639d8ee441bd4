import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { serviceName } from '../../../../lib/app/serviceName.ts';
import { addCommentsToThreads } from '../../../../lib/comments/commentWriter.ts';
import { requireAgentSources } from '../../../../lib/comments/rules/commentAgents.ts';
import { commentLists, oneCommentList, sentComments } from '../../../../lib/comments/rules/commentRequests.ts';
import { newCommentsByUsers, peopleOfComments } from '../../../../lib/comments/rules/userCalls.ts';
import { workOfComments } from '../../../../lib/comments/rules/work.ts';
import { namesRefused, visibleThreads } from '../../../../lib/comments/visibleThreads.ts';
import { findWritableDocument } from '../../../../lib/content/documentScope.ts';
import { mustVerifyUsers, viewerOf } from '../../../../lib/content/viewer.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { userMarkup } from '../../../../lib/markup/userMarkup.ts';
import { Id, optional } from '../../../../lib/shared/schema.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/commentannotations/comments/add',
    summary: 'Add comments to an annotation, all of them or none',
    description:
      'The answer has the numbers of the new comments in the order of the request. All comments must fit one transaction of 100 items, otherwise the call is INVALID_ARGUMENT. A thread takes at most 1,000 comments, and more are FAILED_PRECONDITION. A `commentId` that is taken is ALREADY_EXISTS. ' +
      'With a user token, every user who may see the thread can reply, and the author is the user of the token. ' +
      '`/v2/commentannotations/add` starts a thread.',
    auth: 'apiKey',
    user: openToUsers(newCommentsByUsers, userMarkup),
    kind: 'write',
    work: (input) => workOfComments(sentComments(input)),
    input: z
      .object({
        organizationId: Id,
        documentId: Id,
        annotationId: Id,
        ...commentLists,
        createOrganization: optional(z.boolean()).describe('Without effect, because the thread must exist.'),
        createDocument: optional(z.boolean()).describe('Without effect, because the thread must exist.'),
        verifyUserPermissions: optional(z.boolean()).describe(
          'Whether authors need access to the document. By default false. Without effect with a user token, whose author always needs it.',
        ),
      })
      .check(oneCommentList),
    output: z.object({
      data: z.array(z.number()).describe('The numbers of the new comments, in the order of the request.'),
    }),
    message: 'Comment(s) added successfully.',
    errors: ['NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION', 'PERMISSION_DENIED', 'ABORTED'],
    uses: { findWritableDocument, comments: addCommentsToThreads, visibleThreads, serviceName },
    impact: 'customers cannot reply to annotations',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        annotationId: 'clause-4',
        commentData: [
          { commentText: 'One year, then?', from: { userId: 'bob', name: 'Bob' }, triggerNotification: true },
        ],
      },
      result: { data: [2] },
    },
  },
  async ({ input, caller, deps, now, repeatableId, hasIdempotencyKey }) => {
    const comments = sentComments(input);
    const field = input.comments ? 'comments' : 'commentData';
    requireAgentSources(comments, [field], deps.serviceName);
    const document = await deps.findWritableDocument(caller.tenant, input);
    const viewer = viewerOf(caller);
    await deps.visibleThreads.require(document, viewer, [input.annotationId], { now });
    const naming = { data: input, fields: peopleOfComments, now };
    const refused = await deps.visibleThreads.findRefusals(document, viewer, [input.annotationId], naming);
    for (const refusal of refused.values()) throw namesRefused(refusal);
    return {
      data: await deps.comments.add(document, input.annotationId, comments, {
        verify: mustVerifyUsers(caller, input),
        additionId: hasIdempotencyKey ? repeatableId('add', 0) : undefined,
        field,
        byUser: viewer !== undefined,
        now,
      }),
    };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
