import { cachedAssembly } from '../assembly/assemblyCache.ts';
import { loadAssembly } from '../assembly/cloudAssembly.ts';
import type { FunctionModel } from '../assembly/functionModel.ts';
import { modelOf, type TableModel } from '../assembly/model.ts';
import { AwsEndpoint } from '../awsEndpoint.ts';
import { localConsole } from '../console/localConsole.ts';
import { openDataDir } from '../dataDir.ts';
import { lockDataDir } from '../dataLock.ts';
import { demoTokens } from '../demoTokens.ts';
import { type DemoCredentials, ensureDemoWorkspace } from '../demoWorkspace.ts';
import { functionEnvironment, sharedEnvironment } from '../functions/functionEnvironment.ts';
import { ACCESS_LOG, FUNCTION_LOG, openLogFile } from '../functions/functionLog.ts';
import { FunctionPool } from '../functions/functionPool.ts';
import { accessLine } from '../gateway/accessLog.ts';
import { Gateway } from '../gateway/gateway.ts';
import { REGION } from '../iam/identity.ts';
import { type AccessKey, Principals } from '../iam/principals.ts';
import { EventApi } from '../live/eventApi.ts';
import { openOutbox } from '../mail/mailOutbox.ts';
import { dashboardSnapshot } from '../metrics/dashboardSnapshot.ts';
import { Measurements } from '../metrics/measurements.ts';
import { MetricStore } from '../metrics/metricStore.ts';
import { Parts } from '../parts.ts';
import { runSavedQuery } from '../queries/runSavedQuery.ts';
import { openDatabase } from '../queues/database.ts';
import { sampleQueues } from '../queues/queueSampler.ts';
import { QueueStore } from '../queues/queueStore.ts';
import { StoppableMessages } from '../queues/stoppableMessages.ts';
import { checkReadiness } from '../readiness.ts';
import { openSecrets, type Secret } from '../secrets/secrets.ts';
import type { LocalSettings } from '../settings.ts';
import type { Shutdown } from '../shutdown.ts';
import { type EventSources, startEventSources } from '../streams/eventSources.ts';
import { StreamPositions } from '../streams/streamPositions.ts';
import { openStreams } from '../streams/streams.ts';
import { type Engine, startEngine } from '../table/engine.ts';
import type { EngineKind } from '../table/engineLaunch.ts';
import { indexKeySizes } from '../table/requestFault.ts';
import { ensureTable, keyNames, withoutVectorIndexes } from '../table/table.ts';
import { TableCalls } from '../table/tableCalls.ts';

/**
 * How long a shutdown waits for running requests and batches. Process managers such as systemd or Docker usually wait
 * longer before they kill a process.
 */
const FINISH_MILLISECONDS = 8_000;

export interface RunningSystem {
  readonly credentials: DemoCredentials;
  readonly dataDir: string;
  readonly functionCount: number;
  /** Resolves with the last output of the table engine if the engine crashes too often. Otherwise never resolves. */
  readonly engineCrashed: Promise<string>;
}

/**
 * Starts the system that the templates describe. Resolves after one write and one read have succeeded. Each part adds
 * its shutdown step to `shutdown` as soon as it has started, so `shutdown` can also end a partial start.
 */
