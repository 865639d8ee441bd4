import { features } from './lexicalFeatures.ts';

/** Numbers in a vector, whichever model makes it. */
export const DIMENSIONS = 512;

/** The name of this embedding. Another number comes with whatever makes other vectors of the same texts. */
export const LEXICAL_MODEL = 'lexical-1';

/** In how many places a feature is counted: two features that share one then still differ in the others. */
const PLACES = 4;

/**
 * The vector of a text by its words and their parts: texts with the same words, or with forms of them, lie close together, whatever the
 * language; what says the same in other words does not. The same text gives the same unit vector on every machine.
 */
export function lexical(text: string): Float32Array {
  const sums = new Float64Array(DIMENSIONS);
  for (const [feature, weight] of features(text)) {
    let state = hashOf(feature);
    for (let scope = 0; scope < PLACES; scope++) {
      state = scrambled(state + 0x9e3779b9);
      const index = state % DIMENSIONS;
      // A bit that has no part in the index: signs that go with places would not cancel out.
      sums[index] = sums[index]! + ((state >>> 16) & 1 ? weight : -weight);
    }
  }
  return unit(sums);
}

/** A vector of length 1 in the same direction. The sums are never all zero but by chance; then there is no direction, and the first axis is as good as any. */
function unit(sums: Float64Array): Float32Array {
  const length = Math.sqrt(sums.reduce((total, value) => total + value * value, 0));
  if (length > 1e-9) return Float32Array.from(sums, (value) => value / length);
  const axis = new Float32Array(DIMENSIONS);
  axis[0] = 1;
  return axis;
}

/** FNV-1a over the code units, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** Every bit of the result depends on every bit of the value (the finaliser of MurmurHash3). */
function scrambled(value: number): number {
  let mixed = value >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
