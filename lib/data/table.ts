import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException, DynamoDBClient, type TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand, DeleteCommand, DynamoDBDocumentClient, GetCommand, PutCommand, QueryCommand, TransactWriteCommand, UpdateCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Environment } from '../capability.ts';
import type { Entity, Key, Stored } from './entity.ts';
import { keyPrefix } from './keys.ts';
import { settle } from './settle.ts';

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

/** Writes a value that must not exist yet. */
export function insert<T, P, K>(entity: Entity<T, P, K>, value: T & P & K): WriteOp {
  return { put: entity.toItem(value), condition: ABSENT };
}

/** Writes a value over the revision that was read. */
export function replace<T, P, K>(entity: Entity<T, P, K>, value: T & P & K, revision: number): WriteOp {
  return { put: entity.toItem(value, revision + 1), condition: atRevision(revision) };
}

/** Writes a value whatever was there: for facts whose last writer wins and that nobody else reads before writing. */
export function upsert<T, P, K>(entity: Entity<T, P, K>, value: T & P & K): WriteOp {
  return { put: entity.toItem(value) };
}

/** Removes what a key names, at the revision that was read when one is given. */
export function remove<T, P, K>(entity: Entity<T, P, K>, key: P & K, revision?: number): WriteOp {
  return revision === undefined ? { remove: entity.key(key) } : { remove: entity.key(key), condition: atRevision(revision) };
}

/** The outcome of a write: `done`, or the positions of the operations whose condition did not hold (nothing was written). */
export type WriteOutcome = 'done' | { readonly conflicts: readonly number[] };

export interface Page<T> {
  readonly values: Stored<T>[];
  /** The sort key to continue after; undefined at the end. */
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
}

/** Operations in one transaction: few enough that a conflict costs little, far below the 100 that DynamoDB takes. */
export const OPS_PER_TRANSACTION = 30;

const BATCH_GET_KEYS = 100;
const BATCH_GET_TRIES = 6;
/** A page ends early at this size of its items as JSON, so that an answer stays below the limit of 5 MB. */
const PAGE_BYTES = 4_000_000;

/** The one table. It knows keys, conditions and batches; what the items mean is the stores' business. */
export class Table {
  readonly #client: DynamoDBDocumentClient;
  readonly #name: string;
  readonly #now: () => number;

  constructor(client: DynamoDBDocumentClient, name: string, now: () => number = Date.now) {
    this.#client = client;
    this.#name = name;
    this.#now = now;
  }

  /** One value, read consistently unless `eventual`; 1 or 0.5 RRU per 4 KB. */
  async get<T, P, K>(entity: Entity<T, P, K>, key: P & K, options: { eventual?: boolean } = {}): Promise<Stored<T> | undefined> {
    const { Item } = await this.#client.send(new GetCommand({ TableName: this.#name, Key: entity.key(key), ConsistentRead: !options.eventual }));
    return Item && entity.fromItem(Item, this.#now());
  }

  /** The values of many keys, in the order of the keys, undefined where there is none. One call per 100 distinct keys, in parallel. */
  async getMany<T, P, K>(entity: Entity<T, P, K>, keys: readonly (P & K)[]): Promise<(Stored<T> | undefined)[]> {
    const wanted = keys.map((key) => entity.key(key));
    const items = await this.#batchGet(wanted);
    return wanted.map((key) => {
      const item = items.get(identity(key));
      return item && entity.fromItem(item, this.#now());
    });
  }

  async #batchGet(keys: readonly Key[]): Promise<Map<string, Record<string, unknown>>> {
    const distinct = [...new Map(keys.map((key) => [identity(key), key])).values()];
    const found = new Map<string, Record<string, unknown>>();
    const chunks: Key[][] = [];
    for (let i = 0; i < distinct.length; i += BATCH_GET_KEYS) chunks.push(distinct.slice(i, i + BATCH_GET_KEYS));
    await Promise.all(chunks.map(async (chunk) => {
      let pending: Record<string, unknown>[] = chunk as unknown as Record<string, unknown>[];
      for (let attempt = 0; pending.length > 0; attempt++) {
        if (attempt === BATCH_GET_TRIES) throw Object.assign(new Error('BatchGetItem left keys unprocessed'), { name: 'ThrottlingException' });
        if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, 2 ** attempt * 10 * (0.5 + Math.random())));
        const answer = await this.#client.send(new BatchGetCommand({ RequestItems: { [this.#name]: { Keys: pending, ConsistentRead: true } } }));
        for (const item of answer.Responses?.[this.#name] ?? []) found.set(identity(item as unknown as Key), item);
        pending = answer.UnprocessedKeys?.[this.#name]?.Keys ?? [];
      }
    }));
    return found;
  }

  /** The values of one partition in the order of their sort keys, up to `limit` or about 4 MB, whichever comes first. */
  async query<T, P, K>(entity: Entity<T, P, K>, partition: P, options: QueryOptions): Promise<Page<T>> {
    const PK = entity.partition(partition);
    const prefix = keyPrefix(options.prefix ?? []);
    const values: Stored<T>[] = [];
    let bytes = 0;
    let after = options.after;
    let last: string | undefined;
    for (;;) {
      const answer = await this.#client.send(new QueryCommand({
        TableName: this.#name,
        KeyConditionExpression: prefix ? 'PK = :pk AND begins_with(SK, :prefix)' : 'PK = :pk',
        ExpressionAttributeValues: { ':pk': PK, ...(prefix && { ':prefix': prefix }) },
        ConsistentRead: !options.eventual,
        ScanIndexForward: !options.descending,
        // One more than asked for tells whether there is a next page, so that a last page never leads to an empty one.
        Limit: options.limit - values.length + 1,
        ...(after !== undefined && { ExclusiveStartKey: { PK, SK: after } }),
      }));
      for (const item of answer.Items ?? []) {
        if (values.length === options.limit || bytes >= PAGE_BYTES) return { values, next: last };
        last = item.SK as string;
        bytes += Buffer.byteLength(JSON.stringify(item));
        const value = entity.fromItem(item, this.#now());
        if (value) values.push(value);
      }
      after = answer.LastEvaluatedKey?.SK as string | undefined;
      if (after === undefined) return { values, next: undefined };
    }
  }

