import TestSequencer from '@jest/test-sequencer';

/** Files that take long, the longest first: where they come late, the last of them runs alone while the other cores have nothing to do. */
const LONG = [
  'e2e/deliveries', 'integration/deliveryCrashes', 'e2e/crdt', 'integration/contentFixture', 'contract/properties', 'integration/threadsFaults', 'integration/capacity', 'integration/lifeModel',
  'integration/crdtLog', 'integration/contentLists', 'integration/activitiesPaging', 'integration/largeOrganization', 'integration/organizationRemoval', 'infra/app', 'infra/rules', 'e2e/localRun',
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
