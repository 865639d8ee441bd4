import { Logger } from '@aws-lambda-powertools/logger';
import type { Log } from '../app/endpoint.ts';

let logger: Logger | undefined;

/**
 * A log whose every line carries `keys`. Lines of concurrent requests cannot mix: nothing is kept in the logger, of which
 * a process makes one, at its first request and not at import.
 */
export function logWith(serviceName: string, keys: Record<string, unknown>): Log {
  return new Lines((logger ??= new Logger({ serviceName })), keys);
}

/** A class and not closures: one is made for each request. */
class Lines implements Log {
  readonly #logger: Logger;
  readonly #keys: Record<string, unknown>;

  constructor(to: Logger, keys: Record<string, unknown>) {
    this.#logger = to;
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
