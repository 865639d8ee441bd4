import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { mergeByTime } from '../../../lib/memory/mergeByTime.ts';
import { testAsyncProperty } from '../../support/testProperty.ts';

/** Returns a listing of pages, and counts the pages that were read. */
function listingOf(pages: readonly (readonly number[])[]) {
  const listing = {
    read: 0,
    async *[Symbol.asyncIterator]() {
      for (const [index, page] of pages.entries()) {
        listing.read += 1;
        await Promise.resolve();
        yield { values: page.map((at) => ({ at })), isLast: index === pages.length - 1 };
      }
    },
  };
  return listing;
}

testAsyncProperty(
  'mergeByTime yields all values of all listings in their order, whatever their pages',
  [
    fc.array(fc.array(fc.array(fc.nat(20), { maxLength: 4 }), { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
    fc.boolean(),
  ],
  async (listings, oldestFirst) => {
    const inOrder = (a: number, b: number) => (oldestFirst ? a - b : b - a);
    const sorted = listings.map((pages) => {
      const values = pages.flat().sort(inOrder);
      return pages.map(({ length }) => values.splice(0, length));
    });
    const merged: number[] = [];
    for await (const values of mergeByTime(sorted.map(listingOf), oldestFirst))
      merged.push(...values.map(({ at }) => at));
    expect(merged).toEqual(listings.flat(2).sort(inOrder));
  },
  { numRuns: 200 },
);

test('mergeByTime reads the next page of a listing only after all of its values', async () => {
  const [early, late] = [listingOf([[1], [0]]), listingOf([[9, 8], [7, 6], [5]])];
  const merged = mergeByTime([early, late], false);
  await merged.next();
  await merged.next();
  expect([early.read, late.read]).toEqual([1, 2]);
});

test('mergeByTime yields listings of one page at once', async () => {
  const merged = mergeByTime([listingOf([[4, 1]]), listingOf([[3]]), listingOf([[]])], false);
  expect((await merged.next()).value).toEqual([{ at: 4 }, { at: 3 }, { at: 1 }]);
});
