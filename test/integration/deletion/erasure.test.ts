import { isDeepStrictEqual } from 'node:util';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ChatUserEntity, rememberChannel } from '../../../lib/chat/chatStore.ts';
import { purgeLeftover } from '../../../lib/comments/deleteThreads.ts';
import { eraseUsersStep } from '../../../lib/deletion/eraseUsersStep.ts';
import { MAX_REVOCATIONS } from '../../../lib/directory/rules/access.ts';
import { JobEntity, REQUESTS_ENDED_MS, type StoredJob } from '../../../lib/jobs/jobStore.ts';
import { WaitingEntryEntity } from '../../../lib/mail/waiting/entryStore.ts';
import { newId } from '../../../lib/shared/ids.ts';
import { insert, Table } from '../../../lib/table/table.ts';
import { forAllTests, forEachTest, table } from '../../support/acmeWorld.ts';
import { beforeWrite } from '../../support/beforeWrite.ts';
import { itemsOf, nda } from '../../support/content.ts';
import { type Fault, InjectedError, Invocation, Trial } from '../../support/crashes.ts';
import { type Customer, newCustomer } from '../../support/customer.ts';
import { startEngine, TABLE_NAME } from '../../support/engine.ts';
import { involvements } from '../../support/involvements.ts';
import { itemsOfTenant } from '../../support/items.ts';
import { runAsJob } from '../../support/jobRunner.ts';
import { asDocumentClient, type Command } from '../../support/leanClient.ts';
import { nextMillisecond } from '../../support/nextMillisecond.ts';
import { storedOrganizationScope } from '../../support/storedScope.ts';
import { addThreads } from '../../support/threads.ts';
import { times } from '../../support/times.ts';
import { ada, createUserRecords, namesOf, traces } from '../../support/userTraces.ts';

const DELETE = '/v2/users/data/delete';
const STATUS = '/v2/users/data/delete/status';

type Item = Record<string, any>;

const engine = forAllTests(() => startEngine({ table: 'memory' }));

const EXPIRING_TYPES = ['AccessRemoval', 'Event', 'EventPayload', 'Idempotency', 'Erasure', 'Job'];

/** Returns the items of a tenant by key. Items that expire are left out, and so are revisions. */
async function dump(tenant: string): Promise<Map<string, Item>> {
  const own = (await itemsOfTenant(engine, tenant)).filter(({ _t }) => !EXPIRING_TYPES.includes(_t));
  return new Map(
    own.map(({ _r, _w, ...item }) => [
      `${item.PK} ${item.SK}`.replaceAll(tenant, 'TENANT'),
      JSON.parse(JSON.stringify(item).replaceAll(tenant, 'TENANT')),
    ]),
  );
}

/** Returns the removed items, the names of the added items, and the changed items before and after. */
function differences(before: Map<string, Item>, after: Map<string, Item>) {
  const name = ({ _t, PK, SK }: Item) => `${_t} ${PK} ${SK}`;
  return {
    removed: [...before].flatMap(([key, item]) => (after.has(key) ? [] : [item])),
    added: [...after].flatMap(([key, item]) => (before.has(key) ? [] : [name(item)])),
    changed: [...after].flatMap(([key, item]) =>
      before.has(key) && !isDeepStrictEqual(before.get(key), item) ? [{ before: before.get(key)!, after: item }] : [],
    ),
  };
}

/** Runs a job step by step, as its worker does. If a step must not start yet, the clock moves forward to that time. */
class Runner {
  now: number;
  job: StoredJob;
  readonly waits: number[] = [];

  constructor(job: StoredJob, now: number) {
    [this.job, this.now] = [job, now];
  }

  static async of(customer: Customer): Promise<Runner> {
    const [job] = (await itemsOf(engine, customer, 'Job')).filter(({ kind }) => kind === 'eraseUsers');
    return new Runner({ ...job, tenant: customer.apiKey } as unknown as StoredJob, Number(job!.createdAt) + 1);
  }

