import { describe, expect, test } from '@jest/globals';
import { purgeDocument } from '../../../lib/deletion/purgeDocuments.ts';
import { endPresenceStep } from '../../../lib/presence/endPresenceStep.ts';
import { presenceKind } from '../../../lib/presence/kind.ts';
import { PresenceEntity, PresenceStore, PresenceSweeper } from '../../../lib/presence/presences.ts';
import { presenceMessage } from '../../../lib/presence/rules.ts';
import { presenceSweep, sweepPresences } from '../../../lib/presence/sweepPresence.ts';
import type { SweepCall } from '../../../lib/workers/sweep.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { runAsJob } from '../../support/jobRunner.ts';
import { roleOf } from '../../support/permissions.ts';
import { post, resultOf } from '../../support/requests.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { storedDocumentScope } from '../../support/storedScope.ts';
import { times } from '../../support/times.ts';

const { customer, itemsOf } = acmeWorld({ documents: ['nda'] });

const call = async (name: string, data: object) => customer.call(`/v2/presence/${name}`, { ...nda, ...data });
const users = async (): Promise<any[]> => (await customer.ok('/v2/presence/get', nda)).users;
const scope = () => storedDocumentScope(customer);
const runSweep = roleOf('sweep', [presenceSweep]);
/** Returns the options of a run of the sweep at a time. The run has no deadline. */
const runAt = (now: number) => ({ clock: () => now, deadline: Infinity });
const revisionOf = async (userId: string) => (await table.get(PresenceEntity, { ...(await scope()), userId }))?._r;

describe('POST /v2/presence/add', () => {
  test('stores users as online with a lease of 600 s, and get returns them ordered by id', async () => {
    const before = Date.now();
    expect(
      resultOf(
        await call('add', {
          users: [
            { userId: 'grace', status: 'away' },
            { userId: 'ada', name: 'Ada', email: 'ada@example.com' },
          ],
        }),
      ),
    ).toEqual({ status: 'success', message: 'Presence added successfully.', data: { success: true } });
    const [ada, grace] = await users();
    expect([ada, grace]).toMatchObject([
      { userId: 'ada', name: 'Ada', email: 'ada@example.com', status: 'online' },
      { userId: 'grace', status: 'away' },
    ]);
    expect(ada.leaseEndsAt - ada.changedAt).toBe(600_000);
    expect(ada.changedAt).toBeGreaterThanOrEqual(before);
  });

  test('replaces the earlier presence of a user, so two browser tabs are one presence', async () => {
    await call('add', { users: [{ userId: 'ada', name: 'Ada', status: 'away' }] });
    await call('add', { users: [{ userId: 'ada', leaseSeconds: 60 }] });
    const [ada, ...others] = await users();
    expect(others).toEqual([]);
    expect(ada).toMatchObject({ userId: 'ada', status: 'online' });
    expect(ada.leaseEndsAt - ada.changedAt).toBe(60_000);
    expect(ada).not.toHaveProperty('name');
  });

  test('stores the last entry of a user who is in the request twice', async () => {
    await call('add', {
      users: [
        { userId: 'ada', name: 'A' },
        { userId: 'ada', name: 'B' },
      ],
    });
    expect(await users()).toMatchObject([{ userId: 'ada', name: 'B' }]);
  });
});

describe('POST /v2/presence/update', () => {
  test('changes only the fields that are sent', async () => {
    await call('add', { users: [{ userId: 'ada', name: 'Ada', email: 'ada@example.com', leaseSeconds: 60 }] });
    await call('update', { users: [{ userId: 'ada', status: 'away' }] });
    const [ada] = await users();
    expect(ada).toMatchObject({ name: 'Ada', email: 'ada@example.com', status: 'away' });
    expect(ada.leaseEndsAt - ada.changedAt).toBe(60_000);
  });

  test('adds a user who is not present', async () => {
    await call('update', { users: [{ userId: 'ada', name: 'Ada' }] });
    expect(await users()).toMatchObject([{ userId: 'ada', name: 'Ada', status: 'online' }]);
  });

  test('renews the lease without a visible change', async () => {
    await call('add', { users: [{ userId: 'ada' }] });
    const [before] = await users();
    await call('update', { users: [{ userId: 'ada' }] });
    const [item] = await itemsOf('Presence');
    expect(item).toMatchObject({ isVisibleChange: false, changedAt: before.changedAt });
    expect(item!.leaseEndsAt).toBeGreaterThan(before.leaseEndsAt - 1);
  });

  test('stores all of many concurrent updates of different users', async () => {
    const ids = times(12, (n) => `user-${String(n).padStart(2, '0')}`);
    await Promise.all(ids.map((userId) => call('update', { users: [{ userId }, { userId: 'ada' }] })));
    expect((await users()).map(({ userId }) => userId)).toEqual(['ada', ...ids]);
  });
});

