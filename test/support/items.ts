import {
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  ScanCommand,
  type ScanCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { Customer } from './customer.ts';
import { type Engine, TABLE_NAME } from './engine.ts';
import type { TableClient } from './leanClient.ts';

/** The types of items that name organizations and belong to none. */
const outside = new Set(['Event', 'EventPayload', 'Job', 'Organization', 'User']);

/** Returns the item that is stored under a key. */
export async function storedItem(
  engine: Engine,
  key: { PK: string; SK: string },
): Promise<Record<string, any> | undefined> {
  const { Item } = await engine.lean.send(
    new GetCommand({ TableName: TABLE_NAME, Key: { PK: key.PK, SK: key.SK }, ConsistentRead: true }),
  );
  return Item;
}

/** Stores an item as it is. */
export async function putItem(engine: Engine, item: Record<string, any>): Promise<void> {
  await engine.lean.send(new PutCommand({ TableName: TABLE_NAME, Item: item }));
}

/** Deletes the item that is stored under a key. */
export async function deleteItem(engine: Engine, { PK, SK }: Record<string, any>): Promise<void> {
  await engine.lean.send(new DeleteCommand({ TableName: TABLE_NAME, Key: { PK, SK } }));
}

/** Returns all stored items. */
export function everyItem(engine: Engine): Promise<Record<string, any>[]> {
  return scan(engine, {});
}

/** Returns all stored items of a tenant. */
export function itemsOfTenant(engine: Engine, tenant: string): Promise<Record<string, any>[]> {
  return scan(engine, {
    FilterExpression: 'begins_with(PK, :tenant)',
    ExpressionAttributeValues: { ':tenant': `T#${tenant}#` },
  });
}

/** Returns the items of a scan, from all its pages. */
export async function scan(
  engine: Engine,
  input: Omit<ScanCommandInput, 'TableName' | 'ExclusiveStartKey'>,
): Promise<Record<string, any>[]> {
  const items: Record<string, any>[] = [];
  let from: Record<string, any> | undefined;
  do {
    const { Items, LastEvaluatedKey } = await engine.lean.send(
      new ScanCommand({ ...input, TableName: TABLE_NAME, ExclusiveStartKey: from }),
    );
    for (const item of Items) items.push(item);
    from = LastEvaluatedKey;
  } while (from);
  return items;
}

/** Replaces the table with an empty one. */
export function clearTable(engine: Engine): Promise<void> {
  return engine.clear();
}

/** Returns a customer's items by `<PK> <SK>`. */
export async function itemsByKey(engine: Engine, { apiKey }: Customer): Promise<Map<string, Record<string, any>>> {
  const items = await itemsOfTenant(engine, apiKey);
  return new Map(items.map((item) => [`${item.PK} ${item.SK}`, item]));
}

/** Returns the items that belong to the organization with this internal id. */
export function itemsOfOrganization(
  items: ReadonlyMap<string, Record<string, any>>,
  organization: string,
): Record<string, any>[] {
  return [...items.values()].filter(({ _t, ...item }) => !outside.has(_t) && mentions(item, organization));
}

/** Returns whether a text in a value contains an id. */
export function mentions(value: unknown, id: string): boolean {
  if (typeof value === 'string') return value.includes(id);
  return (
    typeof value === 'object' &&
    value !== null &&
    !(value instanceof Uint8Array) &&
    Object.values(value).some((part) => mentions(part, id))
  );
}

/** Writes items back that a test has read before. */
export async function restoreItems(client: TableClient, items: readonly Record<string, any>[]): Promise<void> {
  for (let i = 0; i < items.length; i += 25)
    await client.send(
      new BatchWriteCommand({
        RequestItems: { [TABLE_NAME]: items.slice(i, i + 25).map((Item) => ({ PutRequest: { Item } })) },
      }),
    );
}
