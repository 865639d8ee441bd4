export interface Row {
  /** The number of the row in the file, counted from 1. */
  readonly number: number;
  /** The texts of the cells. A blank cell is an empty text. Blank cells at the end of the row can be missing. */
  readonly cells: readonly string[];
  readonly uncalculated?: readonly number[];
}

/** A part of a file that was not read. */
export interface UnreadPart {
  readonly row?: number;
  /** The first line of the part in a CSV text. Empty for a part of a workbook. */
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
  /**
   * Longer cells are cut to this length. Each row describes an agent, and no text of an agent may be this long. A cut cell is
   * therefore rejected when its agent is validated. A reader of lists must reject cells of this length itself.
   */
  cellCharacters: 40_000,
} as const;

/** Returns the cells of a row, trimmed and cut to the limits. */
export function boundedCells(cells: readonly string[]): string[] {
  return cells.slice(0, tableLimits.columns).map((cell) => cell.trim().slice(0, tableLimits.cellCharacters));
}

export function isBlank({ cells, uncalculated = [] }: Row): boolean {
  return cells.every((cell) => cell === '') && uncalculated.length === 0;
}
