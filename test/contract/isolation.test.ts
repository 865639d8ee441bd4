import { beforeAll, describe, expect, test } from '@jest/globals';
import { forAllTests } from '../support/acmeWorld.ts';
import { startEngine } from '../support/engine.ts';
import { endpoints as all, ExampleCustomer, examplePaths, ExampleRun } from '../support/examples.ts';
import { everyItem } from '../support/items.ts';
import { endpoints } from './cases.ts';
import { dataSchema, expectDocumented } from './contract.ts';

type Data = Record<string, unknown>;

/** The texts of the first tenant end with this mark. */
const MARK = 'OF-THE-FIRST';
/** Examples that remove what others need. */
const removing = /delete|remove|disablestate|reset/;

const engine = forAllTests(startEngine);
const first = new ExampleRun('first@example.com');
const second = new ExampleCustomer();
/** The requests of the first tenant, by path. */
const requests = new Map<string, Data>();
/** Values of fields in these requests, by the name of the field. */
const known: Data = {};
/** What answers to the second tenant must not contain, except if its request did. */
const secrets = new Set([MARK]);
let itemsBefore: Record<string, Data>;

beforeAll(async () => {
  for (const path of examplePaths) {
    const data = (await first.prepare(path)) as Data;
    requests.set(path, data);
    if (removing.test(path)) continue;
    const answer = await first.customer.call(path, marked(data));
    expectDocumented(all.get(path)!, answer);
    expect([path, answer.status]).toEqual([path, 200]);
    await first.record(path, answer.body);
    for (const [secret] of JSON.stringify(answer.body).matchAll(/\b[a-z]+_\w{20,}|\beyJ[\w.-]+/g)) secrets.add(secret);
  }
  for (const data of requests.values()) for (const name of Object.keys(data)) known[name] ??= data[name];
  known.apiKeys = [keyOf('apiKey')];
  await second.use(await second.ok('/v2/workspace/create', { ownerEmail: 'second@example.com' }));
  await second.createDocuments();
  await second.createUserToken(['nda']);
  itemsBefore = await itemsOfOthers();
});

/** Returns a request that adds a comment of an agent of the first tenant. */
function byAgent(path: string): Data {
  const { commentAnnotations, commentData, ...others } = requests.get(path) as any;
  const agent = {
    agentSource: 'svc',
    agentId: known.agentId,
    executionId: 'run',
    reason: { title: 't', description: 'd', severity: 'low' },
  };
  const comments = [{ commentText: 'A finding', from: { userId: 'ada' }, agent }];
  return {
    ...others,
    ...(commentAnnotations ? { commentAnnotations: [{ commentData: comments }] } : { commentData: comments }),
  };
}

/** Returns the data with the mark in all texts. Ids have no spaces. */
function marked(value: unknown): unknown {
  if (typeof value === 'string')
    return value.includes(' ') && value !== keyOf('authToken') ? `${value} ${MARK}` : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(marked);
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, marked(field)]));
}

const keyOf = (name: 'apiKey' | 'authToken', { key } = first.customer) =>
  key[name === 'apiKey' ? 'x-svc-api-key' : 'x-svc-auth-token'];

/** Returns the stored items that do not name the second tenant, by key. */
async function itemsOfOthers(): Promise<Record<string, Data>> {
  const ids = [keyOf('apiKey', second)!, second.workspace['x-svc-workspace-id']!];
  const items = await everyItem(engine);
  // Everybody can create workspaces with an address.
  const others = items.filter(({ _t }) => _t !== 'OwnerEmail' && _t !== 'RateLimit');
  return Object.fromEntries(
    others
      .filter((item) => !ids.some((id) => JSON.stringify(item).includes(id)))
      .map((item) => [`${item.PK} ${item.SK}`, item]),
  );
}

/**
 * Returns requests with the ids of the first tenant: its example, and the required fields with each other field whose
 * value an example has. Credentials in them are those of the second tenant.
 */
function foreignRequests(path: string, twinOf = path): Data[] {
  const example = requests.get(twinOf)!;
  const { properties = {}, required = [] } = dataSchema(path);
  const values = (names: readonly string[]) =>
    Object.fromEntries(
      names.map((name) => [name, example[name] ?? known[name]]).filter(([, value]) => value !== undefined),
    );
  const others = Object.keys(properties).filter((name) => !required.includes(name) && name in { ...known, ...example });
  const data = [
    values(Object.keys(example).filter((name) => name in properties)),
    values(required),
    ...others.map((name) => values([...required, name])),
  ];
  if (/commentannotations\/(comments\/)?add$/.test(path)) data.push(byAgent(twinOf));
  if (!('authToken' in properties)) return data;

  return data.flatMap((one) => [
    { ...one, authToken: keyOf('authToken', second) },
    { ...one, apiKey: keyOf('apiKey', second), authToken: keyOf('authToken', second) },
  ]);
}

describe('a request that names ids of another tenant', () => {
  test.each(endpoints.map(({ path, ...endpoint }) => [path, endpoint] as const))(
    'to %s returns nothing of that tenant',
    async (path, { twinOf }) => {
      for (const data of foreignRequests(path, twinOf)) {
        const answer = await second.call(path, data);
        expectDocumented(all.get(path)!, answer);
        expect(answer.status).toBeLessThan(500);
        const [sent, got] = [JSON.stringify(data), JSON.stringify(answer.body)];
        expect([...secrets].filter((secret) => got.includes(secret) && !sent.includes(secret))).toEqual([]);
      }
    },
  );

  test('changes no item of that tenant', async () => {
    expect(await itemsOfOthers()).toMatchObject(itemsBefore);
  });
});
