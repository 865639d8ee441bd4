import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AuthLevel, Endpoint } from '../../lib/app/endpoint.ts';
import type { JsonSchema } from '../../lib/openapi/document.ts';
import { nda } from '../support/content.ts';
import { comparableTo } from '../support/cpu.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { handlerOf } from '../support/functionHandlers.ts';
import { eventOf, type Headers, post, type Response as Answer, send } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { codePoint, unicodeText } from '../support/unicodeText.ts';
import { userHeadersOf } from '../support/userCaller.ts';
import { workbook } from '../support/workbook.ts';
import { newWorkspace } from '../support/workspaces.ts';
import { cases } from './cases.ts';
import { dataSchema, undocumented } from './contract.ts';

/** The default is the same seed in every run. `npm run robustness` uses a random seed and sends many more requests. */
const SEED = process.env.ROBUSTNESS_RUNS ? Math.floor(Math.random() * 2 ** 31) : 20_260_101;
/**
 * The number of random requests to each endpoint. With 120, two endpoints more succeed once, and four more answer
 * NOT_FOUND with another text. `npm run robustness` sends a thousand.
 */
const RUNS = Number(process.env.ROBUSTNESS_RUNS ?? 64);
/** Any slower answer fails the test. A function is stopped after 29 seconds. */
const MAX_MILLISECONDS = 10_000;
/** All texts of the other tenant begin with this. No answer to a caller may contain it. */
const SECRET = 'Only for others: ';

interface Caller {
  readonly headers: Headers;
  readonly own: Record<string, unknown>;
}

let engine: Engine;
let callers: Record<AuthLevel, Caller>;
let tried = 0;
let longest = 0;
beforeAll(async () => {
  engine = await startEngine();
  const others = await newCallers();
  await makeExamples(others, (text) => SECRET + text);
  callers = await newCallers();
  await makeExamples(callers, (text) => text);
});
afterAll(async () => {
  console.log(`${tried} random requests, seed ${SEED}; the longest took ${Math.round(longest)} ms`);
  await engine.stop();
});

async function newCallers(): Promise<Record<AuthLevel, Caller>> {
  // The two callers have different workspaces. A call with workspace credentials can revoke the tokens of its own API
  // keys.
  const owner = await newWorkspace();
  const { keyHeaders, apiKey, authToken } = owner;
  const { headers, ...workspace } = await newWorkspace();
  return {
    apiKey: { headers: keyHeaders, own: { apiKey, authToken } },
    workspace: { headers, own: { apiKey: workspace.apiKey, ownerEmail: workspace.ownerEmail } },
    user: { headers: await userHeadersOf(owner), own: {} },
    none: { headers: {}, own: {} },
  };
}

/**
 * Sends every example twice. The first time, all examples run, because later examples need data of earlier ones. The
 * second time leaves out the examples that delete data. All tenants use the same ids.
 */
async function makeExamples(as: Record<AuthLevel, Caller>, text: (text: string) => string): Promise<void> {
  const keeping = cases.filter(([path]) => !/delete|remove|disablestate/.test(path));
  for (const [path, endpoint] of [...cases, ...cases, ...keeping, ...keeping])
    await post(handlerOf(path), as[endpoint.auth].headers, withTexts(exampleData(endpoint, as), text));
}

/** Returns the data of an example with the caller's own credentials. */
function exampleData({ auth, example }: Endpoint, as: Record<AuthLevel, Caller>): unknown {
  const own = Object.entries(as[auth].own).filter(([field]) => field in (example.data as object));
  return { ...(example.data as object), ...Object.fromEntries(own) };
}

/** Returns data in which free texts are changed. */
function withTexts(data: unknown, change: (text: string) => string, name = ''): unknown {
  if (Array.isArray(data)) return data.map((item) => withTexts(item, change, name));
  if (typeof data === 'object' && data !== null)
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, withTexts(value, change, key)]));
  return typeof data === 'string' && /(name|text|title|description|instructions|reasoning|content|data)$/i.test(name)
    ? change(data)
    : data;
}

/** Values that often break programs. */
const hostileValues: unknown[] = [
  '',
  ' ',
  '__proto__',
  'constructor',
  '#',
  '%',
  '\u0000',
  '\ud800',
  '\u{1f469}\u200d\u{1f680}',
  'x'.repeat(513),
  'ü'.repeat(20_000),
  0,
  -0,
  -1,
  0.5,
  1e308,
  2 ** 53,
  true,
  null,
  [],
  {},
  [[]],
  [null],
  { length: 1 },
  JSON.parse('{"__proto__":{"toJSON":1},"constructor":null}'),
  nested(40),
];

