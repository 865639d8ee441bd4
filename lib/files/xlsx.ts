import { posix } from 'node:path';
import { InvalidFileError } from './invalidFileError.ts';
import { boundedCells, type FileTable, isBlank, type Row } from './table.ts';
import { formatDate, readDateStyles } from './xlsxDates.ts';
import { readSharedStrings, readSheet, type Sheet, type SheetCell } from './xlsxSheet.ts';
import { localName, newXmlBudget, readXml, type XmlBudget } from './xml.ts';
import { Zip } from './zip.ts';

/** Of all parts together. */
const UNPACKED_BYTES = 12 * 1_024 * 1_024;
const MAX_SHEETS = 10;
const MAX_NAMED_SHEETS = 200;
/** Resolving `..` in a longer path can take quadratic time. */
const MAX_PATH_CHARACTERS = 1_024;
/** The first bytes of XLS (before Excel 2007) and of spreadsheets with a password. */
const OLD_FORMAT = 'd0cf11e0';

export interface NamedTable extends FileTable {
  readonly name: string;
}

/**
 * Returns the visible sheets, of which only the first ten are read. Formulas are not run and links are not followed.
 * Throws InvalidFileError if the bytes are no workbook that can be read.
 */
export function readWorkbook(bytes: Buffer): NamedTable[] {
  if (bytes.toString('hex', 0, 4) === OLD_FORMAT)
    throw new InvalidFileError(
      'is a spreadsheet of an old format, or protected by a password: save it as XLSX without a password',
    );
  const zip = new Zip(bytes, UNPACKED_BYTES);
  const budget = newXmlBudget();
  const { sheets, folder, targets, dates1904, recalculates } = readIndex(zip, budget);
  const readTarget = (target = '') => zip.read(posix.join(folder, target));
  const read = sheets.flatMap(({ name, id }, index): { name: string; sheet: Sheet }[] => {
    if (index >= MAX_SHEETS) {
      const reason = `At most ${MAX_SHEETS} sheets of a file are read.`;
      return [{ name, sheet: { rows: [], unread: [{ text: '', reason }] } }];
    }
    const part = readTarget(targets.get(id)?.target);
    return part ? [{ name, sheet: readSheet(part, budget) }] : [];
  });
  if (read.length === 0) throw new InvalidFileError('has no visible sheet');
  const readType = (type: string) => {
    const relation = [...targets.values()].find((target) => target.type === type);
    return relation && readTarget(relation.target);
  };
  const cells = read.flatMap(({ sheet }) => sheet.rows.flatMap((row) => row.cells));
  const shared = new Set(cells.flatMap((cell) => (cell?.type === 's' ? Number(cell.text) : [])));
  const texts = readSharedStrings(readType('sharedStrings'), shared, budget);
  const isDate = readDateStyles(readType('styles'), budget);
  const textOf = (cell: SheetCell | undefined) => {
    if (cell === undefined || isUncalculated(cell)) return '';
    if (cell.type === 's') return texts.get(Number(cell.text)) ?? '';
    if (cell.type === 'b') return /^\s*true\s*$/i.test(cell.text) || Number(cell.text) === 1 ? 'TRUE' : 'FALSE';
    if (cell.type !== 'n') return cell.text;
    return formatNumber(isDate(cell.style) ? formatDate(cell.text, dates1904) : cell.text);
  };
  // XlsxWriter stores 0 for each formula, and sets fullCalcOnLoad.
  const isUncalculated = ({ isFormula, type, text }: SheetCell) =>
    isFormula && (text === '' ? type !== 'str' : recalculates && type === 'n' && text === '0');
  const toRow = ({ number, cells: sheetCells }: Sheet['rows'][number]): Row => {
    const uncalculated = sheetCells.flatMap((cell, column) => (cell && isUncalculated(cell) ? [column] : []));
    const row = { number, cells: boundedCells(Array.from(sheetCells, textOf)) };
    return uncalculated.length > 0 ? { ...row, uncalculated } : row;
  };
  return read.map(({ name, sheet: { rows, unread } }) => ({
    name,
    unread,
    rows: rows.map(toRow).filter((row) => !isBlank(row)),
  }));
}

