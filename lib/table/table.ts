import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type {
  BatchWriteCommandInput,
  PutCommandInput,
  QueryCommandInput,
  TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { Environment, IndexName } from '../app/capability.ts';
import { clientSettings } from '../app/sdkSettings.ts';
import { watchClient } from '../observability/dependencies.ts';
import { jsonBytes } from '../shared/bytes.ts';
import { slicesOf } from '../shared/collections.ts';
import { fromAttributes } from './attributeValues.ts';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
} from './commands.ts';
import { documentClients, type TableClient } from './documentClient.ts';
import { type Entity, indexPartition, type Key, type Stored } from './entity.ts';
import { keyPrefix } from './keys.ts';
import type { ItemPage } from './pages.ts';
import { pause, retryOnConflict } from './retryOnConflict.ts';
import { conflictsOf, isThrottledTransaction, throttled } from './writeErrors.ts';

export type WriteOp =
  | { readonly put: Record<string, unknown>; readonly condition?: Condition }
  | { readonly remove: Key; readonly condition?: Condition };

interface Condition {
  readonly expression: string;
  readonly values?: Record<string, unknown>;
}

type ConditionField = 'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues';

const ABSENT: Condition = { expression: 'attribute_not_exists(PK)' };
const atRevision = (revision: number): Condition => ({ expression: '#r = :r', values: { ':r': revision } });
const unlessNewer = (revision: number): Condition => ({
  expression: 'attribute_not_exists(PK) OR #r <= :r',
  values: { ':r': revision },
});

/**
 * Conflicts if the item exists and is not expired. If an item can be created again after its deletion, pass a
 * `revision` that is new each time, such as the time: a writer that read the deleted item then cannot overwrite the new
 * one.
 */
export function insert<T, P, K>(entity: Entity<T, P, K>, value: T & P & K, revision = 1): WriteOp {
  return { put: entity.toItem(value, revision), condition: ABSENT };
}

export function replace<T, P, K>(entity: Entity<T, P, K>, value: T & P & K, revision: number): WriteOp {
  return { put: entity.toItem(value, revision + 1), condition: atRevision(revision) };
}

/**
 * Replaces the item that was read, or inserts it if `stored` is undefined. Conflicts if another write came first.
 * `firstRevision` as in `insert`.
 */
export function insertOrReplace<T, P, K>(
  entity: Entity<T, P, K>,
  value: T & P & K,
  stored: { readonly _r: number } | undefined,
  firstRevision = 1,
): WriteOp {
  return stored ? replace(entity, value, stored._r) : insert(entity, value, firstRevision);
}

/**
 * The last writer wins. If the item is deleted at the revision that was read, pass a `revision` that is new each time:
 * the deletion then keeps an item that was written after the read.
 */
export function upsert<T, P, K>(entity: Entity<T, P, K>, value: T & P & K, revision = 1): WriteOp {
  return { put: entity.toItem(value, revision) };
}

export function putUnlessNewer<T, P, K>(entity: Entity<T, P, K>, value: T & P & K, revision: number): WriteOp {
  return { put: entity.toItem(value, revision), condition: unlessNewer(revision) };
}

export function remove<T, P, K>(entity: Entity<T, P, K>, key: P & K, revision?: number): WriteOp {
  return revision === undefined
    ? { remove: entity.key(key) }
    : { remove: entity.key(key), condition: atRevision(revision) };
}

export function removeUnlessNewer<T, P, K>(entity: Entity<T, P, K>, key: P & K, revision: number): WriteOp {
  return { remove: entity.key(key), condition: unlessNewer(revision) };
}

/** Returns an operation that conflicts if the item exists, and writes nothing. It costs 2 write units, and needs `DeleteItem`. */
export function requireAbsent<T, P, K>(entity: Entity<T, P, K>, key: P & K): WriteOp {
  return { remove: entity.key(key), condition: ABSENT };
}

/** Positions of the operations that conflicted. Then nothing was written. */
export type WriteOutcome = 'done' | { readonly conflicts: readonly number[] };

