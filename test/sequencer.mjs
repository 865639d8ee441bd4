import TestSequencer from '@jest/test-sequencer';

/**
 * Files that compute for long, nearly in the order of their time. If they ran last, one core would still be busy when the
 * others have nothing to do. Only one of the first three needs the templates and bundles at its start. On a fresh clone, two
 * such files would make them twice.
 */
const COMPUTING = [
  'e2e/reference',
  'contract/properties',
  'contract/clientGenerators',
  'infra/bundles',
  'integration/webhooks/deliveryCrashes',
  'infra/governed',
  'infra/rules',
  'integration/mail/waitingModel',
  'integration/userTokens/removalRaces',
  'contract/userTokens',
  'contract/endpoints',
  'integration/webhooks/deliveries',
  'integration/editors/crdtLog',
  'contract/openapi',
  'e2e/customerPages',
  'integration/comments/threadsFaults',
  'integration/local/localState',
  'contract/attack/attack',
  'contract/twins',
  'unit/editors/crdtUpdates',
  'integration/webhooks/parkingCrashes',
  'integration/content/contentFixture',
  'unit/agents/agentExtractionXlsx',
];

/** Long files that mostly wait, for other processes or the clock. One at a time runs beside the others, so both cores are busy. */
const WAITING = [
  'e2e/editorBindings',
  'e2e/browser',
  'contract/examples',
  'integration/table/capacity',
  'e2e/outages',
  'e2e/liveClient',
  'e2e/demo',
  'e2e/localRun',
  'e2e/deliveries',
  'integration/webhooks/deliveryConsumption',
  'e2e/localWorkers',
  'e2e/crdt',
  'e2e/heartbeat',
];

/** How many other files start after a waiting one: few while they take about 10 s, more when they take 2 s. */
const [FIRST_GAP, GAP] = [5, 12];

/**
 * Runs the long files first, and then all others in Jest's own order: by their last duration, or by size if it is
 * unknown.
 */
export default class Sequencer extends TestSequencer {
  sort(tests) {
    // The tests of the CDK come one after another, because a process loads the CDK once for all of them. Jest replaces a process
    // that uses too much memory.
    const rankIn = (files, { path }) => {
      const index = files.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
      if (index >= 0) return index;
      return files.length + (path.includes('/test/infra/') ? 0 : 1);
    };
    const isWaiting = (test) => rankIn(WAITING, test) < WAITING.length;
    const byRank = (files) => (a, b) => rankIn(files, a) - rankIn(files, b);
    const sorted = super.sort(tests);
    const waiting = sorted.filter(isWaiting).toSorted(byRank(WAITING));
    const others = sorted.filter((test) => !isWaiting(test)).toSorted(byRank(COMPUTING));
    const order = others.splice(0, 3);
    for (const test of waiting) {
      const isEarly = others.length > 0 && rankIn(COMPUTING, others[0]) < COMPUTING.length;
      order.push(test, ...others.splice(0, isEarly ? FIRST_GAP : GAP));
    }
    return [...order, ...others];
  }
}
