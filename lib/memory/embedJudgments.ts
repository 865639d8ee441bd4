import type { Embedder, Embedders } from './embedders.ts';
import { type EmbeddingState, modelsToEmbed } from './rules/embeddingModels.ts';
import { contentText, type Judgment, reviewText } from './rules/judgments.ts';

type JudgmentTexts = Pick<Judgment, 'decision' | 'reasoning' | 'content'>;

export interface Embedded<J> {
  readonly judgment: J;
  readonly review: Float32Array;
  readonly content?: Float32Array | undefined;
}

export interface EmbeddingResult<J> {
  readonly vectors: readonly { readonly model: string; readonly embedded: readonly Embedded<J>[] }[];
  readonly failure?: Error;
  readonly unavailableModel?: string;
}

export async function embedWith<J extends JudgmentTexts>(
  embedder: Embedder,
  judgments: readonly J[],
): Promise<Embedded<J>[]> {
  const contents = judgments.map(contentText);
  const texts = [...judgments.map(reviewText), ...contents.filter((text) => text !== undefined)];
  const vectors = await embedder.embed(texts);
  const contentVectors = vectors.slice(judgments.length).values();
  return judgments.map((judgment, index) => ({
    judgment,
    review: vectors[index] ?? new Float32Array(),
    content: contents[index] === undefined ? undefined : contentVectors.next().value,
  }));
}

/**
 * Embeds with the configured model, the model that searches use, and the one to which they will change. Never throws:
 * the result has the error of a model.
 */
export async function embedJudgments<J extends JudgmentTexts>(
  { current, of }: Embedders,
  state: EmbeddingState | undefined,
  judgments: readonly J[],
): Promise<EmbeddingResult<J>> {
  const embedders = modelsToEmbed(state, current.model).flatMap((model) => of(model) ?? []);
  const outcomes = await Promise.allSettled(embedders.map((embedder) => embedWith(embedder, judgments)));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  return {
    vectors: embedders.flatMap(({ model }, index) => {
      const outcome = outcomes[index];
      return outcome?.status === 'fulfilled' ? [{ model, embedded: outcome.value }] : [];
    }),
    ...(failed && { failure: failed.reason as Error }),
    ...(state?.next !== undefined && !of(state.next) && { unavailableModel: state.next }),
  };
}
