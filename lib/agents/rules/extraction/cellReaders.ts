import { tableLimits } from '../../../files/table.ts';

/** Returns the value of a cell that is not blank, or why the cell is invalid. */
export type CellReader = (cell: string) => { readonly value: unknown } | { readonly problem: string };

const FORMULA_ERROR = /^#(N\/A|REF!|VALUE!|DIV\/0!|NAME\?|NULL!|NUM!|SPILL!|CALC!)$/;
/** Longer than all names that the service defines. Keeps pattern matching fast. */
const MAX_NAME = 200;
const MAX_QUOTED = 60;
/** Blank values count. Without this limit, a file of 14 KB whose cells all refer to the same long list takes 12 s. */
const MAX_VALUES = 500;

export const readText: CellReader = (cell) =>
  FORMULA_ERROR.test(cell) ? { problem: `holds the error ${cell}` } : { value: cell };

const yes = new Set(['yes', 'true', '1', 'y', 'on', 'x', 'enabled', 'active']);
const no = new Set(['no', 'false', '0', 'n', 'off', 'disabled', 'inactive']);

export const readBoolean: CellReader = (cell) => {
  // Some tools write 1.0 for 1, with a comma in some countries.
  const word = cell.toLowerCase().replace(/^([01])[.,]0+$/, '$1');
  if (yes.has(word)) return { value: true };
  if (no.has(word)) return { value: false };
  const quoted = cell.length > MAX_QUOTED ? `${cell.slice(0, MAX_QUOTED)}…`.toWellFormed() : cell;
  return { problem: `must be yes or no, not "${quoted}"` };
};

/** `web-page-text` for a cell with `Web page text`. */
export const readName: CellReader = (cell) => {
  if (cell.length > MAX_NAME) return { problem: `must not have more than ${MAX_NAME} characters` };
  const read = readText(cell);
  if ('problem' in read) return read;
  const parts = cell.toLowerCase().split('+');
  return { value: parts.map((part) => part.trim().replace(/[\s_]+/g, '-')).join('+') };
};

/** Line breaks and semicolons separate values. Commas do only in a cell that has neither. */
export function readList(readItem: CellReader): CellReader {
  return (cell) => {
    if (cell.length >= tableLimits.cellCharacters)
      return { problem: `must have fewer than ${tableLimits.cellCharacters} characters` };
    const parts = cell.split(/[;\n]/.test(cell) ? /[;\n]/ : ',', MAX_VALUES + 1);
    if (parts.length > MAX_VALUES) return { problem: `must have at most ${MAX_VALUES} values` };
    const values: unknown[] = [];
    for (const part of parts) {
      if (part.trim() === '') continue;
      const read = readItem(part.trim());
      if ('problem' in read) return read;
      values.push(read.value);
    }
    return values.length > 0 ? { value: values } : { problem: 'holds no value' };
  };
}
