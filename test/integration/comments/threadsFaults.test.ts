import { beforeEach, describe, expect, test } from '@jest/globals';
import { purgeLeftover } from '../../../lib/comments/deleteThreads.ts';
import { acmeWorld, forAllTests, table } from '../../support/acmeWorld.ts';
import { enableActivities } from '../../support/activities.ts';
import { beforeWrite } from '../../support/beforeWrite.ts';
import { nda } from '../../support/content.ts';
import { startFaults } from '../../support/faults.ts';
import { involvementsOf } from '../../support/involvements.ts';
import {
  addLongThread,
  addThreads,
  comment,
  commentCalls,
  contentOf,
  getThread,
  idsIn,
  numbered,
  thread,
} from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/commentannotations/add';
const ADD_COMMENTS = '/v2/commentannotations/comments/add';
const DELETE = '/v2/commentannotations/delete';
const inOther = { ...nda, annotationId: 'other' };

const { engine, customer, itemsOf, emitted } = acmeWorld({ isCleared: true });
const faults = forAllTests(startFaults);
beforeEach(() => addThreads(customer, ['other']));

const fiftyComments = (text: string) =>
  times(50, (index) =>
    comment({ commentText: `${text} ${index}`, to: [{ userId: `${text}-${index}` }], triggerNotification: true }),
  );
/** The number of items while only the thread `other` exists. */
const NOTHING_ELSE = { Thread: 1, Comment: 1, RecordId: 1, Involvement: 1 };

describe('POST /v2/commentannotations/add with a failing transaction', () => {
  const add = (text: string) => {
    const sent = thread('a', { createdAt: 5, commentData: fiftyComments(text).slice(0, 32) });
    return customer.call(ADD, { ...nda, commentAnnotations: [sent] });
  };

  test('stores nothing of the thread, so that a repeated call succeeds', async () => {
    faults.fail('TransactWriteItems', 0);
    expect((await add('first')).status).toBe(503);
    faults.heal();
    expect([await contentOf(engine, customer), await emitted()]).toEqual([NOTHING_ELSE, []]);
    expect((await add('second')).body.result.data).toMatchObject({ a: { success: true } });
    expect((await getThread(customer, 'a')).comments.map(({ commentText }: any) => commentText)).toEqual(
      times(32, (index) => `second ${index}`),
    );
    expect(await emitted()).toHaveLength(1);
  });

  test('writes the whole thread in one transaction', async () => {
    faults.fail('TransactWriteItems', 1);
    expect((await add('first')).body.result.data).toMatchObject({ a: { success: true } });
    faults.heal();
    expect(await contentOf(engine, customer)).toEqual({ Thread: 2, Comment: 33, RecordId: 2, Involvement: 65 });
  });
});

describe('POST /v2/commentannotations/add, repeated with its Idempotency-Key', () => {
  test('adds each thread and event once, although the service generates the ids', async () => {
    const add = () => {
      const commentAnnotations = times(30, () => ({ commentData: [comment({ triggerNotification: true })] }));
      const headers = { 'idempotency-key': 'review-1' };
      return customer.call(ADD, { ...nda, commentAnnotations }, headers);
    };
    const listed = async () =>
      idsIn(await customer.ok('/v2/commentannotations/get', nda)).filter((id) => id !== 'other');
    faults.fail('TransactWriteItems', 1);
    expect((await add()).status).toBe(503);
    faults.heal();
    const half = await listed();
    expect(half.length).toBeGreaterThan(0);
    expect(half.length).toBeLessThan(30);
    const { status, body } = await add();
    expect(status).toBe(200);
    for (const result of Object.values(body.result.data))
      expect(result).toMatchObject({ success: true, commentIds: [1] });
    expect((await listed()).sort()).toEqual(Object.keys(body.result.data).sort());
    expect(await listed()).toEqual(expect.arrayContaining(half));
    expect(await emitted()).toHaveLength(30);
  });
});

describe('POST /v2/commentannotations/comments/add, repeated with its Idempotency-Key', () => {
  test('adds the comments and their event once, if the first call was interrupted after its transaction', async () => {
    const add = () => {
      const commentData = [comment({ triggerNotification: true }), comment()];
      return customer.call(ADD_COMMENTS, { ...inOther, commentData }, { 'idempotency-key': 'reply-1' });
    };
    faults.loseAnswer('TransactWriteItems');
    expect((await add()).status).toBe(503);
    faults.heal();
    await customer.ok(ADD_COMMENTS, { ...inOther, commentData: [comment()] });
    for (const { status, body } of [await add(), await add()])
      expect([status, body.result.data]).toEqual([200, [2, 3]]);
    expect((await getThread(customer, 'other')).comments.map(({ commentId }: any) => commentId)).toEqual([1, 2, 3, 4]);
    expect(await emitted()).toHaveLength(1);
  });
});

