import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { exampleJudgment } from '../../../lib/memory/example.ts';
import { JudgmentResponse } from '../../../lib/memory/rules/judgments.ts';
import { SearchRequest } from '../../../lib/memory/rules/searchRequests.ts';
import { semanticSearch } from '../../../lib/memory/semanticSearch.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/memory/search',
    summary: 'Search past review decisions by meaning, or get the latest decisions or the decisions of a thread',
    description:
      'Send a `query` to find decisions with a similar meaning, `filters.annotationId` for the decisions of a thread (oldest first), or `recencyDays` for the latest decisions. The thread comes before `recencyDays`, and both before `query`. ' +
      'Filters apply before the most similar decisions are chosen, so the only match among thousands is found. ' +
      'An unknown organization is INVALID_ARGUMENT, an unknown document NOT_FOUND, also one of `documentIds`. If the model that reads the query does not answer, the answer is UNAVAILABLE. ' +
      'The `result` has no `status` and no `message`. To list decisions with their total number, call `/v2/memory/judgments/query`. For API keys only.',
    auth: 'apiKey',
    kind: 'read',
    limitClass: 'expensive',
    input: SearchRequest,
    output: z.object({
      results: z.array(JudgmentResponse).describe('The most similar judgments first; those of a thread oldest first.'),
      totalInScope: z
        .number()
        .describe(
          'How many judgments the scope has, before filters. With `documentIds`, how many these documents have.',
        ),
      searchLatencyMs: z.number().describe('How long the search took, in milliseconds.'),
    }),
    message: null,
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { judgments: semanticSearch },
    impact: 'customers and their agents cannot search past review decisions',
    timeoutSeconds: 25,
    example: {
      data: {
        query: 'price shown without tax',
        organizationId: 'acme',
        limit: 1,
        filters: { decision: 'rejected', judgeType: 'human', dateRange: { start: '2026-01-01', end: 1768435200000 } },
      },
      result: {
        results: [{ ...exampleJudgment, similarity: 0.8123 }],
        totalInScope: 128,
        searchLatencyMs: 41,
      },
    },
  },
  async ({ input, caller, deps, now, log }) => {
    const start = performance.now();
    const result = await deps.judgments.search(caller.tenant, input, { now, log });
    return { ...result, searchLatencyMs: Math.round(performance.now() - start) };
  },
);

export const handler = toLambda(endpoint);
