import { startEngine } from '../support/engine.ts';
import { GetItemCommand, PutItemCommand, BatchGetItemCommand, QueryCommand, TransactWriteItemsCommand, DeleteItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
const e = await startEngine();
const c = e.client;
const R = { ReturnConsumedCapacity: 'INDEXES' as const };
const T = { TableName: 'table' };
const item = (sk: string, bytes: number, extra = {}) => ({ PK: { S: 'p' }, SK: { S: sk }, x: { S: 'x'.repeat(bytes - 2 - 1 - 2 - sk.length - 1) }, ...extra });
const show = (n: string, r: any) => console.log(n, JSON.stringify(r.ConsumedCapacity));
for (const b of [100, 1024, 1025, 4096, 4097, 8193]) {
  show(`put ${b}`, await c.send(new PutItemCommand({ ...T, ...R, Item: item(`k${b}`, b) })));
  show(`get ${b}`, await c.send(new GetItemCommand({ ...T, ...R, Key: { PK: { S: 'p' }, SK: { S: `k${b}` } }, ConsistentRead: true })));
}
show('get eventual 4097', await c.send(new GetItemCommand({ ...T, ...R, Key: { PK: { S: 'p' }, SK: { S: `k4097` } } })));
show('get missing', await c.send(new GetItemCommand({ ...T, ...R, Key: { PK: { S: 'p' }, SK: { S: `zz` } }, ConsistentRead: true })));
show('batch 100,4097,missing', await c.send(new BatchGetItemCommand({ ...R, RequestItems: { table: { ConsistentRead: true, Keys: ['k100', 'k4097', 'zz'].map(k => ({ PK: { S: 'p' }, SK: { S: k } })) } } })));
show('query all (18536 B =5)', await c.send(new QueryCommand({ ...T, ...R, KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': { S: 'p' } }, ConsistentRead: true })));
show('query none', await c.send(new QueryCommand({ ...T, ...R, KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': { S: 'none' } }, ConsistentRead: true })));
show('query limit 1', await c.send(new QueryCommand({ ...T, ...R, Limit: 1, KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': { S: 'p' } }, ConsistentRead: true })));
show('put smaller over 4097', await c.send(new PutItemCommand({ ...T, ...R, Item: item('k4097', 100) })));
show('delete 4096', await c.send(new DeleteItemCommand({ ...T, ...R, Key: { PK: { S: 'p' }, SK: { S: 'k4096' } } })));
show('delete missing', await c.send(new DeleteItemCommand({ ...T, ...R, Key: { PK: { S: 'p' }, SK: { S: 'k4096' } } })));
show('transact 2 put + delete(8193)', await c.send(new TransactWriteItemsCommand({ ...R, TransactItems: [{ Put: { ...T, Item: item('a', 100) } }, { Put: { ...T, Item: item('b', 1025) } }, { Delete: { ...T, Key: { PK: { S: 'p' }, SK: { S: 'k8193' } } } }] })));
show('put with gsi', await c.send(new PutItemCommand({ ...T, ...R, Item: item('g', 100, { gsi1pk: { S: 'a' }, gsi1sk: { S: 'b' } }) })));
show('put with gsi changed', await c.send(new PutItemCommand({ ...T, ...R, Item: item('g', 100, { gsi1pk: { S: 'a' }, gsi1sk: { S: 'c' } }) })));
show('put with gsi unchanged', await c.send(new PutItemCommand({ ...T, ...R, Item: item('g', 101, { gsi1pk: { S: 'a' }, gsi1sk: { S: 'c' } }) })));
show('transact put gsi', await c.send(new TransactWriteItemsCommand({ ...R, TransactItems: [{ Put: { ...T, Item: item('gt', 100, { gsi1pk: { S: 'a' }, gsi1sk: { S: 'c' } }) } }] })));
show('update', await c.send(new UpdateItemCommand({ ...T, ...R, Key: { PK: { S: 'p' }, SK: { S: 'u' } }, UpdateExpression: 'SET a = :a', ExpressionAttributeValues: { ':a': { S: 'x'.repeat(1100) } } })));
show('num+types put', await c.send(new PutItemCommand({ ...T, ...R, Item: item('n', 1000, { n: { N: '1234567890123' }, l: { L: [{ S: 'a' }, { N: '1' }] }, m: { M: { k: { BOOL: true } } }, b: { B: new Uint8Array(5) } }) })));
await e.stop();
