import { BoundedMap } from '../../../lib/shared/boundedMap.ts';
import { type AwsAnswer, jsonAnswer } from '../iam/awsService.ts';

export interface Write {
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Multiplies the recorded capacity by `share`. */
export type SendWrite = (write: Write, share: number) => Promise<AwsAnswer>;

/** A write as actions of a transaction. */
interface Unit {
  readonly write: Write;
  readonly actions: readonly string[];
  /** The keys of the written items, as JSON texts. */
  readonly keys: readonly string[];
  readonly isTransaction: boolean;
  readonly success: AwsAnswer;
  readonly promise: PromiseWithResolvers<AwsAnswer>;
}

type Key = Readonly<Record<string, unknown>>;

/** DynamoDB allows up to 100 actions in a transaction. */
const MAX_ACTIONS = 100;
const MAX_CHARACTERS = 2_000_000;
/** After so many cancelled groups, a write is sent alone. */
const MAX_ROUNDS = 3;
/** More than the transactions that the SDK may still repeat. */
const MAX_TOKENS = 1_000;

const SHARED = new Set([
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'Item',
  'Key',
  'ReturnValuesOnConditionCheckFailure',
  'TableName',
  'UpdateExpression',
]);
const actionNames: Readonly<Record<string, string>> = { PutItem: 'Put', UpdateItem: 'Update', DeleteItem: 'Delete' };
const NO_RESULT = jsonAnswer({});
const ALL_PROCESSED = jsonAnswer({ UnprocessedItems: {} });

/**
 * The engine processes one call at a time and writes to the disk at the end of each, which takes most of the time. So
 * waiting writes are sent as one transaction. If the engine cancels a group, each failed write is sent alone, and the
 * others as a group again.
 */
export class GroupedWrites {
  readonly #send: SendWrite;
  readonly #keyNames: ReadonlyMap<string, readonly string[]>;
  /** The SDK repeats a transaction with its token, which a group does not contain. */
  readonly #byToken = new BoundedMap<string, Promise<AwsAnswer>>(MAX_TOKENS);
  #waiting: Unit[] = [];
  #sending = false;

  /** Writes to tables without `keyNames` are not grouped. */
  constructor(send: SendWrite, keyNames: ReadonlyMap<string, readonly string[]>) {
    this.#send = send;
    this.#keyNames = keyNames;
  }

