import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { purgeFolders } from '../../../lib/deletion/purgeFolders.ts';
import { removeUsersStep } from '../../../lib/deletion/removeUsersStep.ts';
import { AccessRemovalEntity } from '../../../lib/directory/accessRemovals.ts';
import { changeFoldersStep } from '../../../lib/directory/folders/changeFoldersStep.ts';
import { FolderRevocationEntity, startFolderRevocations } from '../../../lib/directory/folders/folderRevocations.ts';
import { FolderEntity } from '../../../lib/directory/folders/folders.ts';
import { OrganizationEntity } from '../../../lib/directory/organizations.ts';
import { MAX_REVOCATIONS } from '../../../lib/directory/rules/access.ts';
import { GrantEntity, UserEntity } from '../../../lib/directory/users.ts';
import { type ScopedGrant, UserWriter } from '../../../lib/directory/userWriter.ts';
import { JobEntity, JobStore, REQUESTS_ENDED_MS, type StoredJob } from '../../../lib/jobs/jobStore.ts';
import { runJob, type RunJobDeps } from '../../../lib/jobs/runJob.ts';
import { insert, replace, Table } from '../../../lib/table/table.ts';
import { acmeWorld, forAllTests, invalid, table } from '../../support/acmeWorld.ts';
import { beforeWrite } from '../../support/beforeWrite.ts';
import { TABLE_NAME } from '../../support/engine.ts';
import { itemsOfTenant } from '../../support/items.ts';
import { runAsJob } from '../../support/jobRunner.ts';
import { asDocumentClient, type TableClient } from '../../support/leanClient.ts';
import { nextMillisecond } from '../../support/nextMillisecond.ts';
import { startQueues } from '../../support/queues.ts';
import { storedDocumentScope, storedOrganizationScope } from '../../support/storedScope.ts';
import { addThreads, comment, commentCalls, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';
import { recordingMeasures } from '../../support/workers.ts';

const DELETE = '/v2/users/delete';
const acme = { organizationId: 'acme' };
const nda = { ...acme, documentId: 'nda' };

const { engine, customer, itemsOf } = acmeWorld({ table: 'memory' });
const queues = forAllTests(startQueues);
/** How far the clock of jobs is ahead, in milliseconds. */
let clockOffset: number;

/**
 * Creates a customer for each test. In acme there are nested folders with one document in the inner folder, and two
 * documents at the top. All are restricted.
 */
beforeEach(async () => {
  clockOffset = 0;
  delayedMessages = [];
  queues.clear();
  await customer.addFolders([
    { folderId: 'outer', accessType: 'restricted' },
    { folderId: 'inner', parentFolderId: 'outer' },
  ]);
  await customer.addDocuments(['filed'], { folderId: 'inner' });
  await customer.addDocuments(['nda', 'other']);
  await customer.setAccess('restricted', ['nda', 'other']);
});

const on = (type: string, id: string) => ({ type, id, ...(type !== 'organization' && acme), accessRole: 'viewer' });
const grant = (userId: string, ...resources: object[]) => customer.grant(userId, ...resources);
const everywhere = { organization: 'acme', folders: ['outer', 'inner'], documents: ['filed', 'nda', 'other'] };
const add = (where: object, ...userIds: string[]) =>
  customer.addUsers(
    userIds.map((userId) => ({ userId, name: userId })),
    where,
  );
const remove = (where: object, ...userIds: string[]) => customer.ok(DELETE, { ...acme, ...where, userIds });
const contacts = async (where: object) =>
  (await customer.ok('/v2/users/get', { ...acme, ...where })).map(({ userId }: any) => userId);

/** Returns a user's roles by resource id. */
async function roles(userId: string): Promise<Record<string, string>> {
  const { [userId]: permissions } = await customer.ok('/v2/auth/permissions/get', {
    ...acme,
    userIds: [userId],
    folderIds: everywhere.folders,
    documentIds: everywhere.documents,
  });
  const entries = Object.entries({ ...permissions.organization, ...permissions.folders, ...permissions.documents });
  return Object.fromEntries(entries.flatMap(([id, { accessRole }]: any) => (accessRole ? [[id, accessRole]] : [])));
}

/** The delayed messages of jobs that were sent but not yet processed. */
let delayedMessages: { readonly body: any }[] = [];
const silentLog = { info() {}, warn() {}, error() {} };

/**
 * Runs the jobs that have a message. With `end`, each job runs to its end. With `delay`, it stops when it sends a
 * delayed message.
 */
async function runJobs(upTo: 'delay' | 'end' = 'end'): Promise<void> {
  const jobs = new JobStore(table);
  const steps = {
    removeUsers: (job: StoredJob, clock: () => number) => runAsJob(() => removeUsersStep(table, job, clock)),
    changeFolders: (job: StoredJob, clock: () => number) =>
      runAsJob(() => changeFoldersStep(table, job, clock, purgeFolders)),
  } as unknown as RunJobDeps['steps'];
  if (upTo === 'end' && delayedMessages.length > 0) clockOffset += REQUESTS_ENDED_MS;
  let messages = [...(upTo === 'end' ? delayedMessages.splice(0) : []), ...queues.messagesOf('jobs')];
  queues.clear();
  while (messages.length > 0) {
    const queue = { send: async (sent: readonly { readonly body: object }[]) => void delayedMessages.push(...sent) };
    for (const { body } of messages)
      await runJob(
        { jobs, steps, queue },
        {
          message: body,
          clock: () => Date.now() + clockOffset,
          deadline: Infinity,
          log: silentLog,
          measures: recordingMeasures(),
        },
      );
    if (upTo === 'delay') return;
    if (delayedMessages.length > 0) clockOffset += REQUESTS_ENDED_MS;
    messages = delayedMessages.splice(0);
  }
}

/**
 * The types of items that a removal leaves: the profile, jobs, and the records of removed access, which expire later.
 */
const REMAINING: readonly string[] = ['User', 'Job', AccessRemovalEntity.type];

/** Returns the type and sort key of the items of a user in `acme`. Items of the types in `REMAINING` are left out. */
async function itemsOfUser(userId: string): Promise<[type: string, sortKey: string][]> {
  const partition = GrantEntity.partition({ ...(await scope()), userId });
  const items = await itemsOfTenant(engine, customer.apiKey);
  return items
    .filter(({ _t, PK, userId: of }) => !REMAINING.includes(_t) && (of === userId || PK === partition))
    .map(({ _t, SK }): [string, string] => [_t, SK])
    .sort();
}

/** Returns the number of a user's items of each type. */
async function itemCounts(userId: string): Promise<Record<string, number>> {
  const groups = Map.groupBy(await itemsOfUser(userId), ([type]) => type);
  return Object.fromEntries([...groups].map(([type, items]) => [type, items.length]));
}

const jobsLeft = async () => (await itemsOf('Job')).length;

const stored = async (userId: string) => (await table.get(UserEntity, { tenant: customer.apiKey, userId }))!;
const scope = () => storedOrganizationScope(customer);

async function addEverywhere(...userIds: string[]): Promise<void> {
  for (const where of [
    {},
    { folderId: 'outer' },
    { folderId: 'inner' },
    { documentId: 'filed' },
    { documentId: 'nda' },
    { documentId: 'other' },
  ])
    await add(where, ...userIds);
  await customer.addGroup('lawyers', userIds);
  await customer.ok('/v2/notifications/config/set', { ...acme, userIds, config: { inbox: 'MINE' } });
  await customer.ok('/v2/notifications/config/set', {
    ...acme,
    userIds,
    documentIds: ['nda', 'other', 'filed'],
    config: { inbox: 'NONE' },
  });
}

describe('users/delete response', () => {
  test('has one entry by user, and success: false for an unknown user', async () => {
    await add({}, 'ada');
    expect(await customer.result(DELETE, { ...acme, userIds: ['ada', 'nobody', 'ada'] })).toEqual({
      status: 'success',
      message: 'User(s) deleted successfully.',
      data: {
        ada: { success: true, message: 'User removed.' },
        nobody: { success: false, message: 'User does not exist.' },
      },
    });
  });

  test('starts no job if none of the users exists', async () => {
    await remove({}, 'nobody', 'nor-me');
    expect([queues.messagesOf('jobs'), await jobsLeft()]).toEqual([[], 0]);
  });

  test.each([
    [
      'an unknown organization',
      { organizationId: 'nowhere', userIds: ['a'] },
      invalid('organizationId: the organization does not exist'),
    ],
    [
      'a document and a folder',
      { documentId: 'nda', folderId: 'outer', userIds: ['a'] },
      invalid('folderId must not be given together with documentId'),
    ],
    ['an unknown document', { documentId: 'nothing', userIds: ['a'] }, [404, 'NOT_FOUND', 'Document does not exist']],
    ['an unknown folder', { folderId: 'nothing', userIds: ['a'] }, [404, 'NOT_FOUND', 'Folder does not exist']],
  ])('rejects %s', async (_what, data, expected) => {
    expect(await customer.error(DELETE, { ...acme, ...data })).toEqual(expected);
  });

  test('accepts 120 ids of 500 characters, and divides them between two jobs', async () => {
    const userIds = times(120, (i) => `${i}-`.padEnd(500, 'ü'));
    await customer.addUsers(userIds);
    expect(Object.values(await remove({}, ...userIds)).filter(({ success }: any) => success)).toHaveLength(120);
    expect(queues.messagesOf('jobs')).toHaveLength(2);
    expect(await contacts({})).toEqual([]);
    await runJobs();
    expect([
      await jobsLeft(),
      await itemsOfUser(userIds[0]!),
      await itemsOfUser(userIds[119]!),
      (await stored(userIds[119]!)).revocations,
    ]).toEqual([0, [], [], undefined]);
  });
});

describe('users/delete', () => {
  const elsewhere = { acme: 'editor', nda: 'editor', other: 'editor' };
  test.each([
    ['the organization and everything in it', {}, {}, {}, []],
    [
      'a document',
      { documentId: 'nda' },
      { ...elsewhere, nda: undefined, outer: 'editor', inner: 'editor', filed: 'editor' },
      { Contact: 5, Grant: 5, NotificationSettings: 3, UserGroupMember: 1 },
      ['ada'],
    ],
    [
      'a folder and everything in it',
      { folderId: 'outer' },
      elsewhere,
      { Contact: 3, Grant: 3, NotificationSettings: 3, UserGroupMember: 1 },
      ['ada'],
    ],
  ])(
    'removes a user at once from %s, and a job purges the data',
    async (_what, where, remaining, items, groupMembers) => {
      await addEverywhere('ada', 'bob');
      const [bobs, bobsRoles] = [await itemsOfUser('bob'), await roles('bob')];
      await remove(where, 'ada');
      expect([await roles('ada'), await contacts(where)]).toEqual([remaining, ['bob']]);
      const lawyers = () => contacts({ organizationUserGroupIds: ['lawyers'] });
      expect(await lawyers()).toEqual([...groupMembers, 'bob']);
      await runJobs();
      expect([
        await roles('ada'),
        await itemCounts('ada'),
        (await stored('ada')).revocations,
        await jobsLeft(),
      ]).toEqual([remaining, items, undefined, 0]);
      expect(await lawyers()).toEqual([...groupMembers, 'bob']);
      expect([await itemsOfUser('bob'), await roles('bob')]).toEqual([bobs, bobsRoles]);
    },
  );

  test('purges content that the user created, and nothing in other organizations', async () => {
    await add({ organizationId: 'elsewhere', createOrganization: true }, 'ada');
    await add({}, 'ada');
    await addThreads(customer, ['talk']);
    await remove({}, 'ada');
    await runJobs();
    expect(await customer.ok('/v2/commentannotations/get', nda)).toEqual([]);
    expect(await contacts({ organizationId: 'elsewhere' })).toEqual(['ada']);
  });

  test('succeeds for the author of an imported comment who was never added as a user', async () => {
    await addThreads(customer, [thread('talk', { commentData: [comment({ from: { userId: 'stranger' } })] })]);
    expect(await remove({}, 'stranger')).toEqual({ stranger: { success: true, message: 'User removed.' } });
    expect(await remove({ documentId: 'other' }, 'stranger')).toEqual({
      stranger: { success: true, message: 'User removed.' },
    });
    await runJobs();
    expect([await customer.ok('/v2/commentannotations/get', nda), await itemsOfUser('stranger')]).toEqual([[], []]);
    expect(await remove({}, 'stranger')).toEqual({ stranger: { success: false, message: 'User does not exist.' } });
  });

  test('purges content of a user who is added again before the job runs, and keeps the new grants', async () => {
    await addThreads(customer, [thread('talk', { commentData: [comment({ from: { userId: 'stranger' } })] })]);
    await remove({}, 'stranger');
    await add({ documentId: 'nda' }, 'stranger');
    await runJobs();
    expect([await customer.ok('/v2/commentannotations/get', nda), await roles('stranger')]).toEqual([
      [],
      { nda: 'editor' },
    ]);
  });
});

describe('users/add during a removal that began before it', () => {
  /** Removes ada as a request that began at `startedAt`. */
  const removeAsOf = async (startedAt: number) => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(startedAt);
    await remove({}, 'ada');
    clock.mockRestore();
  };

  test('adds the user to the contact list if it changes the role', async () => {
    await customer.addUsers([{ userId: 'ada', accessRole: 'viewer' }]);
    const startedAt = nextMillisecond();
    nextMillisecond();
    beforeWrite(() => removeAsOf(startedAt));
    await customer.addUsers([{ userId: 'ada', accessRole: 'editor' }]);
    expect([await roles('ada'), await contacts({})]).toMatchObject([{ acme: 'editor' }, ['ada']]);
  });

  test('gives access if it only finds the user missing in the contact list', async () => {
    await add({}, 'ada');
    const startedAt = nextMillisecond();
    nextMillisecond();
    const { getMany } = Table.prototype;
    const removeAsTest = AsyncLocalStorage.bind(() => removeAsOf(startedAt));
    const spy = jest.spyOn(Table.prototype, 'getMany').mockImplementation(async function (this: Table, entity, keys) {
      if (entity.type === 'Contact') {
        spy.mockRestore();
        await removeAsTest();
      }
      return getMany.call(this, entity, keys);
    });
    await add({}, 'ada');
    expect([await roles('ada'), await contacts({})]).toMatchObject([{ acme: 'editor' }, ['ada']]);
  });
});

