import { describe, expect, test } from '@jest/globals';
import { readSource } from '../../../lib/agents/rules/extraction/readSource.ts';
import { InvalidFileError } from '../../../lib/files/invalidFileError.ts';
import { readWorkbook } from '../../../lib/files/xlsx.ts';
import { formatDate } from '../../../lib/files/xlsxDates.ts';
import { readSheet } from '../../../lib/files/xlsxSheet.ts';
import { newXmlBudget } from '../../../lib/files/xml.ts';
import { cpuMilliseconds } from '../../support/cpu.ts';
import { times } from '../../support/times.ts';
import { type TestCell, workbook } from '../../support/workbook.ts';
import { zip } from '../../support/zip.ts';

const titles = ['Name', 'Instructions'];
const workbookOf = (rows: readonly (readonly TestCell[])[], options = {}) =>
  workbook([{ name: 'Checks', rows }], options);
const ofXml = (xml: string, options = {}) => workbook([{ name: 'Checks', rows: [], xml }], options);
/** Returns a workbook with this XML as its first sheet, or as other parts. */
const ofParts = (parts: Readonly<Record<string, string>>, rows: readonly (readonly TestCell[])[] = []) =>
  workbookOf(rows, {
    parts: Object.fromEntries(Object.entries(parts).map(([path, xml]) => [`xl/${path}`, Buffer.from(xml)])),
  });
const SHEET = 'worksheets/sheet1.xml';
const cellsOf = (file: Buffer) => readWorkbook(file)[0]!.rows.map(({ cells }) => cells);
function resultOf(file: Buffer) {
  const source = readSource('xlsx', file);
  if (!('result' in source)) throw new Error('A model would be asked');
  return source.result;
}

