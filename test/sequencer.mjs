import TestSequencer from '@jest/test-sequencer';

/**
 * Files that take long, the longest first. If they ran last, one core would still be busy when the others have nothing
 * to do.
 */
const LONG = [
  'e2e/reference',
  'contract/properties',
  'infra/bundles',
  'e2e/browser',
  'e2e/localRun',
  'infra/types',
  'integration/webhooks/deliveryCrashes',
  'integration/memory/memoryRecall',
  'e2e/deliveries',
  'integration/table/capacity',
  'e2e/liveClient',
  'e2e/demo',
  'infra/rules',
  'e2e/outages',
  'integration/comments/threadsFaults',
  'e2e/localWorkers',
  'infra/monitoring',
  'e2e/crdt',
  'integration/editors/crdt',
];

/**
 * Runs the long files first, and then all others in Jest's own order: by their last duration, or by size if it is
 * unknown.
 */
export default class Sequencer extends TestSequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const index = LONG.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
      return index < 0 ? LONG.length : index;
    };
    return super.sort(tests).toSorted((a, b) => rank(a) - rank(b));
  }
}
