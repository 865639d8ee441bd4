import type { Readable } from 'node:stream';
import { DynamoDBClient, TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { toApiError } from '../../../lib/http/middlewares.ts';
import { countUp, increment } from '../../../lib/table/counters.ts';
import { defineEntity } from '../../../lib/table/entity.ts';
import { withRetryContext } from '../../../lib/table/retryOnConflict.ts';
import { insert, remove, replace, Table, upsert, type WriteOp } from '../../../lib/table/table.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { startEngine, TABLE_NAME } from '../../support/engine.ts';
import { storedItem } from '../../support/items.ts';
import { asDocumentClient, sdkDocumentClient } from '../../support/leanClient.ts';
import { tenantEntity } from '../../support/tenantEntity.ts';
import { times } from '../../support/times.ts';

const bytes = z.instanceof(Uint8Array).optional();
const Thing = tenantEntity(
  'TestThing',
  {
    id: z.string(),
    text: z.string().optional(),
    nested: z.object({ a: z.string().optional(), bytes }).optional(),
    expiresAt: z.number().optional(),
  },
  (key: { id: string }) => ['THING', key.id],
  { version: 3, expiresAt: ({ expiresAt }) => expiresAt },
);
const Child = tenantEntity('TestChild', { child: z.string() }, (key: { parent: string; child: string }) => [
  key.parent,
  key.child,
]);
const Total = tenantEntity('TestTotal', { last: z.number() }, () => ['TOTAL']);
const Claim = tenantEntity('TestClaim', { claim: z.string(), bytes, expiresAt: z.number() }, () => ['CLAIM'], {
  ownedBy: 'expiry',
  expiresAt: ({ expiresAt }) => expiresAt,
});

const Counter = defineEntity({
  type: 'TestCounter',
  version: 1,
  scope: 'service',
  ownedBy: 'expiry',
  purpose: 'A counter of these tests',
  schema: z.object({ count: z.number(), expiresAt: z.number() }),
  pk: (of: { name: string }) => [of.name],
  sk: (_key: unknown) => ['COUNT'],
  expiresAt: ({ expiresAt }) => expiresAt,
});

const NOW = 1_800_000_000_000;
const SECONDS = NOW / 1000;

const engine = forAllTests(() => startEngine({ sdk: true }));
let table: Table;
let sent: string[];
let tenant: string;
let tenants = 0;

beforeAll(() => {
  const client = new DynamoDBClient({});
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        sent.push(commandName ?? '');
        return next(args);
      },
    { step: 'initialize' },
  );
  table = new Table(sdkDocumentClient(client), TABLE_NAME, () => NOW);
});
beforeEach(() => {
  sent = [];
  tenant = `tenant${tenants++}`;
});

const thing = (id: string, more: { text?: string; expiresAt?: number } = {}) => ({ tenant, id, ...more });
const read = (id: string) => table.get(Thing, { tenant, id });
const readMany = (ids: readonly string[], from = table) =>
  from.getMany(
    Thing,
    ids.map((id) => ({ tenant, id })),
  );
/** Returns the error of a call, if any, as a client gets it. */
const apiErrorOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (reason: unknown) => toApiError(reason, 'id'),
  );

/** Writes items without conditions. */
async function store(things: ReturnType<typeof thing>[]): Promise<void> {
  await Promise.all(things.map((thing) => table.write([upsert(Thing, thing)])));
}

/** Returns a table whose client gives these answers in order, and the inputs that the client received. */
function scripted(...answers: ((input: any) => unknown)[]): { table: Table; inputs: any[] } {
  const inputs: any[] = [];
  const client = {
    async send(command: { input: unknown }): Promise<any> {
      inputs.push(command.input);
      const answer = answers[Math.min(inputs.length, answers.length) - 1]!;
      return answer(command.input);
    },
  };
  return { table: new Table(asDocumentClient(client), TABLE_NAME, () => NOW), inputs };
}

function fail(error: Error): () => never {
  return () => {
    throw error;
  };
}

function cancelled(...codes: string[]): TransactionCanceledException {
  return new TransactionCanceledException({
    message: 'cancelled',
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });
}

