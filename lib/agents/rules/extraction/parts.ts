import type { Row } from '../../../files/table.ts';
import type { Candidate } from './result.ts';
import { notRead, rowText, type SourceTable, unreadOf } from './tables.ts';

/** A part of a file that a model is asked about in one call. */
export interface Part {
  readonly file: { readonly text: string } | { readonly pdf: Uint8Array };
  /** How it begins. */
  readonly text: string;
  /** The rows that it consists of, where it is one of a table. */
  readonly rows?: readonly Row[];
}

/** A file as a model is asked about it. */
export interface Parts {
  readonly parts: readonly Part[];
  /** What no model is asked about, and why. */
  readonly left: readonly Candidate[];
  readonly notes: readonly string[];
}

/** So many calls are made at once. What is in one is short enough to be answered while the caller waits. */
const MOST_PARTS = 8;
const PART_CHARACTERS = 12_000;
const MOST_CHARACTERS = MOST_PARTS * PART_CHARACTERS;
const TOO_MUCH = `A model reads at most ${MOST_PARTS} parts of about ${PART_CHARACTERS} characters of one file: send the rest as another.`;
const NOTHING = 'There is nothing in it.';

/** The first table that has rows, in parts that each begin with its titles. */
export function partsOfTables(tables: readonly SourceTable[]): Parts {
  const table = tables.find(({ rows }) => rows.length > 0);
  if (table === undefined) return { parts: [], left: tables.flatMap(unreadOf), notes: [NOTHING] };
  const isLong = ({ cells }: Row) => cells.reduce((length, cell) => length + cell.length, 0) > PART_CHARACTERS;
  const [first] = table.rows as [Row];
  const titles = isLong(first) ? [] : [lineOf(first)];
  // The first row may be one like the others: it is asked about with them.
  const { groups, left } = grouped(
    table.rows.filter((row) => !isLong(row)),
    (row) => lineOf(row).length,
  );
  const skipped = (rows: readonly Row[], reason: string) =>
    rows.map((row) => ({ row: row.number, text: rowText(row), made: { reason } }));
  return {
    parts: groups.map((rows) => ({
      rows,
      text: rowText(rows[0]!),
      file: { text: [...(rows[0] === first ? [] : titles), ...rows.map(lineOf)].join('\n') },
    })),
    left: [
      ...skipped(
        table.rows.filter(isLong),
        `The row is longer than the ${PART_CHARACTERS} characters that a model reads at once.`,
      ),
      ...skipped(left, TOO_MUCH),
      ...unreadOf(table),
    ],
    notes: notRead(tables, table),
  };
}

/** A text in parts that end where a paragraph does, or a line. */
export function partsOfText(text: string): Parts {
  const whole = text.trim();
  const { groups, left } = grouped(pieces(whole.slice(0, MOST_CHARACTERS)), (piece) => piece.length);
  const texts = groups.map((group) => group.join(''));
  const rest = `${left.join('')}${whole.slice(MOST_CHARACTERS)}`.trim();
  return {
    parts: texts.map((part) => ({ text: part.trim(), file: { text: part } })),
    notes: texts.length > 0 ? [] : [NOTHING],
    left: rest !== '' ? [{ text: rest, made: { reason: `This and what follows it was left out. ${TOO_MUCH}` } }] : [],
  };
}

export function partsOfPdf(pdf: Uint8Array): Parts {
  return { parts: [{ file: { pdf }, text: 'The whole PDF' }], left: [], notes: [] };
}

/** A row as a model is shown it; what is in a cell cannot end it. */
function lineOf({ number, cells }: Row): string {
  return JSON.stringify({ row: number, cells });
}

/** Puts things together as long as they fit into a part, and the parts that there may be. */
function grouped<T>(things: readonly T[], sizeOf: (thing: T) => number): { groups: T[][]; left: T[] } {
  const groups: T[][] = [];
  let room = 0;
  for (const [index, thing] of things.entries()) {
    const size = sizeOf(thing);
    if (size > room) {
      if (groups.length === MOST_PARTS) return { groups, left: things.slice(index) };
      groups.push([]);
      room = PART_CHARACTERS;
    }
    groups.at(-1)!.push(thing);
    room -= size;
  }
  return { groups, left: [] };
}

/** Paragraphs; those that are too long for a part in lines, and those in pieces. */
function pieces(text: string): string[] {
  const split = (whole: string, after: RegExp) => whole.split(after).filter((piece) => piece !== '');
  return split(text, /(?<=\n\n)/)
    .flatMap((paragraph) => (paragraph.length <= PART_CHARACTERS ? [paragraph] : split(paragraph, /(?<=\n)/)))
    .flatMap((line) => (line.length <= PART_CHARACTERS ? [line] : line.match(/[^]{1,12000}/gu)!));
}
