import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { FolderChanger, type FolderRequest } from '../../../lib/directory/folders/folderChanger.ts';
import { FolderEntity, FolderEntryEntity, FolderReader } from '../../../lib/directory/folders/folders.ts';
import { OrganizationEntity } from '../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../lib/directory/organizationScope.ts';
import { computePosition } from '../../../lib/directory/rules/folders.ts';
import { inSlices } from '../../../lib/shared/inSlices.ts';
import { Table, upsert, type WriteOp } from '../../../lib/table/table.ts';
import type { QueueSender } from '../../../lib/workers/sender.ts';
import { acmeWorld, invalid, table } from '../../support/acmeWorld.ts';
import { TABLE_NAME } from '../../support/engine.ts';
import { asDocumentClient } from '../../support/leanClient.ts';
import { times } from '../../support/times.ts';
import { virtualTime } from '../../support/virtualTime.ts';
import { silentLog } from '../../support/workers.ts';

const [ADD, GET, UPDATE, DELETE, ACCESS] = ['add', 'get', 'update', 'delete', 'access/update'].map(
  (verb) => `/v2/organizations/folders/${verb}`,
) as [string, string, string, string, string];
const acme = { organizationId: 'acme' };

const { engine, customer, itemsOf } = acmeWorld({ table: 'memory' });
beforeEach(() =>
  customer.untyped(ADD, {
    ...acme,
    createOrganization: true,
    folders: [
      { folderId: 'a', folderName: 'A', accessType: 'restricted' },
      { folderId: 'b', parentFolderId: 'a' },
      { folderId: 'c', parentFolderId: 'b' },
      { folderId: 'own', parentFolderId: 'b', accessType: 'organizationPrivate' },
      { folderId: 'z' },
    ],
  }),
);

const get = (more: object = {}) => customer.untyped(GET, { ...acme, ...more });
const update = (...folders: object[]) => customer.untyped(UPDATE, { ...acme, folders });
/** Returns the position and access type of each folder. Reads each folder by its own request. */
async function positions(...folderIds: string[]): Promise<Record<string, string>> {
  const folders = await Promise.all(folderIds.map(async (folderId) => (await get({ folderId }))[0]));
  return Object.fromEntries(
    folders.map(({ folderId, ancestors, accessType }) => [folderId, `${ancestors.join('/')} ${accessType}`]),
  );
}
const error = (path: string, data: object) => customer.error(path, { ...acme, ...data });
/** Returns a changer of folders whose table is of another class. */
function changerOn(TableClass: typeof Table, send: QueueSender['send'] = async () => undefined): FolderChanger {
  return new FolderChanger(new TableClass(asDocumentClient(engine.lean), TABLE_NAME), { send });
}
async function folderRequest(): Promise<FolderRequest> {
  const tenant = customer.apiKey;
  const organization = (await table.get(OrganizationEntity, { tenant, organizationId: 'acme' }))!;
  return { tenant, organization, now: Date.now(), log: silentLog };
}
/** Writes a tree of folders below one folder. */
async function addFoldersBelow(count: number, below: string, shape: (index: number) => number): Promise<void> {
  const tenant = customer.apiKey;
  const scope = organizationScope(tenant, (await table.get(OrganizationEntity, { tenant, organizationId: 'acme' }))!);
  const folders = [(await table.get(FolderEntity, { ...scope, folderId: below }))!];
  const ops = times(count, (index) => {
    const parent = folders[shape(index)]!;
    const [folderId, internalId] = [`${below}-${index}`, `fld_${below}-${index}`];
    const position = computePosition(parent, { internalId, accessType: undefined });
    const folder = {
      folderId,
      internalId,
      ...position,
      createdAt: 1,
      lastUpdated: 1,
      _r: 1,
    };
    folders.push(folder);
    return [
      upsert(FolderEntity, { ...scope, ...folder }),
      upsert(FolderEntryEntity, { ...scope, folderKey: parent.internalId, kind: 'folder', id: folderId, internalId }),
    ];
  }).flat();
  await inSlices(ops, 100, async (slice) => [await table.write(slice)]);
}

