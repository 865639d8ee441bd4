import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DescribeTableCommand, DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { lockDataDir } from '../../infra/local/dataLock.ts';
import { startEngine } from '../../infra/local/engine.ts';
import { openFunctionLog } from '../../infra/local/functionLog.ts';
import { processesWith } from '../../infra/local/processes.ts';
import { openSecrets } from '../../infra/local/secrets.ts';
import { localSettings } from '../../infra/local/settings.ts';
import { ensureTable } from '../../infra/local/table.ts';

let dataDir: string;

beforeEach(async () => {
  dataDir = await realpath(await mkdtemp(join(tmpdir(), 'data-')));
});

afterEach(() => rm(dataDir, { recursive: true }));

describe('the engine and its table', () => {
  const index = (name: string) => ({
    IndexName: name,
    KeySchema: [{ AttributeName: `${name}pk`, KeyType: 'HASH' }, { AttributeName: `${name}sk`, KeyType: 'RANGE' }],
    Projection: { ProjectionType: 'KEYS_ONLY' },
  });
  const table = (...indexes: string[]) => ({
    name: 'Root-Table',
    properties: {
      AttributeDefinitions: ['PK', 'SK', ...indexes.flatMap((name) => [`${name}pk`, `${name}sk`])].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }],
      ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes.map(index) }),
      BillingMode: 'PAY_PER_REQUEST',
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      DeletionProtectionEnabled: true,
      StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    },
  });
  const Key = { PK: { S: 'a' }, SK: { S: 'b' } };
  const clientOf = (port: number) => new DynamoDBClient({ endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', credentials: { accessKeyId: 'LOCAL', secretAccessKey: 'local' } });

  test('a table is made as the template has it, kept, and given the indexes that it lacks', async () => {
    const first = await startEngine('dynoxide', dataDir);
    await ensureTable(first.port, table('gsi1'));
    await clientOf(first.port).send(new PutItemCommand({ TableName: 'Root-Table', Item: Key }));
    await first.stop();

    const second = await startEngine('dynoxide', dataDir);
    try {
      await ensureTable(second.port, table('gsi1', 'gsi2', 'gsi3'));
      await ensureTable(second.port, table('gsi1', 'gsi2', 'gsi3'));
      const client = clientOf(second.port);
      const { Table } = await client.send(new DescribeTableCommand({ TableName: 'Root-Table' }));
      expect(Table?.GlobalSecondaryIndexes?.map(({ IndexName, Projection }) => [IndexName, Projection?.ProjectionType])).toEqual([['gsi1', 'KEYS_ONLY'], ['gsi2', 'KEYS_ONLY'], ['gsi3', 'KEYS_ONLY']]);
      expect(Table?.StreamSpecification).toEqual({ StreamEnabled: true, StreamViewType: 'NEW_IMAGE' });
      expect((await client.send(new GetItemCommand({ TableName: 'Root-Table', Key }))).Item).toEqual(Key);

      const other = table();
      other.properties.KeySchema = [{ AttributeName: 'PK', KeyType: 'HASH' }];
      await expect(ensureTable(second.port, other)).rejects.toThrow('The table Root-Table has other keys');
    } finally {
      await second.stop();
    }
  });

  test('an engine that an earlier run left behind is ended first, and nothing else that uses the file', async () => {
    const file = join(dataDir, 'table.db');
    const { port } = await startEngine('dynoxide', dataDir);
    const [orphan] = await processesWith('--db-path', file);
    const innocent = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 30_000)', file]);
    const next = await startEngine('dynoxide', dataDir);
    try {
      const engines = await processesWith('--db-path', file);
      expect(engines).toHaveLength(1);
      expect(engines[0]!.pid).not.toBe(orphan!.pid);
      await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
      expect(await processesWith(file)).toHaveLength(2);
    } finally {
      await next.stop();
      innocent.kill();
      await once(innocent, 'exit');
    }
    expect(await processesWith(file)).toEqual([]);
  });

  test('an engine that cannot read its data says so', async () => {
    await writeFile(join(dataDir, 'table.db'), 'this is no database, and long enough to be taken for one'.repeat(100));
    await expect(startEngine('dynoxide', dataDir)).rejects.toThrow(/^The table engine \(dynoxide\) did not start: it ended with \d+\.\n.*database/s);
  });

  test('data of another engine is refused', async () => {
    await (await startEngine('dynoxide', dataDir)).stop();
    await expect(startEngine('dynamodb-local', dataDir)).rejects.toThrow('was written with DYNAMODB_ENGINE=dynoxide');
  });
});

