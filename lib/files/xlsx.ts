import { posix } from 'node:path';
import { FileFault } from './fileFault.ts';
import { type Sheet, type SheetCell, readSheet, readSharedTexts } from './xlsxSheet.ts';
import { readDateStyles, showDate } from './xlsxDates.ts';
import { boundedCells, isBlank, type Table } from './table.ts';
import { localName, newXmlBudget, readXml, type XmlBudget } from './xml.ts';
import { Zip } from './zip.ts';

/** What all parts of a workbook together may have when they are unpacked. */
const UNPACKED_BYTES = 12 * 1_024 * 1_024;
const MOST_SHEETS = 10;
/** Sheets beyond those that are read are named in the answer, as long as there are no more than this. */
const MOST_NAMED_SHEETS = 200;
/** A longer path leads to no part: to take `..` out of a path can take quadratic time. */
const LONGEST_PATH = 1_024;
/** How files begin that are spreadsheets all the same: those of before 2007, and those with a password. */
const OLD_FORMAT = 'd0cf11e0';

/** A sheet of a workbook that is not hidden. */
export interface NamedTable extends Table {
  readonly name: string;
}

/**
 * The sheets of an XLSX file that are shown; only ten of them are read. Cells have the text that was last shown of them: formulas are neither read
 * nor run, and links are not followed.
 */
export function readWorkbook(bytes: Buffer): NamedTable[] {
  if (bytes.toString('hex', 0, 4) === OLD_FORMAT)
    throw new FileFault('is a spreadsheet of an old format, or protected by a password: save it as XLSX without one');
  const zip = new Zip(bytes, UNPACKED_BYTES);
  const budget = newXmlBudget();
  const { sheets, folder, targets, dates1904 } = readIndex(zip, budget);
  const read = sheets.flatMap(({ name, id }, index) => {
    if (index >= MOST_SHEETS)
      return [
        {
          name,
          sheet: { rows: [], unread: [{ text: '', reason: `At most ${MOST_SHEETS} sheets of a file are read.` }] },
        },
      ];
    const part = zip.read(posix.join(folder, targets.get(id)?.target ?? ''));
    return part === undefined ? [] : [{ name, sheet: readSheet(part, budget) }];
  });
  if (read.length === 0) throw new FileFault('has no sheet that is shown');
  const partOf = (type: string) => {
    const found = [...targets.values()].find((target) => target.type === type);
    return found && zip.read(posix.join(folder, found.target));
  };
  const texts = readSharedTexts(
    partOf('sharedStrings'),
    read.flatMap(({ sheet }) => sharedIn(sheet)),
    budget,
  );
  const isDate = readDateStyles(partOf('styles'), budget);
  const textOf = (cell: SheetCell | undefined) => {
    if (cell === undefined) return '';
    if (cell.type === 's') return texts.get(Number(cell.text)) ?? '';
    if (cell.type === 'b') return cell.text.trim() === '1' ? 'TRUE' : 'FALSE';
    return cell.type === 'n' && isDate(cell.style) ? showDate(cell.text, dates1904) : cell.text;
  };
  return read.map(({ name, sheet: { rows, unread } }) => ({
    name,
    unread,
    rows: rows
      .map(({ number, cells }) => ({ number, cells: boundedCells(Array.from(cells, textOf)) }))
      .filter((row) => !isBlank(row)),
  }));
}

function sharedIn({ rows }: Sheet): number[] {
  return rows.flatMap(({ cells }) => cells.flatMap((cell) => (cell?.type === 's' ? [Number(cell.text)] : [])));
}

interface Index {
  readonly sheets: readonly { readonly name: string; readonly id: string }[];
  /** Where the workbook is, from where its relations lead on. */
  readonly folder: string;
  /** By the id of the relation. */
  readonly targets: ReadonlyMap<string, { readonly type: string; readonly target: string }>;
  readonly dates1904: boolean;
}

/** What sheets there are, and in which parts. */
function readIndex(zip: Zip, budget: XmlBudget): Index {
  const workbook =
    [...relations(zip, '', '', budget).values()].find(({ type }) => type === 'officeDocument')?.target ??
    'xl/workbook.xml';
  const part = zip.read(workbook);
  if (part === undefined) throw new FileFault('is not an XLSX file');
  const sheets: Index['sheets'][number][] = [];
  let dates1904 = false;
  readXml(
    part,
    {
      open(name, attributes) {
        if (name === 'workbookPr') dates1904 = attributes['date1904'] === '1' || attributes['date1904'] === 'true';
        if (name !== 'sheet' || (attributes['state'] ?? 'visible') !== 'visible') return;
        const [, id = ''] =
          Object.entries(attributes).find(([key]) => key.includes(':') && localName(key) === 'id') ?? [];
        if (sheets.push({ name: attributes['name'] ?? '', id }) > MOST_NAMED_SHEETS)
          throw new FileFault(`has more than ${MOST_NAMED_SHEETS} sheets`);
      },
    },
    budget,
  );
  const { dir, base } = posix.parse(workbook);
  return { sheets, folder: dir, targets: relations(zip, dir, base, budget), dates1904 };
}

/** Where the relations of a part lead. A target with a slash before it is from the root: joined to a folder it would not be. */
function relations(
  zip: Zip,
  folder: string,
  file: string,
  budget: XmlBudget,
): Map<string, { type: string; target: string }> {
  const found = new Map<string, { type: string; target: string }>();
  const part = zip.read(posix.join(folder, '_rels', `${file}.rels`));
  if (part === undefined) return found;
  readXml(
    part,
    {
      open(name, { Id = '', Type = '', Target = '', TargetMode }) {
        if (name !== 'Relationship' || TargetMode === 'External' || Target.length > LONGEST_PATH) return;
        found.set(Id, {
          type: posix.basename(Type),
          target: Target.startsWith('/') ? posix.relative(posix.resolve('/', folder), Target) : Target,
        });
      },
    },
    budget,
  );
  return found;
}
