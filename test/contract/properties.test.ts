import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AuthLevel, Endpoint } from '../../lib/endpoint.ts';
import { handlerOf } from '../support/customer.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { type Headers, post } from '../support/requests.ts';
import { newWorkspace } from '../support/workspaces.ts';
import { cases, expectDocumented, headersOf } from './contract.ts';

const SEED = 20_260_101;
const RUNS = 300;
/** For all endpoints together; each gets its share of what is left. */
const MILLISECONDS = 18_000;

let engine: Engine;
let headers: Record<AuthLevel, Headers>;
let started: number;
let tried = 0;
beforeAll(async () => {
  engine = await startEngine();
  headers = headersOf(await newWorkspace());
  started = Date.now();
});
afterAll(async () => {
  console.log(`${tried} random requests, seed ${SEED}`);
  await engine.stop();
});

/** What has broken programs before. */
const troublemakers: unknown[] = [
  '', ' ', '__proto__', 'constructor', '#', '%', '\u0000', '\ud800', '\u{1f469}\u200d\u{1f680}', 'x'.repeat(513), 'ü'.repeat(20_000),
  0, -0, -1, 0.5, 1e308, 2 ** 53, true, null, [], {}, [[]], [null], { length: 1 }, JSON.parse('{"__proto__":{"toJSON":1},"constructor":null}'), nested(40),
];

function nested(levels: number): unknown {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}

const anyJson = fc.oneof(fc.constantFrom(...troublemakers), fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }));
const anyObject = fc.dictionary(fc.string({ unit: 'binary' }), anyJson, { maxKeys: 5 });

/** `data` of an endpoint: any object, or its example with some values replaced, removed, repeated or put beside others. */
function dataOf({ example }: Endpoint): fc.Arbitrary<unknown> {
  const places = placesIn(example.data);
  const change = fc.oneof(
    fc.record({ at: fc.constantFrom(...places), put: anyJson }),
    fc.record({ at: fc.constantFrom(...places), put: fc.constantFrom(...places).map((from) => valueAt(example.data, from)) }),
    fc.record({ at: fc.constantFrom(...places) }),
  );
  const changed = fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => changes.reduce(applied, structuredClone(example.data)));
  return fc.oneof({ weight: 1, arbitrary: anyObject }, { weight: 3, arbitrary: changed });
}

type Place = readonly (string | number)[];

/** The paths of all values in a JSON value, and of one new key in each object and list. */
function placesIn(value: unknown, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  const inside = Object.entries(value).flatMap(([key, item]) => placesIn(item, [...at, key]));
  return [...(at.length > 0 ? [at] : []), ...inside, [...at, Array.isArray(value) ? value.length : 'more']];
}

function valueAt(value: unknown, place: Place): unknown {
  return place.reduce<any>((node, key) => node?.[key], value);
}

/** The data with one place changed; without `put` it is removed. An earlier change may have taken the place away. */
function applied(data: unknown, { at, ...change }: { at: Place; put?: unknown }): unknown {
  const parent = valueAt(data, at.slice(0, -1));
  if (typeof parent !== 'object' || parent === null) return data;
  if ('put' in change) parent[at.at(-1)!] = structuredClone(change.put);
  else delete parent[at.at(-1)!];
  return data;
}

describe('random data', () => {
  test.each(cases)('%s answers with something documented, and never with a fault of its own', async (path, endpoint) => {
    const handler = await handlerOf(path);
    const position = cases.findIndex(([other]) => other === path);
    const share = (MILLISECONDS - (Date.now() - started)) / (cases.length - position);
    let runs = 0;
    const property = fc.asyncProperty(dataOf(endpoint), async (data) => {
      runs++;
      const answer = await post(handler, headers[endpoint.auth], data);
      expect(answer.status).toBeLessThan(500);
      expectDocumented(endpoint, answer);
    });
    await fc.assert(property, { seed: SEED, numRuns: RUNS, interruptAfterTimeLimit: Math.max(share, 100), markInterruptAsFailure: false });
    expect(runs).toBeGreaterThan(0);
    tried += runs;
  });
});
