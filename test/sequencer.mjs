import TestSequencer from '@jest/test-sequencer';

/** Files that take long, the longest first: where they come late, the last of them runs alone while the other cores have nothing to do. */
const LONG = [
  'unit/types', 'e2e/deliveries', 'infra/bundles', 'e2e/reference', 'integration/deliveryCrashes', 'e2e/crdt', 'integration/memoryRecall', 'integration/contentFixture', 'integration/capacity', 'contract/properties',
  'integration/organizationRemoval', 'integration/activitiesPaging', 'integration/threadsFaults', 'infra/rules', 'integration/contentLists', 'e2e/localWorkers', 'integration/crdtLog',
  'e2e/localRun', 'integration/lifeModel', 'integration/crdt', 'integration/folderJobs', 'integration/largeOrganization',
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
