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

/** Adds a test like `testProperty`, with a `check` that awaits something. */
export function testAsyncProperty<Values extends [unknown, ...unknown[]]>(
  title: string,
  arbitraries: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  check: (...values: Values) => Promise<void>,
  parameters?: fc.Parameters<Values>,
): void {
  test(title, async () => {
    await fc.assert(fc.asyncProperty(...arbitraries, check), parameters);
  });
}
