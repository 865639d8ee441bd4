import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { findRequestFault } from '../../infra/local/table/requestFault.ts';
import { indexNames, type VectorIndexName } from '../../lib/app/capability.ts';
import { vectorAttributes, vectorTime } from '../../lib/memory/vectorIndexes.ts';
import { documentClients, operationOf } from '../../lib/table/documentClient.ts';
import { asDocumentClient, type Command, indexKeySizes, type TableClient } from './leanClient.ts';
import { compareTexts, type Item, matches, updated } from './tableExpressions.ts';

const READ_UNIT = 4_096;
const WRITE_UNIT = 1_024;
const MAX_ITEM_BYTES = 409_600;
/** The largest size of a page of a query. */
const PAGE_BYTES = 1_048_576;

export interface Units {
  read: number;
  written: number;
}

/**
 * What calls consumed, in total and by partition. A partition is named by its index (`table`, `gsi1`, …), a space and
 * its key.
 */
interface Consumption extends Units {
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
 * A table in memory, for the calls that functions make. It counts the capacity units that DynamoDB would bill on
 * demand. Functions use it if they open the table after `install`.
 */
export class MemoryTable implements TableClient {
  consumed: Consumption = nothing();
  onInsert: (item: Item) => void = () => undefined;
  /** Whether calls are checked and their capacity units counted. A bench of speed switches it off, because both take time. */
  isExact = true;
  readonly #items = new Map<string, Item>();
  /** The sorted entries of each partition, by the name of the index (or `table`) and the key of the partition. */
  readonly #partitions = new Map<string, Map<string, Entry[]>>();
  /** The tokens of the transactions. A transaction with one of these tokens is a repetition and changes nothing. */
  readonly #tokens = new Set<string>();

  destroy(): void {
    // There are no connections to close.
  }

  /** Removes all items. */
  clear(): void {
    this.#items.clear();
    this.#partitions.clear();
  }