export async function startSystem(
  settings: LocalSettings,
  shutdown: Shutdown,
  report: (line: string) => void,
): Promise<RunningSystem> {
  const dataDir = await openDataDir(settings.dataDir);
  const lock = lockDataDir(dataDir);
  shutdown.add(() => lock.release());
  // The servers listen before the slow steps, so a port that is in use is reported at once. They also listen before the
  // templates are read, because values in the templates refer to the servers' addresses.
  const gateway = await Gateway.listen(settings.port, settings.allowedHosts);
  shutdown.add(() => gateway.close(FINISH_MILLISECONDS));
  const aws = await AwsEndpoint.listen();
  shutdown.add(() => aws.close());
  const eventApi = await EventApi.listen();
  shutdown.add(() => eventApi.end());

  const assemblyDir =
    settings.assemblyDir ?? (await cachedAssembly(() => report('Building templates and bundles …'), settings));
  const assembly = loadAssembly(assemblyDir, { api: gateway.url, aws: aws.url, live: eventApi.url });
  const model = modelOf(assembly, settings.serviceName);
  const metrics = new MetricStore();
  const measurements = new Measurements(
    metrics,
    assembly.resources.find(({ type }) => type === 'AWS::ApiGatewayV2::Api')?.ref ?? '',
  );

  const engine = await startEngine(settings.engine, dataDir);
  shutdown.add(() => engine.stop());
  await ensureTables(settings.engine, engine, model.tables, report);
  const database = openDatabase(dataDir);
  shutdown.add(() => database.close());
  const queues = new QueueStore(database, model.queues);
  shutdown.add(sampleQueues(queues, measurements));
  const messages = new StoppableMessages(queues);
  const streams = await openStreams(engine, model.streamSources, new StreamPositions(database));
  const secrets = await openSecrets(dataDir, model.secrets);

  const principals = new Principals();
  const outbox = await openOutbox(dataDir);
  let sources: EventSources | undefined = undefined;
  const table = new TableCalls({
    engine: engine.connections,
    keyNames: new Map(model.tables.map((tableModel) => [tableModel.name, keyNames(tableModel)])),
    indexKeySizes: new Map(model.tables.flatMap(({ properties }) => [...indexKeySizes(properties)])),
    measurements,
    onWrite: () => sources?.wakeStreams(),
  });
  aws.open({ table, secrets, outbox, queues, principals });
  // Shutdown steps run in reverse order. `aws` calls the engine and the queues, so this step closes `aws` before their
  // steps close them. The earlier step closes it if the start fails before this line.
  shutdown.add(() => aws.close());
  const environmentOverrides = { SERVICE_NAME: settings.serviceName, ...settings.environmentOverrides };
  const accessKeys = new Map(model.functions.map((fn) => [fn, principals.addFunction(fn)]));
  const accessKeyOf = (fn: FunctionModel) => {
    const key = accessKeys.get(fn);
    if (!key) throw new Error(`The function ${fn.name} has no access key`);
    return key;
  };

  const log = openLogFile(dataDir, FUNCTION_LOG, settings.logsToStdout);
  shutdown.add(() => log.close());
  const accessLog = openLogFile(dataDir, ACCESS_LOG);
  shutdown.add(() => accessLog.close());
  const pool = new FunctionPool({
    observer: { log, measurements },
    aws: {
      ports: aws.ports,
      call: (fn, call, isAborted) => aws.answerThread(principals.ofKey(accessKeyOf(fn)), call, isAborted),
    },
    environmentOf: (fn) =>
      functionEnvironment(fn, environmentOverrides, awsEnvironment(aws, eventApi, accessKeyOf(fn))),
    ...(settings.functionThreads !== undefined && { maxLive: settings.functionThreads }),
  });
  shutdown.add(() => pool.close());
  if (model.eventApi)
    eventApi.open({ model: model.eventApi, principals, invoke: (fn, payload) => pool.invoke(fn, payload) });
  const parts = toStoppableParts(engine, aws, messages, model.eventApi && eventApi);
  // The console opens before the demo workspace exists. Requests for its user tokens wait for the workspace.
  const issueToken = Promise.withResolvers<ReturnType<typeof demoTokens>>();
  gateway.open({
    routes: model.routes,
    invoke: (fn, payload) => pool.invoke(fn, payload),
    local: localConsole({
      snapshotOf: (minutes) => dashboardSnapshot(model.monitoring, metrics, { now: Date.now(), minutes }),
      parts,
      queries: {
        saved: model.savedQueries,
        run: (query, values, since) => runSavedQuery(dataDir, query, values, since),
      },
      title: `${settings.serviceName} on this machine`,
      dataDir,
      issueToken: (user) => issueToken.promise.then((issue) => issue(user)),
    }),
    measure: (status, milliseconds) => measurements.recordRequest(status, milliseconds),
    logAccess: (context) => accessLog.write(accessLine(model.accessLog, context)),
  });
  // This step runs first at a shutdown, because running requests and batches need all other parts.
  shutdown.add(
    async () => void (await Promise.all([sources?.stop(FINISH_MILLISECONDS), gateway.close(FINISH_MILLISECONDS)])),
  );

  const credentials = await ensureDemoWorkspace({
    dataDir,
    baseUrl: gateway.url,
    serviceName: settings.serviceName,
    operatorEnvironment: {
      ...sharedEnvironment(model.functions, environmentOverrides),
      ...awsEnvironment(aws, eventApi, principals.addOperator()),
    },
    onCreation: () => report('Creating the demo workspace …'),
  });
  issueToken.resolve(demoTokens(credentials));
  storeHeartbeatCredentials(model.functions, secrets, credentials);
  await checkReadiness(credentials);
  // The event sources start last, so unfinished work of an earlier run does not delay the start.
  sources = startEventSources({
    queueSources: model.queueSources,
    schedules: model.schedules.map((schedule) => ({
      ...schedule,
      everySeconds: settings.scheduleSeconds ?? schedule.everySeconds,
    })),
    streams,
    queues,
    messages,
    measurements,
    invoke: (fn, payload) => pool.invokeExclusively(fn, payload),
    report: (line) => process.stderr.write(`${line}\n`),
  });
  return { credentials, dataDir, functionCount: model.functions.length, engineCrashed: engine.crashed };
}

