import { describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { activity, activityCalls, enableActivities, manyActivities } from '../../support/activities.ts';
import { times } from '../../support/times.ts';

const UPDATE = '/v2/activities/update';
const DELETE = '/v2/activities/delete';

const { customer } = acmeWorld({ table: 'memory', documents: ['nda', 'tos'] });
const { add, get, idsOf } = activityCalls(customer);

describe('POST /v2/activities/update', () => {
  test('replaces the sent fields, and keeps all others, the timestamp and the document', async () => {
    const sent = activity({
      id: 'a',
      targetEntityId: 't',
      changes: { x: { from: 1, to: 2 }, y: {} },
      entityData: 1,
      entityTargetData: 2,
      displayMessageTemplate: 'old',
      displayMessageTemplateData: { a: 1 },
      actionIcon: 'i',
    });
    await add([sent, activity({ id: 'b' })]);
    const [before] = await get({ activityIds: ['a'] });
    expect(
      await customer.result(UPDATE, {
        organizationId: 'acme',
        activities: [{ id: 'a', changes: { x: { to: 3 } }, entityData: { n: 1 }, displayMessageTemplate: 'new' }],
      }),
    ).toEqual({
      status: 'success',
      message: 'Activity(s) updated successfully.',
      data: { a: { success: true, message: 'Activity updated.' } },
    });
    expect(await get({ activityIds: ['a'] })).toEqual([
      { ...before, changes: { x: { to: 3 } }, entityData: { n: 1 }, displayMessageTemplate: 'new' },
    ]);
    expect(await idsOf({ order: 'asc' })).toEqual(['a', 'b']);
  });

  test('fails only for an unknown id, and treats __proto__ as an ordinary id', async () => {
    await add([activity({ id: 'a' }), activity({ id: '__proto__' })]);
    const { body } = await customer.call(UPDATE, {
      organizationId: 'acme',
      activities: ['a', 'none', '__proto__'].map((id) => ({ id, actionIcon: 'i' })),
    });
    expect(Object.entries(body.result.data)).toEqual([
      ['a', { success: true, message: 'Activity updated.' }],
      ['none', { success: false, message: 'Failed to update activity.' }],
      ['__proto__', { success: true, message: 'Activity updated.' }],
    ]);
  });

  test('applies the last of several changes to one activity', async () => {
    await add([activity({ id: 'a' })]);
    await customer.ok(UPDATE, {
      organizationId: 'acme',
      activities: [
        { id: 'a', actionIcon: 'first', entityData: 1 },
        { id: 'a', actionIcon: 'second' },
      ],
    });
    expect((await get())[0]).toMatchObject({ actionIcon: 'second' });
    expect((await get())[0]).not.toHaveProperty('entityData');
  });

  test('stores the fields of every successful update when four updates run concurrently', async () => {
    await add([activity({ id: 'a' })]);
    const fields = ['actionIcon', 'displayMessageTemplate', 'entityData', 'entityTargetData'];
    const answers = await Promise.all(
      fields.map((field) => customer.ok(UPDATE, { organizationId: 'acme', activities: [{ id: 'a', [field]: field }] })),
    );
    const [changedActivity] = await get();
    expect(fields.filter((field) => changedActivity[field] === field)).toEqual(
      fields.filter((_field, i) => answers[i].a.success),
    );
    expect(answers.some(({ a }) => a.success)).toBe(true);
  });

  test('changes 500 large activities', async () => {
    const text = 'x'.repeat(9_000);
    await add(manyActivities(500, (i) => ({ id: `a${i}`, entityData: text })));
    const data = await customer.ok(UPDATE, {
      organizationId: 'acme',
      activities: times(500, (i) => ({ id: `a${i}`, actionIcon: `${i}` })),
    });
    expect(Object.values(data).every(({ success }: any) => success)).toBe(true);
    expect((await get({ activityIds: ['a0', 'a499'], order: 'asc' })).map(({ actionIcon }) => actionIcon)).toEqual([
      '0',
      '499',
    ]);
  });

  test('rejects a change without a field besides the id', async () => {
    expect(await customer.error(UPDATE, { organizationId: 'acme', activities: [{ id: 'a' }] })).toEqual(
      invalid('activities[0] must have a field to change besides id'),
    );
  });

  test('returns FAILED_PRECONDITION while activity logs are immutable', async () => {
    await add([activity({ id: 'a' })]);
    await enableActivities(customer, { immutable: true });
    expect(
      await customer.error(UPDATE, { organizationId: 'acme', activities: [{ id: 'a', actionIcon: 'i' }] }),
    ).toEqual([
      400,
      'FAILED_PRECONDITION',
      'Activity logs are immutable. Change that with /v2/workspace/activityconfig/update: activityServiceConfig.immutable',
    ]);
    expect((await get())[0]).not.toHaveProperty('actionIcon');
  });
});

describe('POST /v2/activities/delete', () => {
  const disable = (documentId: string) =>
    customer.ok('/v2/organizations/documents/access/disablestate/update', {
      organizationId: 'acme',
      documentIds: [documentId],
      disabled: true,
    });
  const remove = (by: object) => customer.result(DELETE, { organizationId: 'acme', ...by });

  test('deletes activities by id, and fails only for an unknown id', async () => {
    await add(manyActivities(3, (i) => ({ id: `a${i}`, targetEntityId: 't' })));
    expect(await remove({ activityIds: ['a0', 'none', 'a2', 'a0'] })).toEqual({
      status: 'success',
      message: 'Activity(s) deleted successfully.',
      hasMore: false,
      pageToken: null,
      data: {
        a0: { success: true, message: 'Activity deleted.' },
        none: { success: false, message: 'Failed to delete activity.' },
        a2: { success: true, message: 'Activity deleted.' },
      },
    });
    expect([
      await idsOf(),
      await idsOf({ targetEntityId: 't' }),
      await idsOf({ activityIds: ['a0', 'a1', 'a2'] }),
    ]).toEqual([['a1'], ['a1'], ['a1']]);
    expect((await remove({ activityIds: ['a0'] })).data).toEqual({
      a0: { success: false, message: 'Failed to delete activity.' },
    });
  });

  test('deletes activities so that their ids can be added again in any document', async () => {
    await add([activity({ id: 'a' })]);
    const [{ timestamp }] = (await get()) as [any];
    await remove({ activityIds: ['a'] });
    await add([activity({ id: 'a' })], { documentId: 'tos' });
    const [again] = (await get()) as [any];
    expect(again.metadata.documentId).toBe('tos');
    expect(again.timestamp).toBeGreaterThan(timestamp);
  });

  test('deletes the activities of a target entity in all documents and no others', async () => {
    await add(manyActivities(4, (i) => ({ id: `a${i}`, targetEntityId: i % 2 === 0 ? 't' : 'u' })));
    await add([activity({ id: 'tos', targetEntityId: 't' })], { documentId: 'tos' });
    const { data, hasMore } = await remove({ targetEntityId: 't' });
    expect([Object.keys(data).sort(), hasMore]).toEqual([['a0', 'a2', 'tos'], false]);
    expect(await idsOf()).toEqual(['a3', 'a1']);
  });

  test.each([
    ['document', { documentId: 'nda' }, 2_000],
    ['target entity', { targetEntityId: 't' }, 2_099],
  ])(
    'deletes about 2,000 activities by %s, and deletes the rest when the request is repeated with the page token',
    async (_what, by, count) => {
      const kept = { documentId: 'tos' };
      await add([activity({ id: 'kept', targetEntityId: 't' })], kept);
      await disable('tos');
      for (let n = 0; n < 2_150; n += 430)
        await add(manyActivities(430, (i) => ({ id: `a${n + i}`, targetEntityId: 't' })));
      const first = await remove(by);
      const { kept: _kept, ...deleted } = first.data;
      expect([Object.keys(deleted).length, first.hasMore, first.message]).toEqual([
        count,
        true,
        'Activity(s) deleted. There are more: send the request again with this pageToken.',
      ]);
      const second = await remove({ ...by, pageToken: first.pageToken });
      expect([Object.keys(second.data).length, second.hasMore, second.pageToken]).toEqual([2_150 - count, false, null]);
      expect(await idsOf()).toEqual(['kept']);
    },
  );

  test('deletes activities of a target entity after 2,000 ones that a disabled document keeps, and names 500 of those', async () => {
    for (let n = 0; n < 2_000; n += 400)
      await add(manyActivities(400, (i) => ({ id: `a${n + i}`, targetEntityId: 't' })));
    await add([activity({ id: 'tos', targetEntityId: 't' })], { documentId: 'tos' });
    await disable('nda');
    const { data, hasMore } = await remove({ targetEntityId: 't' });
    expect([Object.keys(data).length, data.tos.success, data.a0.success, hasMore]).toEqual([501, true, false, false]);
  });

  const failed = { success: false, message: 'Failed to delete activity.' };
  const deleted = { success: true, message: 'Activity deleted.' };
  const addThree = async () => {
    await add([activity({ id: 'both', targetEntityId: 't' }), activity({ id: 'document', targetEntityId: 'u' })]);
    await add([activity({ id: 'target', targetEntityId: 't' })], { documentId: 'tos' });
  };

  test('deletes only activities that match both the document and the target entity', async () => {
    await addThree();
    expect((await remove({ documentId: 'nda', targetEntityId: 't' })).data).toEqual({ both: deleted });
    expect((await idsOf()).sort()).toEqual(['document', 'target']);
  });

  test('keeps activities that match an id but not the document or target entity of the request', async () => {
    await addThree();
    const activityIds = ['both', 'document', 'target', 'none'];
    expect((await remove({ activityIds, documentId: 'nda', targetEntityId: 't' })).data).toEqual({
      both: deleted,
      document: failed,
      target: failed,
      none: failed,
    });
    expect((await remove({ activityIds, targetEntityId: 't' })).data).toMatchObject({
      target: deleted,
      document: failed,
    });
    expect((await remove({ activityIds, documentId: 'nda' })).data).toMatchObject({ document: deleted });
    expect(await idsOf()).toEqual([]);
  });

  test('returns NOT_FOUND for an unknown document', async () => {
    expect(await customer.error(DELETE, { organizationId: 'acme', documentId: 'none' })).toEqual([
      404,
      'NOT_FOUND',
      'Document does not exist',
    ]);
  });

  test('returns FAILED_PRECONDITION while activity logs are immutable', async () => {
    await add([activity({ id: 'a' })]);
    await enableActivities(customer, { immutable: true });
    expect(await customer.error(DELETE, { organizationId: 'acme', activityIds: ['a'] })).toEqual([
      400,
      'FAILED_PRECONDITION',
      expect.any(String),
    ]);
    expect(await idsOf()).toEqual(['a']);
  });
});
