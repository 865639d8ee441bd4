import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { compareRuns, figuresOf } from '../../bench/comparison.ts';
import { printTable, type Row } from '../../bench/report.ts';

afterEach(() => void jest.restoreAllMocks());

/** Returns the output of a bench. */
function printed(...tables: readonly (readonly [title: string, columns: string[], rows: Row[]])[]): string {
  const lines: string[] = [];
  jest.spyOn(console, 'log').mockImplementation((text: string) => void lines.push(text));
  for (const table of tables) printTable(...table);
  return `${lines.join('\n')}\n\n`;
}

describe('the figures of a bench', () => {
  test('are the numbers of its tables, named by title, row and column', () => {
    const output = printed(
      [
        'Bundles in bytes; goal: 520',
        ['what', 'bytes', 'reached'],
        [
          ['median', 207, 'yes'],
          ['a client', 300, 'no'],
        ],
      ],
      [
        'Searches, ms\nSecond line of the title',
        ['size', 'p50', 'ratio'],
        [
          [1000, '12.5', '1.30×'],
          [1000, '13', ''],
        ],
      ],
    );
    expect(figuresOf(output)).toEqual([
      { name: 'Bundles in bytes: median: bytes', value: 207 },
      { name: 'Bundles in bytes: a client: bytes', value: 300 },
      { name: 'Searches: 1000: p50', value: 12.5 },
      { name: 'Searches: 1000: ratio', value: 1.3 },
      { name: 'Searches: 1000 (2): p50', value: 13 },
    ]);
  });
});

describe('a comparison of runs', () => {
  const run = (value: number) => [{ name: 'time', value }];

  test('has the median and the spread of each side', () => {
    expect(compareRuns([run(3), run(1), run(2)], [run(9), run(7), run(8)])).toEqual({
      comparisons: [
        {
          name: 'time',
          ours: { median: 2, least: 1, most: 3 },
          theirs: { median: 8, least: 7, most: 9 },
          differs: true,
        },
      ],
      unmatched: [],
    });
  });

  test('calls figures with overlapping spreads equal', () => {
    expect(compareRuns([run(1), run(5)], [run(4), run(8)])).toMatchObject({ comparisons: [{ differs: false }] });
  });

  test('names the figures that a run of one side does not have', () => {
    expect(compareRuns([run(1), run(5)], [run(4), []])).toEqual({ comparisons: [], unmatched: ['time'] });
    expect(compareRuns([[]], [run(4)])).toEqual({ comparisons: [], unmatched: ['time'] });
  });
});
