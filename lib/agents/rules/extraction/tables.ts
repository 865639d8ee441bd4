import type { Row, Table } from '../../../files/table.ts';
import { findHeader, type Header } from './columns.ts';
import { type Candidate, counted, type ExtractionResult, LONGEST_ORIGINAL, settle } from './result.ts';

/** A table that may be one of several in a file. */
export type SourceTable = Table & { readonly name?: string };

const LONGEST_NAME = 80;
const MOST_NAMED = 20;
const LAST = Number.MAX_SAFE_INTEGER;

/** The agents in the first table whose titles are those of fields of agents; undefined when there is none. */
export function agentsOfTables(tables: readonly SourceTable[]): ExtractionResult | undefined {
  for (const table of tables) {
    const header = findHeader(table.rows);
    if (header) return settle(candidatesIn(table, header), [readBy(header, table), ...notRead(tables, table)]);
  }
  return undefined;
}

/** How a row begins, on one line. Cells may share a long text: all of it in every row would be too much. */
export function rowText({ cells }: Row): string {
  return cells
    .filter((cell) => cell !== '')
    .map((cell) => cell.slice(0, LONGEST_ORIGINAL))
    .join(' | ')
    .slice(0, LONGEST_ORIGINAL);
}

/** Everything of a table that was not read, as candidates. */
export function unreadOf({ unread }: Table): Candidate[] {
  return unread.map(({ row, text, reason }) => ({ row, text, made: { reason } }));
}

function candidatesIn(table: Table, header: Header): Candidate[] {
  const titles = new Map(header.columns.map(({ field, title }) => [field.path.join('.'), title]));
  const titleOf = (field: string) => titles.get(field);
  const made = table.rows
    .filter(({ number }) => number !== header.row)
    .map((row): Candidate => {
      const reason = row.number < header.row ? 'It stands above the titles of the columns.' : undefined;
      return {
        row: row.number,
        text: rowText(row),
        titleOf,
        made: reason === undefined ? agentOf(row, header) : { reason },
      };
    });
  return [...made, ...unreadOf(table)].sort((a, b) => (a.row ?? LAST) - (b.row ?? LAST));
}

function agentOf({ cells }: Row, { columns, width }: Header): Candidate['made'] {
  const beyond = cells.slice(width).filter((cell) => cell !== '');
  if (beyond.length > 0)
    return {
      reason: `The row has ${counted(cells.length, 'cell')}, but there are ${counted(width, 'column')}: quote cells that contain what parts cells.`,
    };
  const agent: Record<string, unknown> = {};
  for (const { field, title, index } of columns) {
    const cell = cells[index] ?? '';
    if (cell === '') continue;
    const read = field.read(cell);
    if ('wrong' in read) return { reason: `Column "${title}" ${read.wrong}.` };
    put(agent, field.path, read.value);
  }
  const { name, instructions } = agent as { name?: string; instructions?: string };
  if (name === undefined && instructions === undefined)
    return { reason: 'The row has neither a name nor instructions.' };
  return { agent: { name: name ?? nameFrom(instructions!), ...agent } };
}

/** Puts a value into an object at one of the paths of our own fields. */
function put(agent: Record<string, unknown>, [first, second]: readonly string[], value: unknown): void {
  if (second === undefined) agent[first!] = value;
  else agent[first!] = { ...(agent[first!] as object | undefined), [second]: value };
}

/** A name for what has none: how it begins. */
function nameFrom(instructions: string): string {
  const [line = ''] = instructions.split('\n');
  if (line.length <= LONGEST_NAME) return line;
  const start = line.slice(0, LONGEST_NAME);
  const end = start.lastIndexOf(' ');
  return `${start.slice(0, end > 0 ? end : undefined).trimEnd()}…`.toWellFormed();
}

function readBy({ columns, unused }: Header, { name }: SourceTable): string {
  const from = name === undefined ? '' : ` of the sheet ${listed([name])}`;
  const left = unused.length > 0 ? ` Columns that were not used: ${listed(unused)}.` : '';
  return `The rows${from} were read by their columns: ${listed(columns.map(({ title }) => title))}.${left}`;
}

/** What the summary says of the sheets that were passed over. */
export function notRead(tables: readonly SourceTable[], read: SourceTable): string[] {
  const others = tables
    .filter((table) => table !== read && table.rows.length + table.unread.length > 0)
    .map(({ name = '' }) => name);
  return others.length > 0 ? [`Sheets that were not read: ${listed(others)}.`] : [];
}

function listed(titles: readonly string[]): string {
  const named = titles
    .slice(0, MOST_NAMED)
    .map((title) => `"${title.slice(0, LONGEST_NAME).toWellFormed()}"`)
    .join(', ');
  return titles.length > MOST_NAMED ? `${named} and ${titles.length - MOST_NAMED} more` : named;
}
