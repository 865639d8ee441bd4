import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynoxideCommand, findDynoxide } from '../../infra/local/table/dynoxide.ts';
import { freeAddress } from '../../infra/local/table/engineAddress.ts';
import { spawnGuarded } from '../../infra/local/table/guardedProcess.ts';
import { indexNames } from '../../lib/app/capability.ts';
import { clientSettings } from '../../lib/app/sdkSettings.ts';
import { vectorIndexes, vectorKeys } from '../../lib/memory/vectorIndexes.ts';
import { documentClients } from '../../lib/table/documentClient.ts';
import { defaultRetryContext } from '../../lib/table/retryOnConflict.ts';
import { ComparedTable } from './comparedTable.ts';
import { asDocumentClient, LeanClient, openTablesLean, openTablesWithSdk, type TableClient } from './leanClient.ts';
import { MemoryTable } from './memoryTable.ts';
import { expectNoRefusals } from './permissions.ts';
import { type Receiver, startHttp } from './receivers.ts';

export const TABLE_NAME = 'table';
/** The text of every secret. */
export const SECRET = JSON.stringify({ current: '1', 1: 'k'.repeat(64) });
export const MASTER_KEY_SECRET_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:master';
export const SIGNING_KEY_SECRET_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:signing';
const PERMISSION_KEY_SECRET_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:permission';
const LIVE_KEY_SECRET_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:live';

/** The environment variables of all functions under test. */
export const functionVariables = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  // No server listens on this port. A test that needs messages calls `startQueues` (queues.ts).
  AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:9',
  AWS_ENDPOINT_URL_BEDROCK_RUNTIME: 'http://127.0.0.1:9',
  CALL_BURST_SECONDS: '10',
  CLAUDE_MODEL_ID: '',
  DELIVER_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/000000000000/deliver',
  DELIVER_SLOW_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/000000000000/deliverSlow',
  DUE_MARGIN_SECONDS: '300',
  EMAIL_STATUS_PER_MINUTE_PER_ADDRESS: '1000',
  EMAIL_STATUS_PER_MINUTE_PER_EMAIL: '1000',
  // Limits that calls of tests do not reach. Tests of limits set their own values.
  EXPENSIVE_CALLS_PER_SECOND_PER_KEY: '1000000',
  READS_PER_SECOND_PER_KEY: '1000000',
  WRITES_PER_SECOND_PER_KEY: '1000000',
  SLACK_API_URL: 'https://slack.com/api',
  MAILS_PER_RECIPIENT_PER_HOUR: '100000',
  MAILS_PER_WRITER_PER_HOUR: '100000',
  JOBS_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/000000000000/jobs',
  LIVE_HTTP_HOST: 'live.test',
  LIVE_REALTIME_HOST: 'realtime.live.test',
  LOGIN_LINKS_PER_HOUR_PER_EMAIL: '1000',
  MAIL_FROM: 'no-reply@example.com',
  MAIL_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/000000000000/mail',
  MAIL_RETRY_SCHEDULE: '0,60,300,1800,7200,21600',
  EMBEDDING_MODEL: 'lexical',
  HEARTBEAT_SECRET_ARN: 'arn:aws:secretsmanager:us-east-1:000000000000:secret:heartbeat',
  EMBED_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/000000000000/embed',
  SWEEP_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/000000000000/sweep',
  NOVA_MODEL_ID: '',
  PUBLIC_URL: 'https://api.test',
  RECONCILE_AFTER_SECONDS: '180',
  SERVICE_NAME: 'svc',
  STRICT_OUTPUT: 'true',
  TABLE_NAME,
  MASTER_KEY_SECRET_ARN,
  SIGNING_KEY_SECRET_ARN,
  PERMISSION_KEY_SECRET_ARN,
  LIVE_KEY_SECRET_ARN,
  UNVERIFIED_GRACE_DAYS: '14',
  WEBHOOK_RETRY_SCHEDULE: '0,5,300,1800,7200,18000,36000,36000',
  WORKSPACE_CREATION: 'open',
  WORKSPACE_CREATION_PER_MINUTE: '1000',
  POWERTOOLS_LOG_LEVEL: 'SILENT',
  POWERTOOLS_METRICS_DISABLED: 'true',
};

/** A mail that the fake SES received. */
interface SentMail {
  readonly from: string;
  readonly to: string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers: Record<string, string>;
}

export interface Engine {
  /** A client of the engine, with which tests read items. Its calls fail if the table is in memory. */
  readonly client: DynamoDBClient;
  /** A faster client without the SDK, with which tests read many items. */
  readonly lean: TableClient;
  /** The received mails, oldest first. */
  readonly mails: SentMail[];
  /** Replaces the table with an empty one. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** Whether functions use the SDK's client, as in a deployment, instead of the lean client. */
  readonly sdk?: boolean;
  /**
   * Where the table is, if not only on the engine. `memory`: only in memory, for tests with about a thousand calls or
   * more. `both`: on the engine and in memory, and the test fails if their answers differ. With the
   * environment variable `COMPARE_TABLES`, `memory` means `both`.
   */
  readonly table?: 'memory' | 'both';
}

/**
 * Starts an engine in memory with the table, and fakes of Secrets Manager and SES. The SDK of this process then uses
 * them.
 */