test('users/delete removes a user from a folder with more contents than one step of the job reads', async () => {
  const acmeScope = await scope();
  const folders = times(30, (i) => ({
    folderId: `f${i}`,
    parentFolderId: i % 5 === 0 ? 'inner' : `f${i - 1}`,
  }));
  await customer.addFolders(folders);
  for (let i = 0; i < 30; i += 6)
    await customer.addDocuments(
      times(20, (n) => ({ documentId: `d${i}-${n}` })),
      { folderId: `f${i}` },
    );
  await grant('ada', ...folders.map(({ folderId }) => on('folder', folderId)));
  await grant('ada', ...[0, 6, 12, 18, 24].flatMap((i) => times(20, (n) => on('document', `d${i}-${n}`))));
  await grant('ada', on('document', 'nda'));
  await remove({ folderId: 'outer' }, 'ada');
  const { jobId } = queues.messagesOf('jobs')[0]!.body;
  let job = (await new JobStore(table).get({ tenant: acmeScope.tenant, jobId }))!;
  for (;;) {
    const result = await removeUsersStep(table, job, () => Date.now() + REQUESTS_ENDED_MS, 7);
    if (result === 'done') break;
    job = { ...job, progress: JSON.stringify(result.progress) };
  }
  expect(await roles('ada')).toEqual({ nda: 'viewer' });
  expect(await itemsOfUser('ada')).toHaveLength(1);
});

