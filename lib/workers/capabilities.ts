import type { Capability } from '../app/capability.ts';
import { serviceName } from '../app/serviceName.ts';
import type { Worker } from '../app/worker.ts';

/** Without the event source, to which the stack grants access. */
export function workerCapabilities(worker: Pick<Worker, 'uses'>): Capability<unknown>[] {
  return [serviceName, ...Object.values(worker.uses)];
}
