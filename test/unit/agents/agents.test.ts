import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { findBuiltInAgent, publicBuiltInAgents } from '../../../lib/agents/rules/builtIn.ts';
import {
  behaviourOf,
  CreateAgent,
  refuseKeys,
  SentVersion,
  serverManagedKeys,
  type Version,
  VERSION_BYTES,
  versionAfter,
} from '../../../lib/agents/rules/configuration.ts';
import { MAX_MEMBERS, newGroup, withAgents, withoutAgents } from '../../../lib/agents/rules/groups.ts';
import { hideSecrets, keepSecrets, REDACTED, revealSecrets } from '../../../lib/agents/rules/secrets.ts';
import { validate } from '../../../lib/http/validate.ts';
import { ApiError } from '../../../lib/shared/errors.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

const server = (more: object = {}) => ({ id: 'tools', url: 'https://mcp.example.com/v1', ...more });
const restApi = (...endpoints: object[]) => ({
  contextGathering: { strategies: ['rest-api'], strategyOptions: { 'rest-api': { endpoints } } },
});
const restEndpoint = (more: object = {}) => ({
  description: 'Prices',
  url: 'https://api.example.com/{{page}}',
  ...more,
});
const create = (fields: object) => validate(CreateAgent, { name: 'Agent', ...fields }) as Record<string, any>;

/** Runs `work`. Returns the messages of its issues. Returns an empty list if it succeeds. */
function problems(work: () => unknown): string[] {
  try {
    work();
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return (error.details as { issues: { message: string }[] }).issues.map(({ message }) => message);
  }
}
const refused = (fields: object) => problems(() => create(fields));

describe('CreateAgent', () => {
  test('keeps unknown fields at every depth, `__proto__` included', () => {
    const sent = JSON.parse(
      '{"name":"A","__proto__":{"x":1},"constructor":2,"execution":{"open":3,"__proto__":4,"strategyOptions":{"new":{"a":[null]}}},"postProcess":{"more":{"enabled":"yes"}}}',
    ) as object;
    expect(JSON.stringify(behaviourOf(create(sent)))).toBe(JSON.stringify(behaviourOf(sent as never)));
  });

  test('treats null as absent in documented fields only', () => {
    expect(
      JSON.stringify(
        create({ description: null, execution: { serviceId: null, mcpServers: null, other: null }, extra: null }),
      ),
    ).toBe('{"extra":null,"name":"Agent","execution":{"other":null}}');
  });

  test.each([
    [
      'rest-api without its options',
      { contextGathering: { strategies: ['rest-api'] } },
      'contextGathering.strategyOptions.rest-api is required when strategies include rest-api',
    ],
    [
      'service without a serviceId',
      { execution: { executionStrategy: 'service' } },
      'execution.serviceId is required when executionStrategy is service',
    ],
    [
      'mcp-tools with an empty list of servers',
      { execution: { executionStrategy: 'mcp-tools', mcpServers: [] } },
      'execution.mcpServers is required when executionStrategy is mcp-tools: at least one server',
    ],
    [
      'two servers with the same id',
      { execution: { mcpServers: [server(), server()] } },
      'execution.mcpServers[1].id must be unique in the list',
    ],
    [
      'a server with a file URL',
      { execution: { mcpServers: [server({ url: 'file:///etc/passwd' })] } },
      'execution.mcpServers[0].url must be a valid http(s) URL or a template of one',
    ],
    [
      'credentials in a URL',
      { execution: { mcpServers: [server({ url: 'https://user:pass@example.com' })] } },
      'execution.mcpServers[0].url must not contain credentials: they belong into auth',
    ],
    [
      'bearer authentication without a token',
      { execution: { mcpServers: [server({ auth: { type: 'bearer' } })] } },
      'execution.mcpServers[0].auth.token is required when type is bearer',
    ],
    [
      'a header value with a line break',
      restApi(restEndpoint({ auth: { type: 'header', headers: { 'x-key': 'a\nb' } } })),
      'contextGathering.strategyOptions.rest-api.endpoints[0].auth.headers.x-key must be of visible ASCII characters and spaces, since it is sent in a header',
    ],
    [
      '__redacted__ where no secret is stored',
      { execution: { mcpServers: [server({ auth: { type: 'bearer', token: REDACTED } })] } },
      'execution.mcpServers[0].auth.token must be a secret: there is no stored secret to keep',
    ],
    [
      'an agent that is too large',
      { a: 'x'.repeat(VERSION_BYTES) },
      `data must be at most ${VERSION_BYTES} bytes as JSON`,
    ],
    [
      'an agent that is too large after redaction',
      { a: { auth: times(30_000, () => 1) } },
      `data must be at most ${VERSION_BYTES} bytes as JSON, together with the stored fields`,
    ],
    [
      'more than 64 KB of secrets',
      { a: { auth: times(3, () => 'x'.repeat(25_000)) } },
      'data must have at most 65536 bytes of secrets',
    ],
  ])('rejects %s', (_what, fields, message) => {
    expect(refused(fields)).toEqual([message]);
  });

  test('accepts missing instructions and unknown gathering strategies', () => {
    expect(
      refused({ execution: { executionStrategy: 'ai' }, contextGathering: { strategies: ['crystal-ball'] } }),
    ).toEqual([]);
  });
});

