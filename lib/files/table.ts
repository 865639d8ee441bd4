/** A row with at least one cell that is not blank. */
export interface Row {
  /** The number in the file, from 1. */
  readonly number: number;
  /** The texts of the cells, including blank ones. Cells at the end may be missing. */
  readonly cells: readonly string[];
}

/** A part of a file that is not among the rows. */
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

/** How much of a table is read, whatever size the file claims. */
export const tableLimits = {
  /** Rows that are not blank. */
  rows: 500,
  /** Rows including blank ones. */
  lines: 5_000,
  columns: 100,
  /** Longer than any field of an agent: a cell that is cut is rejected and never taken for the whole. */
  cellCharacters: 40_000,
} as const;

/** Returns the trimmed cells of a row within the limits. */
export function boundedCells(cells: readonly string[]): string[] {
  return cells.slice(0, tableLimits.columns).map((cell) => cell.slice(0, tableLimits.cellCharacters).trim());
}

export function isBlank({ cells }: Row): boolean {
  return cells.every((cell) => cell === '');
}
