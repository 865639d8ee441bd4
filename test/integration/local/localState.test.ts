import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import {
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  SearchVectorsCommand,
} from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { lockDataDir, openDataDir } from '../../../infra/local/dataDir.ts';
import { FUNCTION_LOG, openLogFile } from '../../../infra/local/functions/functionLog.ts';
import { findProcesses } from '../../../infra/local/processes.ts';
import { openDatabase } from '../../../infra/local/queues/database.ts';
import { openSecrets } from '../../../infra/local/secrets.ts';
import { localSettings } from '../../../infra/local/settings.ts';
import { StreamPositions } from '../../../infra/local/streams/streamPositions.ts';
import { streamOf, StreamReader } from '../../../infra/local/streams/streamReader.ts';
import { type Engine, startEngine } from '../../../infra/local/table/engine.ts';
import { freeAddress } from '../../../infra/local/table/engineAddress.ts';
import { prepareLaunch } from '../../../infra/local/table/engineLaunch.ts';
import { spawnGuarded } from '../../../infra/local/table/guardedProcess.ts';
import { ensureTable, withoutVectorIndexes } from '../../../infra/local/table/table.ts';
import { blockedPorts } from '../../../lib/net/httpUrl.ts';

let dataDir: string;

beforeEach(async () => {
  dataDir = await realpath(await mkdtemp(join(tmpdir(), 'data-')));
});

const engines: Engine[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  for (const engine of engines.splice(0)) await engine.stop();
  await rm(dataDir, { recursive: true });
});

/** Starts an engine on the data of the test, which the end of the test stops. */
async function start(): Promise<Engine> {
  const engine = await startEngine('dynoxide', dataDir);
  engines.push(engine);
  return engine;
}
/** Returns the ids of the engines on the data of the test. */
const pids = async () => (await findProcesses('--db-path', join(dataDir, 'table.db'))).map(({ pid }) => pid);

