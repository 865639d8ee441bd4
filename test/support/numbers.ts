/** The largest state of the generator, plus 1. */
export const STATES = 2_147_483_647;

/** Returns a generator of pseudorandom numbers below its argument. The same seed always gives the same numbers. */
export function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (state * 48_271) % STATES) % below;
}