function nested(levels: number): unknown {
  return levels === 0 ? {} : { a: nested(levels - 1) };
}

const anyText = unicodeText();
const anyJson = fc.oneof(fc.constantFrom(...hostileValues), fc.jsonValue({ maxDepth: 3, stringUnit: codePoint }));
const anyObject = fc.dictionary(anyText, anyJson, { maxKeys: 5 });

/** Generates values of the same type as a value. They pass more checks than values of any type. */
function like(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value === 'string')
    return fc.oneof(fc.constantFrom(...hostileValues.filter((text) => typeof text === 'string')), anyText);
  if (typeof value === 'number') return fc.oneof(fc.nat(), fc.double({ noNaN: true, noDefaultInfinity: true }));
  if (typeof value === 'boolean') return fc.boolean();
  return Array.isArray(value) && value.length > 0 ? fc.array(fc.constantFrom(...value), { maxLength: 8 }) : anyObject;
}

/** Generates values that mostly match a documented schema. They use ids from the examples. */
function described(schema: JsonSchema, ids: readonly string[]): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return fc.oneof(...alternatives.map((alternative) => described(alternative, ids)));
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'string':
      return fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...ids) },
        { weight: 1, arbitrary: anyText },
        { weight: 1, arbitrary: fc.constantFrom(...hostileValues) },
      );
    case 'integer':
      return fc.oneof(
        fc.integer({ min: schema.minimum ?? -1, max: Math.max(schema.minimum ?? -1, schema.maximum ?? 2 ** 31) }),
        fc.constantFrom(-1, 0, 1, 2 ** 53),
      );
    case 'number':
      return fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat());
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(described((schema.items ?? {}) as JsonSchema, ids), {
        minLength: Math.min(schema.minItems ?? 0, 3),
        maxLength: 4,
      });
    case 'object': {
      const fields = Object.entries(schema.properties ?? {}).map(
        ([key, value]) => [key, described(value as JsonSchema, ids)] as const,
      );
      if (fields.length === 0) return anyObject;
      return fc.record(Object.fromEntries(fields), {
        requiredKeys: schema.required?.filter((key) => fields.some(([name]) => name === key)) ?? [],
      });
    }
    case undefined:
    default:
      return anyJson;
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length <= 64 ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Generates request bodies of three kinds: any object, an object that matches the schema, or a changed example. */
function bodyFrom(example: unknown, schema: JsonSchema): fc.Arbitrary<string> {
  const paths = pathsIn(example);
  const change = fc
    .constantFrom(...paths)
    .chain((path) =>
      fc.oneof(
        fc.record({ at: fc.constant(path), put: like(valueAt(example, path)) }),
        fc.record({ at: fc.constant(path), put: anyJson }),
        fc.record({ at: fc.constant(path) }),
      ),
    );
  const changed = fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce(applyChange, structuredClone(example)));
  const ids = [...new Set([...textsIn(example), 'acme', 'nda', 'ada'])];
  return fc
    .oneof(
      { weight: 1, arbitrary: anyObject },
      { weight: 3, arbitrary: described(schema, ids) },
      { weight: 3, arbitrary: changed },
    )
    .map((data) => JSON.stringify({ data }));
}

type JsonPath = readonly (string | number)[];

/** Returns the paths of all values in a JSON value. Also returns the path of one new key for each object and list. */
function pathsIn(value: unknown, path: JsonPath = []): JsonPath[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inside = Object.entries(value).flatMap(([key, item]) => pathsIn(item, [...path, key]));
  return [...(path.length > 0 ? [path] : []), ...inside, [...path, Array.isArray(value) ? value.length : 'more']];
}

function valueAt(value: unknown, path: JsonPath): unknown {
  return path.reduce<any>((node, key) => node?.[key], value);
}

/**
 * Changes the value at a path, or removes it if `put` is undefined. Does nothing if an earlier change removed its
 * parent.
 */
function applyChange(data: unknown, { at, ...change }: { at: JsonPath; put?: unknown }): unknown {
  const parent = valueAt(data, at.slice(0, -1)) as Record<string | number, unknown> | null;
  if (typeof parent !== 'object' || parent === null) return data;
  if ('put' in change) parent[at.at(-1)!] = structuredClone(change.put);
  else Reflect.deleteProperty(parent, at.at(-1)!);
  return data;
}

