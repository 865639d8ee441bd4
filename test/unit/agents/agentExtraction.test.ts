import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CreateAgent } from '../../../lib/agents/rules/configuration.ts';
import { ExtractionRequest, FILE_BYTES } from '../../../lib/agents/rules/extraction/extractionRequest.ts';
import {
  type ExtractionResult,
  MAX_EXTRACTED_AGENTS,
  MAX_SKIPPED,
} from '../../../lib/agents/rules/extraction/extractionResult.ts';
import { readSource } from '../../../lib/agents/rules/extraction/readSource.ts';
import { readCsv } from '../../../lib/files/csv.ts';
import { ApiError } from '../../../lib/shared/errors.ts';
import { cpuMilliseconds } from '../../support/cpu.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

function fromCsv(csv: string | Buffer): ExtractionResult {
  const source = readSource('csv', Buffer.from(csv as string));
  if (!('result' in source)) throw new Error('A model would be asked');
  return source.result;
}

const namesIn = ({ agents }: ExtractionResult) => agents.map(({ name }) => name);
const reasonsIn = ({ skipped }: ExtractionResult) => skipped.map(({ row, reason }) => [row, reason]);
/** Runs `work`, which must throw INVALID_ARGUMENT. Returns the message. */
function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError && error.status === 'INVALID_ARGUMENT') return error.message;
    throw error;
  }
  throw new Error('It was taken');
}

describe('ExtractionRequest', () => {
  const parse = (fields: object) =>
    ExtractionRequest.safeParse({ fileBase64: 'YQ==', mimeType: 'text/csv', ...fields });
  const problem = (fields: object) =>
    parse(fields)
      .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
      .join();

  test.each([
    ['text/csv', { format: 'csv' }],
    ['TEXT/CSV; charset=utf-8', { format: 'csv', charset: 'utf-8' }],
    [' text/csv ;header=present', { format: 'csv' }],
    ['text/plain;header=absent; Charset="Shift_JIS"', { format: 'text', charset: 'Shift_JIS' }],
    ['text/csv; charset=', { format: 'csv' }],
    ['application/pdf; charset=binary', { format: 'pdf' }],
  ])('accepts the MIME type %p', (mimeType, read) => {
    expect(parse({ mimeType }).data?.mimeType).toEqual(read);
  });

  test('rejects an unknown charset and names the field', () => {
    expect(problem({ mimeType: 'text/csv; charset=cp9999' })).toMatch(/^mimeType: must have a charset of the WHATWG/);
  });

  test.each(['text/html', 'application/vnd.ms-excel', 'csv', 'constructor', ';text/csv', ' '])(
    'rejects the MIME type %p and names the field',
    (mimeType) => {
      expect(problem({ mimeType })).toMatch(/^mimeType: must (be one of text\/csv|not be empty)/);
    },
  );

  test.each([' \n\t', 'a', 'Zm9v!', 'data:text/csv;base64,YQ==', 'YQ===', '=', 'é'])(
    'rejects %p as fileBase64 and names the field',
    (fileBase64) => {
      expect(problem({ fileBase64 })).toBe(
        `fileBase64: must ${fileBase64.trim() === '' ? 'not be empty' : 'be base64'}`,
      );
    },
  );

  test('accepts base64 with line breaks and without padding', () => {
    expect(parse({ fileBase64: 'bmFt\r\nZQ==\n' }).data?.fileBase64.toString()).toBe('name');
    expect(parse({ fileBase64: 'bmFtZQ' }).data?.fileBase64.toString()).toBe('name');
  });

  test(`accepts a file of ${FILE_BYTES} bytes and rejects a larger one`, () => {
    expect(parse({ fileBase64: Buffer.alloc(FILE_BYTES).toString('base64') }).data?.fileBase64).toHaveLength(
      FILE_BYTES,
    );
    expect(problem({ fileBase64: Buffer.alloc(FILE_BYTES + 1).toString('base64') })).toBe(
      'fileBase64: must be at most 4000000 bytes when it is decoded',
    );
  });
});

