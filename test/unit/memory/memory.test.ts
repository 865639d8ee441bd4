import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DIMENSIONS } from '../../../lib/bedrock/rules.ts';
import { JudgmentEntity, parseListingKey } from '../../../lib/memory/entities.ts';
import {
  calendarOf,
  type CalendarPeriod,
  periodOf,
  periodsOf,
  splitPeriod,
} from '../../../lib/memory/rules/calendar.ts';
import { DateRange, filteredValues, filterFields, lastDays, toTimeRange } from '../../../lib/memory/rules/filters.ts';
import {
  contentText,
  eraseFromJudgment,
  findJudgmentFault,
  type Judgment,
  reviewText,
  toJudgment,
  toJudgmentResponse,
} from '../../../lib/memory/rules/judgments.ts';
import {
  checkScope,
  idsOf,
  QueryRequest,
  scopeNameOf,
  SearchRequest,
} from '../../../lib/memory/rules/searchRequests.ts';
import { distance, similarityOf } from '../../../lib/memory/rules/similarity.ts';
import { vectorFilters, vectorIndexes } from '../../../lib/memory/vectorIndexes.ts';
import { testProperty } from '../../support/testProperty.ts';
import { unicodeText } from '../../support/unicodeText.ts';

const instant = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
const scope = { organizationKey: 'org_1', organizationId: 'acme', documentKey: 'doc_1', documentId: 'nda' };
const judgment: Judgment = toJudgment(
  {
    decision: 'approved',
    reasoning: 'It is fine',
    actionUser: { userId: 'ada', name: 'Ada', email: 'ada@example.com' },
  },
  'r',
  scope,
  1_000,
);

describe('calendar periods', () => {
  test('periodOf returns the smallest period that covers a range', () => {
    const period = (from: string, to: string) => {
      const { unit, name } = periodOf({ from: Date.parse(from), to: Date.parse(to) });
      return `${unit} ${name}`.trim();
    };
    expect(period('2026-01-05T10:00Z', '2026-01-05T23:59:59.999Z')).toBe('day 2026-01-05');
    expect(period('2026-01-05T23:59:59.999Z', '2026-01-06T00:00Z')).toBe('month 2026-01');
    expect(period('2026-01-31T00:00Z', '2026-02-01T00:00Z')).toBe('year 2026');
    expect(period('2025-12-31T23:59:59.999Z', '2026-01-01T00:00Z')).toBe('all');
  });

  test('periodsOf covers a range with at most four consecutive periods', () => {
    const names = (from: string, to: string) =>
      periodsOf({ from: Date.parse(from), to: Date.parse(to) }).map(({ name }) => name);
    expect(names('2025-12-31', '2026-01-01')).toEqual(['2025-12-31', '2026-01-01']);
    expect(names('2026-01-25', '2026-02-20')).toEqual(['2026-01', '2026-02']);
    expect(names('2026-01-02', '2026-01-20')).toEqual(['2026-01']);
    expect(names('2026-01-02', '2026-10-20')).toEqual(['2026']);
    expect(names('2020-01-02', '2026-10-20')).toEqual(['']);
    fc.assert(
      fc.property(instant, fc.integer({ min: 0, max: 900 * 86_400_000 }), (from, length) => {
        const periods = periodsOf({ from, to: from + length });
        expect(periods.length).toBeLessThanOrEqual(4);
        expect([periods[0]!.from, periods.at(-1)!.to]).toEqual([from, from + length]);
        for (const [index, period] of periods.entries())
          if (index > 0) expect(period.from).toBe(periods[index - 1]!.to + 1);
      }),
      { numRuns: 200 },
    );
  });

  const unfolded = (period: CalendarPeriod): CalendarPeriod[] => {
    const parts = splitPeriod(period);
    return parts.length === 0 ? [period] : parts.flatMap(unfolded);
  };

  testProperty(
    'splitPeriod puts each instant of a period into exactly one part with its name',
    [instant, fc.integer({ min: 0, max: 500 * 86_400_000 })],
    (from, length) => {
      const period = periodOf({ from, to: from + length });
      const parts = splitPeriod(period);
      if (period.unit === 'day') return void expect(parts).toEqual([]);
      expect([parts[0]!.from, parts.at(-1)!.to]).toEqual([from, from + length]);
      for (const [index, part] of parts.entries()) {
        expect(part.from).toBeLessThanOrEqual(part.to);
        expect(part.name.startsWith(period.name)).toBe(true);
        expect([calendarOf(part.from), calendarOf(part.to)].map((calendar) => calendar[part.unit as 'year'])).toEqual([
          part.name,
          part.name,
        ]);
        if (index > 0) expect(part.from).toBe(parts[index - 1]!.to + 1);
      }
    },
    { numRuns: 300 },
  );

  testProperty(
    'splitPeriod splits a period down to whole days',
    [instant, fc.integer({ min: 0, max: 800 * 86_400_000 })],
    (from, length) => {
      const days = unfolded(periodOf({ from, to: from + length }));
      expect(days.every(({ unit }) => unit === 'day')).toBe(true);
      expect(days).toHaveLength(Math.floor((from + length) / 86_400_000) - Math.floor(from / 86_400_000) + 1);
    },
    { numRuns: 50 },
  );
});

