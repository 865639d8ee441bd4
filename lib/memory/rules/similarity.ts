/** Cosine distance as the vector index uses it: 0 to 2, and 1 if a vector has the length 0. */
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

export function similarityOf(distance: number): number {
  return Math.round(Math.min(Math.max(1 - distance, 0), 1) * 10_000) / 10_000;
}