  /** Runs the job to its end. With `upToWait`, stops when the next step must wait. */
  async run(on: Table = table, upToWait = false): Promise<void> {
    for (;;) {
      const result = await runAsJob(() => eraseUsersStep(on, this.job, () => this.now));
      if (result === 'done') return;
      this.job = { ...this.job, progress: JSON.stringify(result.progress) };
      if (result.notBefore !== undefined) {
        this.waits.push(result.notBefore - this.job.createdAt);
        this.now = Math.max(this.now, result.notBefore);
        if (upToWait) return;
      }
    }
  }
}

/** Twice, because the user has the same records in two organizations. */
const twice = (...names: string[]) => names.flatMap((name) => [name, name]);
const typesOf = (items: readonly Item[]) =>
  Object.fromEntries([...Map.groupBy(items, ({ _t }) => _t)].map(([type, some]) => [type, some.length]).toSorted());

const isTombstone = (line: string) => /^(?:DeletedThread|HiddenCommentDeletion) /.test(line);

describe('users/data/delete', () => {
  const customer = forEachTest(newCustomer);
  const begin = (data: object) => customer.untyped(DELETE, data);
  const status = (jobId: string) => customer.untyped(STATUS, { jobId });
  const run = async () => (await Runner.of(customer)).run();
  const createIn = async (...organizationIds: string[]) => {
    for (const organizationId of organizationIds) await createUserRecords(customer, organizationId);
  };
  /** Returns what the user can do in the document `nda`. */
  const rightsOf = async (userId: string) =>
    (
      await customer.ok('/v2/auth/permissions/get', { organizationId: 'acme', userIds: [userId], documentIds: ['nda'] })
    )[userId];
  const storedUser = async () => (await itemsOf(engine, customer, 'User')).find(({ userId }) => userId === ada.userId);
  const expectNoTraces = async () => {
    const after = JSON.stringify([...(await dump(customer.apiKey))]);
    for (const trace of traces) expect(after).not.toContain(trace);
  };

  test('keeps a reply that another user adds while the last comment of a thread is erased', async () => {
    const COMMENTS = '/v2/commentannotations/comments';
    const inThread = { ...nda, annotationId: 'review' };
    const reply = (userId: string) =>
      customer.ok(`${COMMENTS}/add`, { ...inThread, commentData: [{ commentText: userId, from: { userId } }] });
    await addThreads(customer, [
      { annotationId: 'review', commentData: [{ commentText: '?', from: { userId: 'bob' } }] },
    ]);
    await reply('ada');
    await customer.ok(`${COMMENTS}/delete`, { ...inThread, commentIds: [1] });
    const [head] = await itemsOf(engine, customer, 'Thread');
    await begin({ userIds: ['ada'] });
    const runner = await Runner.of(customer);
    beforeWrite(
      () => reply('bob'),
      (ops) => ops.some((op) => 'remove' in op && op.remove.SK === head!.SK),
    );
    await runner.run();
    const [thread] = await customer.ok('/v2/commentannotations/get', { ...nda, annotationIds: ['review'] });
    expect(thread.comments).toMatchObject([{ commentText: 'bob' }]);
  });

  test("erases name, address, picture and text everywhere, and changes other users' records only where necessary", async () => {
    await createIn('acme', 'beta');
    const before = await dump(customer.apiKey);
    for (const trace of traces.filter((trace) => trace !== 'ada-mail'))
      expect(JSON.stringify([...before])).toContain(trace);
    const started = await begin({ userIds: [ada.userId] });
    expect(started).toEqual({ jobId: expect.stringMatching(/^job_/), tasksCount: 3 });
    expect(await status(started.jobId)).toEqual({
      isDeleteCompleted: false,
      tasksLeft: 3,
      lastTaskCompletedTime: null,
    });
    const runner = await Runner.of(customer);
    await runner.run();
    expect(runner.waits).toEqual([REQUESTS_ENDED_MS]);
    expect(await status(started.jobId)).toEqual({
      isDeleteCompleted: true,
      tasksLeft: 0,
      lastTaskCompletedTime: runner.now,
    });

    const after = await dump(customer.apiKey);
    const { removed, added, changed } = differences(before, after);
    for (const trace of traces) expect(JSON.stringify([...after])).not.toContain(trace);
    // Only tombstones of deleted threads and of hidden comments are added. They hold ids, times and who could see the record.
    expect(added.filter((line) => !isTombstone(line))).toEqual([]);
    // In each of two organizations, the user wrote two comments in other users' threads, two in the thread `byAda` and
    // 25 in the thread `long`.
    expect(typesOf(removed)).toMatchObject({
      Comment: 58,
      Recording: 2,
      RecordId: 18,
      User: 1,
      Grant: 4,
      Contact: 2,
      NotificationSettings: 2,
    });
    const own = removed.filter(({ _t }) => ['Activity', 'Notification', 'Reaction', 'Thread'].includes(_t));
    expect(namesOf(own)).toEqual(
      twice(
        'Activity ofAda',
        'Notification byAda',
        'Notification toAda',
        'Reaction onAda',
        'Reaction onDocument',
        'Reaction onlyAda',
        'Thread byAda',
        'Thread long',
      ),
    );
    expect(await involvements(engine, customer, ada.userId)).toEqual([]);

    // The user's id stays only in records of other users that mention it.
    const named = [...after.values()].filter((item) => JSON.stringify(item).includes(ada.userId));
    const mentioning = [
      'Activity withAda',
      'Comment byGrace 1',
      'Comment byGrace 3',
      'Notification toBoth',
      'Reaction both',
      'Reaction ofGrace',
      'Recording ofGrace',
      'Thread byGrace',
    ];
    expect(namesOf(named)).toEqual(twice(...mentioning));
    const others = [
      'Activity aboutAda',
      'Invitation guest@example.com',
      'Notification aboutAda',
      'Notification toAll',
      'Thread offered',
    ];
    expect(namesOf(changed.map((change) => change.after))).toEqual(twice(...[...mentioning, ...others].sort()));

    const thread = [...after.values()].find(({ _t, annotationId }) => _t === 'Thread' && annotationId === 'byGrace')!;
    expect(thread).not.toHaveProperty('assignedTo');
    expect(thread).not.toHaveProperty('statusUpdatedByUserId');
    expect([thread.visibility.userIds, thread.commentCount, JSON.parse(thread.participants)]).toEqual([
      ['grace', 'max'],
      2,
      expect.arrayContaining([[ada.userId, 0, 2]]),
    ]);
    const byGrace = await customer.ok('/v2/commentannotations/get', {
      ...nda,
      annotationIds: ['byGrace'],
    });
    expect(byGrace).toMatchObject([
      {
        commentCount: 2,
        subscribedUsers: [{ userId: 'grace' }],
        unsubscribedUsers: [],
        comments: [
          {
            commentText: 'Grace asks',
            taggedUserContacts: [{ userId: ada.userId, contact: { userId: ada.userId } }],
            reactionAnnotationIds: ['both'],
          },
          { commentText: 'Max writes', to: [{ userId: ada.userId }, { userId: 'grace' }] },
        ],
      },
    ]);
    const notifications = await customer.ok('/v2/notifications/get', nda);
    expect(notifications.find(({ id }: Item) => id === 'toAll')).toMatchObject({
      displayBodyMessage: '',
      notificationSourceData: { annotationId: 'byGrace', commentId: 2 },
    });
  });

  test('erases the user in the given organizations only, and keeps the profile', async () => {
    await createIn('acme', 'beta');
    const before = await dump(customer.apiKey);
    expect(
      (await begin({ userIds: [ada.userId, ada.userId, 'nobody'], organizationIds: ['acme', 'acme'] })).tasksCount,
    ).toBe(2);
    const runner = await Runner.of(customer);
    await runner.run();
    const after = await dump(customer.apiKey);
    const { removed, changed, added } = differences(before, after);
    const beta = (await storedOrganizationScope(customer, { organizationId: 'beta' })).organizationKey;
    expect(
      [...removed, ...changed.map((change) => change.after)].filter((item) => JSON.stringify(item).includes(beta)),
    ).toEqual([]);
    expect(added.filter((line) => !isTombstone(line))).toEqual([]);
    expect(typesOf(removed)).toMatchObject({ Thread: 2, Comment: 29 });
    expect(removed.some(({ _t }) => _t === 'User')).toBe(false);
    const profile = (items: Map<string, Item>) =>
      [...items.values()].find(({ _t, userId }) => _t === 'User' && userId === ada.userId);
    expect(profile(after)).toEqual(profile(before));
  });

  test("hides a user's data, access and profile before the request returns", async () => {
    await createUserRecords(customer, 'acme');
    await customer.setAccess('restricted', ['nda']);
    expect((await rightsOf(ada.userId)).documents.nda.accessRole).toBe('editor');
    await begin({ userIds: [ada.userId] });
    expect((await rightsOf(ada.userId)).documents.nda.accessRole).not.toBe('editor');
    expect(await customer.ok('/v2/users/data/get', { organizationId: 'acme', userId: ada.userId })).toEqual({
      comments: [],
      reactions: [],
      recordings: [],
      notifications: [],
    });
    expect(await storedUser()).not.toHaveProperty('name');
    // The data of other users is unchanged.
    expect(
      (await customer.ok('/v2/users/data/get', { organizationId: 'acme', userId: 'grace' })).comments.length,
    ).toBeGreaterThan(5);
  });

  test('hides a user with the largest number of unfinished removals before the request returns', async () => {
    const documentIds = times(MAX_REVOCATIONS, (i) => `d${i}`);
    await customer.addDocuments(['nda', ...documentIds]);
    await customer.addUsers(['ada']);
    for (const documentId of documentIds)
      await customer.ok('/v2/users/delete', { organizationId: 'acme', documentId, userIds: ['ada'] });
    await begin({ userIds: ['ada'] });
    const { documents, organization } = await rightsOf('ada');
    expect([documents.nda.errorCode, organization.acme.errorCode]).toEqual(['permission_denied', 'permission_denied']);
  });

  test('does not count an erased user as a user before the job ends', async () => {
    await createUserRecords(customer, 'acme');
    await customer.addGroup('lawyers', []);
    const { userId } = ada;
    await begin({ userIds: [userId] });
    const { documents } = await rightsOf(userId);
    expect(documents.nda).toMatchObject({ errorCode: 'permission_denied', accessType: 'public' });
    for (const [path, data] of [
      ['/v2/users/update', { users: [{ userId, name: 'New name' }] }],
      ['/v2/organizations/usergroups/users/add', { organizationUserGroupId: 'lawyers', userIds: [userId] }],
      ['/v2/notifications/config/set', { userIds: [userId], config: { inbox: 'NONE' } }],
    ] as const)
      expect((await customer.untyped(path, { organizationId: 'acme', ...data }))[userId]).toMatchObject({
        success: false,
        message: 'User does not exist.',
      });
    await run();
    expect(await storedUser()).toBeUndefined();
  });

  test('deletes what waits to be mailed to the user, and the channel of the user in Slack', async () => {
    await addThreads(customer, [{ annotationId: 'a', commentData: [{ commentText: '?', from: { userId: 'bob' } }] }]);
    const { tenant, organizationKey } = await storedOrganizationScope(customer);
    const addEntries = async (userId: string, createdAt: number) => {
      for (const channel of ['email', 'slack'] as const) {
        const entry = {
          joinsAt: createdAt,
          createdAt,
          mailId: newId('mail', createdAt),
          eventId: 'e',
          documentKey: 'd',
        };
        await table.write([insert(WaitingEntryEntity, { tenant, organizationKey, userId, channel, ...entry })]);
      }
    };
    for (const userId of ['ada', 'bob']) {
      await addEntries(userId, Date.now() - 1_000);
      await rememberChannel(table, tenant, { userId, source: 's', channelId: 'D1' }, Date.now());
    }
    await begin({ userIds: ['ada'] });
    await addEntries('ada', Date.now() + 1_000);
    await run();
    const left = (await itemsOfTenant(engine, tenant)).filter(({ _t }) => ['WaitingEntry', 'ChatUser'].includes(_t));
    const partitionsOf = (userId: string) =>
      (['email', 'slack'] as const).map((channel) =>
        WaitingEntryEntity.partition({ tenant, organizationKey, userId, channel }),
      );
    const chats = ChatUserEntity.partition({ tenant, userId: 'bob' });
    expect(left.map(({ PK }) => PK).sort()).toEqual([...partitionsOf('ada'), ...partitionsOf('bob'), chats].sort());
  });

  test('ends the presence of a user in the first pass', async () => {
    await customer.addDocuments(['nda']);
    await customer.addUsers([ada.userId]);
    await customer.ok('/v2/presence/add', { ...nda, users: [{ userId: ada.userId }, { userId: 'grace' }] });
    await begin({ userIds: [ada.userId] });
    await (await Runner.of(customer)).run(table, true);
    expect((await customer.ok('/v2/presence/get', nda)).users).toMatchObject([{ userId: 'grace' }]);
  });

  test('keeps access and content of a user who is added again during the erasure', async () => {
    await createIn('acme');
    await begin({ userIds: [ada.userId] });
    const runner = await Runner.of(customer);
    await runner.run(table, true);
    nextMillisecond();
    await customer.addUsers([{ userId: ada.userId, name: 'New name' }]);
    const comment = { commentText: 'Back again', from: { userId: ada.userId, name: 'New name' } };
    await customer.ok('/v2/commentannotations/comments/add', {
      ...nda,
      annotationId: 'byGrace',
      commentData: [comment],
    });
    await customer.ok('/v2/commentannotations/add', {
      ...nda,
      commentAnnotations: [{ annotationId: 'new', commentData: [comment] }],
    });
    await runner.run();
    expect(await customer.ok('/v2/users/get', { organizationId: 'acme', userIds: [ada.userId] })).toMatchObject([
      { userId: ada.userId, name: 'New name' },
    ]);
    const { comments } = await customer.ok('/v2/users/data/get', { organizationId: 'acme', userId: ada.userId });
    expect(comments.map(({ annotationId, commentText }: Item) => [annotationId, commentText])).toEqual([
      ['byGrace', 'Back again'],
      ['new', 'Back again'],
    ]);
    expect(await storedUser()).not.toHaveProperty('revocations');
    expect(JSON.stringify([...(await dump(customer.apiKey))])).not.toContain('Ada-Name');
  });

  test('continues the job of an earlier version, and begins its organization again', async () => {
    await createUserRecords(customer, 'acme');
    const { organizationKey } = await storedOrganizationScope(customer);
    await begin({ userIds: [ada.userId] });
    const runner = await Runner.of(customer);
    await runner.run(table, true);
    const place = { organizationId: 'acme', organizationKey, index: 0, users: 0, tasksDone: 0, kept: [] };
    const content = { listed: 'offer', open: [{ documentKey: 'doc_0', part: 4, after: 'a' }] };
    const progress = { pass: 2, ...place, content, judgments: { after: 'a' } };
    runner.job = { ...runner.job, progress: JSON.stringify(progress) };
    await runner.run();
    await expectNoTraces();
  });

  test('succeeds and changes nothing if the user is already erased', async () => {
    await createIn('acme');
    await begin({ userIds: [ada.userId] });
    const first = await Runner.of(customer);
    await first.run();
    const before = await dump(customer.apiKey);
    await table.removeKeys([JobEntity.key(first.job)]);
    const again = await begin({ userIds: [ada.userId] });
    await run();
    expect(await dump(customer.apiKey)).toEqual(before);
    expect(await status(again.jobId)).toMatchObject({ isDeleteCompleted: true, tasksLeft: 0 });
  });

  test('rejects unknown organizations and names each of them', async () => {
    await customer.ok('/v2/organizations/add', { organizations: [{ organizationId: 'acme' }] });
    const organizationIds = ['acme', 'nowhere', 'acme', 'elsewhere'];
    const { body } = await customer.call(DELETE, { userIds: ['ada'], organizationIds });
    expect(body.error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      details: { issues: [1, 3].map((index) => ({ message: `organizationIds[${index}] does not exist` })) },
    });
    expect(await itemsOf(engine, customer, 'Job')).toEqual([]);
  });

  test('erases the first 30 of more than 30 users, and reports 30 tasks', async () => {
    const userIds = times(32, (index) => `u${index}`);
    await customer.addUsers(userIds.map((userId) => ({ userId, name: 'X' })));
    const { tasksCount } = await begin({ userIds: ['u0', ...userIds], organizationIds: ['acme'] });
    expect(tasksCount).toBe(30);
    const left = await customer.ok('/v2/users/get', { organizationId: 'acme' });
    expect(left.map(({ userId }: Item) => userId).sort()).toEqual(['u30', 'u31']);
  });

  test('accepts unknown users. Its status returns NOT_FOUND for unknown jobs and jobs of other tenants', async () => {
    const { jobId, tasksCount } = await begin({ userIds: ['nobody'] });
    expect(tasksCount).toBe(1);
    await run();
    expect(await status(jobId)).toMatchObject({ isDeleteCompleted: true });
    const other = await newCustomer();
    for (const [who, id] of [
      [customer, 'job_x'],
      [other, jobId],
    ] as const)
      expect((await who.call(STATUS, { jobId: id })).status).toBe(404);
  });
});

