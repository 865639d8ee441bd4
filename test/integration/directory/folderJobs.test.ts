import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { purgeDocumentsStep } from '../../../lib/deletion/purgeDocuments.ts';
import { purgeFolders } from '../../../lib/deletion/purgeFolders.ts';
import { DocumentReader } from '../../../lib/directory/documents.ts';
import { changeFoldersStep } from '../../../lib/directory/folders/changeFoldersStep.ts';
import { FolderEntryEntity } from '../../../lib/directory/folders/folders.ts';
import { JobEntity, JobStore, REQUESTS_ENDED_MS, type StoredJob } from '../../../lib/jobs/jobStore.ts';
import type { Table } from '../../../lib/table/table.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { itemsOfTenant } from '../../support/items.ts';
import { runAsJob } from '../../support/jobRunner.ts';
import { storedOrganizationScope } from '../../support/storedScope.ts';
import { addThreads } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const acme = { organizationId: 'acme' };
const [FOLDERS, DOCUMENTS] = ['/v2/organizations/folders', '/v2/organizations/documents'];

const { engine, customer, itemsOf } = acmeWorld({ table: 'memory' });
let now: number;
beforeEach(() => {
  now = Date.now();
});

const clock = () => now;
const ok = (path: string, data: object) => customer.untyped(path, { ...acme, ...data });
const addFolders = (...folders: (string | object)[]) => customer.addFolders(folders);
const addDocuments = (folderId: string, ...documentIds: string[]) => customer.addDocuments(documentIds, { folderId });
const moveFolder = (folderId: string, parentFolderId: string) =>
  ok(`${FOLDERS}/update`, { folders: [{ folderId, parentFolderId }] });
const error = async (path: string, data: object) => (await customer.error(path, { ...acme, ...data }))[1];
async function jobs(): Promise<StoredJob[]> {
  const items = await itemsOf('Job');
  const keys = items.map(({ jobId }) => ({ tenant: customer.apiKey, jobId: jobId as string }));
  return (await table.getMany(JobEntity, keys))
    .flatMap((job) => (job ? [{ ...job, tenant: customer.apiKey }] : []))
    .toSorted((a, b) => (a.jobId < b.jobId ? -1 : 1));
}

const runChangeFolders = (table: Table, job: StoredJob, now: () => number) =>
  changeFoldersStep(table, job, now, purgeFolders);

/**
 * Runs one step of a job as the worker does. Returns the job. With `twice`, two workers run the step at the same time.
 */
async function step(job: StoredJob, { twice = false } = {}): Promise<StoredJob | 'done'> {
  const step = job.kind === 'changeFolders' ? runChangeFolders : purgeDocumentsStep;
  const run = () => runAsJob(() => step(table, job, clock));
  const results = await Promise.all([run(), ...(twice ? [run()] : [])]);
  const [result] = results as Exclude<(typeof results)[number], 'done'>[];
  const store = new JobStore(table);
  // Only one worker ends the job. The other one loses the optimistic lock.
  if (results.includes('done') || !result) {
    await store.end(job);
    return 'done';
  }
  if (result.notBefore !== undefined) now = Math.max(now, result.notBefore);
  const changed = await store.change(job, {
    progress: result.progress,
    dueAt: now,
    leaseUntil: undefined,
    tries: undefined,
  });
  if (changed === 'lost') throw new Error('Somebody else has the job');
  return changed;
}

/** Runs all jobs to their ends. The jobs take turns, one step each. */
async function runJobs(options: { twice?: boolean } = {}): Promise<number> {
  let steps = 0;
  for (let open = await jobs(); open.length > 0; open = await jobs()) {
    for (const job of open) {
      await step(job, options);
      if (++steps > 500) throw new Error('The jobs do not end');
    }
  }
  return steps;
}

/** Returns the position and the access type of each folder. Reads them through folders/get and permissions/get. */
async function tree(): Promise<Map<string, string>> {
  const folders = new Map<string, string>();
  const note = ({ folderId, ancestors, accessType, subFolders }: any) => {
    folders.set(folderId, `${ancestors.join('/')} ${accessType}`);
    subFolders.forEach(note);
  };
  (await ok(`${FOLDERS}/get`, { maxDepth: 20 })).forEach(note);
  return folders;
}

