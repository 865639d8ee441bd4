import { beforeEach, describe, expect, test } from '@jest/globals';
import { OrganizationEntity } from '../../../lib/directory/organizations.ts';
import { UserEntity } from '../../../lib/directory/users.ts';
import { JobStore, type StoredJob } from '../../../lib/jobs/jobStore.ts';
import { WaitingEntryEntity } from '../../../lib/mail/waiting/entryStore.ts';
import { insert, replace } from '../../../lib/table/table.ts';
import { EmailConfigEntity } from '../../../lib/workspaces/configs/emailConfig.ts';
import { acmeWorld, forEachTest } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { MailSystem, person, threadWriters } from '../../support/mailSystem.ts';
import { times } from '../../support/times.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const { engine, customer, itemsOf } = acmeWorld({
  table: 'memory',
  documents: [
    { documentId: 'nda', documentName: 'NDA' },
    { documentId: 'plan', documentName: 'Plan' },
  ],
});
const system = forEachTest(() => new MailSystem(engine, customer));

const [ada, grace] = [person('ada'), person('grace')];
const plan = { ...nda, documentId: 'plan' };

async function comment(text: string, { of = nda, to = ['grace'], thread = 'thread' }: any = {}) {
  await customer.ok('/v2/commentannotations/add', {
    ...of,
    commentAnnotations: [
      {
        annotationId: thread,
        commentData: [
          {
            commentText: text,
            from: ada,
            taggedUserContacts: to.map((userId: string) => ({ userId })),
            triggerNotification: true,
          },
        ],
      },
    ],
  });
  await system.fanOut();
}

const configure = (notificationServiceConfig: object) =>
  customer.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true, notificationServiceConfig });
const delay = (seconds: number) => ({ delayConfig: { isEnabled: true, delaySeconds: seconds } });
const windows = (scopes: Record<string, [seconds: number, max?: number]>) => ({
  batchConfig: Object.fromEntries(
    Object.entries(scopes).map(([scope, [batchWindowSeconds, maxActivities = 50]]) => [
      scope,
      { isEnabled: true, batchWindowSeconds, maxActivities },
    ]),
  ),
});
/** Lets the time pass and runs what is due meanwhile. */
async function pass(milliseconds: number): Promise<void> {
  system.now += milliseconds;
  await system.runJobs();
  await system.processQueue();
}
const subjects = () => system.mails.map(({ to, subject }) => `${to}: ${subject}`);

beforeEach(async () => {
  await customer.addUsers([ada, grace], nda);
  await customer.addUsers([ada, grace], plan);
  await customer.ok('/v2/workspace/emailconfig/update', { useEmailService: true });
});

describe('a delay', () => {
  beforeEach(() => configure(delay(600)));

  test('holds the mail back, which then looks as without a delay', async () => {
    await comment('One?');
    await pass(9 * MINUTE);
    expect(system.mails).toEqual([]);
    await pass(2 * MINUTE);
    expect(subjects()).toEqual(['grace@example.com: Ada mentioned you in NDA']);
    expect(await itemsOf(WaitingEntryEntity.type)).toEqual([]);
    await pass(HOUR);
    await system.fanOut();
    await pass(HOUR);
    expect(system.mails).toHaveLength(1);
  });

  test.each<[string, () => Promise<unknown>]>([
    [
      'has seen the thread',
      () =>
        customer.ok('/v2/commentannotations/views/add', {
          ...nda,
          annotationIds: ['thread'],
          userId: 'grace',
        }),
    ],
    [
      'has answered',
      () =>
        threadWriters(customer, '')
          .reply({ from: grace })
          .then(() => system.fanOut()),
    ],
    [
      'has read the notification',
      async () => {
        const entries = await customer.ok('/v2/notifications/get', { ...nda, userId: 'grace' });
        await customer.ok('/v2/notifications/update', {
          ...nda,
          notifications: entries.map(({ id }: { id: string }) => ({ id, readByUserIds: ['grace'] })),
        });
      },
    ],
    [
      'wants no mails any more',
      () =>
        customer.ok('/v2/notifications/config/set', {
          organizationId: nda.organizationId,
          userIds: ['grace'],
          config: { email: 'NONE' },
        }),
    ],
    [
      'has no comment any more',
      () => customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: ['thread'] }),
    ],
  ])('ends without a mail if the user %s', async (_what, change) => {
    await comment('One?');
    await system.fanOut();
    await change();
    await pass(11 * MINUTE);
    expect(system.mails.filter(({ to }) => to === 'grace@example.com')).toEqual([]);
    expect(await itemsOf(WaitingEntryEntity.type)).toEqual([]);
  });
});