describe('readSource: columns of a table', () => {
  test('recognises columns by their titles regardless of case, spaces and punctuation', () => {
    const { agents, skipped } = fromCsv(
      [
        ' NAME ,Description,Instructions:,raw_instructions,Enabled?,Strategies,Execution Strategy,service-id,Use AI formatting,formattingPrompt,Response adapter,Page Scope,Exclude,contentTypes,Variables',
        'Links,Finds broken links,Check every link.,check links,yes,"Web page links; web-page-text",Service + AI,broken-links,no,Be brief.,broken-links-response,"https://a.example/*\nhttps://b.example/*",https://a.example/x,"article, page",locale',
      ].join('\n'),
    );
    expect(skipped).toEqual([]);
    expect(agents).toEqual([
      {
        name: 'Links',
        description: 'Finds broken links',
        instructions: 'Check every link.',
        rawInstructions: 'check links',
        enabled: true,
        contextGathering: { strategies: ['web-page-links', 'web-page-text'] },
        execution: { executionStrategy: 'service+ai', serviceId: 'broken-links' },
        response: { useAiFormatting: false, formattingPrompt: 'Be brief.', responseAdapter: 'broken-links-response' },
        scope: {
          pageScope: ['https://a.example/*', 'https://b.example/*'],
          pageScopeExclude: ['https://a.example/x'],
          contentTypes: ['article', 'page'],
        },
        input: { variableKeys: ['locale'] },
      },
    ]);
  });

  test.each([
    ['name', 'instructions'],
    ['title', 'prompt'],
    ['agent', 'rule'],
    ['agent', 'check'],
  ])('recognises columns named %s and %s', (name, text) => {
    expect(fromCsv(`${text},${name}\nLook.,One`).agents).toEqual([{ name: 'One', instructions: 'Look.' }]);
  });

  test('prefers the column "name" over other columns that could hold the name', () => {
    const result = fromCsv('title,name,rule\nT,N,R');
    expect(result.agents).toEqual([{ name: 'N', instructions: 'R' }]);
    expect(result.summary).toContain('Columns that were not used: "title".');
  });

  test('accepts the dotted path of a field as a column title', () => {
    expect(fromCsv('name,contextGathering.strategies\nA,robots-txt').agents).toEqual([
      { name: 'A', contextGathering: { strategies: ['robots-txt'] } },
    ]);
  });

  test('passes a table to the model unless its columns are those of an agent', () => {
    expect(readSource('csv', Buffer.from('Title,Author,Pages\nEmma,Austen,400'))).toHaveProperty('parts');
    expect(fromCsv('name\nA').agents).toEqual([{ name: 'A' }]);
    expect(fromCsv('name,description,owner\nA,B,C').agents).toEqual([{ name: 'A', description: 'B' }]);
  });

  test.each(['Our checks', 'Rule', 'Title'])('skips and reports the row %p above the column titles', (first) => {
    const result = fromCsv(`${first}\n\nname,prompt\nA,B`);
    expect(result.agents).toEqual([{ name: 'A', instructions: 'B' }]);
    expect(result.skipped).toEqual([{ row: 1, originalText: first, reason: 'It is above the column titles.' }]);
  });
});

