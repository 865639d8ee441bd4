import { test } from '@jest/globals';
import fc from 'fast-check';

/** Adds a test of a rule that holds for all values of these arbitraries. `check` returns false, or throws, if not. */
export function testProperty<Values extends [unknown, ...unknown[]]>(
  title: string,
  arbitraries: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  check: (...values: Values) => boolean | undefined,
  parameters?: fc.Parameters<Values>,
): void {
  test(title, () => {
    fc.assert(fc.property(...arbitraries, check), parameters);
  });
}

/**
 * Adds a test like `testProperty`, with a `check` that awaits something. After the time limit no new check starts. With
 * the limit of fast-check, a check that has started would go on beside the next test.
 */
export function testAsyncProperty<Values extends [unknown, ...unknown[]]>(
  title: string,
  arbitraries: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  check: (...values: Values) => Promise<void>,
  { limitMilliseconds = Infinity, ...parameters }: fc.Parameters<Values> & { readonly limitMilliseconds?: number } = {},
): void {
  test(title, async () => {
    const until = performance.now() + limitMilliseconds;
    const property = fc.asyncProperty(...arbitraries, async (...values) => {
      if (performance.now() < until) await check(...values);
    });
    await fc.assert(property, parameters);
  });
}
