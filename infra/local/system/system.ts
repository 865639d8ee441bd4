import type { SystemModel } from '../assembly/model.ts';
import { slackStandIn } from '../chat/slack.ts';
import { lockDataDir, openDataDir } from '../dataDir.ts';
import { demoTokens } from '../demoTokens.ts';
import { type DemoCredentials, ensureDemoWorkspace } from '../demoWorkspace.ts';
import { sharedEnvironment } from '../functions/functionEnvironment.ts';
import { ACCESS_LOG, openLogFile } from '../functions/functionLog.ts';
import type { FunctionPool } from '../functions/functionPool.ts';
import { Principals } from '../iam/principals.ts';
import { Measurements } from '../metrics/measurements.ts';
import { MetricStore } from '../metrics/metricStore.ts';
import { checkReadiness } from '../readiness.ts';
import type { LocalSettings } from '../settings.ts';
import type { Shutdown } from '../shutdown.ts';
import { type EventSources, startEventSources } from '../streams/eventSources.ts';
import { environmentOverrides, openFunctions } from './functions.ts';
import { requestHandlers } from './requests.ts';
import { awsEnvironment, FINISH_MILLISECONDS, listen, type Servers } from './servers.ts';
import { stoppableParts } from './stoppableParts.ts';
import { openStores, storeHeartbeatCredentials, type Stores } from './stores.ts';
import { readTemplates } from './templates.ts';

export interface RunningSystem {
  readonly credentials: DemoCredentials;
  readonly dataDir: string;
  readonly functionCount: number;
  /** Resolves with the last reason and the output of the table engine if it crashes too often. */
  readonly engineCrashed: Promise<string>;
}

/**
 * Resolves after one write and one read have succeeded. A part adds its step to `shutdown` as soon as it has started,
 * so `shutdown` also ends a partial start. Steps run in reverse order.
 */
export async function startSystem(
  settings: LocalSettings,
  shutdown: Shutdown,
  report: (line: string) => void,
): Promise<RunningSystem> {
  const dataDir = await openDataDir(settings.dataDir);
  const lock = lockDataDir(dataDir);
  shutdown.add(() => lock.release());
  // The servers listen first, so that a port in use is reported at once. Values in the templates contain their
  // addresses.
  const servers = await listen(settings, shutdown);
  const { gateway, aws, eventApi } = servers;
  const { model, apiId } = await readTemplates(settings, servers, report);

  const metrics = new MetricStore();
  const measurements = new Measurements(metrics, apiId);
  let sources: EventSources | undefined = undefined;
  const stores = await openStores({
    dataDir,
    engineKind: settings.engine,
    model,
    measurements,
    onWrite: () => sources?.wakeStreams(),
    report,
    shutdown,
  });
  const principals = new Principals();
  aws.open({ ...stores, principals });
  // `aws` calls the engine and the queues, so it closes before them. The step of `listen` serves a start that fails
  // earlier.
  shutdown.add(() => aws.close());

  const accessLog = openLogFile(dataDir, ACCESS_LOG);
  shutdown.add(() => accessLog.close());
  const { functions } = model;
  const pool = openFunctions({ functions, settings, dataDir, servers, principals, measurements, shutdown });
  if (model.eventApi)
    eventApi.open({ model: model.eventApi, principals, invoke: (fn, payload) => pool.invoke(fn, payload) });
  const parts = stoppableParts(servers, stores, model.eventApi !== undefined);
  // Requests for user tokens wait for the demo workspace.
  const issueToken = Promise.withResolvers<ReturnType<typeof demoTokens>>();
  gateway.open(
    requestHandlers({
      settings,
      dataDir,
      model,
      metrics,
      measurements,
      accessLog,
      pool,
      parts,
      issueToken: async (user) => (await issueToken.promise)(user),
      slack: slackStandIn(dataDir),
    }),
  );
  // This step runs first at a shutdown, because running requests and batches need all other parts.
  shutdown.add(
    async () => void (await Promise.all([sources?.stop(FINISH_MILLISECONDS), gateway.close(FINISH_MILLISECONDS)])),
  );

  const credentials = await demoCredentials(settings, dataDir, model, servers, principals, report);
  issueToken.resolve(demoTokens(credentials));
  storeHeartbeatCredentials(functions, stores.secrets, credentials);
  await checkReadiness(credentials);
  // The event sources start last, so that unfinished work of an earlier run does not delay the start.
  sources = startSources(settings, model, stores, pool, measurements);
  return { credentials, dataDir, functionCount: functions.length, engineCrashed: stores.engine.crashed };
}

function demoCredentials(
  settings: LocalSettings,
  dataDir: string,
  { functions }: SystemModel,
  servers: Servers,
  principals: Principals,
  report: (line: string) => void,
): Promise<DemoCredentials> {
  return ensureDemoWorkspace({
    dataDir,
    baseUrl: servers.gateway.url,
    serviceName: settings.serviceName,
    operatorEnvironment: {
      ...sharedEnvironment(functions, environmentOverrides(settings)),
      ...awsEnvironment(servers, principals.addOperator()),
    },
    onCreation: () => report('Creating the demo workspace …'),
  });
}

function startSources(
  { scheduleSeconds }: LocalSettings,
  { queueSources, schedules }: SystemModel,
  { streams, queues, messages }: Stores,
  pool: FunctionPool,
  measurements: Measurements,
): EventSources {
  return startEventSources({
    queueSources,
    schedules: schedules.map((schedule) => ({ ...schedule, everySeconds: scheduleSeconds ?? schedule.everySeconds })),
    streams,
    queues,
    messages,
    measurements,
    invoke: (fn, payload) => pool.invokeExclusively(fn, payload),
    report: (line) => process.stderr.write(`${line}\n`),
  });
}
