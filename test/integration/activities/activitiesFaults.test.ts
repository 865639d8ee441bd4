import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { activityOps } from '../../../lib/activities/activityWriter.ts';
import { ActivityDeleter } from '../../../lib/activities/deleteActivities.ts';
import { ActivityEntity } from '../../../lib/activities/entities.ts';
import { DocumentEntity } from '../../../lib/directory/documents.ts';
import { remove } from '../../../lib/table/table.ts';
import { acmeWorld, forAllTests, table } from '../../support/acmeWorld.ts';
import { activity, activityCalls, manyActivities } from '../../support/activities.ts';
import { beforeWrite } from '../../support/beforeWrite.ts';
import { nda } from '../../support/content.ts';
import { TABLE_NAME } from '../../support/engine.ts';
import { startFaults } from '../../support/faults.ts';
import { storedDocumentScope, storedOrganizationScope } from '../../support/storedScope.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/activities/add';

const { engine, customer, itemsOf } = acmeWorld({ documents: ['nda'] });
const faults = forAllTests(startFaults);
const { add, get } = activityCalls(customer);

const scope = () => storedOrganizationScope(customer);

/** Sends a call whose second transaction fails. */
async function cutOff(data: object, headers = {}) {
  faults.fail('TransactWriteItems', 1);
  const { status, body } = await customer.call(ADD, data, headers);
  faults.heal();
  expect([status, body.error?.status]).toEqual([503, 'UNAVAILABLE']);
}

describe('an addition that fails between its transactions', () => {
  test('is completed when a request with the same ids is sent again, without duplicates', async () => {
    const data = { ...nda, activities: manyActivities(120, (i) => ({ id: `a${i}`, entityData: i })) };
    await cutOff(data);
    const half = await get();
    expect(half).toHaveLength(50);
    await customer.ok(ADD, data);
    const whole = await get();
    expect(whole.map(({ entityData }) => entityData).sort((a, b) => a - b)).toEqual(times(120, (i) => i));
    expect(whole).toEqual(expect.arrayContaining(half));
  });

  test('is completed when the request is repeated with its Idempotency-Key, although the service generates the ids', async () => {
    const data = { ...nda, activities: manyActivities(120, (i) => ({ entityData: i })) };
    const headers = { 'idempotency-key': 'import-7' };
    await cutOff(data, headers);
    const half = await get();
    expect(half).toHaveLength(50);
    expect((await customer.call(ADD, data, headers)).status).toBe(200);
    const whole = await get({ order: 'asc' });
    expect(whole.map(({ entityData }) => entityData)).toEqual(times(120, (i) => i));
    expect(whole).toEqual(expect.arrayContaining(half));
    expect((await customer.call(ADD, data, headers)).headers['idempotency-replayed']).toBe('true');
    expect(await get()).toHaveLength(120);
  });

  test('stores none of up to 50 activities, because one transaction writes all of them', async () => {
    const data = { ...nda, activities: manyActivities(50, () => ({})) };
    faults.fail('TransactWriteItems', 0);
    expect((await customer.call(ADD, data)).status).toBe(503);
    faults.heal();
    expect(await get()).toEqual([]);
  });

  test('generates other ids for another Idempotency-Key or another endpoint', async () => {
    const addWith = (key: string) =>
      customer.call(ADD, { ...nda, activities: [activity()] }, { 'idempotency-key': key });
    await addWith('one');
    await addWith('two');
    await customer.call(
      '/v2/recordings/add',
      { ...nda, recordings: [{ recordingType: 'audio', from: { userId: 'ada' } }] },
      { 'idempotency-key': 'one' },
    );
    const [recording] = await customer.ok('/v2/recordings/get', nda);
    const ids = [...(await get()).map(({ id }) => id), recording.annotationId].map((id: string) => id.slice(4));
    expect(new Set(ids).size).toBe(3);
  });
});

describe('the activities of a deleted document', () => {
  /** Removes the item of the document, as a deletion does, and adds the document again. */
  async function deleteAndMakeAgain() {
    await table.write([remove(DocumentEntity, { ...(await scope()), documentId: 'nda' })]);
    expect([await get({ activityIds: ['a'] }), await get({ targetEntityId: 't' }), await get()]).toEqual([[], [], []]);
    await customer.addDocuments(['nda']);
  }

  test('cannot be found by id, target entity or document, and cannot be updated or deleted', async () => {
    await add([activity({ id: 'a', targetEntityId: 't' })]);
    await deleteAndMakeAgain();
    for (const filter of [{}, nda, { activityIds: ['a'] }, { targetEntityId: 't' }])
      expect(await get(filter)).toEqual([]);
    const activities = [{ id: 'a', actionIcon: 'i' }];
    for (const result of [
      await customer.ok('/v2/activities/update', { organizationId: 'acme', activities }),
      await customer.ok('/v2/activities/delete', { organizationId: 'acme', activityIds: ['a'] }),
    ])
      expect(result).toMatchObject({ a: { success: false } });
    expect(await customer.ok('/v2/activities/delete', { organizationId: 'acme', targetEntityId: 't' })).toEqual({});
  });

  test('leave their ids free for new activities', async () => {
    await add([activity({ id: 'a', entityData: 'old' })]);
    await deleteAndMakeAgain();
    await add([activity({ id: 'a', entityData: 'new' })]);
    expect((await get()).map(({ entityData }) => entityData)).toEqual(['new']);
    expect((await get({ activityIds: ['a'] })).map(({ entityData }) => entityData)).toEqual(['new']);
  });
});

