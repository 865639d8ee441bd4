import type { Embedder, Embedders } from './embedders.ts';
import { type EmbeddingState, modelsToEmbed } from './rules/embeddingModels.ts';
import { contentText, type Judgment, reviewText } from './rules/judgments.ts';

type JudgmentTexts = Pick<Judgment, 'decision' | 'reasoning' | 'content'>;

/** A judgment with the vectors that one model made of it. */
export interface Embedded<J> {
  readonly judgment: J;
  readonly review: Float32Array;
  /** The vector of the content; absent if the judgment has no content. */
  readonly content?: Float32Array | undefined;
}

/** The vectors that several models made of the same judgments. */
export interface EmbeddingResult<J> {
  readonly vectors: readonly { readonly model: string; readonly embedded: readonly Embedded<J>[] }[];
  /** The error of a model. The vectors of this model are missing. */
  readonly failure?: Error;
  /** The next model of the tenant, if this deployment cannot call it. A deployment that is configured for the model can. */
  readonly unavailableModel?: string;
}

/** Returns the judgments with their vectors. It calls the embedder once. */
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
 * Embeds judgments with the configured model, and with the models that searches of the tenant use now or will use next.
 * Never throws. The result has the error of a model that failed.
 */
export async function embedJudgments<J extends JudgmentTexts>(
  { current, of }: Embedders,
  state: EmbeddingState | undefined,
  judgments: readonly J[],
): Promise<EmbeddingResult<J>> {
  // If this deployment has no embedder for the model of searches, searches compare texts and need no vectors of it.
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
