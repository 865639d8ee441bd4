import { describe, expect, jest, test } from '@jest/globals';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { involvementsOf } from '../../support/involvements.ts';
import { addThreads, comment, commentCalls, contentOf, getThread, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';
import { virtualTime } from '../../support/virtualTime.ts';

const { engine, customer, emitted } = acmeWorld({ documents: ['nda'] });

const users = (prefix: string, count: number) => times(count, (index) => ({ userId: `${prefix}${index}` }));
const call = (path: string, data: object) => customer.call(path, { ...nda, ...data });

describe('parallel additions of two threads with the same id', () => {
  const said = (author: string) => times(12, (index) => `${author} ${index}`);
  const by = async (author: string, annotationId: string) => {
    const commentData = said(author).map((commentText) =>
      comment({ commentText, from: { userId: author }, to: users(author, 5) }),
    );
    return (await addThreads(customer, [thread(annotationId, { createdAt: 5_000, commentData })]))[annotationId];
  };
  /** The number of items that one complete thread has. Records of a second thread would increase the numbers. */
  const whole = { Thread: 1, Comment: 12, RecordId: 1, Involvement: 72 };
  const texts = async (annotationId: string) =>
    (await getThread(customer, annotationId)).comments.map(({ commentText }: any) => commentText);
  const involvementsOfOthers = async (author: string, annotationId: string) =>
    (await involvementsOf(engine, customer)).filter(
      (involvement) => involvement.includes(` ${annotationId}/`) && !involvement.startsWith(author),
    );

  test('store the thread that is written first, and no record of the other thread', async () => {
    const write = Table.prototype.write;
    const sizes: number[] = [];
    let meanwhile: { success: boolean } | undefined;
    const spy = jest.spyOn(Table.prototype, 'write').mockImplementation(async function (this: Table, ops) {
      // The second call runs after the first one has read that the id is free, and before its first write.
      if (ops.length > 0 && sizes.push(ops.length) === 1) meanwhile = await by('bob', 'a');
      return write.call(this, ops);
    });
    const first = await by('ada', 'a');
    spy.mockRestore();
    expect(first).toEqual({ success: false, annotationId: 'a', commentIds: [], message: 'Annotation already exists.' });
    expect([meanwhile?.success, sizes]).toEqual([true, [86, 86]]);
    expect([await texts('a'), await contentOf(engine, customer), await involvementsOfOthers('bob', 'a')]).toEqual([
      said('bob'),
      whole,
      [],
    ]);
  });
});

describe('deletion of a thread during parallel changes', () => {
  test('leaves no records in the table, if it has more comments than one transaction holds', async () => {
    for (let round = 0; round < 2; round++) {
      await addThreads(customer, [thread('a', { commentData: [comment()] })]);
      for (let i = 0; i < 3; i++)
        await commentCalls(customer, 'a').add(...times(20, () => comment({ to: users('u', 2) })));
      const [{ status }, ...others] = await Promise.all([
        call('/v2/commentannotations/delete', { annotationIds: ['a'] }),
        ...times(4, (index) =>
          call('/v2/commentannotations/comments/add', {
            annotationId: 'a',
            commentData: [
              comment({ from: { userId: `late${index}` }, to: users('v', 40) }),
              comment({ to: users('w', 49) }),
            ],
          }),
        ),
        ...times(3, (index) =>
          call('/v2/commentannotations/comments/update', {
            annotationId: 'a',
            commentIds: [1, 2],
            updatedData: { to: users(`x${index}`, 3) },
          }),
        ),
        ...times(5, (index) =>
          call('/v2/reactions/add', {
            reactions: [
              { annotationId: 'r', icon: '+', from: { userId: `fan${index}` }, commentAnnotationId: 'a', commentId: 2 },
            ],
          }),
        ),
        call('/v2/commentannotations/update', { annotationIds: ['a'], updatedData: { assignedTo: { userId: 'max' } } }),
        call('/v2/commentannotations/update', {
          annotationIds: ['a'],
          updateUsers: [{ oldUser: { userId: 'ada' }, newUser: { userId: 'eve' } }],
        }),
        call('/v2/commentannotations/comments/delete', { annotationId: 'a', commentIds: [1, 3] }),
      ]);
      expect(others.filter((result) => ![200, 404, 409].includes(result.status)).map(({ body }) => body)).toEqual([]);
      // The deletion can fail because of parallel changes. The test then repeats the deletion.
      if (status !== 200 || (await getThread(customer, 'a')) !== null)
        await customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: ['a'] });
      expect(await contentOf(engine, customer)).toEqual({});
    }
  });
});

test('parallel changes of a status emit one event for each successful change', async () => {
  await addThreads(customer, ['a']);
  const statuses = times(6, (index) => `S${index}`);
  const results = await Promise.all(
    statuses.map((status) =>
      call('/v2/commentannotations/update', {
        annotationIds: ['a'],
        updatedData: { status },
        triggerNotification: true,
      }),
    ),
  );
  const successes = results.filter(({ body }) => body.result?.data.a.success).length;
  const statusChanges = (await emitted()).map(({ data }) => [data.oldStatus.id, data.newStatus.id]);
  expect(statusChanges).toHaveLength(successes);
  // Each change must start from the status that another change set, so the changes form a chain.
  expect(new Set(statusChanges.map(([from]) => from)).size).toBe(successes);
  expect(statusChanges.filter(([, to]) => !statusChanges.some(([from]) => from === to)).map(([, to]) => to)).toEqual([
    (await getThread(customer, 'a')).status.id,
  ]);
});

describe('a change whose writes conflict for 8 seconds', () => {
  const busy = (kind: string) => `${kind} is being changed by another request.`;
  const from = { userId: 'ada' };
  const reaction = { annotationId: 'r', icon: '+', from };
  const text = { displayHeadlineMessageTemplate: 'h', displayBodyMessage: 'b' };
  const notification = { notificationId: 'n', actionUser: from, notifyUsers: [{ userId: 'bob' }], ...text };

  test.each([
    ['commentannotations/add', { commentAnnotations: [thread('b')] }, busy('Annotation')],
    ['commentannotations/update', { annotationIds: ['a'], updatedData: { status: 'S' } }, busy('Annotation')],
    ['reactions/add', { reactions: [reaction] }, busy('Reaction')],
    ['reactions/delete', { annotationIds: ['r'] }, busy('Reaction')],
    ['recordings/add', { recordings: [{ annotationId: 'r', recordingType: 'audio', from }] }, busy('Recording')],
    [
      'notifications/update',
      { notifications: [{ id: 'n', displayBodyMessage: 'c' }] },
      'Failed to update notification.',
    ],
    ['notifications/delete', { notificationIds: ['n'] }, 'Failed to delete notification.'],
    [
      'notifications/config/set',
      { documentId: undefined, userIds: ['ada'], config: { inbox: 'MINE' } },
      busy('User config'),
    ],
  ])('fails in its own result: %s', async (path, data, message) => {
    await addThreads(customer, ['a']);
    await customer.ok('/v2/users/add', { organizationId: 'acme', users: [from] });
    await customer.addReactions([reaction]);
    await customer.ok('/v2/notifications/add', { ...nda, ...notification });
    const spy = jest
      .spyOn(Table.prototype, 'write')
      .mockImplementation(async (ops) => ({ conflicts: ops.map((_op, index) => index) }));
    const results = await virtualTime().run(() => customer.untyped(`/v2/${path}`, { ...nda, ...data }));
    spy.mockRestore();
    expect(Object.values(results)).toMatchObject([{ success: false, message }]);
  });
});