/** Injects a fault into every n-th write of a run. */
class RepeatedFault extends Trial {
  readonly #every: number;
  readonly #fault: Omit<Fault, 'occurrence'>;
  #writes = 0;

  constructor(every: number, fault: Omit<Fault, 'occurrence'>) {
    super();
    [this.#every, this.#fault] = [every, fault];
  }

  override next(name: string): Fault | undefined {
    const callNumber = this.calls.push(name);
    if (/^(Get|BatchGet|Query)/.test(name) || ++this.#writes % this.#every !== 0) return undefined;
    this.injected.push(`${this.#fault.failure} ${this.#fault.when} ${name}`);
    return { occurrence: callNumber, ...this.#fault };
  }
}

describe('erasure with faults', () => {
  let fixture: Item[];
  let job: StoredJob;
  let expected: Record<string, Item>;
  let writes = 0;
  let source: string;
  beforeAll(async () => {
    const customer = await newCustomer();
    source = customer.apiKey;
    await createUserRecords(customer, 'acme');
    await customer.ok(DELETE, { userIds: [ada.userId] });
    fixture = (await itemsOfTenant(engine, source)).filter(({ _t }) => !['Event', 'EventPayload'].includes(_t));
    ({ job } = await Runner.of(customer));
    const whole = new Trial();
    expected = await outcomeOf('whole', whole);
    writes = whole.calls.filter((name) => !/^(Get|BatchGet|Query)/.test(name)).length;
  });

  /**
   * Copies the fixture to another tenant and erases its user, with the faults of the trial. Returns the items that
   * remain.
   */
  async function outcomeOf(name: string, trial: Trial): Promise<Record<string, Item>> {
    const copies = fixture.map((item) => JSON.parse(JSON.stringify(item).replaceAll(source, name)) as Item);
    for (let i = 0; i < copies.length; i += 100) {
      await engine.lean.send(
        new TransactWriteCommand({
          TransactItems: copies.slice(i, i + 100).map((Item) => ({ Put: { TableName: TABLE_NAME, Item } })),
        }),
      );
    }
    const runner = new Runner({ ...job, tenant: name }, job.createdAt + 1);
    for (;;) {
      const invocation = new Invocation(trial);
      const client = {
        send: (command: Command) => invocation.call(command.constructor.name, () => engine.lean.send(command)),
      };
      try {
        await Promise.race([invocation.crashed, runner.run(new Table(asDocumentClient(client), TABLE_NAME))]);
        break;
      } catch (error) {
        if (!(error instanceof InjectedError)) throw error;
      }
    }
    const own = await itemsOfTenant(engine, name);
    // The purge of an interrupted removal has its own job.
    for (const { kind, data } of own) if (kind === 'purgeLeftover') await purgeLeftover(table, name, JSON.parse(data));
    expect(own.find(({ _t }) => _t === 'Erasure')).toMatchObject({ tasksLeft: 0 });
    return Object.fromEntries([...(await dump(name))].toSorted());
  }

  test.each<[number, Omit<Fault, 'occurrence'>]>([
    [1, { failure: 'crash', when: 'after' }],
    [2, { failure: 'crash', when: 'before' }],
    [3, { failure: 'crash', when: 'after' }],
    [2, { failure: 'error', when: 'after' }],
    [1, { failure: 'repetition', when: 'after' }],
  ])('stores the same result if it is interrupted at every %ith write: %j', async (every, fault) => {
    const trial = new RepeatedFault(every, fault);
    expect(await outcomeOf(`faults-${every}-${fault.failure}-${fault.when}`, trial)).toEqual(expected);
    // Checks that the faults occurred. At least half of the expected number is required.
    expect(trial.injected.length).toBeGreaterThanOrEqual(Math.floor(writes / every / 2));
  });
});