/** Returns a table whose client loses the answer of the first call. The SDK then sends the call again. */
function loseFirstAnswer(): Table {
  const client = new DynamoDBClient({});
  let lost = false;
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      if (lost) return result;
      lost = true;
      // An unread answer would keep its connection open, and so the process of the tests running.
      (result.response as { readonly body: Readable }).body.destroy();
      throw Object.assign(new Error('the answer was lost'), { name: 'TimeoutError' });
    },
    { step: 'deserialize', priority: 'low', name: 'loseFirstAnswer' },
  );
  return new Table(sdkDocumentClient(client), TABLE_NAME);
}

describe('Table.write', () => {
  test('stores type, schema version and revision with every item', async () => {
    expect(await table.write([insert(Thing, thing('a', { text: 'x' }))])).toBe('done');
    expect(await storedItem(engine, Thing.key({ tenant, id: 'a' }))).toEqual({
      PK: `T#${tenant}`,
      SK: 'THING#a',
      _t: 'TestThing',
      _v: 3,
      _r: 1,
      _w: expect.stringMatching(/^[\w-]{8}$/),
      id: 'a',
      text: 'x',
    });
  });

  test('rejects an insert over an existing item', async () => {
    await table.write([insert(Thing, thing('a', { text: 'first' }))]);
    expect(await table.write([insert(Thing, thing('a', { text: 'second' }))])).toEqual({ conflicts: [0] });
    expect(await read('a')).toMatchObject({ text: 'first', _r: 1 });
  });

  test('replaces only the revision that the caller has read', async () => {
    await table.write([insert(Thing, thing('a', { text: 'first' }))]);
    expect(await table.write([replace(Thing, thing('a', { text: 'second' }), 1)])).toBe('done');
    expect(await table.write([replace(Thing, thing('a', { text: 'third' }), 1)])).toEqual({ conflicts: [0] });
    expect(await read('a')).toEqual({ id: 'a', text: 'second', _r: 2 });
  });

  test('rejects a replacement of a missing item', async () => {
    expect(await table.write([replace(Thing, thing('a'), 1)])).toEqual({ conflicts: [0] });
    expect(await read('a')).toBeUndefined();
  });

  test('accepts exactly one of several concurrent replacements', async () => {
    await table.write([insert(Thing, thing('a'))]);
    const outcomes = await Promise.all(
      times(10, (i) => table.write([replace(Thing, thing('a', { text: `${i}` }), 1)])),
    );
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
    expect(await read('a')).toMatchObject({ text: `${outcomes.indexOf('done')}`, _r: 2 });
  });

  test('accepts an insert that the SDK repeats because the response was lost', async () => {
    const op = insert(Thing, { tenant, id: 'repeated', nested: { bytes: new Uint8Array([1, 2]) } });
    const repeats = loseFirstAnswer();
    expect(await repeats.write([op])).toBe('done');
    expect(await repeats.write([insert(Thing, { tenant, id: 'repeated' })])).toEqual({ conflicts: [0] });
    expect(await table.write([op])).toEqual({ conflicts: [0] });
  });

  test('accepts a replacement that the SDK repeats, and refuses the same replacement of another writer', async () => {
    await table.write([insert(Thing, thing('a'))]);
    const op = replace(Thing, thing('a', { text: 'second' }), 1);
    expect(await loseFirstAnswer().write([op])).toBe('done');
    expect(await read('a')).toEqual({ id: 'a', text: 'second', _r: 2 });
    expect(await table.write([op])).toEqual({ conflicts: [0] });
  });

  test('deletes the given revision, or any revision if none is given', async () => {
    await table.write([insert(Thing, thing('a'))]);
    expect(await table.write([remove(Thing, { tenant, id: 'a' }, 7)])).toEqual({ conflicts: [0] });
    expect(await read('a')).toBeDefined();
    expect(await table.write([remove(Thing, { tenant, id: 'a' }, 1)])).toBe('done');
    expect(await read('a')).toBeUndefined();
    expect(await table.write([remove(Thing, { tenant, id: 'a' })])).toBe('done');
  });

  test('writes all operations or none, and returns the positions of the conflicts', async () => {
    await table.write([insert(Thing, thing('b')), insert(Thing, thing('d'))]);
    const ops = [
      insert(Thing, thing('a')),
      insert(Thing, thing('b')),
      upsert(Thing, thing('c')),
      remove(Thing, { tenant, id: 'd' }, 9),
    ];
    expect(await table.write(ops)).toEqual({ conflicts: [1, 3] });
    expect(await readMany(['a', 'c'])).toEqual([undefined, undefined]);
    expect(await read('d')).toBeDefined();
    expect(
      await table.write([
        insert(Thing, thing('a')),
        replace(Thing, thing('b', { text: 'new' }), 1),
        remove(Thing, { tenant, id: 'd' }, 1),
      ]),
    ).toBe('done');
    expect(await readMany(['a', 'b', 'd'])).toMatchObject([{ _r: 1 }, { text: 'new', _r: 2 }, undefined]);
  });

  test('sends one operation as a plain write, and no request without operations', async () => {
    await table.write([]);
    await table.write([insert(Thing, thing('a'))]);
    await table.write([remove(Thing, { tenant, id: 'a' })]);
    expect(sent).toEqual(['PutItemCommand', 'DeleteItemCommand']);
  });

  test('stores no undefined values at any depth, and reads bytes as they were written', async () => {
    await table.write([
      insert(Thing, { tenant, id: 'a', text: undefined, nested: { a: undefined, bytes: Buffer.from([1, 2, 255]) } }),
    ]);
    const stored = await storedItem(engine, Thing.key({ tenant, id: 'a' }));
    expect(stored).not.toHaveProperty('text');
    expect(stored?.nested).toEqual({ bytes: new Uint8Array([1, 2, 255]) });
    expect((await read('a'))?.nested?.bytes).toEqual(new Uint8Array([1, 2, 255]));
  });
});

