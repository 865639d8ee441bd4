import type { Capability } from '../app/capability.ts';
import { serviceName } from '../app/serviceName.ts';
import type { Worker } from '../app/worker.ts';

/** Access to the event source is not among them, because the stack grants it. */
export function workerCapabilities(worker: Pick<Worker, 'uses'>): Capability<unknown>[] {
  return [serviceName, ...Object.values(worker.uses)];
}
