import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toChangeOptions } from '../../../lib/comments/rules/changeOptions.ts';
import { ThreadsUpdateRequest } from '../../../lib/comments/rules/threadFilters.ts';
import type { Thread } from '../../../lib/comments/rules/threads.ts';
import { mayUpdate, threadUpdatesByUsers } from '../../../lib/comments/rules/userCalls.ts';
import { writeThreads } from '../../../lib/comments/threadWriter.ts';
import { visibleThreads } from '../../../lib/comments/visibleThreads.ts';
import { findWritableDocument } from '../../../lib/content/documentScope.ts';
import { viewerOf } from '../../../lib/content/viewer.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { userMarkup } from '../../../lib/markup/userMarkup.ts';
import { notifyEmbedding } from '../../../lib/memory/embeddingJobs.ts';
import { ItemResults, toItemResults } from '../../../lib/shared/results.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/commentannotations/update',
    summary: 'Change comment threads of a document',
    auth: 'apiKey',
    user: openToUsers(threadUpdatesByUsers, userMarkup),
    kind: 'write',
    input: ThreadsUpdateRequest,
    output: ItemResults,
    message: 'Annotations updated successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findWritableDocument, visibleThreads, threads: writeThreads, notifyEmbedding },
    impact: 'customers cannot resolve, assign or change comment threads',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        annotationIds: ['clause-4'],
        updatedData: { status: 'RESOLVED' },
        reason: 'The clause now names the court of jurisdiction.',
        actionUser: { userId: 'grace', name: 'Grace Hopper' },
        triggerNotification: true,
      },
      result: { data: { 'clause-4': { success: true, id: 'clause-4', message: 'Annotations updated successfully' } } },
    },
  },
  async ({ input, caller, deps, now, log }) => {
    const { updatedData: change, updateUsers: users, reason } = input;
    const document = await deps.findWritableDocument(caller.tenant, input);
    const viewer = viewerOf(caller);
    const mayChange = (thread: Thread) => !viewer || mayUpdate(viewer, thread, change ?? {});
    await deps.visibleThreads.require(document, viewer, input.annotationIds, { mayChange, now });
    const options = toChangeOptions(input, now);
    const results = await deps.threads.update(document, input, { change, users, reason }, options);
    await deps.notifyEmbedding(
      caller.tenant,
      results.flatMap(({ embedding = [] }) => embedding),
      log,
    );
    return { data: toItemResults(results, ({ annotationId }) => annotationId) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