describe('an error of DynamoDB', () => {
  const ops = (): [WriteOp, WriteOp, WriteOp] => [
    upsert(Thing, thing('a')),
    upsert(Thing, thing('b')),
    upsert(Thing, thing('c')),
  ];

  test('is a conflict of the affected items if another transaction interferes', async () => {
    const { table: stubbed } = scripted(fail(cancelled('None', 'TransactionConflict', 'ConditionalCheckFailed')));
    expect(await stubbed.write(ops())).toEqual({ conflicts: [1, 2] });
  });

  test('is a conflict if a transaction interferes with a plain write', async () => {
    const { table: stubbed } = scripted(fail(new TransactionConflictException({ message: 'conflict', $metadata: {} })));
    expect(await stubbed.write([upsert(Thing, thing('a'))])).toEqual({ conflicts: [0] });
  });

  test.each(['ThrottlingError', 'ProvisionedThroughputExceeded'])(
    'is UNAVAILABLE for a transaction that was cancelled twice by %s',
    async (code) => {
      const throttle = fail(cancelled('None', code, 'None'));
      const { table: stubbed } = scripted(throttle);
      expect(await apiErrorOf(stubbed.write(ops()))).toMatchObject({ status: 'UNAVAILABLE' });
    },
  );

  test('causes one retry after a pause if a transaction was throttled', async () => {
    const pauses: number[] = [];
    const { table: stubbed } = scripted(fail(cancelled('ThrottlingError', 'None', 'None')), () => ({}));
    const sleep = async (milliseconds: number) => void pauses.push(milliseconds);
    expect(await withRetryContext({ sleep, random: () => 0.5 }, () => stubbed.write(ops()))).toBe('done');
    expect(pauses).toEqual([160]);
  });

  test('is a conflict without a retry if a throttled transaction also has a conflict', async () => {
    const { table: stubbed } = scripted(fail(cancelled('ThrottlingError', 'ConditionalCheckFailed', 'None')));
    expect(await stubbed.write(ops())).toEqual({ conflicts: [1] });
  });

  test('is rethrown for a transaction that was cancelled for another reason', async () => {
    const { table: stubbed } = scripted(fail(cancelled('ValidationError', 'None', 'None')));
    await expect(stubbed.write(ops())).rejects.toThrow(TransactionCanceledException);
  });

  test('is rethrown for any other error of a write', async () => {
    const { table: stubbed } = scripted(fail(new Error('unreachable')));
    await expect(stubbed.write(ops())).rejects.toThrow('unreachable');
    await expect(stubbed.write([upsert(Thing, thing('a'))])).rejects.toThrow('unreachable');
    await expect(countUp(stubbed, Counter, { name: 'x' }, 1, 1)).rejects.toThrow('unreachable');
    await expect(stubbed.putIf(Claim, { tenant, claim: 'x', expiresAt: 1 }, 'absent')).rejects.toThrow('unreachable');
  });
});

