import type { AttemptOutcome } from './rules/loggedAttempt.ts';
import type { EndpointKey } from './targets.ts';

/** The most endpoints that are kept. A process attempts fewer endpoints within the seconds for which a connection stays open. */
const MAX_ENDPOINTS = 10_000;

/**
 * The endpoints whose last attempt in this process was delivered. They usually have an open connection, so their requests take
 * little processor time. Requests to other endpoints of the same message are sent after them.
 */
export class HealthyEndpoints {
  readonly #keys = new Set<string>();

  has(endpoint: EndpointKey): boolean {
    return this.#keys.has(keyOf(endpoint));
  }

  /** Keeps the outcome of an attempt. */
  record(endpoint: EndpointKey, outcome: AttemptOutcome): void {
    const key = keyOf(endpoint);
    this.#keys.delete(key);
    if (outcome !== 'delivered') return;
    if (this.#keys.size === MAX_ENDPOINTS) this.#keys.clear();
    this.#keys.add(key);
  }
}

function keyOf({ tenant, endpointId }: EndpointKey): string {
  return `${tenant} ${endpointId}`;
}
