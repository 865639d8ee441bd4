import { type CsvError, parse } from 'csv-parse/sync';
import { boundedCells, type FileTable, isBlank, type Row, tableLimits, type UnreadPart } from './table.ts';

const DELIMITERS = [',', ';', '\t', '|'];
const SAMPLE_ROWS = 20;
/** Small, because the parser can read the remaining file once for each such quote. */
const MAX_OPEN_QUOTES = 20;
const MAX_EXCERPT_BYTES = 4 * 1_024;
const FILE_TOO_LONG = 'The file is longer than the limit: this row and all rows after it were left out.';

/** Uses the delimiter whose first rows get the highest score. */
export function readCsv(text: string, scoreOf: (rows: readonly Row[]) => number): FileTable {
  const bytes = Buffer.from(text);
  // All delimiters that the text lacks give the same rows.
  const missing = DELIMITERS.filter((delimiter) => !text.includes(delimiter)).slice(1);
  const scored = DELIMITERS.filter((delimiter) => !missing.includes(delimiter)).map((delimiter) => {
    const sample = readRecords(bytes, delimiter, SAMPLE_ROWS);
    return { delimiter, sample, score: scoreOf(sample.rows.filter((row) => !isBlank(row))) };
  });
  const { delimiter, sample } = scored.reduce((best, other) => (other.score > best.score ? other : best));
  return readRows(bytes, delimiter, sample);
}

/** A quote without an end makes only its own line unreadable. */
function readRows(bytes: Buffer, delimiter: string, sample: Records): FileTable {
  const rows: Row[] = [];
  const unread: UnreadPart[] = [];
  let remaining = bytes;
  let line = 0;
  const endBefore = (row: number, text = firstLineOf(remaining)): FileTable => ({
    rows,
    unread: [...unread, { row, text, reason: FILE_TOO_LONG }],
  });
  while (remaining.length > 0) {
    const remainingLines = tableLimits.lines - line;
    if (remainingLines <= 0) return endBefore(line + 1);
    const isInSample = line === 0 && sample.rows.length < SAMPLE_ROWS;
    const part = isInSample ? sample : readRecords(remaining, delimiter, remainingLines);
    for (const row of part.rows) {
      if (isBlank(row)) continue;
      const number = line + row.number;
      if (rows.length === tableLimits.rows) return endBefore(number, row.cells.join(delimiter));
      rows.push({ ...row, number });
    }
    remaining = remaining.subarray(part.bytes);
    line += part.rows.length;
    if (!part.hasOpenQuote) continue;
    if (unread.length >= MAX_OPEN_QUOTES) return endBefore(line + 1);
    line++;
    unread.push({ row: line, text: firstLineOf(remaining), reason: 'A quote is not closed.' });
    remaining = remaining.subarray(lengthOfLine(remaining));
  }
  return { rows, unread };
}

/**
 * A quoted cell has several lines, and its row has a quote where CSV allows none: the first quote was probably never
 * closed.
 */
class OpenQuote extends Error {}

interface Records {
  /** With blank rows, numbered from 1. */
  readonly rows: Row[];
  readonly bytes: number;
  readonly hasOpenQuote: boolean;
}

function readRecords(bytes: Buffer, delimiter: string, most: number): Records {
  return bytes.includes('"') ? parseRecords(bytes, delimiter, most) : splitRecords(bytes, delimiter, most);
}

/** csv-parse returns the same rows, but takes ten times longer. */
function splitRecords(bytes: Buffer, delimiter: string, most: number): Records {
  const rows: Row[] = [];
  let end = 0;
  while (end < bytes.length && rows.length < most) {
    const line = bytes.subarray(end, end + lengthOfLine(bytes.subarray(end)));
    end += line.length;
    const cells = line.toString().replace(/\n$/, '').split(delimiter, tableLimits.columns);
    rows.push({ number: rows.length + 1, cells: boundedCells(cells) });
  }
  return { rows, bytes: end, hasOpenQuote: false };
}

function parseRecords(bytes: Buffer, delimiter: string, most: number): Records {
  const rows: Row[] = [];
  let end = 0;
  try {
    parse(bytes, {
      delimiter,
      to: most,
      record_delimiter: '\n',
      relax_column_count: true,
      relax_quotes: true,
      ltrim: true,
      on_record: (record: string[], info) => {
        const hasQuotedLines = record.some((cell) => cell.startsWith('"') && cell.includes('\n'));
        if (hasQuotedLines && !isStrictCsv(bytes.subarray(end, info.bytes), delimiter)) throw new OpenQuote();
        rows.push({ number: rows.length + 1, cells: boundedCells(record) });
        end = info.bytes;
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof OpenQuote) && (error as CsvError).code !== 'CSV_QUOTE_NOT_CLOSED') throw error;
    return { rows, bytes: end, hasOpenQuote: true };
  }
  return { rows, bytes: rows.length < most ? bytes.length : end, hasOpenQuote: false };
}

/** A quote inside an unquoted cell, for example, is not allowed. */
function isStrictCsv(bytes: Buffer, delimiter: string): boolean {
  try {
    parse(bytes, { delimiter, record_delimiter: '\n', relax_column_count: true, ltrim: true });
    return true;
  } catch {
    return false;
  }
}

function firstLineOf(bytes: Buffer): string {
  return bytes.toString('utf8', 0, Math.min(lengthOfLine(bytes), MAX_EXCERPT_BYTES)).trim();
}

function lengthOfLine(bytes: Buffer): number {
  const end = bytes.indexOf('\n');
  return end < 0 ? bytes.length : end + 1;
}
