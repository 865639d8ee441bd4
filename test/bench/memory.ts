/**
 * Measures memory search among 1,000 and 5,000 judgments: time, recall, cost and the lexical embedding. Compares it
 * with the vector search of the engine.
 */
import { SearchVectorsCommand } from '@aws-sdk/lib-dynamodb';
import { MILLION, tableDollars } from '../../infra/cost/prices.ts';
import { lexicalEmbedder } from '../../lib/memory/embedders.ts';
import { vectorsOf } from '../../lib/memory/entities.ts';
import { lexical, LEXICAL_MODEL } from '../../lib/memory/rules/lexical.ts';
import { vectorPartition } from '../../lib/memory/vectorIndexes.ts';
import { type Customer, newCustomer } from '../support/customer.ts';
import { startEngine, TABLE_NAME } from '../support/engine.ts';
import {
  FIRST_DAY,
  manyJudgments,
  numbers,
  putMany,
  queryOf,
  rankedExactly,
  type SentJudgment,
} from '../support/memory.ts';
import { evaluateEmbedding, queryKinds } from '../support/memoryEvaluation.ts';
import { times } from '../support/times.ts';
import { printTable, quantile, quantiles, ratio, reached, type Row, timed } from './report.ts';
import { READS, recordTableCalls, WRITES } from './tableCalls.ts';

const SIZES = [1_000, 5_000];
const TURNS = 17;
const LIMIT = 10;
/** The number of results that a request first reads from the vector index. */
const TOP_K = 2 * LIMIT;
const RECALL_QUERIES = 3;
const DAY_MS = 24 * 60 * 60_000;

const engine = await startEngine();
const { client, send, calls, sumOf, units } = recordTableCalls();
const spent = (kind: RegExp) => sumOf(kind, ({ milliseconds }) => milliseconds);
const vectorBytes = () =>
  sumOf(/./, ({ capacity }) =>
    capacity
      .flatMap(({ VectorIndexes = {} }) => Object.values<any>(VectorIndexes))
      .reduce((sum: number, { VectorWriteRequestBytes = 0 }) => sum + Number(VectorWriteRequestBytes), 0),
  );

const search = (customer: Customer, data: object) => customer.result('/v2/memory/search', { limit: LIMIT, ...data });

await printCosts();
const [durations, parts, recalls, counts]: [Row[], Row[], Row[], Row[]] = [[], [], [], []];
for (const size of SIZES) await measure(size);
printTable(
  `Searching for ${LIMIT} judgments, milliseconds; goal: at most 1.3× of the engine's own SearchVectors of as many, in turns with it`,
  ['judgments', 'request p50', 'p99', 'engine p50', 'p99', 'p50', 'reached'],
  durations,
);
printTable(
  'Time of a request by step, milliseconds, p50 and p99; reading and counting overlap',
  ['judgments', 'embed', 'search', 'hydrate', 'count', 'the rest'],
  parts,
);
printTable(
  'Cost of a search: read units without vectors; bytes of vectors as the engine bills them; dollars per million searches for the units',
  ['judgments', 'hydrate', 'count', 'vector bytes', 'dollars'],
  counts,
);
printTable(
  `Recall against an exact ranking of the same vectors, the first ${LIMIT} of ${RECALL_QUERIES} queries each; goal: 1.00`,
  ['judgments', 'among', 'matches', 'recall', 'searches', 'p50 ms'],
  recalls,
);
const precision = await evaluateEmbedding(lexicalEmbedder);
printTable(
  'The lexical embedding on the set in test/data/memory: share of correct first hits',
  ['queries', 'first', 'first five'],
  queryKinds.map((kind) => [kind, precision[kind].at1.toFixed(2), precision[kind].at5.toFixed(2)]),
);
client.destroy();
await engine.stop();

/** Prints what it costs to write one judgment, alone and in a call with a hundred judgments. */
async function printCosts(): Promise<void> {
  const customer = await newCustomer();
  await customer.ok('/v2/organizations/documents/add', {
    organizationId: 'acme',
    createOrganization: true,
    documents: [{ documentId: 'nda' }],
  });
  const rows: Row[] = [];
  const random = numbers(11);
  for (const [label, count, content] of [
    ['one', 1, false],
    ['one with 1 KB of content', 1, true],
    ['of a hundred', 100, false],
    ['of a hundred with 1 KB of content', 100, true],
  ] as const) {
    const judgments = times(count, () => ({
      decision: 'approved',
      reasoning: queryOf(random),
      actionUser: { userId: 'ada' },
      content: content
        ? times(30, () => queryOf(random))
            .join(' ')
            .slice(0, 1_024)
        : undefined,
    }));
    const add = () => customer.ok('/v2/memory/judgments/add', { organizationId: 'acme', documentId: 'nda', judgments });
    await add();
    calls.length = 0;
    await add();
    const [read, written] = [units(READS) / count, units(WRITES) / count];
    rows.push([
      label,
      read.toFixed(2),
      written.toFixed(2),
      Math.round(vectorBytes() / count),
      tableDollars({ read: read * MILLION, written: written * MILLION }).toFixed(2),
    ]);
  }
  printTable(
    "Writing a judgment with its lexical vectors: units; bytes of vectors by the engine's bill; dollars per million of the units",
    ['judgment', 'reads', 'writes', 'vector bytes', 'dollars'],
    rows,
  );
}

