import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { activity, activityCalls, enableActivities, manyActivities } from '../../support/activities.ts';
import { nda } from '../../support/content.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/activities/add';
const GET = '/v2/activities/get';
const UPDATE = '/v2/activities/update';

const { customer, useNewCustomer } = acmeWorld({ table: 'memory', documents: ['nda', 'tos'] });
const { add, get, idsOf } = activityCalls(customer);

const tos = { organizationId: 'acme', documentId: 'tos' };
const ada = { userId: 'ada', name: 'Ada', email: 'ada@example.com' };

describe('POST /v2/activities/add', () => {
  test('returns success and a message, and repeats both in data', async () => {
    expect(await customer.result(ADD, { ...nda, activities: [activity()] })).toEqual({
      status: 'success',
      message: 'Activity(s) added successfully.',
      data: { success: true, message: 'Activity(s) added successfully.' },
    });
  });

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
    await add([sent]);
    const [activity] = await get();
    expect(activity).toEqual({
      ...sent,
      metadata: { apiKey: customer.apiKey, documentId: 'nda', organizationId: 'acme' },
      timestamp: expect.any(Number),
    });
    expect(activity.timestamp).toBeGreaterThanOrEqual(before);
    expect(activity.timestamp).toBeLessThanOrEqual(Date.now());
  });

  test('stores free JSON fields exactly, including keys such as __proto__', async () => {
    const odd = '{"__proto__":{"from":1,"to":{"__proto__":2}},"constructor":{"to":"\\u0000 \\ud800 é"},"":{}}';
    const activities =
      JSON.parse(`[{"id":"a","featureType":"crdt","actionType":"crdt.editor_edit","actionUser":{"userId":"__proto__"},
      "changes":${odd},"displayMessageTemplateData":${odd},"entityData":[${odd}],"entityTargetData":0}]`);
    await add(activities);
    const [activity] = await get();
    expect(JSON.stringify(activity.changes)).toBe(JSON.stringify(JSON.parse(odd)));
    expect(JSON.stringify(activity.displayMessageTemplateData)).toBe(JSON.stringify(JSON.parse(odd)));
    expect(JSON.stringify(activity.entityData)).toBe(JSON.stringify([JSON.parse(odd)]));
    expect(activity).toMatchObject({ entityTargetData: 0, actionUser: { userId: '__proto__' } });
  });

  test.each(['text', 0, false, [], {}])('accepts any JSON as entityData: %j', async (entityData) => {
    await add([activity({ entityData })]);
    expect((await get())[0].entityData).toEqual(entityData);
  });

  test('treats null as missing', async () => {
    await add([
      activity({
        id: 'a',
        changes: null,
        entityData: null,
        targetEntityId: null,
      }),
    ]);
    expect(Object.keys((await get())[0]).sort()).toEqual([
      'actionType',
      'actionUser',
      'featureType',
      'id',
      'metadata',
      'timestamp',
    ]);
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

  test('overwrites the activity with an existing id in the same document while activity logs are immutable', async () => {
    await enableActivities(customer, { immutable: true });
    await add([activity({ id: 'a', entityData: 1 })]);
    await add([activity({ id: 'a', entityData: 2 })]);
    expect((await get()).map(({ entityData }) => entityData)).toEqual([2]);
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

  test('rejects all activities if one would move to another document while activity logs are immutable', async () => {
    await enableActivities(customer, { immutable: true });
    await add([activity({ id: 'a' })]);
    expect(await customer.error(ADD, { ...tos, activities: [activity({ id: 'x' }), activity({ id: 'a' })] })).toEqual(
      invalid(
        'activities[1].id belongs to an activity of another document, which cannot move: activity logs are immutable',
      ),
    );
    expect(await get()).toMatchObject([{ id: 'a', metadata: { documentId: 'nda' } }]);
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

  test('stores separate activities under the same id in two organizations', async () => {
    await customer.addDocuments(['nda'], { organizationId: 'beta' });
    await add([activity({ id: 'a', entityData: 1 })]);
    await add([activity({ id: 'a', entityData: 2 })], { organizationId: 'beta', documentId: 'nda' });
    expect([(await get())[0].entityData, (await get({ organizationId: 'beta' }))[0].entityData]).toEqual([1, 2]);
  });

  test('stores 500 activities', async () => {
    await add(manyActivities(500, (i) => ({ id: `a${String(i).padStart(3, '0')}` })));
    expect(await idsOf({ order: 'asc' })).toEqual(times(500, (i) => `a${String(i).padStart(3, '0')}`));
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

  test('stores one activity per id for ten concurrent requests with the same ids', async () => {
    await Promise.all(times(10, (i) => add(manyActivities(30, (n) => ({ id: `a${n}`, entityData: i })))));
    const activities = await get();
    expect(activities).toHaveLength(30);
    expect(new Set(activities.map(({ id }) => id)).size).toBe(30);
  });

  test.each([
    ['no featureType', { featureType: undefined }, 'activities[1].featureType is required'],
    [
      'an unknown featureType',
      { featureType: 'other' },
      'activities[1].featureType must be "comment" or "reaction" or "recorder" or "crdt" or "custom"',
    ],
    ['no actionType', { actionType: undefined }, 'activities[1].actionType is required'],
    ['an empty actionType', { actionType: '' }, 'activities[1].actionType must not be empty'],
    ['no actionUser', { actionUser: undefined }, 'activities[1].actionUser is required'],
    ['an actionUser without userId', { actionUser: { name: 'Ada' } }, 'activities[1].actionUser.userId is required'],
    [
      'custom without targetEntityId',
      { featureType: 'custom' },
      'activities[1].targetEntityId is required when featureType is custom',
    ],
    ['an id that is a number', { id: 1 }, 'activities[1].id must be a string'],
    ['changes that is a list', { changes: [] }, 'activities[1].changes must be an object'],
    [
      'changes of another shape',
      { changes: { status: 'open' } },
      'activities[1].changes must map each field to an object of from and to',
    ],
    [
      'template data that is a text',
      { displayMessageTemplateData: 'x' },
      'activities[1].displayMessageTemplateData must be an object',
    ],
    [
      'a template that is not text',
      { displayMessageTemplate: 1 },
      'activities[1].displayMessageTemplate must be a string',
    ],
    [
      'entityData over 64 KB',
      { entityData: 'x'.repeat(65_536) },
      'activities[1].entityData must be at most 65536 bytes as JSON',
    ],
    [
      'entityTargetData over 64 KB',
      { entityTargetData: ['é'.repeat(32_768)] },
      'activities[1].entityTargetData must be at most 65536 bytes as JSON',
    ],
    [
      'entityData that is too deep',
      { entityData: JSON.parse('['.repeat(40) + ']'.repeat(40)) },
      'activities[1].entityData must be nested at most 32 levels deep',
    ],
    [
      'a resolver flag that is a text',
      { isActivityResolverUsed: 'true' },
      'activities[1].isActivityResolverUsed must be a boolean',
    ],
    [
      'an icon over 32 KB',
      { actionIcon: 'x'.repeat(32_769) },
      'activities[1].actionIcon must be at most 32768 bytes of UTF-8',
    ],
  ])('rejects %s with an error that names the field, and stores nothing', async (_what, fields, message) => {
    expect(await customer.error(ADD, { ...nda, activities: [activity(), activity(fields)] })).toEqual(invalid(message));
    expect(await get()).toEqual([]);
  });

  test.each([
    ['no list', { activities: undefined }, 'activities is required'],
    ['an empty list', { activities: [] }, 'activities must not be empty'],
    ['501 activities', { activities: manyActivities(501, () => ({})) }, 'activities must have at most 500 items'],
    ['no organizationId', { organizationId: undefined, activities: [activity()] }, 'organizationId is required'],
    ['no documentId', { documentId: undefined, activities: [activity()] }, 'documentId is required'],
    [
      'an organization that does not exist',
      { organizationId: 'nowhere', activities: [activity()] },
      'organizationId: the organization does not exist',
    ],
  ])('rejects %s with INVALID_ARGUMENT', async (_what, data, message) => {
    expect(await customer.error(ADD, { ...nda, ...data })).toEqual(invalid(message));
  });

  test('returns NOT_FOUND for an unknown document', async () => {
    expect(await customer.error(ADD, { ...nda, documentId: 'nowhere', activities: [activity()] })).toEqual([
      404,
      'NOT_FOUND',
      'Document does not exist',
    ]);
  });

  test.each([
    ['never configured', undefined],
    ['disabled', { isEnabled: false }],
  ])(
    'returns FAILED_PRECONDITION that explains how to enable activity logs while they are %s',
    async (_what, config) => {
      if (config) await enableActivities(customer, config);
      else await useNewCustomer();
      expect(await customer.error(ADD, { ...nda, activities: [activity()] })).toEqual([
        400,
        'FAILED_PRECONDITION',
        'Activity logs are not enabled. Enable them with /v2/workspace/activityconfig/update: activityServiceConfig.isEnabled',
      ]);
      expect(await get()).toEqual([]);
    },
  );
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
    ['of a document', { documentId: 'tos' }, ['t2', 't1']],
    ['of a target entity, in all documents, newest first', { targetEntityId: 't' }, ['t1', 'n3', 'n1']],
    ['of a target entity, oldest first', { targetEntityId: 't', order: 'asc' }, ['n1', 'n3', 't1']],
    ['of a target entity in a document', { targetEntityId: 't', documentId: 'nda' }, ['n3', 'n1']],
    ['of a target entity by a user', { targetEntityId: 't', userId: 'ada' }, ['n1']],
    ['of a target entity that does not exist', { targetEntityId: 'tt' }, []],
    ['of feature types', { featureTypes: ['reaction', 'crdt', 'reaction'] }, ['n2']],
    ['of action types', { actionTypes: ['comment.add', 'x'], documentId: 'nda' }, ['n3', 'n1']],
    ['by a user', { userId: 'bob' }, ['n3', 't1']],
    [
      'by all of these filters together',
      {
        userId: 'bob',
        featureTypes: ['comment'],
        actionTypes: ['comment.add'],
        documentId: 'nda',
        targetEntityId: 't',
      },
      ['n3'],
    ],
    ['by ids, without unknown ids', { activityIds: ['t1', 'none', 'n1', 'n1'] }, ['t1', 'n1']],
    ['by ids, oldest first', { activityIds: ['t1', 'n1'], order: 'asc' }, ['n1', 't1']],
    ['by ids in a document', { activityIds: ['t1', 'n1'], documentId: 'nda' }, ['n1']],
    [
      'by ids that meet the other filters',
      { activityIds: ['t1', 'n1', 'n2'], userId: 'ada', featureTypes: ['comment'] },
      ['n1'],
    ],
  ])('returns the activities %s', async (_which, filter, ids) => {
    const { status, body } = await customer.call(GET, { organizationId: 'acme', ...filter });
    expect({ status, message: body.result.message, pageToken: body.result.pageToken }).toEqual({
      status: 200,
      message: 'Activity(s) retrieved successfully.',
      pageToken: null,
    });
    // Activities with the same millisecond are sorted by id. The two calls can fall into the same millisecond.
    expect(body.result.data.map(({ id }: any) => id)).toEqual(ids);
  });

  test('names document and organization of each activity', async () => {
    const activities = await get({ order: 'asc' });
    expect(activities.map(({ metadata }) => metadata.documentId)).toEqual(['nda', 'nda', 'nda', 'tos', 'tos']);
  });

  test.each([
    ['an unknown organization', { organizationId: 'none' }, invalid('organizationId: the organization does not exist')],
    ['an unknown document', { documentId: 'none' }, [404, 'NOT_FOUND', 'Document does not exist']],
    [
      'an unknown feature type',
      { featureTypes: ['x'] },
      invalid('featureTypes[0] must be "comment" or "reaction" or "recorder" or "crdt" or "custom"'),
    ],
    ['31 ids', { activityIds: times(31, (i) => `${i}`) }, invalid('activityIds must have at most 30 items')],
    ['a page size of 0', { pageSize: 0 }, invalid('pageSize must be at least 1')],
    ['a page size of 1,001', { pageSize: 1_001 }, invalid('pageSize must be at most 1000')],
    ['another order', { order: 'up' }, invalid('order must be "asc" or "desc"')],
    ['a damaged token', { pageToken: 'x' }, invalid('pageToken is not a token of this listing, or has expired')],
  ])('rejects %s', async (_what, data, expected) => {
    expect(await customer.error(GET, { organizationId: 'acme', ...data })).toEqual(expected);
  });

  test('rejects a page token with other filters, another order or another tenant', async () => {
    const { pageToken } = (await customer.call(GET, { organizationId: 'acme', pageSize: 1 })).body.result;
    const refused = invalid('pageToken is not a token of this listing, or has expired');
    for (const other of [
      { documentId: 'nda' },
      { userId: 'ada' },
      { order: 'asc' },
      { targetEntityId: 't' },
      { featureTypes: ['comment'] },
      { actionTypes: ['x'] },
      { activityIds: ['n1'] },
    ]) {
      expect(await customer.error(GET, { organizationId: 'acme', pageToken, ...other })).toEqual(refused);
    }
    expect(await idsOf({ pageToken, order: 'desc', pageSize: 2 })).toEqual(['n2', 'n1']);
  });

  test('continues a page that ends at an id of 200 quotes', async () => {
    await add(['a', 'b'].map((id) => activity({ id: id.padEnd(200, '"'), targetEntityId: '"'.repeat(200) })));
    const ofTarget = { organizationId: 'acme', targetEntityId: '"'.repeat(200), pageSize: 1 };
    const first = (await customer.call(GET, ofTarget)).body.result;
    const second = (await customer.call(GET, { ...ofTarget, pageToken: first.pageToken })).body.result;
    expect([first, second].map(({ data }) => data[0].id[0]).sort()).toEqual(['a', 'b']);
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
