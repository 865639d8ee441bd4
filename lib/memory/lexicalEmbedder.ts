import { lexical, LEXICAL_MODEL } from './rules/lexical.ts';
import type { Embedder } from './embedder.ts';

/** The embedding that asks nobody. */
export const lexicalEmbedder: Embedder = {
  model: LEXICAL_MODEL,
  embed: async (texts) => texts.map(lexical),
};
