import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pascal } from '../../infra/constructs/names.ts';
import { cachedAssembly } from '../../infra/local/assembly/assemblyCache.ts';
import { loadAssembly } from '../../infra/local/assembly/cloudAssembly.ts';
import type { FunctionModel } from '../../infra/local/assembly/functionModel.ts';
import { modelOf, type SystemModel } from '../../infra/local/assembly/model.ts';
import { AwsEndpoint } from '../../infra/local/awsEndpoint.ts';
import { Gateway } from '../../infra/local/gateway/gateway.ts';
import { errorAnswer } from '../../infra/local/iam/awsService.ts';
import { Principals } from '../../infra/local/iam/principals.ts';
import { EventApi } from '../../infra/local/live/eventApi.ts';
import { openOutbox } from '../../infra/local/mail/mailOutbox.ts';
import { Measurements } from '../../infra/local/metrics/measurements.ts';
import { MetricStore } from '../../infra/local/metrics/metricStore.ts';
import { openDatabase } from '../../infra/local/queues/database.ts';
import { QueueStore } from '../../infra/local/queues/queueStore.ts';
import { openSecrets, type Secret } from '../../infra/local/secrets.ts';
import { Shutdown } from '../../infra/local/shutdown.ts';
import { StreamPositions } from '../../infra/local/streams/streamPositions.ts';
import { type OpenStream, openStreams } from '../../infra/local/streams/streams.ts';
import { startEngine } from '../../infra/local/table/engine.ts';
import { indexKeySizes } from '../../infra/local/table/requestFault.ts';
import { ensureTable, keyNames } from '../../infra/local/table/table.ts';
import { TableCalls } from '../../infra/local/table/tableCalls.ts';
import { LambdaProcess } from '../support/lambdaProcess.ts';

const READS = ['BatchGetItem', 'GetItem', 'Query', 'TransactGetItems'];

/** Processes that stay for further calls. Each has about 60 MB. */
const MAX_PROCESSES = 8;

/** What the first calls of a function took, in milliseconds. */
export interface StartTimes {
  readonly name: string;
  readonly init: number;
  readonly firstCall: number;
}

/** The functions of the templates in processes of AWS's runtime client, and the AWS services of the local run. */
export interface LambdaSystem {
  readonly model: SystemModel;
  readonly secrets: readonly Secret[];
  readonly queues: QueueStore;
  readonly streams: readonly OpenStream[];
  /** The folder of the mails that were sent. */
  readonly outboxDir: string;
  /** The start of each process. */
  readonly startTimes: readonly StartTimes[];
  /** While it is true, the table answers no call. */
  isTableHanging: boolean;
  /** The table refuses the writes for whose request text this returns true. */
  refusesWrite: (request: string) => boolean;
  functionOfRoute(routeKey: string): FunctionModel;
  functionOfWorker(name: string): FunctionModel;
  /** Calls a function, in a process that runs already or in a new one. */
  invoke(model: FunctionModel, event: unknown, timeoutMilliseconds?: number): Promise<any>;
  /** Returns what the running process of a function has printed. */
  logOf(model: FunctionModel): Promise<string>;
  stop(): Promise<void>;
}

