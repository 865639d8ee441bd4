import { GetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import { OrganizationEntity } from '../../../lib/directory/organizations.ts';
import { emit, EventEntity, EventPayloadEntity, type NewEvent, OutboxStore } from '../../../lib/events/outbox.ts';
import { insert } from '../../../lib/table/table.ts';
import { forAllTests, table } from '../../support/acmeWorld.ts';
import { startEngine, TABLE_NAME } from '../../support/engine.ts';

const engine = forAllTests(startEngine);

const tenant = 'key_1';
const now = Date.UTC(2099, 0, 2, 3, 4, 5);
const organization = (organizationId: string) =>
  insert(OrganizationEntity, {
    tenant,
    organizationId,
    internalId: `org_${organizationId}`,
    disabled: false,
    createdAt: now,
    lastUpdated: now,
  });
const eventOf = (id: string): NewEvent => ({
  event: 'comment.add',
  cause: { type: 'Comment', id, revision: 1 },
  organizationId: 'acme',
  channels: ['c'],
  payload: { source: 'comment', data: { text: 'hi' } },
});
const idOf = (id: string) => (emit(tenant, eventOf(id), now)[0] as { put: { eventId: string } }).put.eventId;

describe('the outbox', () => {
  test('stores an event as pending, in the index of its tenant, in the transaction of the change', async () => {
    expect(await table.write([organization('a'), ...emit(tenant, eventOf('a'), now)])).toBe('done');

    const eventId = idOf('a');
    expect(eventId).toMatch(/^msg_[0-9A-Za-z]{27}$/);
    expect(await table.get(EventEntity, { tenant, eventId })).toMatchObject({
      event: 'comment.add',
      organizationId: 'acme',
      channels: ['c'],
      createdAt: now,
      smallPayload: '{"source":"comment","data":{"text":"hi"}}',
    });
    expect(await table.get(EventPayloadEntity, { tenant, eventId })).toBeUndefined();

    const { Item } = await engine.client.send(
      new GetItemCommand({
        TableName: TABLE_NAME,
        Key: { PK: { S: `T#${tenant}#EVENT#${eventId}` }, SK: { S: 'META' } },
      }),
    );
    const item = unmarshall(Item ?? {});
    expect(item).toMatchObject({ _t: 'Event', _v: 2, ttl: now / 1000 + 30 * 24 * 3600 });
    const pending = await engine.client.send(
      new QueryCommand({
        TableName: TABLE_NAME,
        IndexName: 'gsi3',
        KeyConditionExpression: 'gsi3pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: `T#PENDING#${item.shard}` } },
      }),
    );
    expect(pending.Items?.map(({ gsi3sk }) => gsi3sk?.S)).toEqual([`2099-01-02T03:04:05.000Z#${eventId}`]);
    expect(item.gsi4pk).toBe(`T#${tenant}#EVENTS#${item.shard % 16}`);
  });

  test('stores a payload of more than 2,400 bytes in an item of its own, and reads only such payloads', async () => {
    const withText = (id: string, text: string): NewEvent => ({
      ...eventOf(id),
      payload: { source: 'comment', data: { text } },
    });
    const largest = `x${'ä'.repeat(1_180)}`;
    const larger = `${largest}x`;
    const [small, large] = [withText('g', largest), withText('h', larger)];
    expect(Buffer.byteLength(JSON.stringify(small.payload))).toBe(2_400);
    await table.write([...emit(tenant, small, now), ...emit(tenant, large, now)]);

    const events = (
      await table.getMany(EventEntity, [
        { tenant, eventId: idOf('h') },
        { tenant, eventId: idOf('g') },
      ])
    ).map((event) => ({ ...event!, tenant }));
    const batchGet = jest.spyOn(table, 'batchGet');
    const read = await new OutboxStore(table).withPayloads(events);
    expect(read.map(({ payload }) => payload.data)).toEqual([{ text: larger }, { text: largest }]);
    // The first call reads both events again.
    expect(batchGet.mock.calls.map((reads: readonly unknown[]) => reads.length)).toEqual([2, 1]);
    batchGet.mockRestore();
  });

  test('stores neither change nor event after a conflict', async () => {
    await table.write([organization('b')]);
    expect(await table.write([organization('b'), ...emit(tenant, eventOf('b'), now)])).toEqual({ conflicts: [0] });
    expect(await table.get(EventEntity, { tenant, eventId: idOf('b') })).toBeUndefined();
  });

  test('writes neither change nor event if the event exists', async () => {
    await table.write(emit(tenant, eventOf('c'), now));
    expect(await table.write([organization('c'), ...emit(tenant, eventOf('c'), now + 5_000)])).toEqual({
      conflicts: [1],
    });
    expect(await table.get(OrganizationEntity, { tenant, organizationId: 'c' })).toBeUndefined();
  });

  test('creates a different event id for each tenant, change, revision and event type', () => {
    const ids = [
      emit('key_2', eventOf('d'), now),
      emit(tenant, eventOf('e'), now),
      emit(tenant, { ...eventOf('d'), cause: { type: 'Comment', id: 'd', revision: 2 } }, now),
      emit(tenant, { ...eventOf('d'), event: 'comment.update' }, now),
      emit(tenant, eventOf('d'), now),
    ].map(([op]) => (op as { put: { eventId: string } }).put.eventId);
    expect(new Set(ids).size).toBe(5);
  });

  test('rejects a payload larger than 256 KB, and names the field', () => {
    expect(() =>
      emit(tenant, { ...eventOf('f'), payload: { source: 'comment', data: { text: 'x'.repeat(256 * 1024) } } }, now),
    ).toThrow('data is too large');
  });
});
