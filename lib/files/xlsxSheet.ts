import { tableLimits, type Unread } from './table.ts';
import { readXml, STOP, type XmlBudget } from './xml.ts';

/** A cell as a sheet has it: of type `s` its text is a number, that of a text which cells share. */
export interface SheetCell {
  readonly type: string;
  readonly style: number;
  readonly text: string;
}

/** The rows of a sheet that have cells; a cell that is not there is undefined. */
export interface Sheet {
  readonly rows: readonly { readonly number: number; readonly cells: readonly (SheetCell | undefined)[] }[];
  readonly unread: readonly Unread[];
}

/** Reads a sheet as far as it is read of any file. Where a cell says that it is does not make anything larger. */
export function readSheet(part: Buffer, budget: XmlBudget): Sheet {
  const rows: { number: number; cells: (SheetCell | undefined)[] }[] = [];
  const unread: Unread[] = [];
  let [row, column] = [0, -1];
  let cells: (SheetCell | undefined)[] = [];
  let cell: { type: string; style: number; text: string } | undefined;
  let [reads, spoken] = [false, false];
  const put = (read: SheetCell) => {
    if (rows.length === tableLimits.rows) {
      unread.push({
        row,
        text: '',
        reason: 'The sheet goes on after what is read of a sheet: this row, and all that follow it, were left out.',
      });
      throw STOP;
    }
    cells[column] = read.type === 's' || read.type === 'n' ? read : { ...read, text: unescaped(read.text) };
  };
  readXml(
    part,
    {
      open(name, { r, t = 'n', s = '0' }) {
        if (name === 'row') [row, column, cells] = [numberOf(r) ?? row + 1, -1, []];
        if (name === 'c') {
          column = columnOf(r) ?? column + 1;
          cell = { type: t, style: Number(s), text: '' };
        }
        // Of a formula only what it came to is read; of a text not how it is pronounced.
        if (name === 'rPh') spoken = true;
        if (name === 'v' || name === 't') reads = !spoken;
      },
      text(text) {
        if (reads && cell && cell.text.length < tableLimits.cellCharacters) cell.text += text;
      },
      close(name) {
        if (name === 'v' || name === 't') reads = false;
        if (name === 'rPh') spoken = false;
        if (name === 'c' && cell) {
          if (cell.text !== '' && column < tableLimits.columns) put(cell);
          cell = undefined;
        }
        if (name === 'row' && cells.length > 0) rows.push({ number: row, cells });
      },
    },
    budget,
  );
  return { rows, unread };
}

/** Those of the texts that cells share which are wanted, by their number. */
export function readSharedTexts(
  part: Buffer | undefined,
  wanted: readonly number[],
  budget: XmlBudget,
): Map<number, string> {
  const texts = new Map<number, string>();
  if (part === undefined || wanted.length === 0) return texts;
  const numbers = new Set(wanted);
  let [index, left, text, reads, spoken] = [-1, numbers.size, '', false, false];
  readXml(
    part,
    {
      open(name) {
        if (name === 'si') [index, text] = [index + 1, ''];
        if (name === 'rPh') spoken = true;
        if (name === 't') reads = !spoken && numbers.has(index);
      },
      text(added) {
        if (reads && text.length < tableLimits.cellCharacters) text += added;
      },
      close(name) {
        if (name === 't') reads = false;
        if (name === 'rPh') spoken = false;
        if (name !== 'si' || !numbers.has(index)) return;
        texts.set(index, unescaped(text));
        if (--left === 0) throw STOP;
      },
    },
    budget,
  );
  return texts;
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined;
}

/** The column of `C7`, from 0. */
function columnOf(address: string | undefined): number | undefined {
  const [, letters] = /^([A-Z]{1,3})\d{1,7}$/.exec(address ?? '') ?? [];
  return letters === undefined
    ? undefined
    : [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

/** Text in which characters that XML does not have are written as `_x000D_`. */
function unescaped(text: string): string {
  return text
    .replace(/_x([0-9A-Fa-f]{4})_/g, (_all, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replace(/\r\n?/g, '\n')
    .toWellFormed();
}
