/**
 * Finds two kinds of requests that DynamoDB rejects and the local engine accepts: index keys that are too large, and
 * start keys outside of the query's range. Both can come from customers.
 */

type Json = Readonly<Record<string, unknown>>;

/** The maximum bytes of each attribute that is a key of an index. */
export type IndexKeySizes = ReadonlyMap<string, number>;

const MAX_PARTITION_KEY_BYTES = 2_048;
const MAX_SORT_KEY_BYTES = 1_024;

export function indexKeySizes({ GlobalSecondaryIndexes = [] }: Json): IndexKeySizes {
  const indexes = GlobalSecondaryIndexes as readonly {
    readonly KeySchema: readonly { readonly AttributeName: string; readonly KeyType: string }[];
  }[];
  return new Map(
    indexes
      .flatMap(({ KeySchema }) => KeySchema)
      .map(({ AttributeName, KeyType }) => [
        AttributeName,
        KeyType === 'HASH' ? MAX_PARTITION_KEY_BYTES : MAX_SORT_KEY_BYTES,
      ]),
  );
}

/** Returns DynamoDB's message. Values are texts, or have the wire format (`{ S: 'text' }`). */
export function findRequestFault(operation: string, input: Json, sizes: IndexKeySizes): string | undefined {
  if (operation === 'Query') return findStartKeyFault(input);
  for (const action of actionsOf(operation, input)) {
    for (const [name, value] of writtenValues(action)) {
      const most = sizes.get(name);
      const bytes = Buffer.byteLength(textOf(value) ?? '');
      if (most !== undefined && bytes > most)
        return `One or more parameter values were invalid: Size of the index key ${name} has exceeded the maximum size limit of ${most} bytes`;
    }
  }
  return undefined;
}

/** A query must start within the range of sort keys that it reads. */
function findStartKeyFault(query: Json): string | undefined {
  const { ExclusiveStartKey: startKey, KeyConditionExpression: condition } = query;
  if (startKey === undefined || startKey === null || typeof condition !== 'string') return undefined;
  const start = (name: string) => textOf((startKey as Json)[attributeName(query, name)]) ?? '';
  const value = (placeholder: string) => textOf(((query.ExpressionAttributeValues ?? {}) as Json)[placeholder]) ?? '';
  const [, prefixed, prefix] = /begins_with\s*\(\s*([#\w]+)\s*,\s*(:\w+)\s*\)/i.exec(condition) ?? [];
  const [, ranged, from, to] = /([#\w]+)\s+BETWEEN\s+(:\w+)\s+AND\s+(:\w+)/i.exec(condition) ?? [];
  const isOutside =
    (prefixed && prefix && !start(prefixed).startsWith(value(prefix))) ||
    (ranged && from && to && (isBefore(start(ranged), value(from)) || isBefore(value(to), start(ranged))));
  return isOutside ? 'The provided starting key is outside query boundaries based on provided conditions' : undefined;
}

/** By bytes, as in DynamoDB. */
function isBefore(first: string, second: string): boolean {
  return Buffer.compare(Buffer.from(first), Buffer.from(second)) < 0;
}

function actionsOf(operation: string, input: Json): readonly Json[] {
  switch (operation) {
    case 'PutItem':
    case 'UpdateItem':
      return [input];
    case 'TransactWriteItems':
      return ((input.TransactItems ?? []) as readonly { Put?: Json; Update?: Json }[])
        .map(({ Put, Update }) => Put ?? Update)
        .filter((action) => action !== undefined);
    case 'BatchWriteItem':
      return Object.values((input.RequestItems ?? {}) as Readonly<Record<string, readonly { PutRequest?: Json }[]>>)
        .flat()
        .map(({ PutRequest }) => PutRequest)
        .filter((action) => action !== undefined);
    default:
      return [];
  }
}

function writtenValues(action: Json): readonly (readonly [name: string, value: unknown])[] {
  if (action.Item) return Object.entries(action.Item);
  if (typeof action.UpdateExpression !== 'string') return [];
  const values = (action.ExpressionAttributeValues ?? {}) as Json;
  return [...action.UpdateExpression.matchAll(/([#\w]+)\s*=\s*(:\w+)/g)].map(
    ([, name = '', placeholder = '']) => [attributeName(action, name), values[placeholder]] as const,
  );
}

function attributeName({ ExpressionAttributeNames: names }: Json, name: string): string {
  return ((names ?? {}) as Readonly<Record<string, string>>)[name] ?? name;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const text = typeof value === 'object' && value !== null && 'S' in value ? value.S : undefined;
  return typeof text === 'string' ? text : undefined;
}
