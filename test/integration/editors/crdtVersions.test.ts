import { describe, expect, test } from '@jest/globals';
import * as Y from 'yjs';
import { EditorVersionPartEntity } from '../../../lib/editors/versions/entities.ts';
import { keepVersionStep } from '../../../lib/editors/versions/keepVersionStep.ts';
import { JobEntity, type StoredJob } from '../../../lib/jobs/jobStore.ts';
import { acmeWorld, forAllTests, table } from '../../support/acmeWorld.ts';
import { beforeWrite, writesItem } from '../../support/beforeWrite.ts';
import { nda } from '../../support/content.ts';
import { putItem } from '../../support/items.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { startQueues } from '../../support/queues.ts';
import { storedDocumentScope } from '../../support/storedScope.ts';
import { newUser } from '../../support/userTokens.ts';
import { silentLog } from '../../support/workers.ts';

const VERSIONS = '/v2/crdt/versions';
const DAY = 24 * 60 * 60_000;
const editor = { ...nda, editorId: 'summary' };

const { customer, engine, itemsOf, emitted } = acmeWorld({ documents: ['nda'], table: 'memory' });
forAllTests(startQueues);

const addEditor = (data: unknown = 'one', type = 'text') => customer.untyped('/v2/crdt/add', { ...editor, type, data });
const write = (data: unknown, userId?: string, type = 'text') =>
  customer.untyped('/v2/crdt/update', { ...editor, type, data, ...(userId && { userId }) });
const value = async () => (await customer.ok('/v2/crdt/get', editor))[0].data;
const add = async (fields: object = {}): Promise<any> => customer.ok(`${VERSIONS}/add`, { ...editor, ...fields });
const get = async (fields: object = {}): Promise<any> => customer.ok(`${VERSIONS}/get`, { ...editor, ...fields });
const restore = async (versionId: string, fields: object = {}): Promise<any> =>
  customer.ok(`${VERSIONS}/restore`, { ...editor, versionId, ...fields });
const names = async (fields: object = {}) => (await get(fields)).versions.map(({ name }: any) => name);
const parts = () => itemsOf('EditorVersionPart');
const remove = async () => customer.ok('/v2/crdt/delete', { ...nda, editorIds: ['summary'] });
const keepFor = (keepDays: number, more: object = {}) =>
  customer.ok('/v2/workspace/apikeyconfig/update', { editorVersions: { everyMinutes: 5, keepDays, ...more } });
const rename = (versionId: string, name: string, fields: object = {}) =>
  customer.ok(`${VERSIONS}/update`, { ...editor, versionId, name, ...fields });
const jobsOf = async (wanted: string): Promise<StoredJob[]> =>
  (await itemsOf('Job'))
    .filter(({ kind }) => kind === wanted)
    .map((item) => ({ ...JobEntity.fromItem(item, 0)!, tenant: customer.apiKey }));
/** Runs the job of a kind until it is done. */
async function finish(kind: string): Promise<JobRunner> {
  const [job] = await jobsOf(kind);
  const runner = new JobRunner(Date.now() + 61_000);
  await runner.finish({ tenant: customer.apiKey, jobId: job!.jobId });
  return runner;
}