describe('POST /v2/presence/delete', () => {
  test('ends the presence of users and succeeds for users who are not present', async () => {
    await call('add', { users: [{ userId: 'ada' }, { userId: 'grace' }] });
    const { body } = await call('delete', { userIds: ['ada', 'nobody', 'ada'] });
    expect(body.result).toEqual({
      status: 'success',
      message: 'Presence deleted successfully.',
      data: { success: true },
    });
    expect(await users()).toMatchObject([{ userId: 'grace' }]);
  });

  test('keeps an item without name and lease, which the index does not contain', async () => {
    await call('add', { users: [{ userId: 'ada', name: 'Ada', email: 'ada@example.com' }] });
    await call('delete', { userIds: ['ada'] });
    const [item] = await itemsOf('Presence');
    expect(item).toMatchObject({ userId: 'ada', isVisibleChange: true });
    for (const absent of ['name', 'email', 'leaseEndsAt', 'gsi3pk']) expect(item).not.toHaveProperty(absent);
  });

  test('writes nothing for a user whose presence has ended', async () => {
    await call('add', { users: [{ userId: 'ada' }] });
    await call('delete', { userIds: ['ada'] });
    const revision = await revisionOf('ada');
    await call('delete', { userIds: ['ada'] });
    expect(await revisionOf('ada')).toBe(revision);
  });
});

describe('the lease of a presence', () => {
  const now = Date.now();
  const renew = async (users: Parameters<PresenceStore['renew']>[1], mode: 'add' | 'update' = 'add', at = now) =>
    new PresenceStore(table).renew(await scope(), users, { mode, defaultLease: mode === 'add' ? 600 : 30, now: at });
  const listAt = async (time: number) => new PresenceStore(table).list(await scope(), time);
  const endExpiredAt = (time: number) => runSweep(() => new PresenceSweeper(table).endExpired(runAt(time)));

  test('hides the user at its end, even before the sweep runs', async () => {
    await renew([{ userId: 'ada', leaseSeconds: 5 }]);
    expect(await listAt(now + 4_999)).toMatchObject([{ userId: 'ada' }]);
    expect(await listAt(now + 5_000)).toEqual([]);
  });

  test('is ended by the sweep, which returns whether any user is still present', async () => {
    await renew([{ userId: 'ada', leaseSeconds: 5 }, { userId: 'grace' }]);
    expect(await endExpiredAt(now + 5_000)).toBe(true);
    const leases = (await itemsOf('Presence')).map(({ userId, leaseEndsAt }) => [userId, leaseEndsAt]);
    expect(Object.fromEntries(leases)).toEqual({ ada: undefined, grace: now + 600_000 });
    expect(await endExpiredAt(now + 10_000_000)).toBe(false);
  });

  test('begins again for a user who returns before DynamoDB has deleted the expired item', async () => {
    await renew([{ userId: 'ada' }], 'add', now - 24 * 3_600_000);
    expect((await call('add', { users: [{ userId: 'ada' }] })).status).toBe(200);
    expect(await users()).toMatchObject([{ userId: 'ada', status: 'online' }]);
  });

  test('is ended by a later run if the sweep reaches its deadline', async () => {
    // The sweep reads 100 users at a time. Users of other tests can be in the same shard.
    await endExpiredAt(now + 86_400_000);
    await renew(times(101, (index) => ({ userId: `user-${index}`, leaseSeconds: 5 })));
    const stillStored = async () =>
      (await itemsOf('Presence')).filter(({ leaseEndsAt }) => leaseEndsAt !== undefined).length;
    await new PresenceSweeper(table).endExpired({ clock: () => now + 5_000, deadline: now + 5_000 });
    expect(await stillStored()).toBe(1);
    await endExpiredAt(now + 6_000);
    expect(await stillStored()).toBe(0);
  });

  test('is not ended by a sweep if the user renews it at the same time', async () => {
    const renewAt = (time: number) => renew([{ userId: 'ada' }], 'update', time);
    await renewAt(now);
    const [swept] = await Promise.all([endExpiredAt(now + 30_000), renewAt(now + 30_000)]);
    expect(typeof swept).toBe('boolean');
    expect(await listAt(now + 30_001)).toMatchObject([{ userId: 'ada' }]);
  });
});

describe('the sweep of presences', () => {
  const sweep = async (isAnybodyPresent: (pass: number) => boolean, deadline: number) => {
    let now = 0;
    let passes = 0;
    const sleep = async (milliseconds: number) => {
      now += milliseconds;
    };
    const sweeper = { endExpired: async () => isAnybodyPresent(++passes) };
    await sweepPresences({ sweeper, sleep })({ clock: () => now, deadline } as SweepCall);
    return { passes, now };
  };

  test('runs passes at most 15 s apart until the next run while a user is present', async () => {
    expect(await sweep(() => true, 54_500)).toEqual({ passes: 5, now: 48_000 });
  });

  test('runs one pass if no user is present, and stops when the last user leaves', async () => {
    expect(await sweep(() => false, 54_500)).toEqual({ passes: 1, now: 0 });
    expect(await sweep((pass) => pass < 3, 54_500)).toEqual({ passes: 3, now: 24_000 });
  });
});

