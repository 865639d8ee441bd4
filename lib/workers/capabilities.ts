import type { Capability } from '../app/capability.ts';
import { serviceName } from '../app/serviceName.ts';
import type { Worker } from '../app/worker.ts';

/** The stack grants access to the event source. */
export function workerCapabilities(worker: Pick<Worker, 'uses'>): Capability<unknown>[] {
  return [serviceName, ...Object.values(worker.uses)];
}