describe('POST /v2/organizations/folders/get', () => {
  test('returns the top-level folders, or one folder with its direct children', async () => {
    expect(await customer.result(GET, acme)).toEqual({
      status: 'success',
      message: 'Folders retrieved successfully.',
      nextPageToken: null,
      data: [
        {
          folderId: 'a',
          folderName: 'A',
          organizationId: 'acme',
          parentFolderId: 'root',
          apiKey: customer.apiKey,
          createdAt: expect.any(Number),
          lastUpdated: expect.any(Number),
          ancestors: ['root'],
          accessType: 'restricted',
          inheritAccessFromParent: false,
          subFolders: [],
        },
        expect.objectContaining({ folderId: 'z', accessType: 'public', inheritAccessFromParent: true }),
      ],
    });
    const [b, ...others] = await get({ folderId: 'b' });
    expect(others).toEqual([]);
    expect(b).toMatchObject({
      folderId: 'b',
      parentFolderId: 'a',
      ancestors: ['root', 'a'],
      accessType: 'restricted',
      inheritAccessFromParent: true,
    });
    expect(b.subFolders).toMatchObject([
      { folderId: 'c', ancestors: ['root', 'a', 'b'], accessType: 'restricted', subFolders: [] },
      { folderId: 'own', accessType: 'organizationPrivate', inheritAccessFromParent: false, subFolders: [] },
    ]);
  });

  test('returns as many levels as maxDepth requests', async () => {
    const shape = (folders: any[]): unknown =>
      folders.map(({ folderId, subFolders }) => (subFolders.length > 0 ? [folderId, shape(subFolders)] : folderId));
    expect(shape(await get({ maxDepth: 1 }))).toEqual(['a', 'z']);
    expect(shape(await get({ maxDepth: 2 }))).toEqual([['a', ['b']], 'z']);
    expect(shape(await get({ maxDepth: 20 }))).toEqual([['a', [['b', ['c', 'own']]]], 'z']);
    expect(shape(await get({ folderId: 'a', maxDepth: 2 }))).toEqual([['a', [['b', ['c', 'own']]]]]);
    expect(shape(await get({ folderId: 'root', maxDepth: 2 }))).toEqual(shape(await get({ maxDepth: 2 })));
  });

  test('pages through the first level of a folder', async () => {
    await addFoldersBelow(250, 'z', () => 0);
    const pages = (await customer.pages(GET, { ...acme, folderId: 'z', pageSize: 100 })).map(([z]) => z.subFolders);
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(new Set(pages.flat().map(({ folderId }: any) => folderId)).size).toBe(250);
  });

  test.each([
    ['directly in the folder', 19, 0, 200],
    ['below other folders', 16, 10, 210],
  ])('ends a page of folders with long paths early, %s', async (_where, depth, parents, count) => {
    const longId = (name: string) => name.padEnd(512, '界');
    const last = longId(`c${depth - 1}`);
    const folders = [
      ...times(depth, (i) => ({ folderId: longId(`c${i}`), ...(i > 0 && { parentFolderId: longId(`c${i - 1}`) }) })),
      ...times(parents, (i) => ({ folderId: `p${i}`, parentFolderId: last })),
      ...times(count, (i) => ({ folderId: longId(`l${i}`), parentFolderId: parents ? `p${i % parents}` : last })),
    ];
    await customer.untyped(ADD, { ...acme, folders });
    const pages = await customer.pages(GET, { ...acme, folderId: last, maxDepth: parents ? 2 : 1 });
    expect(pages.length).toBeGreaterThan(1);
    const direct = pages.flatMap(([folder]) => folder.subFolders);
    const leaves = parents ? direct.flatMap(({ subFolders }: any) => subFolders) : direct;
    expect(new Set(leaves.map(({ folderId }: any) => folderId)).size).toBe(count);
  });

  test('returns INVALID_ARGUMENT with advice if the result has more than 1,000 folders', async () => {
    await addFoldersBelow(1_010, 'z', (index) => (index < 20 ? 0 : 1 + (index % 20)));
    expect(await error(GET, { maxDepth: 3 })).toEqual(
      invalid('maxDepth leads to more than 1000 folders in one answer. Use a smaller maxDepth or pageSize'),
    );
    expect((await get({ folderId: 'z', maxDepth: 2, pageSize: 10 }))[0].subFolders).toHaveLength(10);
  });
});

