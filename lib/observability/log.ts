import { Logger } from '@aws-lambda-powertools/logger';
import type { Log } from '../app/endpoint.ts';

let logger: Logger | undefined;

/** Returns a log that adds `keys` to every line. All logs of a process share one logger. */
export function logWith(serviceName: string, keys: Record<string, unknown>): Log {
  return new LogWithKeys((logger ??= new Logger({ serviceName })), keys);
}

/** A log that adds the same keys to every line. It is a class because an object per request costs less than three closures. */
class LogWithKeys implements Log {
  readonly #logger: Logger;
  readonly #keys: Record<string, unknown>;

  constructor(sharedLogger: Logger, keys: Record<string, unknown>) {
    this.#logger = sharedLogger;
    this.#keys = keys;
  }

  info(message: string, more?: Record<string, unknown>): void {
    this.#logger.info(message, { ...this.#keys, ...more });
  }

  warn(message: string, more?: Record<string, unknown>): void {
    this.#logger.warn(message, { ...this.#keys, ...more });
  }

  error(message: string, more?: Record<string, unknown>): void {
    this.#logger.error(message, { ...this.#keys, ...more });
  }
}
