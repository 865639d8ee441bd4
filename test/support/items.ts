import { type AttributeValue, DeleteItemCommand, GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type Engine, TABLE_NAME } from './engine.ts';

/** The item under a key, as it is stored. */
export async function storedItem(engine: Engine, key: { PK: string; SK: string }): Promise<Record<string, any> | undefined> {
  const { Item } = await engine.client.send(new GetItemCommand({ TableName: TABLE_NAME, Key: { PK: { S: key.PK }, SK: { S: key.SK } }, ConsistentRead: true }));
  return Item && unmarshall(Item);
}

/** Every item of the table, as it is stored. */
export async function everyItem(engine: Engine): Promise<Record<string, any>[]> {
  const items: Record<string, any>[] = [];
  let from: Record<string, AttributeValue> | undefined;
  do {
    const { Items, LastEvaluatedKey } = await engine.client.send(new ScanCommand({ TableName: TABLE_NAME, ExclusiveStartKey: from }));
    items.push(...(Items ?? []).map((item) => unmarshall(item)));
    from = LastEvaluatedKey;
  } while (from);
  return items;
}

/** Removes every item of the table. */
export async function clearTable(engine: Engine): Promise<void> {
  const items = await everyItem(engine);
  await Promise.all(items.map(({ PK, SK }) => engine.client.send(new DeleteItemCommand({ TableName: TABLE_NAME, Key: { PK: { S: PK }, SK: { S: SK } } }))));
}