  /**
   * Writes all or nothing: a single operation as a plain conditional write (1 WRU per KB), several as one transaction
   * (2 WRU per KB, at most 100 operations).
   */
  async write(ops: readonly WriteOp[]): Promise<WriteOutcome> {
    const [first] = ops;
    if (!first) return 'done';
    try {
      if (ops.length > 1) await this.#client.send(new TransactWriteCommand({ TransactItems: ops.map((op) => this.#transactItem(op)) }));
      else if ('put' in first) await this.#client.send(new PutCommand({ TableName: this.#name, Item: first.put, ...conditionInput(first.condition), ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }));
      else await this.#client.send(new DeleteCommand({ TableName: this.#name, Key: { ...first.remove }, ...conditionInput(first.condition) }));
      return 'done';
    } catch (error) {
      return isOwnRepetition(first, error) ? 'done' : { conflicts: conflictsOf(error) };
    }
  }

  /**
   * Writes any number of operations without conditions, in transactions one after the other: a retry after a failure
   * half-way writes the same. Again when another transaction got in the way; ABORTED when one always does.
   */
  async writeSurely(ops: readonly WriteOp[]): Promise<void> {
    for (let i = 0; i < ops.length; i += OPS_PER_TRANSACTION) {
      const some = ops.slice(i, i + OPS_PER_TRANSACTION);
      await settle(async () => ((await this.write(some)) === 'done' ? 'done' : 'conflict'));
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
  async putIf<T extends { claim: string }, P, K>(entity: Entity<T, P, K>, value: T & P & K, when: 'absent' | { claim: string }): Promise<'done' | Stored<T>> {
    try {
      await this.#client.send(new PutCommand({
        TableName: this.#name,
        Item: { ...entity.toItem(value) },
        ConditionExpression: when === 'absent' ? 'attribute_not_exists(PK)' : 'claim = :claim',
        ...(when !== 'absent' && { ExpressionAttributeValues: { ':claim': when.claim } }),
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }));
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
  async countUp<P, K>(entity: Entity<{ count: number; expiresAt: number }, P, K>, key: P & K, limit: number, expiresAt: number): Promise<boolean> {
    try {
      await this.#client.send(new UpdateCommand({
        TableName: this.#name,
        Key: { ...entity.key(key) },
        UpdateExpression: 'SET #count = if_not_exists(#count, :zero) + :one, #expiresAt = :expiresAt, #ttl = :expiresAt, #t = :t, #v = :v, #r = :one',
        ConditionExpression: 'attribute_not_exists(#count) OR #count < :limit',
        ExpressionAttributeNames: { '#count': 'count', '#expiresAt': 'expiresAt', '#ttl': 'ttl', '#t': '_t', '#v': '_v', '#r': '_r' },
        ExpressionAttributeValues: { ':zero': 0, ':one': 1, ':limit': limit, ':expiresAt': expiresAt, ':t': entity.type, ':v': entity.version },
      }));
      return true;
    } catch (error) {
      if (errorName(error) === 'ConditionalCheckFailedException') return false;
      throw error;
    }
  }
}

const opened = new Map<string, Table>();

/** The process's one client of the table: connections and credentials are shared by all stores. */
export function openTable(env: Environment): Table {
  const name = env.TABLE_NAME;
  let table = opened.get(name);
  if (!table) {
    const client = new DynamoDBClient({ maxAttempts: 3, requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000 } });
    table = new Table(DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } }), name);
    opened.set(name, table);
  }
  return table;
}

function identity(key: Key): string {
  return `${key.PK}\n${key.SK}`;
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
  if (errorName(error) === 'ConditionalCheckFailedException' || errorName(error) === 'TransactionConflictException') return [0];
  if (errorName(error) !== 'TransactionCanceledException') throw error;
  const reasons = (error as TransactionCanceledException).CancellationReasons ?? [];
  const conflicts = reasons.flatMap(({ Code }, index) => (Code === 'ConditionalCheckFailed' || Code === 'TransactionConflict' ? [index] : []));
  if (conflicts.length > 0) return conflicts;
  const throttled = reasons.some(({ Code }) => Code === 'ThrottlingError' || Code === 'ProvisionedThroughputExceeded');
  throw throttled ? Object.assign(new Error('The transaction was throttled', { cause: error }), { name: 'ThrottlingException' }) : error;
}