async function measure(size: number): Promise<void> {
  const customer = await newCustomer();
  const judgments = manyJudgments(size);
  await putMany(engine.lean, customer, 'acme', judgments);
  const random = numbers(17);
  const [requests, engines]: [number[], number[]] = [[], []];
  const split = { embed: [], search: [], hydrate: [], count: [], others: [] } as Record<string, number[]>;
  for (let round = -3; round < TURNS; round++) {
    const query = queryOf(random);
    const engineTime = await timed(() => engineSearch(customer, query));
    calls.length = 0;
    const requestTime = await timed(() => search(customer, { query, organizationId: 'acme' }));
    if (round < 0) continue;
    engines.push(engineTime);
    requests.push(requestTime);
    const embed = await timed(async () => lexical(query));
    const [vectors, hydrate, count] = [spent(/^SearchVectors$/), spent(/^BatchGet$/), spent(/^Query$/)];
    const others = Math.max(0, requestTime - embed - vectors - hydrate);
    for (const [name, value] of Object.entries({ embed, search: vectors, hydrate, count, others }))
      split[name]!.push(value);
  }
  const [ours, theirs] = [quantile(requests, 0.5), quantile(engines, 0.5)];
  durations.push([
    size,
    ours.toFixed(1),
    quantile(requests, 0.99).toFixed(1),
    theirs.toFixed(1),
    quantile(engines, 0.99).toFixed(1),
    ratio(ours, theirs),
    reached(ours / theirs, 1.3),
  ]);
  parts.push([size, ...Object.values(split).map((values) => quantiles(values))]);
  const [hydrated, counted] = [units(/^(Get|BatchGet)$/), units(/^Query$/)];
  const bytes = calls.find(({ name }) => name === 'SearchVectors')?.capacity[0]?.VectorSearchRequestBytes ?? 0;
  counts.push([
    size,
    hydrated,
    counted,
    Math.round(bytes),
    tableDollars({ read: (hydrated + counted) * MILLION, written: 0 }).toFixed(2),
  ]);
  await measureRecall(customer, judgments);
}

async function measureRecall(customer: Customer, judgments: readonly SentJudgment[]): Promise<void> {
  const timeAfterDays = (days: number) => FIRST_DAY + days * DAY_MS;
  const range = (start: number, end: number) =>
    [
      { filters: { dateRange: { start, end } } },
      ({ createdAt }: SentJudgment) => createdAt >= start && createdAt <= end,
    ] as const;
  const among: readonly (readonly [string, object, (judgment: SentJudgment) => boolean])[] = [
    ['all', {}, () => true],
    ['10 %', { filters: { decision: 'tenth' } }, ({ decision }) => decision === 'tenth'],
    ['1 %', { filters: { contentType: 'hundredth' } }, ({ contentType }) => contentType === 'hundredth'],
    ['0.1 %', { filters: { reviewerId: 'thousandth' } }, ({ actionUser }) => actionUser.userId === 'thousandth'],
    ['a day', ...range(timeAfterDays(100), timeAfterDays(101) - 1)],
    ['two days over the end of a year', ...range(timeAfterDays(364), timeAfterDays(366) - 1)],
    ['three weeks', ...range(timeAfterDays(40.3), timeAfterDays(61.9))],
    ['all but a day', ...range(timeAfterDays(0.5), timeAfterDays(729.5))],
  ];
  for (const [label, data, meets] of among) {
    const random = numbers(23);
    const matching = judgments.filter(meets);
    let [hits, expected] = [0, 0];
    const taken: number[] = [];
    calls.length = 0;
    for (let n = 0; n < RECALL_QUERIES; n++) {
      const query = queryOf(random);
      const exact = rankedExactly(matching, query, LIMIT);
      let recordIds: string[] = [];
      taken.push(
        await timed(async () => {
          recordIds = (await search(customer, { query, ...data })).results.map(
            ({ recordId }: { recordId: string }) => recordId,
          );
        }),
      );
      hits += exact.filter((id) => recordIds.includes(id)).length;
      expected += exact.length;
    }
    const searches = calls.filter(({ name }) => name === 'SearchVectors').length / RECALL_QUERIES;
    recalls.push([
      judgments.length,
      label,
      matching.length,
      expected === 0 ? '-' : (hits / expected).toFixed(2),
      searches.toFixed(1),
      quantile(taken, 0.5).toFixed(1),
    ]);
  }
}

/** Runs the engine's vector search without the service, on the same number of vectors in the same organization. */
async function engineSearch({ apiKey }: Customer, query: string): Promise<void> {
  await send(
    new SearchVectorsCommand({
      TableName: TABLE_NAME,
      IndexName: 'review',
      SearchVector: Array.from(lexical(query)),
      TopK: TOP_K,
      SearchConditionExpression: `${vectorPartition} = :of`,
      ExpressionAttributeValues: { ':of': vectorsOf(apiKey, LEXICAL_MODEL) },
    }),
  );
}