export type QueryPage<T> = ItemPage<Stored<T>>;

export interface KeyPage {
  readonly keys: Key[];
  readonly sortKeys: string[];
  readonly positions: string[];
  readonly next: string | undefined;
}

export interface QueryOptions {
  readonly prefix?: readonly string[];
  readonly after?: string | undefined;
  readonly limit: number;
  readonly descending?: boolean;
  /** Eventually consistent, for half the price. */
  readonly eventual?: boolean;
  readonly between?: readonly [from: string, to: string] | undefined;
  /** A page ends early at this size of its items as JSON. The default is 4 MB. */
  readonly bytes?: number | undefined;
}

export type PageOptions = Pick<QueryOptions, 'limit' | 'after'>;

export interface ItemRead<T> {
  readonly key: Key;
  readonly fromItem: (item: Record<string, unknown>, now: number) => Stored<T> | undefined;
}

export type ReadValues<L extends readonly ItemRead<unknown>[]> = {
  [I in keyof L]: L[I] extends ItemRead<infer T> ? Stored<T> | undefined : never;
};

export interface ItemReader {
  get<T, P, K>(entity: Entity<T, P, K>, key: P & K): Promise<Stored<T> | undefined>;
}

export function itemOf<T, P, K>(entity: Entity<T, P, K>, key: P & K): ItemRead<T> {
  return { key: entity.key(key), fromItem: entity.fromItem };
}

/** To query a partition with several entities, pass one object that parses all of them. */
export type QueryableEntity<T, P> = Pick<Entity<T, P, never>, 'partition' | 'fromItem'>;

/** DynamoDB accepts 100, but smaller transactions conflict less often. */
export const OPS_PER_TRANSACTION = 30;

const TRANSACTION_BYTES = 3_800_000;

const BATCH_GET_KEYS = 100;
const BATCH_GET_TRIES = 6;
const BATCH_WRITE_KEYS = 25;
const BATCH_WRITE_TRIES = 12;
const BATCH_WRITE_LONGEST_PAUSE = 1_000;
const BATCH_WRITES_AT_A_TIME = 16;
const PARTIAL_BATCH_WRITES_AT_A_TIME = 4;
const THROTTLED_PAUSE = 3;
/** Bytes of JSON. Answers therefore stay below 5 MB. */
const PAGE_BYTES = 4_000_000;

interface PendingRemoval extends PromiseWithResolvers<undefined> {
  readonly key: Key;
}

export class Table {
  readonly #client: TableClient;
  readonly #name: string;
  readonly #now: () => number;
  readonly #removals: PendingRemoval[] = [];
  #removalLoops = 0;

  constructor(client: TableClient, name: string, now: () => number = Date.now) {
    this.#client = client;
    this.#name = name;
    this.#now = now;
  }

  /** For operations that few functions need, because every method of this class is in every bundle. */
  get connection(): { readonly client: TableClient; readonly name: string } {
    return { client: this.#client, name: this.#name };
  }

  /** 1 read unit per 4 KB, 0.5 if `eventual`. */
  async get<T, P, K>(
    entity: Entity<T, P, K>,
    key: P & K,
    options: { eventual?: boolean } = {},
  ): Promise<Stored<T> | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#name, Key: entity.key(key), ConsistentRead: !options.eventual }),
    );
    return Item && entity.fromItem(Item, this.#now());
  }

  /** In the order of the keys. Undefined for a missing item. One call per 100 distinct keys, in parallel. */
  async getMany<T, P, K>(entity: Entity<T, P, K>, keys: readonly (P & K)[]): Promise<(Stored<T> | undefined)[]> {
    return this.getByKeys(
      entity,
      keys.map((key) => entity.key(key)),
    );
  }

  async getByKeys<T, P, K>(entity: Entity<T, P, K>, keys: readonly Key[]): Promise<(Stored<T> | undefined)[]> {
    return this.batchGet(...keys.map((key): ItemRead<T> => ({ key, fromItem: entity.fromItem })));
  }

