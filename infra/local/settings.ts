import { resolve } from 'node:path';
import { StartError } from './startError.ts';

export type EngineKind = 'dynoxide' | 'dynamodb-local';

export interface LocalSettings {
  /** 0 means any free port. */
  readonly port: number;
  readonly dataDir: string;
  readonly serviceName: string;
  readonly engine: EngineKind;
  /** Show what functions log on standard output too, not only in `functions.log`. */
  readonly logsToStdout: boolean;
  /** For tests: run this cloud assembly instead of the one made of the sources. */
  readonly assemblyDir: string | undefined;
}

/** The settings of `npm start`, from the environment. An empty variable counts as unset. */
export function localSettings(env: Record<string, string | undefined>): LocalSettings {
  return {
    port: portOf(env.PORT || '3000'),
    dataDir: resolve(env.DATA_DIR || '.local'),
    serviceName: serviceNameOf(env.SERVICE_NAME || 'svc'),
    engine: engineOf(env.DYNAMODB_ENGINE || 'dynoxide'),
    logsToStdout: env.LOCAL_LOGS === 'stdout',
    assemblyDir: env.ASSEMBLY_DIR ? resolve(env.ASSEMBLY_DIR) : undefined,
  };
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new StartError(`PORT must be a number from 0 to 65535, but is ${JSON.stringify(text)}.`);
}

function serviceNameOf(text: string): string {
  if (/^[a-z][a-z0-9-]{0,29}$/.test(text)) return text;
  throw new StartError(`SERVICE_NAME must be 1 to 30 lower-case letters, digits and hyphens and start with a letter, but is ${JSON.stringify(text)}.`);
}

function engineOf(text: string): EngineKind {
  if (text === 'dynoxide' || text === 'dynamodb-local') return text;
  throw new StartError(`DYNAMODB_ENGINE must be "dynoxide" or "dynamodb-local", but is ${JSON.stringify(text)}.`);
}
