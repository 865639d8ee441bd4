/** Divides a budget by needs. Each need gets at least an equal share, or less if it needs less; the others get the rest. */
export function divideFairly(needs: readonly number[], budget: number): number[] {
  const shares = needs.map(() => 0);
  let rest = budget;
  const smallestFirst = [...needs.entries()].sort(([, a], [, b]) => a - b);
  for (const [position, [index, need]] of smallestFirst.entries()) {
    const share = Math.min(need, rest / (needs.length - position));
    shares[index] = share;
    rest -= share;
  }
  return shares;
}
