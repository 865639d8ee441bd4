import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { vectorsOp } from '../../lib/memory/embeddingStore.ts';
import { JudgmentEntity } from '../../lib/memory/entities.ts';
import { type Judgment, reviewText, toJudgment } from '../../lib/memory/rules/judgments.ts';
import { lexical, LEXICAL_MODEL } from '../../lib/memory/rules/lexical.ts';
import { distance } from '../../lib/memory/rules/similarity.ts';
import type { Customer } from './customer.ts';
import { TABLE_NAME } from './engine.ts';
import type { TableClient } from './leanClient.ts';
import { numbers } from './numbers.ts';
import { times } from './times.ts';

export { numbers };

/** A judgment to add, with its document. */
export interface SentJudgment {
  readonly documentId: string | undefined;
  readonly recordId: string;
  readonly decision: string;
  readonly reasoning: string;
  readonly contentType: string;
  readonly actionUser: { readonly userId: string };
  readonly agent?: { readonly agentId: string };
  readonly createdAt: number;
}

export const FIRST_DAY = Date.UTC(2025, 0, 1);
const DAY_MS = 24 * 60 * 60_000;
const words =
  'price tax clause page link colour contrast label heading image footer date currency total shipping refund policy consent cookie form button text wording tone brand legal privacy'.split(
    ' ',
  );

/**
 * Returns judgments of one organization, spread over two years. One in 10 has the decision `tenth`. One in 100 has the
 * content type `hundredth`. One in 1,000 has the reviewer `thousandth`.
 */
export function manyJudgments(count: number): SentJudgment[] {
  const random = numbers(7);
  return times(count, (n) => ({
    documentId: n % 5 === 0 ? undefined : `document-${random(4)}`,
    recordId: `judgment-${n}`,
    decision: n % 10 === 3 ? 'tenth' : random(2) ? 'approved' : 'rejected',
    reasoning: times(8 + random(12), () => words[random(words.length)]).join(' '),
    contentType: n % 100 === 42 ? 'hundredth' : 'text',
    actionUser: { userId: n % 1_000 === 777 ? 'thousandth' : `reviewer-${random(5)}` },
    ...(random(4) === 0 && { agent: { agentId: 'checker' } }),
    createdAt: FIRST_DAY + random(730) * DAY_MS + random(DAY_MS),
  }));
}

/**
 * The internal ids of documents that `putMany` has added. They are kept, because they can be read only when the
 * document is added.
 */
const internalIds = new Map<string, string>();

/**
 * Writes judgments and their vectors directly into the table, in the form in which `judgments/add` stores them. Adds
 * missing documents.
 */
export async function putMany(
  client: TableClient,
  customer: Customer,
  organizationId: string,
  judgments: readonly SentJudgment[],
): Promise<void> {
  const documentIds = [...new Set(judgments.flatMap(({ documentId = [] }) => documentId))];
  const { [organizationId]: organization } = await customer.ok('/v2/organizations/add', {
    organizations: [{ organizationId }],
  });
  const nameOf = (documentId: string) => JSON.stringify([customer.apiKey, organizationId, documentId]);
  const missing = documentIds.filter((documentId) => !internalIds.has(nameOf(documentId)));
  if (missing.length > 0) {
    const added = await customer.ok('/v2/organizations/documents/add', {
      organizationId,
      documents: missing.map((documentId) => ({ documentId })),
    });
    for (const documentId of missing) internalIds.set(nameOf(documentId), added[documentId].id);
  }
  const puts = judgments
    .flatMap(({ documentId, recordId, ...sent }) => {
      const scope = {
        organizationKey: organization.id,
        organizationId,
        documentKey: documentId && internalIds.get(nameOf(documentId)),
        documentId,
      };
      const judgment: Judgment = toJudgment(sent, recordId, scope, 0);
      const vectors = vectorsOp(customer.apiKey, LEXICAL_MODEL, {
        judgment: { ...judgment, _r: 1 },
        review: lexical(reviewText(judgment)),
      });
      return [JudgmentEntity.toItem({ tenant: customer.apiKey, ...judgment }), 'put' in vectors ? vectors.put : {}];
    })
    .map((Item) => ({ PutRequest: { Item } }));
  for (let start = 0; start < puts.length; start += 25)
    await client.send(new BatchWriteCommand({ RequestItems: { [TABLE_NAME]: puts.slice(start, start + 25) } }));
}

/** The vectors of judgments that were ranked before. */
const ranked = new WeakMap<SentJudgment, readonly number[]>();

function storedVector(judgment: SentJudgment): readonly number[] {
  const known = ranked.get(judgment) ?? round(lexical(`${judgment.decision}\n${judgment.reasoning}`));
  ranked.set(judgment, known);
  return known;
}

/**
 * Ranks all judgments by their similarity to a query. Returns the ids of the first `limit`. If two are equally
 * similar, the later one comes first.
 */
export function rankedExactly(judgments: readonly SentJudgment[], query: string, limit: number): string[] {
  const vector = lexical(query);
  return judgments
    .map((judgment) => ({
      recordId: judgment.recordId,
      createdAt: judgment.createdAt,
      distanceToQuery: distance(vector, storedVector(judgment)),
    }))
    .sort((a, b) => a.distanceToQuery - b.distanceToQuery || b.createdAt - a.createdAt)
    .slice(0, limit)
    .map(({ recordId }) => recordId);
}

/** Returns a vector with values of four significant digits, as stored. */
function round(vector: Float32Array): number[] {
  return Array.from(vector, (value) => Number(value.toPrecision(4)));
}

/** Returns a query of words that the judgments contain. */
export function queryOf(random: (below: number) => number): string {
  return times(3 + random(6), () => words[random(words.length)]).join(' ');
}
