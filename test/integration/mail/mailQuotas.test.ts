import { describe, expect, jest, test } from '@jest/globals';
import { environment } from '../../../lib/app/capability.ts';
import { recipientOf } from '../../../lib/invitations/entities.ts';
import { type Counted, MailQuotaEntity, MailQuotas, mailQuotas } from '../../../lib/mail/quotas/mailQuotas.ts';
import { forAllTests, table } from '../../support/acmeWorld.ts';
import { startEngine } from '../../support/engine.ts';
import { times } from '../../support/times.ts';

const NOW = Date.now();
const HOUR = 60 * 60_000;
const ada: Counted = { kind: 'recipient', address: 'Ada@Example.com' };
const writer: Counted = { kind: 'writer', userId: 'ada' };

forAllTests(startEngine);
const quotas = (limits: { recipient?: number; writer?: number } = {}) =>
  new MailQuotas(table, { recipient: 20, writer: 200, ...limits });
const leftOf = async (tenant: string, counted: Counted, now = NOW) => (await quotas().read(tenant, [counted], now))[0]!;

describe('charge', () => {
  test('allows the limit in an hour, and then nothing until its end', async () => {
    const results = [];
    for (const minute of [0, 30, 59, 60]) results.push(await quotas().charge('a', ada, 15, NOW + minute * 60_000));
    expect(results).toEqual([
      { allowed: 15, endsAt: NOW + HOUR },
      { allowed: 5, endsAt: NOW + HOUR },
      { allowed: 0, endsAt: NOW + HOUR },
      { allowed: 15, endsAt: NOW + 2 * HOUR },
    ]);
  });

  test.each<[string, string, Counted, number]>([
    [
      'the same address in other letters and as a hash',
      'b',
      { kind: 'recipient', recipient: recipientOf('ada@example.com') },
      0,
    ],
    ['another address', 'b', { kind: 'recipient', address: 'bob@example.com' }, 1],
    ['the same address under another API key', 'c', ada, 1],
    ['a writer', 'b', { kind: 'writer', userId: recipientOf('ada@example.com') }, 1],
  ])('counts for one address of one API key: %s', async (_title, tenant, counted, allowed) => {
    await quotas().charge('b', ada, 20, NOW);
    expect((await quotas().charge(tenant, counted, 1, NOW)).allowed).toBe(allowed);
  });

  test('counts each mail once if several processes count at the same time', async () => {
    const results = await Promise.all(times(12, () => quotas({ writer: 30 }).charge('d', writer, 4, NOW)));
    expect(results.reduce((sum, { allowed }) => sum + allowed, 0)).toBe(30);
    expect(await leftOf('d', writer)).toMatchObject({ left: 170, stored: { count: 30 } });
  });
});

describe('read and chargeOps', () => {
  test('count mails in a transaction that conflicts if another process has counted since the read', async () => {
    const [early, late] = await Promise.all([quotas().read('e', [ada, writer], NOW), quotas().read('e', [ada], NOW)]);
    expect(early.map(({ left, endsAt }) => [left, endsAt])).toEqual([
      [20, NOW + HOUR],
      [200, NOW + HOUR],
    ]);
    const ops = (states: typeof early, mails: number) =>
      states.flatMap((state) => quotas().chargeOps('e', state, mails, NOW));
    expect(await table.write(ops(early, 3))).toBe('done');
    expect(await table.write(ops(late, 1))).toEqual({ conflicts: [0] });
    const again = await leftOf('e', ada, NOW + HOUR - 1);
    expect(again).toMatchObject({ left: 17, endsAt: NOW + HOUR });
    expect(await table.write(quotas().chargeOps('e', again, 19, NOW + HOUR - 1))).toBe('done');
    expect([(await leftOf('e', ada)).left, (await leftOf('e', ada, NOW + HOUR)).left]).toEqual([0, 20]);
  });

  test('call the table neither for a limit of 0 nor to count no mail', async () => {
    const off = quotas({ recipient: 0 });
    const send = jest.spyOn(table.connection.client, 'send');
    const [state] = await off.read('f', [ada], NOW);
    expect(state).toMatchObject({ left: Infinity });
    expect(off.chargeOps('f', state!, 5, NOW)).toEqual([]);
    expect(await off.charge('f', ada, 500, NOW)).toMatchObject({ allowed: 500 });
    expect(send).not.toHaveBeenCalled();
    send.mockRestore();
  });

  test('the item has no address, and expires an hour after the end of its hour', async () => {
    const opened = mailQuotas.open(environment({ ...process.env, MAILS_PER_RECIPIENT_PER_HOUR: '2' }));
    expect(await opened.charge('g', ada, 3, NOW)).toMatchObject({ allowed: 2 });
    const item = MailQuotaEntity.toItem({
      tenant: 'g',
      kind: 'recipient',
      id: recipientOf('ada@example.com'),
      startedAt: NOW,
      count: 2,
    });
    expect(JSON.stringify(item)).not.toContain('example');
    expect(item.ttl).toBe(Math.ceil((NOW + 2 * HOUR) / 1000));
  });
});