describe('users/delete with folderId, and moves before its job ends', () => {
  const [MOVE, UPDATE] = ['/v2/organizations/documents/move', '/v2/organizations/folders/update'];
  const moveDocument = (documentId: string, folderId: string) =>
    customer.call(MOVE, { ...acme, documentIds: [documentId], folderId });
  const moveFolder = (folderId: string, parentFolderId: string) =>
    customer.call(UPDATE, { ...acme, folders: [{ folderId, parentFolderId }] });
  const statusOf = async (call: Promise<{ readonly body: any }>) => (await call).body.error?.status ?? 'done';
  /** Returns the number of jobs that the organization counts, and the number of items that close folders. */
  const closed = async () => [
    (await table.get(OrganizationEntity, { tenant: customer.apiKey, organizationId: 'acme' }))!.folderRevocations,
    (await itemsOf('FolderRevocation')).length,
  ];
  const keyOf = async (folderId: string) =>
    (await table.get(FolderEntity, { ...(await scope()), folderId }))!.internalId;

  beforeEach(async () => {
    await customer.addFolders([
      { folderId: 'apart', accessType: 'restricted' },
      { folderId: 'deep', parentFolderId: 'inner' },
    ]);
    await customer.addDocuments(['lowest'], { folderId: 'deep' });
    await grant(
      'ada',
      ...['outer', 'inner', 'apart', 'deep'].map((id) => on('folder', id)),
      ...['filed', 'lowest', 'nda', 'other'].map((id) => on('document', id)),
    );
    for (const documentId of ['filed', 'nda', 'lowest']) await add({ documentId }, 'ada');
  });

  const crossings: [what: string, path: string, data: object][] = [
    ['documents/move out of the folder', MOVE, { documentIds: ['other', 'filed'], folderId: 'root' }],
    ['documents/move into a folder below it', MOVE, { documentIds: ['nda'], folderId: 'deep' }],
    ['folders/update out of the folder', UPDATE, { folders: [{ folderId: 'deep', parentFolderId: null }] }],
    ['folders/update into the folder', UPDATE, { folders: [{ folderId: 'apart', parentFolderId: 'outer' }] }],
  ];
  test('documents/move and documents/add out of the folder are ABORTED until the job has ended, and say when to send them again', async () => {
    const call = () => moveDocument('filed', 'root');
    await remove({ folderId: 'outer' }, 'ada');
    const { status, body, headers } = await call();
    expect([status, body.error.status]).toEqual([409, 'ABORTED']);
    const secondsLeft = Number(headers['retry-after']);
    expect([secondsLeft > 60, secondsLeft <= 65]).toEqual([true, true]);
    await runJobs('delay');
    const add = { ...acme, documents: [{ documentId: 'filed' }] };
    expect(await statusOf(call())).toBe('ABORTED');
    expect(await statusOf(customer.call('/v2/organizations/documents/add', add))).toBe('ABORTED');
    await runJobs();
    expect([await statusOf(call()), await closed()]).toEqual(['done', [undefined, 0]]);
  });

  test('new documents and folders in folders that do not exist yet are added before the job has ended', async () => {
    await remove({ folderId: 'outer' }, 'ada');
    expect(await customer.addDocuments(['filed', 'first'], { folderId: 'new', createFolder: true })).toMatchObject({
      filed: { success: false },
      first: { success: true },
    });
    expect(await customer.addFolders([{ folderId: 'deep', parentFolderId: 'second' }, 'second'])).toMatchObject({
      deep: { success: false },
      second: { success: true },
    });
  });

  test('names a later time if users are removed from the folder again', async () => {
    await remove({ folderId: 'outer' }, 'ada');
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 50_000);
    const secondsLeft = async () => Number((await moveDocument('filed', 'root')).headers['retry-after']);
    expect(await secondsLeft()).toBeLessThanOrEqual(15);
    await remove({ folderId: 'outer' }, 'ada');
    expect(await secondsLeft()).toBe(65);
    clock.mockRestore();
  });

  test('removes the user also from what moves inside the folder, and from what moves with it', async () => {
    await remove({ folderId: 'outer' }, 'ada');
    for (const call of [
      () => moveDocument('lowest', 'inner'),
      () => moveFolder('deep', 'outer'),
      () => moveDocument('nda', 'apart'),
      () => moveFolder('outer', 'apart'),
    ])
      expect(await statusOf(call())).toBe('done');
    await runJobs();
    expect(await roles('ada')).toMatchObject({ nda: 'viewer', other: 'viewer' });
    expect(await itemCounts('ada')).toEqual({ Contact: 1, Grant: 3 });
    expect([await closed(), await jobsLeft()]).toEqual([[undefined, 0], 0]);
  });

  test.each(crossings.flatMap((crossing) => [[...crossing, 'first'] as const, [...crossing, 'second'] as const]))(
    '%s with %s and %j conflicts with a removal that begins before it writes: the %s of the organization',
    async (_what, path, data, which) => {
      if (which === 'second') {
        await customer.addFolders(['elsewhere']);
        await remove({ folderId: 'elsewhere' }, 'ada');
      }
      beforeWrite(
        () => remove({ folderId: 'outer' }, 'ada'),
        (ops) => ops.some((op) => 'put' in op && ['Document', 'Folder'].includes(op.put._t as string)),
      );
      expect(await statusOf(customer.call(path, { ...acme, ...data }))).toBe('ABORTED');
    },
  );

  test('uses the place of the target folder after a conflict with a removal', async () => {
    beforeWrite(async () => {
      await moveFolder('apart', 'outer');
      await remove({ folderId: 'outer' }, 'ada');
    });
    expect(await statusOf(moveDocument('nda', 'apart'))).toBe('ABORTED');
  });

  test('keeps the folders of other removals closed when one ends', async () => {
    await remove({ folderId: 'apart' }, 'ada');
    await runJobs('delay');
    await remove({ folderId: 'outer' }, 'ada');
    queues.clear();
    expect(await closed()).toEqual([2, 3]);
    await runJobs();
    expect(await closed()).toEqual([1, 2]);
    expect(await statusOf(moveDocument('filed', 'root'))).toBe('ABORTED');
    expect(await statusOf(moveDocument('nda', 'apart'))).toBe('done');
  });

  test('ignores records of moves that an earlier version left', async () => {
    const record = { jobId: 'job_0', id: 'mov_0', inside: [], outside: [], at: Date.now() };
    await table.write([
      insert(FolderRevocationEntity, { ...(await scope()), ...record, folderKey: await keyOf('outer') }),
    ]);
    await remove({ folderId: 'apart' }, 'ada');
    expect(await statusOf(moveDocument('filed', 'root'))).toBe('done');
  });

  test('moves documents although an earlier version ended the last job', async () => {
    const [ended] = startFolderRevocations(await scope(), [], await keyOf('outer'), Date.now());
    await table.write([ended!]);
    expect(await statusOf(moveDocument('filed', 'root'))).toBe('done');
  });

  test('starts no second pass before the requests have ended that ran at its start', async () => {
    await remove({ folderId: 'outer' }, 'ada');
    await runJobs('delay');
    const job = (await new JobStore(table).get({ tenant: customer.apiKey, jobId: delayedMessages[0]!.body.jobId }))!;
    expect(await runAsJob(() => removeUsersStep(table, job, Date.now))).toEqual({
      progress: { stage: 'second', user: 0 },
      notBefore: job.createdAt + REQUESTS_ENDED_MS,
    });
    await runJobs();
  });

  test('continues the job of an earlier version from the beginning of its pass', async () => {
    await remove({ folderId: 'outer' }, 'ada');
    const { jobId } = queues.messagesOf('jobs')[0]!.body;
    const portion = { root: 'doc_0', stack: [{ internalId: 'doc_0', id: '' }] };
    const job = (await new JobStore(table).get({ tenant: customer.apiKey, jobId }))!;
    await table.write([
      replace(JobEntity, { ...job, progress: JSON.stringify({ stage: 'second', portion, moved: 2, user: 0 }) }, job._r),
    ]);
    clockOffset = REQUESTS_ENDED_MS;
    await runJobs();
    expect([await itemCounts('ada'), await closed()]).toEqual([{ Contact: 1, Grant: 3 }, [undefined, 0]]);
  });
});