describe('readSource: rows of a table', () => {
  test('names an agent after the beginning of its instructions when the row has no name', () => {
    const long = `${'word '.repeat(30)}end`;
    expect(namesIn(fromCsv(`check\nFlag shouting\n"${long}"\n"First line\nsecond"\n${'x'.repeat(200)}`))).toEqual([
      'Flag shouting',
      `${'word '.repeat(16).trim()}…`,
      'First line',
      `${'x'.repeat(80)}…`,
    ]);
  });

  test('skips an invalid row with its row number and a reason', () => {
    const result = fromCsv(
      [
        'name,instructions,enabled,strategies,execution strategy',
        'Good,Look.,,,',
        ',,yes,,',
        'Doubtful,Look.,maybe,,',
        'good,Look again.,,,',
        '#REF!,Look.,,,',
        'Odd,Look.,,,dance',
        'Serviced,Look.,,,service',
        'Fetching,Look.,,rest-api,',
        'Too,many,,,,cells',
        `${'n'.repeat(513)},Look.,,,`,
        `Long,${'i'.repeat(33_000)},,,`,
        'Empty list,Look.,,;,',
        'Last,Look.,No,,ai',
      ].join('\r\n'),
    );
    expect(namesIn(result)).toEqual(['Good', 'Last']);
    expect(reasonsIn(result)).toEqual([
      [3, 'The row has neither a name nor instructions.'],
      [4, 'Column "enabled" must be yes or no, not "maybe".'],
      [5, 'An agent named "good" was made of an earlier part of the file.'],
      [6, 'Column "name" holds the error #REF!.'],
      [7, expect.stringContaining('Column "execution strategy": ')],
      [8, 'execution.serviceId: is required when executionStrategy is service'],
      [9, expect.stringContaining('is required when strategies include rest-api')],
      [10, 'The row has 6 cells, but there are 5 columns: quote cells that contain the delimiter.'],
      [11, expect.stringContaining('Column "name": ')],
      [12, 'Column "instructions": must be at most 32768 bytes of UTF-8'],
      [13, 'Column "strategies" holds no value.'],
    ]);
    expect(result.summary).toMatch(/^2 agents extracted, 11 parts of the file skipped\./);
  });

  test('skips a row whose list is longer than a cell may be, because a part of the list would be another agent', () => {
    const patterns = (count: number) => times(count, (index) => `https://example.com/${index}/${'p'.repeat(200)}`);
    const { agents, skipped } = fromCsv(`name,urls\nA,${patterns(150).join(';')}\nB,${patterns(199).join(';')}`);
    expect(agents).toEqual([{ name: 'A', scope: { pageScope: patterns(150) } }]);
    expect(skipped).toMatchObject([{ row: 3, reason: 'Column "urls" must have fewer than 40000 characters.' }]);
  });

  test('ignores blank rows and reads missing cells as blank', () => {
    expect(fromCsv('name,prompt,enabled\n , ,\nA\n,,\n\n').agents).toEqual([{ name: 'A' }]);
  });

  test('accepts names and titles such as __proto__', () => {
    const { agents } = fromCsv('name,__proto__,constructor,prompt\n__proto__,a,b,c');
    expect(agents).toEqual([{ name: '__proto__', instructions: 'c' }]);
  });
});

