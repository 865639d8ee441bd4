import type { EmbeddingState } from './entities.ts';
import { contentText, type Judgment, reviewText } from './rules/judgments.ts';
import type { Embedder, Embedders } from './embedder.ts';
import { wantedModels } from './embeddingModels.ts';

type Texts = Pick<Judgment, 'decision' | 'reasoning' | 'content'>;

/** A judgment with the vectors that a model made of it. */
export interface Embedded<J> {
  readonly judgment: J;
  readonly review: Float32Array;
  /** Of what was reviewed, where the judgment says that. */
  readonly content: Float32Array | undefined;
}

/** What came of making the vectors of judgments. */
export interface MadeVectors<J> {
  readonly made: readonly { readonly model: string; readonly embedded: readonly Embedded<J>[] }[];
  /** What a model failed with: its vectors are to be made later. */
  readonly failure?: unknown;
  /** The model that takes the place of the present one, when this deployment cannot ask it: that of another version of this function can. */
  readonly unasked?: string;
}

/** The vectors of judgments by one model, asked for all of their texts at once. */
export async function embedJudgments<J extends Texts>(
  embedder: Embedder,
  judgments: readonly J[],
  deadline?: number,
): Promise<Embedded<J>[]> {
  const contents = judgments.map(contentText);
  const given = contents.filter((text) => text !== undefined);
  const vectors = await embedder.embed([...judgments.map(reviewText), ...given], { deadline });
  const [reviews, rest] = [vectors.slice(0, judgments.length), vectors.slice(judgments.length).values()];
  return judgments.map((judgment, index) => ({
    judgment,
    review: reviews[index]!,
    content: contents[index] === undefined ? undefined : rest.next().value,
  }));
}

/**
 * The vectors of judgments by every model that searches of their tenant go by, now or soon. Never fails: it says what is missing. A model
 * of searches that cannot be asked any more is no loss: searches do without it.
 */
export async function makeVectors<J extends Texts>(
  { current, of }: Embedders,
  state: EmbeddingState | undefined,
  judgments: readonly J[],
  deadline?: number,
): Promise<MadeVectors<J>> {
  const models = wantedModels(state, current.model);
  const outcomes = await Promise.allSettled(
    models.flatMap((model) => {
      const embedder = of(model);
      return embedder ? [embedJudgments(embedder, judgments, deadline).then((embedded) => ({ model, embedded }))] : [];
    }),
  );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  const unasked = state?.next !== undefined && !of(state.next) ? state.next : undefined;
  return {
    made: outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])),
    ...(failed && { failure: failed.reason as unknown }),
    ...(unasked !== undefined && { unasked }),
  };
}