describe('scopes', () => {
  const faults = (request: Parameters<typeof checkScope>[0]) => {
    const names: string[] = [];
    checkScope(request, ([field], message) => names.push(`${field} ${message}`));
    return names;
  };

  test('scopeNameOf returns the narrowest scope of the given ids unless a scope is given', () => {
    expect(
      [
        {},
        { organizationId: 'o' },
        { organizationId: 'o', documentId: 'd' },
        { organizationId: 'o', documentIds: ['d'] },
        { organizationId: 'o', documentId: 'd', scope: 'apiKey' as const },
      ].map(scopeNameOf),
    ).toEqual(['apiKey', 'organization', 'document', 'document', 'apiKey']);
  });

  test('idsOf drops ids that are narrower than the scope', () => {
    const both = { organizationId: 'o', documentId: 'd' };
    expect([idsOf(both), idsOf({ ...both, scope: 'organization' }), idsOf({ ...both, scope: 'apiKey' })]).toEqual([
      both,
      { organizationId: 'o' },
      {},
    ]);
  });

  test('idsOf keeps documentIds in every scope, and only documentId where both apply', () => {
    const sent = { organizationId: 'o', documentIds: ['d', 'e'] };
    for (const scope of [undefined, 'document', 'organization', 'apiKey'] as const)
      expect(idsOf({ ...sent, scope })).toEqual(sent);
    const both = { ...sent, documentId: 'f' };
    expect([idsOf(both), idsOf({ ...both, scope: 'organization' })]).toEqual([
      { organizationId: 'o', documentId: 'f' },
      sent,
    ]);
  });

  test('checkScope requires the ids of a scope, and only the organization for a thread', () => {
    expect(faults({})).toEqual([]);
    expect(faults({ documentId: 'd' })).toEqual(['organizationId is required for documentId']);
    expect(faults({ documentId: 'd', scope: 'apiKey' })).toEqual(['organizationId is required for documentId']);
    expect(faults({ documentIds: ['d'], scope: 'apiKey' })).toEqual(['organizationId is required for documentIds']);
    expect(faults({ scope: 'document', organizationId: 'o', documentIds: ['d'] })).toEqual([]);
    expect(faults({ annotationId: 'a' })).toEqual(['organizationId is required for annotationId']);
    expect(faults({ scope: 'organization' })).toEqual(['organizationId is required for scope organization']);
    expect(faults({ scope: 'document' })).toEqual(['organizationId is required for scope document']);
    expect(faults({ scope: 'document', organizationId: 'o' })).toEqual(['documentId is required for scope document']);
    expect(faults({ scope: 'document', organizationId: 'o', annotationId: 'a' })).toEqual([]);
  });

  test('orgId and docId of a search are organizationId and documentId, and must equal them', () => {
    const search = (sent: object) => SearchRequest.safeParse({ query: 'a', ...sent });
    expect(search({ orgId: 'o', docId: 'd' }).data).toMatchObject({ organizationId: 'o', documentId: 'd' });
    expect(search({ orgId: 'o', organizationId: 'o', docId: null }).data).toMatchObject({ organizationId: 'o' });
    expect(search({ orgId: 'o', organizationId: 'p' }).error?.issues).toMatchObject([
      { path: ['orgId'], message: 'must equal organizationId' },
    ]);
    for (const { error } of [search({ docId: 'd' }), QueryRequest.safeParse({ documentId: 'd' })])
      expect(error?.issues).toMatchObject([{ path: ['organizationId'] }]);
  });

  const ofThread = { organizationId: 'o', filters: { annotationId: 't' } };
  test.each<[object, readonly object[]]>([
    [ofThread, [{ recencyDays: 366 }]],
    [
      { recencyDays: 7, filters: {} },
      [{ start: 'x' }, { start: 2, end: 1 }, 7].map((dateRange) => ({ filters: { dateRange } })),
    ],
  ])('a search with %j ignores what it does not need, even if it is invalid', (sent, others) => {
    const parsed = SearchRequest.parse(sent);
    for (const ignored of [...['', ' \n', 'x'.repeat(32_769), 7].map((query) => ({ query })), ...others])
      expect([ignored, SearchRequest.safeParse({ ...sent, ...ignored }).data]).toEqual([ignored, parsed]);
  });

  test.each<[object, string, string]>([
    [
      { ...ofThread, filters: { annotationId: 't', dateRange: { start: 'yesterday' } } },
      'filters.dateRange.start',
      'must be an ISO 8601 time or epoch milliseconds',
    ],
    [{ query: ' \n' }, 'query', 'must not be empty'],
  ])('a search with %j is rejected', (sent, field, message) => {
    const [issue, ...more] = SearchRequest.safeParse(sent).error!.issues;
    expect([issue!.path.join('.'), issue!.message, more]).toEqual([field, message, []]);
  });
});

