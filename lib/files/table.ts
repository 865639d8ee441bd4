export interface Row {
  /** Counted from 1. */
  readonly number: number;
  /** A blank cell is an empty text. Blank cells at the end of the row can be missing. */
  readonly cells: readonly string[];
  readonly uncalculated?: readonly number[];
}

export interface UnreadPart {
  readonly row?: number;
  /** The beginning of the part in a CSV text. Empty for a part of a workbook. */
  readonly text: string;
  readonly reason: string;
}

export interface FileTable {
  readonly rows: readonly Row[];
  readonly unread: readonly UnreadPart[];
}

export const tableLimits = {
  /** Without blank rows. */
  rows: 500,
  /** With blank rows. */
  lines: 5_000,
  columns: 100,
  /**
   * Longer cells are cut. No text of an agent may be this long, so a cut cell is rejected when its agent is validated.
   * Code that splits a cell into a list must itself reject a cell of this length.
   */
  cellCharacters: 40_000,
} as const;

export function boundedCells(cells: readonly string[]): string[] {
  return cells.slice(0, tableLimits.columns).map((cell) => cell.trim().slice(0, tableLimits.cellCharacters));
}

export function isBlank({ cells, uncalculated = [] }: Row): boolean {
  return cells.every((cell) => cell === '') && uncalculated.length === 0;
}
