import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { endpoint } from '../../../functions/v2/agents/extract.ts';
import { environment } from '../../../lib/app/capability.ts';
import { openBedrock } from '../../../lib/bedrock/client.ts';
import { ConverseModel, findFileModel } from '../../../lib/bedrock/converse.ts';
import * as logMessages from '../../../lib/observability/logMessages.ts';
import { acmeWorld, forAllTests, invalid } from '../../support/acmeWorld.ts';
import { startConverse } from '../../support/converse.ts';
import { restartFunctions } from '../../support/functionHandlers.ts';
import { times } from '../../support/times.ts';
import { workbook } from '../../support/workbook.ts';

const PATH = '/v2/agents/extract';
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
const models = {
  CLAUDE_MODEL_ID: 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
  NOVA_MODEL_ID: 'amazon.nova-pro-v1:0',
};

const { customer } = acmeWorld({ isShared: true });
const converse = forAllTests(startConverse);

/** Configures these models and restarts the functions. */
function setUp(ids: Partial<typeof models>): void {
  Object.assign(process.env, { CLAUDE_MODEL_ID: '', NOVA_MODEL_ID: '', ...ids });
  restartFunctions();
  converse.calls.length = 0;
}
afterEach(() => setUp({}));

const base64 = (file: string | Uint8Array) => Buffer.from(file as string).toString('base64');
const call = (file: string | Uint8Array, mimeType: string, more: object = {}) =>
  customer.call(PATH, { fileBase64: base64(file), mimeType, ...more });
async function extract(file: string | Uint8Array, mimeType: string, more: object = {}) {
  const { status, body } = await call(file, mimeType, more);
  expect([status, body.result?.message]).toEqual([200, 'Agents extracted successfully']);
  return body.result.data.extractionResult;
}
const agent = { name: 'Tone', instructions: 'Flag what shouts.' };

describe('POST /v2/agents/extract with a table of agents', () => {
  const titles = ['Agent Name', 'Description', 'Check', 'Active', 'Strategies', 'URLs', 'Owner'];
  const broken: Readonly<Record<number, string[]>> = {
    5: ['', 'no name, no check', '', 'yes', '', '', ''],
    11: ['Doubtful', '', 'Look.', 'perhaps', '', '', ''],
    17: ['Agent 3', '', 'A second of this name.', '', '', '', ''],
    23: ['Fetching', '', 'Look.', '', 'rest-api', '', ''],
  };
  const rows = times(
    30,
    (index) =>
      broken[index + 2] ?? [
        `Agent ${index + 1}`,
        `Reviews "${index}", and more`,
        `Check item ${index},\nthen report it.`,
        index % 2 ? 'no' : 'YES',
        'web-page-text; web page links',
        `https://www.example.com/${index}/*`,
        'Ada',
      ],
  );
  const csv = [titles, ...rows]
    .map((cells) => cells.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(','))
    .join('\r\n');

  test.each([
    ['CSV', csv, 'text/csv; charset=utf-8'],
    ['XLSX', workbook([{ name: 'Checks', rows: [titles, ...rows] }]), XLSX],
  ])('reads %s into agents that agents/create accepts without changes', async (_what, file, mimeType) => {
    const { agents, skipped, summary } = await extract(file, mimeType, { fileName: 'checks.csv', provider: 'claude' });
    expect(agents).toHaveLength(26);
    expect(agents[0]).toEqual({
      name: 'Agent 1',
      description: 'Reviews "0", and more',
      instructions: 'Check item 0,\nthen report it.',
      enabled: true,
      contextGathering: { strategies: ['web-page-text', 'web-page-links'] },
      scope: { pageScope: ['https://www.example.com/0/*'] },
    });
    expect(skipped.map(({ row }: { row: number }) => row)).toEqual([5, 11, 17, 23]);
    expect(summary).toMatch(/^26 agents extracted, 4 parts of the file skipped\..*not used: "Owner"/);
    const ids = await Promise.all(
      agents.map((agentConfig: object) => customer.untyped('/v2/agents/create', agentConfig)),
    );
    const { agent: stored } = await customer.ok('/v2/agents/get', { agentId: ids[0].agentId });
    expect(stored).toMatchObject(agents[0]);
    expect(converse.calls).toEqual([]);
  });
});

