import { Logger } from '@aws-lambda-powertools/logger';
import type { Log } from '../endpoint.ts';

let logger: Logger | undefined;

/** The process's logger; it reads its settings from the environment at the first line, not at import. */
function powertools(): Logger {
  logger ??= new Logger();
  return logger;
}

/** A log whose every line carries `keys`. Lines of concurrent requests cannot mix: nothing is kept in the logger. */
export function logWith(keys: Record<string, unknown>): Log {
  return {
    info: (message, more) => powertools().info(message, { ...keys, ...more }),
    warn: (message, more) => powertools().warn(message, { ...keys, ...more }),
    error: (message, more) => powertools().error(message, { ...keys, ...more }),
  };
}