export async function startLambdaSystem(): Promise<LambdaSystem> {
  const client = process.env.LAMBDA_RUNTIME_CLIENT!;
  const shutdown = new Shutdown();
  const dataDir = await mkdtemp(join(tmpdir(), 'lambda-'));
  shutdown.add(() => rm(dataDir, { recursive: true, force: true }));
  const gateway = await Gateway.listen(0, []);
  shutdown.add(() => gateway.close(0));
  const aws = await AwsEndpoint.listen();
  shutdown.add(() => aws.close());
  const eventApi = await EventApi.listen();
  shutdown.add(() => eventApi.end());
  const assemblyDir = await cachedAssembly(() => undefined, { hasHeartbeat: true });
  const assembly = loadAssembly(assemblyDir, { api: gateway.url, aws: aws.url, live: eventApi.url });
  const model = modelOf(assembly);

  const engine = await startEngine('dynoxide', dataDir);
  shutdown.add(() => engine.stop());
  for (const table of model.tables) await ensureTable(engine.call, table);
  const database = openDatabase(dataDir);
  shutdown.add(() => database.close());
  const queues = new QueueStore(database, model.queues);
  const streams = await openStreams(engine, model.streamSources, new StreamPositions(database));
  const secrets = await openSecrets(dataDir, model.secrets);
  const principals = new Principals();
  const tableCalls = new TableCalls({
    engine: engine.connections,
    keyNames: new Map(model.tables.map((table) => [table.name, keyNames(table)])),
    indexKeySizes: new Map(model.tables.flatMap(({ properties }) => [...indexKeySizes(properties)])),
    measurements: new Measurements(new MetricStore(), ''),
    onWrite: () => undefined,
  });
  const table = {
    async answer(call: Parameters<TableCalls['answer']>[0]) {
      if (system.isTableHanging) await new Promise<never>(() => undefined);
      const isRefused = !READS.includes(call.operation) && system.refusesWrite(call.body);
      return isRefused
        ? errorAnswer(400, 'ValidationException', 'The test refuses this write')
        : tableCalls.answer(call);
    },
  };
  aws.open({ table, secrets, outbox: await openOutbox(dataDir), queues, principals });

  const endpoints = {
    AWS_ENDPOINT_URL_APPSYNC: eventApi.url,
    AWS_ENDPOINT_URL_DYNAMODB: aws.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url,
    AWS_ENDPOINT_URL_SESV2: aws.mail.url,
    AWS_ENDPOINT_URL_SQS: aws.queues.url,
    // The receivers of webhooks are on this machine.
    ALLOW_LOOPBACK_DELIVERY: 'true',
  };
  const processes = new Map<FunctionModel, Promise<LambdaProcess>>();
  shutdown.add(async () => void (await Promise.all([...processes.values()].map(async (one) => (await one).stop()))));
  const startTimes: StartTimes[] = [];

  const stopProcess = async (fn: FunctionModel) => {
    const started = processes.get(fn);
    processes.delete(fn);
    await (await started)?.stop();
  };
  const processOf = async (fn: FunctionModel): Promise<LambdaProcess> => {
    const running = processes.get(fn);
    if (running) {
      // The process that was used last is the last one.
      processes.delete(fn);
      processes.set(fn, running);
      return running;
    }
    const started = LambdaProcess.start({
      client,
      model: fn,
      variables: { ...endpoints, ...principals.addFunction(fn) },
    });
    processes.set(fn, started);
    // A function that cannot be loaded has no process.
    started.catch(() => processes.delete(fn));
    const [oldest] = processes.keys();
    if (oldest && processes.size > MAX_PROCESSES) await stopProcess(oldest);
    return started;
  };
  const invoke = async (fn: FunctionModel, event: unknown, timeoutMilliseconds?: number): Promise<unknown> => {
    const isFirst = !processes.has(fn);
    const running = await processOf(fn);
    const begin = performance.now();
    try {
      return await running.invoke(event, timeoutMilliseconds);
    } finally {
      if (running.hasEnded) await stopProcess(fn);
      const firstCall = performance.now() - begin;
      if (isFirst) startTimes.push({ name: fn.name, init: running.initMilliseconds, firstCall });
    }
  };
  const invokeText = async (fn: FunctionModel, payload: string) =>
    JSON.stringify(await invoke(fn, JSON.parse(payload)));
  eventApi.open({ model: model.eventApi!, principals, invoke: invokeText });
  gateway.open({
    routes: model.routes,
    invoke: invokeText,
    local: () => Promise.reject(new Error('There are no local pages')),
    measure: () => undefined,
    logAccess: () => undefined,
  });

  const routes = new Map(model.routes.map(({ key, function: fn }) => [key, fn]));
  const system: LambdaSystem = {
    model,
    secrets,
    queues,
    streams,
    outboxDir: join(dataDir, 'outbox'),
    startTimes,
    isTableHanging: false,
    refusesWrite: () => false,
    functionOfRoute: (routeKey) => {
      const fn = routes.get(routeKey);
      if (!fn) throw new Error(`There is no route ${routeKey}`);
      return fn;
    },
    functionOfWorker: (worker) => {
      const fn = model.functions.find(({ name }) => name.endsWith(`-${pascal(worker)}`));
      if (!fn) throw new Error(`There is no worker ${worker}`);
      return fn;
    },
    invoke,
    logOf: async (fn) => (await processes.get(fn))?.log ?? '',
    stop: () => shutdown.run(),
  };
  return system;
}
