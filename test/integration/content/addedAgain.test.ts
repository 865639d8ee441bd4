import { expect, test } from '@jest/globals';
import { purgeLeftover } from '../../../lib/comments/deleteThreads.ts';
import type { WriteOp } from '../../../lib/table/table.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { beforeWrite, writesItem } from '../../support/beforeWrite.ts';
import { nda } from '../../support/content.ts';
import { addLongThread, addThreads, comment, getThread, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const { customer, itemsOf } = acmeWorld({ table: 'memory', documents: ['nda'] });

const addThread = (text: string) =>
  addThreads(customer, [
    thread('a', { createdAt: 5, commentData: [comment({ commentText: text })], location: { id: text } }),
  ]);

test.each<[string, type: string, add: (text: string) => Promise<unknown>, path: string, changes: object]>([
  [
    'user',
    'User',
    (name) => customer.addUsers([{ userId: 'ada', name }]),
    '/v2/users/update',
    { organizationId: 'acme', users: [{ userId: 'ada', email: 'ada@example.com' }] },
  ],
  [
    'presence',
    'Presence',
    (name) => customer.ok('/v2/presence/add', { ...nda, users: [{ userId: 'ada', name }] }),
    '/v2/presence/update',
    { ...nda, users: [{ userId: 'ada', status: 'away' }] },
  ],
  [
    'live state',
    'LiveState',
    (text) => customer.ok('/v2/livestate/broadcast', { ...nda, liveStateDataId: 'x', data: { text } }),
    '/v2/livestate/broadcast',
    { ...nda, liveStateDataId: 'x', data: { cursor: 1 }, merge: true },
  ],
  [
    'thread with a time of the customer',
    'Thread',
    addThread,
    '/v2/commentannotations/update',
    { ...nda, annotationIds: ['a'], updatedData: { priority: { id: 'P1', name: 'High' } } },
  ],
])(
  'an update of a %s that was removed and added again after the read does not restore the removed one',
  async (_what, type, add, path, changes) => {
    await add('former');
    beforeWrite(async () => {
      const items = (await Promise.all([type, 'RecordId', 'Comment'].map((each) => itemsOf(each)))).flat();
      await table.removeKeys(items.map(({ PK, SK }) => ({ PK, SK })));
      await add('current');
    }, writesItem(type));
    await customer.untyped(path, changes);
    const text = JSON.stringify(await itemsOf(type));
    expect(text).toContain('current');
    expect(text).not.toContain('former');
  },
);

const isRemoval = (ops: readonly WriteOp[]) => ops.length > 0 && ops.every((op) => 'remove' in op);

test.each<[string, (ops: readonly WriteOp[]) => boolean]>([
  ['comments', isRemoval],
  ['id', (ops) => isRemoval(ops) && JSON.stringify(ops).includes('#RECORD#')],
])(
  'the purge of a deleted thread does not remove the %s of a thread that was added again with the same id and time',
  async (_what, matches) => {
    const addLong = (commentText: string) =>
      addLongThread(customer, {
        ...thread('a', { createdAt: 5 }),
        commentData: times(25, () => comment({ commentText })),
      });
    await addLong('former');
    beforeWrite(async () => {
      const [job] = await itemsOf('Job');
      await purgeLeftover(table, customer.apiKey, JSON.parse(job!.data));
      await addLong('current');
    }, matches);
    await customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: ['a'] });
    expect((await getThread(customer, 'a')).comments).toMatchObject(times(25, () => ({ commentText: 'current' })));
    expect(await addThread('third')).toMatchObject({ a: { success: false } });
  },
);
