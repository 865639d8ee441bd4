import * as z from 'zod';
import { registeredWorkers } from '../../infra/build/registry.ts';
import { pascal } from '../../infra/constructs/names.ts';
import type { Capability, QueueName } from '../../lib/app/capability.ts';
import { defineWorker, type Source, type Worker } from '../../lib/app/worker.ts';
import { queues } from '../../lib/workers/queues.ts';
import * as sendTo from '../../lib/workers/sendTo.ts';

const events: Capability<undefined> = {
  grants: [{ resource: 'table', actions: ['GetItem', 'PutItem'] }],
  env: ['TABLE_NAME', 'WEBHOOK_RETRY_SCHEDULE'],
  open: () => undefined,
};

function fake(name: string, on: Source, more: Partial<Worker> = {}): Worker {
  return defineWorker(
    {
      name,
      summary: `Does what ${name} does`,
      on,
      uses: { events, next: sendTo.jobs },
      impact: `${name} does not happen`,
      timeoutSeconds: 30,
      ...more,
    },
    async () => [],
  );
}

/** One worker for each kind of source. */
export const fakeWorkers: readonly Worker[] = [
  ...(Object.keys(queues) as QueueName[]).map((name, index) =>
    fake(`consume${pascal(name)}`, { queue: name, message: z.object({}) }, { timeoutSeconds: 30 + index }),
  ),
  fake('followThings', { inserts: ['Thing', 'OtherThing'] }, { timeoutSeconds: 60 }),
  fake('tickOften', { every: 'minute' }),
];

const sourceOf = ({ on }: Worker) => {
  if ('queue' in on) return on.queue;
  return 'every' in on ? on.every : Object.keys(on)[0];
};

/** The registered workers of a deployment with the default settings. */
const registered = registeredWorkers().filter(({ requires }) => requires === undefined);

/** The registered workers that a deployment has only if a setting such as `live` is on. */
export const optionalWorkers = registeredWorkers().filter(({ requires }) => requires !== undefined);

/** The workers of a default deployment, and a fake worker for each kind of source that has no worker. */
export const workers: readonly Worker[] = [
  ...registered,
  ...fakeWorkers.filter((candidate) => !registered.some((worker) => sourceOf(worker) === sourceOf(candidate))),
];
