import { tableLimits, type UnreadPart } from './table.ts';
import { readXml, STOP, type XmlBudget } from './xml.ts';

/** The text of a cell of type `s` is an index into the shared strings. */
export interface SheetCell {
  readonly type: string;
  readonly style: number;
  readonly text: string;
  readonly isFormula: boolean;
}

/** Without empty rows. The index in `cells` is the column. An empty cell is undefined. */
export interface Sheet {
  readonly rows: readonly { readonly number: number; readonly cells: readonly (SheetCell | undefined)[] }[];
  readonly unread: readonly UnreadPart[];
}

/** Text in `v` (value) and `t` (text), without formulas and phonetic hints (`rPh`). */
class TextCollector {
  text = '';
  #isOpen = false;
  #isPhonetic = false;

  open(name: string): void {
    if (name === 'rPh') this.#isPhonetic = true;
    if (name === 'v' || name === 't') this.#isOpen = !this.#isPhonetic;
  }

  add(text: string): void {
    if (this.#isOpen && this.text.length < tableLimits.cellCharacters) this.text += text;
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#isOpen = false;
    if (name === 'rPh') this.#isPhonetic = false;
  }
}

/**
 * Within `tableLimits`. Does not fill skipped rows, so an address such as `ZZZ9000000` does not make the result large.
 */
export function readSheet(xml: Buffer, budget: XmlBudget): Sheet {
  const rows: { number: number; cells: (SheetCell | undefined)[] }[] = [];
  const unread: UnreadPart[] = [];
  let row = 0;
  let column = -1;
  let cells: (SheetCell | undefined)[] = [];
  let cell = { type: 'n', style: 0, isFormula: false };
  const collector = new TextCollector();
  const addCell = (text: string) => {
    if (rows.length === tableLimits.rows) {
      unread.push({
        row,
        text: '',
        reason: 'The sheet is longer than the limit: this row and all rows after it were left out.',
      });
      throw STOP;
    }
    cells[column] = { ...cell, text: cell.type === 's' || cell.type === 'n' ? text : unescapeText(text) };
  };
  const reader = {
    open(name: string, { r, t = 'n', s = '0' }: Readonly<Record<string, string>>) {
      collector.open(name);
      if (name === 'row') {
        row = parseRowNumber(r) ?? row + 1;
        column = -1;
        cells = [];
      }
      if (name === 'f') cell.isFormula = true;
      if (name !== 'c') return;
      column = parseColumn(r) ?? column + 1;
      cell = { type: t, style: Number(s), isFormula: false };
      collector.text = '';
    },
    text: (text: string) => collector.add(text),
    close(name: string) {
      collector.close(name);
      const hasContent = collector.text !== '' || cell.isFormula;
      if (name === 'c' && hasContent && column < tableLimits.columns) addCell(collector.text);
      if (name === 'row' && cells.length > 0) rows.push({ number: row, cells });
    },
  };
  readXml(xml, reader, budget);
  return { rows, unread };
}

export function readSharedStrings(
  xml: Buffer | undefined,
  indexes: ReadonlySet<number>,
  budget: XmlBudget,
): Map<number, string> {
  const texts = new Map<number, string>();
  if (xml === undefined || indexes.size === 0) return texts;
  let index = -1;
  const collector = new TextCollector();
  const reader = {
    open(name: string) {
      collector.open(name);
      if (name !== 'si') return;
      index++;
      collector.text = '';
    },
    text(text: string) {
      if (indexes.has(index)) collector.add(text);
    },
    close(name: string) {
      collector.close(name);
      if (name !== 'si' || !indexes.has(index)) return;
      texts.set(index, unescapeText(collector.text));
      if (texts.size === indexes.size) throw STOP;
    },
  };
  readXml(xml, reader, budget);
  return texts;
}

function parseRowNumber(text = ''): number | undefined {
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined;
}

/** Zero-based: 2 for `C7`. */
function parseColumn(address = ''): number | undefined {
  const [, letters] = /^([A-Z]{1,3})\d{1,7}$/.exec(address) ?? [];
  if (letters === undefined) return undefined;
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}

/** Excel writes escapes such as `_x000D_` for some characters. */
function unescapeText(text: string): string {
  return text
    .replace(/_x([0-9A-Fa-f]{4})_/g, (_all, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replace(/\r\n?/g, '\n')
    .toWellFormed();
}
