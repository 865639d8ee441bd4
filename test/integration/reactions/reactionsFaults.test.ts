import { expect, test } from '@jest/globals';
import { acmeWorld, forAllTests } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { startFaults } from '../../support/faults.ts';
import { times } from '../../support/times.ts';

const { customer } = acmeWorld({ documents: ['nda'] });
const faults = forAllTests(startFaults);

test('POST /v2/reactions/add, repeated with its Idempotency-Key, adds each reaction once, although the service generates the ids', async () => {
  const add = () => {
    const reactions = times(30, () => ({ icon: '+', from: { userId: 'ada' } }));
    return customer.call('/v2/reactions/add', { ...nda, reactions }, { 'idempotency-key': 'party-1' });
  };
  const stored = async () => {
    const { reactions } = await customer.ok('/v2/users/data/get', { organizationId: 'acme', userId: 'ada' });
    return reactions.map(({ annotationId }: any) => annotationId).sort();
  };
  faults.fail('TransactWriteItems', 1);
  expect((await add()).status).toBe(503);
  faults.heal();
  const half = await stored();
  expect(half.length).toBeGreaterThan(0);
  expect(half.length).toBeLessThan(30);
  const { status, body } = await add();
  expect([status, await stored()]).toEqual([200, Object.keys(body.result.data).sort()]);
  expect(await stored()).toEqual(expect.arrayContaining(half));
});