describe('readSource: CSV files', () => {
  const text = 'name;prompt\r\nGrüße;„Straße“ – ok';
  test.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 big-endian', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ])('reads a file in %s', (_encoding, bytes) => {
    expect(fromCsv(bytes).agents).toEqual([{ name: 'Grüße', instructions: '„Straße“ – ok' }]);
  });

  test.each([
    ['windows-1252', Buffer.from('name;prompt\r\nGr\xfc\xdfe;\x84Stra\xdfe\x93 \x96 ok', 'latin1')],
    ['utf-16le', Buffer.from(text, 'utf16le')],
    ['shift_jis', Buffer.from(`\ufeff${text}`)],
  ])('decodes a file by the charset %s, unless it has a byte order mark', (charset, bytes) => {
    expect(readSource('csv', bytes, charset)).toMatchObject({
      result: { agents: [{ name: 'Grüße', instructions: '„Straße“ – ok' }] },
    });
  });

  test.each([
    [undefined, /neither UTF-8 nor UTF-16 .* name its encoding in mimeType, for example text\/csv; charset=/],
    ['utf-8', /is not text in utf-8/],
    ['shift_jis', /is not text in shift_jis/],
  ])('rejects bytes that do not have the charset %p', (charset, message) => {
    for (const format of ['csv', 'text'] as const)
      expect(refusal(() => readSource(format, Buffer.from('name;prompt\nGr\xfc\xfde;ok', 'latin1'), charset))).toMatch(
        message,
      );
  });

  test('reports an unclosed quote and continues on the next line', () => {
    const result = fromCsv('name,prompt\nA,"open\nB,"Look, here"\nC,Look\nD,"also open\nE,Look\n');
    expect(namesIn(result)).toEqual(['B', 'C', 'E']);
    expect(result.skipped).toEqual([
      { row: 2, originalText: 'A,"open', reason: 'A quote is not closed.' },
      { row: 5, originalText: 'D,"also open', reason: 'A quote is not closed.' },
    ]);
  });

  test('accepts quotes within cells, doubled or not', () => {
    expect(fromCsv('name,prompt\nA,Say "please" now\nB,"Say ""please""\nnow"').agents).toEqual([
      { name: 'A', instructions: 'Say "please" now' },
      { name: 'B', instructions: 'Say "please"\nnow' },
    ]);
  });

  test('reads a quoted cell after spaces', () => {
    expect(fromCsv('"name", "prompt"\n"A", "Check dates, and names"\nB,  "Look, here"\n').agents).toEqual([
      { name: 'A', instructions: 'Check dates, and names' },
      { name: 'B', instructions: 'Look, here' },
    ]);
  });

  test('returns no agents for an empty file', () => {
    for (const bytes of ['', ' \n \n', '\ufeff'])
      expect(readSource('csv', Buffer.from(bytes))).toMatchObject({
        parts: { parts: [], skipped: [], notes: ['There is nothing in it.'] },
      });
  });

  test.each([
    ['csv', 'a PDF', '%PDF-1.7\n\u0000', 'fileBase64 is not text'],
    ['csv', 'a ZIP archive', 'PK\u0003\u0004', 'fileBase64 is not text'],
    ['csv', 'a program', '\u007fELF', 'fileBase64 is not text'],
    ['pdf', 'a ZIP archive', 'PK\u0003\u0004', 'fileBase64 is not a PDF'],
  ] as const)('rejects as %s %s with INVALID_ARGUMENT', (format, _what, bytes, message) => {
    expect(refusal(() => readSource(format, Buffer.from(bytes)))).toBe(message);
  });

  test('returns the first 200 agents and counts the other rows as skipped', () => {
    const rows = times(450, (index) => `Agent ${index},Look.`);
    const result = fromCsv(`name,prompt\n${rows.join('\n')}`);
    expect(result.agents).toHaveLength(MAX_EXTRACTED_AGENTS);
    expect(result.skipped).toHaveLength(MAX_SKIPPED);
    expect(result.skipped[0]).toMatchObject({
      row: 202,
      reason: 'At most 200 agents are made of one file: send the rest as another.',
    });
    expect(result.skipped.at(-1)).toEqual({
      row: 451,
      originalText: 'Agent 449 | Look.',
      reason: expect.stringMatching(/^The list lacks 50 skipped parts before this one\./),
    });
    expect(result.summary).toMatch(/^200 agents extracted, 250 parts of the file skipped\./);
  });

  test('stops at the row limit and reports the first row that it did not read', () => {
    const { skipped } = fromCsv(`name,prompt\n${times(1_000, (index) => `Agent ${index},Look.\n`).join('')}`);
    expect(skipped.at(-1)).toEqual({
      row: 501,
      originalText: 'Agent 499,Look.',
      reason: expect.stringMatching(
        /^The list lacks 100 skipped parts .* this row and all rows after it were left out\.$/,
      ),
    });
    const short = fromCsv(`name,prompt\n${'\n'.repeat(6_000)}A,Look.`);
    expect(short.skipped).toEqual([
      { row: 5_001, originalText: '', reason: expect.stringMatching(/^The file is longer/) },
    ]);
  });

  test('returns only as many agents as fit into one response', () => {
    const { agents, skipped } = fromCsv(
      `name,prompt\n${times(150, (index) => `${index},${'x'.repeat(30_000)}`).join('\n')}`,
    );
    expect(Buffer.byteLength(JSON.stringify(agents))).toBeLessThanOrEqual(3_000_000);
    expect(agents.length + skipped.length).toBe(150);
    expect(skipped[0]!.reason).toMatch(/too large for one answer/);
  });
});

describe('readSource takes less than 1.25 s of CPU for hostile input of 1 MB', () => {
  const blanks = ' '.repeat(39_000);
  test.each([
    [
      'a long blank cell in a column of names',
      'csv',
      `name,execution strategy,strategies\n${`a,x${blanks}x,x${blanks}x\n`.repeat(25)}`,
    ],
    ['a text of line breaks', 'text', `a${'\n'.repeat(1_000_000)}a`],
    ['a text of blank lines', 'text', `a${'\n '.repeat(500_000)}a`],
    ['one long line', 'text', 'a'.repeat(1_000_000)],
    ['a row of a million cells', 'csv', ','.repeat(1_000_000)],
    ['many unclosed quotes', 'csv', '",\n'.repeat(330_000)],
    ['one cell of quotes', 'csv', '"'.repeat(999_999)],
    ['titles of punctuation', 'csv', `name${'!'.repeat(39_000)},enabled\n${'A,perhaps\n'.repeat(400)}`],
  ] as const)('%s', (_what, format, content) => {
    const bytes = Buffer.from(content);
    let source: unknown;
    const read = () => {
      source = readSource(format, bytes);
    };
    expect(cpuMilliseconds(read, { limit: 1_250 })).toBeLessThan(1_250);
    expect(JSON.stringify(source).length).toBeLessThan(1_250_000);
  });
});

