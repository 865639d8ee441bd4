import { zip } from './zip.ts';

/** A cell: a text, a number with a style, or XML. */
export type TestCell =
  string | { readonly number: number | string; readonly style?: number } | { readonly xml: string } | undefined;

interface TestSheet {
  readonly name: string;
  readonly rows: readonly (readonly TestCell[])[];
  readonly hidden?: boolean;
  /** If given, this is the XML of the whole sheet, instead of the rows. */
  readonly xml?: string;
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Returns an XLSX file with these sheets. `parts` add files to its archive or replace them. */
export function workbook(
  sheets: readonly TestSheet[],
  { parts = {}, dates1904 = false }: { parts?: Readonly<Record<string, Uint8Array>>; dates1904?: boolean } = {},
): Buffer {
  const shared: string[] = [];
  const cellXml = (cell: TestCell, row: number, column: number) => {
    if (cell === undefined) return '';
    if (typeof cell === 'object' && 'xml' in cell) return cell.xml;
    const address = `${String.fromCharCode(65 + column)}${row + 1}`;
    if (typeof cell === 'object') return `<c r="${address}" s="${cell.style ?? 0}"><v>${cell.number}</v></c>`;
    return `<c r="${address}" t="s"><v>${shared.push(cell) - 1}</v></c>`;
  };
  const sheetXml = ({ rows, xml }: TestSheet) => {
    const data =
      xml ??
      `<sheetData>${rows.map((cells, row) => `<row r="${row + 1}">${cells.map((cell, column) => cellXml(cell, row, column)).join('')}</row>`).join('')}</sheetData>`;
    return `${HEAD}<worksheet xmlns="${MAIN}"><dimension ref="A1:XFD1048576"/>${data}</worksheet>`;
  };
  const sheetParts = Object.fromEntries(
    sheets.map((sheet, index) => [`xl/worksheets/sheet${index + 1}.xml`, Buffer.from(sheetXml(sheet))]),
  );
  const relation = (id: number | string, type: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`;
  return zip({
    '[Content_Types].xml': Buffer.from(
      `${HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    ),
    '_rels/.rels': Buffer.from(
      `${HEAD}<Relationships xmlns="${PACKAGE}">${relation(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    ),
    'xl/workbook.xml': Buffer.from(
      `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><workbookPr date1904="${dates1904 ? 1 : 0}"/><sheets>${sheets.map(({ name, hidden }, index) => `<sheet name="${escaped(name)}" sheetId="${index + 1}"${hidden ? ' state="hidden"' : ''} r:id="rId${index + 1}"/>`).join('')}</sheets></workbook>`,
    ),
    'xl/_rels/workbook.xml.rels': Buffer.from(
      `${HEAD}<Relationships xmlns="${PACKAGE}">${sheets.map((_sheet, index) => relation(index + 1, 'worksheet', `worksheets/sheet${index + 1}.xml`)).join('')}${relation('S', 'sharedStrings', 'sharedStrings.xml')}${relation('T', 'styles', '/xl/styles.xml')}</Relationships>`,
    ),
    ...sheetParts,
    'xl/sharedStrings.xml': Buffer.from(
      `${HEAD}<sst xmlns="${MAIN}">${shared.map((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`).join('')}</sst>`,
    ),
    // Style 1 is a built-in date format, style 2 a custom date format, style 3 a number with a text.
    'xl/styles.xml': Buffer.from(
      `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy hh:mm"/><numFmt numFmtId="165" formatCode="0 &quot;days&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>`,
    ),
    ...parts,
  });
}
