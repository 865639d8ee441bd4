import { describe, expect, jest, test } from '@jest/globals';
import { endpoint as createEndpoint } from '../../../functions/v2/workspace/advancedwebhook/endpoints/create.ts';
import { WebhookEndpointEntity, WebhookEndpointUidEntity } from '../../../lib/webhooks/endpoints.ts';
import { WebhookSettingsEntity } from '../../../lib/webhooks/webhookSettings.ts';
import { acmeWorld, invalid, table } from '../../support/acmeWorld.ts';
import { endpointHandler } from '../../support/functionHandlers.ts';
import { everyItem, storedItem } from '../../support/items.ts';
import { post } from '../../support/requests.ts';
import { times } from '../../support/times.ts';
import { newWebhookCustomer, outcome, paths } from '../../support/webhooks.ts';

const { engine, customer } = acmeWorld({ table: 'memory', newCustomer: newWebhookCustomer });

const HOOK = 'https://example.com/hook';
const UNKNOWN = ['NOT_FOUND', 'Advanced webhook provider request failed. No endpoint has this endpointId.'] as const;
const ISO = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const FIXED_UID = ['INVALID_ARGUMENT', 'uid must be left out: it is fixed when the endpoint is created'] as const;

const create = (data: object = {}) => customer.ok(paths.create, { url: HOOK, ...data });
const update = (endpointId: string, data: object) => customer.ok(paths.update, { endpointId, ...data });
const listed = async (): Promise<any[]> => (await customer.ok(paths.list, { limit: 250 })).endpoints;
const stored = (endpointId: string) =>
  storedItem(engine, WebhookEndpointEntity.key({ tenant: customer.apiKey, endpointId }));
const count = async () => (await storedItem(engine, WebhookSettingsEntity.key({ tenant: customer.apiKey })))?.endpoints;
const uidItem = (uid: string) => storedItem(engine, WebhookEndpointUidEntity.key({ tenant: customer.apiKey, uid }));

describe('POST /v2/workspace/advancedwebhook/endpoints/create', () => {
  test('creates an enabled endpoint from a URL, with null for all other fields', async () => {
    const { status, body } = await customer.call(paths.create, { url: HOOK });
    expect(status).toBe(200);
    expect(body.result).toEqual({
      status: 'success',
      message: 'Advanced webhook endpoint created successfully.',
      data: {
        id: expect.stringMatching(/^ep_[0-9A-Za-z]{27}$/),
        url: HOOK,
        description: null,
        filterTypes: null,
        channels: null,
        disabled: false,
        rateLimit: null,
        uid: null,
        createdAt: expect.stringMatching(ISO),
        updatedAt: expect.stringMatching(ISO),
      },
    });
    expect(body.result.data.createdAt).toBe(body.result.data.updatedAt);
    expect(await listed()).toEqual([body.result.data]);
  });

  test('returns all sent fields except metadata, which are stored but never returned', async () => {
    const fields = {
      url: 'HTTPS://user:p%40ss@EXAMPLE.com:8443/a?b=c#d',
      description: 'Wörld\n\u{1f30d}',
      filterTypes: ['comment.add', 'execution.failed'],
      channels: ['a', 'ü b'],
      disabled: true,
      rateLimit: 1_000,
      uid: 'mine#1',
    };
    const metadata = JSON.parse('{"team":"sales","":"empty","__proto__":"kept","constructor":"too"}');
    const made = await create({ ...fields, metadata });
    expect(made).toEqual({ id: made.id, ...fields, createdAt: made.createdAt, updatedAt: made.updatedAt });
    expect(JSON.parse((await stored(made.id))?.metadata)).toEqual(metadata);
    expect(await listed()).toEqual([made]);
    expect(await create({ description: '', metadata: {} })).toMatchObject({ description: '' });
  });

  test('stores a uid that no update can change', async () => {
    const { id } = await create({ uid: 'mine' });
    for (const uid of ['other', 'mine', ''])
      expect(await outcome(customer, paths.update, { endpointId: id, uid, description: 'new' })).toEqual(FIXED_UID);
    expect(await update(id, { uid: null, description: 'new' })).toMatchObject({ uid: 'mine', description: 'new' });
  });

  test('accepts a uid only once per API key', async () => {
    const first = await create({ uid: 'mine' });
    expect(await outcome(customer, paths.create, { url: HOOK, uid: 'mine' })).toEqual([
      'ALREADY_EXISTS',
      'An advanced webhook endpoint with this uid already exists.',
    ]);
    expect((await (await newWebhookCustomer()).ok(paths.create, { url: HOOK, uid: 'mine' })).uid).toBe('mine');
    expect(await listed()).toEqual([first]);
    expect(await count()).toBe(1);
  });

  test('creates separate endpoints for uids that contain separators of table keys', async () => {
    const uids = ['a', 'A', 'a#', 'a%23', '~', 'ENDPOINT', '__proto__', ' ', '😀'.repeat(256), `${'😀'.repeat(255)}x`];
    for (const uid of uids) await create({ uid });
    expect((await listed()).map(({ uid }) => uid).sort()).toEqual(uids.sort());
  });

  test('creates 200 of 230 endpoints in 25 parallel clients and rejects 30 with RESOURCE_EXHAUSTED', async () => {
    let remaining = 230;
    const refused: unknown[] = [];
    await Promise.all(
      times(25, async () => {
        while (remaining-- > 0) {
          const answer = await outcome(customer, paths.create, { url: HOOK });
          if (answer !== 'done') refused.push(answer);
        }
      }),
    );
    expect(refused).toEqual(
      times(30, () => ['RESOURCE_EXHAUSTED', 'The API key has as many advanced webhook endpoints as it may have.']),
    );
    expect([await count(), (await listed()).length]).toEqual([200, 200]);
    const [{ id }] = await listed();
    await customer.ok(paths.delete, { endpointId: id });
    expect(await outcome(customer, paths.create, { url: HOOK })).toBe('done');
  });
});