describe('server-managed fields', () => {
  const offending = { managedBy: 'me', metadata: { type: 't', category: 'c', internal: true, apiKey: 'k', mine: 1 } };
  const messages = ['managedBy', 'metadata.type', 'metadata.category', 'metadata.internal', 'metadata.apiKey'].map(
    (key) => `${key} is a server-managed field and cannot be set via the API.`,
  );

  test('are rejected by CreateAgent and refuseKeys with one issue per key', () => {
    expect(refused(offending)).toEqual(messages);
    expect(problems(() => refuseKeys(serverManagedKeys(offending)))).toEqual(messages);
    expect(() => refuseKeys(serverManagedKeys(offending))).toThrow(messages.join(' '));
    expect(refused({ metadata: { mine: 1 } })).toEqual([]);
  });

  test('are dropped by behaviourOf, like generated fields', () => {
    expect(
      behaviourOf({
        id: 'x',
        version: 9,
        createdAt: 1,
        updatedAt: 1,
        name: 'n',
        enabled: true,
        instructions: 'i',
        apiKey: 'k',
      }),
    ).toEqual({ instructions: 'i' });
  });
});

describe('versionAfter', () => {
  const stored: Version = {
    behaviour: {
      instructions: 'old',
      execution: {
        executionStrategy: 'mcp-tools',
        mcpServers: [server({ auth: { type: 'bearer', token: 'secret' } })],
        knowledge: { useMemory: true, maxChunks: 3 },
      },
      extra: { a: 1, b: { c: 1 } },
    },
    metadata: { a: 1 },
  };
  const after = (sent: object) =>
    validate(versionAfter(stored), validate(SentVersion, { agentId: 'agt', ...sent })) as {
      behaviour: any;
      metadata: unknown;
    };

  test('merges blocks key by key and replaces nested values and metadata', () => {
    expect(
      after({
        execution: { knowledge: { maxChunks: 4 } },
        extra: { b: {} },
        response: { useAiFormatting: true },
        metadata: { b: 2 },
      }),
    ).toEqual({
      behaviour: {
        ...stored.behaviour,
        execution: { ...(stored.behaviour.execution as object), knowledge: { maxChunks: 4 } },
        extra: { a: 1, b: {} },
        response: { useAiFormatting: true },
      },
      metadata: { b: 2 },
    });
  });

  test('keeps stored values where null is sent', () => {
    expect(after({ instructions: null, execution: { mcpServers: null, knowledge: null }, metadata: null })).toEqual(
      stored,
    );
  });

  test('validates the merged version, not the change', () => {
    expect(problems(() => after({ execution: { executionStrategy: 'service' } }))).toEqual([
      'execution.serviceId is required when executionStrategy is service',
    ]);
    expect(
      after({ execution: { executionStrategy: 'service', serviceId: 'crawler', mcpServers: [] } }).behaviour.execution
        .mcpServers,
    ).toEqual([]);
    expect(problems(() => after({ execution: { mcpServers: [] } }))).toEqual([
      'execution.mcpServers is required when executionStrategy is mcp-tools: at least one server',
    ]);
    expect(problems(() => after(Object.fromEntries(times(8, (n) => [`k${n}`, 'x'.repeat(32_740)]))))).toEqual([
      `data must be at most ${VERSION_BYTES} bytes as JSON, together with the stored fields`,
    ]);
  });

  test('keeps the stored secret of the server with the same id for __redacted__', () => {
    const hidden = server({ auth: { type: 'bearer', token: REDACTED } });
    const other = server({ id: 'other', auth: { type: 'basic', username: 'u', password: 'p' } });
    expect(after({ execution: { mcpServers: [other, hidden] } }).behaviour.execution.mcpServers).toEqual([
      other,
      server({ auth: { type: 'bearer', token: 'secret' } }),
    ]);
    expect(problems(() => after({ execution: { mcpServers: [{ ...hidden, id: 'new' }] } }))).toEqual([
      'execution.mcpServers[0].auth.token must be a secret: there is no stored secret to keep',
    ]);
  });
});