describe('readWorkbook and readSource on XLSX files', () => {
  test('returns texts, numbers, dates, booleans and errors as displayed', () => {
    const file = workbookOf([
      [
        'Shared & <escaped>',
        { number: 42 },
        { number: 46_082, style: 1 },
        { number: 46_082.395833333336, style: 2 },
        { number: 3, style: 3 },
        { xml: '<c r="F1" t="b"><v>1</v></c>' },
        { xml: '<c r="G1" t="e"><v>#REF!</v></c>' },
        { xml: '<c r="H1" t="inlineStr"><is><t>Inline</t></is></c>' },
        { xml: '<c r="I1" t="str"><f>A1&amp;"x"</f><v>Computed</v></c>' },
        { xml: '<c r="J1" t="inlineStr"><is><r><t>Rich </t></r><r><t>text</t></r><rPh><t>spoken</t></rPh></is></c>' },
        { xml: '<c r="K1" t="inlineStr"><is><t>Line_x000D__x000A_two_xD800_</t></is></c>' },
        { xml: '<c r="L1" t="d"><v>2026-03-01</v></c>' },
      ],
    ]);
    expect(cellsOf(file)).toEqual([
      [
        'Shared & <escaped>',
        '42',
        '2026-03-01',
        '2026-03-01 09:30:00',
        '3',
        'TRUE',
        '#REF!',
        'Inline',
        'Computed',
        'Rich text',
        'Line\ntwo\uFFFD',
        '2026-03-01',
      ],
    ]);
  });

  test('converts date numbers of the 1900 and the 1904 calendar', () => {
    expect([
      formatDate('1', false),
      formatDate('59', false),
      formatDate('61', false),
      formatDate('0.5', false),
      formatDate('0', true),
      formatDate('-1', false),
      formatDate('1e99', false),
      formatDate('soon', false),
    ]).toEqual(['1900-01-01', '1900-02-28', '1900-03-01', '12:00:00', '00:00:00', '-1', '1e99', 'soon']);
    expect(cellsOf(workbookOf([[{ number: 366, style: 1 }]], { dates1904: true }))).toEqual([['1905-01-01']]);
  });

  test.each([
    ['1900', false, 2_958_465],
    ['1904', true, 2_957_003],
  ])('keeps a number after the year 9999 of the %s calendar as it is', (_calendar, dates1904, lastDay) => {
    expect(formatDate(`${lastDay}`, dates1904)).toBe('9999-12-31');
    expect(formatDate(`${lastDay}.75`, dates1904)).toBe('9999-12-31 18:00:00');
    expect(formatDate(`${lastDay + 1}`, dates1904)).toBe(`${lastDay + 1}`);
    expect(formatDate(`${lastDay}.999999`, dates1904)).toBe(`${lastDay}.999999`);
  });

  test('returns rows that have the number of the row with the titles', () => {
    const row = (...texts: string[]) =>
      `<row r="1">${texts.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`;
    const file = ofXml(`<sheetData>${row(...titles)}${row('A', 'Look.')}${row('B', 'Listen.')}</sheetData>`);
    expect(resultOf(file)).toMatchObject({ agents: [{ name: 'A' }, { name: 'B' }], skipped: [] });
  });

  test('reads the first visible sheet that has column titles', () => {
    const file = workbook([
      { name: 'Cover', rows: [['Guidelines of 2026']] },
      { name: 'Lists', rows: [titles, ['Hidden', 'No.']], hidden: true },
      { name: 'Checks', rows: [[], ['Our checks'], [], titles, ['A', 'Look.'], [], [undefined, 'Look twice.']] },
      { name: 'More', rows: [titles, ['B', 'Look.']] },
    ]);
    const { agents, skipped, summary } = resultOf(file);
    expect(agents).toEqual([
      { name: 'A', instructions: 'Look.' },
      { name: 'Look twice.', instructions: 'Look twice.' },
    ]);
    expect(skipped).toEqual([{ row: 2, originalText: 'Our checks', reason: 'It is above the column titles.' }]);
    expect(summary).toContain('of the sheet "Checks"');
    expect(summary).toContain('Sheets that were not read: "Cover", "More".');
  });

  test('ignores cells in columns without titles', () => {
    const { agents, skipped } = resultOf(workbookOf([titles, ['A', 'Look.', 'a note'], ['B', 'Look twice.']]));
    expect([agents.map(({ name }) => name), skipped]).toEqual([['A', 'B'], []]);
  });

  test('reads the cached result of a formula and keeps text that looks like a formula', () => {
    const { agents } = resultOf(
      workbookOf([
        titles,
        [{ xml: '<c r="A2" t="str"><f>WEBSERVICE("https://evil.example")</f><v>Came to this</v></c>' }, '=1+1'],
      ]),
    );
    expect(agents).toEqual([{ name: 'Came to this', instructions: '=1+1' }]);
  });

  test('accepts namespace prefixes, missing cell addresses and absolute paths', () => {
    const sheet =
      '<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t>Name</x:t></x:is></x:c><x:c t="inlineStr"><x:is><x:t>Rule</x:t></x:is></x:c></x:row><x:row><x:c t="inlineStr"><x:is><x:t>A</x:t></x:is></x:c><x:c><x:v>7</x:v></x:c></x:row></x:sheetData></x:worksheet>';
    expect(resultOf(ofParts({ [SHEET]: sheet })).agents).toEqual([{ name: 'A', instructions: '7' }]);
  });

  test('reads ten sheets and names the others in the summary', () => {
    const sheets = times(12, (index) => ({
      name: `S${index + 1}`,
      rows: index === 0 ? [titles, ['A', 'Look.']] : index > 9 ? [titles] : [],
    }));
    expect(resultOf(workbook(sheets)).summary).toContain('Sheets that were not read: "S11", "S12".');
  });

  test('reads 500 rows of a sheet and reports the first row that it did not read', () => {
    const { skipped } = resultOf(workbookOf([titles, ...times(700, () => ['Same', 'Look.'])]));
    expect(skipped).toHaveLength(200);
    expect(skipped.at(-1)).toMatchObject({
      row: 501,
      reason: expect.stringMatching(/all rows after it were left out/),
    });
    expect(readWorkbook(workbookOf([titles, ...times(700, () => ['Same', 'Look.'])]))[0]!.unread).toEqual([
      { row: 501, text: '', reason: expect.stringMatching(/^The sheet is longer/) },
    ]);
  });
});

/** Returns the message with which a file is rejected, or `taken` for a valid file. */
function refusal(file: Buffer): string {
  try {
    readSource('xlsx', file);
  } catch (error) {
    if ((error as { status?: string }).status !== 'INVALID_ARGUMENT') throw error;
    return (error as Error).message;
  }
  return 'taken';
}

