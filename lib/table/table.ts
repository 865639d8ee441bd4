import { isDeepStrictEqual } from 'node:util';
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  type TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
  type BatchWriteCommandInput,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Environment, IndexName } from '../app/capability.ts';
import type { Entity, Key, Stored } from './entity.ts';
import { keyPrefix } from './keys.ts';
import { retryOnConflict } from './retryOnConflict.ts';
import { clientSettings } from '../app/sdkSettings.ts';

/** One conditional write. Built by `insert`, `replace`, `upsert` and `remove`; executed by `Table.write`. */
export type WriteOp =
  | { readonly put: Record<string, unknown>; readonly condition?: Condition }
  | { readonly remove: Key; readonly condition?: Condition };

interface Condition {
  readonly expression: string;
  readonly values?: Record<string, unknown>;
}

const ABSENT: Condition = { expression: 'attribute_not_exists(PK)' };
const atRevision = (revision: number): Condition => ({ expression: '#r = :r', values: { ':r': revision } });

/** Writes a value that must not exist yet; where its revisions begin matters to what is removed and made again under the same key. */
export function insert<T, P, K>(entity: Entity<T, P, K>, value: T & P & K, revision = 1): WriteOp {
  return { put: entity.toItem(value, revision), condition: ABSENT };
}

/** Writes a value over the revision that was read. */
export function replace<T, P, K>(entity: Entity<T, P, K>, value: T & P & K, revision: number): WriteOp {
  return { put: entity.toItem(value, revision + 1), condition: atRevision(revision) };
}

/** Writes a value whatever was there: for facts whose last writer wins and that nobody else reads before writing. */
export function upsert<T, P, K>(entity: Entity<T, P, K>, value: T & P & K): WriteOp {
  return { put: entity.toItem(value) };
}

/** Writes a value of a revision that is given, unless a later one is there. */
export function putUnlessNewer<T, P, K>(entity: Entity<T, P, K>, value: T & P & K, revision: number): WriteOp {
  return {
    put: entity.toItem(value, revision),
    condition: { expression: 'attribute_not_exists(PK) OR #r <= :r', values: { ':r': revision } },
  };
}

/** Removes what a key names, at the revision that was read when one is given. */
export function remove<T, P, K>(entity: Entity<T, P, K>, key: P & K, revision?: number): WriteOp {
  return revision === undefined
    ? { remove: entity.key(key) }
    : { remove: entity.key(key), condition: atRevision(revision) };
}

/** The outcome of a write: `done`, or the positions of the operations whose condition did not hold (nothing was written). */
export type WriteOutcome = 'done' | { readonly conflicts: readonly number[] };

export interface QueryPage<T> {
  readonly values: Stored<T>[];
  /** The sort key to continue after; undefined at the end. */
  readonly next: string | undefined;
}

/** Keys as an index holds them. */
export interface KeyPage {
  readonly keys: Key[];
  /** What to continue after at each of the keys. */
  readonly positions: string[];
  /** What to continue after; undefined at the end. */
  readonly next: string | undefined;
}

export interface QueryOptions {
  /** Only sort keys that start with these parts. */
  readonly prefix?: readonly string[];
  /** Continue after this sort key, as `Page.next` gave it. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly descending?: boolean;
  /** Eventually consistent at half the price; the default reads what was written last. */
  readonly eventual?: boolean;
  /** Only sort keys from the first to the second, both as they are stored and included; not together with `prefix`. */
  readonly between?: readonly [from: string, to: string] | undefined;
  /** Where the page ends early: at this size of its items as JSON; 4 MB when left out. */
  readonly bytes?: number | undefined;
}

/** One item that is wanted, and how it is read. */
export interface ItemRead<T> {
  readonly key: Key;
  readonly fromItem: (item: Record<string, unknown>, now: number) => Stored<T> | undefined;
}

/** The value of an entity under a key, for `Table.batchGet`. */
export function itemOf<T, P, K>(entity: Entity<T, P, K>, key: P & K): ItemRead<T> {
  return { key: entity.key(key), fromItem: entity.fromItem };
}

/** What a query needs of an entity; kinds of items that share a partition can be read by one that knows them all. */
export type QueryableEntity<T, P> = Pick<Entity<T, P, never>, 'partition' | 'fromItem'>;

