import { beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { JudgmentEntity } from '../../../lib/memory/entities.ts';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/memory/judgments/add';
const SEARCH = '/v2/memory/search';
const QUERY = '/v2/memory/judgments/query';
const DAY_MS = 24 * 60 * 60_000;

const {
  customer,
  useNewCustomer,
  itemsOf: stored,
} = acmeWorld({
  isShared: true,
  documents: ['nda', 'tos'],
  table: 'memory',
});

const grace = { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' };
const acme = { organizationId: 'acme' };
const tos = { ...acme, documentId: 'tos' };
const judgment = (fields: object = {}) => ({
  decision: 'approved',
  reasoning: 'The clause is fine',
  actionUser: grace,
  ...fields,
});
const add = (judgments: object[], scope: object = nda) =>
  customer.untyped(ADD, { ...scope, judgments }) as Promise<
    Record<string, { success: boolean; id: string; message: string }>
  >;

const search = (data: object) => customer.result(SEARCH, data);
const idsIn = (results: { recordId: string }[]) => results.map(({ recordId }) => recordId);
const searchIds = async (data: object): Promise<string[]> => idsIn((await search(data)).results);
const query = async (data: object): Promise<{ ids: string[]; total: number }> => {
  const { results, total } = await customer.result(QUERY, data);
  return { ids: idsIn(results), total };
};

describe('POST /v2/memory/judgments/add', () => {
  beforeEach(useNewCustomer);

  test('returns a result by recordId, stores all fields, and makes the judgment searchable', async () => {
    const sent = judgment({
      recordId: 'r',
      decision: 'rejected',
      reasoning: 'Names no court of jurisdiction',
      content: 'Disputes are settled.',
      contentType: 'clause',
      confidence: 87.5,
      annotationId: 'a',
      agent: { agentId: 'checker', agentType: 'custom', executionId: 'run' },
      createdAt: 1_700_000_000_000,
    });
    expect(await add([sent])).toEqual({ r: { success: true, id: 'r', message: 'Judgment added.' } });
    const result = await search({ query: 'rejected\nNames no court of jurisdiction', ...nda });
    expect(result).toEqual({
      results: [
        {
          recordId: 'r',
          reasoning: 'Names no court of jurisdiction',
          decision: 'rejected',
          confidence: 87.5,
          actionUser: grace,
          createdAt: 1_700_000_000_000,
          similarity: 1,
          scope: 'document',
          ...nda,
          annotationId: 'a',
          contentType: 'clause',
          agent: { agentId: 'checker', agentType: 'custom', executionId: 'run' },
        },
      ],
      totalInScope: 1,
      searchLatencyMs: expect.any(Number),
    });
  });

  test('generates missing ids and times, and leaves no unfinished job', async () => {
    const before = Date.now();
    const [[id, result]] = Object.entries(await add([judgment()], acme)) as any;
    expect([id, result]).toEqual([
      expect.stringMatching(/^jdg_\w{27}$/),
      { success: true, id, message: 'Judgment added.' },
    ]);
    const [firstResult] = (await search({ query: 'fine' })).results;
    expect(firstResult).toMatchObject({ recordId: id, scope: 'organization', agent: null });
    expect(firstResult.createdAt).toBeGreaterThanOrEqual(before);
    expect(await stored('Job')).toEqual([]);
  });

  test('overwrites a judgment with the same id, its vectors and its time', async () => {
    await add([
      judgment({ recordId: 'r', reasoning: 'purple elephants', content: 'old content', createdAt: 5 * DAY_MS }),
    ]);
    expect(await add([judgment({ recordId: 'r', decision: 'rejected', reasoning: 'green giraffes' })])).toEqual({
      r: { success: true, id: 'r', message: 'Judgment updated.' },
    });
    const {
      results: [first],
      totalInScope,
    } = await search({ query: 'rejected\ngreen giraffes', ...nda });
    expect([first.decision, first.similarity, first.createdAt, totalInScope]).toEqual(['rejected', 1, 5 * DAY_MS, 1]);
    expect(await searchIds({ query: 'old content', embeddingType: 'content' })).toEqual([]);
    await add([judgment({ recordId: 'r', reasoning: 'green giraffes', createdAt: 9 * DAY_MS })]);
    expect(
      await searchIds({ query: 'giraffes', filters: { dateRange: { start: 9 * DAY_MS, end: 9 * DAY_MS } } }),
    ).toEqual(['r']);
    expect(await searchIds({ query: 'giraffes', filters: { dateRange: { end: 8 * DAY_MS } } })).toEqual([]);
    expect([await stored('Judgment'), await stored('JudgmentVector')].map(({ length }) => length)).toEqual([1, 1]);
  });

  test('stores judgments with the same id in different documents separately', async () => {
    for (const scope of [nda, tos, acme]) await add([judgment({ recordId: 'r' })], scope);
    expect((await search({ query: 'clause' })).totalInScope).toBe(3);
    expect(await searchIds({ query: 'clause', ...tos })).toEqual(['r']);
  });

  test('fails only for the judgment with a time in the future', async () => {
    const results = await add([
      judgment({ recordId: 'late', createdAt: Date.now() + 3_600_000 }),
      judgment({ recordId: 'good' }),
    ]);
    expect(results).toEqual({
      late: { success: false, id: 'late', message: 'createdAt must not be in the future.' },
      good: { success: true, id: 'good', message: 'Judgment added.' },
    });
    expect((await search({ query: 'clause' })).totalInScope).toBe(1);
  });

  test('stores 100 judgments per call and one judgment for parallel calls with the same id', async () => {
    await add(times(100, (n) => judgment({ recordId: `r${n}` })));
    await Promise.all(
      ['blue whale', 'red fox', 'grey wolf'].map((reasoning) => add([judgment({ recordId: 'r7', reasoning })])),
    );
    expect((await search({ query: 'x', ...nda })).totalInScope).toBe(100);
    const [{ reasoning }] = (await stored('Judgment')).filter(({ recordId }) => recordId === 'r7') as [
      { reasoning: string },
    ];
    const {
      results: [first],
    } = await search({ query: `approved\n${reasoning}`, ...nda, limit: 1 });
    expect([first.recordId, first.similarity]).toEqual(['r7', 1]);
  });

  test.each([
    ['a document', { ...acme, documentId: 'nowhere' }, [404, 'NOT_FOUND', 'Document does not exist']],
    ['an organization', { organizationId: 'nobody' }, invalid(expect.stringContaining('organizationId'))],
  ])('rejects %s that does not exist', async (_what, scope, refusal) => {
    expect(await customer.error(ADD, { ...scope, judgments: [judgment()] })).toEqual(refusal);
    expect(await stored('Judgment')).toEqual([]);
  });
});

describe('POST /v2/memory/search', () => {
  const timeAfterDays = (days: number) => Date.now() - days * DAY_MS;
  beforeAll(async () => {
    await useNewCustomer();
    await customer.addDocuments(['nda'], { organizationId: 'beta' });
    await add([
      judgment({
        recordId: 'court',
        decision: 'rejected',
        reasoning: 'names no court of jurisdiction',
        content: 'Disputes are settled somewhere.',
        contentType: 'clause',
        createdAt: timeAfterDays(1),
      }),
      judgment({
        recordId: 'price',
        reasoning: 'the price is without tax',
        content: 'Only 49.90 a month',
        contentType: 'text',
        annotationId: 'thread',
        createdAt: timeAfterDays(40),
      }),
      judgment({
        recordId: 'agent',
        reasoning: 'the price has its tax',
        agent: { agentId: 'checker' },
        annotationId: 'thread',
        createdAt: timeAfterDays(3),
      }),
    ]);
    await add(
      [
        judgment({
          recordId: 'colour',
          reasoning: 'the contrast of colours is low',
          actionUser: { userId: 'ada' },
          annotationId: 'thread',
          createdAt: timeAfterDays(2),
        }),
      ],
      tos,
    );
    await add(
      [judgment({ recordId: 'general', reasoning: 'wording of prices in general', createdAt: timeAfterDays(400) })],
      acme,
    );
    await add(
      [judgment({ recordId: 'other', reasoning: 'the price of another organization', createdAt: timeAfterDays(5) })],
      {
        organizationId: 'beta',
        documentId: 'nda',
      },
    );
  });

  test('returns the most similar judgments first, up to the limit', async () => {
    const { results, totalInScope } = await search({ query: 'price without tax', limit: 2 });
    expect(idsIn(results)).toEqual(['price', 'agent']);
    expect(results[0].similarity).toBeGreaterThan(results[1].similarity);
    expect([results[1].similarity > 0, totalInScope]).toEqual([true, 6]);
  });

  test.each([
    ['the API key without ids', {}, ['agent', 'colour', 'court', 'general', 'other', 'price']],
    ['several documents', { ...acme, documentIds: ['tos', 'nda', 'tos'] }, ['agent', 'colour', 'court', 'price']],
  ])('searches %s', async (_what, ids, expected) => {
    const { results, totalInScope } = await search({ query: 'price', ...ids });
    expect([idsIn(results).sort(), totalInScope]).toEqual([expected, expected.length]);
    expect((await searchIds({ recencyDays: 365, ...ids, limit: 50 })).sort()).toEqual(
      expected.filter((id) => id !== 'general'),
    );
  });

  test('finds a decision by exact match, and accepts unknown excluded documents and dates in both forms', async () => {
    const dateRange = { start: new Date(timeAfterDays(6)).toISOString(), end: timeAfterDays(2.5) };
    const found = async (filters: object) => (await searchIds({ query: 'price tax colours court', filters })).sort();
    expect([
      await found({ decision: 'reject' }),
      await found({ excludeDocumentIds: ['nda', 'unknown'] }),
      await found({ dateRange }),
    ]).toEqual([[], ['colour', 'general'], ['agent', 'other']]);
  });

  test('leaves out judgments of excludeDocumentIds by thread and by recencyDays', async () => {
    const filters = { excludeDocumentIds: ['nda'] };
    expect(await searchIds({ ...acme, recencyDays: 7, filters })).toEqual(['colour']);
    expect(await searchIds({ ...acme, filters: { ...filters, annotationId: 'thread' } })).toEqual(['colour']);
  });

  test('names the unknown documents of documentIds', async () => {
    const { status, body } = await customer.call(SEARCH, { ...acme, query: 'x', documentIds: ['nda', 'no', 'none'] });
    expect([status, body.error.status, body.error.message]).toEqual([404, 'NOT_FOUND', 'Document does not exist']);
    expect(body.error.details.issues.map(({ path }: { path: unknown }) => path)).toEqual([
      ['documentIds', 1],
      ['documentIds', 2],
    ]);
  });

  test('compares the reviewed content with the query if embeddingType is content', async () => {
    expect(await searchIds({ query: '49.90 a month', embeddingType: 'content' })).toEqual(['price', 'court']);
    expect(
      await searchIds({ query: 'disputes', embeddingType: 'content', filters: { contentType: 'clause' } }),
    ).toEqual(['court']);
  });

  test('returns the judgments of a thread, oldest first, for annotationId, and ignores query and recencyDays', async () => {
    const ofThread = { ...acme, query: 'court', recencyDays: 1, filters: { annotationId: 'thread' } };
    const { results, totalInScope } = await search(ofThread);
    expect(results.map(({ recordId, similarity }: any) => [recordId, similarity])).toEqual([
      ['price', 1],
      ['agent', 1],
      ['colour', 1],
    ]);
    expect(totalInScope).toBe(5);
    const found = (data: object, filters: object = {}) =>
      searchIds({ ...acme, ...data, filters: { annotationId: 'thread', ...filters } });
    for (const wide of [{ documentId: 'unknown', scope: 'apiKey' }, { scope: 'document' }])
      expect(await found(wide)).toEqual(['price', 'agent', 'colour']);
    expect(await found({ limit: 1 }, { judgeType: 'agent' })).toEqual(['agent']);
    for (const recent of [{}, { recencyDays: 1 }])
      expect(await found(recent, { dateRange: { start: timeAfterDays(10) } })).toEqual(['agent', 'colour']);
    expect(await found({}, { annotationId: 'thread 2' })).toEqual([]);
  });

  test('returns the latest judgments first for recencyDays, and ignores the date range', async () => {
    const { results } = await search({ recencyDays: 4, filters: { dateRange: { end: timeAfterDays(300) } } });
    expect(results.map(({ recordId, similarity }: any) => [recordId, similarity])).toEqual([
      ['court', 1],
      ['colour', 1],
      ['agent', 1],
    ]);
    expect(await searchIds({ recencyDays: 4, limit: 2 })).toEqual(['court', 'colour']);
  });

  test.each([
    ['no query', {}, 'query is required without recencyDays and filters.annotationId'],
    ['an organization that does not exist', { query: 'x', organizationId: 'nobody' }, 'organizationId'],
  ])('rejects %s', async (_what, data, field) => {
    expect(await customer.error(SEARCH, data)).toEqual(invalid(expect.stringContaining(field)));
  });

  describe('POST /v2/memory/judgments/query', () => {
    test('returns the latest judgments first with their total, and judgments of a thread oldest first', async () => {
      const documents = { ...acme, documentIds: ['nda', 'tos'] };
      expect([
        await query({}),
        await query({ ...acme, limit: 2 }),
        await query({ ...documents, limit: 2 }),
        await query({ ...documents, decision: 'approved', limit: 2 }),
        await query({ ...documents, annotationId: 'thread', limit: 2 }),
      ]).toEqual([
        { ids: ['court', 'colour', 'agent', 'other', 'price', 'general'], total: 6 },
        { ids: ['court', 'colour'], total: 5 },
        { ids: ['court', 'colour'], total: 4 },
        { ids: ['colour', 'agent'], total: 3 },
        { ids: ['price', 'agent'], total: 3 },
      ]);
      const { results, ...more } = await customer.result(QUERY, { ...acme, limit: 3 });
      expect(more).toEqual({ total: 5 });
      expect(results[0]).not.toHaveProperty('similarity');
      expect(results.map((row: { judgeType: string }) => row.judgeType)).toEqual(['human', 'human', 'agent']);
    });
  });
});

test('reads only as many judgments of a long thread as the answer needs, and counts all', async () => {
  await useNewCustomer();
  const inThread = (start: number) =>
    times(100, (n) => judgment({ recordId: `${start + n}`, annotationId: 'thread', createdAt: start + n }));
  for (const start of [0, 100]) await add(inThread(start));
  await add(inThread(200), tos);
  const reads = jest.spyOn(Table.prototype, 'getByKeys');
  const ofThread = { annotationId: 'thread', limit: 2 };
  expect(await query({ ...acme, ...ofThread })).toEqual({ ids: ['0', '1'], total: 300 });
  expect(await query({ ...tos, ...ofThread })).toEqual({ ids: ['200', '201'], total: 100 });
  const read = reads.mock.calls.flatMap(([entity, keys]) => ((entity as unknown) === JudgmentEntity ? keys : []));
  reads.mockRestore();
  expect(read.length).toBeLessThanOrEqual(200);
});

describe('the judgments of deleted organizations, documents and users', () => {
  beforeEach(useNewCustomer);

  const runJobs = async () => {
    const runner = new JobRunner(Date.now());
    for (const { jobId } of await stored('Job')) await runner.finish({ tenant: customer.apiKey, jobId });
  };

  test('are hidden from searches after documents/delete and organizations/delete, and a job purges them', async () => {
    await add(times(30, (n) => judgment({ recordId: `gone-${n}`, annotationId: 'thread' })));
    await add([judgment({ recordId: 'stays', reasoning: 'something else altogether' })], tos);
    await add([judgment({ recordId: 'general', reasoning: 'something else again' })], acme);
    await customer.ok('/v2/organizations/documents/delete', { ...acme, documentIds: ['nda'] });
    for (const ids of [{}, acme]) {
      expect((await searchIds({ query: 'approved\nThe clause is fine', ...ids })).sort()).toEqual(['general', 'stays']);
      expect((await query(ids)).ids.sort()).toEqual(['general', 'stays']);
      expect((await searchIds({ recencyDays: 1, ...ids })).sort()).toEqual(['general', 'stays']);
    }
    expect(await searchIds({ ...acme, filters: { annotationId: 'thread' } })).toEqual([]);
    await customer.addDocuments(['nda']);
    expect(await search({ query: 'clause', ...nda })).toMatchObject({ results: [], totalInScope: 0 });
    await runJobs();
    expect((await stored('Judgment')).map(({ recordId }) => recordId).sort()).toEqual(['general', 'stays']);
    expect(await stored('JudgmentVector')).toHaveLength(2);
    expect((await search({ query: 'clause' })).totalInScope).toBe(2);
    await customer.ok('/v2/organizations/delete', { organizationIds: ['acme'] });
    expect([await searchIds({ query: 'clause' }), await searchIds({ recencyDays: 1 }), (await query({})).ids]).toEqual(
      times(3, () => []),
    );
    await runJobs();
    expect([await stored('Judgment'), await stored('JudgmentVector')]).toEqual([[], []]);
    await customer.addDocuments(['nda']);
    expect((await search({ query: 'clause', ...nda })).totalInScope).toBe(0);
  });

  test('keep only the id of a reviewer whom users/delete removed or users/data/delete erased', async () => {
    await customer.addUsers([grace], nda);
    await customer.addOrganizations(['beta']);
    const his = judgment({ recordId: 'his', actionUser: { userId: 'bob', name: 'Bob' } });
    await add([judgment({ recordId: 'in' }), his]);
    await add([judgment({ recordId: 'elsewhere' })], tos);
    await add([judgment({ recordId: 'other' })], { organizationId: 'beta' });
    const namedAfter = async (path: string, scope: object) => {
      await customer.untyped(path, { ...scope, userIds: ['grace'] });
      await runJobs();
      const named = (await stored('Judgment')).filter(({ actionUser }) => actionUser.name !== undefined);
      return named.map(({ recordId }) => recordId).sort();
    };
    expect([
      await namedAfter('/v2/users/delete', nda),
      await namedAfter('/v2/users/delete', acme),
      await namedAfter('/v2/users/data/delete', {}),
    ]).toEqual([['elsewhere', 'his', 'other'], ['his', 'other'], ['his']]);
    const { results } = await search({ query: 'clause', filters: { reviewerId: 'grace' } });
    expect(results.map(({ actionUser }: { actionUser: object }) => actionUser)).toEqual(
      times(3, () => ({ userId: 'grace' })),
    );
    expect(JSON.stringify(await stored('Judgment'))).not.toMatch(/Grace|grace@/);
  });
});
