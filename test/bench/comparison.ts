/** A number that a bench printed in one cell of a table. */
export interface Figure {
  /**
   * The title of the table, the text of the row and the heading of the column. A figure has the same name in every
   * run.
   */
  readonly name: string;
  readonly value: number;
}

/** Returns the figures in the output of a bench, in printed order. */
export function figuresOf(output: string): Figure[] {
  const lines = output.split('\n');
  const figures: Figure[] = [];
  for (const [at, line] of lines.entries()) {
    if (!/^-+( {3}-+)*$/.test(line)) continue;
    const widths = line.split('   ').map((dashes) => dashes.length);
    const columns = cellsOf(lines[at - 1] ?? '', widths);
    const title = titleAbove(lines, at - 1);
    const end = lines.findIndex((other, index) => index > at && other.trim() === '');
    const seen = new Map<string, number>();
    for (const row of lines.slice(at + 1, end < 0 ? undefined : end)) {
      const cells = cellsOf(row, widths);
      const label = cells.filter((cell, column) => column === 0 || isText(cell)).join(', ');
      const count = (seen.get(label) ?? 0) + 1;
      seen.set(label, count);
      const name = count > 1 ? `${label} (${count})` : label;
      for (const [column, cell] of cells.entries()) {
        if (column === 0 || !isNumber(cell)) continue;
        figures.push({ name: `${title}: ${name}: ${columns[column]}`, value: Number.parseFloat(cell) });
      }
    }
  }
  return figures;
}

function cellsOf(line: string, widths: readonly number[]): string[] {
  let start = 0;
  return widths.map((width) => {
    const cell = line.slice(start, start + width).trim();
    start += width + 3;
    return cell;
  });
}

/**
 * Returns the first line of a table's title, up to the first comma or semicolon. The text after it can differ between
 * runs.
 */
function titleAbove(lines: readonly string[], header: number): string {
  let first = header - 1;
  while (first > 0 && lines[first - 1]?.trim() !== '') first--;
  if (lines[first]?.trim() === '') {
    first--;
    while (first > 0 && lines[first - 1]?.trim() !== '') first--;
  }
  return (lines[first] ?? '').split(/[,;]/)[0]!.trim();
}

/**
 * Returns whether a cell is part of its row's name. Numbers, `yes` and `no` are not, because they can differ between
 * runs.
 */
function isText(cell: string): boolean {
  return !isNumber(cell) && !['', 'yes', 'no'].includes(cell);
}

function isNumber(cell: string): boolean {
  return /^-?\d+(\.\d+)?×?$/.test(cell);
}

/** The median, the smallest and the largest value of a figure in several runs. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

interface Comparison {
  readonly name: string;
  readonly ours: Spread;
  readonly theirs: Spread;
  /** Whether the spreads of the two sides do not overlap. Any other difference can be chance. */
  readonly differs: boolean;
}

/**
 * Compares the runs of two versions. Returns the figures that all runs have, in the order of the first run, and the names of figures
 * that only some runs have.
 */
export function compareRuns(
  ours: readonly (readonly Figure[])[],
  theirs: readonly (readonly Figure[])[],
): { comparisons: Comparison[]; unmatched: string[] } {
  const maps = [ours, theirs].map((runs) => runs.map((run) => new Map(run.map(({ name, value }) => [name, value]))));
  const comparisons: Comparison[] = [];
  const unmatched: string[] = [];
  for (const name of new Set([...ours, ...theirs].flat().map((figure) => figure.name))) {
    const [own, other] = maps.map((runs) => runs.map((run) => run.get(name))) as [Values, Values];
    if ([...own, ...other].includes(undefined)) {
      unmatched.push(name);
      continue;
    }
    const [a, b] = [spreadOf(own as number[]), spreadOf(other as number[])];
    comparisons.push({ name, ours: a, theirs: b, differs: a.least > b.most || b.least > a.most });
  }
  return { comparisons, unmatched };
}

type Values = (number | undefined)[];

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  return { median, least: sorted[0] ?? NaN, most: sorted.at(-1) ?? NaN };
}
