import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { AgentReader } from '../../../lib/agents/agentReader.ts';
import { openVersion } from '../../../lib/agents/agentSecrets.ts';
import { AgentWriter } from '../../../lib/agents/agentWriter.ts';
import { secretBox } from '../../../lib/crypto/secretBox.ts';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { agentCalls } from '../../support/agents.ts';
import { beforeWrite } from '../../support/beforeWrite.ts';
import { capturedLog } from '../../support/capturedLog.ts';
import { newCustomer } from '../../support/customer.ts';
import { everyItem } from '../../support/items.ts';
import { times } from '../../support/times.ts';
import { unicodeText } from '../../support/unicodeText.ts';

const REDACTED = '__redacted__';

const lines = capturedLog();
const { engine, customer, useNewCustomer } = acmeWorld();

const { call, create, ok, status } = agentCalls(customer);
const get = async (agentId: string) => (await ok('get', { agentId })).agent;
const change = async (agentId: string, fields: object): Promise<number> =>
  (await ok('version/update', { agentId, ...fields })).version;
const versions = async (agentId: string) => (await ok('versions/list', { agentId })).versions;
/** Returns the behaviour of an agent's current version as stored, with decrypted secrets. */
async function storedBehaviour(agentId: string): Promise<any> {
  const agent = await new AgentReader(table).get(customer.apiKey, agentId);
  return (await openVersion(secretBox.open(process.env as never), customer.apiKey, agentId, agent!.current)).behaviour;
}

describe('POST /v2/agents/create and /v2/agents/get', () => {
  const configuration = {
    instructions: 'Look.',
    rawInstructions: 'look',
    phaseTimeoutMs: 60_000,
    contextGathering: { strategies: ['web-page-text'] },
    execution: { executionStrategy: 'ai' },
    payloadSchema: { type: 'object' },
    // A built-in agent has these two fields as an object and a list. In a custom agent they are the caller's own.
    inputRequirements: 'none',
    userContextFields: 7,
    postProcess: { pinResolution: { enabled: false } },
    setup: { checklistOrigin: { checklistId: 'c' } },
    'of our own': [1, null],
  };

  test('creates version 1 of an agent and returns all of its fields', async () => {
    const before = Date.now();
    const { body } = await customer.call('/v2/agents/create', {
      name: 'A',
      description: 'D',
      metadata: { team: 'x' },
      ...configuration,
    });
    expect(body.result).toMatchObject({
      status: 'success',
      message: 'Agent created successfully',
      data: { agentId: expect.stringMatching(/^agt_/) },
    });
    const { agentId } = body.result.data;
    for (const ignored of [{ filter: 'noSuchFilter' }, { filter: 7 }, { groupId: '' }, { groupId: 7 }])
      expect((await call('get', { agentId, ...ignored })).body.result?.data.agent.id).toBe(agentId);
    const read = await call('get', { agentId, filter: 'defaultOnly', groupId: 'none' });
    expect(read.body.result.message).toBe('Agent fetched successfully');
    const { createdAt, updatedAt, ...agent } = read.body.result.data.agent;
    expect(agent).toEqual({
      id: agentId,
      name: 'A',
      description: 'D',
      enabled: true,
      version: 1,
      managedBy: 'customer',
      metadata: { team: 'x', apiKey: customer.apiKey },
      executionCount: 0,
      lastExecutedAt: null,
      ...configuration,
    });
    expect(createdAt).toBe(updatedAt);
    expect(createdAt).toBeGreaterThanOrEqual(before);
    expect(await versions(agentId)).toEqual([
      { id: 'v1', version: 1, createdAt, metadata: agent.metadata, ...configuration },
    ]);
  });

  test('rejects server-managed fields with one issue per field', async () => {
    const agentId = await create();
    const messages = ['managedBy', 'metadata.internal', 'metadata.apiKey'].map(
      (key) => `${key} is a server-managed field and cannot be set via the API.`,
    );
    for (const [path, fields] of [
      ['create', { name: 'A' }],
      ['version/update', { agentId }],
    ] as const) {
      const metadata = { internal: true, apiKey: 'k' };
      const { body } = await call(path, { ...fields, managedBy: 'me', metadata });
      expect(body.error).toMatchObject({
        status: 'INVALID_ARGUMENT',
        message: messages.join(' '),
        details: { issues: messages.map((message) => ({ message })) },
      });
    }
    expect((await get(agentId)).version).toBe(1);
  });

  test('returns any accepted configuration unchanged', async () => {
    const text = unicodeText({ maxLength: 20 }).filter((value) => value.isWellFormed());
    const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    const block = fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'open')), json, {
      maxKeys: 4,
    });
    const agent = fc.record(
      {
        instructions: text,
        contextGathering: block,
        execution: block,
        response: block,
        postProcess: block,
        input: block,
        scope: block,
        setup: block,
        metadata: block,
        extra: json,
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(agent, async (fields) => {
        const { status: http, body } = await call('create', { name: 'A', ...fields });
        fc.pre(http === 200);
        const {
          metadata: { apiKey: _, ...metadata },
          ...read
        } = await get(body.result.data.agentId);
        const picked = Object.fromEntries(
          Object.keys(fields)
            .filter((key) => key !== 'metadata')
            .map((key) => [key, read[key]]),
        );
        expect(JSON.parse(JSON.stringify({ ...picked, ...('metadata' in fields && { metadata }) }))).toEqual(
          JSON.parse(JSON.stringify(fields)),
        );
      }),
      { numRuns: 60 },
    );
  });

  test('stores an agent of the maximum size with its secrets, and rejects a larger agent', async () => {
    const large = Object.fromEntries(times(3, (n) => [`k${n}`, 'ü'.repeat(32_000)]));
    const secrets = { a: { auth: times(7, () => 'x'.repeat(9_000)) } };
    const agentId = await create({ ...large, ...secrets });
    expect(await storedBehaviour(agentId)).toEqual({ ...large, ...secrets });
    expect(await status('create', { name: 'A', ...large, more: 'x'.repeat(100_000) })).toBe('INVALID_ARGUMENT');
    expect(await status('version/update', { agentId, more: 'x'.repeat(100_000) })).toBe('INVALID_ARGUMENT');
  });
});

