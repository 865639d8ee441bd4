import TestSequencer from '@jest/test-sequencer';

/**
 * Files that take long, nearly in the order of their time. If they ran last, one core would still be busy when the others
 * have nothing to do. Only one of the first three needs the templates and bundles at its start. On a fresh clone, two such files
 * would make them twice.
 */
const LONG = [
  'e2e/reference',
  'contract/properties',
  'infra/bundles',
  'e2e/browser',
  'e2e/localRun',
  'integration/table/capacity',
  'infra/types',
  'e2e/outages',
  'e2e/liveClient',
  'e2e/demo',
  'e2e/deliveries',
  'integration/webhooks/deliveryCrashes',
  'e2e/live',
  'contract/openapi',
  'integration/webhooks/parkingCrashes',
  'e2e/heartbeat',
  'e2e/localWorkers',
  'integration/content/contentFixture',
  'integration/webhooks/parkingCost',
  'e2e/crdt',
  'integration/comments/threadsFaults',
  'integration/editors/crdtLog',
  'integration/webhooks/deliveries',
  'integration/memory/memoryRecall',
  'unit/agents/agentExtractionXlsx',
  'infra/rules',
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