  install(): this {
    documentClients.open = () => asDocumentClient(this);
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

  async send(command: Command): Promise<Item> {
    const { input } = command;
    const operation = operationOf(command);
    const fault = this.isExact
      ? (findRequestFault(operation, input, indexKeySizes) ?? findSizeFault(input))
      : undefined;
    if (fault !== undefined) throw Object.assign(new Error(fault), { name: 'ValidationException', $metadata: {} });
    this.consumed.calls++;
    if (!/^(GetItem|BatchGetItem|Query|Scan|SearchVectors)$/.test(operation)) this.consumed.writes++;
    switch (operation) {
      case 'GetItem':
        return { Item: this.#read(input.Key, input.ConsistentRead) };
      case 'BatchGetItem': {
        const [[table, { Keys, ConsistentRead }]] = Object.entries<Item>(input.RequestItems) as [[string, Item]];
        return { Responses: { [table]: Keys.flatMap((key: Item) => this.#read(key, ConsistentRead) ?? []) } };
      }
      case 'Query':
        return this.#query(input);
      case 'Scan':
        return { Items: this.#scan(input) };
      case 'SearchVectors':
        return { SearchResults: this.#nearest(input) };
      case 'BatchWriteItem':
        for (const { PutRequest, DeleteRequest } of Object.values<Item[]>(input.RequestItems).flat())
          this.#store([PutRequest ? { Put: PutRequest } : { Delete: DeleteRequest }], 1);
        return {};
      case 'TransactWriteItems': {
        const { ClientRequestToken: token, TransactItems } = input;
        if (!this.#tokens.has(token)) this.#store(TransactItems, 2);
        if (token !== undefined) this.#tokens.add(token);
        return {};
      }
      case 'PutItem':
      case 'UpdateItem':
      case 'DeleteItem': {
        const [{ item }] = this.#store([{ [operation.replace('Item', '')]: input }], 1) as [Written];
        return input.ReturnValues === 'UPDATED_NEW' ? { Attributes: namedAttributes(item!, input) } : {};
      }
      default:
        throw new Error(`The table in memory has no ${operation}`);
    }
  }

  #read(key: Item, consistent: boolean | undefined): Item | undefined {
    const item = this.#items.get(identity(key));
    if (!this.isExact) return item;
    const units = Math.max(1, Math.ceil((item ? itemSize(item) : 0) / READ_UNIT));
    this.#count('table', key.PK, { read: units * (consistent ? 1 : 0.5), written: 0 });
    return item;
  }

  /** Returns the items of the table, or the entries of an index, that match the filter. */
  #scan({ IndexName: index, FilterExpression: filter, ...placeholders }: Item): Item[] {
    const all =
      index === undefined
        ? [...this.#items.values()]
        : [...(this.#partitions.get(index) ?? [])].flatMap(([partition, entries]) =>
            entries.map((entry) => this.#indexItem(index, partition, entry)),
          );
    return filter === undefined ? all : all.filter((item) => matches(filter, item, placeholders));
  }

  /** Returns an entry of an index as the item that a read of the index returns. */
  #indexItem(index: string, partition: string, [sort, key]: Entry): Item {
    const { PK, SK } = this.#items.get(key)!;
    return { PK, SK, [`${index}pk`]: partition, [`${index}sk`]: sort };
  }

  #query(input: Item): Item {
    const { IndexName: index = 'table', ExpressionAttributeValues: values, ExclusiveStartKey: start } = input;
    if (values[':from'] !== undefined && compareTexts(values[':from'], values[':to']) > 0)
      throw Object.assign(new Error('The upper bound of BETWEEN is below the lower bound'), {
        name: 'ValidationException',
        $metadata: {},
      });
    const partition = values[':pk'] as string;
    const entries = this.#partitions.get(index)?.get(partition) ?? [];
    const isDescending = input.ScanIndexForward === false;
    const ordered = isDescending ? entries.toReversed() : entries;
    const from = start && entryOf(index, start);
    const isAfterStart = (entry: Entry) =>
      !from || (isDescending ? compare(entry, from) < 0 : compare(entry, from) > 0);
    const Items: Item[] = [];
    let [bytes, evaluated] = [0, 0];
    let last: Item | undefined;
    let hasMore = false;
    for (const entry of ordered) {
      const item = this.#items.get(entry[1])!;
      const seen = index === 'table' ? item : this.#indexItem(index, partition, entry);
      if (!isAfterStart(entry) || !matches(input.KeyConditionExpression, seen, input)) continue;
      const size = itemSize(seen);
      hasMore = evaluated > 0 && bytes + size > PAGE_BYTES;
      if (hasMore) break;
      bytes += size;
      evaluated += 1;
      last = seen;
      if (!input.FilterExpression || matches(input.FilterExpression, item, input)) Items.push(seen);
      hasMore = evaluated === input.Limit;
      if (hasMore) break;
    }
    const units = Math.max(1, Math.ceil(bytes / READ_UNIT));
    this.#count(index, partition, { read: units * (input.ConsistentRead ? 1 : 0.5), written: 0 });
    return {
      Count: Items.length,
      ...(input.Select !== 'COUNT' && { Items }),
      ...(hasMore && { LastEvaluatedKey: last }),
    };
  }

  /** Returns the items that meet the condition, nearest to a vector first. */
  #nearest({ IndexName: index, SearchVector, TopK, SearchConditionExpression: condition, ...names }: Item): Item[] {
    const attribute = vectorAttributes[index as VectorIndexName];
    return [...this.#items.values()]
      .filter((item) => item[attribute] !== undefined && matches(condition, item, names))
      .map(({ PK, SK, [vectorTime]: time, [attribute]: vector }) => ({
        Item: { PK, SK, [vectorTime]: time },
        Score: 1 - cosine(SearchVector, vector),
      }))
      .sort((a, b) => a.Score - b.Score)
      .slice(0, TopK);
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
          ? (storedValue(input.Item) as Item)
          : kind === 'Update'
            ? (storedValue(updated(input.UpdateExpression, old ?? { PK: key.PK, SK: key.SK }, input)) as Item)
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
    let partitions = this.#partitions.get(index);
    if (!partitions) this.#partitions.set(index, (partitions = new Map<string, Entry[]>()));
    let entries = partitions.get(key);
    if (!entries) partitions.set(key, (entries = []));
    return entries;
  }

  #countWrite(partition: string, old: Item | undefined, next: Item | undefined, factor: number): void {
    if (!this.isExact) return;
    const bytes = Math.max(old ? itemSize(old) : 0, next ? itemSize(next) : 0);
    this.#count('table', partition, { read: 0, written: factor * Math.max(1, Math.ceil(bytes / WRITE_UNIT)) });
  }

  #count(index: string, partition: string, { read, written }: Units): void {
    if (!this.isExact) return;
    const name = `${index} ${partition}`;
    const units = this.consumed.partitions.get(name) ?? { read: 0, written: 0 };
    units.read += read;
    units.written += written;
    this.consumed.partitions.set(name, units);
    this.consumed.read += read;
    this.consumed.written += written;
  }
}

function nothing(): Consumption {
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
  return compareTexts(sort, otherSort) || compareTexts(key, otherKey);
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

/** Returns why DynamoDB rejects the keys or the items of a request, or undefined. */
function findSizeFault({ Item: item, Key: key, TransactItems = [], RequestItems = {} }: Item): string | undefined {
  const writes = (TransactItems as Item[]).flatMap((operation) => Object.values<Item>(operation));
  const requests = Object.values<Item>(RequestItems);
  const reads = requests.flatMap(({ Keys = [] }) => Keys as Item[]);
  const batch = requests.flatMap((request) => (Array.isArray(request) ? (request as Item[]) : []));
  const items = [item, ...[...writes, ...batch.map(({ PutRequest }) => PutRequest)].map((put) => put?.Item)];
  const keys = [...writes, ...batch.map(({ PutRequest, DeleteRequest }) => PutRequest ?? DeleteRequest)];
  const all = [...keys.map((write) => write.Key ?? write.Item), ...reads] as Item[];
  if (writes.length > 100 || reads.length > 100 || batch.length > 25) return 'Too many items requested';
  if (new Set(all.map(identity)).size < all.length) return 'The request contains a key twice';
  if ([item, key, ...all].some((each) => each?.PK === '' || each?.SK === '')) return 'A key is empty';
  if (items.some((put) => put && itemSize(put) > MAX_ITEM_BYTES))
    return 'Item size has exceeded the maximum allowed size';
  return undefined;
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const product = (x: readonly number[], y: readonly number[]) => x.reduce((sum, value, i) => sum + value * y[i]!, 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b)) || 0;
}

/** Returns the attributes that the update expression names. */
function namedAttributes(item: Item, { UpdateExpression, ExpressionAttributeNames: names }: Item): Item {
  const updated = (UpdateExpression as string).match(/#\w+/g) ?? [];
  return Object.fromEntries(updated.map((placeholder) => [names[placeholder], item[names[placeholder]]]));
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

/**
 * Returns a copy of a value as DynamoDB stores it. The copy is frozen, because reads return it: a function that changed
 * what it has read would change the table.
 */
function storedValue(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(storedValue));
  if (ArrayBuffer.isView(value)) return new Uint8Array(value as Uint8Array);
  if (typeof value !== 'object' || value === null) return value;
  const result: Item = {};
  for (const name in value) {
    const field = (value as Item)[name] as unknown;
    if (field !== undefined) result[name] = storedValue(field);
  }
  return Object.freeze(result);
}

/** The sizes of stored items. These never change, because `storedValue` freezes them. */
const storedSizes = new WeakMap<Item, number>();

/** Returns the size of an item as DynamoDB counts it. */
function itemSize(item: Item): number {
  const known = storedSizes.get(item);
  if (known !== undefined) return known;
  let size = 0;
  for (const name in item) size += Buffer.byteLength(name) + sizeOf(item[name]);
  if (Object.isFrozen(item)) storedSizes.set(item, size);
  return size;
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(String(value).replace(/\D/g, '').length / 2) + 1;
  if (typeof value !== 'object' || value === null) return 1;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  // A list or map takes three bytes, and each of its elements one byte more.
  if (Array.isArray(value)) return value.reduce<number>((sum, element) => sum + 1 + sizeOf(element), 3);
  return 3 + Object.keys(value).length + itemSize(value);
}