describe('users/delete of a user with many grants', () => {
  test('revokes all grants at once, and a job deletes them', async () => {
    const acmeScope = await scope();
    await grant('ada', on('organization', 'acme'), on('document', 'nda'), on('folder', 'outer'));
    const grants = times(1_200, (i): ScopedGrant => ({
      scope: acmeScope,
      resource: { resourceType: 'document', internalId: `doc_${i}` },
      accessRole: 'viewer',
      accessFields: [`n:${i}`],
    }));
    await new UserWriter(table).grant(acmeScope.tenant, 'ada', await stored('ada'), grants, Date.now());
    await remove({}, 'ada');
    const { ada } = await customer.ok('/v2/auth/permissions/get', { ...acme, userIds: ['ada'] });
    expect([ada.context, await roles('ada')]).toEqual([undefined, {}]);
    expect(await itemsOfUser('ada')).toHaveLength(1_203);
    await runJobs();
    expect(await itemsOfUser('ada')).toEqual([]);
  });
});

describe('users/delete of a user who is added again', () => {
  test.each(['before the job', 'between its passes', 'after it'])(
    'keeps new access and restores no old access of a user who is added %s',
    async (when) => {
      await addEverywhere('ada');
      await grant('ada', on('document', 'nda'), on('folder', 'outer'));
      await remove({}, 'ada');
      if (when !== 'before the job') await runJobs(when === 'after it' ? 'end' : 'delay');
      await grant('ada', { ...on('document', 'nda'), accessRole: 'editor' });
      await add({ folderId: 'inner' }, 'ada');
      await customer.ok('/v2/notifications/config/set', { ...acme, userIds: ['ada'], config: { email: 'NONE' } });
      const again = { nda: 'editor', inner: 'editor', filed: 'editor' };
      expect([
        await roles('ada'),
        await contacts({ folderId: 'inner' }),
        await contacts({ documentId: 'nda' }),
      ]).toEqual([again, ['ada'], []]);
      const levels = async () =>
        (await customer.ok('/v2/notifications/config/get', { ...acme, userId: 'ada', getOrganizationConfig: true }))[0]
          .config;
      const set = await levels();
      await runJobs();
      expect([
        await roles('ada'),
        await contacts({ folderId: 'inner' }),
        await contacts({ organizationUserGroupIds: ['lawyers'] }),
        await levels(),
      ]).toEqual([again, ['ada'], [], set]);
      expect(await itemCounts('ada')).toMatchObject({ Grant: 2 });
      expect([await jobsLeft(), (await stored('ada')).revocations]).toEqual([0, undefined]);
    },
  );

  test('keeps an older thread that is assigned, and an older comment that mentions the user, between the passes of the job', async () => {
    const assignedTo = { userId: 'ada', name: 'ada' };
    await add({}, 'ada', 'bob');
    const commentData = [{ commentText: 'Old', from: { userId: 'bob' } }];
    await addThreads(
      customer,
      [{}, {}, { assignedTo }, { commentData: [...commentData, ...commentData] }].map((fields, i) =>
        thread(`t${i}`, { commentData, ...fields }),
      ),
    );
    nextMillisecond();
    await remove({}, 'ada');
    await runJobs('delay');
    nextMillisecond();
    await add({}, 'ada');
    await add({ documentId: 'nda' }, 'ada');
    await customer.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['t0', 't2', 't3'],
      updatedData: { assignedTo },
    });
    // The involvement of the assignee moves to the second comment.
    await commentCalls(customer, 't3').remove({ commentIds: [1] });
    await commentCalls(customer, 't1').update({ commentIds: [1], updatedData: { to: [assignedTo] } });
    const state = async () => {
      const threads = await customer.ok('/v2/commentannotations/get', {
        ...nda,
        annotationIds: ['t0', 't1', 't2', 't3'],
      });
      const { comments } = await customer.ok('/v2/users/data/get', { ...acme, userId: 'ada' });
      const [{ involvedDocuments }] = await customer.ok('/v2/users/get', {
        ...acme,
        userIds: ['ada'],
        includeInvolvedDocuments: true,
      });
      return {
        assignees: threads.map((thread: any) => thread.assignedTo?.name),
        threads: comments.map(({ annotationId }: any) => annotationId),
        involvedDocuments,
      };
    };
    const expected = {
      assignees: ['ada', undefined, 'ada', 'ada'],
      threads: ['t0', 't1', 't2', 't3'],
      involvedDocuments: ['nda'],
    };
    expect(await state()).toEqual(expected);
    await runJobs();
    expect(await state()).toEqual(expected);
  });

  test('keeps notification levels that were set again after the removal from a folder, and no earlier ones', async () => {
    const filed = { ...acme, documentIds: ['filed'] };
    const set = (config: object) => customer.ok('/v2/notifications/config/set', { ...filed, userIds: ['ada'], config });
    const levels = async () =>
      (await customer.ok('/v2/notifications/config/get', { ...filed, userId: 'ada' }))[0].config;
    await add({ documentId: 'filed' }, 'ada');
    await set({ inbox: 'NONE', email: 'NONE' });
    await remove({ folderId: 'outer' }, 'ada');
    await add({ documentId: 'filed' }, 'ada');
    await set({ inbox: 'NONE' });
    expect(await levels()).toEqual({ inbox: 'NONE', email: 'ALL' });
    await runJobs();
    expect(await levels()).toEqual({ inbox: 'NONE', email: 'ALL' });
  });

  test('revokes a grant of a request that began before the removal, even if it is written later', async () => {
    const acmeScope = await scope();
    await grant('ada', on('document', 'nda'));
    const storedAda = await stored('ada');
    const began = Date.now();
    const late = async (internalId: string) =>
      new UserWriter(table).grant(
        acmeScope.tenant,
        'ada',
        storedAda,
        [{ scope: acmeScope, resource: { resourceType: 'document', internalId }, accessRole: 'editor' }],
        began - 1,
      );
    const { documentKey: internalId } = await storedDocumentScope(customer);
    await remove({}, 'ada');
    await late(internalId);
    expect(await roles('ada')).toEqual({});
    await runJobs('delay');
    await late(internalId);
    expect(await roles('ada')).toEqual({});
    await runJobs();
    expect(await itemsOfUser('ada')).toEqual([]);
  });
});