describe('secrets of an agent', () => {
  test('hideSecrets hides auth blocks except type and username, and credential headers and parameters', () => {
    const configuration = {
      auth: {
        type: 'custom',
        username: 'ada',
        clientSecret: 'S1',
        nested: { type: 'S2', pins: [1234, { username: 'S3' }] },
        isOn: true,
      },
      list: [{ id: 'a', auth: 'S4' }, { auth: [{ type: 'bearer', token: 'S5' }] }],
      headers: { Authorization: 'S6', accept: 'text/html', 'X-Api-Key': 'S7', 'x-author': 'Ada', Cookie: 'S8' },
      query: { api_key: 'S9', page: 2, max_tokens: 5 },
      token: 'not in an auth block',
    };
    const { redacted, secrets } = hideSecrets(configuration);
    expect(secrets).toEqual(['S1', 'S2', 1234, 'S3', 'S4', 'S5', 'S6', 'S7', 'S8', 'S9']);
    expect(redacted).toEqual({
      auth: {
        type: 'custom',
        username: 'ada',
        clientSecret: REDACTED,
        nested: { type: REDACTED, pins: [REDACTED, { username: REDACTED }] },
        isOn: true,
      },
      list: [{ id: 'a', auth: REDACTED }, { auth: [{ type: 'bearer', token: REDACTED }] }],
      headers: {
        Authorization: REDACTED,
        accept: 'text/html',
        'X-Api-Key': REDACTED,
        'x-author': 'Ada',
        Cookie: REDACTED,
      },
      query: { api_key: REDACTED, page: 2, max_tokens: 5 },
      token: 'not in an auth block',
    });
  });

  test('keepSecrets keeps no secret of two items with the same id', () => {
    const twice = {
      list: [
        { id: 'a', auth: 'first' },
        { id: 'a', auth: 'second' },
      ],
    };
    expect(keepSecrets(hideSecrets(twice).redacted, twice).missingPaths).toEqual([
      ['list', 0, 'auth'],
      ['list', 1, 'auth'],
    ]);
  });

  const key = fc.constantFrom(
    'auth',
    'headers',
    'query',
    'token',
    'type',
    'username',
    'authorization',
    '__proto__',
    'a',
  );
  const tree = fc.letrec((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant(REDACTED)),
      fc.array(tie('node'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.array(fc.tuple(key, tie('node')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  })).object as fc.Arbitrary<Record<string, unknown>>;

  testProperty('revealSecrets restores any configuration that hideSecrets split', [tree], (configuration) => {
    const { redacted, secrets } = JSON.parse(JSON.stringify(hideSecrets(configuration))) as ReturnType<
      typeof hideSecrets
    >;
    expect(JSON.stringify(revealSecrets(redacted, secrets))).toBe(JSON.stringify(configuration));
    expect(hideSecrets(redacted).redacted).toEqual(redacted);
  });

  test('keepSecrets restores all secrets of a redacted configuration', () => {
    const withoutLiteral = tree.filter((configuration) => !JSON.stringify(configuration).includes(REDACTED));
    fc.assert(
      fc.property(withoutLiteral, (configuration) => {
        const { configuration: restored, missingPaths: missing } = keepSecrets(
          hideSecrets(configuration).redacted,
          configuration,
        );
        expect(missing).toEqual([]);
        expect(JSON.stringify(restored)).toBe(JSON.stringify(configuration));
      }),
    );
  });
});

describe('withAgents and withoutAgents', () => {
  const group = newGroup({ name: 'G', agentIds: ['b', 'a', 'b'] }, { groupId: 'agrp', now: 1 });

  test('append new agents once, and remove agents', () => {
    expect(group.agentIds).toEqual(['b', 'a']);
    expect(withAgents(group, ['a', 'c', 'c'], 2)).toEqual({ ...group, agentIds: ['b', 'a', 'c'], updatedAt: 2 });
    expect(withAgents(group, ['a'], 2)).toBe(group);
    expect(withoutAgents(group, ['b', 'x'], 2)).toEqual({ ...group, agentIds: ['a'], updatedAt: 2 });
    expect(withoutAgents(group, ['x'], 2)).toBe(group);
  });

  test('throw RESOURCE_EXHAUSTED above 100 agents', () => {
    const ids = times(MAX_MEMBERS - 2, (n) => `agent-${n}`);
    expect(withAgents(group, ids, 2).agentIds).toHaveLength(MAX_MEMBERS);
    expect(() => withAgents(group, [...ids, 'one more'], 2)).toThrow(
      expect.objectContaining({ status: 'RESOURCE_EXHAUSTED' }),
    );
  });
});

test('the list of agents contains 17 built-in agents without two internal ones', () => {
  expect(publicBuiltInAgents.map(({ id }) => id)).toEqual([
    'spell-check',
    'grammar-check',
    'broken-links',
    'pii-detection',
    'profanity-filter',
    'sensitive-data',
    'lighthouse',
    'accessibility-checker',
    'og-image-checker',
    'lorem-ipsum',
    'image-inspector',
    'mobile-inspector',
    'consistency-checker',
    'ai-visibility',
    'migration-parity',
    'content-request-list',
    'fix-it-everywhere',
  ]);
  expect(['crawler', 'screenshot'].map((id) => findBuiltInAgent(id)?.internal)).toEqual([true, true]);
  expect(findBuiltInAgent('constructor')).toBeUndefined();
});

test('the guide of agents has the id of every built-in agent', () => {
  const page = readFileSync('functions/AGENTS.md', 'utf8');
  expect(publicBuiltInAgents.filter(({ id }) => !page.includes(`\`${id}\``))).toEqual([]);
});