describe('versions of an editor', () => {
  test('have the value and state of their time, and the authors since the version before', async () => {
    await addEditor('one');
    await write('two', 'ada');
    await write('three', 'grace');
    await write('three!', 'ada');
    const first = await add({ name: 'First', metadata: { stage: 1 } });
    expect(first).toMatchObject({ authors: ['ada', 'grace'] });
    await write('four', 'bob');
    const second = await add();
    expect(second.authors).toEqual(['bob']);
    const { versions, nextPageToken } = await get();
    expect(nextPageToken).toBeNull();
    expect(versions).toEqual([
      { ...second, isAutomatic: true, bytes: expect.any(Number) },
      { ...first, name: 'First', metadata: { stage: 1 }, isAutomatic: false, bytes: expect.any(Number) },
    ]);
    const { version, data, state } = await get({ versionId: first.versionId, includeState: true });
    expect([version.name, data]).toEqual(['First', 'three!']);
    const doc = new Y.Doc();
    Y.applyUpdate(doc, Buffer.from(state, 'base64'));
    expect(doc.getText('content').toJSON()).toBe('three!');
    expect(await value()).toBe('four');
  });

  test('are listed with the newest first, all or only the named ones', async () => {
    await addEditor();
    for (const name of ['a', undefined, 'b', undefined]) {
      await add({ name });
      await write(`after ${name}`);
    }
    expect(await names()).toEqual([undefined, 'b', undefined, 'a']);
    expect(await names({ named: true })).toEqual(['b', 'a']);
  });

  test('of the same state share one blob, which stays until the last of them is deleted', async () => {
    await addEditor();
    const [one, two] = [await add({ name: 'one' }), await add({ name: 'two' })];
    expect(await parts()).toHaveLength(1);
    await customer.ok(`${VERSIONS}/delete`, { ...editor, versionIds: [one.versionId] });
    expect(await get({ versionId: two.versionId })).toMatchObject({ data: 'one' });
    const { data } = (await customer.call(`${VERSIONS}/delete`, { ...editor, versionIds: [two.versionId, 'ver_x'] }))
      .body.result;
    expect(data).toEqual({
      [two.versionId]: { success: true, message: 'Version deleted.' },
      ver_x: { success: false, message: 'Version does not exist.' },
    });
    expect([await parts(), (await get()).versions]).toEqual([[], []]);
  });

  test('can be named, which keeps an automatic one', async () => {
    await keepFor(2);
    await addEditor();
    const { versionId } = await add();
    expect((await get()).versions[0]).toMatchObject({ isAutomatic: true, expiresAt: expect.any(String) });
    await rename(versionId, 'Kept', { metadata: { by: 'ada' } });
    const [version] = (await get({ named: true })).versions;
    expect(version).toMatchObject({ name: 'Kept', metadata: { by: 'ada' }, isAutomatic: false });
    expect(version.expiresAt).toBeUndefined();
    expect((await parts()).map(({ ttl }) => ttl)).toEqual([undefined]);
  });

  test.each([
    ['a shorter life of named versions', { keepNamed: false }],
    ['the life of a named one', {}],
  ])('of one state keep it whatever is named, with %s', async (_what, settings) => {
    await addEditor();
    const { versionId } = await add({ name: 'Signed' });
    await keepFor(2, settings);
    const [second, third] = [await add(), await add()];
    await rename(third.versionId, 'Kept');
    await customer.ok(`${VERSIONS}/delete`, { ...editor, versionIds: [second.versionId] });
    const stored = await itemsOf('EditorVersion');
    const [{ internalId }] = (await itemsOf('Editor')) as [any];
    const ofEditor = { ...(await storedDocumentScope(customer)), editorId: 'summary', internalId };
    for (const { blob, ttl } of stored) {
      const { SK } = EditorVersionPartEntity.key({ ...ofEditor, id: blob.id, part: 0 });
      const own = (await parts()).filter((part) => part.SK === SK);
      expect(own.map((part) => part.ttl ?? Infinity)).toEqual([expect.any(Number)]);
      expect((own[0]!.ttl as number | undefined) ?? Infinity).toBeGreaterThanOrEqual(
        (ttl as number | undefined) ?? Infinity,
      );
    }
    expect((await get({ versionId })).version.expiresAt).toBeUndefined();
    expect(await parts()).toHaveLength(new Set(stored.map(({ blob }) => blob.id)).size);
  });

  test('do not end because they are named', async () => {
    await addEditor();
    const { versionId } = await add();
    await keepFor(1, { keepNamed: false });
    await rename(versionId, 'Kept');
    expect((await get()).versions[0].expiresAt).toBeUndefined();
    await write('two');
    const { keptVersionId } = await restore(versionId);
    await rename(keptVersionId, 'Mine');
    const [{ createdAt, expiresAt }] = (await get()).versions;
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(30 * DAY);
  });

  test('stay if they are named while room is made', async () => {
    await addEditor();
    const { versionId } = await add();
    const [{ PK, SK, ...item }] = (await itemsOf('EditorVersion')) as [any];
    await putItem(engine, { PK, SK, ...item, bytes: 64 * 1024 * 1024 });
    await write('two');
    beforeWrite(() => rename(versionId, 'Precious'), writesItem('EditorVersion'));
    await customer.call(`${VERSIONS}/add`, { ...editor, name: 'next' });
    expect(await names({ named: true })).toContain('Precious');
  });

  test('are purged with the editor, with the parts of an interrupted call', async () => {
    await addEditor();
    const { versionId } = await add({ name: 'old' });
    await write('two');
    beforeWrite(() => Promise.reject(new Error('crash')), writesItem('EditorVersion'));
    await customer.call(`${VERSIONS}/add`, { ...editor, name: 'x' });
    expect(await parts()).toHaveLength(2);
    await remove();
    await addEditor();
    expect(await customer.error(`${VERSIONS}/get`, { ...editor, versionId })).toEqual([
      404,
      'NOT_FOUND',
      'Version does not exist.',
    ]);
    await finish('purgeLeftover');
    expect([await itemsOf('EditorVersion'), await parts()]).toEqual([[], []]);
  });

  test('number at most 200 with a name', async () => {
    await addEditor();
    for (let number = 0; number < 200; number++) await add({ name: `v${number}` });
    expect(await customer.error(`${VERSIONS}/add`, { ...editor, name: 'too many' })).toEqual([
      429,
      'RESOURCE_EXHAUSTED',
      'An editor can have at most 200 named versions.',
    ]);
    const { versionId } = await add();
    expect((await customer.error(`${VERSIONS}/update`, { ...editor, versionId, name: 'too many' }))[1]).toBe(
      'RESOURCE_EXHAUSTED',
    );
  }, 30_000);

  test('are open to users who may edit the document, and to nobody else', async () => {
    await addEditor();
    await customer.setAccess('restricted', ['nda']);
    const { versionId } = await add({ name: 'one' });
    const asRole = (userId: string, accessRole: string) =>
      newUser(customer, userId, [{ type: 'document', id: 'nda', organizationId: 'acme', accessRole }]);
    const [ada, eve] = [await asRole('ada', 'editor'), await asRole('eve', 'viewer')];
    const calls: [string, object][] = [
      ['add', { name: 'x' }],
      ['get', { versionId }],
      ['update', { versionId, name: 'y' }],
      ['compare', { from: versionId }],
      ['restore', { versionId }],
      ['delete', { versionIds: [versionId] }],
    ];
    for (const [name, fields] of calls) {
      expect([name, (await eve.call(`${VERSIONS}/${name}`, { ...editor, ...fields })).status]).toEqual([name, 403]);
      expect([name, (await ada.call(`${VERSIONS}/${name}`, { ...editor, ...fields })).status]).toEqual([name, 200]);
    }
  });

  test('compare with each other and with the present value', async () => {
    await addEditor({ title: 'NDA', tags: ['a'] }, 'map');
    const from = await add({ name: 'from' });
    await write({ title: 'NDA 2', tags: ['a', 'b'] }, undefined, 'map');
    const to = await add({ name: 'to' });
    const changes = [
      { path: ['title'], from: 'NDA', to: 'NDA 2' },
      { path: ['tags', 1], to: 'b' },
    ];
    const compare = (ids: object) => customer.untyped(`${VERSIONS}/compare`, { ...editor, ...ids });
    expect(await compare({ from: from.versionId, to: to.versionId })).toEqual({ changes });
    expect(await compare({ from: from.versionId })).toEqual({ changes });
    expect(await compare({ from: to.versionId })).toEqual({ changes: [] });
  });
});