describe('readSource throws INVALID_ARGUMENT for an invalid XLSX file', () => {
  const good = workbookOf([titles, ['A', 'Look.']]);
  const damaged = (offset: number, value: number) => Object.assign(Buffer.from(good), { [offset]: value });
  test.each([
    ['plain text', Buffer.from('name,prompt\nA,B'), /^fileBase64 is damaged, or is not a file of this type$/],
    ['a spreadsheet of before 2007', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /old format, or protected by a password/],
    ['another archive', zip({ 'a.txt': Buffer.from('a') }), /is not an XLSX file/],
    ['a truncated file', good.subarray(0, good.length / 2), /is damaged/],
    ['a file with a damaged byte', damaged(good.indexOf('xl/worksheets/sheet1.xml') + 60, 0xff), /is damaged/],
    [
      'a part with a wrong checksum',
      damaged(
        good.lastIndexOf('xl/worksheets/sheet1.xml') - 46 + 16,
        good[good.lastIndexOf('xl/worksheets/sheet1.xml') - 46 + 16]! ^ 1,
      ),
      /is damaged/,
    ],
    [
      'a part with a document type',
      ofParts({ [SHEET]: '<!DOCTYPE worksheet><worksheet><sheetData/></worksheet>' }),
      /its XML is malformed/,
    ],
    ['a workbook without visible sheets', workbook([{ name: 'A', rows: [titles], hidden: true }]), /no visible sheet/],
    ['broken XML', ofXml('<sheetData><row></sheetData>'), /its XML is malformed/],
    [
      'a path that leads out of the archive',
      ofParts({
        '_rels/workbook.xml.rels':
          '<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="../../../../../../etc/passwd"/></Relationships>',
      }),
      /no visible sheet/,
    ],
    [
      'an external target',
      ofParts({
        '_rels/workbook.xml.rels':
          '<Relationships><Relationship Id="rId1" TargetMode="External" Type="x/worksheet" Target="https://evil.example/sheet.xml"/></Relationships>',
      }),
      /no visible sheet/,
    ],
  ] as const)('%s', (_what, file, message) => {
    expect(refusal(file)).toMatch(message);
  });
});

