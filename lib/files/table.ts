/** A row with at least one cell that is not blank. */
export interface Row {
  /** The number of the row in the file, counted from 1. */
  readonly number: number;
  /** The texts of the cells, including blank cells. Cells at the end of the row can be missing. */
  readonly cells: readonly string[];
}

/** A part of a file that was not read. */
export interface UnreadPart {
  readonly row?: number;
  /** The text at the beginning of the part. */
  readonly text: string;
  readonly reason: string;
}

/** A table that was read from a file. */
export interface Table {
  readonly rows: readonly Row[];
  readonly unread: readonly UnreadPart[];
}

/** The limits within which a table is read. */
export const tableLimits = {
  /** The largest number of rows that are not blank. */
  rows: 500,
  /** The largest number of rows, including blank rows. */
  lines: 5_000,
  columns: 100,
  /** Longer cells are cut. Tables describe agents, whose fields all have smaller limits. A cut cell is therefore rejected later. */
  cellCharacters: 40_000,
} as const;

/** Returns the cells of a row, trimmed and cut to the limits. */
export function boundedCells(cells: readonly string[]): string[] {
  return cells.slice(0, tableLimits.columns).map((cell) => cell.slice(0, tableLimits.cellCharacters).trim());
}

export function isBlank({ cells }: Row): boolean {
  return cells.every((cell) => cell === '');
}
