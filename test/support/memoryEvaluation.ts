import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Embedder } from '../../lib/memory/embedders.ts';
import { embedWith } from '../../lib/memory/embedJudgments.ts';
import type { Judgment } from '../../lib/memory/rules/judgments.ts';

/**
 * How the words of a query differ from those of the judgments to find. `words`: not at all. `forms`: by word forms and
 * typos. `paraphrase`: other words.
 */
export const queryKinds = ['words', 'forms', 'paraphrase'] as const;
export type QueryKind = (typeof queryKinds)[number];

interface Query {
  readonly kind: QueryKind;
  readonly topic: string;
  readonly query: string;
}

/**
 * The judgments of the evaluation set: five on each of 15 topics. The set was written before the embeddings were made.
 */
export const evaluationJudgments: readonly (Pick<Judgment, 'recordId' | 'decision' | 'reasoning' | 'content'> & {
  readonly topic: string;
})[] = read('judgments');
export const evaluationQueries: readonly Query[] = read('queries');

function read(name: string): any {
  return JSON.parse(readFileSync(join(import.meta.dirname, `../data/memory/${name}.json`), 'utf8'));
}

/** The share of results that are on the query's topic: in first place (`at1`) and in the first five places (`at5`). */
export interface Precision {
  readonly at1: number;
  readonly at5: number;
}

/**
 * Returns the precision of an embedding on the evaluation set, for each kind of query. Ranks all judgments for each
 * query.
 */
export async function evaluateEmbedding(embedder: Embedder): Promise<Record<QueryKind, Precision>> {
  const embedded = await embedWith(embedder, evaluationJudgments);
  const vectors = await embedder.embed(evaluationQueries.map(({ query }) => query));
  const hits = evaluationQueries.map(({ kind, topic }, index) => {
    const ranked = embedded
      .map((entry) => ({ hit: entry.judgment.topic === topic, similarity: dot(entry.review, vectors[index]!) }))
      .toSorted((a, b) => b.similarity - a.similarity);
    return { kind, at1: Number(ranked[0]!.hit), at5: ranked.slice(0, 5).filter(({ hit }) => hit).length / 5 };
  });
  const mean = (kind: QueryKind): Precision => {
    const hitsOfKind = hits.filter((hit) => hit.kind === kind);
    return {
      at1: hitsOfKind.reduce((sum, { at1 }) => sum + at1, 0) / hitsOfKind.length,
      at5: hitsOfKind.reduce((sum, { at5 }) => sum + at5, 0) / hitsOfKind.length,
    };
  };
  return { words: mean('words'), forms: mean('forms'), paraphrase: mean('paraphrase') };
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}
