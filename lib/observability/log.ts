import { Logger } from '@aws-lambda-powertools/logger';
import type { Log } from '../endpoint.ts';

let logger: Logger | undefined;

/**
 * A log whose every line carries `keys`. Lines of concurrent requests cannot mix: nothing is kept in the logger, of which
 * a process makes one, at its first request and not at import.
 */
export function logWith(serviceName: string, keys: Record<string, unknown>): Log {
  const powertools = (logger ??= new Logger({ serviceName }));
  return {
    info: (message, more) => powertools.info(message, { ...keys, ...more }),
    warn: (message, more) => powertools.warn(message, { ...keys, ...more }),
    error: (message, more) => powertools.error(message, { ...keys, ...more }),
  };
}