describe('folders/get and documents/get with a folder', () => {
  test.each([
    [GET, [{ folderId: 'a', subFolders: [] }]],
    ['/v2/organizations/documents/get', []],
  ])('%s leaves out folders and documents that are moved away during the call', async (path, expected) => {
    await customer.addDocuments(['nda'], { folderId: 'a' });
    const query = Table.prototype.query;
    const spy = jest.spyOn(Table.prototype, 'query').mockImplementation(async function (
      this: Table,
      ...call: Parameters<Table['query']>
    ) {
      const entries = await query.apply(this, call);
      spy.mockRestore();
      await update({ folderId: 'b', parentFolderId: 'root' });
      await customer.ok('/v2/organizations/documents/move', { ...acme, documentIds: ['nda'], folderId: 'root' });
      return entries;
    });
    expect(await customer.untyped(path, { ...acme, folderId: 'a' })).toMatchObject(expected);
  });
});

describe('folders/update', () => {
  test('renames a folder, keeps fields that are not sent, and starts no job for a parent that the folder has', async () => {
    const { body } = await customer.call(UPDATE, {
      ...acme,
      folders: [
        { folderId: 'a', folderName: 'New' },
        { folderId: 'b', parentFolderId: 'a' },
        { folderId: 'z', parentFolderId: 'root' },
      ],
    });
    expect(body.result).toEqual({
      status: 'success',
      message: 'Folder Updated successfully.',
      data: Object.fromEntries(['a', 'b', 'z'].map((id) => [id, { success: true, id, message: 'Folder Updated.' }])),
    });
    expect((await get())[0]).toMatchObject({ folderName: 'New', accessType: 'restricted' });
    expect(await itemsOf('Job')).toEqual([]);
  });

  test('moves and renames folders with their descendants, before the jobs of earlier moves run', async () => {
    await update({ folderId: 'b', parentFolderId: 'z' });
    await update({ folderId: 'z', parentFolderId: 'a', folderName: 'Z' }, { folderId: 'c', parentFolderId: null });
    expect(await positions('z', 'b', 'c', 'own')).toEqual({
      z: 'root/a restricted',
      b: 'root/a/z restricted',
      c: 'root public',
      own: 'root/a/z/b organizationPrivate',
    });
    expect((await get({ folderId: 'z' }))[0].folderName).toBe('Z');
  });

  test('fails only for folders that would form a cycle, unknown folders and unknown parents', async () => {
    expect(
      await update(
        { folderId: 'a', parentFolderId: 'c' },
        { folderId: 'b', parentFolderId: 'b' },
        { folderId: 'none', parentFolderId: 'a' },
        { folderId: 'nobody', folderName: 'x' },
        { folderId: 'z', parentFolderId: 'none' },
        { folderId: 'c', parentFolderId: 'a' },
      ),
    ).toEqual({
      a: { success: false, id: 'a', message: 'Folder cannot be moved into itself.' },
      b: { success: false, id: 'b', message: 'Folder cannot be moved into itself.' },
      none: { success: false, id: 'none', message: 'Folder does not exist.' },
      nobody: { success: false, id: 'nobody', message: 'Folder does not exist.' },
      z: { success: false, id: 'z', message: 'Parent folder does not exist.' },
      c: { success: true, id: 'c', message: 'Folder Updated.' },
    });
    // After the first move, the second one would put `z` below itself.
    expect(await update({ folderId: 'a', parentFolderId: 'z' }, { folderId: 'z', parentFolderId: 'c' })).toMatchObject({
      a: { success: true },
      z: { success: false },
    });
  });

  test('starts the job of the earlier moves if a later move answers ABORTED', async () => {
    let writes = 0;
    class Conflicting extends Table {
      override async write(ops: readonly WriteOp[]): ReturnType<Table['write']> {
        return ++writes > 1 ? { conflicts: [0] } : super.write(ops);
      }
    }
    const sent: unknown[] = [];
    const changer = changerOn(Conflicting, async (messages) => void sent.push(...messages));
    const moves = [
      { folderId: 'b', parentFolderId: 'z' },
      { folderId: 'own', parentFolderId: 'a' },
    ];
    const request = await folderRequest();
    await expect(virtualTime().run(() => changer.update(request, moves))).rejects.toMatchObject({ status: 'ABORTED' });
    expect(await positions('b', 'own')).toEqual({ b: 'root/z public', own: 'root/z/b organizationPrivate' });
    const [job] = await itemsOf('Job');
    expect(sent).toMatchObject([{ body: { tenant: customer.apiKey, jobId: job!.jobId } }]);
  });

  test('fails for one of two concurrent moves that together form a cycle, even if an earlier move of the call succeeds', async () => {
    await customer.untyped(ADD, { ...acme, folders: ['x', 'y', 'v'].map((folderId) => ({ folderId })) });
    // The other call moves its folder after the last move has read, and before it writes.
    let writes = 0;
    class Interrupted extends Table {
      override async write(ops: readonly WriteOp[]): ReturnType<Table['write']> {
        if (++writes === 2)
          expect(await update({ folderId: 'y', parentFolderId: 'x' })).toMatchObject({ y: { success: true } });
        return super.write(ops);
      }
    }
    const results = await changerOn(Interrupted).update(await folderRequest(), [
      { folderId: 'v', parentFolderId: 'z' },
      { folderId: 'x', parentFolderId: 'y' },
    ]);
    expect(results).toMatchObject([
      { success: true },
      { success: false, message: 'Folder cannot be moved into itself.' },
    ]);
    expect(await positions('x', 'y', 'v')).toEqual({ x: 'root public', y: 'root/x public', v: 'root/z public' });
  });

  test('refuses a move to more than 20 levels or of more than 1,000 descendants, with the reason', async () => {
    await addFoldersBelow(19, 'z', (index) => index);
    expect(await update({ folderId: 'a', parentFolderId: 'z-17' })).toMatchObject({
      a: { success: false, message: 'A folder below this folder would be too deep.' },
    });
    expect(await update({ folderId: 'own', parentFolderId: 'z-18' })).toMatchObject({
      own: { success: false, message: 'Folder would be too deep.' },
    });
    expect(await update({ folderId: 'own', parentFolderId: 'z-17' })).toMatchObject({ own: { success: true } });
    await customer.untyped(ADD, { ...acme, folders: [{ folderId: 'wide' }] });
    await addFoldersBelow(1_001, 'wide', () => 0);
    expect(await update({ folderId: 'wide', parentFolderId: 'a' })).toMatchObject({
      wide: { success: false, message: 'There are more than 1000 folders below the folder. Move them in parts.' },
    });
    expect(await itemsOf('Job')).toHaveLength(1);
  });

  test('treats a repeated id as one folder, and refuses more than 30 moves', async () => {
    expect(await update({ folderId: 'a', folderName: 'first' }, { folderId: 'a', folderName: 'second' })).toEqual({
      a: { success: true, id: 'a', message: 'Folder Updated.' },
    });
    expect((await get())[0].folderName).toBe('first');
    expect(
      await error(UPDATE, {
        folders: times(31, (i) => ({ folderId: `f${i}`, parentFolderId: null })),
      }),
    ).toEqual(invalid('folders must have at most 30 items with a parentFolderId'));
  });
});