describe('POST /v2/commentannotations/delete of a large thread with a failing transaction', () => {
  test.each([[1], [2], [3]])(
    'hides the thread after %s transactions, reserves its id, and a job purges the rest',
    async (passing) => {
      await addLongThread(customer, {
        ...thread('a', { createdAt: 5, assignedTo: { userId: 'zoe' } }),
        commentData: fiftyComments('x'),
      });
      await customer.addReactions(
        numbered('r', 30).map((annotationId) => ({
          annotationId,
          icon: '+',
          from: { userId: 'fan' },
          commentAnnotationId: 'a',
          commentId: 50,
        })),
      );
      faults.fail('TransactWriteItems', passing);
      expect((await customer.call(DELETE, { ...nda, annotationIds: ['a'] })).status).toBe(503);
      faults.heal();
      expect(await getThread(customer, 'a')).toBeNull();
      expect(await customer.ok(DELETE, { ...nda, annotationIds: ['a'] })).toMatchObject({ a: { success: false } });
      expect(await addThreads(customer, [thread('a', { createdAt: 5 })])).toMatchObject({
        a: { success: false, message: 'Annotation already exists.' },
      });
      const [job, ...more] = await itemsOf('Job');
      expect([job!.kind, job!.dueAt - job!.createdAt, more]).toEqual(['purgeLeftover', 300_000, []]);
      const run = () => purgeLeftover(table, customer.apiKey, JSON.parse(job!.data));
      await Promise.all([run(), run()]);
      expect(await contentOf(engine, customer)).toEqual({ ...NOTHING_ELSE, Job: 1 });

      // The thread is added again each time. The old job runs after it and must not remove anything.
      for (const createdAt of [5, 6]) {
        await addLongThread(customer, { ...thread('a', { createdAt }), commentData: fiftyComments('new') });
        await run();
        expect((await getThread(customer, 'a')).comments).toHaveLength(50);
        await customer.ok(DELETE, { ...nda, annotationIds: ['a'] });
      }
      expect(await contentOf(engine, customer)).toEqual({ ...NOTHING_ELSE, Job: 1 });
    },
  );

  test('leaves only the job if the last step of the deletion fails', async () => {
    await addLongThread(customer, { annotationId: 'a', commentData: fiftyComments('x') });
    faults.fail('DeleteItem', 1);
    expect((await customer.call(DELETE, { ...nda, annotationIds: ['a'] })).status).toBe(503);
    faults.heal();
    expect(await contentOf(engine, customer)).toEqual({ ...NOTHING_ELSE, Job: 1 });
  });
});

describe('POST /v2/commentannotations/comments/add: size of one call', () => {
  const comments = (count: number, changes: object = {}) => times(count, () => comment(changes));
  const add = (commentData: object[], headers?: Record<string, string>) =>
    customer.call(ADD_COMMENTS, { ...inOther, commentData }, headers);
  const to = [{ userId: 'bob' }];

  // A transaction has at most 100 operations: 1 for the thread, and for each comment 1, 1 more for each user it names,
  // 1 for its event, which contains a small payload, and 2 for its activity.
  test('accepts 16 comments with a mention that notify and are logged, and writes none of 17', async () => {
    const changes = { to, triggerNotification: true, triggerActivities: true };
    await enableActivities(customer);
    const { status, body } = await add(comments(17, changes));
    expect({ status, path: body.error.details.issues[0].path, message: body.error.message }).toEqual({
      status: 400,
      path: ['commentData'],
      message: expect.stringContaining('send fewer comments'),
    });
    expect([await contentOf(engine, customer), await emitted()]).toEqual([NOTHING_ELSE, []]);
    expect(await getThread(customer, 'other')).toMatchObject({ commentCount: 1 });
    expect((await add(comments(16, changes))).body.result.data).toEqual(times(16, (index) => index + 2));
    expect(await getThread(customer, 'other')).toMatchObject({ commentCount: 17, mentionedUserIds: ['bob'] });
    expect([(await involvementsOf(engine, customer)).length, (await emitted()).length]).toEqual([33, 16]);
  });

  test('names the field comments if the request has the comments there', async () => {
    const { body } = await customer.call(ADD_COMMENTS, { ...inOther, comments: comments(34, { to }) });
    expect([body.error.message, body.error.details.issues[0].path]).toEqual([
      expect.stringMatching(/^comments is too much for one call/),
      ['comments'],
    ]);
  });

  test('with an Idempotency-Key has one operation less for comments', async () => {
    expect((await add(comments(33, { to }), { 'idempotency-key': 'a' })).status).toBe(400);
    expect((await add(comments(32, { to }), { 'idempotency-key': 'b' })).status).toBe(200);
    expect((await add(comments(49), { 'idempotency-key': 'c' })).status).toBe(200);
  });

  test('writes nothing if one of the ids exists, or if the transaction fails, and uses no id twice', async () => {
    expect((await add([...comments(32, { to }), comment({ commentId: 1 })])).body.error).toMatchObject({
      status: 'ALREADY_EXISTS',
      message: 'Comment 1 already exists',
    });
    faults.fail('TransactWriteItems', 0);
    expect((await add(comments(33, { to }))).status).toBe(503);
    faults.heal();
    expect(await contentOf(engine, customer)).toEqual(NOTHING_ELSE);
    expect(await getThread(customer, 'other')).toMatchObject({ commentCount: 1, involvedUserIds: ['ada'] });
    // The call fits into one transaction. It succeeds before the fault.
    faults.fail('TransactWriteItems', 1);
    expect((await add(comments(33, { to }))).status).toBe(200);
    faults.heal();
    expect((await add([comment()])).body.result.data).toEqual([35]);
  });
});