describe('readSource on random input', () => {
  const cell = fc
    .string({ unit: 'grapheme', maxLength: 20 })
    .map((text) => text.replace(/[\u0000-\u001f\u007f]/g, '').trim());
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;

  testProperty(
    'returns names and instructions of any table unchanged',
    [
      fc.uniqueArray(fc.tuple(cell, cell), { selector: ([name]) => name.toLowerCase(), maxLength: 20 }),
      fc.constantFrom(',', ';', '\t', '|'),
    ],
    (rows, delimiter) => {
      const full = rows.filter(
        ([name, text]) => name !== '' && text !== '' && ![name, text].some((cell) => cell.startsWith('#')),
      );
      const { agents, skipped } = fromCsv(
        ['name', 'instructions'].join(delimiter) + '\n' + full.map((row) => row.map(quoted).join(delimiter)).join('\n'),
      );
      expect(skipped).toEqual([]);
      expect(agents).toEqual(full.map(([name, instructions]) => ({ name, instructions })));
    },
  );

  test('reads a CSV file without quotes like the same file with a quoted row at its end', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '\u00fc', ' ', ',', ';', '\t', '|', '\n', '\r', '\u0000'),
      maxLength: 400,
    });
    const rowsOf = (csv: string) => readCsv(csv, (rows) => rows.flatMap(({ cells }) => cells).length).rows;
    fc.assert(
      fc.property(text, (csv) => {
        expect(rowsOf(`${csv}\n"end"`).slice(0, -1)).toEqual(rowsOf(csv));
      }),
    );
    const long = `${'a,'.repeat(200)}\n${'b'.repeat(50_000)}\n${'c,d\n'.repeat(600)}`;
    expect(readCsv(`${long}"end"`, () => 0)).toEqual(readCsv(long, () => 0));
  });

  const title = fc.constantFrom(
    'name',
    'instructions',
    'enabled',
    'strategies',
    'execution strategy',
    'service id',
    'page scope',
    'owner',
    'response adapter',
    '',
  );
  const anyCell = fc.oneof(
    cell,
    fc.constantFrom('yes', 'rest-api', 'service', '#N/A', '=1', ';', '"', 'broken-links', 'a,b', '\n'),
  );
  testProperty(
    'returns agents that agents/create accepts and accounts for every row',
    [fc.array(title, { maxLength: 6 }), fc.array(fc.array(anyCell, { maxLength: 7 }), { maxLength: 10 })],
    (titles, rows) => {
      const source = readSource(
        'csv',
        Buffer.from([['instructions', ...titles], ...rows].map((row) => row.map(quoted).join(',')).join('\n')),
      );
      if (!('result' in source)) throw new Error('A model would be asked');
      const { agents, skipped } = source.result;
      expect(agents.length + skipped.length).toBe(rows.filter((row) => row.some((cell) => cell.trim() !== '')).length);
      for (const agent of agents) expect(CreateAgent.safeParse(agent).error).toBeUndefined();
      for (const { reason } of skipped) expect(reason).not.toBe('');
    },
  );

  test('reads any bytes as any file type or throws INVALID_ARGUMENT', () => {
    const start = fc
      .constantFrom(
        '',
        'PK\u0003\u0004',
        'PK\u0005\u0006',
        '%PDF-',
        '\u00ff\u00fe',
        'name,prompt\n"',
        '\u00d0\u00cf\u0011\u00e0',
      )
      .map((text) => Buffer.from(text, 'latin1'));
    fc.assert(
      fc.property(
        fc.constantFrom('csv', 'xlsx', 'text', 'pdf'),
        start,
        fc.uint8Array({ maxLength: 400 }),
        (format, head, tail) => {
          const began = performance.now();
          try {
            readSource(format, Buffer.concat([head, tail]));
          } catch (error) {
            expect(error).toMatchObject({
              status: 'INVALID_ARGUMENT',
              message: expect.stringMatching(/^fileBase64 is /),
            });
          }
          expect(performance.now() - began).toBeLessThan(5_000);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
