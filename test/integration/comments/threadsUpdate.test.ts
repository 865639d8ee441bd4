import { describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { enableActivities } from '../../support/activities.ts';
import { nda } from '../../support/content.ts';
import { involvementsOf } from '../../support/involvements.ts';
import {
  ada,
  addLongThread,
  addThreads,
  comment,
  commentCalls,
  getThread,
  idsIn,
  numbered,
  thread,
} from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const UPDATE = '/v2/commentannotations/update';
const bob = { userId: 'bob', name: 'Bob' };

const { engine, customer, emitted } = acmeWorld({ table: 'memory' });

const update = (data: object) => customer.ok(UPDATE, { ...nda, ...data });
const change = (updatedData: object, more: object = {}) => update({ annotationIds: ['a'], updatedData, ...more });

describe('POST /v2/commentannotations/update: updatedData', () => {
  test('changes only the sent fields, and fails only for an unknown id', async () => {
    await addThreads(customer, [
      thread('a', { location: { id: 1 }, metadata: { mine: 1 }, targetElement: { x: 1 } }),
      'b',
    ]);
    const before = await getThread(customer, 'a');
    const other = await getThread(customer, 'b');
    expect(
      await customer.result(UPDATE, {
        ...nda,
        annotationIds: ['a', 'none', 'a'],
        updatedData: {
          priority: { id: 'P1', name: 'High' },
          location: { id: 'page-2', page: 2 },
          context: { access: { team: 1 } },
        },
      }),
    ).toEqual({
      status: 'success',
      message: 'Annotations updated successfully.',
      data: {
        a: { success: true, id: 'a', message: 'Annotations updated successfully' },
        none: { success: false, id: 'none', message: 'Annotation not found.' },
      },
    });
    const after = await getThread(customer, 'a');
    expect(after).toEqual({
      ...before,
      priority: { id: 'P1', name: 'High' },
      location: { id: 'page-2', page: 2 },
      locationId: 'page-2',
      context: { access: { team: 1 }, accessFields: ['team:1'] },
      lastUpdated: expect.any(Number),
    });
    expect(after.lastUpdated).toBeGreaterThan(before.lastUpdated);
    expect(await getThread(customer, 'b')).toEqual(other);
  });

  test('changes lastUpdated and rejects a change of createdAt', async () => {
    await addThreads(customer, [thread('a', { createdAt: 5 })]);
    expect(await change({ lastUpdated: '2026-01-02T03:04:05Z', createdAt: 5 })).toMatchObject({ a: { success: true } });
    expect(await getThread(customer, 'a')).toMatchObject({ createdAt: 5, lastUpdated: Date.UTC(2026, 0, 2, 3, 4, 5) });
    expect(await change({ createdAt: 6, priority: 'P1' })).toEqual({
      a: { success: false, id: 'a', message: 'createdAt of an annotation cannot be changed.' },
    });
    expect(await getThread(customer, 'a')).not.toHaveProperty('priority');
  });

  test('stores the acting user as the one who resolved the thread', async () => {
    await addThreads(customer, ['a']);
    await change({ status: 'RESOLVED' }, { actionUser: bob });
    expect(await getThread(customer, 'a')).toMatchObject({ resolvedByUserId: 'bob', statusUpdatedByUserId: 'bob' });
  });

  test('moves the first comment from the user data of the old assignee to the new assignee', async () => {
    await addThreads(customer, [
      thread('a', {
        assignedTo: { userId: 'zoe' },
        commentData: [
          comment({ commentId: 5, taggedUserContacts: [{ userId: 'bob' }] }),
          comment({ commentId: 2, from: { userId: 'eve' } }),
        ],
      }),
    ]);
    const others = ['ada made a/5', 'bob in a/5', 'eve made a/2'];
    expect(await involvementsOf(engine, customer)).toEqual([...others, 'zoe in a/5'].sort());
    await change({ assignedTo: { userId: 'max' } });
    expect(await involvementsOf(engine, customer)).toEqual([...others, 'max in a/5'].sort());
    for (const userId of ['bob', 'ada']) {
      await change({ assignedTo: { userId } });
      expect(await involvementsOf(engine, customer)).toEqual(others);
    }
    await change({ assignedTo: { userId: 'eve' } });
    expect(await involvementsOf(engine, customer)).toEqual([...others, 'eve in a/5'].sort());
    expect((await getThread(customer, 'a')).involvedUserIds).toEqual(['ada', 'bob', 'eve']);
  });

  test('fails only for a thread that the change would make too large', async () => {
    const large = { note: 'x'.repeat(65_000) };
    await addThreads(customer, [
      thread('a', { metadata: large, targetElement: large, customList: [large], suggestion: large }),
      'b',
    ]);
    expect(await update({ annotationIds: ['a', 'b'], updatedData: { priority: { id: 'P', ...large } } })).toEqual({
      a: { success: false, id: 'a', message: 'Annotation would be too large.' },
      b: { success: true, id: 'b', message: 'Annotations updated successfully' },
    });
  });
});

describe('POST /v2/commentannotations/update: selection', () => {
  test.each<[object, string[]]>([
    [{ locationIds: ['1'] }, ['a', 'b']],
    [{ annotationIds: ['a', 'c'], userIds: ['bob'] }, ['c']],
    [{ locationIds: ['3'] }, []],
  ])('changes only the threads that match %j', async (selection, expected) => {
    await addThreads(customer, [
      thread('a', { location: { id: 1 } }),
      thread('b', { location: { id: 1 } }),
      thread('c', { location: { id: 2 }, assignedTo: bob }),
    ]);
    const results = Object.entries<any>(await update({ ...selection, updatedData: { status: 'DONE' } }));
    expect(results.flatMap(([id, { success }]) => (success ? [id] : [])).toSorted()).toEqual(expected);
    const changed = await customer.ok('/v2/commentannotations/get', { ...nda, statusIds: ['DONE'] });
    expect(idsIn(changed).toSorted()).toEqual(expected);
  });

  test('rejects a selection of more than 500 threads', async () => {
    const location = { id: 9 };
    const add = (ids: string[]) =>
      addThreads(
        customer,
        ids.map((id) => thread(id, { location })),
      );
    await add(numbered('x', 250));
    await add(numbered('y', 250));
    expect(Object.keys(await update({ locationIds: ['9'], updatedData: { priority: 'P1' } }))).toHaveLength(500);
    await add(['one-more']);
    expect(await customer.error(UPDATE, { ...nda, locationIds: ['9'], updatedData: { priority: 'P2' } })).toEqual(
      invalid('annotationIds: more than 500 annotations are selected; select fewer'),
    );
    expect((await getThread(customer, 'x000')).priority).toBe('P1');
  });

  test.each([
    ['an empty change', { annotationIds: ['a'], updatedData: {} }, 400],
    ['an unknown document', { documentId: 'none', annotationIds: ['a'] }, 404],
  ])('rejects %s', async (_what, data, status) => {
    await customer.addDocuments(['nda']);
    expect((await customer.call(UPDATE, { ...nda, updatedData: { status: 'DONE' }, ...data })).status).toBe(status);
  });
});

describe('POST /v2/commentannotations/update: activities', () => {
  test('writes activities when the call asks for them and they are enabled', async () => {
    await enableActivities(customer);
    await addThreads(customer, ['a']);
    await change({ status: 'RESOLVED' }, { actionUser: bob });
    await change(
      { priority: 'P1', visibility: { type: 'organizationPrivate' } },
      { triggerActivities: true, actionUser: bob },
    );
    const activities: any[] = await customer.ok('/v2/activities/get', nda);
    expect(
      Object.fromEntries(activities.map(({ actionType, actionUser, changes }) => [actionType, [actionUser, changes]])),
    ).toEqual({
      'comment_annotation.access_mode_change': [
        bob,
        { visibility: { from: { type: 'public' }, to: { type: 'organizationPrivate' } } },
      ],
      'comment_annotation.priority_change': [bob, { priority: { to: 'P1' } }],
    });
  });
});

describe('POST /v2/commentannotations/update: updateUsers', () => {
  const bobby = { userId: 'bobby', name: 'Bobby', email: 'bobby@example.com' };

  test('replaces a user as author, assignee and mentioned user in all comments', async () => {
    const taggedUserContacts = [{ userId: 'bob', text: '@bob' }, { contact: { userId: 'eve' } }];
    await addThreads(customer, [
      thread('a', {
        assignedTo: bob,
        commentData: [comment({ taggedUserContacts, to: [bob] }), comment({ from: bob })],
      }),
      thread('b', { commentData: [comment({ from: bob })] }),
      'c',
    ]);
    const untouched = await getThread(customer, 'c');
    expect(
      await update({
        annotationIds: ['a', 'b', 'c', 'none'],
        updateUsers: [{ oldUser: { userId: 'bob' }, newUser: bobby }],
      }),
    ).toMatchObject({ a: { success: true }, b: { success: true }, c: { success: true }, none: { success: false } });
    expect(await getThread(customer, 'a')).toMatchObject({
      assignedTo: bobby,
      commentCount: 2,
      involvedUserIds: ['ada', 'eve', 'bobby'],
      mentionedUserIds: ['eve', 'bobby'],
      comments: [
        { taggedUserContacts: [{ userId: 'bobby', text: '@bob' }, { contact: { userId: 'eve' } }], to: [bobby] },
        { from: bobby },
      ],
    });
    expect(await getThread(customer, 'b')).toMatchObject({ from: bobby, comments: [{ from: bobby }] });
    expect(await getThread(customer, 'c')).toEqual(untouched);
    expect(await involvementsOf(engine, customer)).toEqual([
      'ada made a/1',
      'ada made c/1',
      'bobby in a/1',
      'bobby made a/2',
      'bobby made b/1',
      'eve in a/1',
    ]);
    expect(await emitted()).toEqual([]);
  });

  test('refuses only the thread in which a comment would be too large with the new profile', async () => {
    const many = comment({ from: ada, to: Array<typeof bob>(50).fill(bob) });
    await addThreads(customer, [
      thread('a', { commentData: [many] }),
      thread('b', { commentData: [comment({ from: bob })] }),
    ]);
    const [name, photoUrl] = ['字'.repeat(512), '字'.repeat(2_048)];
    expect(
      await update({
        annotationIds: ['a', 'b'],
        updateUsers: [{ oldUser: bob, newUser: { userId: 'bobby', name, email: name, photoUrl } }],
      }),
    ).toMatchObject({ a: { success: false, message: 'Comment would be too large.' }, b: { success: true } });
  });

  test('merges a user into another user of the thread, together with updatedData', async () => {
    await addThreads(customer, [thread('a', { commentData: [comment({ to: [bob] }), comment({ from: bob })] })]);
    await update({
      annotationIds: ['a'],
      updateUsers: [{ oldUser: bob, newUser: ada }],
      updatedData: { status: 'RESOLVED' },
    });
    expect(await getThread(customer, 'a')).toMatchObject({
      involvedUserIds: ['ada'],
      mentionedUserIds: ['ada'],
      status: { id: 'RESOLVED' },
      comments: [{ to: [ada] }, { from: ada }],
    });
    expect(await involvementsOf(engine, customer)).toEqual(['ada made a/1', 'ada made a/2']);
  });

  test.each([
    ['a repeated user', ['bob eve', 'bob max'], 'updateUsers[1].oldUser is given twice'],
    ['a chain of replacements', ['bob eve', 'eve max'], 'updateUsers[0].newUser is replaced by another'],
  ])('rejects %s', async (_what, pairs, message) => {
    await addThreads(customer, ['a']);
    const updateUsers = pairs.map((pair) => {
      const [oldUser, newUser] = pair.split(' ').map((userId) => ({ userId }));
      return { oldUser, newUser };
    });
    expect(await customer.error(UPDATE, { ...nda, annotationIds: ['a'], updateUsers })).toEqual(invalid(message));
  });

  test('keeps counts and users of the thread correct when the changes exceed one transaction', async () => {
    const [old, young] = ['old', 'young'].map((name) => numbered(name, 10).map((userId) => ({ userId }))) as [any, any];
    const commentData = times(15, () => comment({ to: old, from: old[0] }));
    await addLongThread(customer, { annotationId: 'a', commentData }, 8);
    await update({
      annotationIds: ['a'],
      updateUsers: times(10, (index) => ({ oldUser: old[index], newUser: young[index] })),
    });
    const ids = numbered('young', 10);
    expect(await getThread(customer, 'a')).toMatchObject({
      from: { userId: 'young000' },
      commentCount: 15,
      involvedUserIds: ids,
      mentionedUserIds: ids,
    });
    expect(await involvementsOf(engine, customer)).toHaveLength(150);
    await commentCalls(customer, 'a').update({ updatedData: { to: [] } });
    expect(await getThread(customer, 'a')).toMatchObject({ involvedUserIds: ['young000'], mentionedUserIds: [] });
    expect(await involvementsOf(engine, customer)).toHaveLength(15);
  });
});