describe('races of activities', () => {
  test('listing and deletion by target entity ignore outdated index entries', async () => {
    await add([activity({ id: 'a', targetEntityId: 'new' })]);
    const [item] = (await itemsOf(ActivityEntity.type)) as [Record<string, any>];
    await engine.client.send(
      new UpdateItemCommand({
        TableName: TABLE_NAME,
        Key: { PK: { S: item.PK }, SK: { S: item.SK } },
        UpdateExpression: 'SET gsi1pk = :old',
        ExpressionAttributeValues: { ':old': { S: item.gsi1pk.replace('new', 'old') } },
      }),
    );
    expect(await get({ targetEntityId: 'old' })).toEqual([]);
    expect(await customer.ok('/v2/activities/delete', { organizationId: 'acme', targetEntityId: 'old' })).toEqual({});
    expect(await get()).toHaveLength(1);
  });

  test('a deletion is complete even if the activity is deleted and added again meanwhile', async () => {
    await add([activity({ id: 'a', entityData: 'old' })]);
    beforeWrite(async () => {
      await customer.ok('/v2/activities/delete', { organizationId: 'acme', activityIds: ['a'] });
      await add([activity({ id: 'a', entityData: 'new' })]);
    });
    const { results } = await new ActivityDeleter(table).delete(await scope(), { activityIds: ['a'] });
    expect(results).toEqual([['a', { success: true, message: 'Activity deleted.' }]]);
    expect([await get(), await get({ activityIds: ['a'] })]).toEqual([[], []]);
  });
});

describe('activityOps', () => {
  const names = { document: { documentId: 'nda' } };
  const own = {
    cause: { type: 'Thread', id: 'c1', revision: 1 },
    featureType: 'comment',
    actionType: 'comment_annotation.add',
    actionUser: { userId: 'ada' },
    targetEntityId: 'c1',
  } as const;

  test('writes an activity in the transaction of its change', async () => {
    expect(
      await table.write(
        activityOps(
          await storedDocumentScope(customer),
          names,
          { ...own, entityData: { text: 'hi' } },
          1_700_000_000_000,
        ),
      ),
    ).toBe('done');
    const [activity, ...others] = await get(nda);
    const { cause: _, ...said } = own;
    expect([activity, others]).toEqual([
      {
        ...said,
        id: expect.stringMatching(/^act_/),
        entityData: { text: 'hi' },
        timestamp: 1_700_000_000_000,
        metadata: { apiKey: customer.apiKey, ...nda },
      },
      [],
    ]);
    expect([await get({ activityIds: [activity.id] }), await get({ targetEntityId: 'c1' })]).toEqual([
      [activity],
      [activity],
    ]);
  });

  test('creates one activity per change, action type and document', async () => {
    const here = await storedDocumentScope(customer);
    const idOf = (ops: ReturnType<typeof activityOps>) => (ops[0] as { put: { id: string } }).put.id;
    const ids = [
      activityOps(here, names, own, 1_700_000_000_000),
      activityOps(here, names, own, 1_700_000_000_000),
      activityOps(here, names, { ...own, cause: { ...own.cause, revision: 2 } }, 1_700_000_000_000),
      activityOps(here, names, { ...own, actionType: 'comment.add' }, 1_700_000_000_000),
      activityOps({ ...here, documentKey: 'doc_2' }, names, own, 1_700_000_000_000),
    ].map(idOf);
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toBe(ids[1]);
    await table.write(activityOps(here, names, own, 1_700_000_000_000));
    expect(await table.write(activityOps(here, names, own, 1_700_000_000_000))).toEqual({ conflicts: [0, 1] });
  });
});

test('the activities of a disabled document cannot be changed or deleted by id or target entity', async () => {
  await add([activity({ id: 'a', targetEntityId: 't' })]);
  await customer.ok('/v2/organizations/documents/access/disablestate/update', {
    organizationId: 'acme',
    documentIds: ['nda'],
    disabled: true,
  });
  const activities = [{ id: 'a', actionIcon: 'i' }];
  for (const result of [
    await customer.ok('/v2/activities/update', { organizationId: 'acme', activities }),
    await customer.ok('/v2/activities/delete', { organizationId: 'acme', activityIds: ['a'] }),
    await customer.ok('/v2/activities/delete', { organizationId: 'acme', targetEntityId: 't' }),
  ])
    expect(result).toEqual({ a: { success: false, message: 'The document is disabled' } });
  expect(await get(nda)).toEqual([expect.not.objectContaining({ actionIcon: 'i' })]);
});