describe('the table engine', () => {
  const index = (name: string) => ({
    IndexName: name,
    KeySchema: [
      { AttributeName: `${name}pk`, KeyType: 'HASH' },
      { AttributeName: `${name}sk`, KeyType: 'RANGE' },
    ],
    Projection: { ProjectionType: 'KEYS_ONLY' },
  });
  const table = (...indexes: string[]) => ({
    name: 'Root-Table',
    streamArn: 'arn:stream',
    properties: {
      AttributeDefinitions: ['PK', 'SK', ...indexes.flatMap((name) => [`${name}pk`, `${name}sk`])].map(
        (AttributeName) => ({ AttributeName, AttributeType: 'S' }),
      ),
      KeySchema: [
        { AttributeName: 'PK', KeyType: 'HASH' },
        { AttributeName: 'SK', KeyType: 'RANGE' },
      ],
      ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes.map(index) }),
      BillingMode: 'PAY_PER_REQUEST',
      Replicas: [
        {
          Region: 'us-east-1',
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          DeletionProtectionEnabled: true,
        },
      ],
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    },
  });
  /** Returns the same table with vector indexes on these attributes. */
  const searchable = (...vectors: string[]) => {
    const {
      properties: { AttributeDefinitions, ...properties },
      ...rest
    } = table();
    const VectorIndexes = vectors.map((name) => ({
      IndexName: `by-${name}`,
      VectorAttribute: { AttributeName: name },
      Dimensions: 2,
      DistanceFunction: 'COSINE',
      Projection: { ProjectionType: 'KEYS_ONLY' },
      SearchSchema: [{ AttributeName: 'of', SearchSchemaElementType: 'HASH' }],
    }));
    return {
      ...rest,
      properties: {
        ...properties,
        AttributeDefinitions: [...AttributeDefinitions, { AttributeName: 'of', AttributeType: 'S' }],
        VectorIndexes,
      },
    };
  };
  const Key = { PK: { S: 'a' }, SK: { S: 'b' } };
  const clientOf = (endpoint: string) =>
    new DynamoDBClient({
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'LOCAL', secretAccessKey: 'local' },
    });

  test('creates the table of the template, keeps it, and adds missing indexes', async () => {
    const first = await startEngine('dynoxide', dataDir);
    await ensureTable(first.call, table('gsi1'));
    await clientOf(first.url).send(new PutItemCommand({ TableName: 'Root-Table', Item: Key }));
    await first.stop();

    const second = await start();
    await ensureTable(second.call, table('gsi1', 'gsi2', 'gsi3'));
    await ensureTable(second.call, table('gsi1', 'gsi2', 'gsi3'));
    const client = clientOf(second.url);
    const { Table } = await client.send(new DescribeTableCommand({ TableName: 'Root-Table' }));
    expect(
      Table?.GlobalSecondaryIndexes?.map(({ IndexName, Projection }) => [IndexName, Projection?.ProjectionType]),
    ).toEqual([
      ['gsi1', 'KEYS_ONLY'],
      ['gsi2', 'KEYS_ONLY'],
      ['gsi3', 'KEYS_ONLY'],
    ]);
    expect(Table?.StreamSpecification).toEqual({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
    expect((await client.send(new GetItemCommand({ TableName: 'Root-Table', Key }))).Item).toEqual(Key);

    const other = table();
    other.properties.KeySchema = [{ AttributeName: 'PK', KeyType: 'HASH' }];
    await expect(ensureTable(second.call, other)).rejects.toThrow('The table Root-Table has other keys');
  });

  test('creates vector indexes with the table, and keeps them', async () => {
    const first = await startEngine('dynoxide', dataDir);
    await ensureTable(first.call, searchable('one', 'two'));
    const vector = { L: [{ N: '1' }, { N: '0' }] };
    await clientOf(first.url).send(
      new PutItemCommand({ TableName: 'Root-Table', Item: { ...Key, of: { S: 'x' }, one: vector, two: vector } }),
    );
    await first.stop();

    const second = await start();
    await ensureTable(second.call, searchable('one', 'two'));
    for (const IndexName of ['by-one', 'by-two']) {
      const search = {
        TableName: 'Root-Table',
        IndexName,
        SearchVector: vector.L,
        TopK: 1,
        SearchConditionExpression: '#of = :of',
        ExpressionAttributeNames: { '#of': 'of' },
        ExpressionAttributeValues: { ':of': { S: 'x' } },
      };
      const { SearchResults } = await clientOf(second.url).send(new SearchVectorsCommand(search));
      expect(SearchResults?.map(({ Item }) => Item)).toMatchObject([Key]);
    }
  });

  test('creates a table without vector indexes and without their attributes', () => {
    const { properties } = withoutVectorIndexes(searchable('one', 'two'));
    expect(properties).toEqual(table().properties);
    expect(withoutVectorIndexes(table('gsi1'))).toEqual(table('gsi1'));
  });

  test('adds missing vector indexes one after the other', async () => {
    const definition = searchable('one', 'two', 'three');
    const calls: string[] = [];
    let busy = 0;
    const call = async (target: string, input: object) => {
      const operation = target.split('.')[1]!;
      const created = (input as { VectorIndexUpdates?: { Create: { IndexName: string } }[] }).VectorIndexUpdates?.[0]
        ?.Create.IndexName;
      if (created !== undefined) {
        expect(busy).toBe(0);
        calls.push(created);
        busy = 3;
      } else if (operation === 'DescribeTable' && busy > 0) busy -= 1;
      const status =
        busy > 1 ? { IndexStatus: 'CREATING' } : { IndexStatus: 'ACTIVE', ...(busy === 1 && { Backfilling: true }) };
      return {
        Table: {
          TableStatus: 'ACTIVE',
          KeySchema: definition.properties.KeySchema,
          VectorIndexes: ['by-one', ...calls].map((IndexName) => ({ IndexName, ...status })),
        },
      } as never;
    };
    await ensureTable(call, definition);
    expect(calls).toEqual(['by-two', 'by-three']);
  });

  test('reads a stream from the last position after a restart, and deletes processed records', async () => {
    const put = (url: string, id: string) =>
      clientOf(url).send(new PutItemCommand({ TableName: 'Root-Table', Item: { PK: { S: id }, SK: { S: 'x' } } }));
    const read = async (reader: StreamReader) =>
      (await reader.next()).map(({ record, position }) => [
        (record.dynamodb.Keys.PK as { S: string }).S,
        position.sequence,
      ]);

    const first = await startEngine('dynoxide', dataDir);
    await ensureTable(first.call, table());
    for (const id of ['a', 'b', 'c']) await put(first.url, id);
    const stream = await streamOf(first.call, 'Root-Table');
    const reader = new StreamReader(first.call, stream, undefined);
    expect(await read(reader)).toEqual([
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
    ]);
    expect(await read(reader)).toEqual([]);
    await put(first.url, 'd');
    expect(await read(reader)).toEqual([['d', '4']]);
    await first.stop();

    const second = await start();
    const [shard] = (await new StreamReader(second.call, stream, undefined).next()).map(
      ({ position }) => position.shard,
    );
    second.deleteStreamRecords('Another-Table', '4');
    expect(await read(new StreamReader(second.call, stream, undefined))).toHaveLength(4);
    second.deleteStreamRecords('Root-Table', '3');
    expect(await read(new StreamReader(second.call, stream, undefined))).toEqual([
      ['c', '3'],
      ['d', '4'],
    ]);
    await put(second.url, 'e');
    expect(await streamOf(second.call, 'Root-Table')).toBe(stream);
    expect(await read(new StreamReader(second.call, stream, { shard: shard!, sequence: '3' }))).toEqual([
      ['d', '4'],
      ['e', '5'],
    ]);
  });

  test('stores a position for each stream and event source', () => {
    const positions = () => new StreamPositions(openDatabase(dataDir));
    expect(positions().get('Source', 'stream')).toBeUndefined();
    positions().set('Source', 'stream', { shard: 's', sequence: '1' });
    positions().set('Source', 'stream', { shard: 's', sequence: '20' });
    expect(positions().get('Source', 'stream')).toEqual({ shard: 's', sequence: '20' });
    expect(positions().get('Other', 'stream')).toBeUndefined();
    expect(positions().get('Source', 'stream of a new table')).toBeUndefined();
  });

  test('refuses to read the stream of a table without one', async () => {
    const { call } = await start();
    const { StreamSpecification: _, ...properties } = table().properties;
    await ensureTable(call, { ...table(), properties });
    await expect(streamOf(call, 'Root-Table')).rejects.toThrow('The table Root-Table has no stream');
  });

  test('uses an index for each lookup of stream records', async () => {
    await start();
    const database = new DatabaseSync(join(dataDir, 'table.db'));
    // The engine stores the records of the stream in `_stream_records`.
    const plan = database
      .prepare(
        'EXPLAIN QUERY PLAN SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records WHERE table_name = ?1',
      )
      .all('t');
    expect(plan).toMatchObject([{ detail: expect.stringContaining('USING COVERING INDEX stream_sequence') }]);
    database.close();
  });

  test('ends an engine of an earlier run first, but no other program that uses the file', async () => {
    const file = join(dataDir, 'table.db');
    const { spawn: launch } = await prepareLaunch('dynoxide', dataDir);
    const output = openSync(join(dataDir, 'orphan.log'), 'w');
    const orphan = launch(await freeAddress(), [output, output]);
    closeSync(output);
    const ended = once(orphan, 'exit');
    // At first the process is a shell, which then becomes the engine.
    while ((await findProcesses('--db-path', file)).length === 0) await delay(1);
    expect((await findProcesses('--db-path', file)).map(({ pid }) => pid)).toEqual([orphan.pid]);
    const innocent = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 30_000)', file]);
    const next = await start();
    const engines = await findProcesses('--db-path', file);
    expect(engines).toHaveLength(1);
    expect(engines[0]!.pid).not.toBe(orphan.pid);
    await ended;
    expect(await findProcesses(file)).toHaveLength(2);
    await next.stop();
    innocent.kill();
    await once(innocent, 'exit');
    expect(await findProcesses(file)).toEqual([]);
  });

  test('stays stopped after kill until it is restarted, on the same port and data', async () => {
    const reports: string[] = [];
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => reports.push(String(text)) > 0);
    const engine = await start();
    await ensureTable(engine.call, table());
    await clientOf(engine.url).send(new PutItemCommand({ TableName: 'Root-Table', Item: Key }));
    const before = await pids();
    await engine.restart();
    expect(await pids()).toEqual(before);
    // Unlike crashes, kills by a test are not limited in number.
    for (let time = 0; time < 8; time++) {
      await engine.kill();
      await engine.kill();
      expect(await pids()).toEqual([]);
      await expect(engine.call('DynamoDB_20120810.ListTables', {})).rejects.toThrow('ECONNREFUSED');
      await engine.restart();
      expect((await clientOf(engine.url).send(new GetItemCommand({ TableName: 'Root-Table', Key }))).Item).toEqual(Key);
    }
    expect(reports).toEqual([]);
    // After a crash, the engine still restarts by itself.
    const [pid] = await pids();
    process.kill(pid!, 'SIGKILL');
    while (!(await pids()).some((other) => other !== pid)) await delay(5);
    expect(reports).toEqual([expect.stringContaining('ended unexpectedly')]);
    await engine.stop();
    expect(await pids()).toEqual([]);
  });

  test('stays stopped if it is killed during a restart', async () => {
    jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const engine = await start();
    const [pid] = await pids();
    process.kill(pid!, 'SIGKILL');
    while ((await pids()).includes(pid!)) await delay(1);
    await engine.kill();
    expect(await pids()).toEqual([]);
    await engine.restart();
    expect(await pids()).toHaveLength(1);
  });

  test('can be stopped after it was killed', async () => {
    const engine = await start();
    await engine.kill();
    await engine.stop();
    expect(await pids()).toEqual([]);
  });

  test('reports that it cannot read its data', async () => {
    await writeFile(join(dataDir, 'table.db'), 'this is no database, and long enough to be taken for one'.repeat(100));
    await expect(startEngine('dynoxide', dataDir)).rejects.toThrow(
      /^The table engine \(dynoxide\) did not start: it ended with \d+\.\n.*database/s,
    );
  });

  test('refuses the data of another engine', async () => {
    await (await startEngine('dynoxide', dataDir)).stop();
    await expect(startEngine('dynamodb-local', dataDir)).rejects.toThrow('was written with DYNAMODB_ENGINE=dynoxide');
  });
});

