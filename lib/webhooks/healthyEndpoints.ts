import type { AttemptOutcome } from './rules/loggedAttempt.ts';
import type { EndpointKey } from './targets.ts';

const MAX_ENDPOINTS = 10_000;

/**
 * Endpoints whose last attempt in this process was delivered. They usually have an open connection and take little
 * processor time, so their requests are sent before others of the same message.
 */
export class HealthyEndpoints {
  readonly #keys = new Set<string>();

  has(endpoint: EndpointKey): boolean {
    return this.#keys.has(keyOf(endpoint));
  }

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