describe('random data', () => {
  test.each(cases)(
    '%s answers in time and as documented, without faults and without data of other tenants',
    async (path, endpoint) => {
      const handler = handlerOf(path);
      const { headers } = callers[endpoint.auth];
      const property = fc.asyncProperty(bodyFrom(exampleData(endpoint, callers), dataSchema(path)), async (body) => {
        tried++;
        const from = performance.now();
        const answer = await send(handler, eventOf(body, headers));
        const milliseconds = performance.now() - from;
        longest = Math.max(longest, milliseconds);
        const faults = undocumented(endpoint, answer);
        if (milliseconds >= MAX_MILLISECONDS) faults.push(`took ${milliseconds} ms`);
        if (answer.status >= 500) faults.push(`answered ${answer.status}`);
        if (!body.includes(SECRET) && JSON.stringify(answer.body).includes(SECRET)) faults.push(`contains "${SECRET}"`);
        // Not `expect`, because its call stacks took a tenth of the CPU time of this file.
        if (faults.length > 0) throw new Error(faults.join('\n'));
      });
      await fc.assert(property, { seed: SEED, numRuns: RUNS });
    },
    20_000 + RUNS * 200,
  );
});

describe('a request body that is expensive to parse', () => {
  /**
   * The CPU time that a request may use, converted to a machine of reference speed. One pass over 5 MB takes about 50
   * ms.
   */
  const MAX_CPU_MILLISECONDS = 1_500;
  let [sent, mostCpu, costliest] = [0, 0, ''];
  afterAll(() =>
    console.log(`${sent} costly requests; the costliest took ${Math.round(mostCpu)} ms of CPU: ${costliest}`),
  );

  async function expectCheap(
    label: string,
    path: string,
    headers: Headers,
    body: string | Buffer,
    maxCpu = MAX_CPU_MILLISECONDS,
  ): Promise<Answer> {
    const handler = handlerOf(path);
    const event =
      typeof body === 'string'
        ? eventOf(body, headers)
        : eventOf(body.toString('base64'), headers, { isBase64Encoded: true });
    // A costly algorithm is costly each time. A busy machine is not.
    let [answer, cost]: [Answer | undefined, number] = [undefined, Infinity];
    for (let run = 0; run < 3 && cost >= maxCpu; run++) {
      const from = process.cpuUsage();
      answer = await send(handler, event);
      const { user, system } = process.cpuUsage(from);
      cost = Math.min(cost, comparableTo(maxCpu, (user + system) / 1_000));
    }
    sent++;
    if (cost > mostCpu) [mostCpu, costliest] = [cost, `${label} to ${path}`];
    expect({ label, isCheap: cost < maxCpu, cost: cost < maxCpu ? 0 : cost }).toEqual({
      label,
      isCheap: true,
      cost: 0,
    });
    expect(answer!.status).toBeLessThan(500);
    return answer!;
  }

  const json = JSON.stringify({ data: { organizationId: 'acme' } });
  /**
   * All endpoints refuse bodies in the same code. So large bodies go only to one endpoint of each auth level, and
   * small bodies to all others.
   */
  const largest = new Set(
    (['apiKey', 'workspace', 'none'] as const).map((auth) => cases.find(([, endpoint]) => endpoint.auth === auth)![0]),
  );
  const refusedBodies = (repeats: number): Record<string, string | Buffer> => ({
    '6,000 levels': `{"data":${'{"a":'.repeat(6_000)}1${'}'.repeat(6_001)}`,
    'only brackets': '['.repeat(repeats),
    'an open string': `{"data":{"a":"${'\\"'.repeat(repeats)}`,
    'bytes that are not UTF-8': Buffer.concat([
      Buffer.from('{"data":{"organizationId":"'),
      Buffer.of(0xff),
      Buffer.from('"}}'),
    ]),
    'a byte order mark': Buffer.from(`\ufeff${json}`),
    'UTF-16': Buffer.from(json, 'utf16le'),
    gzip: gzipSync(json),
  });
  const [small, large] = [refusedBodies(2_000), refusedBodies(2_000_000)];

  test.each(cases)('%s refuses deep nesting and wrong encodings within the CPU limit', async (path, endpoint) => {
    const { headers } = callers[endpoint.auth];
    for (const [label, body] of Object.entries(largest.has(path) ? large : small)) {
      const answer = await expectCheap(label, path, headers, body);
      expect([label, answer.status, answer.body.error.status]).toEqual([label, 400, 'INVALID_ARGUMENT']);
    }
  });

  const costlyFields = (characters: number, fields: number, maxCpu: number) => ({
    texts: ['\n', '"', '\u00fc'].map((character) => JSON.stringify(character.repeat(characters))),
    members: times(fields, (index) => `"field${index}":{}`).join(','),
    maxCpu,
  });
  // These bodies are made only once, because making them takes longer than refusing them.
  const largestFields = costlyFields(2_400_000, 100_000, MAX_CPU_MILLISECONDS);
  /**
   * These bodies have half of the fields and a quarter of the CPU limit. Work that is quadratic in the number of fields
   * would exceed both limits equally. Work that is quadratic in the characters of a text would take a hundred times the
   * limit.
   */
  const smallerFields = costlyFields(200_000, 50_000, MAX_CPU_MILLISECONDS / 4);
  const withMember = (object: object, member: string) =>
    [JSON.stringify(object).slice(0, -1), member].join(Object.keys(object).length > 0 ? ',' : '') + '}';

  test.each(cases)('%s answers one long text and many fields within the CPU limit', async (path, endpoint) => {
    const { headers } = callers[endpoint.auth];
    const { texts, members, maxCpu } = largest.has(path) ? largestFields : smallerFields;
    const data = exampleData(endpoint, callers) as Record<string, unknown>;
    const [field = 'organizationId'] = Object.keys(data);
    const { [field]: _replaced, ...others } = data;
    for (const text of texts)
      await expectCheap('a long text', path, headers, `{"data":${withMember(others, `"${field}":${text}`)}}`, maxCpu);
    await expectCheap('many fields', path, headers, `{"data":${withMember(data, members)}}`, maxCpu);
  });

  test('endpoints that read documents and files answer within the CPU limit', async () => {
    const { headers } = callers.apiKey;
    const editor = { ...nda, editorId: 'costly' };
    const post = (label: string, path: string, data: object) =>
      expectCheap(label, path, headers, JSON.stringify({ data }));
    const { organizationId, documentId } = nda;
    await post('a document', '/v2/organizations/documents/add', {
      organizationId,
      createOrganization: true,
      documents: [{ documentId }],
    });
    await post('blanks in XML', '/v2/crdt/add', { ...editor, type: 'xml', data: `<p>a</p>${'\n'.repeat(2_000_000)}x` });
    await post('an editor', '/v2/crdt/add', { ...editor, editorId: 'pushed', type: 'text', data: 'a' });
    const update = (clients: number, content: readonly number[]) =>
      Buffer.concat([
        Buffer.of(0x80 | (clients & 0x7f), 0x80 | ((clients >> 7) & 0x7f), clients >> 14),
        // Yjs writes the clients in descending order.
        ...times(clients, (index) => clients - 1 - index).map((at) =>
          Buffer.of(
            1,
            0x80 | (at & 0x7f),
            0x80 | ((at >> 7) & 0x7f),
            at >> 14,
            0,
            content[0]!,
            1,
            7,
            ...Buffer.from('content'),
            ...content.slice(1),
          ),
        ),
        Buffer.of(0),
      ]);
    for (const [label, bytes] of [
      ['many clients', update(30_000, [4, 1, 120])],
      ['many subdocuments', update(60_000, [9, 1, 120, 118, 0])],
    ] as const) {
      const answer = await post(label, '/v2/crdt/updates/push', {
        ...editor,
        editorId: 'pushed',
        update: bytes.toString('base64'),
      });
      expect([label, answer.status]).toEqual([label, 400]);
    }
    const xlsx = workbook(
      times(10, (at) => ({
        name: `S${at}`,
        rows: [],
        xml: `<sheetData>${'<a/>'.repeat(290_000)}</sheetData>`,
      })),
    );
    const mimeType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
    expect(
      (await post('a workbook', '/v2/agents/extract', { fileBase64: xlsx.toString('base64'), mimeType })).status,
    ).toBe(400);
    await post('commas', '/v2/agents/extract', {
      fileBase64: Buffer.from(','.repeat(4_000_000)).toString('base64'),
      mimeType: 'text/csv',
    });
  });
});
