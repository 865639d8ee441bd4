/** No share is larger than its need. What small needs leave over is divided equally among the larger ones. */
export function divideFairly(needs: readonly number[], budget: number): number[] {
  const shares = needs.map(() => 0);
  let remaining = budget;
  const smallestFirst = [...needs.entries()].sort(([, a], [, b]) => a - b);
  for (const [position, [index, need]] of smallestFirst.entries()) {
    const share = Math.min(need, remaining / (needs.length - position));
    shares[index] = share;
    remaining -= share;
  }
  return shares;
}