  async batchGet<L extends readonly ItemRead<unknown>[]>(...reads: L): Promise<ReadValues<L>> {
    const distinct = [...new Map(reads.map(({ key }) => [identity(key), key])).values()];
    const items = new Map<string, Record<string, unknown>>();
    await Promise.all(
      slicesOf(distinct, BATCH_GET_KEYS).map((slice) =>
        untilProcessed<Record<string, unknown>>(
          'BatchGetItem',
          slice.map((key) => ({ ...key })),
          { tries: BATCH_GET_TRIES, longestPause: Infinity },
          async (Keys) => {
            const answer = await this.#client.send(
              new BatchGetCommand({ RequestItems: { [this.#name]: { Keys, ConsistentRead: true } } }),
            );
            for (const item of answer.Responses?.[this.#name] ?? []) items.set(identity(item as unknown as Key), item);
            return answer.UnprocessedKeys?.[this.#name]?.Keys ?? [];
          },
        ),
      ),
    );
    const values = reads.map(({ key, fromItem }) => {
      const item = items.get(identity(key));
      return item && fromItem(item, this.#now());
    });
    return values as ReadValues<L>;
  }

  /**
   * Values of one partition in the order of their sort keys. `bytes` is the size of the items of the page as JSON, also
   * of expired ones.
   */
  async query<T, P>(
    entity: QueryableEntity<T, P>,
    partition: P,
    options: QueryOptions,
  ): Promise<QueryPage<T> & { readonly bytes: number }> {
    const PK = entity.partition(partition);
    const { expression, values: bounds } = sortKeys(options);
    const values: Stored<T>[] = [];
    let bytes = 0;
    let after = options.after;
    let last: string | undefined;
    for (;;) {
      const answer = await this.#client.send(
        new QueryCommand({
          TableName: this.#name,
          KeyConditionExpression: `PK = :pk${expression}`,
          ExpressionAttributeValues: { ':pk': PK, ...bounds },
          ConsistentRead: !options.eventual,
          ScanIndexForward: !options.descending,
          // Reads one item more than the limit, to know whether there is a next page.
          Limit: options.limit - values.length + 1,
          ...(after !== undefined && { ExclusiveStartKey: { PK, SK: after } }),
        }),
      );
      for (const item of answer.Items ?? []) {
        if (values.length === options.limit || bytes >= (options.bytes ?? PAGE_BYTES))
          return { values, next: last, bytes };
        last = item.SK as string;
        bytes += sizeOf(item);
        const value = entity.fromItem(item, this.#now());
        if (value) values.push(value);
      }
      after = answer.LastEvaluatedKey?.SK as string | undefined;
      if (after === undefined) return { values, next: undefined, bytes };
    }
  }

  /**
   * Expired items count too, items with one of the attributes `without` do not. Costs as much as reading all items, with one
   * call per 1 MB.
   */
  async count<T, P>(
    entity: QueryableEntity<T, P>,
    partition: P,
    prefix: readonly string[] = [],
    { without = [] }: { without?: readonly string[] } = {},
  ): Promise<number> {
    const { expression, values: bounds } = sortKeys({ prefix, limit: 0 });
    return this.#countQuery({
      KeyConditionExpression: `PK = :pk${expression}`,
      ExpressionAttributeValues: { ':pk': entity.partition(partition), ...bounds },
      ...(without.length > 0 && {
        FilterExpression: without.map((_name, index) => `attribute_not_exists(#without${index})`).join(' AND '),
        ExpressionAttributeNames: Object.fromEntries(without.map((name, index) => [`#without${index}`, name])),
      }),
      ConsistentRead: true,
    });
  }

  /** Eventually consistent. Costs as much as reading the keys, with one call per 1 MB. */
  async countIndex(index: IndexName, parts: readonly string[]): Promise<number> {
    return this.#countQuery({
      IndexName: index,
      KeyConditionExpression: '#pk = :pk',
      ExpressionAttributeNames: { '#pk': `${index}pk` },
      ExpressionAttributeValues: { ':pk': indexPartition(parts) },
    });
  }

  async #countQuery(query: Omit<QueryCommandInput, 'TableName' | 'Select' | 'ExclusiveStartKey'>): Promise<number> {
    let count = 0;
    let after: Record<string, unknown> | undefined;
    do {
      const answer = await this.#client.send(
        new QueryCommand({
          TableName: this.#name,
          Select: 'COUNT',
          ...query,
          ...(after && { ExclusiveStartKey: after }),
        }),
      );
      count += answer.Count ?? 0;
      after = answer.LastEvaluatedKey;
    } while (after);
    return count;
  }

  /**
   * Keys of one partition of an index, in its order. A new item can be missing, and a deleted one can still be listed.
   */
  async queryIndex(
    index: IndexName,
    parts: readonly string[],
    { limit, after, descending = false, between }: Pick<QueryOptions, 'limit' | 'after' | 'descending' | 'between'>,
  ): Promise<KeyPage> {
    const partition = indexPartition(parts);
    const [pk, sk] = [`${index}pk`, `${index}sk`];
    const page = { keys: [] as Key[], sortKeys: [] as string[], positions: [] as string[] };
    let from = after === undefined ? undefined : { [pk]: partition, ...(JSON.parse(after) as Record<string, string>) };
    do {
      const answer = await this.#client.send(
        new QueryCommand({
          TableName: this.#name,
          IndexName: index,
          KeyConditionExpression: between ? '#pk = :pk AND #sk BETWEEN :from AND :to' : '#pk = :pk',
          ExpressionAttributeNames: { '#pk': pk, ...(between && { '#sk': sk }) },
          ExpressionAttributeValues: { ':pk': partition, ...(between && { ':from': between[0], ':to': between[1] }) },
          ScanIndexForward: !descending,
          Limit: limit - page.keys.length + 1,
          ...(from && { ExclusiveStartKey: from }),
        }),
      );
      for (const { PK = '', SK = '', [sk]: sortKey = '' } of (answer.Items ?? []) as Record<string, string>[]) {
        if (page.keys.length === limit) return { ...page, next: page.positions.at(-1) };
        page.keys.push({ PK, SK });
        page.sortKeys.push(sortKey);
        page.positions.push(JSON.stringify({ PK, SK, [sk]: sortKey }));
      }
      from = answer.LastEvaluatedKey as Record<string, string> | undefined;
    } while (from);
    return { ...page, next: undefined };
  }

