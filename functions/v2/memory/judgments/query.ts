import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { exampleJudgment } from '../../../../lib/memory/example.ts';
import { findScope, readJudgments } from '../../../../lib/memory/judgmentLists.ts';
import {
  judgeTypeOf,
  judgeTypes,
  JudgmentResponse,
  toJudgmentResponse,
} from '../../../../lib/memory/rules/judgments.ts';
import { idsOf, QueryRequest } from '../../../../lib/memory/rules/searchRequests.ts';

const DEFAULT_LIMIT = 20;

/** A query does not compare texts, so its judgments have no `similarity`. */
const QueriedJudgment = JudgmentResponse.omit({ similarity: true }).extend({
  judgeType: z.enum(judgeTypes).describe('Who decided: `agent` if the judgment has an `agent`, otherwise `human`.'),
});

export const endpoint = defineEndpoint(
  {
    path: '/v2/memory/judgments/query',
    summary: 'Get the latest review decisions, or the decisions of a thread, with filters',
    description:
      'Returns the latest judgments first, but those of a thread (`annotationId`) oldest first. There are no pages: narrow the request by filters. ' +
      'An unknown organization is INVALID_ARGUMENT, an unknown document NOT_FOUND, also one of `documentIds`. The `result` has no `status` and no `message`. ' +
      'To find judgments by meaning or by date, call `/v2/memory/search`. For API keys only.',
    auth: 'apiKey',
    kind: 'read',
    input: QueryRequest,
    output: z.object({
      results: z.array(QueriedJudgment).describe('The latest judgments first; those of a thread oldest first.'),
      total: z.number().describe('How many judgments match, also beyond `limit`.'),
    }),
    message: null,
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { findScope, judgments: readJudgments },
    narrowBy: 'limit',
    impact: 'customers cannot list past review decisions',
    example: {
      data: { organizationId: 'acme', documentId: 'pricing', decision: 'rejected', limit: 1 },
      result: {
        results: [{ ...exampleJudgment, judgeType: 'human' }],
        total: 12,
      },
    },
  },
  async ({ input, caller, deps }) => {
    const { decision, judgeType, contentType, reviewerId, annotationId, limit = DEFAULT_LIMIT } = input;
    const filters = { decision, judgeType, contentType, reviewerId };
    const scope = await deps.findScope(caller.tenant, idsOf(input));
    const { judgments, total } =
      annotationId === undefined
        ? await deps.judgments.latestWithTotal(scope, filters, limit)
        : await deps.judgments.ofThread(scope, annotationId, { filters }, limit);
    const results = judgments.map((judgment) => {
      const { similarity: _, ...response } = toJudgmentResponse(judgment);
      return { ...response, judgeType: judgeTypeOf(judgment) };
    });
    return { results, total };
  },
);

export const handler = toLambda(endpoint);
