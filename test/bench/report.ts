/** The cells of one row of a table, in the order of the columns. */
export type Row = readonly (string | number)[];

/** Prints a table under a title. Aligns texts to the left and numbers to the right. */
export function printTable(title: string, columns: readonly string[], rows: readonly Row[]): void {
  const lines = [columns, ...rows.map((row) => row.map(String))];
  const widths = columns.map((_column, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const isNumber = columns.map((_column, column) =>
    rows.some((row) => typeof row[column] === 'number' || /^[\d.]+×?$/.test(String(row[column]))),
  );
  const format = (line: readonly string[]) =>
    widths
      .map((width, column) =>
        isNumber[column] ? (line[column] ?? '').padStart(width) : (line[column] ?? '').padEnd(width),
      )
      .join('   ')
      .trimEnd();
  console.log(
    [
      '',
      title,
      '',
      format(lines[0]!),
      widths.map((width) => '-'.repeat(width)).join('   '),
      ...lines.slice(1).map(format),
    ].join('\n'),
  );
}

/** Returns a ratio such as `1.25×`. */
export function ratio(ours: number, theirs: number): string {
  return `${(ours / theirs).toFixed(2)}×`;
}

/** Returns whether a figure reaches its target, as the text of a cell. */
export function reached(figure: number, goal: number): string {
  return figure <= goal ? 'yes' : 'no';
}

/** Returns how long `work` takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Returns a quantile of the values. `part` is between 0 and 1: 0.5 gives the median. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}

/** Returns the median and the 99th percentile as the text of a cell. */
export function quantiles(values: readonly number[], digits = 1): string {
  return `${quantile(values, 0.5).toFixed(digits)} / ${quantile(values, 0.99).toFixed(digits)}`;
}