describe('secrets', () => {
  const model = (name: string, properties: Record<string, unknown>) => ({ name, arn: `arn:${name}`, properties });
  const key = model('key', { GenerateSecretString: { SecretStringTemplate: '{"current":"1"}', GenerateStringKey: '1', PasswordLength: 64, ExcludePunctuation: true } });

  test('are generated once, as the template asks, and kept for the owner only', async () => {
    const [first] = await openSecrets(dataDir, [key]);
    expect(JSON.parse(first!.value)).toEqual({ current: '1', 1: expect.stringMatching(/^[a-zA-Z0-9]{64}$/) });
    expect((await stat(join(dataDir, 'secrets.json'))).mode & 0o777).toBe(0o600);

    const [again, plain, fixed] = await openSecrets(dataDir, [
      key, model('plain', { GenerateSecretString: { ExcludeCharacters: 'abc', ExcludeUppercase: true, ExcludeNumbers: true, ExcludePunctuation: true } }), model('fixed', { SecretString: 'text' }),
    ]);
    expect(again).toEqual(first);
    expect(plain!.value).toMatch(/^[d-z]{32}$/);
    expect(fixed!.value).toBe('text');
  });
});

test('a data directory is locked until the lock is released', () => {
  const lock = lockDataDir(dataDir);
  expect(() => lockDataDir(dataDir)).toThrow(`Another run (process ${process.pid}) uses ${dataDir}.`);
  lock.release();
  lockDataDir(dataDir).release();
});

test('a functions\' log of more than 50 MB is put aside', async () => {
  const file = join(dataDir, 'functions.log');
  for (const line of ['one\n', 'two\n']) {
    const log = openFunctionLog(dataDir, false);
    log.write(line);
    await log.close();
  }
  expect(await readFile(file, 'utf8')).toBe('one\ntwo\n');
  await truncate(file, 51 * 1024 * 1024);
  const log = openFunctionLog(dataDir, false);
  log.write('three\n');
  await log.close();
  expect(await readFile(file, 'utf8')).toBe('three\n');
  expect((await stat(`${file}.1`)).size).toBe(51 * 1024 * 1024);
});

describe('settings', () => {
  test('have defaults, also for empty variables', () => {
    const defaults = { port: 3000, dataDir: join(process.cwd(), '.local'), serviceName: 'svc', engine: 'dynoxide', logsToStdout: false, assemblyDir: undefined };
    expect(localSettings({})).toEqual(defaults);
    expect(localSettings({ PORT: '', DATA_DIR: '', SERVICE_NAME: '', DYNAMODB_ENGINE: '', LOCAL_LOGS: '', ASSEMBLY_DIR: '' })).toEqual(defaults);
  });

  test('are read from the environment', () => {
    const env = { PORT: '0', DATA_DIR: '/data', SERVICE_NAME: 'acme', DYNAMODB_ENGINE: 'dynamodb-local', LOCAL_LOGS: 'stdout', ASSEMBLY_DIR: '/assembly' };
    expect(localSettings(env)).toEqual({ port: 0, dataDir: '/data', serviceName: 'acme', engine: 'dynamodb-local', logsToStdout: true, assemblyDir: '/assembly' });
  });

  test.each([['PORT', 'http'], ['PORT', '65536'], ['PORT', '-1'], ['SERVICE_NAME', 'Acme Inc.'], ['DYNAMODB_ENGINE', 'mysql']])('%s=%s is refused by name', (name, value) => {
    expect(() => localSettings({ [name]: value })).toThrow(new RegExp(`^${name} must be .*, but is "${value}"\\.$`));
  });
});
