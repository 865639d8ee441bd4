import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { changeOptionFields, toChangeOptions } from '../../../lib/comments/rules/changeOptions.ts';
import {
  agentSelectors,
  rejectEmptySelector,
  requireAgentUrl,
  threadSelectors,
} from '../../../lib/comments/rules/threadFilters.ts';
import type { Thread } from '../../../lib/comments/rules/threads.ts';
import { threadDeletionsByUsers } from '../../../lib/comments/rules/userCalls.ts';
import { workOfChanges } from '../../../lib/comments/rules/work.ts';
import { writeThreads } from '../../../lib/comments/threadWriter.ts';
import { visibleThreads } from '../../../lib/comments/visibleThreads.ts';
import { findWritableDocument } from '../../../lib/content/documentScope.ts';
import { viewerOf } from '../../../lib/content/viewer.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { batchMessage, ItemResults, toItemResults } from '../../../lib/shared/results.ts';
import { Id } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/commentannotations/delete',
    summary: 'Delete some or all comment threads of a document, with their comments and reactions',
    description:
      'Deletes the threads that match every selector, at most 500. Without a selector, all threads of the document are deleted. Deleted threads are listed for 30 days by `deletedAfter` of `/v2/commentannotations/get`. ' +
      'With a user token, users delete their own threads, selected by `annotationIds`. Threads of others are PERMISSION_DENIED.',
    auth: 'apiKey',
    user: openToUsers(threadDeletionsByUsers),
    kind: 'write',
    work: ({ annotationIds, triggerNotification }) => workOfChanges({ ids: annotationIds, triggerNotification }),
    input: z
      .object({
        organizationId: Id,
        documentId: Id,
        ...threadSelectors,
        ...agentSelectors,
        ...changeOptionFields,
      })
      .check(rejectEmptySelector, requireAgentUrl),
    output: ItemResults,
    message: batchMessage('annotation', 'deleted', 'Annotations deleted successfully.'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findWritableDocument, visibleThreads, threads: writeThreads },
    impact: 'customers cannot delete comment threads',
    example: {
      data: { organizationId: 'acme', documentId: 'nda', annotationIds: ['clause-4'] },
      result: { data: { 'clause-4': { success: true, id: 'clause-4', message: 'Deleted Successfully' } } },
    },
  },
  async ({ input, caller, deps, now }) => {
    const document = await deps.findWritableDocument(caller.tenant, input);
    const viewer = viewerOf(caller);
    const mayChange = ({ from }: Thread) => from.userId === viewer?.userId;
    await deps.visibleThreads.require(document, viewer, input.annotationIds, { mayChange, now });
    const results = await deps.threads.delete(document, input, toChangeOptions(input, now, viewer !== undefined));
    return { data: toItemResults(results, ({ annotationId }) => annotationId) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