test('the user gets no mail about the many threads of one call whose notifications the user has read', async () => {
  await configure(delay(600));
  const threads = times(12, (index) => ({
    annotationId: `thread-${index}`,
    commentData: [
      { commentText: 'One?', from: ada, taggedUserContacts: [{ userId: 'grace' }], triggerNotification: true },
    ],
  }));
  await customer.ok('/v2/commentannotations/add', { ...nda, commentAnnotations: threads });
  await system.fanOut();
  await customer.ok('/v2/notifications/update', { ...nda, userId: 'grace', markAllAsRead: true });
  await pass(11 * MINUTE);
  expect(system.mails).toEqual([]);
});

test('a job that runs while an entry arrives keeps its progress and its time', async () => {
  const jobs = new JobStore(system.table);
  const tenant = customer.apiKey;
  const job = { jobId: 'ntc', kind: 'collectEntries' as const, data: {}, dueAt: system.now };
  expect(await jobs.wake(tenant, job, system.now)).toBe('started');
  expect(await jobs.wake(tenant, { ...job, dueAt: system.now + MINUTE }, system.now)).toBe('unchanged');
  const stored = (await jobs.get({ tenant, jobId: 'ntc' })) as StoredJob;
  const lease = { leaseUntil: system.now + MINUTE, dueAt: system.now + MINUTE, tries: 1 };
  const leased = (await jobs.change(stored, { ...lease, progress: { at: 1 } })) as StoredJob;
  expect(await jobs.wake(tenant, { ...job, dueAt: system.now + HOUR }, system.now)).toBe('unchanged');
  expect(await jobs.change(leased, lease)).toBe('lost');
  const woken = await jobs.get({ tenant, jobId: 'ntc' });
  expect(woken).toMatchObject({ ...lease, progress: '{"at":1}', isWoken: true });
  expect(await jobs.wake(tenant, job, system.now)).toBe('unchanged');
  expect(await jobs.get({ tenant, jobId: 'ntc' })).toEqual(woken);
});

test('entries that join later do not hide those that join before them', async () => {
  await configure(delay(15_552_000));
  await comment('Late', { thread: 'late' });
  const [late] = await itemsOf(WaitingEntryEntity.type);
  const tenant = customer.apiKey;
  const { organizationId } = nda;
  const { internalId: organizationKey } = (await system.table.get(OrganizationEntity, { tenant, organizationId }))!;
  const of = { tenant, organizationKey, userId: 'grace', channel: 'email' as const };
  const entry = { eventId: 'msg_x', documentKey: 'doc', createdAt: late!.createdAt };
  for (const index of times(1_000, String))
    await system.table.write([
      insert(WaitingEntryEntity, { ...of, ...entry, mailId: `mail_${index}`, joinsAt: Number(late!.joinsAt) + 1 }),
    ]);
  await configure(delay(10));
  await comment('Soon', { thread: 'soon' });
  await pass(MINUTE);
  expect(system.mails.map(({ text }) => text)).toEqual([expect.stringContaining('Soon')]);
});

test('a pause of the provider keeps what is collected until its end', async () => {
  await configure(delay(60));
  await comment('One?');
  const { _r: revision } = (await system.table.get(EmailConfigEntity, { tenant: customer.apiKey }))!;
  await system.store.pause(customer.apiKey, revision, system.now);
  await pass(2 * MINUTE);
  expect([system.mails, (await itemsOf(WaitingEntryEntity.type)).length]).toEqual([[], 1]);
  await pass(HOUR);
  expect(subjects()).toEqual(['grace@example.com: Ada mentioned you in NDA']);
});

