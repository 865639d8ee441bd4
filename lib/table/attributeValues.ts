export type Json = Record<string, unknown>;

const ITEMS: ReadonlySet<string> = new Set([
  'Item',
  'Key',
  'ExpressionAttributeValues',
  'ExclusiveStartKey',
  'LastEvaluatedKey',
  'Attributes',
]);
const LISTS: ReadonlySet<string> = new Set(['Items', 'Keys']);
const VALUES: ReadonlySet<string> = new Set(['SearchVector']);
const MIN_POSITIVE_NUMBER = 1e-130;

/** Throws for a value that the table cannot store, such as a number beyond the safe integers. */
export function toRequestBody(input: Json): string {
  return JSON.stringify(mapItems(input, toAttributes));
}

export function fromResponseBody(body: string): Json {
  return mapItems(JSON.parse(body) as Json, fromAttributes) as Json;
}

export function fromErrorBody(body: string): Json {
  const reviver = (name: string, value: unknown) =>
    name === 'B' && typeof value === 'string' ? toBytes(value) : value;
  return JSON.parse(body, reviver) as Json;
}

function mapItems(value: unknown, map: (item: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((element) => mapItems(element, map));
  if (typeof value !== 'object' || value === null) return value;
  const mapped: Json = {};
  for (const [name, part] of Object.entries(value)) mapped[name] = mapField(name, part, map);
  return mapped;
}

function mapField(name: string, part: unknown, map: (item: Json) => Json): unknown {
  if (ITEMS.has(name) && part) return map(part as Json);
  if (LISTS.has(name)) return (part as Json[]).map(map);
  if (VALUES.has(name)) return (part as unknown[]).map(toAttribute);
  if (name !== 'Responses') return mapItems(part, map);
  return Object.fromEntries(
    Object.entries(part as Record<string, Json[]>).map(([table, items]) => [table, items.map(map)]),
  );
}

function toAttributes(fields: Json): Json {
  // An attribute named `__proto__` would set the prototype of the result.
  if (Object.hasOwn(fields, '__proto__')) throw new Error('No attribute can be named __proto__');
  const attributes: Json = {};
  for (const name of Object.keys(fields)) if (fields[name] !== undefined) attributes[name] = toAttribute(fields[name]);
  return attributes;
}

function toAttribute(value: unknown): Json {
  if (value === null) return { NULL: true };
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER)
    return { N: Math.abs(value) < MIN_POSITIVE_NUMBER ? '0' : String(value) };
  if (Array.isArray(value))
    return { L: value.filter((element) => element !== undefined && typeof element !== 'function').map(toAttribute) };
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') };
  if (typeof value === 'object') {
    const { constructor } = value as { constructor?: { name?: string } };
    if (!constructor || constructor.name === 'Object') return { M: toAttributes(value as Json) };
  }
  throw new Error(`The table cannot store a value of type ${typeof value}`);
}

export function fromAttributes(attributes: Json): Json {
  const fields: Json = {};
  for (const name of Object.keys(attributes)) fields[name] = fromAttribute(attributes[name] as Json);
  return fields;
}

function fromAttribute(attribute: Json): unknown {
  for (const type in attribute) {
    const value: unknown = attribute[type];
    switch (type) {
      case 'S':
      case 'BOOL':
        return value;
      case 'N':
        return Number(value);
      case 'M':
        return fromAttributes(value as Json);
      case 'L':
        return (value as Json[]).map(fromAttribute);
      case 'B':
        return toBytes(value as string | Uint8Array);
      case 'NULL':
        return null;
    }
  }
  throw new Error(`The table cannot read an attribute of type ${Object.keys(attribute).join()}`);
}

function toBytes(value: string | Uint8Array): Uint8Array {
  return typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value;
}