/** Operations in one transaction: few enough that a conflict costs little, far below the 100 that DynamoDB takes. */
export const OPS_PER_TRANSACTION = 30;

/** How large one transaction's items may be as JSON, which is more than what DynamoDB counts towards its 4 MB. */
const TRANSACTION_BYTES = 3_800_000;

const BATCH_GET_KEYS = 100;
const BATCH_GET_TRIES = 6;
const BATCH_WRITE_KEYS = 25;
const BATCH_WRITE_TRIES = 12;
const BATCH_WRITE_LONGEST_PAUSE = 1_000;
const BATCH_WRITES_AT_A_TIME = 16;
const PARTIAL_BATCH_WRITES_AT_A_TIME = 4;
const MOVE_TRIES = 5;
/** A page ends early at this size of its items as JSON, so that an answer stays below the limit of 5 MB. */
const PAGE_BYTES = 4_000_000;

/** A key that is to be removed, and who waits for it. */
interface PendingRemoval extends PromiseWithResolvers<void> {
  readonly key: Key;
}

/** The one table. It knows keys, conditions and batches; what the items mean is the stores' business. */
export class Table {
  readonly #client: DynamoDBDocumentClient;
  readonly #name: string;
  readonly #now: () => number;
  /** Keys that wait to be removed, and how many are at it. */
  readonly #removals: PendingRemoval[] = [];
  #removers = 0;

  constructor(client: DynamoDBDocumentClient, name: string, now: () => number = Date.now) {
    this.#client = client;
    this.#name = name;
    this.#now = now;
  }