  /** Rejects if the engine does not answer. */
  send(write: Write): Promise<AwsAnswer> {
    const token = write.input.ClientRequestToken;
    const earlier = typeof token === 'string' ? this.#byToken.get(token) : undefined;
    if (earlier) return earlier;
    const unit = unitOf(write, this.#keyNames);
    if (!unit) return this.#send(write, 1);
    if (typeof token === 'string') this.#keepAnswer(token, unit.promise.promise);
    this.#waiting.push(unit);
    if (!this.#sending) void this.#sendWaiting();
    return unit.promise.promise;
  }

  #keepAnswer(token: string, answer: Promise<AwsAnswer>): void {
    this.#byToken.set(token, answer);
    const deleteAnswer = () => void this.#byToken.delete(token);
    // A failed transaction may succeed when it is repeated.
    answer.then(({ status }) => status !== 200 && deleteAnswer(), deleteAnswer);
  }

  async #sendWaiting(): Promise<void> {
    this.#sending = true;
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup();
      await this.#sendGroup(group, MAX_ROUNDS).catch((error: unknown) => {
        for (const { promise } of group) promise.reject(error);
      });
    }
    this.#sending = false;
  }

  #takeGroup(): Unit[] {
    const group: Unit[] = [];
    const remaining: Unit[] = [];
    const keys = new Set<string>();
    let [actions, characters] = [0, 0];
    for (const unit of this.#waiting) {
      const fits =
        group.length === 0 ||
        (actions + unit.actions.length <= MAX_ACTIONS &&
          characters + unit.write.body.length <= MAX_CHARACTERS &&
          !unit.keys.some((key) => keys.has(key)));
      (fits ? group : remaining).push(unit);
      // The keys count even if the write does not fit. Otherwise a later write to the same item could overtake it.
      for (const key of unit.keys) keys.add(key);
      if (fits) {
        actions += unit.actions.length;
        characters += unit.write.body.length;
      }
    }
    this.#waiting = remaining;
    return group;
  }

  async #sendGroup(group: readonly Unit[], rounds: number): Promise<void> {
    const [first] = group;
    if (!first) return;
    const isAlone = group.length === 1 && (first.actions.length === 1 || first.isTransaction);
    if (isAlone || rounds === 0) {
      await Promise.all(group.map((unit) => this.#sendUnitAlone(unit)));
      return;
    }
    const actions = group.flatMap((unit) => unit.actions);
    const transaction = {
      operation: 'TransactWriteItems',
      input: { ReturnConsumedCapacity: 'INDEXES' },
      body: `{"ReturnConsumedCapacity":"INDEXES","TransactItems":[${actions.join()}]}`,
    };
    const answer = await this.#send(transaction, capacityShare(group));
    if (answer.status === 200) {
      for (const { promise, success } of group) promise.resolve(success);
      return;
    }
    if (answer.status >= 500) {
      for (const { promise } of group) promise.resolve(answer);
      return;
    }
    const failed = failedUnits(group, answer);
    await Promise.all([...failed].map((unit) => this.#sendUnitAlone(unit)));
    await this.#sendGroup(
      group.filter((unit) => !failed.has(unit)),
      rounds - 1,
    );
  }

  async #sendUnitAlone({ write, promise }: Unit): Promise<void> {
    promise.resolve(await this.#send(write, 1));
  }
}

/**
 * In a transaction, a write consumes twice its usual units, so half of them is recorded for single writes. Assumes that
 * all actions consume the same.
 */
function capacityShare(group: readonly Unit[]): number {
  let [actions, recordedActions] = [0, 0];
  for (const unit of group) {
    actions += unit.actions.length;
    recordedActions += unit.actions.length * (unit.isTransaction ? 1 : 0.5);
  }
  return recordedActions / actions;
}

/** Returns all writes of the group if the answer names none. */
function failedUnits(group: readonly Unit[], { body }: AwsAnswer): ReadonlySet<Unit> {
  const { CancellationReasons: reasons = [] } = JSON.parse(body) as { CancellationReasons?: { Code?: string }[] };
  const failed = new Set<Unit>();
  let reasonIndex = 0;
  for (const unit of group) {
    for (const _action of unit.actions) {
      const { Code: code = 'None' } = reasons[reasonIndex++] ?? {};
      if (code !== 'None') failed.add(unit);
    }
  }
  return failed.size > 0 ? failed : new Set(group);
}

/** Returns undefined unless a transaction is known to have the same effect as the write. */
function unitOf(write: Write, keyNames: ReadonlyMap<string, readonly string[]>): Unit | undefined {
  const keys: string[] = [];
  const addKey = (table: unknown, item: unknown) => {
    const names = keyNames.get(String(table));
    if (!names || typeof item !== 'object' || item === null) return false;
    keys.push(JSON.stringify([table, ...names.map((name) => (item as Key)[name])]));
    return true;
  };
  const unit = (actions: readonly string[], success: AwsAnswer, isTransaction = false): Unit | undefined =>
    actions.length > 0 && actions.length <= MAX_ACTIONS && new Set(keys).size === actions.length
      ? { write, actions, keys, success, isTransaction, promise: Promise.withResolvers() }
      : undefined;

  const { operation, input, body } = write;
  const action = actionNames[operation];
  if (action) {
    const hasOnlySharedParameters = Object.keys(input).every((name) => SHARED.has(name));
    return hasOnlySharedParameters && addKey(input.TableName, input.Item ?? input.Key)
      ? unit([`{"${action}":${body}}`], NO_RESULT)
      : undefined;
  }
  if (operation === 'BatchWriteItem') {
    if (Object.keys(input).some((name) => name !== 'RequestItems')) return undefined;
    const actions: string[] = [];
    for (const [TableName, requests] of Object.entries(input.RequestItems as Record<string, BatchRequest[]>)) {
      for (const { PutRequest, DeleteRequest } of requests) {
        if (!addKey(TableName, PutRequest?.Item ?? DeleteRequest?.Key)) return undefined;
        actions.push(
          JSON.stringify(
            PutRequest ? { Put: { TableName, ...PutRequest } } : { Delete: { TableName, ...DeleteRequest } },
          ),
        );
      }
    }
    return unit(actions, ALL_PROCESSED);
  }
  if (operation === 'TransactWriteItems') {
    if (Object.keys(input).some((name) => name !== 'TransactItems' && name !== 'ClientRequestToken')) return undefined;
    const items = input.TransactItems as readonly Readonly<Record<string, TransactAction>>[];
    const haveKnownKeys = items.every((item) =>
      Object.values(item).every(({ TableName, Item, Key: key }) => addKey(TableName, Item ?? key)),
    );
    return haveKnownKeys
      ? unit(
          items.map((item) => JSON.stringify(item)),
          NO_RESULT,
          true,
        )
      : undefined;
  }
  return undefined;
}

interface BatchRequest {
  readonly PutRequest?: { readonly Item: Key };
  readonly DeleteRequest?: { readonly Key: Key };
}

interface TransactAction {
  readonly TableName: string;
  readonly Item?: Key;
  readonly Key?: Key;
}
