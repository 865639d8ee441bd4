import { resolve } from 'node:path';
import { blockedPorts } from '../../lib/net/httpUrl.ts';
import { type EnvironmentOverrides, localVariables } from './functions/functionEnvironment.ts';
import { StartError } from './startError.ts';
import type { EngineKind } from './table/engineLaunch.ts';

export interface LocalSettings {
  /** 0 stands for any free port. */
  readonly port: number;
  readonly dataDir: string;
  /** Host headers that the API accepts besides the loopback names. */
  readonly allowedHosts: readonly string[];
  readonly serviceName: string;
  readonly engine: EngineKind;
  readonly logsToStdout: boolean;
  /** If undefined, the template sets the rate. */
  readonly scheduleSeconds: number | undefined;
  /** If undefined, the function pool sets it. */
  readonly functionThreads: number | undefined;
  readonly environmentOverrides: EnvironmentOverrides;
  readonly hasHeartbeat: boolean;
  /** If undefined, the run makes templates and bundles from the sources, or takes them from its cache. */
  readonly assemblyDir: string | undefined;
}

/** Reads environment variables. An empty one counts as not set. Throws a `StartError` that names an invalid one. */
export function localSettings(env: Record<string, string | undefined>): LocalSettings {
  return {
    port: portOf(env.PORT || '3000'),
    dataDir: resolve(env.DATA_DIR || '.local'),
    allowedHosts: (env.ALLOWED_HOSTS || '').split(',').filter(Boolean).map(hostOf),
    serviceName: serviceNameOf(env.SERVICE_NAME || 'svc'),
    engine: engineOf(env.DYNAMODB_ENGINE || 'dynoxide'),
    logsToStdout: Boolean(
      env.LOCAL_LOGS && valid('LOCAL_LOGS', env.LOCAL_LOGS, env.LOCAL_LOGS === 'stdout', '"stdout"'),
    ),
    scheduleSeconds: env.SCHEDULE_SECONDS ? secondsOf(env.SCHEDULE_SECONDS) : undefined,
    functionThreads: env.FUNCTION_THREADS ? threadsOf(env.FUNCTION_THREADS) : undefined,
    environmentOverrides: Object.fromEntries(
      localVariables.flatMap((name) => (env[name] ? [[name, timingOf(name, env[name])]] : [])),
    ),
    hasHeartbeat: isOn('HEARTBEAT', env.HEARTBEAT || 'off'),
    assemblyDir: env.ASSEMBLY_DIR ? resolve(env.ASSEMBLY_DIR) : undefined,
  };
}

function valid(name: string, text: string, isValid: boolean, requirement: string): string {
  if (isValid) return text;
  throw new StartError(`${name} must be ${requirement}, but is ${JSON.stringify(text)}.`);
}

function portOf(text: string): number {
  valid('PORT', text, /^\d+$/.test(text) && Number(text) <= 65_535, 'a number from 0 to 65535');
  const port = Number(text);
  const refused = [...blockedPorts].filter((other) => other !== '0');
  const requirement = `a port that browsers and Node's fetch do not refuse to call (they refuse ${refused.join(', ')})`;
  valid('PORT', text, !refused.includes(String(port)), requirement);
  return port;
}

function hostOf(text: string): string {
  const requirement = 'host names separated by commas, each with its port if the client sends one';
  return valid('ALLOWED_HOSTS', text, /^\s*[a-z0-9.-]{1,253}(:\d{1,5})?\s*$/i.test(text), requirement).trim();
}

function serviceNameOf(text: string): string {
  const requirement = '1 to 30 lower-case letters, digits and hyphens and start with a letter';
  return valid('SERVICE_NAME', text, /^[a-z][a-z0-9-]{0,29}$/.test(text), requirement);
}

function secondsOf(text: string): number {
  const isValid = Number(text) > 0 && Number(text) <= 86_400;
  return Number(valid('SCHEDULE_SECONDS', text, isValid, 'a number of seconds above 0, up to 86400'));
}

function threadsOf(text: string): number {
  return Number(valid('FUNCTION_THREADS', text, /^[1-9]\d{0,2}$/.test(text), 'a whole number from 1 to 999'));
}

/** Unlike a deployment, accepts fractions of seconds. */
function timingOf(name: (typeof localVariables)[number], text: string): string {
  if (/_PER_KEY$|^CALL_/.test(name))
    return valid(name, text, /^[1-9]\d{0,5}$/.test(text), 'a whole number from 1 to 999999');
  if (name.endsWith('_PER_HOUR'))
    return valid(name, text, /^(\d{1,5}|100000)$/.test(text), 'a whole number from 0 to 100000');
  if (name === 'EDITOR_VERSIONS_IN_SECONDS') return valid(name, text, text === '1', '"1"');
  if (name.endsWith('_SCHEDULE'))
    return valid(name, text, /^\d+(\.\d+)?(,\d+(\.\d+)?)*$/.test(text), 'seconds separated by commas');
  return valid(name, text, /^\d+(\.\d+)?$/.test(text), 'a number of seconds');
}

function isOn(name: string, text: string): boolean {
  return valid(name, text, text === 'on' || text === 'off', '"on" or "off"') === 'on';
}

function engineOf(text: string): EngineKind {
  const isValid = text === 'dynoxide' || text === 'dynamodb-local';
  return valid('DYNAMODB_ENGINE', text, isValid, '"dynoxide" or "dynamodb-local"') as EngineKind;
}