/** Returns the same values from the stored items. Moves that a job has not finished are not applied. */
async function storedTree(): Promise<Map<string, string>> {
  const items = await itemsOf('Folder');
  return new Map(
    items.map(({ folderId, ancestors, accessType }) => [
      folderId,
      `${['root', ...ancestors.map((ancestor: any) => ancestor.folderId)].join('/')} ${accessType}`,
    ]),
  );
}

const sorted = (of: ReadonlyMap<string, string>) => [...of].toSorted(([a], [b]) => (a < b ? -1 : 1));
const leftovers = async () => (await Promise.all(['FolderChange', 'Job'].map((type) => itemsOf(type)))).flat();
const pendingJobCount = async () => (await itemsOf('Organization'))[0]!.folderChanges;

describe('moving a subtree of 200 folders', () => {
  /** The parents of 200 folders: f0 is in `from`, ten folders are in f0, and all others form chains below these ten. */
  const parents = times(200, (i) => (i === 0 ? 'from' : i <= 10 ? 'f0' : `f${i - 10 < 100 ? i - 10 : 1 + (i % 10)}`));
  const idsOf = (of: readonly string[]) => of.map((_parent, i) => `f${i}`);

  async function grow(): Promise<void> {
    await addFolders(
      { folderId: 'from' },
      { folderId: 'to', accessType: 'restricted' },
      ...idsOf(parents).map((folderId, i) => ({
        folderId,
        parentFolderId: parents[i],
        ...(i === 5 && { accessType: 'organizationPrivate' }),
      })),
    );
    await addDocuments('f150', 'nda');
  }

  test('returns correct reads before, during and after the job, even with two workers and crashes', async () => {
    await grow();
    const before = await storedTree();
    await moveFolder('f0', 'to');
    const after = sorted(await tree());
    expect(Object.fromEntries(after)).toMatchObject({
      from: 'root public',
      f0: 'root/to restricted',
      f5: 'root/to/f0 organizationPrivate',
      f105: expect.stringMatching(/^root\/to\/f0\/f5.* organizationPrivate$/),
      f150: expect.stringMatching(/^root\/to\/f0\/.* restricted$/),
    });

    const accessOf = async () => {
      const { u } = await ok('/v2/auth/permissions/get', { userIds: ['u'], folderIds: ['f150'], documentIds: ['nda'] });
      return [
        u.folders.f150.accessType,
        u.documents.nda.accessType,
        (await ok(`${DOCUMENTS}/get`, { documentIds: ['nda'] }))[0].accessType,
      ];
    };
    expect(await accessOf()).toEqual(['restricted', 'restricted', 'restricted']);
    const rewritten = async () =>
      [...(await storedTree())].filter(([id, location]) => before.get(id) !== location).length;
    expect(await rewritten()).toBe(1);

    let job = (await jobs())[0]!;
    while ((await rewritten()) < 80) job = (await step(job, { twice: true })) as StoredJob;
    expect(await rewritten()).toBeLessThan(190);
    expect(sorted(await tree())).toEqual(after);
    expect(await accessOf()).toEqual(['restricted', 'restricted', 'restricted']);
    // While the job is half done, one request adds a folder and another one moves a folder.
    await addFolders({ folderId: 'new', parentFolderId: 'f199' });
    await moveFolder('f3', 'from');
    const meanwhile = sorted(await tree());
    expect(Object.fromEntries(meanwhile).f3).toBe('root/from public');
    expect(Object.fromEntries(meanwhile).new).toMatch(/^root\/to\/f0\/.*\/f199 restricted$/);

    let steps = 0;
    for (let open = await jobs(); open.length > 0; open = await jobs()) {
      const next = open[steps % open.length]!;
      // Every third run of a step crashes before it writes its progress.
      if (steps++ % 3 === 0) await runChangeFolders(table, next, clock);
      else await step(next);
      expect(steps).toBeLessThan(500);
    }
    expect(sorted(await tree())).toEqual(meanwhile);
    expect(sorted(await storedTree())).toEqual(meanwhile);
    expect(await leftovers()).toEqual([]);
    expect(await pendingJobCount()).toBeUndefined();
  });
});

