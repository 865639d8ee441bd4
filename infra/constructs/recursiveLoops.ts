import type { QueueName } from '../../lib/app/capability.ts';
import type { Worker } from '../../lib/app/worker.ts';
import { workerCapabilities } from '../../lib/workers/capabilities.ts';

/**
 * Returns the workers whose messages can lead back to their own queue. By default, Lambda stops such a chain after
 * about 16 invocations. Lambda does not detect loops through the table's stream.
 */
export function workersInLoops(workers: readonly Worker[]): ReadonlySet<string> {
  const targets = new Map(workers.map((worker) => [worker.name, targetsOf(worker)]));
  const consumersOf = (queue: QueueName) => workers.filter(({ on }) => 'queue' in on && on.queue === queue);
  const reachedFrom = (start: Worker): ReadonlySet<QueueName> => {
    const reached = new Set<QueueName>();
    const unvisited = [start];
    for (let worker = unvisited.pop(); worker; worker = unvisited.pop()) {
      for (const queue of targets.get(worker.name) ?? []) {
        if (reached.has(queue)) continue;
        reached.add(queue);
        unvisited.push(...consumersOf(queue));
      }
    }
    return reached;
  };
  return new Set(
    workers.flatMap((worker) =>
      'queue' in worker.on && reachedFrom(worker).has(worker.on.queue) ? [worker.name] : [],
    ),
  );
}

function targetsOf(worker: Worker): QueueName[] {
  return workerCapabilities(worker).flatMap(({ grants }) =>
    grants.flatMap(({ resource, actions }) =>
      resource.startsWith('queue/') && (actions as readonly string[]).includes('SendMessage')
        ? [resource.slice('queue/'.length) as QueueName]
        : [],
    ),
  );
}