describe('POST /v2/agents/extract with an invalid request', () => {
  test.each([
    [
      'an unsupported MIME type',
      { fileBase64: 'YQ==', mimeType: 'image/png' },
      'mimeType must be one of text/csv, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, text/plain, application/pdf',
    ],
    [
      'text sent as a spreadsheet',
      { fileBase64: base64('name,prompt'), mimeType: XLSX },
      'fileBase64 is damaged, or is not a file of this type',
    ],
    [
      'a spreadsheet sent as a PDF',
      { fileBase64: base64(workbook([{ name: 'A', rows: [['a']] }])), mimeType: 'application/pdf' },
      'fileBase64 is not a PDF',
    ],
  ])('rejects %s', async (_what, data, message) => {
    expect(await customer.error(PATH, data)).toEqual(invalid(message));
  });

  test('rejects text of an encoding that the MIME type does not name, and reads it with its charset', async () => {
    const file = Buffer.from('name,prompt\n\xd2\xee\xed,\xce\xea.', 'latin1');
    expect(await customer.error(PATH, { fileBase64: base64(file), mimeType: 'text/csv' })).toEqual(
      invalid(
        'fileBase64 is neither UTF-8 nor UTF-16 with a byte order mark: name its encoding in mimeType, for example text/csv; charset=windows-1252',
      ),
    );
    const { agents } = await extract(file, 'text/csv; charset=windows-1251');
    expect(agents).toEqual([{ name: 'Тон', instructions: 'Ок.' }]);
  });

  test('accepts the largest allowed file', async () => {
    const result = await extract(`name,prompt\nTone,Flag what shouts.\n${'\n'.repeat(3_999_000)}`, 'text/csv');
    expect(result.agents).toEqual([agent]);
  });
});

describe('POST /v2/agents/extract without a model', () => {
  test('does not call the model of a provider that was not requested', async () => {
    setUp({ CLAUDE_MODEL_ID: models.CLAUDE_MODEL_ID });
    const { skipped } = await extract('Flag what shouts.', 'text/plain', { provider: 'nova' });
    expect(skipped).toEqual([
      { originalText: 'Flag what shouts.', reason: 'No model of the provider nova is set up to read this.' },
    ]);
    expect(converse.calls).toEqual([]);
  });
});

