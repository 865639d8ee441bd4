import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { enableActivities } from '../../support/activities.ts';
import { nda } from '../../support/content.ts';
import {
  ada,
  addLongThread,
  addThreads,
  comment,
  commentCalls,
  getThread,
  idsIn,
  involvementsOf,
  numbered,
  thread,
} from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const UPDATE = '/v2/commentannotations/update';
const bob = { userId: 'bob', name: 'Bob' };

const { engine, customer, emitted } = acmeWorld({ table: 'memory' });

const update = (data: object) => customer.ok(UPDATE, { ...nda, ...data });
const change = (updatedData: object, more: object = {}) => update({ annotationIds: ['a'], updatedData, ...more });
const emittedTypes = async () => (await emitted()).map(({ event }) => event).sort();

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

  test('succeeds and writes nothing if no value changes', async () => {
    await addThreads(customer, [thread('a', { priority: 'P1' })]);
    const before = await getThread(customer, 'a');
    expect(
      await change({ priority: 'P1', status: 'OPEN' }, { triggerNotification: true, actionUser: bob }),
    ).toMatchObject({ a: { success: true } });
    expect(await getThread(customer, 'a')).toEqual(before);
    expect(await emittedTypes()).toEqual([]);
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

  test('stores who resolved the thread at a terminal status, and clears the user at another status', async () => {
    await addThreads(customer, ['a']);
    await change({ status: 'RESOLVED' }, { actionUser: bob });
    expect(await getThread(customer, 'a')).toMatchObject({
      status: { id: 'RESOLVED', name: 'Resolved', type: 'terminal' },
      resolvedByUserId: 'bob',
      statusUpdatedByUserId: 'bob',
    });
    await change({ status: { id: 'AGAIN', type: 'ongoing' }, statusUpdatedByUserId: 'eve' });
    expect(await getThread(customer, 'a')).toMatchObject({
      status: { id: 'AGAIN', type: 'ongoing' },
      statusUpdatedByUserId: 'eve',
    });
    expect(await getThread(customer, 'a')).not.toHaveProperty('resolvedByUserId');
    await change({ status: 'RESOLVED', resolvedByUserId: 'zoe' });
    expect(await getThread(customer, 'a')).toMatchObject({ resolvedByUserId: 'zoe' });
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
  beforeEach(async () => {
    await addThreads(customer, [
      thread('a', { location: { id: 1 } }),
      thread('b', { location: { id: 1 }, commentData: [comment({ from: bob })] }),
      thread('c', { location: { id: 2 }, assignedTo: bob }),
      thread('d', { commentData: [comment({ to: [bob] })] }),
    ]);
  });

  test.each<[object, string[]]>([
    [{ locationIds: ['1'] }, ['a', 'b']],
    [{ userIds: ['bob'] }, ['b', 'c', 'd']],
    [{ userIds: ['bob', 'ada'], locationIds: ['1', '2'] }, ['a', 'b', 'c']],
    [{ annotationIds: ['a', 'd'], userIds: ['bob'] }, ['d']],
    [{ locationIds: ['3'] }, []],
  ])('changes only the threads that match %j', async (selection, expected) => {
    const results = await update({ ...selection, updatedData: { status: 'DONE' } });
    expect(
      Object.entries<any>(results)
        .filter(([, { success }]) => success)
        .map(([id]) => id)
        .toSorted(),
    ).toEqual(expected);
    expect(idsIn(await customer.ok('/v2/commentannotations/get', { ...nda, statusIds: ['DONE'] })).toSorted()).toEqual(
      expected,
    );
  });

  test('rejects a selection of more than 500 threads', async () => {
    for (const prefix of ['x', 'y'])
      await addThreads(
        customer,
        numbered(prefix, 250).map((id) => thread(id, { location: { id: 9 } })),
      );
    expect(Object.keys(await update({ locationIds: ['9'], updatedData: { priority: 'P1' } }))).toHaveLength(500);
    await addThreads(customer, [thread('one-more', { location: { id: 9 } })]);
    expect(await customer.error(UPDATE, { ...nda, locationIds: ['9'], updatedData: { priority: 'P2' } })).toEqual(
      invalid('annotationIds: more than 500 annotations are selected; select fewer'),
    );
    expect((await getThread(customer, 'x000')).priority).toBe('P1');
  });

  test.each([
    ['nothing', {}, 400],
    ['31 ids', { annotationIds: numbered('a', 31) }, 400],
    ['an empty change', { annotationIds: ['a'], updatedData: undefined }, 400],
    ['an empty change', { annotationIds: ['a'], updatedData: {} }, 400],
    ['an unknown organization', { organizationId: 'none', annotationIds: ['a'] }, 400],
    ['an unknown document', { documentId: 'none', annotationIds: ['a'] }, 404],
  ])('rejects %s', async (_what, data, status) => {
    expect((await customer.call(UPDATE, { ...nda, updatedData: { status: 'DONE' }, ...data })).status).toBe(status);
  });
});

describe('POST /v2/commentannotations/update: events', () => {
  test.each<[string, object, string[]]>([
    ['a status', { status: 'RESOLVED' }, ['comment_annotation.status_change']],
    ['an assignee', { assignedTo: bob }, ['comment_annotation.assign']],
    ['a priority', { priority: 'P1' }, ['comment_annotation.priority_change']],
    ['an accepted suggestion', { suggestion: { status: 'accepted' } }, ['comment_annotation.suggestion_accept']],
    ['a rejected suggestion', { suggestion: { status: 'rejected' } }, ['comment_annotation.suggestion_reject']],
    ['a list', { customList: [{ id: 1 }] }, ['comment_annotation.custom_list_change']],
    ['a subscription', { subscribedUsers: [bob] }, ['comment_annotation.subscribe']],
    ['the end of a subscription', { unsubscribedUsers: [bob] }, ['comment_annotation.unsubscribe']],
    ['a location', { location: { id: 1 } }, []],
    [
      'several fields',
      { status: 'DONE', priority: 'P1', assignedTo: bob },
      ['comment_annotation.assign', 'comment_annotation.priority_change', 'comment_annotation.status_change'],
    ],
  ])(
    'emits the event of %s once if the value changes and the request has triggerNotification',
    async (_what, updatedData, expected) => {
      await addThreads(customer, [thread('a', { suggestion: {} }), thread('quiet', { suggestion: {} })]);
      await update({ annotationIds: ['quiet'], updatedData });
      expect(await emittedTypes()).toEqual([]);
      await change(updatedData, { triggerNotification: true, actionUser: bob });
      await change(updatedData, { triggerNotification: true, actionUser: bob });
      expect(await emittedTypes()).toEqual(expected);
      for (const { data } of await emitted())
        expect(data).toMatchObject({
          actionUser: bob,
          commentAnnotation: { annotationId: 'a', commentCount: 1, comments: [] },
        });
    },
  );

  test('includes the old and new status and the visibility of a private thread in the event', async () => {
    await addThreads(customer, [thread('a', { visibility: { type: 'restricted', userIds: ['eve'] } })]);
    await change({ status: 'RESOLVED' }, { triggerNotification: true });
    expect(await emitted()).toMatchObject([
      {
        data: {
          actionUser: ada,
          oldStatus: { id: 'OPEN' },
          newStatus: { id: 'RESOLVED' },
          visibility: { type: 'restricted', userIds: ['eve'] },
          commentAnnotation: { status: { id: 'RESOLVED' } },
        },
        audience: { thread: { visibility: { type: 'restricted', userIds: ['eve'] } } },
      },
    ]);
  });

  test('emits an event again if the same value is set again after another value', async () => {
    await addThreads(customer, ['a']);
    for (const status of ['RESOLVED', 'OPEN', 'RESOLVED']) await change({ status }, { triggerNotification: true });
    expect(await emittedTypes()).toEqual(times(3, () => 'comment_annotation.status_change'));
  });

  test('writes activities when the call asks for them and they are enabled', async () => {
    await enableActivities(customer);
    await addThreads(customer, ['a']);
    await change({ status: 'RESOLVED' }, { actionUser: bob });
    await change(
      { priority: 'P1', visibility: { type: 'organizationPrivate' } },
      { triggerActivities: true, actionUser: bob },
    );
    const activities = await customer.ok('/v2/activities/get', nda);
    expect(
      activities
        .map(({ actionType, actionUser, changes }: any) => ({ actionType, actionUser, changes }))
        .toSorted((a: any, b: any) => (a.actionType < b.actionType ? -1 : 1)),
    ).toEqual([
      {
        actionType: 'comment_annotation.access_mode_change',
        actionUser: bob,
        changes: { visibility: { from: { type: 'public' }, to: { type: 'organizationPrivate' } } },
      },
      { actionType: 'comment_annotation.priority_change', actionUser: bob, changes: { priority: { to: 'P1' } } },
    ]);
  });
});

describe('POST /v2/commentannotations/update: updateUsers', () => {
  const bobby = { userId: 'bobby', name: 'Bobby', email: 'bobby@example.com' };

  test('replaces a user as author, assignee and mentioned user in all comments', async () => {
    const commentData = times(50, (index) =>
      comment(
        index % 2
          ? { from: bob }
          : { taggedUserContacts: [{ userId: 'bob', text: '@bob' }, { contact: { userId: 'eve' } }], to: [bob] },
      ),
    );
    await addThreads(customer, [thread('b', { commentData: [comment({ from: bob })] }), 'c']);
    await addLongThread(customer, { ...thread('a', { assignedTo: bob }), commentData });
    await commentCalls(customer, 'a').add(comment({ from: bob }));
    const untouched = await getThread(customer, 'c');
    expect(
      await update({
        annotationIds: ['a', 'b', 'c', 'none'],
        updateUsers: [{ oldUser: { userId: 'bob' }, newUser: bobby }],
      }),
    ).toMatchObject({ a: { success: true }, b: { success: true }, c: { success: true }, none: { success: false } });
    const [a, b] = [await getThread(customer, 'a'), await getThread(customer, 'b')];
    expect(JSON.stringify([a, b])).not.toMatch(/"bob"/);
    expect(a).toMatchObject({
      assignedTo: bobby,
      commentCount: 51,
      involvedUserIds: ['ada', 'eve', 'bobby'],
      mentionedUserIds: ['eve', 'bobby'],
    });
    expect(a.comments[0]).toMatchObject({
      taggedUserContacts: [{ userId: 'bobby', text: '@bob' }, { contact: { userId: 'eve' } }],
      to: [bobby],
    });
    expect(a.comments[50].from).toEqual(bobby);
    expect(b).toMatchObject({ from: bobby, comments: [{ from: bobby }] });
    expect(await getThread(customer, 'c')).toEqual(untouched);
    const involvements = await involvementsOf(engine, customer);
    expect(involvements.filter((involvement) => involvement.startsWith('bob '))).toEqual([]);
    expect(involvements.filter((involvement) => involvement.startsWith('bobby'))).toHaveLength(52);
    expect(await emitted()).toEqual([]);
  });

  test('refuses only the thread in which a comment would be too large with the new profile', async () => {
    const many = comment({ from: ada, to: Array<typeof bob>(50).fill(bob) });
    await addThreads(customer, [
      thread('a', { commentData: [many] }),
      thread('b', { commentData: [comment({ from: bob })] }),
    ]);
    const [name, photoUrl] = ['字'.repeat(512), '字'.repeat(2_048)];
    const { status, body } = await customer.call(UPDATE, {
      ...nda,
      annotationIds: ['a', 'b'],
      updateUsers: [{ oldUser: bob, newUser: { userId: 'bobby', name, email: name, photoUrl } }],
    });
    expect(status).toBe(200);
    expect(body.result.data).toMatchObject({
      a: { success: false, message: 'Comment would be too large.' },
      b: { success: true },
    });
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
    [
      'a repeated user',
      [
        ['bob', 'eve'],
        ['bob', 'max'],
      ],
      'updateUsers[1].oldUser is given twice',
    ],
    [
      'a chain of replacements',
      [
        ['bob', 'eve'],
        ['eve', 'max'],
      ],
      'updateUsers[0].newUser is replaced by another',
    ],
    [
      'eleven replacements',
      numbered('u', 11).map((userId) => [userId, 'max']),
      'updateUsers must have at most 10 items',
    ],
  ])('rejects %s', async (_what, pairs, message) => {
    await addThreads(customer, ['a']);
    const updateUsers = pairs.map(([oldId, newId]) => ({ oldUser: { userId: oldId }, newUser: { userId: newId } }));
    expect(await customer.error(UPDATE, { ...nda, annotationIds: ['a'], updateUsers })).toEqual(invalid(message));
  });

  test('keeps counts and users of the thread correct when the changes exceed one transaction', async () => {
    const [old, young] = ['old', 'young'].map((name) => numbered(name, 10).map((userId) => ({ userId })));
    await addLongThread(
      customer,
      { annotationId: 'a', commentData: times(15, () => comment({ to: old, from: old![0] })) },
      8,
    );
    await update({
      annotationIds: ['a'],
      updateUsers: old!.map((oldUser, index) => ({ oldUser, newUser: young![index] })),
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
