import { DIMENSIONS } from '../../bedrock/rules.ts';
import { features } from './lexicalFeatures.ts';

/** Vectors under different names are never compared. Increase the number whenever the code changes any vector. */
export const LEXICAL_MODEL = 'lexical-1';

/** Two features that share a dimension by chance usually differ in the others. */
const DIMENSIONS_PER_FEATURE = 4;

/**
 * Returns the unit vector of a text by feature hashing. Texts with the same words, or other forms of them, have near
 * vectors in any language. The result is the same on every machine.
 */
export function lexical(text: string): Float32Array {
  const sums = new Float64Array(DIMENSIONS);
  for (const [feature, weight] of features(text)) {
    let state = hashOf(feature);
    for (let repetition = 0; repetition < DIMENSIONS_PER_FEATURE; repetition++) {
      state = mixBits(state + 0x9e3779b9);
      const index = state % DIMENSIONS;
      // The sign comes from a bit that the index does not use, so features that share a dimension cancel out on
      // average.
      sums[index] = (sums[index] ?? 0) + ((state >>> 16) & 1 ? weight : -weight);
    }
  }
  return toUnitVector(sums);
}

function toUnitVector(sums: Float64Array): Float32Array {
  let squares = 0;
  for (const value of sums) squares += value * value;
  const length = Math.sqrt(squares);
  return length > 1e-9
    ? new Float32Array(sums.map((value) => value / length))
    : new Float32Array(DIMENSIONS).fill(1, 0, 1);
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** The final steps of MurmurHash3: each bit of the value affects all bits of the result. */
function mixBits(value: number): number {
  let mixed = value >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
