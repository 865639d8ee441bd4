import type { Row } from '../../../files/table.ts';
import { type CellReader, readBoolean, readList, readName, readText } from './cellReaders.ts';

/** A field of an agent that a column can hold. */
interface AgentField {
  /** Path in the agent, with dots. */
  readonly path: string;
  readonly read: CellReader;
  /** Simplified titles of its column, the most likely first. */
  readonly titles: readonly string[];
}

function field(path: string, read: CellReader, titles: string): AgentField {
  return { path, read, titles: titles.split(', ').map(simplify) };
}

const fields = [
  field('name', readText, 'name, agent name, rule name, check name, agent title, title, agent'),
  field(
    'instructions',
    readText,
    'instructions, instruction, agent instructions, prompt, agent prompt, rule, check, rule text, guideline',
  ),
  field('description', readText, 'description, agent description, summary'),
  field('rawInstructions', readText, 'raw instructions, original instructions'),
  field('enabled', readBoolean, 'enabled, is enabled, active, is active'),
  field(
    'contextGathering.strategies',
    readList(readName),
    'strategies, context gathering strategies, context strategies, gathering strategies, context gathering, context',
  ),
  field('execution.executionStrategy', readName, 'execution strategy, execution'),
  field('execution.serviceId', readName, 'service id, execution service id, service'),
  field('response.useAiFormatting', readBoolean, 'use ai formatting, response use ai formatting'),
  field('response.formattingPrompt', readText, 'formatting prompt, response formatting prompt'),
  field('response.responseAdapter', readName, 'response adapter'),
  field('scope.pageScope', readList(readText), 'page scope, scope page scope, urls, url patterns'),
  field(
    'scope.pageScopeExclude',
    readList(readText),
    'page scope exclude, scope page scope exclude, exclude, excluded pages, excluded urls, exclude urls',
  ),
  field('scope.contentTypes', readList(readText), 'content types, scope content types, content type'),
  field('input.variableKeys', readList(readText), 'variable keys, input variable keys, variables'),
];

/** The row with the column titles of a table of agents. */
export interface Header {
  readonly row: number;
  readonly columns: readonly { readonly field: AgentField; readonly title: string; readonly index: number }[];
  /** Titles of columns without a field. */
  readonly unused: readonly string[];
  /** Number of columns. */
  readonly width: number;
}

/** How many rows, such as a title page, may come before the header and be the header. */
const HEADER_ROWS = 10;
const MAX_TITLE = 80;

/** Returns the header of a table; undefined when the columns are not those of agents. */
export function findHeader(rows: readonly Row[]): Header | undefined {
  return rows.slice(0, HEADER_ROWS).map(readHeader).find(describesAgents);
}

/** A name alone does not make an agent: tables of all kinds have a name or a title next to other columns. */
function describesAgents({ columns, unused }: Header): boolean {
  const has = (path: string) => columns.some(({ field }) => field.path === path);
  return has('instructions') || (has('name') && (columns.length > 1 || unused.length === 0));
}

/** Returns how well rows fit as a table of agents: the number of known columns, or the number of cells when there is no header. */
export function scoreTable(rows: readonly Row[]): number {
  const header = findHeader(rows);
  return header ? 1_000 + header.columns.length : (rows[0]?.cells.length ?? 0);
}

function readHeader({ number, cells }: Row): Header {
  const titles = cells.map(simplify);
  const columns = fields.flatMap((field) => {
    const index = field.titles.map((title) => titles.indexOf(title)).find((found) => found >= 0);
    return index === undefined ? [] : [{ field, title: (cells[index] ?? '').slice(0, MAX_TITLE), index }];
  });
  const used = new Set(columns.map(({ index }) => index));
  return {
    row: number,
    columns,
    unused: cells.filter((cell, index) => cell !== '' && !used.has(index)),
    width: cells.findLastIndex((cell) => cell !== '') + 1,
  };
}

/** Titles are compared without case, spaces and punctuation. */
function simplify(title: string): string {
  return title.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
