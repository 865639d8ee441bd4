import * as z from 'zod';
import { findWritableDocument } from '../../../lib/content/documentScope.ts';
import { writeThreads } from '../../../lib/comments/threadWriter.ts';
import { notifyEmbedding } from '../../../lib/memory/embeddingJobs.ts';
import { threadSelectors, requireSelector } from '../../../lib/comments/rules/threadFilters.ts';
import { ThreadChange, UserReplacements } from '../../../lib/comments/rules/threads.ts';
import { ContentUser } from '../../../lib/content/rules/user.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { byId, ItemResults } from '../../../lib/shared/results.ts';
import { closedObject, Id, optional, Text, withFieldRule } from '../../../lib/shared/schema.ts';

const REASON_CHARACTERS = 4_000;

export const endpoint = defineEndpoint(
  {
    path: '/v2/commentannotations/update',
    summary: 'Change comment threads of a document',
    auth: 'apiKey',
    kind: 'write',
    input: closedObject({
      organizationId: Id,
      documentId: Id,
      ...threadSelectors,
      updatedData: optional(ThreadChange),
      updateUsers: optional(UserReplacements),
      /** Why a reviewer decides so: the change becomes a judgment that can be searched. */
      reason: optional(Text.min(1).max(REASON_CHARACTERS)),
      actionUser: optional(ContentUser),
      triggerNotification: optional(z.boolean()),
      triggerActivities: optional(z.boolean()),
    }).check(
      requireSelector,
      withFieldRule(
        'anyOf',
        ['updatedData', 'updateUsers'],
        z.refine(({ updatedData, updateUsers }) => updatedData !== undefined || updateUsers !== undefined, {
          path: ['updatedData'],
          error: 'must be given, or updateUsers',
        }),
      ),
      z.refine(({ reason, actionUser }) => reason === undefined || actionUser !== undefined, {
        path: ['actionUser'],
        error: 'is required with reason',
      }),
      z.refine(({ reason }) => reason === undefined || reason.trim() !== '', {
        path: ['reason'],
        error: 'must not be blank',
      }),
    ),
    output: ItemResults,
    message: 'Annotations updated successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findPlaceToWrite: findWritableDocument, threads: writeThreads, notifyEmbedding },
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
    const {
      annotationIds,
      locationIds,
      userIds,
      updatedData: change,
      updateUsers: users,
      reason,
      actionUser: actor,
      triggerNotification,
      triggerActivities,
    } = input;
    const found = await deps.findPlaceToWrite(caller.tenant, input);
    const acting = { actor, notify: triggerNotification ?? false, log: triggerActivities ?? false, now };
    const results = await deps.threads.update(
      found,
      { annotationIds, locationIds, userIds },
      { change, users, reason },
      acting,
    );
    await deps.notifyEmbedding(
      caller.tenant,
      results.flatMap(({ embedding = [] }) => embedding),
      log,
    );
    return {
      data: byId(
        results.map(({ annotationId }) => annotationId),
        results.map(({ annotationId: id, success, message }) => ({ success, id, message })),
      ),
    };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
