import { Logger } from '@aws-lambda-powertools/logger';
import type { Log } from '../app/endpoint.ts';

let logger: Logger | undefined;

/** Returns a log that adds `keys` to every line. Concurrent requests share one logger, which has no keys of its own. */
export function logWith(serviceName: string, keys: Record<string, unknown>): Log {
  return new Lines((logger ??= new Logger({ serviceName })), keys);
}

/** A class, because an object per request is cheaper than three closures. */
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