describe('spawnGuarded', () => {
  const SLEEP = 'setTimeout(() => undefined, 1e9)';
  /** Starts a parent process in its own process group. The parent starts the engine and other guarded processes. */
  async function startParent(): Promise<ChildProcess> {
    const source = (file: string) =>
      JSON.stringify(new URL(`../../../infra/local/table/${file}`, import.meta.url).href);
    const script = `
      import { startEngine } from ${source('engine.ts')};
      import { spawnGuarded } from ${source('guardedProcess.ts')};
      spawnGuarded([process.execPath, '-e', ${JSON.stringify(SLEEP)}, ${JSON.stringify(dataDir)}, 'two words', '*'], ['pipe', 'pipe']);
      await startEngine('dynoxide', ${JSON.stringify(dataDir)});
      console.log('started');
    `;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    return parent;
  }
  const started = () =>
    Promise.all([
      findProcesses('--db-path', join(dataDir, 'table.db')),
      findProcesses('-e', SLEEP, dataDir, 'two words', '*'),
    ]);

  test.each<[string, (parent: ChildProcess) => void]>([
    ['with its process group', ({ pid }) => process.kill(-pid!, 'SIGKILL')],
    ['alone', (parent) => parent.kill('SIGKILL')],
  ])('ends the command when its parent is killed %s, so that no table engine is left', async (_how, kill) => {
    const parent = await startParent();
    expect((await started()).map(({ length }) => length)).toEqual([1, 1]);
    const ended = once(parent, 'exit');
    kill(parent);
    await ended;
    while ((await started()).flat().length > 0) await delay(5);
  });

  test('forwards signals and reports how the command ended', async () => {
    const child = spawnGuarded([process.execPath, '-e', SLEEP, dataDir], ['pipe', 'pipe']);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([null, 'SIGTERM']);
    expect(await once(spawnGuarded([process.execPath, '-e', 'process.exit(3)'], ['pipe', 'pipe']), 'exit')).toEqual([
      3,
      null,
    ]);
  });
});

