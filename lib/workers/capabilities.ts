import type { Capability } from '../app/capability.ts';
import type { Worker } from '../app/worker.ts';

const serviceName: Capability<undefined> = { grants: [], env: ['SERVICE_NAME'], open: () => undefined };

/**
 * Returns the capabilities that a worker declares, and those that every worker has. Access to its event source is not among them,
 * because the stack grants it.
 */
export function workerCapabilities(worker: Pick<Worker, 'uses'>): Capability<unknown>[] {
  return [serviceName, ...Object.values(worker.uses)];
}
