import type { FileTable, Row } from '../../../files/table.ts';
import { findHeader, type Header } from './agentColumns.ts';
import {
  type AgentCandidate,
  type ExtractionResult,
  ORIGINAL_CHARACTERS,
  plural,
  toExtractionResult,
} from './extractionResult.ts';

export type SourceTable = FileTable & { readonly name?: string };

const MAX_NAME = 80;
const MAX_LISTED = 20;
export const UNCALCULATED =
  'has a formula without a calculated value: open the file in a spreadsheet program and save it';

/** Returns the agents of the first table that has the columns of agents. */
export function extractFromTables(tables: readonly SourceTable[]): ExtractionResult | undefined {
  for (const table of tables) {
    const header = findHeader(table.rows);
    if (header)
      return toExtractionResult(candidatesIn(table, header), [
        describeColumns(header, table),
        ...listUnreadSheets(tables, table),
      ]);
  }
  return undefined;
}

/** Cells are shortened before they are joined, because many cells may have the same long text. */
export function rowText({ cells }: Row): string {
  return cells
    .filter((cell) => cell !== '')
    .map((cell) => cell.slice(0, ORIGINAL_CHARACTERS))
    .join(' | ')
    .slice(0, ORIGINAL_CHARACTERS);
}

function candidatesIn(table: SourceTable, header: Header): AgentCandidate[] {
  const titles = new Map(header.columns.map(({ field, title }) => [field.path, title]));
  const candidates = table.rows
    // Several rows of a workbook can have the same number.
    .filter((row) => row !== header.row)
    .map((row): AgentCandidate => ({
      row: row.number,
      text: rowText(row),
      titleOf: (field) => titles.get(field),
      ...(row.number < header.row.number
        ? { reason: 'It is above the column titles.' }
        : (findExtraCells(table, row, header) ?? readAgent(row, header))),
    }));
  return [...candidates, ...table.unread].sort((a, b) => (a.row ?? Infinity) - (b.row ?? Infinity));
}

/**
 * Cells behind the last title: in CSV, a cell that contains the delimiter was probably split. In a sheet, they are
 * ignored.
 */
function findExtraCells(
  { name }: SourceTable,
  { cells }: Row,
  { width }: Header,
): { readonly reason: string } | undefined {
  if (name !== undefined || cells.slice(width).every((cell) => cell === '')) return undefined;
  return {
    reason: `The row has ${plural(cells.length, 'cell')}, but there are ${plural(width, 'column')}: quote cells that contain the delimiter.`,
  };
}

function readAgent(
  { cells, uncalculated }: Row,
  { columns }: Header,
): { readonly agent: Record<string, unknown> } | { readonly reason: string } {
  const agent: Record<string, unknown> = {};
  for (const { field, title, index } of columns) {
    if (uncalculated?.includes(index)) return { reason: `Column "${title}" ${UNCALCULATED}.` };
    const cell = cells[index] ?? '';
    if (cell === '') continue;
    const read = field.read(cell);
    if ('problem' in read) return { reason: `Column "${title}" ${read.problem}.` };
    const [key = '', nested] = field.path.split('.');
    agent[key] = nested === undefined ? read.value : { ...(agent[key] as object | undefined), [nested]: read.value };
  }
  const { name, instructions } = agent as { name?: string; instructions?: string };
  const agentName = name ?? (instructions === undefined ? undefined : nameFrom(instructions));
  if (agentName === undefined) return { reason: 'The row has neither a name nor instructions.' };
  return { agent: { ...agent, name: agentName } };
}

function nameFrom(instructions: string): string {
  const [line = ''] = instructions.split('\n');
  if (line.length <= MAX_NAME) return line;
  const start = line.slice(0, MAX_NAME);
  const end = start.lastIndexOf(' ');
  return `${start.slice(0, end > 0 ? end : undefined).trimEnd()}…`.toWellFormed();
}

function describeColumns({ columns, unused }: Header, { name }: SourceTable): string {
  const sheet = name === undefined ? '' : ` of the sheet ${quoteList([name])}`;
  const others = unused.length > 0 ? ` Columns that were not used: ${quoteList(unused)}.` : '';
  return `The rows${sheet} were read by their columns: ${quoteList(columns.map(({ title }) => title))}.${others}`;
}

export function listUnreadSheets(tables: readonly SourceTable[], readTable: SourceTable): string[] {
  const unreadSheets = tables
    .filter((table) => table !== readTable && table.rows.length + table.unread.length > 0)
    .map(({ name = '' }) => name);
  return unreadSheets.length > 0 ? [`Sheets that were not read: ${quoteList(unreadSheets)}.`] : [];
}

function quoteList(titles: readonly string[]): string {
  const quoted = titles.slice(0, MAX_LISTED).map((title) => `"${title.slice(0, MAX_NAME).toWellFormed()}"`);
  const others = titles.length > MAX_LISTED ? ` and ${titles.length - MAX_LISTED} more` : '';
  return quoted.join(', ') + others;
}
