import { describe, expect, test } from '@jest/globals';
import { AdvancedWebhookConfigEntity } from '../../../lib/webhooks/webhookConfigs.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { type Customer, newCustomer } from '../../support/customer.ts';
import { startEngine } from '../../support/engine.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { storedItem } from '../../support/items.ts';
import { eventOf, send } from '../../support/requests.ts';
import { bodyOf, pemOf, rsaKeyPair } from '../../support/rsaKeys.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';

const engine = forAllTests(startEngine);

const defaults = {
  isEnabled: false,
  encryptData: false,
  encodeData: false,
  publicKey: '',
  enableDataProtection: false,
};
const enabled = { ...defaults, isEnabled: true };
const key = pemOf(rsaKeyPair().publicKey, 'spki');

const get = (customer: Customer) => customer.ok(paths.getConfig, {});
const update = (customer: Customer, data: object) => customer.ok(paths.updateConfig, data);
const stored = (customer: Customer) => storedItem(engine, AdvancedWebhookConfigEntity.key({ tenant: customer.apiKey }));

describe('POST /v2/workspace/advancedwebhookconfig/get', () => {
  test('returns the defaults if no config is stored, and stores nothing', async () => {
    const customer = await newCustomer();
    expect(await customer.result(paths.getConfig, {})).toEqual({
      status: 'success',
      message: 'Advanced webhook configuration retrieved successfully.',
      data: defaults,
    });
    expect(await stored(customer)).toBeUndefined();
  });

  test('requires no body', async () => {
    const { headers } = await newCustomer();
    for (const body of [undefined, '', '{}', '{"data":{}}']) {
      const answer = await send(handlerOf(paths.getConfig), eventOf(body, headers));
      expect(answer.body.result.data).toEqual(defaults);
    }
  });
});

describe('POST /v2/workspace/advancedwebhookconfig/update', () => {
  test('changes only the sent fields, and returns the whole config', async () => {
    const customer = await newCustomer();
    let expected: object = defaults;
    for (const data of [
      { isEnabled: true },
      { encodeData: true },
      { enableDataProtection: true },
      { publicKey: key },
      { encryptData: true },
      { encryptData: false, publicKey: '' },
      { isEnabled: false },
    ]) {
      expected = { ...expected, ...data };
      expect(await customer.result(paths.updateConfig, data)).toEqual({
        status: 'success',
        message: 'Advanced webhook configuration updated successfully.',
        data: expected,
      });
      expect(await get(customer)).toEqual(expected);
    }
  });

  test('keeps the fields of parallel updates, also of the first ones, and returns each field in the response of its update', async () => {
    const customer = await newCustomer();
    const first = [
      { isEnabled: true, encodeData: true },
      { isEnabled: true, enableDataProtection: true },
    ];
    await Promise.all(first.map((change) => update(customer, change)));
    expect(await get(customer)).toEqual({ ...enabled, encodeData: true, enableDataProtection: true });
    const fields = [{ encodeData: true }, { enableDataProtection: true }, { publicKey: key }, { isEnabled: false }];
    const changes = [...fields, ...fields];
    const answers = await Promise.all(changes.map((change) => update(customer, change)));
    expect(answers).toMatchObject(changes);
    expect(await get(customer)).toEqual(Object.assign({ encryptData: false }, ...fields));
  });
});

describe('the public key of an advanced webhook config', () => {
  const needsKey = {
    status: 'INVALID_ARGUMENT',
    message: 'publicKey is required while encryptData is true',
    details: {
      issues: [
        { path: ['publicKey'], code: 'missing_public_key', message: 'publicKey is required while encryptData is true' },
      ],
    },
  };

  test('is stored and returned as it was sent', async () => {
    const customer = await newWebhookCustomer();
    const publicKey = bodyOf(pemOf(rsaKeyPair().publicKey, 'pkcs1'));
    expect((await update(customer, { publicKey })).publicKey).toBe(publicKey);
    expect((await get(customer)).publicKey).toBe(publicKey);
  });

  test.each([
    ['in one call without a key', [], { encryptData: true }],
    ['with a key that is cleared in the same call', [], { encryptData: true, publicKey: '' }],
    ['while a stored key is cleared', [{ publicKey: key }], { encryptData: true, publicKey: '' }],
    ['by clearing the key later', [{ publicKey: key, encryptData: true }], { publicKey: '' }],
    ['at the first configuration', undefined, { isEnabled: true, encryptData: true }],
  ])('is required while encryptData is true: %s', async (_what, before, data) => {
    const customer = before ? await newWebhookCustomer() : await newCustomer();
    for (const request of before ?? []) await update(customer, request);
    const storedBefore = await stored(customer);
    const { status, body } = await customer.call(paths.updateConfig, data);
    expect(status).toBe(400);
    expect(body.error).toEqual(needsKey);
    expect(await stored(customer)).toEqual(storedBefore);
  });

  test('is rejected with INVALID_ARGUMENT and its field name if it is not a public RSA key', async () => {
    const customer = await newCustomer();
    const message =
      'publicKey must be an RSA public key of at least 2048 bits: SPKI or PKCS#1, as PEM or as the base64 inside it';
    const { status, body } = await customer.call(paths.updateConfig, { publicKey: 'key' });
    expect(status).toBe(400);
    expect(body.error).toEqual({
      status: 'INVALID_ARGUMENT',
      message,
      details: { issues: [{ path: ['publicKey'], code: 'custom', message }] },
    });
    expect(await stored(customer)).toBeUndefined();
  });
});
