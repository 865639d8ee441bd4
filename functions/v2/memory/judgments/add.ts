import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { addJudgments, findJudgmentLocation } from '../../../../lib/memory/addJudgments.ts';
import { NewJudgment } from '../../../../lib/memory/rules/judgments.ts';
import { distinctBy } from '../../../../lib/shared/collections.ts';
import { batchMessage, byIdOf, ItemResults } from '../../../../lib/shared/results.ts';
import { Id, list, optional } from '../../../../lib/shared/schema.ts';

const MAX_JUDGMENTS = 100;

export const endpoint = defineEndpoint(
  {
    path: '/v2/memory/judgments/add',
    summary: 'Add review decisions to an organization or a document, or replace decisions that have the same ids',
    description:
      'A judgment is a decision of a person or an agent with its reason. Each has its own result in `data`, by `recordId`. If a `createdAt` is in the future, the result of that judgment says so, and the others are added. ' +
      'Searches find it by meaning as soon as it is embedded, which this call does. If the model does not answer, the message says so, and a job does it later. ' +
      '`/v2/commentannotations/update` with a `reason` adds a judgment too, if the change of the thread is a decision. ' +
      'An unknown organization is INVALID_ARGUMENT, an unknown document NOT_FOUND, a disabled organization or document FAILED_PRECONDITION. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      organizationId: Id,
      documentId: optional(Id).describe('The document of the judgments. By default they belong to the organization.'),
      judgments: list(NewJudgment, MAX_JUDGMENTS).describe(
        'The judgments to add. Of several with the same `recordId`, the first counts.',
      ),
    }),
    output: ItemResults,
    message: batchMessage('judgment', 'added'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { findLocation: findJudgmentLocation, judgments: addJudgments },
    impact: 'review decisions of customers and agents are not stored',
    timeoutSeconds: 25,
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'pricing',
        judgments: [
          {
            recordId: 'review-17',
            decision: 'rejected',
            reasoning: 'The price is without VAT, and the page does not say so.',
            content: 'Only 49.90 a month',
            contentType: 'text',
            confidence: 90,
            actionUser: { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' },
            annotationId: 'clause-4',
            agent: { agentId: 'price-checker', agentType: 'custom', executionId: 'run-3' },
            createdAt: 1767225600000,
          },
        ],
      },
      result: { data: { 'review-17': { success: true, id: 'review-17', message: 'Judgment added.' } } },
    },
  },
  async ({ input, caller, deps, now, newId, repeatableId, log }) => {
    const location = await deps.findLocation(caller.tenant, input);
    const identified = input.judgments.map((sent, number) => ({
      recordId: sent.recordId ?? repeatableId('jdg', number),
      sent,
    }));
    const judgments = distinctBy(identified, ({ recordId }) => recordId);
    const results = await deps.judgments.add(caller.tenant, location, judgments, { jobId: newId('job'), now, log });
    return { data: byIdOf(judgments, ({ recordId }) => recordId, results) };
  },
);

export const handler = toLambda(endpoint);