export async function startEngine({ sdk = false, table: wanted }: EngineOptions = {}): Promise<Engine> {
  const table = wanted === 'memory' && process.env.COMPARE_TABLES ? 'both' : wanted;
  if (sdk) openTablesWithSdk();
  else openTablesLean();
  // On a busy machine, conflicts may last longer than the time limit of retries. Tests of the limit use `virtualTime`.
  defaultRetryContext.clock = () => 0;
  // With these time-outs, calls do not fail on a busy machine.
  Object.assign(clientSettings.requestHandler, {
    connectionTimeout: CALL_MILLISECONDS,
    requestTimeout: CALL_MILLISECONDS,
  });
  const engine = await openEngine(table);
  const secrets = await startSecrets();
  const mails: SentMail[] = [];
  const ses = await startSes(mails);
  Object.assign(process.env, functionVariables, {
    ...engine.environment,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
    AWS_ENDPOINT_URL_SESV2: ses.url,
  });
  const client = new DynamoDBClient({});
  const memory = table && new MemoryTable();
  const compared = table === 'both' ? new ComparedTable(memory!) : undefined;
  const lean = compared ?? (memory ? inLaterTurns(memory) : new LeanClient());
  if (memory) documentClients.open = () => asDocumentClient(lean);
  const create = () => createTable(client, engine.hasVectorIndexes);
  if (table !== 'memory') await create();
  return {
    client,
    lean,
    mails,
    async clear() {
      memory?.clear();
      if (table === 'memory') return;
      await client.send(new DeleteTableCommand({ TableName: TABLE_NAME }));
      await create();
    },
    async stop() {
      client.destroy();
      lean.destroy();
      await Promise.all([secrets.stop(), ses.stop(), engine.stop()]);
      compared?.expectNoDifferences();
      expectNoRefusals();
    },
  };
}

/** Returns a client whose calls take at least one turn of the event loop, as calls over a network do. */
function inLaterTurns(table: TableClient): TableClient {
  return {
    async send(command) {
      await nextTurn();
      return table.send(command);
    },
    destroy: () => table.destroy(),
  };
}

async function createTable(client: DynamoDBClient, hasVectorIndexes: boolean): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: TABLE_NAME,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        'PK',
        'SK',
        ...indexNames.flatMap((name) => [`${name}pk`, `${name}sk`]),
        ...(hasVectorIndexes ? vectorKeys : []),
      ].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
      KeySchema: [
        { AttributeName: 'PK', KeyType: 'HASH' },
        { AttributeName: 'SK', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: indexNames.map((IndexName) => ({
        IndexName,
        KeySchema: [
          { AttributeName: `${IndexName}pk`, KeyType: 'HASH' as const },
          { AttributeName: `${IndexName}sk`, KeyType: 'RANGE' as const },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' as const },
      })),
      ...(hasVectorIndexes && { VectorIndexes: vectorIndexes }),
    }),
  );
}

/** Starts a fake Secrets Manager that returns the same key for every secret. */
function startSecrets(): Promise<Receiver> {
  return startHttp((_request, response) => {
    response
      .writeHead(200, { 'content-type': 'application/x-amz-json-1.1' })
      .end(JSON.stringify({ SecretString: SECRET }));
  });
}

/** Starts a fake SES that appends the mails to `mails`. */
function startSes(mails: SentMail[]): Promise<Receiver> {
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const { FromEmailAddress: from, Destination, Content } = (await json(request)) as any;
    const { Subject, Body, Headers } = Content.Simple;
    const headers = Object.fromEntries(
      Headers.map(({ Name, Value }: { Name: string; Value: string }) => [Name, Value]),
    );
    mails.push({
      from,
      to: Destination.ToAddresses,
      subject: Subject.Data,
      text: Body.Text.Data,
      html: Body.Html.Data,
      headers,
    });
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ MessageId: `mail-${mails.length}` }));
  };
  return startHttp((request, response) => void respond(request, response));
}

/** The time-out of an AWS call. */
const CALL_MILLISECONDS = 240_000;

const TRIES = 20;

interface LaunchedEngine {
  /** The environment variables that the SDK needs to call the engine. */
  readonly environment: Readonly<Record<string, string>>;
  readonly hasVectorIndexes: boolean;
  stop(): Promise<void>;
}

let databases = 0;

/**
 * Creates a database in the DynamoDB Local of `npm run test:engine`. It has one database per access key, and no vector
 * indexes.
 */
function sharedEngine(url: string): LaunchedEngine {
  databases += 1;
  const key = `test${process.pid}x${databases}x${Date.now()}`;
  return {
    environment: { AWS_ENDPOINT_URL_DYNAMODB: url, AWS_ACCESS_KEY_ID: key },
    hasVectorIndexes: false,
    stop: () => Promise.resolve(),
  };
}

function openEngine(table: EngineOptions['table']): LaunchedEngine | Promise<LaunchedEngine> {
  if (table === 'memory') return noEngine;
  const { DYNAMODB_LOCAL_URL } = process.env;
  return DYNAMODB_LOCAL_URL ? sharedEngine(DYNAMODB_LOCAL_URL) : launchEngine();
}

const noEngine: LaunchedEngine = {
  // No server listens on this port.
  environment: { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' },
  hasVectorIndexes: false,
  stop: () => Promise.resolve(),
};

/** Starts an engine at a free address. Another process may take the address first, so several are tried. */
async function launchEngine(): Promise<LaunchedEngine> {
  const program = findDynoxide();
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const address = await freeAddress();
    const engine = spawnGuarded(dynoxideCommand(program, address), ['pipe', 'pipe']);
    const output = [engine.stdout!, engine.stderr!];
    const listens = new Promise<boolean>((resolve) => {
      for (const stream of output) stream.on('data', (chunk: Buffer) => chunk.includes('listening') && resolve(true));
      engine.once('exit', () => resolve(false));
    });
    if (!(await listens)) continue;
    return {
      environment: { AWS_ENDPOINT_URL_DYNAMODB: address.url },
      hasVectorIndexes: true,
      async stop() {
        const ended = once(engine, 'exit');
        engine.kill('SIGKILL');
        await ended;
      },
    };
  }
  throw new Error('The engine did not start');
}