  /** By which client it is asked, and under which name: for what few functions ask of it, so that no other has it in its bundle. */
  get connection(): { readonly client: DynamoDBDocumentClient; readonly name: string } {
    return { client: this.#client, name: this.#name };
  }

  /** One value, read consistently unless `eventual`; 1 or 0.5 RRU per 4 KB. */
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

  /** The values of many keys, in the order of the keys, undefined where there is none. One call per 100 distinct keys, in parallel. */
  async getMany<T, P, K>(entity: Entity<T, P, K>, keys: readonly (P & K)[]): Promise<(Stored<T> | undefined)[]> {
    return this.getByKeys(
      entity,
      keys.map((key) => entity.key(key)),
    );
  }

  /** The same for keys as an index gives them. */
  async getByKeys<T, P, K>(entity: Entity<T, P, K>, keys: readonly Key[]): Promise<(Stored<T> | undefined)[]> {
    const items = await this.#batchGet(keys);
    return keys.map((key) => {
      const item = items.get(identity(key));
      return item && entity.fromItem(item, this.#now());
    });
  }

  /** Values of different entities, in the order of what is wanted, undefined where there is none. One call. */
  async batchGet<L extends readonly ItemRead<unknown>[]>(
    ...all: L
  ): Promise<{ [I in keyof L]: L[I] extends ItemRead<infer T> ? Stored<T> | undefined : never }> {
    const items = await this.#batchGet(all.map(({ key }) => key));
    const values = all.map(({ key, fromItem }) => {
      const item = items.get(identity(key));
      return item && fromItem(item, this.#now());
    });
    return values as { [I in keyof L]: L[I] extends ItemRead<infer T> ? Stored<T> | undefined : never };
  }

  async #batchGet(keys: readonly Key[]): Promise<Map<string, Record<string, unknown>>> {
    const distinct = [...new Map(keys.map((key) => [identity(key), key])).values()];
    const found = new Map<string, Record<string, unknown>>();
    const chunks: Key[][] = [];
    for (let i = 0; i < distinct.length; i += BATCH_GET_KEYS) chunks.push(distinct.slice(i, i + BATCH_GET_KEYS));
    await Promise.all(
      chunks.map(async (chunk) => {
        let pending: Record<string, unknown>[] = chunk as unknown as Record<string, unknown>[];
        for (let attempt = 0; pending.length > 0; attempt++) {
          if (attempt === BATCH_GET_TRIES)
            throw Object.assign(new Error('BatchGetItem left keys unprocessed'), { name: 'ThrottlingException' });
          if (attempt > 0)
            await new Promise((resolve) => setTimeout(resolve, 2 ** attempt * 10 * (0.5 + Math.random())));
          const answer = await this.#client.send(
            new BatchGetCommand({ RequestItems: { [this.#name]: { Keys: pending, ConsistentRead: true } } }),
          );
          for (const item of answer.Responses?.[this.#name] ?? []) found.set(identity(item as unknown as Key), item);
          pending = answer.UnprocessedKeys?.[this.#name]?.Keys ?? [];
        }
      }),
    );
    return found;
  }

  /**
   * The values of one partition in the order of their sort keys, up to `limit` or about 4 MB, whichever comes first; `bytes` is
   * how much was read.
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
          // One more than asked for tells whether there is a next page, so that a last page never leads to an empty one.
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

  /** How many items a partition has, or those whose sort keys start with these parts; those whose time to live is over included. Costs as much as reading them: one call per 1 MB. */
  async count<T, P>(
    entity: QueryableEntity<T, P>,
    partition: P,
    prefix: readonly string[] = [],
    { without }: { /** Only items without this attribute; the others are read as well. */ without?: string } = {},
  ): Promise<number> {
    const { expression, values: bounds } = sortKeys({ prefix, limit: 0 });
    let count = 0;
    let after: Record<string, unknown> | undefined;
    do {
      const answer = await this.#client.send(
        new QueryCommand({
          TableName: this.#name,
          KeyConditionExpression: `PK = :pk${expression}`,
          ExpressionAttributeValues: { ':pk': entity.partition(partition), ...bounds },
          ...(without !== undefined && {
            FilterExpression: 'attribute_not_exists(#without)',
            ExpressionAttributeNames: { '#without': without },
          }),
          Select: 'COUNT',
          ConsistentRead: true,
          ...(after && { ExclusiveStartKey: after }),
        }),
      );
      count += answer.Count ?? 0;
      after = answer.LastEvaluatedKey;
    } while (after);
    return count;
  }

  /**
   * The keys that one partition of an index holds (`indexPartition` makes its name), in the order of the index, up to `limit`.
   * Indexes follow the table a moment later: what was written just now can be missing, what was removed just now can still be there.
   */
  async queryIndex(
    index: IndexName,
    partition: string,
    { limit, after, descending = false, between }: Pick<QueryOptions, 'limit' | 'after' | 'descending' | 'between'>,
  ): Promise<KeyPage> {
    const [pk, sk] = [`${index}pk`, `${index}sk`];
    const [keys, positions]: [Key[], string[]] = [[], []];
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
          // One more than asked for, as in `query`.
          Limit: limit - keys.length + 1,
          ...(from && { ExclusiveStartKey: from }),
        }),
      );
      for (const item of answer.Items ?? []) {
        if (keys.length === limit) return { keys, positions, next: positions.at(-1) };
        keys.push({ PK: item.PK as string, SK: item.SK as string });
        positions.push(JSON.stringify({ PK: item.PK, SK: item.SK, [sk]: item[sk] }));
      }
      from = answer.LastEvaluatedKey as Record<string, string> | undefined;
    } while (from);
    return { keys, positions, next: undefined };
  }

  /**
   * Writes all or nothing: a single operation as a plain conditional write (1 WRU per KB), several as one transaction
   * (2 WRU per KB, at most 100 operations).
   */
  async write(ops: readonly WriteOp[]): Promise<WriteOutcome> {
    const [first] = ops;
    if (!first) return 'done';
    try {
      if (ops.length > 1)
        await this.#client.send(new TransactWriteCommand({ TransactItems: ops.map((op) => this.#transactItem(op)) }));
      else if ('put' in first)
        await this.#client.send(
          new PutCommand({
            TableName: this.#name,
            Item: first.put,
            ...conditionInput(first.condition),
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
      else
        await this.#client.send(
          new DeleteCommand({ TableName: this.#name, Key: { ...first.remove }, ...conditionInput(first.condition) }),
        );
      return 'done';
    } catch (error) {
      return isOwnRepetition(first, error) ? 'done' : { conflicts: conflictsOf(error) };
    }
  }

  /**
   * Writes any number of operations without conditions, in transactions one after the other: a retry after a failure
   * half-way writes the same. Again when another transaction got in the way; ABORTED when one always does.
   */
  async writeAll(ops: readonly WriteOp[]): Promise<void> {
    for (const group of inTransactions(ops.map((op) => ({ ops: [op] })))) {
      await retryOnConflict(async () =>
        (await this.write(group.flatMap((one) => one.ops))) === 'done' ? 'done' : 'conflict',
      );
    }
  }

  /**
   * Removes what is under these keys, whatever it is and whether it is there, in no order: 1 WRU per KB of each item. Keys of several callers share
   * calls of 25, several calls at a time. When it throws some may be gone; again removes the rest.
   */
  async removeKeys(keys: readonly Key[]): Promise<void> {
    const removals = keys.map((key): PendingRemoval => ({ key, ...Promise.withResolvers<void>() }));
    this.#removals.push(...removals);
    // A call that is not full waits for others to join it while some are under way.
    const workerLimit = () =>
      this.#removals.length < BATCH_WRITE_KEYS ? PARTIAL_BATCH_WRITES_AT_A_TIME : BATCH_WRITES_AT_A_TIME;
    while (this.#removals.length > 0 && this.#removers < workerLimit()) void this.#workOnRemovals();
    // All are waited for: nothing may go on in the background once the caller knows of an error.
    const failed = (await Promise.allSettled(removals.map(({ promise }) => promise))).find(
      ({ status }) => status === 'rejected',
    );
    if (failed) throw (failed as PromiseRejectedResult).reason;
  }

  async #workOnRemovals(): Promise<void> {
    this.#removers += 1;
    while (this.#removals.length > 0) {
      const some = this.#removals.splice(0, BATCH_WRITE_KEYS);
      try {
        // A call takes no key twice.
        await this.#removeBatch([...new Map(some.map(({ key }) => [identity(key), key])).values()]);
        for (const { resolve } of some) resolve();
      } catch (error) {
        for (const { reject } of some) reject(error);
      }
    }
    this.#removers -= 1;
  }

  async #removeBatch(keys: readonly Key[]): Promise<void> {
    let pending: NonNullable<BatchWriteCommandInput['RequestItems']>[string] = keys.map(({ PK, SK }) => ({
      DeleteRequest: { Key: { PK, SK } },
    }));
    for (let attempt = 0; pending.length > 0; attempt++) {
      if (attempt === BATCH_WRITE_TRIES)
        throw Object.assign(new Error('BatchWriteItem left keys unprocessed'), { name: 'ThrottlingException' });
      if (attempt > 0)
        await new Promise((resolve) =>
          setTimeout(resolve, Math.min(2 ** attempt * 10, BATCH_WRITE_LONGEST_PAUSE) * (0.5 + Math.random())),
        );
      const answer = await this.#client.send(new BatchWriteCommand({ RequestItems: { [this.#name]: pending } }));
      pending = answer.UnprocessedItems?.[this.#name] ?? [];
    }
  }

  #transactItem(op: WriteOp): NonNullable<TransactWriteCommandInput['TransactItems']>[number] {
    const common = { TableName: this.#name, ...conditionInput(op.condition) };
    return 'put' in op ? { Put: { ...common, Item: op.put } } : { Delete: { ...common, Key: { ...op.remove } } };
  }

  /**
   * Puts a value where there is none, or over the one whose `claim` is given; otherwise gives what is there. What has
   * expired counts as there: the caller sees it and can take its place by its claim.
   */
  async putIf<T extends { claim: string }, P, K>(
    entity: Entity<T, P, K>,
    value: T & P & K,
    when: 'absent' | { claim: string },
  ): Promise<'done' | Stored<T>> {
    try {
      await this.#client.send(
        new PutCommand({
          TableName: this.#name,
          Item: { ...entity.toItem(value) },
          ConditionExpression: when === 'absent' ? 'attribute_not_exists(PK)' : 'claim = :claim',
          ...(when !== 'absent' && { ExpressionAttributeValues: { ':claim': when.claim } }),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return 'done';
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      // The exception carries the item as the wire has it; no item means that it expired between two calls.
      const there = error.Item && entity.fromItem(unmarshall(error.Item), 0);
      // The SDK repeats a write whose answer was lost: what is there may be this very one.
      if (there?.claim === value.claim) return 'done';
      return there ?? this.putIf(entity, value, 'absent');
    }
  }

  /**
   * Adds to a counter while it stays below `limit`, atomically; gives whether it did. The counter's item is made at the
   * first call and expires at `expiresAt` (epoch seconds).
   */
  async countUp<P, K>(
    entity: Entity<{ count: number; expiresAt: number }, P, K>,
    key: P & K,
    limit: number,
    expiresAt: number,
  ): Promise<boolean> {
    try {
      await this.#client.send(
        new UpdateCommand({
          TableName: this.#name,
          Key: { ...entity.key(key) },
          UpdateExpression:
            'SET #count = if_not_exists(#count, :zero) + :one, #expiresAt = :expiresAt, #ttl = :expiresAt, #t = :t, #v = :v, #r = :one',
          ConditionExpression: 'attribute_not_exists(#count) OR #count < :limit',
          ExpressionAttributeNames: {
            '#count': 'count',
            '#expiresAt': 'expiresAt',
            '#ttl': 'ttl',
            '#t': '_t',
            '#v': '_v',
            '#r': '_r',
          },
          ExpressionAttributeValues: {
            ':zero': 0,
            ':one': 1,
            ':limit': limit,
            ':expiresAt': expiresAt,
            ':t': entity.type,
            ':v': entity.version,
          },
        }),
      );
      return true;
    } catch (error) {
      if (errorName(error) === 'ConditionalCheckFailedException') return false;
      throw error;
    }
  }

  /** Adds to a counter that has no limit and does not expire, in one atomic write, and returns its new value. The first call creates the item. */
  async increment<P, K>(entity: Entity<{ last: number }, P, K>, key: P & K, by: number): Promise<number> {
    const { Attributes } = await this.#client.send(
      new UpdateCommand({
        TableName: this.#name,
        Key: { ...entity.key(key) },
        UpdateExpression: 'SET #t = :t, #v = :v, #r = :one ADD #last :by',
        ExpressionAttributeNames: { '#last': 'last', '#t': '_t', '#v': '_v', '#r': '_r' },
        ExpressionAttributeValues: { ':by': by, ':t': entity.type, ':v': entity.version, ':one': 1 },
        ReturnValues: 'UPDATED_NEW',
      }),
    );
    return Attributes?.last as number;
  }

  /**
   * Moves a number on by `by`, atomically, and gives what it was before: what is stored, or `from` where nothing is or less than `least`.
   * The item is made at the first call and expires at `expiresAt` (epoch seconds). One call while the number is moved often, two otherwise.
   */
  async advanceNumber<P, K>(
    entity: Entity<{ at: number; expiresAt: number }, P, K>,
    key: P & K,
    { by, least, from, expiresAt }: { by: number; least: number; from: number; expiresAt: number },
  ): Promise<number> {
    const update = async (at: string, condition: string, values: Record<string, number>) => {
      const { Attributes } = await this.#client.send(
        new UpdateCommand({
          TableName: this.#name,
          Key: { ...entity.key(key) },
          UpdateExpression: `SET #at = ${at}, #expiresAt = :expiresAt, #ttl = :expiresAt, #t = :t, #v = :v, #r = :one`,
          ConditionExpression: condition,
          ExpressionAttributeNames: {
            '#at': 'at',
            '#expiresAt': 'expiresAt',
            '#ttl': 'ttl',
            '#t': '_t',
            '#v': '_v',
            '#r': '_r',
          },
          ExpressionAttributeValues: {
            ...values,
            ':least': least,
            ':expiresAt': expiresAt,
            ':t': entity.type,
            ':v': entity.version,
            ':one': 1,
          },
          ReturnValues: 'UPDATED_NEW',
        }),
      );
      return (Attributes?.at as number) - by;
    };
    for (let attempt = 0; attempt < MOVE_TRIES; attempt++) {
      for (const [at, condition, values] of [
        ['#at + :by', '#at >= :least', { ':by': by }],
        [':to', 'attribute_not_exists(#at) OR #at < :least', { ':to': from + by }],
      ] as const) {
        try {
          return await update(at, condition, values);
        } catch (error) {
          // Who meets the wrong case tries the other one; that somebody changes the case in between is over after a round or two.
          if (errorName(error) !== 'ConditionalCheckFailedException') throw error;
        }
      }
    }
    throw Object.assign(new Error('Others kept moving the number'), { name: 'ThrottlingException' });
  }
}

const opened = new Map<string, Table>();

/** The process's one client of the table: connections and credentials are shared by all stores. */
export function openTable(env: Environment): Table {
  const name = env.TABLE_NAME;
  let table = opened.get(name);
  if (!table) {
    const client = new DynamoDBClient(clientSettings);
    table = new Table(DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }), name);
    opened.set(name, table);
  }
  return table;
}

/** Groups writes that belong together, so that each group goes into one transaction: at most `most` of them, or `operations` in all. */
export function inTransactions<T extends { readonly ops: readonly WriteOp[] }>(
  writes: readonly T[],
  { most = Infinity, operations = OPS_PER_TRANSACTION } = {},
): T[][] {
  const groups: T[][] = [];
  let room = { writes: 0, operations: 0, bytes: 0 };
  for (const write of writes) {
    const bytes = write.ops.reduce((sum, op) => sum + ('put' in op ? Buffer.byteLength(JSON.stringify(op.put)) : 0), 0);
    const group = groups.at(-1);
    if (group && room.writes > 0 && room.operations >= write.ops.length && room.bytes >= bytes) group.push(write);
    else {
      groups.push([write]);
      room = { writes: most, operations, bytes: TRANSACTION_BYTES };
    }
    room = { writes: room.writes - 1, operations: room.operations - write.ops.length, bytes: room.bytes - bytes };
  }
  return groups;
}

/** The size of an item as JSON; of bytes, which JSON would spell out, how many there are. */
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

/** The part of a key condition that is about sort keys. */
function sortKeys({ prefix = [], between }: QueryOptions): { expression: string; values: Record<string, string> } {
  if (between)
    return { expression: ' AND SK BETWEEN :from AND :to', values: { ':from': between[0], ':to': between[1] } };
  if (prefix.length > 0)
    return { expression: ' AND begins_with(SK, :prefix)', values: { ':prefix': keyPrefix(prefix) } };
  return { expression: '', values: {} };
}

function conditionInput(condition: Condition | undefined) {
  if (!condition) return {};
  return {
    ConditionExpression: condition.expression,
    ...(condition.values && { ExpressionAttributeNames: { '#r': '_r' }, ExpressionAttributeValues: condition.values }),
  };
}

function errorName(error: unknown): string {
  return (error as { name?: string }).name ?? '';
}

/**
 * Whether an insertion meets its own item: the SDK repeats a call whose answer was lost, and the repetition finds what the
 * first one wrote. (A transaction has a token for that; a replacement is decided anew, as two writers may want the same.)
 */
function isOwnRepetition(op: WriteOp, error: unknown): boolean {
  if (!('put' in op) || op.condition !== ABSENT || !(error instanceof ConditionalCheckFailedException)) return false;
  const repeated = (error.$metadata.attempts ?? 1) > 1;
  return repeated && error.Item !== undefined && isDeepStrictEqual(unmarshall(error.Item), op.put);
}

/** Which operations met a condition that did not hold or another transaction; anything else that went wrong is thrown on. */
function conflictsOf(error: unknown): number[] {
  if (errorName(error) === 'ConditionalCheckFailedException' || errorName(error) === 'TransactionConflictException')
    return [0];
  if (errorName(error) !== 'TransactionCanceledException') throw error;
  const reasons = (error as TransactionCanceledException).CancellationReasons ?? [];
  const conflicts = reasons.flatMap(({ Code }, index) =>
    Code === 'ConditionalCheckFailed' || Code === 'TransactionConflict' ? [index] : [],
  );
  if (conflicts.length > 0) return conflicts;
  const throttled = reasons.some(({ Code }) => Code === 'ThrottlingError' || Code === 'ProvisionedThroughputExceeded');
  throw throttled
    ? Object.assign(new Error('The transaction was throttled', { cause: error }), { name: 'ThrottlingException' })
    : error;
}