test('the job counter of an organization decreases once per job, even if two workers end it', async () => {
  await addFolders('a', 'b', 'c');
  for (const folderId of ['a', 'b', 'c']) await ok(`${FOLDERS}/delete`, { folderId });
  expect(await pendingJobCount()).toBe(3);
  const open = await jobs();
  now = Math.max(...open.map(({ createdAt }) => createdAt)) + REQUESTS_ENDED_MS;
  for (const [index, job] of open.entries()) {
    let nextJob: StoredJob | 'done' = job;
    while (nextJob !== 'done') nextJob = await step(nextJob, { twice: true });
    expect(await pendingJobCount()).toBe([2, 1, undefined][index]);
  }
});

describe('writes with outdated paths during a folder change', () => {
  test('are corrected by the second round of the job, a minute after the first', async () => {
    await addFolders(
      { folderId: 'a' },
      { folderId: 'b', parentFolderId: 'a' },
      { folderId: 'to', accessType: 'restricted' },
    );
    const stale = (await itemsOf('Folder')).find(({ folderId }) => folderId === 'b')!;
    await moveFolder('a', 'to');
    const startedJob = (await jobs())[0]!;
    now = startedJob.createdAt;
    const waiting = (await step(startedJob)) as StoredJob;
    expect(now).toBe(startedJob.createdAt + REQUESTS_ENDED_MS);
    expect(Object.fromEntries(await storedTree()).b).toBe('root/to/a restricted');
    // A request read b before the move, and writes b only now.
    await addFolders({ folderId: 'late', parentFolderId: 'b' });
    for (const folderId of ['b', 'late']) {
      const item = (await itemsOf('Folder')).find((folder) => folder.folderId === folderId)!;
      const ancestors =
        folderId === 'b' ? stale.ancestors : [...stale.ancestors, { folderId: 'b', internalId: stale.internalId }];
      await writeItem({ ...item, ancestors, accessType: 'public', accessFrom: 'root', _r: (item._r as number) + 1 });
    }
    expect(Object.fromEntries(await tree())).toMatchObject({
      b: 'root/to/a restricted',
      late: 'root/to/a/b restricted',
    });
    expect(await step(waiting)).toBe('done');
    expect(Object.fromEntries(await storedTree())).toMatchObject({
      b: 'root/to/a restricted',
      late: 'root/to/a/b restricted',
    });
    expect(await pendingJobCount()).toBeUndefined();
  });

  test.each([
    ['to a new folder with createFolder', { createFolder: true }, [200, true], ['doc']],
    ['to no folder without createFolder', {}, [404, undefined], []],
  ])('documents/add adds a document of a folder that is just deleted %s', async (_case, more, answer, documentIds) => {
    await addFolders('a', { folderId: 'b', parentFolderId: 'a' }, 'other');
    await addDocuments('b', 'doc');
    await ok(`${FOLDERS}/delete`, { folderId: 'other' });
    const { find } = DocumentReader.prototype;
    const deleteFolder = AsyncLocalStorage.bind(() => ok(`${FOLDERS}/delete`, { folderId: 'a' }));
    jest.spyOn(DocumentReader.prototype, 'find').mockImplementationOnce(async function (this: DocumentReader, ...args) {
      await deleteFolder();
      return find.apply(this, args);
    });
    const data = { ...acme, folderId: 'a', ...more, documents: [{ documentId: 'doc' }] };
    const { status, body } = await customer.call(`${DOCUMENTS}/add`, data);
    expect([status, body.result?.data.doc.success]).toEqual(answer);
    await runJobs();
    expect((await ok(`${DOCUMENTS}/get`, {})).map(({ id }: any) => id)).toEqual(documentIds);
  });

  async function writeItem(item: Record<string, unknown>): Promise<void> {
    expect(await table.write([{ put: item }])).toBe('done');
  }
});

