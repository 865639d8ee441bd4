import { tableLimits, type Unread } from './table.ts';
import { readXml, STOP, type XmlBudget } from './xml.ts';

/** A cell of a sheet. The text of type `s` is the number of a shared text. */
export interface SheetCell {
  readonly type: string;
  readonly style: number;
  readonly text: string;
}

/** The rows of a sheet that have cells. A missing cell is undefined. */
export interface Sheet {
  readonly rows: readonly { readonly number: number; readonly cells: readonly (SheetCell | undefined)[] }[];
  readonly unread: readonly Unread[];
}

/** Collects the text of values (`v`) and texts (`t`). It skips formulas and phonetic hints (`rPh`). */
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

/** Reads a sheet within the limits of tables. The address of a cell never makes the result larger. */
export function readSheet(part: Buffer, budget: XmlBudget): Sheet {
  const rows: { number: number; cells: (SheetCell | undefined)[] }[] = [];
  const unread: Unread[] = [];
  let [row, column] = [0, -1];
  let cells: (SheetCell | undefined)[] = [];
  let cell = { type: 'n', style: 0 };
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
      if (name === 'row') [row, column, cells] = [parseRowNumber(r) ?? row + 1, -1, []];
      if (name !== 'c') return;
      column = parseColumn(r) ?? column + 1;
      cell = { type: t, style: Number(s) };
      collector.text = '';
    },
    text: (text: string) => collector.add(text),
    close(name: string) {
      collector.close(name);
      if (name === 'c' && collector.text !== '' && column < tableLimits.columns) addCell(collector.text);
      if (name === 'row' && cells.length > 0) rows.push({ number: row, cells });
    },
  };
  readXml(part, reader, budget);
  return { rows, unread };
}

/** Returns the shared texts with these numbers. */
export function readSharedTexts(
  part: Buffer | undefined,
  numbers: ReadonlySet<number>,
  budget: XmlBudget,
): Map<number, string> {
  const texts = new Map<number, string>();
  if (part === undefined || numbers.size === 0) return texts;
  let number = -1;
  const collector = new TextCollector();
  const reader = {
    open(name: string) {
      collector.open(name);
      if (name !== 'si') return;
      number++;
      collector.text = '';
    },
    text(text: string) {
      if (numbers.has(number)) collector.add(text);
    },
    close(name: string) {
      collector.close(name);
      if (name !== 'si' || !numbers.has(number)) return;
      texts.set(number, unescapeText(collector.text));
      if (texts.size === numbers.size) throw STOP;
    },
  };
  readXml(part, reader, budget);
  return texts;
}

function parseRowNumber(text = ''): number | undefined {
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined;
}

/** Returns the column of an address such as `C7`, from 0. */
function parseColumn(address = ''): number | undefined {
  const [, letters] = /^([A-Z]{1,3})\d{1,7}$/.exec(address) ?? [];
  if (letters === undefined) return undefined;
  return Array.from(letters).reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

/** Decodes `_x000D_`, which stands for a character that XML does not allow. */
function unescapeText(text: string): string {
  return text
    .replace(/_x([0-9A-Fa-f]{4})_/g, (_all, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replace(/\r\n?/g, '\n')
    .toWellFormed();
}
