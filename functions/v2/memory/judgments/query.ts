import * as z from 'zod';
import { threadListing } from '../../../../lib/memory/entities.ts';
import { findScope, readJudgments } from '../../../../lib/memory/judgmentLists.ts';
import { judgmentFilters } from '../../../../lib/memory/rules/filters.ts';
import {
  judgeTypeOf,
  judgeTypes,
  toJudgmentResponse,
  JudgmentResponse,
} from '../../../../lib/memory/rules/judgments.ts';
import { checkScope } from '../../../../lib/memory/rules/scopes.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { Id, optional } from '../../../../lib/shared/schema.ts';

const LIMIT = 20;

/** A judgment without a similarity, since nothing is searched for. */
const QueriedJudgment = JudgmentResponse.omit({ similarity: true }).extend({ judgeType: z.enum(judgeTypes) });

export const endpoint = defineEndpoint(
  {
    path: '/v2/memory/judgments/query',
    summary: 'Get the latest review decisions, or those of a thread, by what they say of themselves',
    auth: 'apiKey',
    kind: 'read',
    input: z
      .object({
        organizationId: optional(Id),
        documentId: optional(Id),
        ...judgmentFilters,
        annotationId: optional(Id),
        limit: optional(z.int().min(1).max(100)),
      })
      .check(({ value, issues }) =>
        checkScope(value, (path, message) => issues.push({ code: 'custom', input: value, path, message })),
      ),
    output: z.object({ results: z.array(QueriedJudgment), total: z.number() }),
    message: null,
    errors: ['NOT_FOUND'],
    uses: { findScope, judgments: readJudgments },
    narrowBy: 'limit',
    impact: 'customers cannot list past review decisions',
    example: {
      data: { organizationId: 'acme', documentId: 'pricing', decision: 'rejected', limit: 1 },
      result: {
        results: [
          {
            recordId: 'review-17',
            reasoning: 'The price is without VAT, and the page does not say so.',
            decision: 'rejected',
            confidence: 90,
            actionUser: { userId: 'grace', name: 'Grace Hopper' },
            createdAt: 1767225600000,
            scope: 'document',
            organizationId: 'acme',
            documentId: 'pricing',
            contentType: 'text',
            agent: null,
            judgeType: 'human',
          },
        ],
        total: 12,
      },
    },
  },
  async ({ input, caller, deps }) => {
    const { decision, judgeType, contentType, reviewerId, annotationId, limit = LIMIT } = input;
    const filters = { decision, judgeType, contentType, reviewerId };
    const scope = await deps.findScope(caller.tenant, input);
    const { judgments, total } =
      annotationId !== undefined && scope.organization
        ? await deps.judgments.ofThread(
            scope,
            threadListing(caller.tenant, scope.organization.organizationKey, annotationId),
            { filters },
            limit,
          )
        : await deps.judgments.latestAndTotal(scope, filters, limit);
    const results = judgments.map((judgment) => {
      const { similarity: _, ...shown } = toJudgmentResponse(judgment);
      return { ...shown, judgeType: judgeTypeOf(judgment) };
    });
    return { results, total };
  },
);

export const handler = toLambda(endpoint);
