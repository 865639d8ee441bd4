import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { projectDir } from '../../infra/build/build.ts';
import { registeredWorkers } from '../../infra/build/registry.ts';
import { pascal } from '../../infra/constructs/names.ts';
import { workersInLoops } from '../../infra/constructs/recursiveLoops.ts';
import type { QueueName } from '../../lib/app/capability.ts';
import { defineWorker, type Source, type Worker } from '../../lib/app/worker.ts';
import * as sendTo from '../../lib/workers/sendTo.ts';
import { assemblyOf, functionsOf } from './assembly.ts';
import { greedy } from './endpoints.ts';

const from = (queue: QueueName): Source => ({ queue, message: z.object({}) });

function worker(name: string, on: Source, ...targets: QueueName[]): Worker {
  const uses = Object.fromEntries(targets.map((target) => [target, sendTo[target]]));
  return defineWorker({ name, summary: name, on, uses, impact: 'none', timeoutSeconds: 30 }, async () => []);
}

const reader = (name: string) => ({
  ...worker(name, from('jobs')),
  uses: {
    jobs: {
      grants: [{ resource: 'queue/jobs', actions: ['GetQueueAttributes'] }] as const,
      env: [],
      open: () => undefined,
    },
  },
});

test.each<[string, Worker[], string[]]>([
  ['a worker that sends to its own queue', [worker('a', from('mail'), 'mail')], ['a']],
  [
    'every worker on a loop over several queues',
    [worker('a', from('deliver'), 'jobs'), worker('b', from('jobs'), 'embed'), worker('c', from('embed'), 'deliver')],
    ['a', 'b', 'c'],
  ],
  [
    'no worker that only sends into a loop, gets messages from one, or reads the length of its queue',
    [
      worker('before', from('deliver'), 'mail'),
      worker('loop', from('mail'), 'mail', 'embed'),
      worker('after', from('embed')),
      worker('timer', { every: 'minute' }, 'mail'),
      worker('stream', { inserts: ['Thing'] }, 'mail'),
      reader('reader'),
    ],
    ['loop'],
  ],
])('workersInLoops contains %s', (_what, workers, names) => {
  expect([...workersInLoops(workers)]).toEqual(names);
});

describe('recursive loop detection', () => {
  const registered = registeredWorkers();
  const inLoops = [...workersInLoops(registered)];

  test('is off for every worker in a loop, and on for all other functions', () => {
    const { templates } = assemblyOf([greedy], {}, { workers: registered });
    const allowed = functionsOf(templates)
      .filter(([, { Properties }]) => 'RecursiveLoop' in Properties)
      .map(([id, { Properties }]) => [id, Properties.RecursiveLoop]);
    expect(allowed.sort()).toEqual(inLoops.map((name) => [pascal(name), 'Allow']).sort());
  });

  test('is off only for workers that the page names in its table of recursive loops', () => {
    const page = readFileSync(join(projectDir, 'lib/workers/README.md'), 'utf8');
    const [, section = ''] = page.split('## Recursive loops');
    const rows = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    expect([...new Set(rows)].sort()).toEqual([...inLoops].sort());
  });
});
