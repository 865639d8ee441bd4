import type { Capability } from '../app/capability.ts';
import { serviceName } from '../app/serviceName.ts';
import type { Worker } from '../app/worker.ts';

/** Without access to the event source, which the stack grants. */
export function workerCapabilities(worker: Pick<Worker, 'uses'>): Capability<unknown>[] {
  return [serviceName, ...Object.values(worker.uses)];
}
