import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, forAllTests } from '../../support/acmeWorld.ts';
import { startQueues } from '../../support/queues.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/organizations/add';
const UPDATE = '/v2/organizations/update';
const DELETE = '/v2/organizations/delete';
const DISABLE = '/v2/organizations/access/disablestate/update';

const { customer, itemsOf } = acmeWorld();
const queues = forAllTests(startQueues);
beforeEach(async () => {
  await customer.addOrganizations([
    { organizationId: 'acme', organizationName: 'Acme', plan: 'pro', seats: 5 },
    'beta',
  ]);
  queues.clear();
});

const get = (...organizationIds: string[]) => customer.ok('/v2/organizations/get', { organizationIds });
const updated = { success: true, id: expect.stringMatching(/^org_/), message: 'Updated Successfully' };
const refused = async (path: string, data: object) => {
  const { status, body } = await customer.call(path, data);
  return [status, body.error?.status, body.error?.details?.issues?.[0]?.path];
};

test.each([ADD, UPDATE])('%s refuses the fields that answers have from the service', async (path) => {
  for (const field of ['id', 'disabled'])
    expect(await refused(path, { organizations: [{ organizationId: 'acme', [field]: true }] })).toEqual([
      400,
      'INVALID_ARGUMENT',
      ['organizations', 0, field],
    ]);
  await customer.untyped(path, { organizations: [{ organizationId: 'acme', id: null, disabled: null }] });
  expect(await get('acme')).toEqual([{ id: 'acme', organizationName: 'Acme', plan: 'pro', seats: 5, disabled: false }]);
});

describe.each([
  [UPDATE, (ids: unknown[]) => ({ organizations: ids.map((organizationId) => ({ organizationId })) })],
  [DELETE, (ids: unknown[]) => ({ organizationIds: ids })],
  [DISABLE, (ids: unknown[]) => ({ organizationIds: ids, disabled: true })],
])('%s', (path, data) => {
  test('fails only for organizations that are unknown, and accepts repeated ids', async () => {
    const results = await customer.untyped(path, data(['acme', 'acme', '__proto__']));
    expect(Object.entries(results)).toEqual([
      ['acme', expect.objectContaining({ success: true })],
      ['__proto__', { success: false, id: '', message: 'Organization does not exist' }],
    ]);
    expect(await get('beta')).toEqual([{ id: 'beta', disabled: false }]);
  });
});

describe(UPDATE, () => {
  test('replaces the sent fields and keeps the others', async () => {
    expect(
      await customer.ok(UPDATE, {
        organizations: [
          { organizationId: 'acme', plan: 'free', region: 'eu' },
          { organizationId: 'beta', organizationName: 'Beta' },
        ],
      }),
    ).toEqual({ acme: updated, beta: updated });
    expect(await get('acme', 'beta')).toEqual([
      { id: 'acme', organizationName: 'Acme', plan: 'free', seats: 5, region: 'eu', disabled: false },
      { id: 'beta', organizationName: 'Beta', disabled: false },
    ]);
  });

  test('ignores null for organizationName, and stores null for a custom field', async () => {
    await customer.untyped(UPDATE, { organizations: [{ organizationId: 'acme', organizationName: null, plan: null }] });
    expect(await get('acme')).toEqual([
      { id: 'acme', organizationName: 'Acme', plan: null, seats: 5, disabled: false },
    ]);
  });

  test('fails only for an organization whose fields become too large, and says so', async () => {
    const large = 'x'.repeat(40 * 1024);
    await customer.ok(UPDATE, { organizations: [{ organizationId: 'acme', a: large }] });
    expect(
      await customer.ok(UPDATE, {
        organizations: [
          { organizationId: 'acme', b: large },
          { organizationId: 'beta', b: large },
        ],
      }),
    ).toEqual({
      acme: { ...updated, success: false, message: 'The fields together would be larger than 64 KB.' },
      beta: updated,
    });
    expect((await get('acme'))[0].b).toBeUndefined();
  });

  test('keeps the changes of two concurrent updates', async () => {
    await Promise.all(
      ['a', 'b', 'c'].map((field) => customer.ok(UPDATE, { organizations: [{ organizationId: 'acme', [field]: 1 }] })),
    );
    expect(await get('acme')).toEqual([expect.objectContaining({ a: 1, b: 1, c: 1, plan: 'pro' })]);
  });
});

describe(DELETE, () => {
  test('deletes 40 organizations, one of them disabled, with one job and one message each', async () => {
    const organizationIds = times(40, (index) => `o-${index}`);
    await customer.ok(ADD, { organizations: organizationIds.map((organizationId) => ({ organizationId })) });
    await customer.ok(DISABLE, { organizationIds: ['o-0'], disabled: true });
    const results = await customer.ok(DELETE, { organizationIds });
    expect(Object.values(results).filter(({ success }: any) => success)).toHaveLength(40);
    const jobs = await itemsOf('Job');
    expect(new Set(jobs.map(({ data }) => JSON.parse(data).organizationKey))).toEqual(
      new Set(Object.values(results).map(({ id }: any) => id)),
    );
    const messages = queues.messagesOf('jobs');
    expect(messages.map(({ body }) => body.jobId).sort()).toEqual(jobs.map(({ jobId }) => jobId).sort());
    expect(new Set(messages.map(({ body, delaySeconds }) => [body.tenant, delaySeconds].join()))).toEqual(
      new Set([`${customer.apiKey},60`]),
    );
  });

  test('makes the job due after 90 s, so that the sweep runs the job if its message is lost', async () => {
    const before = Date.now();
    await customer.ok(DELETE, { organizationIds: ['acme'] });
    const [job] = await itemsOf('Job');
    expect([job!.kind, job!.dueAt >= before + 90_000, job!.dueAt <= Date.now() + 90_000]).toEqual([
      'purgeOrganization',
      true,
      true,
    ]);
  });
});
