import type { Embedder, Embedders } from './embedders.ts';
import { type EmbeddingState, modelsToEmbed } from './rules/embeddingModels.ts';
import { contentText, type Judgment, reviewText } from './rules/judgments.ts';

type JudgmentTexts = Pick<Judgment, 'decision' | 'reasoning' | 'content'>;

/** A judgment with its vectors by one model. */
export interface Embedded<J> {
  readonly judgment: J;
  readonly review: Float32Array;
  /** Absent when the judgment has no content. */
  readonly content?: Float32Array | undefined;
}

/** The vectors that several models made of the same judgments. */
export interface EmbeddingResult<J> {
  readonly made: readonly { readonly model: string; readonly embedded: readonly Embedded<J>[] }[];
  /** The error of a model; its vectors are missing. */
  readonly failure?: Error;
  /** The next model of the tenant when this deployment cannot call it; functions of another deployment can. */
  readonly unavailableModel?: string;
}

/** Embeds the texts of judgments in one call of the embedder. */
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
 * Embeds judgments with every model that searches of the tenant use now or next. Never throws: the result names the
 * models whose vectors are missing.
 */
export async function embedJudgments<J extends JudgmentTexts>(
  { current, of }: Embedders,
  state: EmbeddingState | undefined,
  judgments: readonly J[],
): Promise<EmbeddingResult<J>> {
  // A model of searches without an embedder is left out: searches then compare the texts.
  const embedders = modelsToEmbed(state, current.model).flatMap((model) => of(model) ?? []);
  const outcomes = await Promise.allSettled(embedders.map((embedder) => embedWith(embedder, judgments)));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  return {
    made: embedders.flatMap(({ model }, index) => {
      const outcome = outcomes[index];
      return outcome?.status === 'fulfilled' ? [{ model, embedded: outcome.value }] : [];
    }),
    ...(failed && { failure: failed.reason as Error }),
    ...(state?.next !== undefined && !of(state.next) && { unavailableModel: state.next }),
  };
}
