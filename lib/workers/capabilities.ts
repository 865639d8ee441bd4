import type { Capability } from '../app/capability.ts';
import type { Worker } from '../app/worker.ts';

const running: Capability<undefined> = { grants: [], env: ['SERVICE_NAME'], open: () => undefined };

/** Everything that the function of a worker touches: what it declares and what every worker needs. How it reads its source is the stack's business. */
export function workerCapabilities(worker: Pick<Worker, 'uses'>): Capability<unknown>[] {
  return [running, ...Object.values(worker.uses)];
}
