import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ExtractionSource, readSource } from '../../../lib/agents/rules/extraction/readSource.ts';
import { InvalidFileError } from '../../../lib/files/invalidFileError.ts';
import { formatNumber, readWorkbook } from '../../../lib/files/xlsx.ts';
import { formatDate } from '../../../lib/files/xlsxDates.ts';
import { newXmlBudget, readXml } from '../../../lib/files/xml.ts';
import { Zip } from '../../../lib/files/zip.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';
import { workbook } from '../../support/workbook.ts';

/** Reads a file of `test/data/files`. The README there says which tool wrote it. */
const fileOf = (name: string) => readFileSync(new URL(`../../data/files/${name}`, import.meta.url));
const cellsOf = (file: Buffer) => readWorkbook(file)[0]!.rows.map(({ cells }) => cells);
const resultOf = (source: ExtractionSource) => {
  if (!('result' in source)) throw new Error('A model would be asked');
  return source.result;
};

const NO_VALUE = 'has a formula without a calculated value: open the file in a spreadsheet program and save it.';

describe('readWorkbook on files of other tools', () => {
  test.each(['poi.xlsx', 'poiStreaming.xlsx', 'commonsCompressZip64.xlsx', 'infoZipZip64.xlsx'])(
    'reads the numbers of %s as spreadsheets show them',
    (name) => {
      expect(cellsOf(fileOf(name))).toEqual([
        ['Name', 'Instructions', 'Enabled', 'Page scope'],
        ['404', '4006381333931', '1', '0.3'],
        ['Date', '2026-03-01', '0', '-0.00000015'],
        ['1E+15', '999999999999999', 'TRUE', '123456789012'],
      ]);
    },
  );

  test('reads a ZIP64 archive with any damaged byte of its directory, or rejects it', () => {
    const file = fileOf('infoZipZip64.xlsx');
    const isRejected = (read: () => unknown) => {
      try {
        read();
        return false;
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidFileError);
        return true;
      }
    };
    const damaged = (offset: number, byte: number) => Object.assign(Buffer.from(file), { [offset]: byte });
    const [ENTRY, NAME] = ['PK\u0001\u0002', 46];
    const start = file.indexOf(ENTRY);
    for (const byte of [4, 0x7f]) {
      const rejected = times(file.length - start, (index) => start + index).filter((offset) => {
        const name = file.lastIndexOf(ENTRY, offset) + NAME;
        const part = file.toString('latin1', name, name + file.readUInt16LE(name - NAME + 28));
        // Without the part, the workbook can be read or not.
        if (offset === name) isRejected(() => readWorkbook(damaged(offset, byte)));
        return isRejected(() => new Zip(damaged(offset, byte), 1e6).read(part));
      });
      expect(rejected).toContain(file.lastIndexOf('PK\u0006\u0006'));
      expect(rejected).toContain(file.lastIndexOf('PK\u0006\u0007'));
    }
  });

  test('reads 1.0 and 0.0 of fastexcel as yes and no', () => {
    expect(resultOf(readSource('xlsx', fileOf('fastexcel.xlsx'))).agents).toEqual([
      { name: '404', instructions: 'Look.', enabled: true },
      { name: 'B', instructions: '0.3', enabled: false },
      { name: 'C', instructions: '4006381333931', enabled: true },
    ]);
  });

  test.each([
    ['openpyxlFormulas.xlsx', [{ name: 'A', instructions: 'Look.', enabled: true }], 7],
    [
      'xlsxwriterFormulas.xlsx',
      [
        { name: 'A', instructions: 'Look.', enabled: true },
        { name: 'E', instructions: 'Look.' },
      ],
      undefined,
    ],
  ])('skips the rows of %s whose formulas have no calculated value', (name, agents, lastRow) => {
    const result = resultOf(readSource('xlsx', fileOf(name)));
    expect(result.agents).toEqual(agents);
    expect(result.skipped.map(({ row, reason }) => [row, reason])).toEqual([
      [3, `Column "Instructions" ${NO_VALUE}`],
      [4, `Column "Name" ${NO_VALUE}`],
      [5, `Column "Enabled" ${NO_VALUE}`],
      ...(lastRow === undefined ? [] : [[lastRow, `Column "Instructions" ${NO_VALUE}`]]),
    ]);
  });

  test('does not send a row whose formula has no calculated value to a model', () => {
    const rows = [
      ['Topic', 'Owner'],
      ['Tone', { xml: '<c r="B2"><f>A1</f></c>' }],
      ['Length', 'Ada'],
    ];
    const source = readSource('xlsx', workbook([{ name: 'Notes', rows }]));
    expect(source).toMatchObject({
      parts: {
        parts: [{ rows: [{ number: 1 }, { number: 3 }] }],
        skipped: [{ row: 2, text: 'Tone', reason: `The row ${NO_VALUE}` }],
      },
    });
  });

  test('reads the empty text of a formula, and 0 unless the workbook demands a calculation', () => {
    const rows = [
      ['Name', 'Instructions', 'Description'],
      [{ xml: '<c r="A2"><f>0</f><v>0</v></c>' }, 'Look.', { xml: '<c r="C2" t="str"><f>""</f><v></v></c>' }],
    ];
    expect(resultOf(readSource('xlsx', workbook([{ name: 'Checks', rows }])))).toMatchObject({
      agents: [{ name: '0', instructions: 'Look.' }],
      skipped: [],
    });
  });

  test.each([
    ['1', 'TRUE'],
    ['true', 'TRUE'],
    ['1.0', 'TRUE'],
    ['0', 'FALSE'],
    ['0.0', 'FALSE'],
    ['false', 'FALSE'],
  ])('reads %p in a cell of type boolean as %s', (stored, shown) => {
    expect(cellsOf(workbook([{ name: 'A', rows: [[{ xml: `<c t="b"><v>${stored}</v></c>` }]] }]))).toEqual([[shown]]);
  });
});

