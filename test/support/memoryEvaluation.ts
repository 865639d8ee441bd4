import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Judgment } from '../../lib/memory/rules/judgments.ts';
import { embedWith } from '../../lib/memory/embedJudgments.ts';
import type { Embedder } from '../../lib/memory/embedders.ts';

/** Wording of a query compared with the judgments to find: the same words, other forms and typos, or a paraphrase. */
export const queryKinds = ['words', 'forms', 'paraphrase'] as const;
export type QueryKind = (typeof queryKinds)[number];

interface Query {
  readonly kind: QueryKind;
  readonly topic: string;
  readonly query: string;
}

/** The evaluation set: 75 judgments, five per topic, and three queries per topic. It is older than the embeddings. */
export const evaluationJudgments: readonly (Pick<Judgment, 'recordId' | 'decision' | 'reasoning' | 'content'> & {
  readonly topic: string;
})[] = read('judgments');
export const evaluationQueries: readonly Query[] = read('queries');

function read(name: string): any {
  return JSON.parse(readFileSync(join(import.meta.dirname, `../data/memory/${name}.json`), 'utf8'));
}

/** The share of hits with the query's topic, of the first hit and of the first five. */
export interface Precision {
  readonly at1: number;
  readonly at5: number;
}

/** Returns the precision of an embedding on the set by kind of query, with an exact comparison of vectors. */
export async function evaluateEmbedding(
  embedder: Embedder,
  of: 'review' | 'content' = 'review',
): Promise<Record<QueryKind, Precision>> {
  const embedded = await embedWith(embedder, evaluationJudgments);
  const vectors = await embedder.embed(evaluationQueries.map(({ query }) => query));
  const hits = evaluationQueries.map(({ kind, topic }, index) => {
    const ranked = embedded
      .map((one) => ({ hit: one.judgment.topic === topic, by: dot(one[of]!, vectors[index]!) }))
      .toSorted((a, b) => b.by - a.by);
    return { kind, at1: Number(ranked[0]!.hit), at5: ranked.slice(0, 5).filter(({ hit }) => hit).length / 5 };
  });
  const mean = (kind: QueryKind): Precision => {
    const those = hits.filter((one) => one.kind === kind);
    return {
      at1: those.reduce((sum, one) => sum + one.at1, 0) / those.length,
      at5: those.reduce((sum, one) => sum + one.at5, 0) / those.length,
    };
  };
  return { words: mean('words'), forms: mean('forms'), paraphrase: mean('paraphrase') };
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, index) => sum + value * b[index]!, 0);
}
