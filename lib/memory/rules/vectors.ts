/** How far two vectors are apart as the vector index has it: one less the cosine of their angle. */
export function distance(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let [product, ones, others] = [0, 0, 0];
  for (let at = 0; at < one.length; at++) {
    const [a, b] = [one[at] as number, other[at] as number];
    product += a * b;
    ones += a * a;
    others += b * b;
  }
  return ones === 0 || others === 0 ? 1 : 1 - product / Math.sqrt(ones * others);
}