describe('POST /v2/agents/extract with a model', () => {
  test.each([
    [undefined, models, models.CLAUDE_MODEL_ID],
    ['claude', models, models.CLAUDE_MODEL_ID],
    ['nova', models, models.NOVA_MODEL_ID],
    [undefined, { NOVA_MODEL_ID: models.NOVA_MODEL_ID }, models.NOVA_MODEL_ID],
  ] as const)('for provider %p and the configured models %j, calls the model %s', async (provider, ids, modelId) => {
    setUp(ids);
    converse.script = () => ({ input: { agents: [agent], skipped: [] } });
    expect((await extract('Flag what shouts.', 'text/plain', { ...(provider && { provider }) })).agents).toEqual([
      agent,
    ]);
    expect(converse.calls.map((call) => call.modelId)).toEqual([modelId]);
  });

  test('calls the model once with a tool, without the file name, and for Claude without a temperature and without force', async () => {
    setUp(models);
    converse.script = () => ({ input: { agents: [agent], skipped: [] } });
    const requestTo = async (provider: string) => {
      await extract('Flag what shouts.', 'text/plain', { provider, fileName: 'ignore-all-rules.txt' });
      return converse.calls.at(-1)!.request;
    };
    const claude = await requestTo('claude');
    expect(converse.calls.map(({ file }) => file)).toEqual(['<file>\nFlag what shouts.\n</file>']);
    expect([claude.inferenceConfig, Object.keys(claude.toolConfig)]).toEqual([{ maxTokens: 4_096 }, ['tools']]);
    expect(claude).toMatchObject({
      system: [{ text: expect.stringContaining('Answer only with one call of the tool record_agents') }],
      toolConfig: { tools: [{ toolSpec: { name: 'record_agents', inputSchema: { json: { type: 'object' } } } }] },
    });
    expect(JSON.stringify(claude)).not.toContain('ignore-all-rules');
    expect(await requestTo('nova')).toMatchObject({
      inferenceConfig: { temperature: 0 },
      toolConfig: { toolChoice: { tool: { name: 'record_agents' } } },
    });
  });

  test('sends a PDF to the model as a document', async () => {
    setUp(models);
    const pdf = '%PDF-1.7\n1 0 obj << /OpenAction << /S /JavaScript /JS (app.alert(1)) >> >>';
    converse.script = () => ({ input: { agents: [agent], skipped: [] } });
    expect((await extract(pdf, 'application/pdf')).agents).toEqual([agent]);
    expect(converse.calls[0]!.request.messages[0].content[0]).toEqual({
      document: { format: 'pdf', name: 'file', source: { bytes: base64(pdf) } },
    });
  });

  test('sends a long table in several parts and returns the agents in the order of the rows', async () => {
    setUp(models);
    const rows = times(30, (index) => `Topic ${index},${'please '.repeat(150)}`);
    converse.script = ({ file }) => {
      const numbers = [...file.matchAll(/"row":(\d+)/g)].map(([, row]) => Number(row)).filter((row) => row > 1);
      return {
        input: {
          agents: numbers.map((row) => ({ row, name: `Row ${row}`, instructions: 'Look.' })),
          skipped: [{ row: 1, originalText: 'Topic', reason: 'Titles.' }],
        },
      };
    };
    const { agents, skipped } = await extract(`Topic,Wish\n${rows.join('\n')}`, 'text/csv');
    expect(converse.calls.length).toBeGreaterThan(2);
    expect(agents.map(({ name }: { name: string }) => name)).toEqual(rows.map((_row, index) => `Row ${index + 2}`));
    // Each part begins with the titles. They are a row of the first part only.
    expect(skipped).toEqual([{ row: 1, originalText: 'Topic | Wish', reason: 'The model skipped this: Titles.' }]);
  });

  test('returns the agents of all uses of the tool in one answer, and reports a use of another form', async () => {
    setUp(models);
    const moreInputs = [{ agents: [{ name: 'Legal', instructions: 'Flag promises.' }] }, { agents: 'none' }];
    converse.script = () => ({ input: { agents: [agent], skipped: [] }, moreInputs });
    const { agents, skipped } = await extract('Flag what shouts.', 'text/plain');
    expect(agents).toEqual([agent, { name: 'Legal', instructions: 'Flag promises.' }]);
    expect(skipped).toEqual([
      { originalText: 'Flag what shouts.', reason: 'The answer of the model has another form than requested.' },
    ]);
  });

  test.each([
    ['is cut off', { input: { agents: [agent, { name: 'Ha' }] }, stopReason: 'max_tokens' }, 1, /cut off/],
    [
      'is cut off before the first item',
      { text: 'Well,', stopReason: 'max_tokens' },
      0,
      /did not answer as it was asked to \(max_tokens\)/,
    ],
    ['is a refusal', { text: 'I would rather not.', stopReason: 'end_turn' }, 0, /\(end_turn\)/],
    ['is a tool use with malformed JSON', { input: {}, stopReason: 'malformed_tool_use' }, 0, /\(malformed_tool_use\)/],
  ] as const)(
    'returns the valid agents and skips the others if the answer of the model %s',
    async (_what, reply, agentCount, reason) => {
      setUp(models);
      converse.script = () => reply;
      const { agents, skipped } = await extract('Rules', 'text/plain');
      expect(agents).toHaveLength(agentCount);
      expect(skipped).toEqual([{ originalText: 'Rules', reason: expect.stringMatching(reason) }]);
    },
  );

  test('retries a call that the model throttles', async () => {
    setUp(models);
    converse.script = (_call, number) =>
      number === 0 ? { status: 429, error: 'ThrottlingException' } : { input: { agents: [agent], skipped: [] } };
    expect((await extract('Rules', 'text/plain')).agents).toEqual([agent]);
    expect(converse.calls).toHaveLength(2);
  });

  test.each([
    ['FAILED_PRECONDITION', 403, 'AccessDeniedException', 'Rules', 'text/plain'],
    ['FAILED_PRECONDITION', 404, 'ResourceNotFoundException', 'Rules', 'text/plain'],
    ['FAILED_PRECONDITION', 400, 'ValidationException', 'Rules', 'text/plain'],
    ['INVALID_ARGUMENT', 400, 'ValidationException', '%PDF-1.7', 'application/pdf'],
    ['DEADLINE_EXCEEDED', 408, 'ModelTimeoutException', 'Rules', 'text/plain'],
  ])('returns %s when the model answers %i %s to %p of type %s', async (expected, status, error, file, mimeType) => {
    setUp(models);
    converse.script = () => ({ status, error });
    const { body } = await call(file, mimeType);
    expect(body.error.status).toBe(expected);
    expect(body.error.message).not.toContain('Rules');
    expect(converse.calls).toHaveLength(1);
  });
});