describe('openDataDir', () => {
  let umask: number;
  beforeEach(() => {
    umask = process.umask(0o022);
  });
  afterEach(() => void process.umask(umask));
  const modes = async (...paths: string[]) =>
    Promise.all(paths.map(async (path) => ((await stat(join(dataDir, path))).mode & 0o777).toString(8)));

  test('creates a directory for its owner only, with everything written there later by child processes too', async () => {
    const path = join(dataDir, 'new/deep');
    expect(await openDataDir(path)).toBe(path);
    await writeFile(join(path, 'file'), '');
    const engine = await startEngine('dynoxide', path);
    await engine.stop();
    openDatabase(path).close();
    expect(
      await modes('new/deep', 'new/deep/file', 'new/deep/table.db', 'new/deep/engine.log', 'new/deep/queues.db'),
    ).toEqual(['700', '600', '600', '600', '600']);
  });

  test('restricts the directory of an earlier run and its contents, without following links', async () => {
    const [data, elsewhere] = [join(dataDir, 'data'), join(dataDir, 'elsewhere')];
    await mkdir(join(data, 'outbox'), { recursive: true });
    for (const file of ['lock', 'table.db', 'functions.log', 'outbox/1.eml']) await writeFile(join(data, file), '');
    await writeFile(elsewhere, '');
    await symlink(elsewhere, join(data, 'link'));
    await openDataDir(data);
    expect(
      await modes('data', 'data/outbox', 'data/lock', 'data/table.db', 'data/functions.log', 'data/outbox/1.eml'),
    ).toEqual(['700', '700', '600', '600', '600', '600']);
    expect(await modes('elsewhere')).toEqual(['644']);
  });

  test('refuses an open directory with other files, and does not change it', async () => {
    const shared = join(dataDir, 'shared');
    await mkdir(shared);
    await writeFile(join(shared, 'index.html'), '');
    await expect(openDataDir(shared)).rejects.toThrow('holds files of something else');
    expect(await modes('shared', 'shared/index.html')).toEqual(['755', '644']);
  });

  test('says what to do if the directory cannot be created', async () => {
    await writeFile(join(dataDir, 'file'), '');
    await expect(openDataDir(join(dataDir, 'file/data'))).rejects.toThrow(
      /^.*file\/data cannot be created \(ENOTDIR\)\. Set DATA_DIR to a directory that you can write\.$/,
    );
  });
});

