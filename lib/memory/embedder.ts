import { building, type Capability } from '../app/capability.ts';
import { lexical, LEXICAL_MODEL } from './rules/lexical.ts';
import { asksTitan, TITAN_MODEL } from '../bedrock/titan.ts';

/** Turns texts into vectors. Those of two models cannot be compared. */
export interface Embedder {
  readonly model: EmbeddingModel;
  /**
   * Unit vectors of 512 numbers, one for each text, in their order. UNAVAILABLE when the model does not answer until `deadline` (epoch ms;
   * 10 s from now when left out) or refuses; then none.
   */
  embed(texts: readonly string[], options?: { readonly deadline?: number | undefined }): Promise<Float32Array[]>;
}

export const embeddingModels = [LEXICAL_MODEL, TITAN_MODEL] as const;
export type EmbeddingModel = (typeof embeddingModels)[number];

export interface Embedders {
  /** That of the operator's setting, which new vectors are made by. */
  readonly current: Embedder;
  /** That of a model, if this deployment can ask it: a model of Bedrock only while the setting names it. */
  of(model: string): Embedder | undefined;
}

/** Computes vectors from words alone, without a model service. */
export const lexicalEmbedder: Embedder = {
  model: LEXICAL_MODEL,
  embed: async (texts) => texts.map(lexical),
};

/** Turn texts into vectors. */
export const embeds: Capability<Embedders> = /* @__PURE__ */ building([asksTitan], {
  grants: [],
  env: ['EMBEDDING_MODEL'],
  open: (env) => {
    const current = env.EMBEDDING_MODEL === 'lexical' ? lexicalEmbedder : asksTitan.open(env);
    return { current, of: (model) => [current, lexicalEmbedder].find((embedder) => embedder.model === model) };
  },
});
