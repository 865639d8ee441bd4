import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toChangeOptions } from '../../../lib/comments/rules/changeOptions.ts';
import { ThreadsUpdateRequest } from '../../../lib/comments/rules/threadFilters.ts';
import type { Thread } from '../../../lib/comments/rules/threads.ts';
import { mayUpdate, peopleOfThreadUpdate, threadUpdatesByUsers } from '../../../lib/comments/rules/userCalls.ts';
import { workOfChanges } from '../../../lib/comments/rules/work.ts';
import { writeThreads } from '../../../lib/comments/threadWriter.ts';
import { visibleThreads } from '../../../lib/comments/visibleThreads.ts';
import { findWritableDocument } from '../../../lib/content/documentScope.ts';
import { viewerOf } from '../../../lib/content/viewer.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { userMarkup } from '../../../lib/markup/userMarkup.ts';
import { notifyEmbedding } from '../../../lib/memory/embeddingJobs.ts';
import { batchMessage, failedAnnotation, ItemResults, toItemResults } from '../../../lib/shared/results.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/commentannotations/update',
    summary: 'Change comment threads of a document',
    description:
      'Changes the threads that match every selector, at most 500. A thread that cannot be changed has `success: false`. ' +
      'With a user token, only `annotationIds` selects threads. The author of a thread changes every field. Editors also change status, assignee, priority and suggestion in threads of others. Anything else is PERMISSION_DENIED.',
    auth: 'apiKey',
    user: openToUsers(threadUpdatesByUsers, userMarkup),
    kind: 'write',
    work: ({ annotationIds, triggerNotification }) => workOfChanges({ ids: annotationIds, triggerNotification }),
    input: ThreadsUpdateRequest,
    output: ItemResults,
    message: batchMessage('annotation', 'updated', 'Annotations updated successfully.'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findWritableDocument, visibleThreads, threads: writeThreads, notifyEmbedding },
    impact: 'customers cannot resolve, assign or change comment threads',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        annotationIds: ['clause-4'],
        updatedData: { status: 'RESOLVED' },
        reason: 'The clause names a court now.',
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
    const options = toChangeOptions(input, now, viewer !== undefined);
    const naming = { data: input, fields: peopleOfThreadUpdate, now };
    const refused = await deps.visibleThreads.findRefusals(document, viewer, input.annotationIds ?? [], naming);
    const annotationIds = input.annotationIds?.filter((annotationId) => !refused.has(annotationId));
    const selected = { ...input, annotationIds };
    const results = await deps.threads.update(document, selected, { change, users, reason, viewer }, options);
    const failed = [...refused].map(([annotationId, { message }]) => failedAnnotation(annotationId, message));
    await deps.notifyEmbedding(
      caller.tenant,
      results.flatMap(({ embedding = [] }) => embedding),
      log,
    );
    return { data: toItemResults([...results, ...failed], ({ annotationId }) => annotationId) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