describe('openSecrets', () => {
  const model = (name: string, properties: Record<string, unknown>) => ({ name, arn: `arn:${name}`, properties });
  const key = model('key', {
    GenerateSecretString: {
      SecretStringTemplate: '{"current":"1"}',
      GenerateStringKey: '1',
      PasswordLength: 64,
      ExcludePunctuation: true,
    },
  });

  test('generates secrets once as the template describes, for the owner only', async () => {
    const [first] = await openSecrets(dataDir, [key]);
    expect(JSON.parse(first!.value)).toEqual({ current: '1', 1: expect.stringMatching(/^[a-zA-Z0-9]{64}$/) });
    expect((await stat(join(dataDir, 'secrets.json'))).mode & 0o777).toBe(0o600);

    const [again, plain, fixed] = await openSecrets(dataDir, [
      key,
      model('plain', {
        GenerateSecretString: {
          ExcludeCharacters: 'abc',
          ExcludeUppercase: true,
          ExcludeNumbers: true,
          ExcludePunctuation: true,
        },
      }),
      model('fixed', { SecretString: 'text' }),
    ]);
    expect(again).toEqual(first);
    expect(plain!.value).toMatch(/^[d-z]{32}$/);
    expect(fixed!.value).toBe('text');
  });
});

test('lockDataDir locks a directory until the lock is released', () => {
  const lock = lockDataDir(dataDir);
  expect(() => lockDataDir(dataDir)).toThrow(`Another run (process ${process.pid}) uses ${dataDir}.`);
  lock.release();
  lockDataDir(dataDir).release();
});

test('a log of functions above 50 MB is renamed', async () => {
  const file = join(dataDir, 'functions.log');
  for (const line of ['one\n', 'two\n']) {
    const log = openLogFile(dataDir, FUNCTION_LOG);
    log.write(line);
    await log.close();
  }
  expect(await readFile(file, 'utf8')).toBe('one\ntwo\n');
  await truncate(file, 51 * 1024 * 1024);
  const log = openLogFile(dataDir, FUNCTION_LOG);
  log.write('three\n');
  await log.close();
  expect(await readFile(file, 'utf8')).toBe('three\n');
  expect((await stat(`${file}.1`)).size).toBe(51 * 1024 * 1024);
});

test('a log of functions that cannot be written prints the reason once and drops the lines', async () => {
  const firstPrinted = Promise.withResolvers<unknown>();
  const printed = jest.spyOn(console, 'error').mockImplementation(firstPrinted.resolve);
  const log = openLogFile(join(dataDir, 'missing'), FUNCTION_LOG);
  log.write('one\n');
  await firstPrinted.promise;
  log.write('two\n');
  await log.close();
  expect(printed.mock.calls).toEqual([[expect.stringMatching(/functions\.log misses the lines from now on: ENOENT/)]]);
  printed.mockRestore();
});