test('is not mailed if the provider refuses the key meanwhile', async () => {
  await configure(delay(60));
  system.results.push({ outcome: 'denied', reason: 'the key is wrong' });
  for (const text of ['One?', 'Two?']) await comment(text, { to: ['grace', 'ada'], thread: text });
  await pass(2 * MINUTE);
  expect(system.skipped).toEqual(['e-mail is paused: the provider refuses the key or the sender']);
});

test.each([
  ['recipient', 'grace'],
  ['actor', 'ada'],
])('nothing is mailed after the %s was erased, even if another person has the id now', async (_who, userId) => {
  await configure(delay(600));
  await comment('One?');
  const user = (await system.table.get(UserEntity, { tenant: customer.apiKey, userId }))!;
  const other = { ...user, internalId: 'usr_other', tenant: customer.apiKey };
  await system.table.write([replace(UserEntity, other, user._r)]);
  await pass(11 * MINUTE);
  expect(system.mails).toEqual([]);
});

test('a mail quotes a comment that was edited meanwhile as it is now', async () => {
  await configure(windows({ user: [600] }));
  await comment('The password is hunter2');
  await comment('Two?', { thread: 'second' });
  await customer.ok('/v2/commentannotations/comments/update', {
    ...nda,
    annotationId: 'thread',
    commentIds: [1],
    updatedData: { commentText: 'Removed', taggedUserContacts: [] },
  });
  await pass(11 * MINUTE);
  expect(system.mails).toHaveLength(1);
  expect(system.mails[0]?.text).toContain('Removed');
  expect(system.mails[0]?.text).not.toContain('hunter2');
  expect(system.mails[0]?.text.match(/mentioned you/g)).toHaveLength(2);
});

describe('a window', () => {
  test('with nothing left sends no mail', async () => {
    await configure(windows({ user: [600] }));
    await comment('One?');
    await comment('Two?', { thread: 'second' });
    await customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: ['thread', 'second'] });
    await pass(11 * MINUTE);
    expect(system.mails).toEqual([]);
    expect((await system.stored()).filter(({ about }) => about.kind === 'digest')).toEqual([
      expect.objectContaining({ status: 'SKIPPED', reason: 'the user may not receive the event any more' }),
    ]);
  });
});

describe('the limit of mails', () => {
  test('to an address holds the rest back until the hour ends, as one mail', async () => {
    system.limits = { recipient: 2, writer: 0 };
    for (const index of times(5, String)) await comment(`Text ${index}`, { thread: `thread-${index}` });
    await pass(SECOND);
    expect(system.mails).toHaveLength(2);
    await pass(59 * MINUTE);
    expect(system.mails).toHaveLength(2);
    await pass(2 * MINUTE);
    expect(system.mails).toHaveLength(3);
    expect(system.mails[2]?.text).toMatch(/Text 2[^]*Text 3[^]*Text 4/);
  });

  test('caused by a writer holds the rest back until the hour of the writer ends', async () => {
    system.limits = { recipient: 0, writer: 3 };
    const users = times(5, (index) => ({ userId: `user-${index}`, email: `user-${index}@example.com` }));
    await customer.addUsers(users, nda);
    await comment('To all', { to: users.map(({ userId }) => userId) });
    await system.fanOut();
    await pass(SECOND);
    expect(system.mails).toHaveLength(3);
    await pass(61 * MINUTE);
    expect(new Set(system.mailed).size).toBe(5);
  });
});

describe('one address', () => {
  test('of two users gets one mail about an activity', async () => {
    await customer.addUsers([{ userId: 'grace-2', email: 'Grace@example.com' }], nda);
    await comment('One?', { to: ['grace', 'grace-2'] });
    await pass(SECOND);
    expect(system.mailed.map((address) => address.toLowerCase())).toEqual(['grace@example.com']);
  });

  test('gets no mail about what its owner did as another user', async () => {
    await customer.addUsers([{ userId: 'ada-2', email: 'ADA@example.com' }], nda);
    await comment('One?', { to: ['ada-2', 'grace'] });
    await pass(SECOND);
    expect(system.mailed).toEqual(['grace@example.com']);
  });
});
