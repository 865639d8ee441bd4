import { resolve } from 'node:path';
import { type EnvironmentOverrides, localVariables } from './functions/functionEnvironment.ts';
import { StartError } from './startError.ts';

export type EngineKind = 'dynoxide' | 'dynamodb-local';

export interface LocalSettings {
  /** The port of the API. With 0, the run uses any free port. */
  readonly port: number;
  readonly dataDir: string;
  /** The Host headers that the API accepts besides the names of this machine. */
  readonly allowedHosts: readonly string[];
  readonly serviceName: string;
  readonly engine: EngineKind;
  /** If true, the functions' logs go to standard output too. */
  readonly logsToStdout: boolean;
  /** The seconds between two runs of a schedule. If undefined, the template sets the rate. */
  readonly scheduleSeconds: number | undefined;
  /** The largest number of threads of all functions. If undefined, the function pool sets it. */
  readonly functionThreads: number | undefined;
  /** The environment variables that replace those of the template. */
  readonly environmentOverrides: EnvironmentOverrides;
  /** Whether the run has the heartbeat, like a deployment with the setting `heartbeat`. */
  readonly hasHeartbeat: boolean;
  /** The folder of the cloud assembly to run. If undefined, the run synthesises one from the sources. */
  readonly assemblyDir: string | undefined;
}

/**
 * Returns the settings of `npm start` from environment variables. An empty variable counts as not set. Throws a
 * `StartError` that names an invalid variable.
 */
export function localSettings(env: Record<string, string | undefined>): LocalSettings {
  return {
    port: portOf(env.PORT || '3000'),
    dataDir: resolve(env.DATA_DIR || '.local'),
    allowedHosts: (env.ALLOWED_HOSTS || '').split(',').filter(Boolean).map(hostOf),
    serviceName: serviceNameOf(env.SERVICE_NAME || 'svc'),
    engine: engineOf(env.DYNAMODB_ENGINE || 'dynoxide'),
    logsToStdout: env.LOCAL_LOGS === 'stdout',
    scheduleSeconds: env.SCHEDULE_SECONDS ? secondsOf(env.SCHEDULE_SECONDS) : undefined,
    functionThreads: env.FUNCTION_THREADS ? threadsOf(env.FUNCTION_THREADS) : undefined,
    environmentOverrides: Object.fromEntries(
      localVariables.flatMap((name) => (env[name] ? [[name, timingOf(name, env[name])]] : [])),
    ),
    hasHeartbeat: isOn('HEARTBEAT', env.HEARTBEAT || 'off'),
    assemblyDir: env.ASSEMBLY_DIR ? resolve(env.ASSEMBLY_DIR) : undefined,
  };
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new StartError(`PORT must be a number from 0 to 65535, but is ${JSON.stringify(text)}.`);
}

function hostOf(text: string): string {
  const host = text.trim();
  if (/^[a-z0-9.-]{1,253}(:\d{1,5})?$/i.test(host)) return host;
  throw new StartError(
    `ALLOWED_HOSTS must be host names separated by commas, each with its port if the client sends one, but is ${JSON.stringify(text)}.`,
  );
}

function serviceNameOf(text: string): string {
  if (/^[a-z][a-z0-9-]{0,29}$/.test(text)) return text;
  throw new StartError(
    `SERVICE_NAME must be 1 to 30 lower-case letters, digits and hyphens and start with a letter, but is ${JSON.stringify(text)}.`,
  );
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && seconds <= 86_400) return seconds;
  throw new StartError(
    `SCHEDULE_SECONDS must be a number of seconds above 0, up to 86400, but is ${JSON.stringify(text)}.`,
  );
}

function threadsOf(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new StartError(`FUNCTION_THREADS must be a whole number from 1 to 999, but is ${JSON.stringify(text)}.`);
}

/**
 * Returns the value of a variable if it is valid. Throws otherwise. Unlike a deployment, accepts fractions of seconds.
 */
function timingOf(name: (typeof localVariables)[number], text: string): string {
  if (/_PER_KEY$|^CALL_/.test(name)) {
    if (/^[1-9]\d{0,5}$/.test(text)) return text;
    throw new StartError(`${name} must be a whole number from 1 to 999999, but is ${JSON.stringify(text)}.`);
  }
  const isSchedule = name.endsWith('_SCHEDULE');
  if ((isSchedule ? /^\d+(\.\d+)?(,\d+(\.\d+)?)*$/ : /^\d+(\.\d+)?$/).test(text)) return text;
  throw new StartError(
    `${name} must be ${isSchedule ? 'seconds separated by commas' : 'a number of seconds'}, but is ${JSON.stringify(text)}.`,
  );
}

function isOn(name: string, text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on';
  throw new StartError(`${name} must be "on" or "off", but is ${JSON.stringify(text)}.`);
}

function engineOf(text: string): EngineKind {
  if (text === 'dynoxide' || text === 'dynamodb-local') return text;
  throw new StartError(`DYNAMODB_ENGINE must be "dynoxide" or "dynamodb-local", but is ${JSON.stringify(text)}.`);
}