/** Creates the tables of the templates, or adds missing indexes to them. Reports if the engine has no vector indexes. */
async function ensureTables(
  kind: EngineKind,
  { call }: Engine,
  tables: readonly TableModel[],
  report: (line: string) => void,
): Promise<void> {
  const hasVectorIndexes = kind === 'dynoxide';
  if (!hasVectorIndexes)
    report(
      'DynamoDB Local has no vector indexes, so the table has none. A call of /v2/memory/search with a query answers UNAVAILABLE.',
    );
  for (const table of tables) await ensureTable(call, hasVectorIndexes ? table : withoutVectorIndexes(table));
}

/** Returns the variables with which the SDK calls the servers of this run, instead of AWS, with an access key. */
function awsEnvironment(aws: AwsEndpoint, eventApi: EventApi, key: AccessKey): Record<string, string> {
  return {
    ...key,
    AWS_REGION: REGION,
    AWS_ENDPOINT_URL_APPSYNC: eventApi.url,
    AWS_ENDPOINT_URL_DYNAMODB: aws.url,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url,
    AWS_ENDPOINT_URL_SESV2: aws.mail.url,
    AWS_ENDPOINT_URL_SQS: aws.queues.url,
  };
}

function toStoppableParts(
  engine: Engine,
  aws: AwsEndpoint,
  messages: StoppableMessages,
  eventApi: EventApi | undefined,
): Parts {
  return new Parts({
    table: {
      meaning: 'The table. Stopping kills its engine: every call answers UNAVAILABLE. Webhooks, mails and jobs wait.',
      stop: () => engine.kill(),
      start: () => engine.restart(),
    },
    queues: {
      meaning:
        'The queues. While they are stopped, no message is sent or received. Calls succeed. Webhooks, mails and jobs wait.',
      stop() {
        messages.stop();
        return aws.queues.close();
      },
      async start() {
        await aws.queues.open();
        messages.start();
      },
    },
    mail: {
      meaning:
        'The mail provider. While it is stopped, it refuses connections. Mails wait and are sent later. A call for a login link answers UNAVAILABLE.',
      stop: () => aws.mail.close(),
      start: () => aws.mail.open(),
    },
    ...(eventApi && {
      live: {
        meaning:
          'The push service. Stopping ends the connections of all browsers. Calls succeed. Clients connect again after the start and read the changes that they missed.',
        stop: () => eventApi.close(),
        start: () => eventApi.reopen(),
      },
    }),
  });
}

/**
 * Stores the credentials of the demo workspace in the heartbeat's secret, as an operator would. Does nothing if the run
 * has no heartbeat.
 */
function storeHeartbeatCredentials(
  functions: readonly FunctionModel[],
  secrets: readonly Secret[],
  { apiKey, authToken }: Pick<DemoCredentials, 'apiKey' | 'authToken'>,
): void {
  const arns = new Set(functions.map(({ environment }) => environment.HEARTBEAT_SECRET_ARN));
  for (const secret of secrets) if (arns.has(secret.arn)) secret.value = JSON.stringify({ apiKey, authToken });
}