describe('localSettings', () => {
  test('returns defaults, also for empty variables', () => {
    const defaults = {
      port: 3000,
      dataDir: join(process.cwd(), '.local'),
      allowedHosts: [],
      serviceName: 'svc',
      engine: 'dynoxide',
      logsToStdout: false,
      scheduleSeconds: undefined,
      functionThreads: undefined,
      environmentOverrides: {},
      hasHeartbeat: false,
      assemblyDir: undefined,
    };
    expect(localSettings({})).toEqual(defaults);
    const names = [
      'PORT',
      'DATA_DIR',
      'SERVICE_NAME',
      'ALLOWED_HOSTS',
      'DYNAMODB_ENGINE',
      'LOCAL_LOGS',
      'SCHEDULE_SECONDS',
    ];
    names.push('FUNCTION_THREADS', 'WEBHOOK_RETRY_SCHEDULE', 'HEARTBEAT', 'ASSEMBLY_DIR');
    expect(localSettings(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(defaults);
  });

  test('reads the environment', () => {
    const env = {
      PORT: '0',
      DATA_DIR: '/data',
      ALLOWED_HOSTS: 'api.test, tunnel.example:8080',
      SERVICE_NAME: 'acme',
      DYNAMODB_ENGINE: 'dynamodb-local',
      LOCAL_LOGS: 'stdout',
      SCHEDULE_SECONDS: '0.5',
      FUNCTION_THREADS: '200',
      DUE_MARGIN_SECONDS: '1',
      MAILS_PER_WRITER_PER_HOUR: '0',
      WEBHOOK_RETRY_SCHEDULE: '0,0.5,2',
      HEARTBEAT: 'on',
      ASSEMBLY_DIR: '/assembly',
    };
    expect(localSettings(env)).toEqual({
      port: 0,
      dataDir: '/data',
      allowedHosts: ['api.test', 'tunnel.example:8080'],
      serviceName: 'acme',
      engine: 'dynamodb-local',
      logsToStdout: true,
      scheduleSeconds: 0.5,
      functionThreads: 200,
      environmentOverrides: {
        DUE_MARGIN_SECONDS: '1',
        MAILS_PER_WRITER_PER_HOUR: '0',
        WEBHOOK_RETRY_SCHEDULE: '0,0.5,2',
      },
      hasHeartbeat: true,
      assemblyDir: '/assembly',
    });
  });

  test.each([
    ['PORT', 'http'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '4190'],
    ['PORT', '006000'],
    ['SERVICE_NAME', 'Acme Inc.'],
    ['ALLOWED_HOSTS', 'a b'],
    ['ALLOWED_HOSTS', 'http://api.test'],
    ['DYNAMODB_ENGINE', 'mysql'],
    ['LOCAL_LOGS', 'on'],
    ['SCHEDULE_SECONDS', '0'],
    ['SCHEDULE_SECONDS', 'often'],
    ['FUNCTION_THREADS', '0'],
    ['FUNCTION_THREADS', '1.5'],
    ['WEBHOOK_RETRY_SCHEDULE', '0,,5'],
    ['MAIL_RETRY_SCHEDULE', '1m'],
    ['MAILS_PER_RECIPIENT_PER_HOUR', '-1'],
    ['MAILS_PER_WRITER_PER_HOUR', '100001'],
    ['DUE_MARGIN_SECONDS', '1,2'],
    ['HEARTBEAT', 'yes'],
  ])('refuses %s=%s, and names the variable', (name, value) => {
    expect(() => localSettings({ [name]: value })).toThrow(new RegExp(`^${name} must be .*, but is "${value}"\\.$`));
  });

  test('refuses each port that fetch refuses to call, and lists them in one line', async () => {
    const refused = [...blockedPorts].filter((port) => port !== '0');
    const message = `PORT must be a port that browsers and Node's fetch do not refuse to call (they refuse ${refused.join(', ')}), but is`;
    for (const port of refused) {
      await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toMatchObject({ cause: { message: 'bad port' } });
      expect(() => localSettings({ PORT: port })).toThrow(`${message} "${port}".`);
    }
  });
});
