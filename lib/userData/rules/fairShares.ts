/**
 * Divides a budget among needs. Returns one share per need. A share is never larger than its need. The part of the budget that
 * small needs do not use is divided equally among the larger needs.
 */
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
