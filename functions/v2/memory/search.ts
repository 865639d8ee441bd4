import * as z from 'zod';
import { threadListing } from '../../../lib/memory/entities.ts';
import { findScope } from '../../../lib/memory/judgmentLists.ts';
import { searchJudgments } from '../../../lib/memory/semanticSearch.ts';
import { DateRange, judgmentFilters, recently, timeRange } from '../../../lib/memory/rules/filters.ts';
import { toJudgmentResponse, JudgmentResponse, similarityOf } from '../../../lib/memory/rules/judgments.ts';
import { checkScope, idsOf, scoped } from '../../../lib/memory/rules/scopes.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { Id, isObject, optional, Text } from '../../../lib/shared/schema.ts';

const LIMIT = 10;

const Request = z
  .object({
    query: optional(Text),
    embeddingType: optional(z.enum(['review', 'content'])),
    ...scoped,
    limit: optional(z.int().min(1).max(50)),
    filters: optional(z.object({ ...judgmentFilters, annotationId: optional(Id), dateRange: optional(DateRange) })),
    recencyDays: optional(z.int().min(1).max(365)),
  })
  .check(({ value, issues }) => {
    const refuse = (path: string[], message: string) => issues.push({ code: 'custom', input: value, path, message });
    const { query, filters, recencyDays } = value;
    checkScope({ ...value, annotationId: filters?.annotationId }, refuse);
    if (filters?.annotationId !== undefined || recencyDays !== undefined) return;
    if (query === undefined) refuse(['query'], 'is required');
    else if (query.trim() === '') refuse(['query'], 'must not be empty');
  });

/** `recencyDays` overrides the range of dates, also one that is invalid. */
const Input = z.preprocess(
  (data) =>
    isObject(data) && isObject(data.filters) && typeof data.recencyDays === 'number'
      ? { ...data, filters: { ...data.filters, dateRange: undefined } }
      : data,
  Request,
);

export const endpoint = defineEndpoint(
  {
    path: '/v2/memory/search',
    summary: 'Search past review decisions by what they mean, or get the latest ones or those of a thread',
    auth: 'apiKey',
    kind: 'read',
    limitClass: 'expensive',
    input: Input,
    output: z.object({ results: z.array(JudgmentResponse), totalInScope: z.number(), searchLatencyMs: z.number() }),
    message: null,
    errors: ['NOT_FOUND'],
    uses: { findScope, memory: searchJudgments },
    impact: 'customers and their agents cannot search past review decisions',
    timeoutSeconds: 25,
    memoryMb: 1024,
    example: {
      data: {
        query: 'price shown without tax',
        organizationId: 'acme',
        limit: 1,
        filters: { decision: 'rejected', judgeType: 'human', dateRange: { start: '2026-01-01', end: 1768435200000 } },
      },
      result: {
        results: [
          {
            recordId: 'review-17',
            reasoning: 'The price is without VAT, and the page does not say so.',
            decision: 'rejected',
            confidence: 90,
            actionUser: { userId: 'grace', name: 'Grace Hopper' },
            createdAt: 1767225600000,
            similarity: 0.8123,
            scope: 'document',
            organizationId: 'acme',
            documentId: 'pricing',
            contentType: 'text',
            agent: null,
          },
        ],
        totalInScope: 128,
        searchLatencyMs: 41,
      },
    },
  },
  async ({ input, caller, deps: { findScope: find, memory }, now, log }) => {
    const {
      query = '',
      embeddingType: index = 'review',
      limit = LIMIT,
      filters: { annotationId, dateRange, ...filters } = {},
      recencyDays,
    } = input;
    const began = performance.now();
    const isByMeaning = annotationId === undefined && recencyDays === undefined;
    const [scope, understood] = await Promise.all([
      find(caller.tenant, idsOf(input)),
      isByMeaning ? memory.understand(caller.tenant, query, { now, log }) : undefined,
    ]);
    const range = dateRange && timeRange(dateRange);
    const found = async () => {
      if (understood)
        return (await understood({ scope, index, filters, range, limit })).map(({ judgment, distance }) =>
          toJudgmentResponse(judgment, similarityOf(distance)),
        );
      if (annotationId === undefined)
        return (await memory.latest(scope, { filters, range: recently(recencyDays ?? 1, now) }, limit)).map(
          (judgment) => toJudgmentResponse(judgment),
        );
      const { organization = await find(caller.tenant, input).then((named) => named.organization) } = scope;
      const thread = threadListing(caller.tenant, organization?.organizationKey ?? '', annotationId);
      return (await memory.ofThread({ ...scope, organization }, thread, { filters, range }, limit)).judgments.map(
        (judgment) => toJudgmentResponse(judgment),
      );
    };
    const [results, totalInScope] = await Promise.all([found(), memory.count(scope)]);
    return { results, totalInScope, searchLatencyMs: Math.round(performance.now() - began) };
  },
);

export const handler = toLambda(endpoint);