describe('invalid fields of endpoints/create and endpoints/update', () => {
  // `test/contract` has wrong types and limits, and the unit test of the field has every invalid URL.
  test.each<[what: string, data: object, message: string]>([
    ['an invalid URL', { url: 'not a url' }, 'url must be a valid http(s) URL.'],
    [
      'metadata with a number under __proto__',
      JSON.parse('{"metadata":{"__proto__":5}}'),
      'metadata.__proto__ must be a string',
    ],
  ])(
    'make both endpoints return INVALID_ARGUMENT with the field and write nothing: %s',
    async (_what, data, message) => {
      const { id } = await create();
      const before = await everyItem(engine);
      expect(await customer.error(paths.create, { url: HOOK, ...data })).toEqual(invalid(message));
      expect(await customer.error(paths.update, { endpointId: id, ...data })).toEqual(invalid(message));
      expect(await everyItem(engine)).toEqual(before);
    },
  );

  // The unit test of the address policy has every spelling of private addresses.
  const PRIVATE = 'url must not lead to a loopback, private or reserved address';

  test.each(['localhost', '169.254.169.254'])('make both endpoints reject the private address %s', async (host) => {
    const { id } = await create();
    const url = `https://user:word@${host}:8443/hook`;
    for (const [path, endpoint] of [
      [paths.create, {}],
      [paths.update, { endpointId: id }],
    ] as const)
      expect(await outcome(customer, path, { url, ...endpoint })).toEqual(['INVALID_ARGUMENT', PRIVATE]);
    expect(await listed()).toMatchObject([{ id, url: HOOK }]);
  });

  test('are still private addresses in a deployment that allows loopback URLs', async () => {
    const local = endpointHandler(createEndpoint, { ALLOW_LOOPBACK_DELIVERY: 'true' });
    expect((await post(local, customer.headers, { url: 'http://localhost:4000/hook' })).status).toBe(200);
    expect((await post(local, customer.headers, { url: 'http://10.0.0.1/' })).body.error.message).toBe(PRIVATE);
  });
});

