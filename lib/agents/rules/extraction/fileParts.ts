import type { Row } from '../../../files/table.ts';
import { listUnreadSheets, rowText, type SourceTable, UNCALCULATED } from './extractFromTables.ts';
import type { AgentCandidate } from './extractionResult.ts';

export interface FilePart {
  readonly file: { readonly text: string } | { readonly pdf: Uint8Array };
  /** What `originalText` shows of the part. */
  readonly text: string;
  readonly rows?: readonly Row[];
  /** The number of the table's first row, if it is sent again with this part. */
  readonly repeatedRow?: number;
}

export interface FileParts {
  readonly parts: readonly FilePart[];
  readonly skipped: readonly AgentCandidate[];
  readonly notes: readonly string[];
}

/** All parts are sent in parallel. */
const MAX_PARTS = 8;
/** Characters that a model can process while the caller waits. */
const PART_CHARACTERS = 12_000;
const MAX_CHARACTERS = MAX_PARTS * PART_CHARACTERS;
const TOO_MUCH = `A model reads at most ${MAX_PARTS} parts of about ${PART_CHARACTERS} characters of one file: send the rest as another.`;
const EMPTY = 'There is nothing in it.';

/**
 * Returns the parts of the first table that has rows. Each begins with the table's first row, unless that row is too
 * long or not calculated.
 */
export function partsOfTables(tables: readonly SourceTable[]): FileParts {
  const table = tables.find(({ rows }) => rows.length > 0);
  const [first] = table?.rows ?? [];
  if (!table || !first) return { parts: [], skipped: tables.flatMap(({ unread }) => unread), notes: [EMPTY] };
  const isTooLong = ({ cells }: Row) => cells.reduce((length, cell) => length + cell.length, 0) > PART_CHARACTERS;
  const isComplete = (row: Row) => row.uncalculated === undefined && !isTooLong(row);
  // The first row may have titles or data, so it also begins each later part.
  const { groups, remaining } = groupBySize(table.rows.filter(isComplete), (row) => toLine(row).length);
  const skip = (rows: readonly Row[], reason: string) =>
    rows.map((row) => ({ row: row.number, text: rowText(row), reason }));
  return {
    parts: groups.map((rows) => {
      const [head] = rows;
      const text = head ? rowText(head) : '';
      const toFile = (lines: readonly Row[]) => ({ text: lines.map(toLine).join('\n') });
      if (head === first || !isComplete(first)) return { rows, text, file: toFile(rows) };
      return { rows, text, file: toFile([first, ...rows]), repeatedRow: first.number };
    }),
    skipped: [
      ...skip(
        table.rows.filter(isTooLong),
        `The row is longer than the ${PART_CHARACTERS} characters that a model reads at once.`,
      ),
      ...skip(
        table.rows.filter((row) => row.uncalculated !== undefined && !isTooLong(row)),
        `The row ${UNCALCULATED}.`,
      ),
      ...skip(remaining, TOO_MUCH),
      ...table.unread,
    ],
    notes: listUnreadSheets(tables, table),
  };
}

/** A part ends with a paragraph or a line if possible. */
export function partsOfText(text: string): FileParts {
  const whole = text.trim();
  const { groups, remaining } = groupBySize(splitText(whole.slice(0, MAX_CHARACTERS)), (piece) => piece.length);
  const parts = groups.map((group) => group.join(''));
  const omitted = `${remaining.join('')}${whole.slice(MAX_CHARACTERS)}`.trim();
  return {
    parts: parts.map((part) => ({ text: part.trim(), file: { text: part } })),
    notes: parts.length > 0 ? [] : [EMPTY],
    skipped:
      omitted === '' ? [] : [{ text: omitted, reason: `This and everything after it was left out. ${TOO_MUCH}` }],
  };
}

export function partsOfPdf(pdf: Uint8Array): FileParts {
  return { parts: [{ file: { pdf }, text: 'The whole PDF' }], skipped: [], notes: [] };
}

/** One line of JSON: the text of a cell cannot begin another line. */
function toLine({ number, cells }: Row): string {
  return JSON.stringify({ row: number, cells });
}

/** `remaining` has the items after the last of MAX_PARTS groups. */
function groupBySize<T>(items: readonly T[], sizeOf: (item: T) => number): { groups: T[][]; remaining: T[] } {
  const groups: T[][] = [];
  let group: T[] = [];
  let remainingSize = 0;
  for (const [index, item] of items.entries()) {
    const size = sizeOf(item);
    if (size > remainingSize) {
      if (groups.length === MAX_PARTS) return { groups, remaining: items.slice(index) };
      group = [];
      groups.push(group);
      remainingSize = PART_CHARACTERS;
    }
    group.push(item);
    remainingSize -= size;
  }
  return { groups, remaining: [] };
}

function splitText(text: string): string[] {
  const splitLong = (pieces: readonly string[], pattern: RegExp) =>
    pieces.flatMap((piece) => (piece.length <= PART_CHARACTERS ? [piece] : piece.split(pattern)));
  const lines = splitLong(text.split(/(?<=\n\n)/), /(?<=\n)/);
  return lines
    .flatMap((line) => (line.length <= PART_CHARACTERS ? [line] : (line.match(/[^]{1,12000}/gu) ?? [])))
    .filter((piece) => piece !== '');
}
