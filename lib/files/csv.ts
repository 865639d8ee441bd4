import { type CsvError, parse } from 'csv-parse/sync';
import { boundedCells, isBlank, type Row, type Table, tableLimits, type Unread } from './table.ts';

const DELIMITERS = [',', ';', '\t', '|'];
/** Rows by which the delimiter is found. */
const SAMPLE = 20;
/** Each one can cost a pass over the rest of the file. */
const MOST_OPEN_QUOTES = 20;

/**
 * The table in a text whose cells are parted by commas, semicolons, tabs or bars: by those with which its first rows fit best, in
 * the judgment of `fit`.
 */
export function readCsv(text: string, fit: (rows: readonly Row[]) => number): Table {
  const bytes = Buffer.from(text);
  const fits = DELIMITERS.map((delimiter) =>
    fit(records(bytes, delimiter, SAMPLE).rows.filter((row) => !isBlank(row))),
  );
  const delimiter = DELIMITERS[fits.indexOf(Math.max(...fits))]!;
  return readWith(bytes, delimiter);
}

/** Reads all rows. A quote that is never closed spoils the line that it is in, not everything after it. */
function readWith(bytes: Buffer, delimiter: string): Table {
  const rows: Row[] = [];
  const unread: Unread[] = [];
  let [at, line] = [0, 0];
  while (at < bytes.length) {
    const room = tableLimits.lines - line;
    if (room <= 0) return { rows, unread: [...unread, restOf(bytes, at, line)] };
    const part = records(bytes.subarray(at), delimiter, room);
    for (const row of part.rows) {
      const numbered = { ...row, number: line + row.number };
      if (!isBlank(numbered)) rows.push(numbered);
      if (rows.length > tableLimits.rows)
        return { rows: rows.slice(0, -1), unread: [...unread, restOf(bytes, at, numbered.number - 1)] };
    }
    [at, line] = [at + part.bytes, line + part.rows.length];
    if (!part.openQuote) continue;
    if (unread.length >= MOST_OPEN_QUOTES) return { rows, unread: [...unread, restOf(bytes, at, line)] };
    line++;
    unread.push({ row: line, text: firstLine(bytes.subarray(at)), reason: 'A quote is opened that is never closed.' });
    at += lengthOfLine(bytes.subarray(at));
  }
  return { rows, unread };
}

/** A quote that swallowed lines up to one within another cell. */
class OpenQuote extends Error {}

/** Whether quotes are where they have to be: in hand-written files they are within cells, too. */
function isStrict(bytes: Buffer, delimiter: string): boolean {
  try {
    parse(bytes, { delimiter, record_delimiter: '\n', relax_column_count: true });
    return true;
  } catch {
    return false;
  }
}

interface Records {
  /** Numbered from 1. */
  readonly rows: Row[];
  /** How far they go. */
  readonly bytes: number;
  /** What follows them opens a quote that nothing closes. */
  readonly openQuote: boolean;
}

/** The first records of a text, blank ones too. */
function records(bytes: Buffer, delimiter: string, most: number): Records {
  const rows: Row[] = [];
  let end = 0;
  try {
    parse(bytes, {
      delimiter,
      to: most,
      record_delimiter: '\n',
      relax_column_count: true,
      relax_quotes: true,
      on_record: (record: string[], info) => {
        if (
          record.some((cell) => cell.startsWith('"') && cell.includes('\n')) &&
          !isStrict(bytes.subarray(end, info.bytes), delimiter)
        )
          throw new OpenQuote();
        rows.push({ number: rows.length + 1, cells: boundedCells(record) });
        end = info.bytes;
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof OpenQuote) && (error as CsvError).code !== 'CSV_QUOTE_NOT_CLOSED') throw error;
    return { rows, bytes: end, openQuote: true };
  }
  return { rows, bytes: rows.length < most ? bytes.length : end, openQuote: false };
}

function restOf(bytes: Buffer, at: number, line: number): Unread {
  return {
    row: line + 1,
    text: firstLine(bytes.subarray(at)),
    reason: 'The file goes on after what is read of a file: this row, and all that follow it, were left out.',
  };
}

function firstLine(bytes: Buffer): string {
  return bytes
    .subarray(0, Math.min(lengthOfLine(bytes), 4 * 1_024))
    .toString()
    .trim();
}

function lengthOfLine(bytes: Buffer): number {
  const end = bytes.indexOf(10);
  return end < 0 ? bytes.length : end + 1;
}