describe('folders/access/update', () => {
  test('sets access types, which apply at once to folders that inherit and not to others', async () => {
    const { body } = await customer.call(ACCESS, { ...acme, folderIds: ['a', 'none', 'a'], accessType: 'public' });
    expect(body.result).toEqual({
      status: 'success',
      message: 'Updated access for folders successfully.',
      data: {
        a: { success: true, accessType: 'public', message: 'Folder access type updated.' },
        none: { success: false, accessType: null, message: 'Folder does not exist.' },
      },
    });
    expect(
      await customer.untyped(ACCESS, {
        ...acme,
        folderIds: ['own'],
        inheritFromParent: true,
        accessType: 'restricted',
      }),
    ).toEqual({
      own: { success: true, accessType: null, inheritFromParent: true, message: 'Folder access type updated.' },
    });
    expect(await positions('a', 'own')).toEqual({ a: 'root public', own: 'root/a/b public' });
  });

  test('applies at once beside many other changes, and readers do not read all of these', async () => {
    // Internal ids of these folders sort before those of the other folders.
    await customer.untyped(ADD, { ...acme, folders: [{ folderId: '0' }] });
    await addFoldersBelow(250, '0', () => 0);
    await customer.untyped(ACCESS, { ...acme, folderIds: times(250, (i) => `0-${i}`), accessType: 'restricted' });
    await customer.untyped(ACCESS, { ...acme, folderIds: ['a'], accessType: 'public' });
    await update({ folderId: 'b', parentFolderId: 'z' }, { folderId: 'z', parentFolderId: '0-7' });
    expect(await positions('a', 'c', 'own', 'z', '0-9')).toEqual({
      a: 'root public',
      c: 'root/0/0-7/z/b restricted',
      own: 'root/0/0-7/z/b organizationPrivate',
      z: 'root/0/0-7 restricted',
      '0-9': 'root/0 restricted',
    });
    await customer.untyped(DELETE, { ...acme, folderId: 'z' });
    expect(await error(GET, { folderId: 'c' })).toEqual([404, 'NOT_FOUND', 'Folder does not exist']);

    const pages: number[] = [];
    class Recording extends Table {
      override async query<T, P>(...query: Parameters<typeof Table.prototype.query<T, P>>) {
        const page = await super.query(...query);
        pages.push(page.values.length);
        return page;
      }
    }
    const { tenant, organization } = await folderRequest();
    const reader = new FolderReader(new Recording(asDocumentClient(engine.lean), TABLE_NAME));
    expect(await reader.getByIds(organizationScope(tenant, organization), ['c', '0-9'])).toEqual([
      undefined,
      expect.objectContaining({ accessType: 'restricted' }),
    ]);
    expect(pages).toEqual([100]);
  });

  test('starts no job if the access type is the stored one, and rejects missing and invalid access types', async () => {
    await customer.untyped(ACCESS, { ...acme, folderIds: ['a'], accessType: 'restricted' });
    expect(await itemsOf('Job')).toEqual([]);
    for (const data of [{ folderIds: ['a'] }, { folderIds: ['a'], inheritFromParent: false }])
      expect(await error(ACCESS, data)).toEqual(invalid('accessType is required unless inheritFromParent is true'));
  });
});