  /**
   * All operations or none. A single one costs 1 write unit per KB. Several are one transaction of at most 100, for 2
   * units per KB.
   */
  async write(ops: readonly WriteOp[]): Promise<WriteOutcome> {
    const [first] = ops;
    if (!first) return 'done';
    try {
      if (ops.length > 1) await this.#transact(ops);
      else if ('put' in first) await this.#put(first.put, this.#conditionInput(first));
      else
        await this.#client.send(
          new DeleteCommand({ TableName: this.#name, Key: { ...first.remove }, ...this.#conditionInput(first) }),
        );
      return 'done';
    } catch (error) {
      return { conflicts: conflictsOf(error) };
    }
  }

  /**
   * A put with a condition writes a random write id. If the client repeats a put whose answer was lost, the condition
   * fails: the put has succeeded if the stored item has its write id.
   */
  async #put(item: Record<string, unknown>, condition: Pick<PutCommandInput, ConditionField>): Promise<void> {
    const writeId = condition.ConditionExpression === undefined ? undefined : randomBytes(6).toString('base64url');
    try {
      await this.#client.send(
        new PutCommand({
          TableName: this.#name,
          Item: writeId === undefined ? item : { ...item, _w: writeId },
          ...condition,
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException) || error.Item?._w?.S !== writeId) throw error;
    }
  }

