import type { Embedder, Embedders } from './embedders.ts';
import { type EmbeddingState, modelsToEmbed } from './rules/embeddingModels.ts';
import { contentText, type Judgment, reviewText } from './rules/judgments.ts';

type JudgmentTexts = Pick<Judgment, 'decision' | 'reasoning' | 'content'>;

/** A judgment, and the vectors that one model made of its texts. */
export interface Embedded<J> {
  readonly judgment: J;
  readonly review: Float32Array;
  /** The vector of the content. Absent if the judgment has no content. */
  readonly content?: Float32Array | undefined;
}

/** The vectors that several models made of the same judgments. */
export interface EmbeddingResult<J> {
  readonly vectors: readonly { readonly model: string; readonly embedded: readonly Embedded<J>[] }[];
  /** The error of a model whose vectors are missing. */
  readonly failure?: Error;
  /**
   * The model to which the tenant's searches will change, if this deployment cannot call it. A deployment that is
   * configured for the model can call it.
   */
  readonly unavailableModel?: string;
}

/** Returns the judgments with their vectors. Calls the embedder once for all texts. */
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
 * Embeds judgments with the configured model, the model that the tenant's searches use, and the model to which they
 * will change. Never throws. If a model fails, the result has its error.
 */
export async function embedJudgments<J extends JudgmentTexts>(
  { current, of }: Embedders,
  state: EmbeddingState | undefined,
  judgments: readonly J[],
): Promise<EmbeddingResult<J>> {
  // If this deployment cannot call the model that searches use, searches compare texts instead, and need no vectors of that model.
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