describe('judgments', () => {
  test('filteredValues has judgeType agent only when an agent decided', () => {
    expect(filteredValues(judgment).judgeType).toBe('human');
    expect(filteredValues({ ...judgment, agent: { agentId: 'a' } }).judgeType).toBe('agent');
  });

  test('reviewText and contentText return the texts to embed', () => {
    expect(reviewText(judgment)).toBe('approved\nIt is fine');
    expect([contentText(judgment), contentText({ content: ' ' }), contentText({ content: 'A text' })]).toEqual([
      undefined,
      undefined,
      'A text',
    ]);
  });

  test('toJudgment keeps the time of the request, and a time in the future is rejected', () => {
    const sent = { decision: 'x', reasoning: 'y', actionUser: { userId: 'u' } };
    expect(toJudgment({ ...sent, createdAt: 5 }, 'r', scope, 10).createdAt).toBe(5);
    expect([
      findJudgmentFault(sent, 10),
      findJudgmentFault({ ...sent, createdAt: 300_010 }, 10),
      findJudgmentFault({ ...sent, createdAt: 300_011 }, 10),
    ]).toEqual([undefined, undefined, 'createdAt must not be in the future.']);
  });

  test('toJudgmentResponse returns the scope, and null without an agent', () => {
    expect(toJudgmentResponse(judgment, 0.5)).toMatchObject({ similarity: 0.5, scope: 'document', agent: null });
    expect(toJudgmentResponse({ ...judgment, documentKey: undefined, agent: { agentId: 'a' } })).toMatchObject({
      similarity: 1,
      scope: 'organization',
      agent: { agentId: 'a' },
    });
  });

  test('eraseFromJudgment keeps only the id of an erased reviewer', () => {
    expect(eraseFromJudgment(judgment, { userIds: new Set(['ada']), removedAt: 1_000 })).toEqual({
      ...judgment,
      actionUser: { userId: 'ada' },
    });
    expect(eraseFromJudgment(judgment, { userIds: new Set(['ada']), removedAt: 999 })).toBe(judgment);
    expect(eraseFromJudgment(judgment, { userIds: new Set(['bob']), removedAt: 1_000 })).toBe(judgment);
  });

  test('sort keys of listings hold the time and the filtered values of any judgment', () => {
    const text = unicodeText({ minLength: 1, maxLength: 300 }).filter((value) => value.isWellFormed());
    fc.assert(
      fc.property(text, text, text, text, instant, (decision, contentType, userId, other, createdAt) => {
        const judgmentByUser: Judgment = { ...judgment, decision, contentType, actionUser: { userId }, createdAt };
        const item = JudgmentEntity.toItem({ tenant: 't', ...judgmentByUser });
        expect(Buffer.byteLength(item.gsi3sk as string)).toBeLessThanOrEqual(1_024);
        const listingEntry = parseListingKey(item.gsi3sk as string);
        expect(listingEntry.at).toBe(createdAt);
        expect(listingEntry.matches({ decision, judgeType: 'human', contentType, reviewerId: userId })).toBe(true);
        for (const field of filterFields)
          if (filteredValues(judgmentByUser)[field] !== other)
            expect(listingEntry.matches({ [field]: other })).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});

describe('DateRange', () => {
  const parse = (range: object) => DateRange.safeParse(range);
  test('accepts an open range and rejects a start after the end', () => {
    expect(toTimeRange(parse({ start: '2026-01-05', end: 1767657600000 }).data!)).toEqual({
      from: Date.parse('2026-01-05'),
      to: 1767657600000,
    });
    expect(toTimeRange({})).toEqual({ from: 0, to: Date.parse('9999-12-31T23:59:59.999Z') });
    expect(parse({ start: 5, end: 5 }).success).toBe(true);
    expect(parse({ start: 6, end: 5 }).error?.issues).toMatchObject([
      { path: ['start'], message: 'must not be after end' },
    ]);
  });

  test('lastDays returns the last days without an end', () => {
    const to = Date.parse('9999-12-31T23:59:59.999Z');
    expect(lastDays(2, 200_000_000)).toEqual({ from: 200_000_000 - 2 * 86_400_000, to });
    expect(lastDays(365, 5)).toEqual({ from: 0, to });
  });
});

test('similarityOf returns 1 minus the distance with four digits, between 0 and 1', () => {
  expect([0, 0.12345, 0.5, 1, 1.7, -1e-9].map(similarityOf)).toEqual([1, 0.8766, 0.5, 0, 0, 1]);
  expect([
    distance([1, 0], [2, 0]),
    distance([1, 0], [0, 3]),
    distance([1, 0], [-1, 0]),
    distance([0, 0], [1, 0]),
  ]).toEqual([0, 1, 2, 1]);
});

describe('the vector indexes', () => {
  test('stay within the limits of DynamoDB for filters and dimensions', () => {
    expect(vectorFilters.length).toBeLessThanOrEqual(18);
    expect(vectorIndexes.map(({ Dimensions }) => Dimensions)).toEqual([DIMENSIONS, DIMENSIONS]);
    expect(DIMENSIONS).toBe(512);
  });
});