describe('a restore', () => {
  test('keeps the state before as a version, tells webhooks, and writes nothing a second time', async () => {
    await customer.ok('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true } });
    await addEditor('one');
    const { versionId } = await add({ name: 'One' });
    await write('two', 'grace');
    const { restoredVersionId, keptVersionId } = await restore(versionId, { userId: 'ada' });
    expect([await value(), restoredVersionId]).toEqual(['one', versionId]);
    const [kept] = (await get()).versions;
    expect(kept).toMatchObject({
      versionId: keptVersionId,
      name: 'Before restore',
      isAutomatic: true,
      restoredVersionId: versionId,
      authors: ['grace'],
    });
    expect(Date.parse(kept.expiresAt) - Date.parse(kept.createdAt)).toBe(30 * DAY);
    expect((await get({ versionId: keptVersionId })).data).toBe('two');
    const [event] = (await emitted()).filter(({ event: name }) => name === 'crdt.version_restore');
    expect(event!.data).toMatchObject({
      actionUser: { userId: 'ada' },
      crdtVersion: { id: 'summary', restoredVersionId: versionId, name: 'One', keptVersionId },
    });
    expect(await customer.ok('/v2/activities/get', nda)).toMatchObject([
      { featureType: 'crdt', actionType: 'crdt.version_restore', actionUser: { userId: 'ada' } },
    ]);
    expect(await restore(versionId)).toEqual({ restoredVersionId: versionId, keptVersionId: null });
    expect((await get()).versions).toHaveLength(2);
    expect((await add()).authors).toEqual(['ada']);
  });

  test('beside another change keeps the state with that change, and leaves no parts of a first attempt', async () => {
    await addEditor('one');
    const { versionId } = await add({ name: 'One' });
    await write('two');
    beforeWrite(() => write('two and three', 'grace'), writesItem('EditorVersion'));
    const { keptVersionId } = await restore(versionId);
    expect([await value(), (await get({ versionId: keptVersionId })).data]).toEqual(['one', 'two and three']);
    expect(await parts()).toHaveLength(2);
  });

  test('in a disabled document changes nothing', async () => {
    await addEditor('one');
    const { versionId } = await add({ name: 'One' });
    await write('two');
    const before = await Promise.all([value(), get(), parts()]);
    await customer.ok('/v2/organizations/documents/access/disablestate/update', {
      organizationId: 'acme',
      documentIds: ['nda'],
      disabled: true,
    });
    expect((await customer.error(`${VERSIONS}/restore`, { ...editor, versionId }))[1]).toBe('FAILED_PRECONDITION');
    expect(await Promise.all([value(), get(), parts()])).toEqual(before);
  });

  test('of the kept version brings the state before back', async () => {
    await addEditor({ list: [1, { deep: true }] }, 'map');
    const { versionId } = await add({ name: 'One' });
    await write({ list: [2], more: 'x' }, undefined, 'map');
    const { keptVersionId } = await restore(versionId);
    expect(await value()).toEqual({ list: [1, { deep: true }] });
    await restore(keptVersionId);
    expect(await value()).toEqual({ list: [2], more: 'x' });
  });
});

describe('automatic versions', () => {
  const runEventJobs = async () => {
    for (const { tenant, jobId } of await jobsOf('emitEditorUpdate'))
      await new JobRunner(Date.now() + 6_000).run({ tenant, jobId });
  };
  const keep = async (at = Date.now() + 6 * 60_000) => {
    for (const job of await jobsOf('keepEditorVersion'))
      expect(await keepVersionStep(table, job, () => at, { log: silentLog })).toBe('done');
  };

  test('are made once per interval while an editor changes, with the authors since the last', async () => {
    await keepFor(90);
    await addEditor('one');
    await write('two', 'ada');
    await runEventJobs();
    expect(await jobsOf('keepEditorVersion')).toHaveLength(1);
    await write('three', 'grace');
    await runEventJobs();
    expect(await jobsOf('keepEditorVersion')).toHaveLength(1);
    await keep();
    const { versions } = await get();
    expect(versions).toMatchObject([{ isAutomatic: true, authors: ['ada', 'grace'] }]);
    expect((await get({ versionId: versions[0].versionId })).data).toBe('three');
    expect(await jobsOf('keepEditorVersion')).toEqual([]);
    await write('four');
    await runEventJobs();
    await keep();
    expect((await get()).versions).toHaveLength(2);
  });

  test('are not made without the setting, before the interval ends, or of an unchanged state', async () => {
    await addEditor('one');
    await runEventJobs();
    expect(await jobsOf('keepEditorVersion')).toEqual([]);
    await keepFor(90);
    await write('two');
    await runEventJobs();
    const [job] = await jobsOf('keepEditorVersion');
    expect(await keepVersionStep(table, job!, () => job!.createdAt + 1, { log: silentLog })).toMatchObject({
      notBefore: job!.createdAt + 5 * 60_000,
    });
    await add({ name: 'by hand' });
    await keep();
    expect(await names()).toEqual(['by hand']);
    await write('three');
    await runEventJobs();
    await customer.ok('/v2/workspace/apikeyconfig/update', { editorVersions: null });
    await keep();
    expect(await names()).toEqual(['by hand']);
  });
});

describe('an erasure removes the user', () => {
  const erase = async () => {
    await customer.ok('/v2/users/data/delete', { userIds: ['ada'], organizationIds: ['acme'] });
    const runner = await finish('eraseUsers');
    runner.now += 61_000;
    return runner;
  };

  test('from a version that is added meanwhile', async () => {
    await addEditor('one');
    await write('two', 'ada');
    beforeWrite(() => add({ name: 'Two' }), writesItem('EditorUpdate'));
    await erase();
    expect((await get()).versions.map(({ authors }: any) => authors)).toEqual([[]]);
  });

  test('from the authors, and from changes of an editor whose id has characters of keys', async () => {
    const other = { ...nda, editorId: 'a#b%/~ü' };
    await customer.ok('/v2/crdt/add', { ...other, type: 'text', data: 'one', userId: 'ada' });
    await addEditor('one');
    await write('two', 'ada');
    await add({ name: 'Two' });
    await write('three', 'ada');
    await write('four', 'grace');
    await erase();
    expect((await add()).authors).toEqual(['grace']);
    expect((await get()).versions.map(({ authors }: any) => authors)).toEqual([['grace'], []]);
    expect((await customer.ok(`${VERSIONS}/add`, other)).authors).toEqual([]);
  });
});