describe('formatNumber', () => {
  test.each([
    ['1.0', '1'],
    ['-0.0', '0'],
    ['4.04E2', '404'],
    ['0.30000000000000004', '0.3'],
    ['-1.10', '-1.1'],
    ['999999999999999.4', '999999999999999'],
    ['999999999999999.9', '1E+15'],
    ['12345678901234567890', '1.23456789012346E+19'],
    ['1.7976931348623157E308', '1.79769313486232E+308'],
    ['1E-7', '0.0000001'],
    ['1e400', '1e400'],
    ['soon', 'soon'],
    [' ', ' '],
  ])('shows %s as %s', (stored, shown) => {
    expect(formatNumber(stored)).toBe(shown);
  });

  testProperty(
    'shows any double with at most 15 digits, as close as 15 digits can be',
    [fc.double({ noNaN: true, noDefaultInfinity: true })],
    (value) => {
      const shown = formatNumber(String(value));
      expect(shown).toMatch(/^-?\d+(\.\d*[1-9])?(E\+\d+)?$/);
      expect(Number(shown)).toBe(Number(value.toPrecision(15)) + 0);
      expect(shown.replace(/E.*|\D/g, '').replace(/^0+|0+$/g, '').length).toBeLessThanOrEqual(15);
      expect(shown.includes('E')).toBe(Math.abs(Number(value.toPrecision(15))) >= 1e15);
    },
  );
});

test('formatDate shows a day without a time if the time is less than half a second', () => {
  expect([formatDate('46082.0', false), formatDate('46082.000000000007', false)]).toEqual(['2026-03-01', '2026-03-01']);
});

describe('readXml', () => {
  const textOf = (xml: Buffer) => {
    let text = '';
    readXml(xml, { text: (part) => (text += part) }, newXmlBudget());
    return text;
  };

  test.each([1, 2])('reads a line break that begins %i bytes before the end of a chunk as one', (before) => {
    const start = '<a>'.padEnd(64 * 1_024 - before, 'x');
    for (const lineBreak of ['\r\n', '\r', '\n'])
      expect(textOf(Buffer.from(`${start}${lineBreak}y</a>`)).replace(/x+/, '')).toBe('\ny');
    expect(textOf(Buffer.from(`${start}\r\r\ny</a>`)).replace(/x+/, '')).toBe('\n\ny');
  });

  test('reads a line break at the end of the document', () => {
    const end = 64 * 1_024 - '<a></a>\r'.length;
    expect(textOf(Buffer.from(`<a>${'x'.repeat(end)}</a>\r`))).toHaveLength(end + 1);
  });

  test('rejects bytes that are not UTF-8', () => {
    expect(() => textOf(Buffer.from('<a>\xe9</a>', 'latin1'))).toThrow('is damaged: its XML is not UTF-8');
  });

  test('accepts a byte order mark before an XML declaration, and rejects other characters before it', () => {
    expect(textOf(Buffer.from('\ufeff<?xml version="1.0"?><a>b</a>'))).toBe('b');
    expect(() => textOf(Buffer.from(' <?xml version="1.0"?><a>b</a>'))).toThrow('its XML is malformed');
  });
});

describe('CSV files of pandas', () => {
  test('have 1.0 and 0.0 for yes and no', () => {
    expect(resultOf(readSource('csv', fileOf('pandas.csv'))).agents).toEqual([
      { name: 'A', instructions: 'Look.', enabled: true },
      { name: 'B', instructions: 'Listen.', enabled: false },
      { name: 'C', instructions: 'Taste.' },
    ]);
  });

  test.each([
    ['shift_jis', { name: '表記', instructions: '日本語の文を調べる。' }],
    ['gbk', { name: '语气', instructions: '检查中文句子。' }],
    ['windows-1251', { name: 'Тон', instructions: 'Проверяй русский текст.' }],
  ])('are read in %s if the MIME type names it', (charset, agent) => {
    const file = fileOf(`${charset}.csv`);
    expect(resultOf(readSource('csv', file, charset)).agents).toEqual([agent]);
    expect(() => readSource('csv', file)).toThrow('name its encoding in mimeType');
  });
});
