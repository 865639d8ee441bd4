import TestSequencer from '@jest/test-sequencer';

/** Files that take long, the longest first: where they come late, the last of them runs alone while the other cores have nothing to do. */
const LONG = [
  'unit/app/types',
  'e2e/deliveries',
  'infra/bundles',
  'e2e/reference',
  'integration/webhooks/deliveryCrashes',
  'e2e/crdt',
  'integration/memory/memoryRecall',
  'integration/content/contentFixture',
  'integration/table/capacity',
  'contract/properties',
  'integration/deletion/organizationRemoval',
  'integration/activities/activitiesPaging',
  'integration/comments/threadsFaults',
  'infra/rules',
  'integration/content/contentLists',
  'e2e/localWorkers',
  'integration/editors/crdtLog',
  'e2e/localRun',
  'integration/deletion/lifeModel',
  'integration/editors/crdt',
  'integration/directory/folderJobs',
  'integration/deletion/largeOrganization',
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
