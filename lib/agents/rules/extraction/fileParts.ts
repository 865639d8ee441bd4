import type { Row } from '../../../files/table.ts';
import { listUnreadSheets, rowText, type SourceTable, UNCALCULATED } from './extractFromTables.ts';
import type { AgentCandidate } from './extractionResult.ts';

/** A part of a file that fits into one question to a model. */
export interface FilePart {
  readonly file: { readonly text: string } | { readonly pdf: Uint8Array };
  /** The beginning of the part, which `originalText` of a response shows. */
  readonly text: string;
  /** The rows of the part; absent if the file is not a table. */
  readonly rows?: readonly Row[];
  /** The number of the table's first row, if it is sent again with this part. It is a row of the first part. */
  readonly repeatedRow?: number;
}

/** A file, split into parts for a model. */
export interface FileParts {
  readonly parts: readonly FilePart[];
  /** The pieces of the file that are not sent to a model, with reasons. */
  readonly skipped: readonly AgentCandidate[];
  /** Sentences for the summary. */
  readonly notes: readonly string[];
}

/** The largest number of parts of a file. All parts are sent in parallel. */
const MAX_PARTS = 8;
/** The largest number of characters of a part. A model can process a part of this size while the caller waits. */
const PART_CHARACTERS = 12_000;
const MAX_CHARACTERS = MAX_PARTS * PART_CHARACTERS;
const TOO_MUCH = `A model reads at most ${MAX_PARTS} parts of about ${PART_CHARACTERS} characters of one file: send the rest as another.`;
const EMPTY = 'There is nothing in it.';

/** Returns the parts of the first table that has rows. Each part begins with the first row of the table. */
export function partsOfTables(tables: readonly SourceTable[]): FileParts {
  const table = tables.find(({ rows }) => rows.length > 0);
  const [first] = table?.rows ?? [];
  if (!table || !first) return { parts: [], skipped: tables.flatMap(({ unread }) => unread), notes: [EMPTY] };
  const isTooLong = ({ cells }: Row) => cells.reduce((length, cell) => length + cell.length, 0) > PART_CHARACTERS;
  const isComplete = (row: Row) => row.uncalculated === undefined && !isTooLong(row);
  // The first row may have column titles or data. It is therefore sent as a row of the first part, and again at the
  // start of each other part.
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

/** Returns the parts of a text. A part ends with a paragraph or a line if possible. */
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

/** Returns a row as one line of JSON. JSON escapes line breaks, so the text of a cell cannot begin another line. */
function toLine({ number, cells }: Row): string {
  return JSON.stringify({ row: number, cells });
}

/**
 * Returns items in at most MAX_PARTS groups, in their order. A group has at most PART_CHARACTERS characters.
 * `remaining` has the items after the last group.
 */
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

/** Returns the paragraphs of a text. A paragraph that is too long is split into lines, and a line that is too long into pieces. */
function splitText(text: string): string[] {
  const splitLong = (pieces: readonly string[], pattern: RegExp) =>
    pieces.flatMap((piece) => (piece.length <= PART_CHARACTERS ? [piece] : piece.split(pattern)));
  const lines = splitLong(text.split(/(?<=\n\n)/), /(?<=\n)/);
  return lines
    .flatMap((line) => (line.length <= PART_CHARACTERS ? [line] : (line.match(/[^]{1,12000}/gu) ?? [])))
    .filter((piece) => piece !== '');
}
