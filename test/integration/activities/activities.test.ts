import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { activity, activityCalls, enableActivities, manyActivities } from '../../support/activities.ts';
import { nda } from '../../support/content.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/activities/add';
const GET = '/v2/activities/get';
const UPDATE = '/v2/activities/update';

const { customer } = acmeWorld({ table: 'memory', documents: ['nda', 'tos'] });
const { add, get, idsOf } = activityCalls(customer);

const tos = { organizationId: 'acme', documentId: 'tos' };
const UNKNOWN = [404, 'NOT_FOUND', 'Document does not exist'];
const ada = { userId: 'ada', name: 'Ada', email: 'ada@example.com' };

describe('POST /v2/activities/add', () => {
  test('keeps every documented field and adds id, timestamp and metadata', async () => {
    const sent = {
      id: 'a',
      featureType: 'custom',
      actionType: 'document.sign',
      actionUser: ada,
      targetEntityId: 'signature',
      targetSubEntityId: 'page-3',
      changes: { status: { from: 'open', to: 'signed' }, count: { from: null, to: 2 }, added: { to: [1, { a: '' }] } },
      entityData: { deep: [[{ x: 1e200 }]] },
      entityTargetData: 'a text',
      displayMessageTemplate: '{{actionUser}} signed',
      displayMessageTemplateData: { actionUser: 'Ada', n: 1 },
      actionIcon: 'https://example.com/i.png',
      isActivityResolverUsed: true,
    };
    const before = Date.now();
    const message = 'Activity(s) added successfully.';
    expect(await customer.result(ADD, { ...nda, activities: [sent] })).toEqual({
      status: 'success',
      message,
      data: { success: true, message },
    });
    const [activity] = await get();
    expect(activity).toEqual({
      ...sent,
      metadata: { apiKey: customer.apiKey, documentId: 'nda', organizationId: 'acme' },
      timestamp: expect.any(Number),
    });
    expect(activity.timestamp).toBeGreaterThanOrEqual(before);
    expect(activity.timestamp).toBeLessThanOrEqual(Date.now());
  });

  test('generates missing ids and keeps the order of the request', async () => {
    await add(manyActivities(60, (i) => ({ entityData: i })));
    await add([activity({ entityData: 0 })]);
    const activities = await get({ order: 'asc' });
    expect(new Set(activities.map(({ id }) => id)).size).toBe(61);
    expect(activities.every(({ id }) => /^act_[0-9A-Za-z]{27}$/.test(id))).toBe(true);
    expect(activities.slice(0, 60).map(({ entityData }) => entityData)).toEqual(times(60, (i) => i));
  });

  test('overwrites the activity with an existing id and keeps its timestamp and document', async () => {
    await add([activity({ id: 'a', changes: { x: {} }, targetEntityId: 'old' }), activity({ id: 'b' })]);
    const before = await get({ activityIds: ['a'] });
    await add([activity({ id: 'c' })]);
    await add([activity({ id: 'a', actionType: 'comment.delete', targetEntityId: 'new' })]);
    expect(await get({ activityIds: ['a'] })).toEqual([
      {
        ...activity({ id: 'a', actionType: 'comment.delete', targetEntityId: 'new' }),
        metadata: before[0].metadata,
        timestamp: before[0].timestamp,
      },
    ]);
    expect(await idsOf({ order: 'asc' })).toEqual(['a', 'b', 'c']);
    expect([await idsOf({ targetEntityId: 'old' }), await idsOf({ targetEntityId: 'new' })]).toEqual([[], ['a']]);
  });

  test('stores the last of several activities with the same id in one request', async () => {
    await add([activity({ id: 'a', entityData: 1 }), activity({ id: 'b' }), activity({ id: 'a', entityData: 2 })]);
    expect((await get()).map(({ id, entityData }) => [id, entityData]).sort()).toEqual([
      ['a', 2],
      ['b', undefined],
    ]);
  });

  test('moves an existing activity to the document of the request and keeps its timestamp', async () => {
    await add([activity({ id: 'a', targetEntityId: 't', entityData: 1 }), activity({ id: 'b' })]);
    const [{ timestamp }] = (await get({ activityIds: ['a'] })) as [any];
    await add([activity({ id: 'x' }), activity({ id: 'a', targetEntityId: 't', entityData: 2 })], tos);
    expect(await get({ activityIds: ['a'] })).toMatchObject([
      { entityData: 2, timestamp, metadata: { documentId: 'tos' } },
    ]);
    expect([
      await idsOf({ documentId: 'nda' }),
      (await idsOf({ documentId: 'tos' })).sort(),
      await idsOf({ targetEntityId: 't' }),
    ]).toEqual([['b'], ['a', 'x'], ['a']]);
  });

  test('overwrites activities, but moves none, while activity logs are immutable', async () => {
    await enableActivities(customer, { immutable: true });
    await add([activity({ id: 'a', entityData: 1 })]);
    await add([activity({ id: 'a', entityData: 2 })]);
    expect(await customer.error(ADD, { ...tos, activities: [activity({ id: 'x' }), activity({ id: 'a' })] })).toEqual(
      invalid(
        'activities[1].id belongs to an activity of another document, which cannot move: activity logs are immutable',
      ),
    );
    expect(await get()).toMatchObject([{ id: 'a', entityData: 2, metadata: { documentId: 'nda' } }]);
  });

  test('rejects the move of an activity out of a disabled document', async () => {
    await add([activity({ id: 'a' })]);
    await customer.ok('/v2/organizations/documents/access/disablestate/update', {
      organizationId: 'acme',
      documentIds: ['nda'],
      disabled: true,
    });
    expect(await customer.error(ADD, { ...tos, activities: [activity({ id: 'a' })] })).toEqual(
      invalid(
        'activities[0].id belongs to an activity of another document, which cannot move: that document is disabled',
      ),
    );
  });

  test('stores and changes activities of 320 KB in a full request body', async () => {
    const big = 'x'.repeat(65_000);
    const text = 'x'.repeat(32_000);
    const activities = manyActivities(16, (i) => ({
      id: `a${i}`,
      changes: { x: { to: big } },
      entityData: big,
      entityTargetData: [big],
      displayMessageTemplateData: { big },
      displayMessageTemplate: text,
      actionIcon: text,
    }));
    await add(activities);
    expect(await idsOf({ featureTypes: ['comment'], pageSize: 10, order: 'asc' })).toHaveLength(10);
    const changed = await customer.ok(UPDATE, {
      organizationId: 'acme',
      activities: activities.map((_activity, i) => ({ id: `a${i}`, displayMessageTemplate: 'new' })),
    });
    expect(Object.values(changed).every(({ success }: any) => success)).toBe(true);
    expect((await get({ activityIds: ['a15'] }))[0]).toMatchObject({
      ...activities[15],
      displayMessageTemplate: 'new',
    });
  });

  test.each([
    [
      'custom without targetEntityId',
      { featureType: 'custom' },
      'activities[1].targetEntityId is required when featureType is custom',
    ],
    [
      'changes of another shape',
      { changes: { status: 'open' } },
      'activities[1].changes must map each field to an object of from and to',
    ],
  ])('rejects %s with an error that names the field, and stores nothing', async (_what, fields, message) => {
    expect(await customer.error(ADD, { ...nda, activities: [activity(), activity(fields)] })).toEqual(invalid(message));
    expect(await get()).toEqual([]);
  });

  test('returns NOT_FOUND for an unknown document', async () => {
    expect(await customer.error(ADD, { ...nda, documentId: 'nowhere', activities: [activity()] })).toEqual(UNKNOWN);
  });

  test('returns FAILED_PRECONDITION that explains how to enable activity logs while they are disabled', async () => {
    await enableActivities(customer, { isEnabled: false });
    expect(await customer.error(ADD, { ...nda, activities: [activity()] })).toEqual([
      400,
      'FAILED_PRECONDITION',
      'Activity logs are not enabled. Enable them with /v2/workspace/activityconfig/update: activityServiceConfig.isEnabled',
    ]);
  });
});