describe('Table.getMany', () => {
  test('returns values in the order of the keys, with one call per 100 distinct keys', async () => {
    await store(times(230, (i) => thing(`${i}`)));
    sent = [];
    const ids = [...times(230, (i) => `${229 - i}`), 'absent', '7', '7'];
    const values = await readMany(ids);
    expect(values.map((value) => value?.id)).toEqual(ids.map((id) => (id === 'absent' ? undefined : id)));
    expect(sent).toEqual(['BatchGetItemCommand', 'BatchGetItemCommand', 'BatchGetItemCommand']);
  });

  test('makes no call without keys', async () => {
    expect(await table.getMany(Thing, [])).toEqual([]);
    expect(sent).toEqual([]);
  });

  test('returns more than 16 MB, the limit of one call', async () => {
    await store(times(60, (i) => thing(`${i}`, { text: 'x'.repeat(380_000) })));
    const values = await readMany(times(60, String));
    expect(values.map((value) => value?.id)).toEqual(times(60, (i) => `${i}`));
  });

  test('repeats unprocessed keys', async () => {
    const item = (id: string) => Thing.toItem(thing(id));
    const { table: stubbed, inputs } = scripted(
      () => ({
        Responses: { [TABLE_NAME]: [item('a')] },
        UnprocessedKeys: { [TABLE_NAME]: { Keys: [Thing.key({ tenant, id: 'b' })] } },
      }),
      () => ({ UnprocessedKeys: { [TABLE_NAME]: { Keys: [Thing.key({ tenant, id: 'b' })] } } }),
      () => ({ Responses: { [TABLE_NAME]: [item('b')] } }),
    );
    const values = await readMany(['a', 'b'], stubbed);
    expect(values.map((value) => value?.id)).toEqual(['a', 'b']);
    expect(inputs.map((input) => input.RequestItems[TABLE_NAME].Keys.length)).toEqual([2, 1, 1]);
    expect(inputs.every((input) => input.RequestItems[TABLE_NAME].ConsistentRead === true)).toBe(true);
  });

  test('throws UNAVAILABLE if keys are still unprocessed after six tries', async () => {
    const { table: stubbed, inputs } = scripted((input) => ({ UnprocessedKeys: input.RequestItems }));
    expect(await apiErrorOf(stubbed.getMany(Thing, [{ tenant, id: 'a' }]))).toMatchObject({ status: 'UNAVAILABLE' });
    expect(inputs).toHaveLength(6);
  });
});

