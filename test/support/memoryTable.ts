import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { indexNames } from '../../../lib/app/capability.ts';
import { documentClients } from '../../../lib/table/documentClient.ts';
import { asDocumentClient, type Command } from '../../support/leanClient.ts';
import { type Item, matches, updated } from './expressions.ts';

const READ_UNIT = 4_096;
const WRITE_UNIT = 1_024;

export interface Units {
  read: number;
  written: number;
}

/**
 * What calls consumed, in total and by partition. A partition is named by its index (`table`, `gsi1`, …), a space and
 * its key.
 */
export interface Consumption extends Units {
  calls: number;
  /** The number of writing operations. */
  writes: number;
  readonly partitions: Map<string, Units>;
}

type Entry = readonly [sort: string, key: string];
interface Written {
  readonly key: string;
  readonly item: Item | undefined;
}

/**
 * A table in memory. It counts the capacity units that DynamoDB would bill on demand. Functions use it if they open
 * the table after `install`. Values are not copied, because functions do not change them.
 */
export class MemoryTable {
  consumed: Consumption = nothing();
  onInsert: (item: Item) => void = () => undefined;
  readonly #items = new Map<string, Item>();
  /** The sorted entries of each partition of the table and its indexes. */
  readonly #partitions = new Map<string, Entry[]>();

  install(): this {
    documentClients.open = () => asDocumentClient({ send: (command) => this.send(command) });
    return this;
  }

  /** Runs work. Returns the consumption of its calls. */
  async measure(work: () => Promise<unknown>): Promise<Consumption> {
    const before = this.consumed;
    this.consumed = nothing();
    await work();
    const consumed = this.consumed;
    this.consumed = before;
    return consumed;
  }

