import type { Row } from '../../../files/table.ts';
import { type CellReader, listOf, nameOf, text, yesOrNo } from './cells.ts';

/** A field of an agent that a column can hold. */
export interface Field {
  readonly path: readonly string[];
  readonly read: CellReader;
}

interface KnownField extends Field {
  /** What its column may be called, the likeliest first; case, blanks and punctuation are not looked at. */
  readonly titles: readonly string[];
}

const known: readonly KnownField[] = [
  {
    path: ['name'],
    read: text,
    titles: ['name', 'agent name', 'rule name', 'check name', 'agent title', 'title', 'agent'],
  },
  {
    path: ['instructions'],
    read: text,
    titles: [
      'instructions',
      'instruction',
      'agent instructions',
      'prompt',
      'agent prompt',
      'rule',
      'check',
      'rule text',
      'guideline',
    ],
  },
  { path: ['description'], read: text, titles: ['description', 'agent description', 'summary'] },
  { path: ['rawInstructions'], read: text, titles: ['raw instructions', 'original instructions'] },
  { path: ['enabled'], read: yesOrNo, titles: ['enabled', 'is enabled', 'active', 'is active'] },
  {
    path: ['contextGathering', 'strategies'],
    read: listOf(nameOf),
    titles: [
      'strategies',
      'context gathering strategies',
      'context strategies',
      'gathering strategies',
      'context gathering',
      'context',
    ],
  },
  { path: ['execution', 'executionStrategy'], read: nameOf, titles: ['execution strategy', 'execution'] },
  { path: ['execution', 'serviceId'], read: nameOf, titles: ['service id', 'execution service id', 'service'] },
  { path: ['response', 'useAiFormatting'], read: yesOrNo, titles: ['use ai formatting', 'response use ai formatting'] },
  { path: ['response', 'formattingPrompt'], read: text, titles: ['formatting prompt', 'response formatting prompt'] },
  { path: ['response', 'responseAdapter'], read: nameOf, titles: ['response adapter'] },
  {
    path: ['scope', 'pageScope'],
    read: listOf(text),
    titles: ['page scope', 'scope page scope', 'urls', 'url patterns'],
  },
  {
    path: ['scope', 'pageScopeExclude'],
    read: listOf(text),
    titles: [
      'page scope exclude',
      'scope page scope exclude',
      'exclude',
      'excluded pages',
      'excluded urls',
      'exclude urls',
    ],
  },
  {
    path: ['scope', 'contentTypes'],
    read: listOf(text),
    titles: ['content types', 'scope content types', 'content type'],
  },
  {
    path: ['input', 'variableKeys'],
    read: listOf(text),
    titles: ['variable keys', 'input variable keys', 'variables'],
  },
];

/** A row of titles, as far as they are those of fields. */
export interface Header {
  readonly row: number;
  readonly columns: readonly { readonly field: Field; readonly title: string; readonly index: number }[];
  /** Titles of columns that no field is read from. */
  readonly unused: readonly string[];
  /** How many columns there are. */
  readonly width: number;
}

/** A title page and the like may come before the titles. */
const LATEST_HEADER = 10;
/** What is repeated of a title. */
const LONGEST_TITLE = 80;

/** The row of titles of a table; undefined when there is none by which rows can be told to be agents. */
export function findHeader(rows: readonly Row[]): Header | undefined {
  for (const row of rows.slice(0, LATEST_HEADER)) {
    const header = headerIn(row);
    if (tells(header)) return header;
  }
  return undefined;
}

/** A name alone is not what makes an agent: tables of all kinds have names, or titles, beside other things. */
function tells({ columns, unused }: Header): boolean {
  const has = (name: string) => columns.some(({ field }) => field.path.join('.') === name);
  return has('instructions') || (has('name') && (columns.length > 1 || unused.length === 0));
}

/** How well rows fit together as a table of agents: by fields first, by the number of columns where there are none. */
export function fitOf(rows: readonly Row[]): number {
  const header = findHeader(rows);
  return header ? 1_000 + header.columns.length : (rows[0]?.cells.length ?? 0);
}

function headerIn({ number, cells }: Row): Header {
  const titles = cells.map(simplified);
  const columns = known.flatMap((field) => {
    const index = field.titles.map((title) => titles.indexOf(simplified(title))).find((found) => found >= 0);
    return index === undefined ? [] : [{ field, title: cells[index]!.slice(0, LONGEST_TITLE), index }];
  });
  const used = new Set(columns.map(({ index }) => index));
  return {
    row: number,
    columns,
    unused: cells.filter((cell, index) => cell !== '' && !used.has(index)),
    width: cells.findLastIndex((cell) => cell !== '') + 1,
  };
}

function simplified(title: string): string {
  return title.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