describe('Table.query', () => {
  const all = (options: object = {}) => table.query(Thing, { tenant }, { limit: 100, ...options });
  const ids = (page: { values: { id: string }[] }) => page.values.map(({ id }) => id);
  /** Returns the ids of each page. */
  async function pages(options: { limit: number; descending?: boolean; prefix?: string[] }): Promise<string[][]> {
    const seen: string[][] = [];
    let after: string | undefined;
    do {
      const page = await table.query(Thing, { tenant }, { ...options, after });
      seen.push(ids(page));
      after = page.next;
    } while (after !== undefined);
    return seen;
  }

  test('returns values in ascending or descending order of their keys', async () => {
    await store(['c', 'a', 'b'].map((id) => thing(id)));
    expect(ids(await all())).toEqual(['a', 'b', 'c']);
    expect(ids(await all({ descending: true }))).toEqual(['c', 'b', 'a']);
  });

  test('returns the keys below a prefix, and no keys that only begin with the same letters', async () => {
    const children = ['doc1', 'doc10', 'doc1#x', 'doc'].map((parent) => ({ tenant, parent, child: `of ${parent}` }));
    for (const child of children) await table.write([insert(Child, child)]);
    const childrenOf = async (...prefix: string[]) =>
      (await table.query(Child, { tenant }, { prefix, limit: 10 })).values.map(({ child }) => child);
    expect(await childrenOf('doc1')).toEqual(['of doc1']);
    expect(await childrenOf('doc1#x')).toEqual(['of doc1#x']);
    expect(await childrenOf('do')).toEqual([]);
    expect(await childrenOf()).toHaveLength(4);
  });

  test('returns every value once over all pages, in both directions', async () => {
    const names = times(10, (i) => `${i}`);
    await store(names.map((id) => thing(id)));
    expect(await pages({ limit: 3 })).toEqual([['0', '1', '2'], ['3', '4', '5'], ['6', '7', '8'], ['9']]);
    expect(await pages({ limit: 4, descending: true })).toEqual([
      ['9', '8', '7', '6'],
      ['5', '4', '3', '2'],
      ['1', '0'],
    ]);
    expect(await pages({ limit: 4, prefix: ['THING'] })).toEqual([
      ['0', '1', '2', '3'],
      ['4', '5', '6', '7'],
      ['8', '9'],
    ]);
  });

  test('returns no empty page after a full last page', async () => {
    await store(times(6, (i) => thing(`${i}`)));
    expect((await pages({ limit: 3 })).map((page) => page.length)).toEqual([3, 3]);
    expect((await pages({ limit: 6 })).map((page) => page.length)).toEqual([6]);
  });

  test('returns a complete page above 1 MB, the limit of one DynamoDB call', async () => {
    await store(times(9, (i) => thing(`${i}`, { text: 'x'.repeat(350_000) })));
    sent = [];
    const page = await all({ limit: 9 });
    expect(ids(page)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8']);
    expect(page.next).toBeUndefined();
    expect(sent.length).toBeGreaterThan(2);
  });

  test('returns full pages although DynamoDB calls end after 1 MB', async () => {
    await store(times(8, (i) => thing(`${i}`, { text: 'x'.repeat(300_000) })));
    for (const limit of [1, 2, 3, 4, 5, 7, 8])
      expect((await pages({ limit })).flat()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
  });

  test('ends a page early at about 4 MB', async () => {
    await store(times(15, (i) => thing(String.fromCharCode(97 + i), { text: 'x'.repeat(390_000) })));
    const seen = await pages({ limit: 100 });
    expect(seen.map((page) => page.length)).toEqual([11, 4]);
    expect(seen.flat().join('')).toBe('abcdefghijklmno');
  });

  test('returns no value of another partition', async () => {
    await store([thing('mine')]);
    expect(ids(await table.query(Thing, { tenant: `${tenant}0` }, { limit: 10 }))).toEqual([]);
    expect(ids(await table.query(Thing, { tenant: tenant.slice(0, -1) }, { limit: 10 }))).not.toContain('mine');
  });

  test('reads consistently unless `eventual` is set', async () => {
    const { table: stubbed, inputs } = scripted(() => ({}));
    await stubbed.get(Thing, { tenant, id: 'a' });
    await stubbed.get(Thing, { tenant, id: 'a' }, { eventual: true });
    await stubbed.query(Thing, { tenant }, { limit: 1 });
    await stubbed.query(Thing, { tenant }, { limit: 1, eventual: true });
    expect(inputs.map((input) => input.ConsistentRead)).toEqual([true, false, true, false]);
  });
});

describe('an expired item', () => {
  test('is not read from the second of its expiry on', async () => {
    await store([
      thing('a', { expiresAt: SECONDS - 1 }),
      thing('b', { expiresAt: SECONDS }),
      thing('c', { expiresAt: SECONDS + 1 }),
      thing('d'),
    ]);
    expect(await read('a')).toBeUndefined();
    expect(await read('b')).toBeUndefined();
    expect(await read('c')).toBeDefined();
    expect((await readMany(['a', 'b', 'c', 'd'])).map((value) => value?.id)).toEqual([undefined, undefined, 'c', 'd']);
    expect((await table.query(Thing, { tenant }, { limit: 10 })).values.map(({ id }) => id)).toEqual(['c', 'd']);
    expect((await storedItem(engine, Thing.key({ tenant, id: 'c' })))?.ttl).toBe(SECONDS + 1);
  });

  test.each([
    ['a single write', []],
    ['a transaction', ['b']],
  ])('does not prevent its insertion by %s, because DynamoDB deletes it up to days late', async (_what, otherIds) => {
    const add = (text: string) =>
      table.write([
        insert(Thing, thing('a', { text, expiresAt: SECONDS + 1 })),
        ...otherIds.map((id) => upsert(Thing, thing(id))),
      ]);
    await store([thing('a', { expiresAt: SECONDS })]);
    expect(await add('second')).toBe('done');
    expect(await add('third')).toEqual({ conflicts: [0] });
    expect(await read('a')).toMatchObject({ text: 'second' });
  });

  test('neither shortens a page nor ends the listing', async () => {
    await store(times(12, (i) => thing(String.fromCharCode(97 + i), i % 3 === 2 ? {} : { expiresAt: SECONDS })));
    const first = await table.query(Thing, { tenant }, { limit: 3 });
    expect(first.values.map(({ id }) => id)).toEqual(['c', 'f', 'i']);
    const second = await table.query(Thing, { tenant }, { limit: 3, after: first.next });
    expect(second.values.map(({ id }) => id)).toEqual(['l']);
    expect(second.next).toBeUndefined();
  });
});

describe('Table.putIf', () => {
  const claim = (name: string, expiresAt = SECONDS + 60) => ({ tenant, claim: name, expiresAt });

  test('writes the first claim and returns it to a second caller', async () => {
    expect(await table.putIf(Claim, { ...claim('first'), bytes: new Uint8Array([7]) }, 'absent')).toBe('done');
    expect(await table.putIf(Claim, claim('second'), 'absent')).toMatchObject({
      claim: 'first',
      bytes: new Uint8Array([7]),
    });
    expect(await table.get(Claim, { tenant })).toMatchObject({ claim: 'first' });
  });

  test('replaces the stored claim only if the caller passes it', async () => {
    await table.putIf(Claim, claim('first'), 'absent');
    expect(await table.putIf(Claim, claim('second'), { claim: 'first' })).toBe('done');
    expect(await table.putIf(Claim, claim('third'), { claim: 'first' })).toMatchObject({ claim: 'second' });
  });

  test('returns an expired claim instead of replacing it', async () => {
    await table.putIf(Claim, claim('first', SECONDS - 1), 'absent');
    expect(await table.putIf(Claim, claim('second'), 'absent')).toMatchObject({
      claim: 'first',
      expiresAt: SECONDS - 1,
    });
  });

  test('writes the claim if the passed claim was deleted in the meantime', async () => {
    expect(await table.putIf(Claim, claim('second'), { claim: 'first' })).toBe('done');
    expect(await table.get(Claim, { tenant })).toMatchObject({ claim: 'second' });
  });

  test('accepts a claim that the SDK repeats because the response was lost', async () => {
    expect(await loseFirstAnswer().putIf(Claim, claim('first'), 'absent')).toBe('done');
    expect(await loseFirstAnswer().putIf(Claim, claim('second'), { claim: 'first' })).toBe('done');
    expect(await table.get(Claim, { tenant })).toMatchObject({ claim: 'second' });
  });

  test('accepts one of many simultaneous claims', async () => {
    const outcomes = await Promise.all(times(20, (i) => table.putIf(Claim, claim(`${i}`), 'absent')));
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
    expect(await table.get(Claim, { tenant })).toMatchObject({ claim: `${outcomes.indexOf('done')}` });
  });
});

describe('countUp and increment', () => {
  test('count up to the limit and no further under simultaneous calls', async () => {
    const results = await Promise.all(times(30, () => countUp(table, Counter, { name: tenant }, 12, SECONDS + 60)));
    expect(results.filter(Boolean)).toHaveLength(12);
    expect(await table.get(Counter, { name: tenant })).toMatchObject({ count: 12, expiresAt: SECONDS + 60 });
    expect(await countUp(table, Counter, { name: tenant }, 12, SECONDS + 60)).toBe(false);
    expect(await countUp(table, Counter, { name: tenant }, 13, SECONDS + 60)).toBe(true);
  });

  test('count each key separately', async () => {
    expect(await countUp(table, Counter, { name: `${tenant}a` }, 1, SECONDS)).toBe(true);
    expect(await countUp(table, Counter, { name: `${tenant}b` }, 1, SECONDS)).toBe(true);
    expect(await countUp(table, Counter, { name: `${tenant}a` }, 1, SECONDS)).toBe(false);
  });

  test('return a different value to each simultaneous increment', async () => {
    const values = await Promise.all(times(20, () => increment(table, Total, { tenant }, 3)));
    expect(values.toSorted((a, b) => a - b)).toEqual(times(20, (index) => 3 * (index + 1)));
    expect(await storedItem(engine, Total.key({ tenant }))).toEqual({
      ...Total.key({ tenant }),
      _t: 'TestTotal',
      _v: 1,
      _r: 1,
      last: 60,
    });
  });

  test('store type, version and time to live with the counter', async () => {
    await countUp(table, Counter, { name: tenant }, 1, SECONDS + 60);
    expect(await storedItem(engine, Counter.key({ name: tenant }))).toEqual({
      PK: `S#${tenant}`,
      SK: 'COUNT',
      _t: 'TestCounter',
      _v: 1,
      _r: 1,
      count: 1,
      expiresAt: SECONDS + 60,
      ttl: SECONDS + 60,
    });
  });
});
