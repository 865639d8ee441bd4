import { type Capability, combine } from '../app/capability.ts';
import { TITAN_MODEL, titanEmbedder } from '../bedrock/titan.ts';
import { lexical, LEXICAL_MODEL } from './rules/lexical.ts';

/** Turns texts into vectors. Vectors of different models cannot be compared. */
export interface Embedder {
  readonly model: EmbeddingModel;
  /** Returns a unit vector of 512 numbers for each text. Throws UNAVAILABLE if the model fails. */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
}

export const embeddingModels = [LEXICAL_MODEL, TITAN_MODEL] as const;
export type EmbeddingModel = (typeof embeddingModels)[number];

export interface Embedders {
  readonly current: Embedder;
  /** Undefined for a model that this deployment cannot call. */
  readonly of: (model: string) => Embedder | undefined;
}

export const lexicalEmbedder: Embedder = {
  model: LEXICAL_MODEL,
  embed: (texts) => Promise.resolve(texts.map(lexical)),
};

export const embedders: Capability<Embedders> = /* @__PURE__ */ combine(
  { titan: titanEmbedder },
  ({ titan }, { EMBEDDING_MODEL }): Embedders => {
    const current = EMBEDDING_MODEL === 'lexical' ? lexicalEmbedder : titan;
    return { current, of: (model) => [current, lexicalEmbedder].find((embedder) => embedder.model === model) };
  },
  ['EMBEDDING_MODEL'],
);
