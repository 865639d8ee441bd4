import type { FunctionModel } from '../assembly/functionModel.ts';
import { SLACK } from '../chat/slack.ts';
import { type EnvironmentOverrides, functionEnvironment } from '../functions/functionEnvironment.ts';
import { FUNCTION_LOG, openLogFile } from '../functions/functionLog.ts';
import { FunctionPool } from '../functions/functionPool.ts';
import type { Principals } from '../iam/principals.ts';
import type { Measurements } from '../metrics/measurements.ts';
import type { LocalSettings } from '../settings.ts';
import type { Shutdown } from '../shutdown.ts';
import { awsEnvironment, type Servers } from './servers.ts';

interface FunctionsOptions {
  readonly functions: readonly FunctionModel[];
  readonly settings: LocalSettings;
  readonly dataDir: string;
  readonly servers: Servers;
  readonly principals: Principals;
  readonly measurements: Measurements;
  readonly shutdown: Shutdown;
}

export function openFunctions(options: FunctionsOptions): FunctionPool {
  const { functions, settings, dataDir, servers, principals, measurements, shutdown } = options;
  const { aws } = servers;
  const accessKeys = new Map(functions.map((fn) => [fn, principals.addFunction(fn)]));
  const accessKeyOf = (fn: FunctionModel) => {
    const key = accessKeys.get(fn);
    if (!key) throw new Error(`The function ${fn.name} has no access key`);
    return key;
  };
  const overrides = { ...environmentOverrides(settings), SLACK_API_URL: `${servers.gateway.url}${SLACK}/api` };
  const log = openLogFile(dataDir, FUNCTION_LOG, settings.logsToStdout);
  shutdown.add(() => log.close());
  const pool = new FunctionPool({
    observer: { log, measurements },
    aws: {
      ports: aws.ports,
      call: (fn, call, isAborted) => aws.answerThread(principals.ofKey(accessKeyOf(fn)), call, isAborted),
    },
    environmentOf: (fn) => functionEnvironment(fn, overrides, awsEnvironment(servers, accessKeyOf(fn))),
    ...(settings.functionThreads !== undefined && { maxLive: settings.functionThreads }),
  });
  shutdown.add(() => pool.close());
  return pool;
}

export function environmentOverrides(settings: LocalSettings): EnvironmentOverrides {
  return { SERVICE_NAME: settings.serviceName, ...settings.environmentOverrides };
}
