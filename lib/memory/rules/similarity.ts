/** The number of dimensions of each vector, the same for all embedding models. */
export const DIMENSIONS = 512;

/**
 * Returns the cosine distance of two vectors, 0 to 2: 1 minus the cosine of the angle between them. The vector index
 * uses the same distance. Returns 1 if one of the vectors has the length 0.
 */
export function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [product, squaresOfA, squaresOfB] = [0, 0, 0];
  for (let index = 0; index < a.length; index++) {
    const [x = 0, y = 0] = [a[index], b[index]];
    product += x * y;
    squaresOfA += x * x;
    squaresOfB += y * y;
  }
  return squaresOfA === 0 || squaresOfB === 0 ? 1 : 1 - product / Math.sqrt(squaresOfA * squaresOfB);
}

/** Returns the similarity of two texts, 0 to 1 with four decimals, from the distance of their vectors. */
export function similarityOf(distance: number): number {
  return Math.round(Math.min(Math.max(1 - distance, 0), 1) * 10_000) / 10_000;
}