describe('the job that ends a presence', () => {
  const jobs = async () => itemsOf('Job');
  const step = async (time: number) => {
    const [job] = await jobs();
    return runAsJob(() => endPresenceStep(table, { tenant: customer.apiKey, data: job!.data }, () => time));
  };

  test.each([
    ['add', 'grace'],
    ['update', 'ada'],
  ])('is started by %s for a short lease, and not by a renewal', (name, userId) =>
    withStillClock(async () => {
      await call('add', { users: [{ userId: 'ada', leaseSeconds: 75 }] });
      expect(await jobs()).toEqual([]);
      await call(name, { users: [{ userId, leaseSeconds: 5 }] });
      const [job] = await jobs();
      expect(job).toMatchObject({ kind: 'endPresence' });
      await call('update', { users: [{ userId }] });
      await call('update', { users: [{ userId, leaseSeconds: 6 }] });
      expect(await jobs()).toEqual([job]);
    }),
  );

  test('waits for the end of the lease and then ends the presence', () =>
    withStillClock(async () => {
      await call('add', { users: [{ userId: 'ada', leaseSeconds: 5 }] });
      const [{ leaseEndsAt }] = (await users()) as [any];
      expect(await step(leaseEndsAt - 1)).toEqual({ progress: {}, notBefore: Number(leaseEndsAt) + 500 });
      expect(await step(leaseEndsAt)).toBe('done');
      const [item] = await itemsOf('Presence');
      expect(item).not.toHaveProperty('leaseEndsAt');
      expect(await step(leaseEndsAt)).toBe('done');
    }));

  test('changes nothing if the renewed lease lasts until the sweep can end it', async () => {
    await call('add', { users: [{ userId: 'ada', leaseSeconds: 5 }] });
    await call('update', { users: [{ userId: 'ada', leaseSeconds: 600 }] });
    const revision = await revisionOf('ada');
    expect(await step(Date.now() + 6_000)).toBe('done');
    expect(await revisionOf('ada')).toBe(revision);
  });
});

test('the presence of a deleted document is purged', async () => {
  await call('add', { users: [{ userId: 'ada' }] });
  const where = await scope();
  await customer.ok('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['nda'] });
  await purgeDocument(table, { ...where, documentId: 'nda' }, { clock: Date.now, deadline: Infinity });
  expect(await itemsOf('Presence')).toEqual([]);
});

describe('presence requests with a user token', () => {
  const ada = { userId: 'ada', userProperties: { name: 'Ada Lovelace', email: 'ada@example.com' } };
  const callAs = async (name: string, data: object) => {
    const resources = [{ type: 'document', id: 'nda', organizationId: 'acme' }];
    const { token } = await customer.untyped('/v2/auth/generate_token', { ...ada, permissions: { resources } });
    const path = `/v2/presence/${name}`;
    return post(handlerOf(path), { authorization: `Bearer ${token}` }, { ...nda, ...data });
  };

  test('apply to the user of the token, with the stored name and a lease of 30 s', async () => {
    const { status } = await callAs('add', { users: [{ name: 'Someone else', status: 'away' }] });
    expect(status).toBe(200);
    const [user] = await users();
    expect(user).toMatchObject({ userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com', status: 'away' });
    expect(user.leaseEndsAt - user.changedAt).toBe(30_000);
    expect((await callAs('get', {})).body.result.data.users).toMatchObject([{ userId: 'ada' }]);
    await callAs('delete', {});
    expect(await users()).toEqual([]);
  });
});

test('an erasure ends the presence of the user and then deletes the item, unless it began after the removal', async () => {
  await call('add', { users: [{ userId: 'ada', name: 'Ada' }, { userId: 'grace' }] });
  const [ada] = await users();
  const erase = async (removedAt: number) =>
    presenceKind.erase.erase({
      table,
      scope: await scope(),
      removedUsers: { userIds: new Set(['ada']), removedAt },
      mode: 'erase',
      clock: Date.now,
    });
  const stored = async () => table.get(PresenceEntity, { ...(await scope()), userId: 'ada' });
  await erase(ada.changedAt - 1);
  expect(await users()).toHaveLength(2);
  await erase(ada.changedAt);
  expect(await users()).toMatchObject([{ userId: 'grace' }]);
  expect(presenceMessage((await stored())!)).toMatchObject({ type: 'presence.remove', userId: 'ada' });
  expect(await stored()).not.toHaveProperty('name');
  await erase(ada.changedAt);
  expect(await stored()).toBeUndefined();
});
