/** CloudWatch's limit may cut off the last impacts of an alarm's description, so the most important ones come first. */
import type { Routed } from '../../lib/app/page.ts';
import type { Worker } from '../../lib/app/worker.ts';
import { queues } from '../../lib/workers/queues.ts';

const queueNames = Object.keys(queues);

/**
 * Endpoints that users call come before those that only servers call. In both groups, reads come first, because an
 * application opens with reads.
 */
export function byWeight<R extends Routed>(endpoints: readonly R[]): R[] {
  const weight = (endpoint: Routed) => (isForUsers(endpoint) ? 2 : 0) + (endpoint.kind === 'read' ? 1 : 0);
  return endpoints.toSorted((a, b) => weight(b) - weight(a));
}

function isForUsers(endpoint: Routed): boolean {
  return endpoint.auth === 'none' || 'user' in endpoint;
}

/** Timers come last, because their next run repeats the work. */
export function workersByWeight(workers: readonly Worker[]): Worker[] {
  return workers.toSorted((a, b) => rankOf(a) - rankOf(b));
}

function rankOf({ on }: Worker): number {
  if ('inserts' in on) return 0;
  if ('authorizes' in on) return 1;
  if ('changes' in on) return 2;
  if ('queue' in on) return 3 + queueNames.indexOf(on.queue);
  return 3 + queueNames.length;
}
