/** A row with at least one cell that is not blank. */
export interface Row {
  /** The number of the row in the file, from 1. */
  readonly number: number;
  /** The texts of the cells, including blank cells. Cells at the end can be missing. */
  readonly cells: readonly string[];
}

/** A part of a file that was not read. */
export interface UnreadPart {
  readonly row?: number;
  /** The beginning of the part. */
  readonly text: string;
  readonly reason: string;
}

/** A table of a file. */
export interface Table {
  readonly rows: readonly Row[];
  readonly unread: readonly UnreadPart[];
}

/** How much of a table is read. */
export const tableLimits = {
  /** The most rows that are not blank. */
  rows: 500,
  /** The most rows, including blank rows. */
  lines: 5_000,
  columns: 100,
  /** Longer cells are cut. Every field of an agent has a smaller limit, so a cut cell is rejected later. */
  cellCharacters: 40_000,
} as const;

/** Returns the trimmed cells of a row within the limits. */
export function boundedCells(cells: readonly string[]): string[] {
  return cells.slice(0, tableLimits.columns).map((cell) => cell.slice(0, tableLimits.cellCharacters).trim());
}

export function isBlank({ cells }: Row): boolean {
  return cells.every((cell) => cell === '');
}