describe('POST /v2/agents/update', () => {
  test('changes name and enabled without adding a version', async () => {
    const agentId = await create({ description: 'old', instructions: 'Look.' });
    expect(await ok('update', { agentId, name: 'New' })).toEqual({ agentId });
    await ok('update', { agentId, enabled: false });
    expect(await get(agentId)).toMatchObject({
      name: 'New',
      description: 'old',
      enabled: false,
      version: 1,
      instructions: 'Look.',
    });
    expect(await versions(agentId)).toHaveLength(1);
  });

  const noChange = 'At least one of these must be given: name, description, enabled.';
  const isBuiltIn = 'agentId must name a custom agent: built-in agents can only be enabled and disabled';
  test.each<[string, object, string, string?]>([
    ['a request without changes', { agentId: 'agt' }, noChange],
    ['an unknown agent', { agentId: 'agt', name: 'A' }, 'Agent not found.', 'NOT_FOUND'],
    ['the name of a built-in agent', { agentId: 'spell-check', name: 'A' }, isBuiltIn],
    [
      'the description of a built-in agent next to enabled',
      { agentId: 'spell-check', description: 'A', enabled: false },
      isBuiltIn,
    ],
    ['a request without changes of a built-in agent', { agentId: 'spell-check' }, noChange],
    ...['id', 'apiKey', 'managedBy', 'metadata', 'version', 'createdAt', 'updatedAt'].map(
      (key): [string, object, string] => [
        `the server-managed field ${key}`,
        { agentId: 'agt', [key]: {} },
        `${key} is a server-managed field and cannot be set via the API.`,
      ],
    ),
  ])('rejects %s', async (_what, data, message, expected = 'INVALID_ARGUMENT') => {
    const { body } = await call('update', data);
    expect(body.error).toMatchObject({ status: expected, message });
  });

  test('enables and disables a built-in agent for one customer only', async () => {
    await ok('update', { agentId: 'spell-check', enabled: false });
    expect(await get('spell-check')).toMatchObject({ enabled: false });
    expect((await ok('get', {})).agents.filter(({ enabled }: any) => !enabled).map(({ id }: any) => id)).toEqual([
      'spell-check',
    ]);
    await useNewCustomer();
    expect(await get('spell-check')).toMatchObject({ enabled: true });
  });
});

