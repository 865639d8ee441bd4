import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AuthLevel, Endpoint } from '../../lib/endpoint.ts';
import { handlerOf } from '../support/customer.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { openTablesLean } from '../support/leanClient.ts';
import { eventOf, type Headers, post, send } from '../support/requests.ts';
import { newWorkspace } from '../support/workspaces.ts';
import { cases, expectDocumented } from './contract.ts';

const SEED = 20_260_101;
/** Of each endpoint. */
const RUNS = 120;

let engine: Engine;
let callers: Record<AuthLevel, { headers: Headers; own: Record<string, unknown> }>;
let tried = 0;
beforeAll(async () => {
  engine = await startEngine();
  openTablesLean();
  // Two, because workspace level can revoke the tokens of its API keys.
  const [{ keyHeaders, apiKey, authToken }, { headers, ...workspace }] = [await newWorkspace(), await newWorkspace()];
  callers = {
    apiKey: { headers: keyHeaders, own: { apiKey, authToken } },
    workspace: { headers, own: { apiKey: workspace.apiKey, ownerEmail: workspace.ownerEmail } },
    none: { headers: {}, own: {} },
  };
  // Twice, so that what one example speaks of has been made by another.
  for (const [path, endpoint] of [...cases, ...cases]) await post(await handlerOf(path), callers[endpoint.auth].headers, exampleData(endpoint));
});
afterAll(async () => {
  console.log(`${tried} random requests, seed ${SEED}`);
  await engine.stop();
});

/** The example's data, with the caller's own credentials where it has some. */
function exampleData({ auth, example }: Endpoint): unknown {
  const own = Object.entries(callers[auth].own).filter(([field]) => field in (example.data as object));
  return { ...(example.data as object), ...Object.fromEntries(own) };
}

/** What has broken programs before. */
const troublemakers: unknown[] = [
  '', ' ', '__proto__', 'constructor', '#', '%', '\u0000', '\ud800', '\u{1f469}\u200d\u{1f680}', 'x'.repeat(513), 'ü'.repeat(20_000),
  0, -0, -1, 0.5, 1e308, 2 ** 53, true, null, [], {}, [[]], [null], { length: 1 }, JSON.parse('{"__proto__":{"toJSON":1},"constructor":null}'), nested(40),
];

function nested(levels: number): unknown {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}

const anyText = fc.string({ unit: 'binary' });
const anyJson = fc.oneof(fc.constantFrom(...troublemakers), fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }));
const anyObject = fc.dictionary(anyText, anyJson, { maxKeys: 5 });

/** A value of the same type, which gets further than any other. */
function like(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value === 'string') return fc.oneof(fc.constantFrom(...troublemakers.filter((one) => typeof one === 'string')), anyText);
  if (typeof value === 'number') return fc.oneof(fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true }));
  if (typeof value === 'boolean') return fc.boolean();
  return Array.isArray(value) && value.length > 0 ? fc.array(fc.constantFrom(...value), { maxLength: 8 }) : anyObject;
}

/** The body of a request: its data is any object, or the example with some values replaced, removed or put beside others. */
function bodyFrom(example: unknown): fc.Arbitrary<string> {
  const places = placesIn(example);
  const change = fc.constantFrom(...places).chain((at) => fc.oneof(
    fc.record({ at: fc.constant(at), put: like(valueAt(example, at)) }),
    fc.record({ at: fc.constant(at), put: anyJson }),
    fc.record({ at: fc.constant(at) }),
  ));
  const changed = fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => changes.reduce(applied, structuredClone(example)));
  return fc.oneof({ weight: 1, arbitrary: anyObject }, { weight: 4, arbitrary: changed }).map((data) => JSON.stringify({ data }));
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
  const parent = valueAt(data, at.slice(0, -1)) as Record<string | number, unknown> | null;
  if (typeof parent !== 'object' || parent === null) return data;
  if ('put' in change) parent[at.at(-1)!] = structuredClone(change.put);
  else delete parent[at.at(-1)!];
  return data;
}

describe('random data', () => {
  test.each(cases)('%s answers with something documented, and never with a fault of its own', async (path, endpoint) => {
    const handler = await handlerOf(path);
    const { headers } = callers[endpoint.auth];
    const property = fc.asyncProperty(bodyFrom(exampleData(endpoint)), async (body) => {
      tried++;
      const answer = await send(handler, eventOf(body, headers));
      expect(answer.status).toBeLessThan(500);
      expectDocumented(endpoint, answer);
    });
    await fc.assert(property, { seed: SEED, numRuns: RUNS });
  });
});
