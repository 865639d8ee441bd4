/**
 * Divides a budget among several that need some of it: nobody gets less than an equal share unless in need of less, and what one
 * leaves the others get.
 */
export function divideFairly(needs: readonly number[], budget: number): number[] {
  const shares = needs.map(() => 0);
  let rest = budget;
  const modestFirst = [...needs.entries()].sort(([, a], [, b]) => a - b);
  for (const [position, [index, need]] of modestFirst.entries()) {
    const share = Math.min(need, rest / (needs.length - position));
    shares[index] = share;
    rest -= share;
  }
  return shares;
}
