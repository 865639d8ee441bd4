import type { Capability } from '../app/capability.ts';
import type { Worker } from '../app/worker.ts';

const serviceName: Capability<undefined> = { grants: [], env: ['SERVICE_NAME'], open: () => undefined };

/** Returns the capabilities of a worker's function: those that it declares, and those of every worker. The stack grants access to its event source. */
export function workerCapabilities(worker: Pick<Worker, 'uses'>): Capability<unknown>[] {
  return [serviceName, ...Object.values(worker.uses)];
}