describe('POST /v2/activities/get', () => {
  beforeEach(async () => {
    const bob = { userId: 'bob' };
    await add([
      activity({ id: 'n1', targetEntityId: 't' }),
      activity({ id: 'n2', featureType: 'reaction', actionType: 'reaction.add' }),
      activity({ id: 'n3', actionUser: bob, targetEntityId: 't' }),
    ]);
    await add(
      [activity({ id: 't1', targetEntityId: 't', actionUser: bob }), activity({ id: 't2', targetEntityId: 'u' })],
      { organizationId: 'acme', documentId: 'tos' },
    );
  });

  test.each([
    ['of an organization, document by document', {}, ['n3', 'n2', 'n1', 't2', 't1']],
    ['oldest first', { order: 'asc' }, ['n1', 'n2', 'n3', 't1', 't2']],
    ['of a target entity, in all documents, newest first', { targetEntityId: 't' }, ['t1', 'n3', 'n1']],
    ['of a target entity, oldest first', { targetEntityId: 't', order: 'asc' }, ['n1', 'n3', 't1']],
    ['by ids, without unknown ids', { activityIds: ['t1', 'none', 'n1', 'n1'] }, ['t1', 'n1']],
    ['by ids, oldest first', { activityIds: ['t1', 'n1'], order: 'asc' }, ['n1', 't1']],
  ])('returns the activities %s', async (_which, filter, ids) => {
    const { data, ...result } = await customer.result(GET, { organizationId: 'acme', ...filter });
    expect(result).toEqual({ status: 'success', message: 'Activity(s) retrieved successfully.', pageToken: null });
    // Activities with the same millisecond are sorted by id. The two calls can fall into the same millisecond.
    expect(data.map(({ id }: any) => id)).toEqual(ids);
  });

  test('returns NOT_FOUND for an unknown document', async () => {
    expect(await customer.error(GET, { organizationId: 'acme', documentId: 'none' })).toEqual(UNKNOWN);
  });

  test('continues a page that ends at an id of 200 quotes', async () => {
    await add(['a', 'b'].map((id) => activity({ id: id.padEnd(200, '"'), targetEntityId: '"'.repeat(200) })));
    const ofTarget = { organizationId: 'acme', targetEntityId: '"'.repeat(200), pageSize: 1 };
    expect((await customer.pages(GET, ofTarget)).map(([{ id }]) => id[0]).sort()).toEqual(['a', 'b']);
  });

  test('rejects activityIds whose activities exceed 5 MB together, and asks for fewer ids', async () => {
    const big = 'x'.repeat(60_000);
    const bigs = (from: number) =>
      manyActivities(20, (i) => ({
        id: `b${from + i}`,
        changes: { x: { to: big } },
        entityData: big,
        entityTargetData: big,
      }));
    await add(bigs(0));
    await add(bigs(20));
    const activityIds = times(30, (i) => `b${i}`);
    expect(await customer.error(GET, { organizationId: 'acme', activityIds })).toEqual(
      invalid('The answer would be larger than 5000000 bytes: narrow it by activityIds'),
    );
    expect(await idsOf({ activityIds: activityIds.slice(0, 20) })).toHaveLength(20);
  });
});