describe('overlapping jobs of users/delete', () => {
  test('delete everything if one job stops halfway and then runs twice at the same time', async () => {
    await addEverywhere('ada', 'bob');
    await remove({}, 'ada', 'bob');
    const { body } = queues.messagesOf('jobs')[0]!;
    const job = (await new JobStore(table).get(body))!;
    const breaking = new Table(asDocumentClient({ send: breakingAfter(12) }), TABLE_NAME);
    await expect(removeUsersStep(breaking, job, Date.now)).rejects.toThrow('broken off');
    await Promise.all([removeUsersStep(table, job, Date.now), removeUsersStep(table, job, Date.now)]);
    await runJobs();
    expect([await itemsOfUser('ada'), await itemsOfUser('bob'), await jobsLeft()]).toEqual([[], [], 0]);
  });

  test('fail for a user with too many unfinished removals, and for no other user', async () => {
    await add({}, 'ada', 'bob');
    const user = await stored('ada');
    const revocations = times(MAX_REVOCATIONS, (i) => ({
      organizationKey: 'org_x',
      resource: `doc_${i}`,
      at: 1,
      jobId: 'job_x',
    }));
    await table.write([replace(UserEntity, { tenant: customer.apiKey, ...user, revocations }, user._r)]);
    expect(await remove({}, 'ada', 'bob')).toEqual({
      ada: { success: false, message: 'User is being changed by another request.' },
      bob: { success: true, message: 'User removed.' },
    });
  });
});

/** Returns a `send` that executes this number of calls and throws at every later call. */
function breakingAfter(calls: number) {
  let remainingCalls = calls;
  return async (command: Parameters<TableClient['send']>[0]) => {
    if (remainingCalls-- <= 0) throw new Error('broken off');
    return engine.lean.send(command);
  };
}

describe('a user who was removed from the organization', () => {
  test('cannot comment with verifyUserPermissions, and has no access to private threads', async () => {
    await add({ documentId: 'nda' }, 'ada');
    await add({}, 'ada');
    const canComment = async (annotationId: string) =>
      (await addThreads(customer, [annotationId], { verifyUserPermissions: true }))[annotationId].success;
    const counted = async () =>
      (
        await customer.ok('/v2/commentannotations/count/get', {
          organizationId: 'acme',
          documentIds: ['nda'],
          userId: 'ada',
        })
      ).nda.total;
    await addThreads(customer, [thread('members', { visibility: { type: 'organizationPrivate' } })]);
    expect([await canComment('first'), await counted()]).toEqual([true, 2]);
    await remove({}, 'ada');
    expect([await canComment('second'), await counted()]).toEqual([false, 0]);
  });
});