describe('POST /v2/workspace/advancedwebhook/endpoints/update', () => {
  const whole = {
    description: 'd',
    filterTypes: ['comment.add'],
    channels: ['c'],
    disabled: false,
    rateLimit: 5,
    metadata: { a: '1' },
  };

  test.each<[string, any]>([
    ['url', 'http://example.org/'],
    ['description', 'new'],
    ['filterTypes', ['huddle.join']],
    ['channels', ['x', 'y']],
    ['disabled', true],
    ['rateLimit', 7],
    ['metadata', { b: '2' }],
  ])('changes only %s if the request has only this field', async (field, value) => {
    const made = await create({ ...whole, uid: 'u' });
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.parse(made.createdAt) + 5_000);
    try {
      const { status, body } = await customer.call(paths.update, { endpointId: made.id, [field]: value });
      const updatedAt = new Date(Date.parse(made.createdAt) + 5_000).toISOString();
      expect({ status, ...body.result }).toEqual({
        status: 'success',
        message: 'Advanced webhook endpoint updated successfully.',
        data: { ...made, ...(field !== 'metadata' && { [field]: value }), updatedAt },
      });
      expect(await listed()).toEqual([body.result.data]);
      expect(JSON.parse((await stored(made.id))?.metadata)).toEqual(field === 'metadata' ? value : whole.metadata);
    } finally {
      clock.mockRestore();
    }
  });

  test('rejects a request with only null besides endpointId', async () => {
    const { id } = await create();
    const before = await stored(id);
    expect(await outcome(customer, paths.update, { endpointId: id, url: null, disabled: null })).toEqual([
      'INVALID_ARGUMENT',
      'At least one endpoint field besides endpointId must be provided.',
    ]);
    expect(await stored(id)).toEqual(before);
  });

  test('keeps the fields of ten parallel updates', async () => {
    const { id } = await create();
    const changes = [
      { description: 'd' },
      { filterTypes: ['comment.add'] },
      { channels: ['c'] },
      { disabled: true },
      { rateLimit: 5 },
    ];
    await Promise.all([...changes, ...changes].map((change) => update(id, change)));
    expect(await listed()).toMatchObject([Object.assign({}, ...changes)]);
  });
});

/** Expects that every call about one endpoint fails, because the customer has no endpoint with this id. */
async function expectUnknown(endpointId: string): Promise<void> {
  for (const [path, data] of [
    [paths.delete, {}],
    [paths.getSecret, {}],
    [paths.rotate, {}],
    [paths.update, { disabled: true }],
  ] as const)
    expect(await outcome(customer, path, { endpointId, ...data })).toEqual(UNKNOWN);
}

describe('POST /v2/workspace/advancedwebhook/endpoints/delete', () => {
  test('deletes the endpoint, its secrets, its uid and its list entry in one write', async () => {
    const [other, made] = [await create(), await create({ uid: 'mine' })];
    const write = jest.spyOn(table, 'write');
    const { status, body } = await customer.call(paths.delete, { endpointId: made.id });
    expect(write).toHaveBeenCalledTimes(1);
    write.mockRestore();
    expect({ status, ...body.result }).toEqual({
      status: 'success',
      message: 'Advanced webhook endpoint deleted successfully.',
      data: { endpointId: made.id, deleted: true },
    });
    expect([await stored(made.id), await uidItem('mine'), await count()]).toEqual([undefined, undefined, 1]);
    expect(await listed()).toEqual([other]);
    await expectUnknown(made.id);
  });

  test('deletes the endpoint even if a parallel update runs', async () => {
    for (let i = 0; i < 5; i++) {
      const { id } = await create();
      await Promise.all([
        customer.ok(paths.delete, { endpointId: id }),
        outcome(customer, paths.update, { endpointId: id, description: 'd' }),
      ]);
      expect(await stored(id)).toBeUndefined();
    }
    expect(await count()).toBe(0);
  });

  test.each([
    ['unknown', 'ep_000000000000000000000000000'],
    ['awkward', 'x#UID'],
    ['long', 'ü'.repeat(512)],
  ])('returns NOT_FOUND for an id that is %s, as all calls about endpoints do', async (_what, endpointId) => {
    await expectUnknown(endpointId);
  });
});