describe('a second change of a folder, just before the job of the first change ends', () => {
  const secondChange = async (path: string, data: object) => {
    await addFolders('a', { folderId: 'b', parentFolderId: 'a' }, 'to');
    await addDocuments('b', 'nda');
    await ok(`${FOLDERS}/access/update`, { folderIds: ['a'], accessType: 'restricted' });
    const first = (await jobs())[0]!;
    now = first.createdAt;
    const secondRound = (await step(first)) as StoredJob;
    const request = AsyncLocalStorage.bind(() => ok(`${FOLDERS}/${path}`, data));
    const write = table.write.bind(table);
    // The job has read the records of changes, and removes its own records now.
    jest.spyOn(table, 'write').mockImplementationOnce(async (ops) => {
      await request();
      return write(ops);
    });
    expect(await step(secondRound)).toBe('done');
  };

  test.each([
    [
      'access/update',
      { folderIds: ['a'], accessType: 'organizationPrivate' },
      ['a root organizationPrivate', 'b root/a organizationPrivate', 'to root public'],
    ],
    [
      'update',
      { folders: [{ folderId: 'a', parentFolderId: 'to' }] },
      ['a root/to restricted', 'b root/to/a restricted', 'to root public'],
    ],
    ['delete', { folderId: 'a' }, ['to root public']],
  ])('takes effect below the folder at once and after its job: %s', async (path, data, expected) => {
    await secondChange(path, data);
    const lines = (folders: ReadonlyMap<string, string>) => sorted(folders).map((folder) => folder.join(' '));
    expect(lines(await tree())).toEqual(expected);
    await runJobs();
    expect(lines(await storedTree())).toEqual(expected);
    expect((await ok(`${DOCUMENTS}/get`, { documentIds: ['nda'] })).length).toBe(path === 'delete' ? 0 : 1);
    expect(await leftovers()).toEqual([]);
    expect(await pendingJobCount()).toBeUndefined();
  });
});