  async send({ constructor: { name }, input }: Command): Promise<Item> {
    this.consumed.calls++;
    if (!/^(Get|BatchGet|Query)/.test(name)) this.consumed.writes++;
    switch (name) {
      case 'GetCommand':
        return { Item: this.#read(input.Key, input.ConsistentRead) };
      case 'BatchGetCommand': {
        const [[table, { Keys, ConsistentRead }]] = Object.entries<Item>(input.RequestItems) as [[string, Item]];
        return { Responses: { [table]: Keys.flatMap((key: Item) => this.#read(key, ConsistentRead) ?? []) } };
      }
      case 'QueryCommand':
        return this.#query(input);
      case 'BatchWriteCommand':
        for (const { PutRequest, DeleteRequest } of Object.values<Item[]>(input.RequestItems).flat())
          this.#store([PutRequest ? { Put: PutRequest } : { Delete: DeleteRequest }], 1);
        return {};
      case 'TransactWriteCommand':
        this.#store(input.TransactItems, 2);
        return {};
      default: {
        const kind = name.replace('Command', '');
        const [{ item }] = this.#store([{ [kind]: input }], 1) as [Written];
        return input.ReturnValues ? { Attributes: item } : {};
      }
    }
  }

  #read(key: Item, consistent: boolean | undefined): Item | undefined {
    const item = this.#items.get(identity(key));
    const units = Math.max(1, Math.ceil((item ? sizeOf(item) : 0) / READ_UNIT));
    this.#count('table', key.PK, { read: units * (consistent ? 1 : 0.5), written: 0 });
    return item;
  }

  #query(input: Item): Item {
    const { IndexName: index = 'table', ExpressionAttributeValues: values, ExclusiveStartKey: start } = input;
    const [pk, sk] = index === 'table' ? ['PK', 'SK'] : [`${index}pk`, `${index}sk`];
    const partition = values[':pk'] as string;
    const entries = this.#partitions.get(`${index} ${partition}`) ?? [];
    const ordered = input.ScanIndexForward === false ? entries.toReversed() : entries;
    const after = start ? entryOf(index, start) : undefined;
    let position = after === undefined ? 0 : ordered.findIndex((entry) => compare(entry, after) === 0) + 1;
    if (after !== undefined && position === 0)
      throw new Error('The table in memory continues only after an existing key');
    const Items: Item[] = [];
    let bytes = 0;
    for (; position < ordered.length && Items.length < (input.Limit ?? Infinity); position++) {
      const [sort, key] = ordered[position]!;
      const item = this.#items.get(key)!;
      const seen = index === 'table' ? item : { PK: item.PK, SK: item.SK, [pk]: partition, [sk]: sort };
      if (!matches(input.KeyConditionExpression, seen, input)) continue;
      bytes += sizeOf(seen);
      if (input.FilterExpression && !matches(input.FilterExpression, item, input)) continue;
      Items.push(seen);
    }
    const units = Math.max(1, Math.ceil(bytes / READ_UNIT));
    this.#count(index, partition, { read: units * (input.ConsistentRead ? 1 : 0.5), written: 0 });
    const more = position < ordered.length && ordered.slice(position).some(([, key]) => this.#items.has(key));
    return { Items, Count: Items.length, ...(more && { LastEvaluatedKey: Items.at(-1) }) };
  }

  /** Executes all writes, or none. If a condition fails, throws the error that DynamoDB would throw. */
  #store(operations: readonly Item[], factor: number): Written[] {
    const all = operations.map((operation) => {
      const [[kind, input]] = Object.entries<Item>(operation) as [[string, Item]];
      const key = (input.Key ?? input.Item) as Item;
      const old = this.#items.get(identity(key));
      const holds = !input.ConditionExpression || matches(input.ConditionExpression, old, input);
      return { kind, input, key, old, holds };
    });
    if (all.some(({ holds }) => !holds)) {
      for (const { key, old } of all) this.#countWrite(key.PK, old, undefined, factor);
      throw failure(all, factor > 1);
    }
    return all.map(({ kind, input, key, old }) => {
      const next =
        kind === 'Put'
          ? (defined(input.Item) as Item)
          : kind === 'Update'
            ? updated(input.UpdateExpression, old ?? { PK: key.PK, SK: key.SK }, input)
            : undefined;
      this.#countWrite(key.PK, old, next, factor);
      if (kind === 'ConditionCheck') return { key: identity(key), item: old };
      this.#replace(identity(key), old, next, key);
      if (!old && next) this.onInsert(next);
      return { key: identity(key), item: next };
    });
  }

  #replace(key: string, old: Item | undefined, next: Item | undefined, { PK, SK }: Item): void {
    if (!old && next) insertInto(this.#partition('table', PK), [SK, key]);
    if (old && !next) removeFrom(this.#partition('table', PK), [SK, key]);
    if (next) this.#items.set(key, next);
    else this.#items.delete(key);
    for (const index of indexNames) {
      const [before, after] = [indexEntry(index, old, key), indexEntry(index, next, key)];
      if (before?.partition === after?.partition && before?.entry[0] === after?.entry[0]) continue;
      if (before) {
        removeFrom(this.#partition(index, before.partition), before.entry);
        this.#count(index, before.partition, { read: 0, written: 1 });
      }
      if (after) {
        insertInto(this.#partition(index, after.partition), after.entry);
        this.#count(index, after.partition, { read: 0, written: 1 });
      }
    }
  }

  #partition(index: string, key: string): Entry[] {
    const name = `${index} ${key}`;
    let entries = this.#partitions.get(name);
    if (!entries) this.#partitions.set(name, (entries = []));
    return entries;
  }

  #countWrite(partition: string, old: Item | undefined, next: Item | undefined, factor: number): void {
    const bytes = Math.max(old ? sizeOf(old) : 0, next ? sizeOf(next) : 0);
    this.#count('table', partition, { read: 0, written: factor * Math.max(1, Math.ceil(bytes / WRITE_UNIT)) });
  }

  #count(index: string, partition: string, { read, written }: Units): void {
    const name = `${index} ${partition}`;
    const units = this.consumed.partitions.get(name) ?? { read: 0, written: 0 };
    units.read += read;
    units.written += written;
    this.consumed.partitions.set(name, units);
    this.consumed.read += read;
    this.consumed.written += written;
  }
}

export function nothing(): Consumption {
  return { calls: 0, writes: 0, read: 0, written: 0, partitions: new Map() };
}

function indexEntry(
  index: string,
  item: Item | undefined,
  key: string,
): { readonly partition: string; readonly entry: Entry } | undefined {
  const partition = item?.[`${index}pk`] as string | undefined;
  return partition === undefined ? undefined : { partition, entry: [item![`${index}sk`] as string, key] };
}

function entryOf(index: string, start: Item): Entry {
  return [(index === 'table' ? start.SK : start[`${index}sk`]) as string, identity(start)];
}

function identity({ PK, SK }: Item): string {
  return `${PK}\n${SK}`;
}

function compare([sort, key]: Entry, [otherSort, otherKey]: Entry): number {
  if (sort !== otherSort) return sort < otherSort ? -1 : 1;
  return key === otherKey ? 0 : key < otherKey ? -1 : 1;
}

/** Returns the index of an entry in a sorted list. If the entry is missing, returns the index at which to insert it. */
function positionOf(entries: readonly Entry[], entry: Entry): number {
  let [from, to] = [0, entries.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (compare(entries[middle]!, entry) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

function insertInto(entries: Entry[], entry: Entry): void {
  entries.splice(positionOf(entries, entry), 0, entry);
}

function removeFrom(entries: Entry[], entry: Entry): void {
  entries.splice(positionOf(entries, entry), 1);
}

function failure(
  all: readonly { readonly holds: boolean; readonly input: Item; readonly old: Item | undefined }[],
  isTransaction: boolean,
): Error {
  const $metadata = { attempts: 1 };
  const message = 'The conditional request failed';
  if (isTransaction)
    return Object.assign(new Error(message), {
      name: 'TransactionCanceledException',
      $metadata,
      CancellationReasons: all.map(({ holds }) => ({ Code: holds ? 'None' : 'ConditionalCheckFailed' })),
    });
  const [{ input, old }] = all as [(typeof all)[number]];
  const item = input.ReturnValuesOnConditionCheckFailure && old && marshall(old, { removeUndefinedValues: true });
  return new ConditionalCheckFailedException({ message, $metadata, ...(item && { Item: item }) });
}

function defined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(defined);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const result: Item = {};
  for (const name in value) {
    const field = (value as Item)[name] as unknown;
    if (field !== undefined) result[name] = defined(field);
  }
  return result;
}

/** Returns the size of a value as DynamoDB counts it. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(String(value).replace(/\D/g, '').length / 2) + 1;
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return value.reduce<number>((sum, element) => sum + 1 + sizeOf(element), 3);
  let size = 0;
  for (const name in value) {
    const field = (value as Item)[name] as unknown;
    size += Buffer.byteLength(name) + sizeOf(field) + (typeof field === 'object' ? 3 : 0);
  }
  return size;
}
