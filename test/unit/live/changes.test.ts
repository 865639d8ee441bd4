import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { changesSince, MAX_CHANGES } from '../../../lib/live/rules/changes.ts';
import type { VersionedHint } from '../../../lib/live/rules/hints.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

const hint = (version: number): VersionedHint => ({ type: 'comment.add', at: 0, ids: {}, version });
const hints = (from: number, to: number) => times(to - from + 1, (index) => hint(from + index));

describe('changesSince', () => {
  test('returns nothing to a client that knows the newest version', () => {
    expect(changesSince(7, 7, [])).toEqual({ hints: [], version: 7, complete: true, hasMore: false });
  });

  test('returns the hints after the version of the client', () => {
    expect(changesSince(5, 7, hints(4, 7))).toEqual({ hints: hints(6, 7), version: 7, complete: true, hasMore: false });
  });

  test('returns an incomplete answer if the log begins later', () => {
    expect(changesSince(3, 7, hints(6, 7))).toMatchObject({ complete: false, version: 7 });
  });

  test('returns an incomplete answer if the version grew without a hint', () => {
    expect(changesSince(7, 8, [])).toEqual({ hints: [], version: 8, complete: false, hasMore: false });
  });

  test('returns an incomplete answer for a version that the document never had', () => {
    expect(changesSince(9, 7, hints(1, 7))).toMatchObject({ complete: false, version: 7 });
  });

  test('returns at most 500 hints, and says that there are more', () => {
    const answer = changesSince(0, 600, hints(1, 600));
    expect(answer.hints).toHaveLength(MAX_CHANGES);
    expect(answer).toMatchObject({ version: 500, complete: true, hasMore: true });
  });

  testProperty(
    'leads a client to the newest version without a gap, if the log is complete',
    [fc.nat({ max: 1_600 }), fc.nat({ max: 1_600 })],
    (newest, start) => {
      const log = hints(1, newest);
      const seen: number[] = [];
      let after = Math.min(start, newest);
      for (let more = true; more;) {
        const answer = changesSince(after, newest, log);
        expect(answer.complete).toBe(true);
        seen.push(...answer.hints.map(({ version }) => version));
        after = answer.version;
        more = answer.hasMore;
      }
      expect(seen).toEqual(hints(Math.min(start, newest) + 1, newest).map(({ version }) => version));
      expect(after).toBe(newest);
    },
  );

  test('never returns a complete answer without one of the hints', () => {
    const log = fc.uniqueArray(fc.integer({ min: 1, max: 30 }));
    fc.assert(
      fc.property(log, fc.nat({ max: 30 }), (versions, after) => {
        const sorted = versions.toSorted((a, b) => a - b);
        const newest = sorted.at(-1) ?? 0;
        const answer = changesSince(after, newest, sorted.map(hint));
        const isWhole = after <= newest && hints(after + 1, newest).every(({ version }) => versions.includes(version));
        expect(answer.complete).toBe(isWhole);
      }),
    );
  });
});
