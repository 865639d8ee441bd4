import { mkdir, realpath } from 'node:fs/promises';
import { cachedAssembly } from './assemblyCache.ts';
import { startAwsEndpoint } from './awsEndpoint.ts';
import { loadAssembly } from './cloudAssembly.ts';
import { lockDataDir } from './dataLock.ts';
import { type DemoCredentials, ensureDemoWorkspace } from './demo.ts';
import { startEngine } from './engine.ts';
import { functionEnvironment, sharedEnvironment } from './functionEnvironment.ts';
import { openFunctionLog } from './functionLog.ts';
import { FunctionPool } from './functionPool.ts';
import { Gateway } from './gateway.ts';
import { REGION } from './identity.ts';
import { modelOf } from './model.ts';
import { openOutbox } from './outbox.ts';
import { type AccessKey, Principals } from './principals.ts';
import { checkReadiness } from './readiness.ts';
import { openSecrets } from './secrets.ts';
import type { LocalSettings } from './settings.ts';
import type { Shutdown } from './shutdown.ts';
import { ensureTable } from './table.ts';

/** How long requests under way get to finish when the system stops: less than most supervisors wait before they kill. */
const FINISH_MILLISECONDS = 8_000;

export interface Running {
  readonly credentials: DemoCredentials;
  readonly dataDir: string;
  readonly functions: number;
  /** Resolves if the table engine ends by itself, with what it said last. */
  readonly engineCrashed: Promise<string>;
}

/**
 * Starts the system that the templates describe and resolves when it is ready: one read and one write went all the way.
 * What has to be undone is put on `shutdown` as soon as it is done, so that it can be undone half-way too.
 */
export async function startSystem(settings: LocalSettings, shutdown: Shutdown, report: (line: string) => void): Promise<Running> {
  await mkdir(settings.dataDir, { recursive: true, mode: 0o700 });
  // The engine's process is found again by this path: it must be spelled the same at every start.
  const dataDir = await realpath(settings.dataDir);
  const lock = lockDataDir(dataDir);
  shutdown.add(() => lock.release());
  // Before the slow steps, so that a taken port is told at once.
  const gateway = await Gateway.listen(settings.port);
  shutdown.add(() => gateway.close(FINISH_MILLISECONDS));

  const assemblyDir = settings.assemblyDir ?? (await cachedAssembly(() => report('Building templates and bundles …')));
  const model = modelOf(loadAssembly(assemblyDir, gateway.url));

  const engine = await startEngine(settings.engine, dataDir);
  shutdown.add(() => engine.stop());
  for (const table of model.tables) await ensureTable(engine.port, table);
  const secrets = await openSecrets(dataDir, model.secrets);

  const principals = new Principals();
  const outbox = await openOutbox(dataDir);
  const aws = await startAwsEndpoint({ enginePort: engine.port, secrets, outbox, principals });
  shutdown.add(() => aws.close());
  const awsEnvironment = (key: AccessKey) => ({
    ...key, AWS_REGION: REGION, AWS_ENDPOINT_URL_DYNAMODB: aws.url, AWS_ENDPOINT_URL_SECRETS_MANAGER: aws.url, AWS_ENDPOINT_URL_SESV2: aws.url,
  });
  const keys = new Map(model.functions.map((each) => [each, principals.addFunction(each)]));

  const log = openFunctionLog(dataDir, settings.logsToStdout);
  shutdown.add(() => log.close());
  const pool = new FunctionPool({ log, environmentOf: (each) => functionEnvironment(each, settings.serviceName, awsEnvironment(keys.get(each)!)) });
  shutdown.add(() => pool.close());
  gateway.open(model.routes, (each, payload) => pool.invoke(each, payload));
  // Once more, to be undone first: the requests under way need everything that was started since.
  shutdown.add(() => gateway.close(FINISH_MILLISECONDS));

  const credentials = await ensureDemoWorkspace({
    dataDir,
    baseUrl: gateway.url,
    serviceName: settings.serviceName,
    operatorEnvironment: { ...sharedEnvironment(model.functions, settings.serviceName), ...awsEnvironment(principals.addOperator()) },
    onCreation: () => report('Creating the demo workspace …'),
  });
  await checkReadiness(credentials);
  return { credentials, dataDir, functions: model.functions.length, engineCrashed: engine.crashed };
}