describe('readSource limits CPU and memory for hostile XLSX files', () => {
  const MEGABYTES = 5;
  const filled = (piece: string, megabytes = MEGABYTES) =>
    piece.repeat(Math.floor((megabytes * 1_048_576 - 500) / piece.length));
  /** Returns an archive whose directory says a smaller size than the file has. */
  const withFalseSize = () => {
    const file = ofXml(filled(' ', 14));
    const entry = file.lastIndexOf('xl/worksheets/sheet1.xml') - 46;
    file.writeUInt32LE(1_000, entry + 24);
    return file;
  };
  const row = (cells: string) => `<sheetData><row>${cells}</row></sheetData>`;
  const text = (inner: string) => row(`<c t="inlineStr"><is><t>${inner}</t></is></c>`);
  const cases: Readonly<Record<string, [file: () => Buffer, expected: RegExp]>> = {
    'too large when unpacked': [() => ofXml(filled(' ', 14)), /too large when it is unpacked/],
    'too large when unpacked, with a false size in the directory': [withFalseSize, /too large when it is unpacked/],
    'a cell in the last row and column': [
      () => ofXml(row('<c r="XFD1048576"><v>1</v></c><c r="A1048576"><v>1</v></c>')),
      /^taken$/,
    ],
    'a dimension of ten million cells': [
      () => ofXml(`<dimension ref="A1:XFD1048576"/>${row('<c r="A1"><v>1</v></c>')}`),
      /^taken$/,
    ],
    'deeply nested elements': [() => ofXml(filled('<a>', 1)), /its XML is malformed/],
    'an element with 100,000 attributes': [
      () => ofXml(`<a ${times(100_000, (index) => `a${index}=""`).join(' ')}/>`),
      /its XML is malformed/,
    ],
    'entities that expand exponentially': [
      () =>
        ofParts({
          [SHEET]: `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "${'&a;'.repeat(100)}"><!ENTITY c "${'&b;'.repeat(100)}"><!ENTITY d "${'&c;'.repeat(100)}">]><worksheet>${text('&d;')}</worksheet>`,
        }),
      /its XML is malformed/,
    ],
    'an entity that refers to a local file': [
      () =>
        ofParts({
          'sharedStrings.xml': '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><sst><si><t>&f;</t></si></sst>',
          [SHEET]: `<worksheet>${row('<c t="s"><v>0</v></c>')}</worksheet>`,
        }),
      /its XML is malformed/,
    ],
    'one long text': [() => ofXml(text(filled('x'))), /^taken$/],
    'very many shared texts': [
      () =>
        ofParts({
          'sharedStrings.xml': `<sst>${filled('<si/>', 4)}</sst>`,
          [SHEET]: `<worksheet>${row('<c t="s"><v>9999999</v></c>')}</worksheet>`,
        }),
      /too many elements/,
    ],
    'one shared text in every cell': [
      () =>
        ofParts({
          'sharedStrings.xml': `<sst><si><t>${filled('x', 4)}</t></si></sst>`,
          [SHEET]: `<worksheet><sheetData>${`<row>${'<c t="s"><v>0</v></c>'.repeat(100)}</row>`.repeat(400)}</sheetData></worksheet>`,
        }),
      /^taken$/,
    ],
    'a very long number format': [
      () =>
        ofParts(
          {
            'styles.xml': `<styleSheet><numFmts><numFmt numFmtId="200" formatCode="${filled('[', 4)}"/></numFmts></styleSheet>`,
          },
          [[{ number: 1, style: 1 }]],
        ),
      /^taken$/,
    ],
    'a very long sheet name': [() => workbook([{ name: filled('n', 4), rows: [titles, ['A', 'Look.']] }]), /^taken$/],
    'thousands of parts': [
      () => zip(Object.fromEntries(times(2_100, (index) => [`${index}`, new Uint8Array()]))),
      /too many parts/,
    ],
  };

  test('looks for column titles among many references to one long text in less than 2 s of CPU', () => {
    const shared = (index: number) => ({ xml: `<c t="s"><v>${index}</v></c>` });
    const rows = times(10, () => times(100, () => shared(0)));
    const first = { name: 'first', rows: [['Ä '.repeat(19_990)], ...rows] };
    const file = workbook([first, ...times(9, (index) => ({ name: `${index}`, rows }))]);
    expect(file.length).toBeLessThan(50_000);
    expect(cpuMilliseconds(() => readSource('xlsx', file), { limit: 2_000 })).toBeLessThan(2_000);
  });

  test('skips cells that all refer to the same list of 20,000 values in less than 1 s of CPU', () => {
    const shared = (index: number) => ({ xml: `<c t="s"><v>${index}</v></c>` });
    const titles = ['name', 'page scope', 'exclude', 'content types', 'variables'];
    const rows = times(498, (index) => [`${index}`, ...times(4, () => shared(titles.length + 1))]);
    const file = workbook([{ name: 'A', rows: [titles, ['first', 'a;'.repeat(19_990)], ...rows] }]);
    expect(file.length).toBeLessThan(20_000);
    let read: unknown;
    expect(cpuMilliseconds(() => (read = readSource('xlsx', file)), { limit: 1_000 })).toBeLessThan(1_000);
    expect(read).toMatchObject({
      result: { agents: [], skipped: times(200, () => expect.objectContaining({ originalText: expect.anything() })) },
    });
  });

  test('ignores cells beyond column 100', () => {
    const { rows } = readSheet(
      Buffer.from(
        `<worksheet>${row('<c r="A1"><v>1</v></c><c r="CV1"><v>2</v></c><c r="CW1"><v>3</v></c><c r="XFD1"><v>4</v></c>')}</worksheet>`,
      ),
      newXmlBudget(),
    );
    expect(rows[0]!.cells).toHaveLength(100);
  });

  test.each(Object.entries(cases))('%s', (_what, [build, expected]) => {
    const file = build();
    expect(file.length).toBeLessThan(4_500_000);
    const before = process.memoryUsage();
    let message: string | undefined;
    const read = () => {
      message = refusal(file);
    };
    expect(cpuMilliseconds(read, { limit: 5_000 })).toBeLessThan(5_000);
    expect(message).toMatch(expected);
    const after = process.memoryUsage();
    expect((after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 1e6).toBeLessThan(200);
  });
});

describe('readWorkbook limits work across all parts of a workbook', () => {
  const sheets = (xml: string, count = 10) =>
    workbook(
      times(count, (index) => ({
        name: `S${index}`,
        rows: [],
        xml: `<sheetData>${xml}</sheetData>`,
      })),
    );
  const inCell = (xml: string) => `<row><c><v>${xml}</v></c></row>`;
  const filled = (piece: string, length = 1_600_000) => piece.repeat(length / piece.length);
  const relations = (targets: readonly string[]) =>
    Buffer.from(
      `<Relationships>${targets.map((target, index) => `<Relationship Id="rId${index + 1}" Type="worksheet" Target="${target}"/>`).join('')}</Relationships>`,
    );
  const random = (length: number) =>
    Buffer.alloc(length).map((_byte, index) => (Math.imul(index + 1, 2_654_435_761) >>> 13) & 0xff);

  const rejects = (read: () => unknown) => () => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof InvalidFileError)) throw error;
    }
  };

  test.each([
    ['empty elements', filled('<a/>')],
    ['attributes', filled(`<a ${times(99, (index) => `a${index}=""`).join(' ')}/>`)],
    ['cells', filled(`<row>${'<c><v>1</v></c>'.repeat(100)}</row>`)],
    ['entities in one cell', inCell(filled('&amp;'))],
    ['references to characters', inCell(filled('&#65;'))],
    ['carriage returns', inCell(filled('\r'))],
    ['elements within a text', inCell(filled('a<b/>'))],
    ['comments', filled('<!---->')],
    ['CDATA', inCell(filled('<![CDATA[]]>'))],
    ['instructions', filled('<?a?>')],
    ['namespaces', filled('<a:b xmlns:a="x"/>')],
    ['one long name', `<${filled('a')}/>`],
  ])('reads or rejects %s with a quarter of the budget of a file in less than 0.125 s of CPU', (_what, xml) => {
    const sheet = Buffer.from(`<worksheet><sheetData>${xml}</sheetData></worksheet>`);
    const { elements, characters } = newXmlBudget();
    const read = rejects(() => readSheet(sheet, { elements: elements / 4, characters: characters / 4 }));
    expect(cpuMilliseconds(read, { limit: 125 })).toBeLessThan(125);
  });

  test.each<[string, () => Buffer]>([
    [
      'shared texts',
      () =>
        ofParts(
          { 'sharedStrings.xml': `<sst>${'<si><t>a</t></si>'.repeat(500_000)}</sst>` },
          times(499, () => ['x'.repeat(20)]),
        ),
    ],
    [
      'number formats',
      () =>
        ofParts({ 'styles.xml': `<a>${'<numFmt numFmtId="9" formatCode="[[[[[[[["/>'.repeat(200_000)}</a>` }, [['a']]),
    ],
    [
      'sheets',
      () =>
        ofParts({ 'workbook.xml': `<workbook>${'<sheet name="a" r:id="rId1"/>'.repeat(100_000)}</workbook>` }, [['a']]),
    ],
    [
      'a path with many steps up and down',
      () =>
        workbook([{ name: 'A', rows: [['a']] }], {
          parts: { 'xl/_rels/workbook.xml.rels': relations([`${'a'.repeat(1_000_000)}/${'b/../'.repeat(500_000)}`]) },
        }),
    ],
    [
      '4 MB that cannot be compressed',
      () => workbook([{ name: 'A', rows: [['a']] }], { parts: { 'xl/worksheets/sheet1.xml': random(4_000_000) } }),
    ],
  ])('reads or rejects a workbook with %s in less than 0.5 s of CPU', (_what, make) => {
    const file = make();
    expect(file.length).toBeLessThan(4 * 1_024 * 1_024);
    expect(
      cpuMilliseconds(
        rejects(() => readWorkbook(file)),
        { limit: 500 },
      ),
    ).toBeLessThan(500);
  });

  test('counts elements and characters of all parts together', () => {
    expect(() => readWorkbook(sheets(filled('<a/>', 200_000)))).toThrow(/too many elements in all/);
    expect(() => readWorkbook(sheets(inCell(filled('&amp;', 700_000))))).toThrow(/too many characters in all/);
    expect(readWorkbook(sheets(filled('<a/>', 100_000), 9))).toHaveLength(9);
  });

  test('rejects a workbook with more than 200 sheets', () => {
    expect(() => readWorkbook(workbook(times(201, (index) => ({ name: `S${index}`, rows: [['a']] }))))).toThrow(
      'has more than 200 sheets',
    );
  });
});
