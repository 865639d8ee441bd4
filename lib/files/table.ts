/** A row that holds something, with the number that it has in the file, from 1. */
export interface Row {
  readonly number: number;
  /** The texts of its cells, blank ones included; those at the end may be missing. */
  readonly cells: readonly string[];
}

/** Something of a file that is not among its rows, and why. */
export interface Unread {
  readonly row?: number;
  /** How it begins. */
  readonly text: string;
  readonly reason: string;
}

/** A table as it stands in a file. */
export interface Table {
  readonly rows: readonly Row[];
  readonly unread: readonly Unread[];
}

/** How much of a table is read. Nothing depends on what a file says of its own size. */
export const tableLimits = {
  /** Rows, blank ones left out. */
  rows: 500,
  /** Rows with the blank ones. */
  lines: 5_000,
  columns: 100,
  /** More than any field of an agent may have, so that what is cut is refused and not taken for the whole. */
  cellCharacters: 40_000,
} as const;

/** The cells of a row within the limits, without the blanks around them. */
export function boundedCells(cells: readonly string[]): string[] {
  return cells.slice(0, tableLimits.columns).map((cell) => cell.slice(0, tableLimits.cellCharacters).trim());
}

export function isBlank({ cells }: Row): boolean {
  return cells.every((cell) => cell === '');
}