describe('folders/delete', () => {
  test('returns null, and NOT_FOUND for an unknown or deleted folder', async () => {
    const { status, body } = await customer.call(DELETE, { ...acme, folderId: 'b' });
    expect([status, body.result]).toEqual([
      200,
      { status: 'success', message: 'Folder deletion initiated successfully.', data: null },
    ]);
    for (const folderId of ['b', 'c', 'none', 'root'])
      expect(await error(DELETE, { folderId })).toEqual([404, 'NOT_FOUND', 'Folder not found.']);
    expect((await get({ folderId: 'a' }))[0].subFolders).toEqual([]);
  });

  test('deletes each folder once for concurrent calls, and counts every started job in the organization', async () => {
    await customer.untyped(ADD, { ...acme, folders: times(8, (i) => ({ folderId: `f${i}` })) });
    const answers = await Promise.all(times(16, (i) => customer.call(DELETE, { ...acme, folderId: `f${i % 8}` })));
    const statuses = answers.map(({ status }) => status);
    // After too many conflicts, a caller gets an error that says to try again.
    expect(statuses.every((status) => [200, 404, 409].includes(status))).toBe(true);
    const [organization] = await itemsOf('Organization');
    expect(organization!.folderChanges).toBe(statuses.filter((status) => status === 200).length);
    expect(await itemsOf('Job')).toHaveLength(organization!.folderChanges);
  });
});