/** `target` is relative to the folder of the part that refers to it. */
interface Relation {
  readonly type: string;
  readonly target: string;
}

interface Index {
  readonly sheets: readonly { readonly name: string; readonly id: string }[];
  readonly folder: string;
  readonly targets: ReadonlyMap<string, Relation>;
  /** Days are counted from 1904. */
  readonly dates1904: boolean;
  readonly recalculates: boolean;
}

function readIndex(zip: Zip, budget: XmlBudget): Index {
  const relations = readRelations(zip, '', '', budget);
  const workbook = [...relations.values()].find(({ type }) => type === 'officeDocument')?.target ?? 'xl/workbook.xml';
  const part = zip.read(workbook);
  if (part === undefined) throw new InvalidFileError('is not an XLSX file');
  const sheets: Index['sheets'][number][] = [];
  const isTrue = (text: string | undefined) => text === '1' || text === 'true';
  let [dates1904, recalculates] = [false, false];
  const open = (name: string, attributes: Readonly<Record<string, string>>) => {
    const { date1904, fullCalcOnLoad, state = 'visible', name: sheetName = '' } = attributes;
    if (name === 'workbookPr') dates1904 = isTrue(date1904);
    if (name === 'calcPr') recalculates = isTrue(fullCalcOnLoad);
    if (name !== 'sheet' || state !== 'visible') return;
    const [, id = ''] = Object.entries(attributes).find(([key]) => key.includes(':') && localName(key) === 'id') ?? [];
    if (sheets.push({ name: sheetName, id }) > MAX_NAMED_SHEETS)
      throw new InvalidFileError(`has more than ${MAX_NAMED_SHEETS} sheets`);
  };
  readXml(part, { open }, budget);
  const { dir, base } = posix.parse(workbook);
  return { sheets, folder: dir, targets: readRelations(zip, dir, base, budget), dates1904, recalculates };
}

/** A target that begins with a slash is a path from the root of the file. */
function readRelations(zip: Zip, folder: string, file: string, budget: XmlBudget): Map<string, Relation> {
  const relations = new Map<string, Relation>();
  const part = zip.read(posix.join(folder, '_rels', `${file}.rels`));
  if (part === undefined) return relations;
  const open = (name: string, attributes: Readonly<Record<string, string>>) => {
    const { Id = '', Type = '', Target = '', TargetMode } = attributes;
    if (name !== 'Relationship' || TargetMode === 'External' || Target.length > MAX_PATH_CHARACTERS) return;
    const target = Target.startsWith('/') ? posix.relative(posix.resolve('/', folder), Target) : Target;
    relations.set(Id, { type: posix.basename(Type), target });
  };
  readXml(part, { open }, budget);
  return relations;
}

const DIGITS = 15;

/** `1` for `1.0`, `0.3` for `0.30000000000000004`, with an exponent only from 1e15 on. */
export function formatNumber(text: string): string {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) return text;
  const [mantissa = '', exponent = ''] = Math.abs(value)
    .toExponential(DIGITS - 1)
    .split('e');
  const digits = String(Number(mantissa)).replace('.', '');
  const power = Number(exponent);
  const [shown, wholeDigits] =
    power >= DIGITS ? [digits, 1] : [`${'0'.repeat(Math.max(-power, 0))}${digits}`, Math.max(power, 0) + 1];
  const whole = shown.slice(0, wholeDigits).padEnd(wholeDigits, '0');
  const fraction = shown.slice(wholeDigits);
  return `${value < 0 ? '-' : ''}${whole}${fraction && `.${fraction}`}${power >= DIGITS ? `E${exponent}` : ''}`;
}