describe('the limit of 1,000 comments in a thread', () => {
  test('accepts 1,000 comments, then one more for each deleted comment', async () => {
    await addLongThread(customer, { annotationId: 'a', commentData: times(1_000, () => comment()) }, 40);
    const full = await getThread(customer, 'a');
    expect([full.commentCount, full.comments.length, full.comments.at(-1).commentId, full.hasMoreComments]).toEqual([
      1_000,
      1_000,
      1_000,
      false,
    ]);
    const add = (count: number) =>
      customer.call(ADD_COMMENTS, {
        ...nda,
        annotationId: 'a',
        commentData: times(count, () => comment({ commentText: 'too much', triggerNotification: true })),
      });
    expect((await add(1)).body.error).toMatchObject({
      status: 'FAILED_PRECONDITION',
      message: 'A thread takes at most 1000 comments',
    });
    await commentCalls(customer, 'a').remove({ commentIds: [1_000] });
    expect((await add(2)).body.error.status).toBe('FAILED_PRECONDITION');
    expect((await add(1)).body.result.data).toEqual([1_001]);
    expect(await emitted()).toHaveLength(1);
    await customer.ok(DELETE, { ...nda, annotationIds: ['a'] });
    expect(await contentOf(engine, customer)).toEqual(NOTHING_ELSE);
  });
});

describe('parallel calls on one thread', () => {
  const react = () =>
    customer.addReactions([
      { annotationId: 'r', icon: '+', from: { userId: 'fan' }, commentAnnotationId: 'a', commentId: 1 },
    ]);
  const reply = () =>
    customer.ok(ADD_COMMENTS, { ...nda, annotationId: 'a', commentData: [comment({ from: { userId: 'late' } })] });
  test.each([
    ['a small thread', 2, react],
    ['a small thread', 2, reply],
    ['a large thread', 50, react],
    ['a large thread', 50, reply],
  ])('a deletion also removes records that are added to %s of %s comments just before', async (_what, count, first) => {
    await addLongThread(customer, { annotationId: 'a', commentData: times(count, () => comment()) });
    beforeWrite(first);
    expect(await customer.ok(DELETE, { ...nda, annotationIds: ['a'] })).toMatchObject({ a: { success: true } });
    expect(await contentOf(engine, customer)).toEqual(NOTHING_ELSE);
  });

  test('stores the comments of 20 parallel calls under distinct ids', async () => {
    const ids = await Promise.all(
      times(20, async (index) => {
        const commentData = [comment({ commentText: `${index}`, from: { userId: `u${index}` } })];
        const [id] = await customer.ok(ADD_COMMENTS, { ...inOther, commentData });
        return id as number;
      }),
    );
    expect(new Set(ids).size).toBe(20);
    const { commentCount, comments, involvedUserIds } = await getThread(customer, 'other');
    expect([commentCount, comments.length, involvedUserIds.length]).toEqual([21, 21, 21]);
    for (const [index, id] of ids.entries())
      expect(comments.find(({ commentId }: any) => commentId === id).commentText).toBe(`${index}`);
  });
});
