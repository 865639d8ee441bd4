/** Numbers in a vector of any embedding model. */
export const DIMENSIONS = 512;

/** Returns 1 minus the cosine of the angle of two vectors, 0 to 2, as the vector index does; 1 for a vector of length 0. */
export function distance(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let [product, ones, others] = [0, 0, 0];
  for (let index = 0; index < one.length; index++) {
    const [a = 0, b = 0] = [one[index], other[index]];
    product += a * b;
    ones += a * a;
    others += b * b;
  }
  return ones === 0 || others === 0 ? 1 : 1 - product / Math.sqrt(ones * others);
}

/** Returns the similarity of two texts, 0 to 1 with four digits, from the distance of their vectors. */
export function similarityOf(distance: number): number {
  return Math.round(Math.min(Math.max(1 - distance, 0), 1) * 10_000) / 10_000;
}
