/** An empty row ends a table. The rows after it form a new table with its own column widths. */
export function columns(rows: readonly (readonly string[])[]): string {
  let current: (readonly string[])[] = [];
  const groups = [current];
  for (const row of rows) {
    if (row.length === 0) groups.push((current = []));
    else current.push(row);
  }
  return groups
    .map((group) => {
      const widths = Array.from({ length: Math.max(...group.map((row) => row.length)) }, (_each, column) =>
        Math.max(...group.map((row) => (row[column] ?? '').length)),
      );
      return group
        .map((row) =>
          row
            .map((cell, column) => cell.padEnd(widths[column] ?? 0))
            .join('  ')
            .trimEnd(),
        )
        .join('\n');
    })
    .join('\n\n');
}