describe('versions of an agent', () => {
  test('version/update adds a version and versions/list returns all, newest first', async () => {
    const agentId = await create({
      instructions: 'one',
      execution: { knowledge: { useMemory: true }, executionStrategy: 'ai' },
      metadata: { a: 1 },
    });
    expect(await change(agentId, { instructions: 'two', execution: { knowledge: { maxChunks: 2 } } })).toBe(2);
    expect(await change(agentId, { metadata: { b: 2 }, 'of our own': true })).toBe(3);
    expect(await get(agentId)).toMatchObject({
      version: 3,
      instructions: 'two',
      execution: { knowledge: { maxChunks: 2 }, executionStrategy: 'ai' },
      metadata: { b: 2, apiKey: customer.apiKey },
      'of our own': true,
    });
    expect(
      (await versions(agentId)).map(({ id, version, instructions, metadata }: any) => [
        id,
        version,
        instructions,
        metadata.a,
        metadata.b,
      ]),
    ).toEqual([
      ['v3', 3, 'two', undefined, 2],
      ['v2', 2, 'two', 1, undefined],
      ['v1', 1, 'one', 1, undefined],
    ]);
  });

  test('versions/restore deletes the newest version except the first, and its number is used again', async () => {
    const agentId = await create({ instructions: 'one', metadata: { n: 1 } });
    await change(agentId, { instructions: 'two', metadata: { n: 2 } });
    await ok('update', { agentId, name: 'Renamed' });
    expect(await ok('versions/restore', { agentId })).toEqual({ version: 1 });
    expect(await get(agentId)).toMatchObject({ version: 1, name: 'Renamed', instructions: 'one', metadata: { n: 1 } });
    expect(await status('versions/restore', { agentId })).toBe('FAILED_PRECONDITION');
    expect(await change(agentId, { instructions: 'another' })).toBe(2);
    expect((await versions(agentId)).map(({ version, instructions }: any) => [version, instructions])).toEqual([
      [2, 'another'],
      [1, 'one'],
    ]);
  });

  test.each([
    ['version/update', { instructions: 'A' }],
    ['versions/list', {}],
    ['versions/restore', {}],
  ])('%s rejects unknown and built-in agents', async (path, data) => {
    expect(await status(path, { agentId: 'agt_unknown', ...data })).toBe('NOT_FOUND');
    expect(await status(path, { agentId: 'spell-check', ...data })).toBe('INVALID_ARGUMENT');
  });

  test('versions/list pages through versions that do not fit into one page', async () => {
    const agentId = await create({ text: 'x'.repeat(200_000) });
    for (let n = 2; n <= 24; n++) await change(agentId, { n });
    const pages = await customer.pages('/v2/agents/versions/list', { agentId });
    expect(pages.map(({ versions: page }) => page.length)).toEqual([expect.any(Number), expect.any(Number)]);
    expect(pages.flatMap(({ versions: page }) => page.map(({ version }: any) => version))).toEqual(
      times(24, (n) => 24 - n),
    );
  });
});

