import { describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { enableActivities } from '../../support/activities.ts';
import { beforeWrite } from '../../support/beforeWrite.ts';
import { nda } from '../../support/content.ts';
import {
  addLongThread,
  addThreads,
  comment,
  commentCalls,
  contentOf,
  idsIn,
  numbered,
  thread,
} from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const DELETE = '/v2/commentannotations/delete';
const bob = { userId: 'bob' };

const { engine, customer, emitted } = acmeWorld({ table: 'memory' });

const remove = (data: object) => customer.ok(DELETE, { ...nda, ...data });
const remainingIds = async () =>
  idsIn(await customer.ok('/v2/commentannotations/get', { ...nda, order: 'asc' })).toSorted();
const react = (annotationId: string, commentId: number, count: number) =>
  customer.addReactions(
    times(count, (index) => ({
      annotationId: `r-${annotationId}-${commentId}-${index}`,
      icon: '+',
      from: { userId: `fan${index}` },
      commentAnnotationId: annotationId,
      commentId,
    })),
  );

describe('POST /v2/commentannotations/delete', () => {
  test('deletes threads with all their records, and fails only for an unknown id', async () => {
    await addThreads(customer, [thread('b', { location: { id: 1 } })]);
    const before = await contentOf(engine, customer);
    await addThreads(customer, [
      thread('a', {
        location: { id: 1 },
        assignedTo: bob,
        commentData: [comment({ to: [bob, { userId: 'eve' }] }), comment()],
      }),
    ]);
    await react('a', 1, 2);
    expect(await customer.result(DELETE, { ...nda, annotationIds: ['a', 'none'] })).toEqual({
      status: 'success',
      message: 'Annotations deleted successfully.',
      data: {
        a: { success: true, id: 'a', message: 'Deleted Successfully' },
        none: { success: false, id: 'none', message: 'Annotation not found.' },
      },
    });
    expect([await remainingIds(), await contentOf(engine, customer)]).toEqual([['b'], before]);
    expect(await addThreads(customer, ['a'])).toMatchObject({ a: { success: true, commentIds: [1] } });
  });

  test('keeps a thread that another call changes during the deletion so that it no longer matches', async () => {
    await addThreads(customer, [thread('a', { assignedTo: bob })]);
    const updatedData = { assignedTo: { userId: 'eve' } };
    beforeWrite(() => customer.ok('/v2/commentannotations/update', { ...nda, annotationIds: ['a'], updatedData }));
    expect(await remove({ userIds: ['bob'] })).toEqual({
      a: { success: false, id: 'a', message: 'Annotation not found.' },
    });
    expect(await remainingIds()).toEqual(['a']);
  });

  test('deletes threads with any number of comments, reactions and mentions', async () => {
    const crowd = times(49, (index) => ({ userId: `u${index}` }));
    await addThreads(customer, ['loved', 'rest']);
    const many = times(80, () => comment());
    await addLongThread(customer, { ...thread('many', { assignedTo: bob }), commentData: many }, 40);
    await addLongThread(customer, thread('wide', { commentData: times(2, () => comment({ to: crowd })) }), 1);
    await react('loved', 1, 60);
    await react('many', 80, 3);
    const results = Object.values<any>(await remove({ annotationIds: ['many', 'wide', 'loved'] }));
    expect(results.map(({ success }) => success)).toEqual([true, true, true]);
    expect(await remainingIds()).toEqual(['rest']);
    expect(await contentOf(engine, customer)).toEqual({ Thread: 1, Comment: 1, RecordId: 1, Involvement: 1 });
  });

  test('deletes all threads of the document if the request has no selector, and no thread of another document', async () => {
    await addThreads(customer, [
      thread('a', { location: { id: 1 } }),
      thread('b', { commentData: [comment({ from: bob })] }),
    ]);
    await addThreads(customer, ['a'], { documentId: 'other' });
    expect(await remove({})).toMatchObject({ a: { success: true }, b: { success: true } });
    expect(await customer.ok('/v2/commentannotations/get', { organizationId: 'acme' })).toMatchObject([
      { annotationId: 'a', metadata: { documentId: 'other' } },
    ]);
    expect(await remove({})).toEqual({});
  });

  test('rejects a request without a selector for more than 500 threads', async () => {
    for (let i = 0; i < 2; i++) await addThreads(customer, numbered(`t${i}`, 251));
    expect(await customer.error(DELETE, nda)).toEqual(
      invalid('annotationIds: more than 500 annotations are selected; select fewer'),
    );
    expect(await remainingIds()).toHaveLength(502);
  });

  const agent = (url: string) => ({
    agentSource: 'external',
    agentId: 'lint',
    agentName: 'Lint',
    url,
    reason: { title: 't', description: 'd', severity: 'high' },
  });
  test.each<[object, string[]]>([
    [{ agentId: 'lint', agentUrls: ['https://a.example'] }, ['found']],
    [{ agentUrls: ['https://b.example', 'x'] }, ['suggested']],
    [{ annotationIds: ['plain', 'found'], agentId: 'lint' }, ['found']],
  ])('deletes only the threads that match %j', async (selection, expected) => {
    const all = ['found', 'plain', 'suggested'];
    await addThreads(customer, [
      'plain',
      thread('found', { commentData: [comment({ agent: agent('https://a.example') })] }),
      thread('suggested', { type: 'suggestion', commentData: [comment({ agent: agent('https://b.example') })] }),
    ]);
    const results = Object.entries<any>(await remove(selection));
    expect(results.flatMap(([id, { success }]) => (success ? [id] : []))).toEqual(expected);
    expect(await remainingIds()).toEqual(all.filter((id) => !expected.includes(id)));
  });

  test.each([
    ['agentUrls without a URL', { agentUrls: ['x', 'mailto:a@example.com'] }, 400],
    ['agentSuggestions: false alone', { agentSuggestions: false }, 400],
    ['an unknown document', { documentId: 'none', annotationIds: ['a'] }, 404],
  ])('rejects %s and deletes nothing', async (_what, data, status) => {
    await addThreads(customer, ['a']);
    expect((await customer.call(DELETE, { ...nda, ...data })).status).toBe(status);
    expect(await remainingIds()).toEqual(['a']);
  });

  test('emits one comment.delete and writes one activity per thread if the request asks for them', async () => {
    await enableActivities(customer);
    await addThreads(customer, ['quiet', 'single']);
    await addLongThread(customer, {
      ...thread('many', { visibility: { type: 'restricted', userIds: ['bob'] } }),
      commentData: times(50, () => comment()),
    });
    await remove({ annotationIds: ['quiet'] });
    expect(await emitted()).toEqual([]);
    await remove({
      annotationIds: ['single', 'many'],
      triggerNotification: true,
      triggerActivities: true,
      actionUser: bob,
    });
    const events = (await emitted()).toSorted(
      (a, b) => a.data.commentAnnotation.commentCount - b.data.commentAnnotation.commentCount,
    );
    expect(events).toMatchObject([
      {
        event: 'comment.delete',
        data: {
          actionUser: bob,
          commentAnnotation: { annotationId: 'single', comments: [{ commentText: 'hi' }] },
          targetComment: { commentId: 1 },
        },
      },
      {
        event: 'comment.delete',
        data: {
          actionUser: bob,
          commentAnnotation: { annotationId: 'many', commentCount: 50 },
          visibility: { type: 'restricted', userIds: ['bob'] },
        },
      },
    ]);
    expect(events[1]!.data).not.toHaveProperty('targetComment');
    expect(await customer.ok('/v2/activities/get', nda)).toMatchObject(
      times(2, () => ({ actionType: 'comment_annotation.delete', actionUser: { userId: 'bob' } })),
    );
  });

  test('emits events again for a thread that was added again with the same id and time', async () => {
    for (let i = 0; i < 2; i++) {
      await addThreads(customer, [
        thread('a', { createdAt: 5, commentData: [comment({ triggerNotification: true })] }),
      ]);
      await remove({ annotationIds: ['a'], triggerNotification: true });
    }
    const types = ['comment.delete', 'comment.delete', 'comment_annotation.add', 'comment_annotation.add'];
    expect((await emitted()).map(({ event }) => event).sort()).toEqual(types);
    expect(await contentOf(engine, customer)).toEqual({});
  });
});

describe('POST /v2/commentannotations/comments/delete', () => {
  test('lists the comments of the deleted thread in their order, whatever the order of the call', async () => {
    await addThreads(customer, [thread('a', { commentData: times(3, () => comment()) })]);
    await commentCalls(customer, 'a').remove({ commentIds: [3, 1, 2], triggerNotification: true });
    const deletion = (await emitted()).find(({ event }) => event === 'comment.delete') as any;
    const listed = deletion.data.commentAnnotation.comments.map(({ commentId }: any) => commentId);
    expect(listed).toEqual([1, 2, 3]);
  });
});