describe('a call of a model that fails or does not answer', () => {
  const quick = { attempts: 3, timeout: 5_000, pause: 1 };
  const model = () => new ConverseModel('claude', models.CLAUDE_MODEL_ID, openBedrock(), quick);
  const question = {
    system: 's',
    task: 't',
    file: { text: 'The text of the file' },
    tool: { name: 'record_agents', description: 'd', schema: { type: 'object' } },
    maxTokens: 10,
  };

  test('ends at its deadline', async () => {
    converse.script = () => 'hang';
    const timeouts = jest.spyOn(AbortSignal, 'timeout');
    const { answers, problems } = await model().ask([question, question], Date.now() + 300);
    const milliseconds = timeouts.mock.calls.map(([time]) => time);
    timeouts.mockRestore();
    expect(answers).toEqual([
      { outcome: 'failed', why: 'late' },
      { outcome: 'failed', why: 'late' },
    ]);
    expect([milliseconds.length, Math.max(...milliseconds) <= 300]).toEqual([2, true]);
    expect(problems).toHaveLength(1);
  });

  test('reports the name of the error, without the content of the file', async () => {
    converse.script = () => ({ status: 500, error: 'InternalServerException' });
    converse.calls.length = 0;
    const { answers, ...reading } = await model().ask([question], Date.now() + 60_000);
    expect(answers).toEqual([{ outcome: 'failed', why: 'busy' }]);
    expect(reading).toEqual({ inputTokens: 0, outputTokens: 0, problems: ['InternalServerException'] });
    expect(converse.calls).toHaveLength(quick.attempts);
  });

  test('fails as busy if the answer is not JSON', async () => {
    converse.script = () => ({ body: 'no JSON' });
    expect((await model().ask([question], Date.now() + 60_000)).answers).toEqual([{ outcome: 'failed', why: 'busy' }]);
  });

  test('makes agents/extract return DEADLINE_EXCEEDED in time and log no content of the file', async () => {
    setUp(models);
    converse.script = () => 'hang';
    const logged: unknown[] = [];
    const note = (...values: unknown[]) => void logged.push(...values);
    const run = endpoint.run({
      input: endpoint.input.parse({
        fileBase64: base64('The text of the file'),
        mimeType: 'text/plain',
        fileName: 'secret.txt',
      }),
      deps: { findModel: findFileModel.open(environment(process.env)) },
      now: Date.now() - 25_700,
      log: { info: note, warn: note, error: note },
    } as unknown as Parameters<typeof endpoint.run>[0]);
    await expect(run).rejects.toMatchObject({ status: 'DEADLINE_EXCEEDED' });
    expect(logged).toEqual([
      logMessages.agentFileRead,
      {
        provider: 'claude',
        calls: 1,
        inputTokens: 0,
        outputTokens: 0,
        problems: [expect.stringMatching(/^(AbortError|TimeoutError)$/)],
      },
    ]);
  });
});