describe('concurrent changes of an agent', () => {
  test('version/update succeeds for all of 30 parallel calls, keeps their changes and gives consecutive version numbers', async () => {
    const agentId = await create();
    const outcomes = await Promise.all(
      times(30, (n) => call('version/update', { agentId, instructions: `writer ${n}`, [`k${n}`]: n })),
    );
    expect(outcomes.map(({ body }) => body.error?.status ?? 'success')).toEqual(times(30, () => 'success'));
    const written = new Map(
      outcomes.map(({ body }, n) => [body.result.data.version, `writer ${n}`]) as [number, string][],
    );
    expect([...written.keys()].toSorted((a, b) => a - b)).toEqual(times(30, (n) => n + 2));
    expect((await versions(agentId)).map(({ version, instructions }: any) => [version, instructions])).toEqual([
      ...times(30, (n) => [31 - n, written.get(31 - n)]),
      [1, undefined],
    ]);
    expect(await get(agentId)).toMatchObject(Object.fromEntries(times(30, (n) => [`k${n}`, n])));
  });

  test('update and version/update in parallel keep both changes', async () => {
    const agentId = await create();
    // The other update runs after version/update has read the agent and before it writes.
    beforeWrite(() => ok('update', { agentId, name: 'Renamed meanwhile' }));
    expect(await change(agentId, { instructions: 'two' })).toBe(2);
    expect(await get(agentId)).toMatchObject({ version: 2, name: 'Renamed meanwhile', instructions: 'two' });
  });

  test('versions/restore succeeds for one of several parallel calls, and the others return ABORTED', async () => {
    const agentId = await create();
    for (let n = 2; n <= 4; n++) await change(agentId, { n });
    const outcomes = await Promise.all(times(3, () => status('versions/restore', { agentId })));
    const restored = outcomes.filter((outcome) => outcome === 'success').length;
    expect(outcomes.filter((outcome) => outcome !== 'success' && outcome !== 'ABORTED')).toEqual([]);
    expect((await versions(agentId)).map(({ version }: any) => version)).toEqual(
      times(4 - restored, (n) => 4 - restored - n),
    );
  });

  test('agents/get never mixes two versions if one replaces the other under the same number', async () => {
    const agentId = await create();
    await change(agentId, { instructions: 'old', metadata: { says: 'old' } });
    const readFirst = Table.prototype.get;
    let read = 0;
    const spy = jest.spyOn(Table.prototype, 'get').mockImplementation(async function (
      this: Table,
      ...call: Parameters<Table['get']>
    ) {
      const item = await readFirst.apply(this, call);
      // The other update runs after agents/get has read the agent and before it reads the version.
      if (call[0].type === 'Agent' && ++read === 1) {
        await ok('versions/restore', { agentId });
        await change(agentId, { instructions: 'new', metadata: { says: 'new' } });
      }
      return item;
    });
    try {
      expect(await get(agentId)).toMatchObject({ version: 2, instructions: 'new', metadata: { says: 'new' } });
    } finally {
      spy.mockRestore();
    }
    expect(read).toBeGreaterThan(1);
  });
});

test('AgentWriter writes each change once if a call is repeated after a crash', async () => {
  const writer = new AgentWriter(table);
  const tenant = customer.apiKey;
  const version = async () => ({ behaviour: '{}' });
  const twice = async <T>(
    callId: string,
    work: (call: { callId: string; now: number }) => Promise<T>,
  ): Promise<T[]> => [await work({ callId, now: Date.now() }), await work({ callId, now: Date.now() })];
  const agent = { agentId: 'agt_1', name: 'A', enabled: true };
  expect(await twice('a', (call) => writer.create(tenant, agent, { behaviour: '{}' }, call))).toEqual(['done', 'done']);
  expect(await twice('b', (call) => writer.addVersion(tenant, 'agt_1', version, call))).toEqual([2, 2]);
  expect(await twice('c', (call) => writer.addVersion(tenant, 'agt_1', version, call))).toEqual([3, 3]);
  expect(await twice('d', (call) => writer.restore(tenant, 'agt_1', call))).toEqual([2, 2]);
});

