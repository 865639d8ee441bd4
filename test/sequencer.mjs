import TestSequencer from '@jest/test-sequencer';

/** Files that take long, the longest first: where they come late, the last of them runs alone while the other cores have nothing to do. */
const LONG = [
  'e2e/localRun',
  'infra/types',
  'contract/properties',
  'infra/bundles',
  'e2e/browser',
  'e2e/reference',
  'integration/webhooks/parkingCrashes',
  'integration/webhooks/deliveryCrashes',
  'integration/editors/crdtLog',
  'e2e/deliveries',
  'integration/content/contentFixture',
  'integration/content/contentLists',
  'integration/table/capacity',
  'e2e/liveClient',
  'e2e/demo',
  'integration/deletion/organizationRemoval',
  'integration/activities/activitiesPaging',
  'infra/rules',
  'e2e/outages',
  'integration/comments/threadsFaults',
  'integration/webhooks/parking',
  'integration/memory/memoryRecall',
  'integration/deletion/lifeModel',
  'e2e/localWorkers',
  'infra/monitoring',
  'e2e/crdt',
  'integration/editors/crdt',
];

/** Jest's order but for these: it goes by how long files took, and on a machine that never ran them by how large they are. */
export default class Sequencer extends TestSequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const index = LONG.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
      return index < 0 ? LONG.length : index;
    };
    return super.sort(tests).toSorted((a, b) => rank(a) - rank(b));
  }
}