  /** For an attempt of `retryOnConflict`. Returns `result`, or `conflict` if nothing was written. */
  async tryWrite<const R = 'done'>(ops: readonly WriteOp[], result = 'done' as R): Promise<R | 'conflict'> {
    return (await this.write(ops)) === 'done' ? result : 'conflict';
  }

  /**
   * Any number of operations without conditions, in one transaction after the other. Throws ABORTED if a conflict
   * stays. The caller can repeat a failed call.
   */
  async writeAll(ops: readonly WriteOp[]): Promise<void> {
    for (const group of inTransactions(ops.map((op) => ({ ops: [op] })))) {
      await retryOnConflict(() => this.tryWrite(group.flatMap((write) => write.ops)));
    }
  }

  /**
   * In any order, 1 write unit per KB of each item. Keys of several callers share calls of 25. If it throws, some items
   * may be deleted, and a repeated call deletes the others.
   */
  async removeKeys(keys: readonly Key[]): Promise<void> {
    const removals = keys.map((key): PendingRemoval => ({ key, ...Promise.withResolvers<undefined>() }));
    this.#removals.push(...removals);
    const maxLoops = () =>
      this.#removals.length < BATCH_WRITE_KEYS ? PARTIAL_BATCH_WRITES_AT_A_TIME : BATCH_WRITES_AT_A_TIME;
    while (this.#removals.length > 0 && this.#removalLoops < maxLoops()) void this.#removeQueued();
    // `Promise.all` would throw while other deletions continue.
    const outcomes = await Promise.allSettled(removals.map(({ promise }) => promise));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason as Error;
  }

  async #removeQueued(): Promise<void> {
    this.#removalLoops += 1;
    while (this.#removals.length > 0) {
      const batch = this.#removals.splice(0, BATCH_WRITE_KEYS);
      try {
        // DynamoDB rejects a call that contains the same key twice.
        await this.#removeBatch([...new Map(batch.map(({ key }) => [identity(key), key])).values()]);
        for (const { resolve } of batch) resolve(undefined);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#removalLoops -= 1;
  }

  async #removeBatch(keys: readonly Key[]): Promise<void> {
    await untilProcessed<NonNullable<BatchWriteCommandInput['RequestItems']>[string][number]>(
      'BatchWriteItem',
      keys.map(({ PK, SK }) => ({ DeleteRequest: { Key: { PK, SK } } })),
      { tries: BATCH_WRITE_TRIES, longestPause: BATCH_WRITE_LONGEST_PAUSE },
      async (requests) => {
        const answer = await this.#client.send(new BatchWriteCommand({ RequestItems: { [this.#name]: requests } }));
        return answer.UnprocessedItems?.[this.#name] ?? [];
      },
    );
  }

  /** The client does not repeat a cancelled transaction, so a throttled one is sent once more. */
  async #transact(ops: readonly WriteOp[]): Promise<void> {
    const TransactItems = ops.map((op) => this.#transactItem(op));
    try {
      await this.#client.send(new TransactWriteCommand({ TransactItems }));
    } catch (error) {
      if (!isThrottledTransaction(error)) throw error;
      await pause(THROTTLED_PAUSE);
      await this.#client.send(new TransactWriteCommand({ TransactItems }));
    }
  }

  #transactItem(op: WriteOp): NonNullable<TransactWriteCommandInput['TransactItems']>[number] {
    const common = { TableName: this.#name, ...this.#conditionInput(op) };
    return 'put' in op ? { Put: { ...common, Item: op.put } } : { Delete: { ...common, Key: { ...op.remove } } };
  }

  #conditionInput(op: WriteOp): Pick<PutCommandInput, ConditionField> {
    const { condition } = op;
    if (!condition) return {};
    // An insert must not conflict with an expired item, which no read returns.
    if (condition === ABSENT && 'put' in op && 'ttl' in op.put)
      return {
        ConditionExpression: `${ABSENT.expression} OR #ttl <= :now`,
        ExpressionAttributeNames: { '#ttl': 'ttl' },
        ExpressionAttributeValues: { ':now': Math.floor(this.#now() / 1000) },
      };
    return {
      ConditionExpression: condition.expression,
      ...(condition.values && {
        ExpressionAttributeNames: { '#r': '_r' },
        ExpressionAttributeValues: condition.values,
      }),
    };
  }

  /**
   * Writes the value if no item exists, or, with a `claim`, over the item that has it. Otherwise returns the stored
   * value, even an expired one. Pass its claim to replace it.
   */
  async putIf<T extends { claim: string }, P, K>(
    entity: Entity<T, P, K>,
    value: T & P & K,
    when: 'absent' | { claim: string },
  ): Promise<'done' | Stored<T>> {
    try {
      await this.#put(entity.toItem(value), {
        ConditionExpression: when === 'absent' ? ABSENT.expression : 'claim = :claim',
        ...(when !== 'absent' && { ExpressionAttributeValues: { ':claim': when.claim } }),
      });
      return 'done';
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      const stored = error.Item && entity.fromItem(fromAttributes(error.Item), 0);
      return stored ?? this.putIf(entity, value, 'absent');
    }
  }
}

async function untilProcessed<R>(
  operation: string,
  requests: R[],
  { tries, longestPause }: { tries: number; longestPause: number },
  send: (requests: R[]) => Promise<R[]>,
): Promise<void> {
  let pending = requests;
  for (let attempt = 0; pending.length > 0; attempt++) {
    if (attempt === tries) throw throttled(`${operation} left requests unprocessed`);
    if (attempt > 0) await sleep(Math.min(2 ** attempt * 10, longestPause) * (0.5 + Math.random()));
    pending = await send(pending);
  }
}

const opened = new Map<string, Table>();

export function openTable(env: Environment): Table {
  const name = env.TABLE_NAME;
  let table = opened.get(name);
  if (!table) {
    const client = documentClients.open(() => new DynamoDBClient(clientSettings));
    table = new Table(watchClient('table', client), name);
    opened.set(name, table);
  }
  return table;
}

export function inTransactions<T extends { readonly ops: readonly WriteOp[] }>(
  writes: readonly T[],
  { most = Infinity, operations = OPS_PER_TRANSACTION } = {},
): T[][] {
  const groups: T[][] = [];
  let remaining = { writes: 0, operations: 0, bytes: 0 };
  for (const write of writes) {
    let bytes = 0;
    for (const op of write.ops) if ('put' in op) bytes += jsonBytes(op.put);
    const group = groups.at(-1);
    const fits = remaining.writes > 0 && remaining.operations >= write.ops.length && remaining.bytes >= bytes;
    if (group && fits) group.push(write);
    else {
      groups.push([write]);
      remaining = { writes: most, operations, bytes: TRANSACTION_BYTES };
    }
    remaining = {
      writes: remaining.writes - 1,
      operations: remaining.operations - write.ops.length,
      bytes: remaining.bytes - bytes,
    };
  }
  return groups;
}

function sizeOf(item: Record<string, unknown>): number {
  const binary = Object.values(item).reduce<number>(
    (sum, value) => sum + (value instanceof Uint8Array ? value.length : 0),
    0,
  );
  const asJson = (_name: string, value: unknown) => (value instanceof Uint8Array ? null : value);
  return binary + Buffer.byteLength(binary > 0 ? JSON.stringify(item, asJson) : JSON.stringify(item));
}

function identity(key: Key): string {
  return `${key.PK}\n${key.SK}`;
}

function sortKeys({ prefix = [], between }: QueryOptions): { expression: string; values: Record<string, string> } {
  if (between)
    return { expression: ' AND SK BETWEEN :from AND :to', values: { ':from': between[0], ':to': between[1] } };
  if (prefix.length > 0)
    return { expression: ' AND begins_with(SK, :prefix)', values: { ':prefix': keyPrefix(prefix) } };
  return { expression: '', values: {} };
}