describe('the secrets of an agent', () => {
  const secret = (name: string) => `the-secret-${name}-4711`;
  const sent = {
    contextGathering: {
      strategies: ['rest-api', 'of-ours'],
      strategyOptions: {
        'rest-api': {
          endpoints: [
            {
              id: 'prices',
              description: 'Prices',
              url: 'https://api.example.com',
              auth: { type: 'basic', username: 'ada', password: secret('password') },
              headers: { Authorization: secret('authorization'), accept: 'text/html' },
            },
            {
              description: 'Stock',
              url: 'https://api.example.com',
              auth: { type: 'header', headers: { 'x-any': secret('header') } },
            },
          ],
        },
        'of-ours': { deep: [{ auth: { type: 'oauth', clientSecret: secret('deep') } }] },
      },
    },
    execution: {
      executionStrategy: 'mcp-tools',
      mcpServers: [{ id: 'tools', url: 'https://mcp.example.com', auth: { type: 'bearer', token: secret('token') } }],
    },
  };
  const hidden = JSON.parse(JSON.stringify(sent).replaceAll(/the-secret-\w+-4711/g, REDACTED));

  test('are in no response, no stored item and no log line', async () => {
    const answers = [await customer.call('/v2/agents/create', { name: 'A', ...sent }, { 'idempotency-key': 'one' })];
    const { agentId } = answers[0]!.body.result.data;
    answers.push(
      await call('version/update', {
        agentId,
        execution: { ...sent.execution, mcpServers: [{ ...sent.execution.mcpServers[0], command: 1 }] },
      }),
    );
    answers.push(
      await call('version/update', { agentId, ...sent, instructions: 'more' }, { 'idempotency-key': 'two' }),
    );
    answers.push(await call('get', { agentId }), await call('get', {}), await call('versions/list', { agentId }));
    expect(answers.map(({ status: http }) => http)).toEqual([200, 400, 200, 200, 200, 200]);
    expect(answers[3]!.body.result.data.agent).toMatchObject(hidden);
    expect(answers[5]!.body.result.data.versions).toMatchObject([hidden, hidden]);
    expect(await storedBehaviour(agentId)).toEqual({ ...sent, instructions: 'more' });
    const everything = JSON.stringify([answers.map(({ body }) => body), await everyItem(engine), lines]);
    expect(everything).toContain(REDACTED);
    expect(lines.length).toBeGreaterThan(0);
    for (const form of [(text: string) => text, (text: string) => Buffer.from(text).toString('base64').slice(2, -4)]) {
      for (const name of ['password', 'authorization', 'header', 'deep', 'token'])
        expect(everything).not.toContain(form(secret(name)));
    }
  });

  test('are kept when version/update sends __redacted__, and replaced when it sends new values', async () => {
    const agentId = await create(sent);
    const { contextGathering, execution } = await get(agentId);
    await change(agentId, { contextGathering, execution });
    expect(await storedBehaviour(agentId)).toEqual(sent);
    await change(agentId, {
      execution: { mcpServers: [{ ...execution.mcpServers[0], auth: { type: 'bearer', token: 'rotated' } }] },
    });
    expect((await storedBehaviour(agentId)).execution.mcpServers[0].auth.token).toBe('rotated');
    await ok('versions/restore', { agentId });
    expect(await storedBehaviour(agentId)).toEqual(sent);
    await change(agentId, { instructions: 'secrets stay' });
    expect(await storedBehaviour(agentId)).toEqual({ ...sent, instructions: 'secrets stay' });
  });

  test('cannot be decrypted for another agent or another customer', async () => {
    const agentId = await create(sent);
    const agent = await new AgentReader(table).get(customer.apiKey, agentId);
    const box = secretBox.open(process.env as never);
    await expect(openVersion(box, customer.apiKey, await create(), agent!.current)).rejects.toThrow('does not open');
    await expect(openVersion(box, (await newCustomer()).apiKey, agentId, agent!.current)).rejects.toThrow(
      'does not open',
    );
  });
});
