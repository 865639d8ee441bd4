/** One line of a bench's table: the cells of its columns, in their order. */
export type Row = readonly (string | number)[];

/** Prints a table under a title: texts on the left of their column, numbers on the right. */
export function printTable(title: string, columns: readonly string[], rows: readonly Row[]): void {
  const lines = [columns, ...rows.map((row) => row.map(String))];
  const widths = columns.map((_column, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)));
  const isNumber = columns.map((_column, at) =>
    rows.some((row) => typeof row[at] === 'number' || /^[\d.]+×?$/.test(String(row[at]))),
  );
  const format = (line: readonly string[]) =>
    widths
      .map((width, at) => (isNumber[at] ? (line[at] ?? '').padStart(width) : (line[at] ?? '').padEnd(width)))
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

/** `1.25×` */
export function ratio(ours: number, theirs: number): string {
  return `${(ours / theirs).toFixed(2)}×`;
}

/** Whether a figure keeps its goal. */
export function reached(figure: number, goal: number): string {
  return figure <= goal ? 'yes' : 'no';
}

/** The value below which a part of the values lies: 0.5 is the median. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}