describe('deleting a folder with three levels, documents, comments and grants', () => {
  const inner = { documentId: 'inner' };

  async function fill(): Promise<void> {
    await addFolders(
      { folderId: 'keep' },
      { folderId: 'a', accessType: 'restricted' },
      { folderId: 'b', parentFolderId: 'a' },
      { folderId: 'c', parentFolderId: 'b' },
    );
    await addDocuments('a', 'outer');
    await addDocuments('c', 'inner', 'other');
    await addDocuments('keep', 'kept');
    for (const documentId of ['inner', 'kept']) {
      await addThreads(customer, ['thread'], { documentId });
      await customer.addUsers(['ada'], { documentId });
    }
    await customer.addUsers(['grace'], { folderId: 'b' });
    await customer.grant(
      'grace',
      { type: 'document', id: 'inner', ...acme },
      { type: 'folder', id: 'c', ...acme },
      { type: 'folder', id: 'keep', ...acme },
    );
  }

  const remove = (folderId: string) => ok(`${FOLDERS}/delete`, { folderId });
  const resources = [{ type: 'document', id: 'inner', ...acme }];
  const newDocument = { documents: [{ documentId: 'new' }] };
  const notFound: [path: string, data: object][] = [
    ...[`${FOLDERS}/get`, `${DOCUMENTS}/get`, '/v2/users/get'].map((path): [string, object] => [
      path,
      { folderId: 'c' },
    ]),
    [`${DOCUMENTS}/add`, { folderId: 'c', ...newDocument }],
    ...[
      'commentannotations/get',
      'commentannotations/comments/get',
      'users/get',
      'recordings/get',
      'activities/get',
      'notifications/get',
    ].map((path): [string, object] => [
      `/v2/${path}`,
      { ...inner, ...(path.includes('comments/') && { annotationId: 'thread' }) },
    ]),
    [
      '/v2/commentannotations/add',
      { ...inner, commentAnnotations: [{ commentData: [{ commentText: 'x', from: { userId: 'ada' } }] }] },
    ],
    ['/v2/recordings/add', { ...inner, recordings: [{ recordingType: 'audio', from: { userId: 'ada' } }] }],
    [`${DOCUMENTS}/move`, { documentIds: ['inner'], folderId: 'root' }],
    ['/v2/notifications/config/set', { userIds: ['ada'], documentIds: ['inner'], config: { inbox: 'ALL' } }],
    ['/v2/events/publish', { ...inner, event: 'comment.add', data: {} }],
    ['/v2/auth/permissions/add', { organizationId: undefined, user: { userId: 'ada' }, permissions: { resources } }],
    ['/v2/auth/permissions/remove', { organizationId: undefined, userId: 'ada', permissions: { resources } }],
  ];
  const failing: [path: string, data: object][] = [
    [`${FOLDERS}/update`, { folders: [{ folderId: 'c', folderName: 'x' }] }],
    [`${FOLDERS}/add`, { folders: [{ folderId: 'child', parentFolderId: 'c' }] }],
    [`${DOCUMENTS}/update`, { documents: [{ documentId: 'inner', documentName: 'x' }] }],
    [`${DOCUMENTS}/delete`, { documentIds: ['inner'] }],
  ];

  async function expectDeleted(): Promise<void> {
    expect(Object.fromEntries(await tree())).toEqual({ keep: 'root public' });
    for (const [path, data] of notFound) expect([path, await error(path, data)]).toEqual([path, 'NOT_FOUND']);
    for (const [path, data] of failing)
      expect(Object.values(await ok(path, data))).toEqual([
        expect.objectContaining({ success: false, message: expect.stringMatching(/does not exist/) }),
      ]);
    expect((await ok(`${DOCUMENTS}/get`, {})).map(({ id }: any) => id)).toEqual(['kept']);
    expect((await ok(`${DOCUMENTS}/count/get`, {})).count).toBe(1);
    expect(await ok(`${DOCUMENTS}/get`, { documentIds: ['outer', 'inner', 'kept'] })).toMatchObject([{ id: 'kept' }]);
    expect(await ok('/v2/commentannotations/get', { annotationIds: ['thread'] })).toHaveLength(1);
    expect((await ok('/v2/users/data/get', { userId: 'ada' })).comments).toHaveLength(1);
  }

  test('hides all of its contents at once and while the job runs', async () => {
    await fill();
    await remove('a');
    await expectDeleted();
    const startedJob = (await jobs()).find(({ kind }) => kind === 'changeFolders')!;
    now = startedJob.createdAt;
    await step(startedJob);
    expect(now).toBe(startedJob.createdAt + REQUESTS_ENDED_MS);
    await expectDeleted();
    await runJobs();
    await expectDeleted();
  }, 60_000);

  test('hides activities, and makes the ids of activities and notifications free at once', async () => {
    await customer.ok('/v2/workspace/activityconfig/update', {
      activityServiceConfig: { isEnabled: true, immutable: false },
    });
    await fill();
    const kept = { documentId: 'kept' };
    const activity = {
      id: 'a',
      featureType: 'custom',
      targetEntityId: 'x',
      actionType: 'x',
      actionUser: { userId: 'ada' },
    };
    const notification = {
      notificationId: 'n',
      actionUser: { userId: 'ada' },
      notifyUsers: [],
      isNotificationResolverUsed: true,
    };
    await ok('/v2/activities/add', { ...inner, activities: [activity] });
    await ok('/v2/notifications/add', { ...inner, ...notification });
    await remove('a');
    expect(await ok('/v2/activities/get', { activityIds: ['a'] })).toEqual([]);
    expect((await ok('/v2/activities/update', { activities: [{ id: 'a', actionIcon: 'x' }] })).a.success).toBe(false);
    expect((await ok('/v2/activities/delete', { activityIds: ['a'] })).a.success).toBe(false);
    await ok('/v2/activities/add', { ...kept, activities: [activity] });
    await ok('/v2/notifications/add', { ...kept, ...notification });
    await runJobs();
    expect(await ok('/v2/activities/get', { activityIds: ['a'] })).toHaveLength(1);
    expect(await ok('/v2/notifications/get', { notificationIds: ['n'] })).toHaveLength(1);
  });

  test('makes its ids free at once, and the job deletes all old items and nothing else', async () => {
    await addFolders('keep', 'filled');
    await ok('/v2/users/add', { users: [{ userId: 'ada' }, { userId: 'grace' }] });
    await fill();
    const first = new Set(
      [...(await itemsOf('Folder')), ...(await itemsOf('Document'))]
        .filter(
          ({ folderId, documentId }) =>
            ['a', 'b', 'c'].includes(folderId) || ['outer', 'inner', 'other'].includes(documentId),
        )
        .map(({ internalId }) => internalId as string),
    );
    expect(first.size).toBe(6);
    await remove('a');

    expect(await addFolders('c', { folderId: 'a', parentFolderId: 'c' })).toMatchObject({
      c: { success: true },
      a: { success: true },
    });
    expect(await addDocuments('a', 'inner')).toMatchObject({ inner: { success: true } });
    await addThreads(customer, ['thread'], inner);
    await customer.addUsers(['ada'], { folderId: 'c' });
    // The job may only change items that contain the internal id of a deleted folder.
    const ofFirst = (item: object) => [...first].some((id) => JSON.stringify(item).includes(id));
    const own = () => itemsOfTenant(engine, customer.apiKey);
    const jobless = (items: Record<string, any>[]) =>
      items
        .filter(({ _t }) => !['Job', 'FolderChange', 'Organization'].includes(_t))
        .toSorted((a, b) => (`${a.PK}${a.SK}` < `${b.PK}${b.SK}` ? -1 : 1));
    const otherItems = jobless((await own()).filter((item) => !ofFirst(item)));

    await runJobs({ twice: true });
    const remainingItems = await own();
    expect(remainingItems.filter(ofFirst)).toEqual([]);
    expect(jobless(remainingItems)).toEqual(otherItems);
    expect(await leftovers()).toEqual([]);
    expect(await pendingJobCount()).toBeUndefined();
  }, 60_000);

  test('ignores an outdated folder entry for a resource that is in another folder', async () => {
    await addFolders('doomed', 'keep');
    await addDocuments('keep', 'kept');
    const scope = await storedOrganizationScope(customer);
    const entries = await itemsOf('FolderEntry');
    const [doomed, keep, kept] = ['doomed', 'keep', 'kept'].map((id) => entries.find((entry) => entry.id === id)!);
    const outdatedEntries = [keep, kept].map((entry) => ({
      put: { ...entry!, PK: FolderEntryEntity.partition({ ...scope, folderKey: doomed!.internalId as string }) },
    }));
    expect(await table.write(outdatedEntries)).toBe('done');
    await addThreads(customer, ['thread'], { documentId: 'kept' });
    await remove('doomed');
    await runJobs();
    expect(await tree()).toEqual(new Map([['keep', 'root public']]));
    expect(await ok(`${DOCUMENTS}/get`, { folderId: 'keep' })).toMatchObject([{ id: 'kept' }]);
    expect(await ok('/v2/commentannotations/get', { documentId: 'kept' })).toHaveLength(1);
  });

  test('deletes a folder that was moved into it, and the job of the move ends only afterwards', async () => {
    await addFolders(
      { folderId: 'doomed' },
      { folderId: 'x' },
      { folderId: 'y', parentFolderId: 'x' },
      { folderId: 'z', parentFolderId: 'y' },
    );
    await addDocuments('z', 'nda');
    await moveFolder('x', 'doomed');
    await remove('doomed');
    expect(await tree()).toEqual(new Map());
    const open = await jobs();
    expect(open).toHaveLength(2);
    const removalId = (await itemsOf('FolderChange')).find(({ kind }) => kind === 'removed')!.jobId;
    const [removal, move] = [
      open.find(({ jobId }) => jobId === removalId)!,
      open.find(({ jobId }) => jobId !== removalId)!,
    ];
    // The deletion reaches the folder x and has no time left to read the contents of x.
    now = Math.max(...open.map(({ createdAt }) => createdAt)) + REQUESTS_ENDED_MS;
    const waiting = { ...removal, progress: JSON.stringify({ round: 'second', missed: false }) };
    let looks = 0;
    expect(await runChangeFolders(table, waiting, () => (looks++ < 3 ? now : now + 60_000))).toHaveProperty(
      'progress.stack',
    );
    expect((await itemsOf('Folder')).map(({ folderId }) => folderId).toSorted()).toEqual(['y', 'z']);
    let job: StoredJob | 'done' = move;
    for (let i = 0; i < 5 && job !== 'done'; i++) job = await step(job);
    expect(job).not.toBe('done');
    expect(await tree()).toEqual(new Map());
    await runJobs();
    expect(await itemsOf('Folder')).toEqual([]);
    expect(await itemsOf('Document')).toEqual([]);
    expect(await itemsOf('FolderEntry')).toEqual([]);
    expect(await leftovers()).toEqual([]);
  });
});
