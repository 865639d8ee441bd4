import type { Row } from '../../../files/table.ts';
import { type CellReader, readBoolean, readList, readName, readText } from './cellReaders.ts';

interface AgentField {
  readonly path: string;
  readonly read: CellReader;
  /** As `simplify` returns them. An earlier title has precedence. */
  readonly titles: readonly string[];
}

/** Characters. Rows of a workbook can have many long cells, which are not read as titles. */
const MAX_TITLE_CELL = 200;

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

export interface Header {
  readonly row: Row;
  readonly columns: readonly { readonly field: AgentField; readonly title: string; readonly index: number }[];
  readonly unused: readonly string[];
  readonly width: number;
}

/** Rows above the header can be a title of the table. */
const HEADER_ROWS = 10;
const MAX_TITLE = 80;

/**
 * Returns the header of a table, if a row near the beginning has the column titles of agents. Of several, the one with
 * the most titles: a title of the whole table can be a word such as "Rule".
 */
export function findHeader(rows: readonly Row[]): Header | undefined {
  const headers = rows.slice(0, HEADER_ROWS).map(readHeader).filter(describesAgents);
  return headers.toSorted((a, b) => b.columns.length - a.columns.length)[0];
}

/** A name beside only unknown columns is not enough: many other tables have a name or a title. */
function describesAgents({ columns, unused }: Header): boolean {
  const has = (path: string) => columns.some(({ field }) => field.path === path);
  return has('instructions') || (has('name') && (columns.length > 1 || unused.length === 0));
}

/**
 * Returns how well rows fit as a table of agents: by the known columns of the header, or without a header by the number
 * of cells in the first row.
 */
export function scoreTable(rows: readonly Row[]): number {
  const header = findHeader(rows);
  return header ? 1_000 + header.columns.length : (rows[0]?.cells.length ?? 0);
}

function readHeader(row: Row): Header {
  const { cells } = row;
  const titles = cells.map(simplify);
  const columns = fields.flatMap((field) => {
    const index = field.titles.map((title) => titles.indexOf(title)).find((position) => position >= 0);
    return index === undefined ? [] : [{ field, title: (cells[index] ?? '').slice(0, MAX_TITLE), index }];
  });
  const used = new Set(columns.map(({ index }) => index));
  return {
    row,
    columns,
    unused: cells.filter((cell, index) => cell !== '' && !used.has(index)),
    width: cells.findLastIndex((cell) => cell !== '') + 1,
  };
}

function simplify(title: string): string {
  if (title.length > MAX_TITLE_CELL) return '';
  return title.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
