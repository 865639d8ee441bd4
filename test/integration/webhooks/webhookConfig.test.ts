import { describe, expect, test } from '@jest/globals';
import { defaultWebhookTriggers, triggerTypes } from '../../../lib/events/rules/catalogue.ts';
import { BasicWebhookConfigEntity } from '../../../lib/webhooks/webhookConfigs.ts';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { storedItem } from '../../support/items.ts';
import { pemOf, rsaKeyPair, rsaPublicKey } from '../../support/rsaKeys.ts';
import { paths } from '../../support/webhooks.ts';

const { engine, customer } = acmeWorld();

const key = pemOf(rsaKeyPair().publicKey, 'spki');
const empty = { authToken: '', rawNotificationUrl: '', processedNotificationUrl: '' };

const get = () => customer.ok(paths.getBasic, {});
const update = (data: object) => customer.ok(paths.updateBasic, data);
const stored = () => storedItem(engine, BasicWebhookConfigEntity.key({ tenant: customer.apiKey }));

describe('POST /v2/workspace/webhookconfig/get', () => {
  test('returns the empty initial config if no config is stored, and stores nothing', async () => {
    expect(await customer.result(paths.getBasic, {})).toEqual({
      status: 'success',
      message: 'Webhook configuration retrieved successfully.',
      data: { useWebhookService: false, webhookServiceConfig: empty },
    });
    expect(await stored()).toBeUndefined();
  });
});

describe('POST /v2/workspace/webhookconfig/update', () => {
  const whole = {
    authToken: 'a token',
    rawNotificationUrl: 'https://user:word@example.com/raw',
    processedNotificationUrl: 'http://example.com:8080/processed',
    encodeData: true,
    encryptData: true,
    publicKey: key,
    enableDataProtection: true,
    triggers: { 'comment.add': true, 'huddle.join': false },
  };

  test('returns the stored config with the full auth token', async () => {
    expect(
      await customer.result(paths.updateBasic, {
        useWebhookService: false,
        webhookServiceConfig: whole,
      }),
    ).toEqual({
      status: 'success',
      message: 'Webhook configuration updated successfully.',
      data: { useWebhookService: false, webhookServiceConfig: whole },
    });
    expect(await get()).toEqual({ useWebhookService: false, webhookServiceConfig: whole });
  });

  test.each(Object.entries(whole))(
    'changes only %s if the request has only this field, and ignores null',
    async (field, value) => {
      await update({
        useWebhookService: false,
        webhookServiceConfig: { ...whole, triggers: { 'comment.update': true } },
      });
      const before = (await get()).webhookServiceConfig;
      const others = Object.fromEntries(
        Object.keys(whole)
          .filter((name) => name !== field)
          .map((name) => [name, null]),
      );
      const changed = field === 'triggers' ? { 'comment.update': true, ...(value as object) } : value;
      expect((await update({ webhookServiceConfig: { ...others, [field]: value } })).webhookServiceConfig).toEqual({
        ...before,
        [field]: changed,
      });
    },
  );

  test.each(['authToken', 'rawNotificationUrl', 'processedNotificationUrl'])(
    'clears %s with an empty string',
    async (field) => {
      await update({ webhookServiceConfig: whole });
      await update({ webhookServiceConfig: { [field]: '' } });
      expect(await get()).toEqual({ useWebhookService: false, webhookServiceConfig: { ...whole, [field]: '' } });
    },
  );

  test('clears publicKey together with encryptData: false', async () => {
    await update({ webhookServiceConfig: whole });
    expect(
      (await update({ webhookServiceConfig: { publicKey: '', encryptData: false } })).webhookServiceConfig,
    ).toEqual({ ...whole, publicKey: '', encryptData: false });
  });

  test('stores the default triggers, overridden by sent triggers, only when first enabled', async () => {
    await update({ webhookServiceConfig: { authToken: 'kept', rawNotificationUrl: 'https://example.com/raw' } });
    const first = await update({
      useWebhookService: true,
      webhookServiceConfig: { triggers: { 'recorder.done': true, 'comment.add': false } },
    });
    const triggers = { ...defaultWebhookTriggers, 'recorder.done': true, 'comment.add': false };
    expect(first).toEqual({
      useWebhookService: true,
      webhookServiceConfig: {
        ...empty,
        authToken: 'kept',
        rawNotificationUrl: 'https://example.com/raw',
        enableDataProtection: false,
        triggers,
      },
    });
    await update({ useWebhookService: false, webhookServiceConfig: { triggers: { 'huddle.create': false } } });
    expect((await update({ useWebhookService: true })).webhookServiceConfig.triggers).toEqual({
      ...triggers,
      'huddle.create': false,
    });
  });

  test('keeps the fields of ten parallel updates', async () => {
    const types = triggerTypes.slice(0, 10);
    await update({ useWebhookService: true });
    await Promise.all(
      types.map((type) => update({ webhookServiceConfig: { triggers: { [type]: type.length % 2 === 0 } } })),
    );
    expect((await get()).webhookServiceConfig.triggers).toEqual({
      ...defaultWebhookTriggers,
      ...Object.fromEntries(types.map((type) => [type, type.length % 2 === 0])),
    });
  });

  test('keeps the fields of two parallel updates, one of them the auth token', async () => {
    await Promise.all([
      update({ webhookServiceConfig: { authToken: 'first token' } }),
      update({ useWebhookService: true }),
    ]);
    expect(await get()).toMatchObject({
      useWebhookService: true,
      webhookServiceConfig: { authToken: 'first token', triggers: defaultWebhookTriggers },
    });
  });
});

describe('POST /v2/workspace/webhookconfig/update with an invalid request', () => {
  test.each([{}, { useWebhookService: null, webhookServiceConfig: null }])(
    'rejects the empty update %j, names both fields, and changes nothing',
    async (data) => {
      await update({ webhookServiceConfig: { triggers: {} } });
      const before = await stored();
      const { status, body } = await customer.call(paths.updateBasic, data);
      expect([status, body.error]).toMatchObject([
        400,
        { status: 'INVALID_ARGUMENT', message: 'Invalid webhook service configuration.' },
      ]);
      expect(JSON.stringify(body.error.details.issues)).toMatch(/useWebhookService.*webhookServiceConfig/);
      expect(await stored()).toEqual(before);
    },
  );

  const inAHeader =
    'webhookServiceConfig.authToken must be of visible ASCII characters and spaces, since it is sent in a header';
  const noKey =
    'webhookServiceConfig.publicKey must be an RSA public key of at least 2048 bits: SPKI or PKCS#1, as PEM or as the base64 inside it';
  const local = (field: string) =>
    `webhookServiceConfig.${field} must not lead to a loopback, private or reserved address`;

  test.each<[string, unknown, string]>([
    ['useWebhookService as text', { useWebhookService: 'true' }, 'useWebhookService must be a boolean'],

    [
      'an unknown trigger',
      { webhookServiceConfig: { triggers: { 'comment.added': true } } },
      'webhookServiceConfig.triggers.comment.added: unknown field. Did you mean webhookServiceConfig.triggers.comment.add?',
    ],

    ['an auth token with a line break', { webhookServiceConfig: { authToken: 'a\r\nx-injected: 1' } }, inAHeader],
    ['an auth token with NUL', { webhookServiceConfig: { authToken: 'a\u0000' } }, inAHeader],
    ['an auth token that no header can carry', { webhookServiceConfig: { authToken: 'šifra' } }, inAHeader],

    [
      'an invalid URL',
      { webhookServiceConfig: { rawNotificationUrl: 'example.com' } },
      'webhookServiceConfig.rawNotificationUrl must be a valid http(s) URL.',
    ],
    [
      'another protocol',
      { webhookServiceConfig: { processedNotificationUrl: 'ftp://example.com' } },
      'webhookServiceConfig.processedNotificationUrl must be a valid http(s) URL.',
    ],
    [
      'loopback',
      { webhookServiceConfig: { rawNotificationUrl: 'http://localhost:3000' } },
      local('rawNotificationUrl'),
    ],
    [
      'a private address',
      { webhookServiceConfig: { processedNotificationUrl: 'http://[::ffff:10.0.0.1]' } },
      local('processedNotificationUrl'),
    ],

    [
      'encryptData without a key',
      { webhookServiceConfig: { encryptData: true } },
      'webhookServiceConfig.publicKey is required while encryptData is true',
    ],
    [
      'encryptData with a cleared key',
      { webhookServiceConfig: { encryptData: true, publicKey: '' } },
      'webhookServiceConfig.publicKey is required while encryptData is true',
    ],
    ['a key of 1024 bits', { webhookServiceConfig: { publicKey: pemOf(rsaPublicKey(1_024), 'spki') } }, noKey],
    ['a private key', { webhookServiceConfig: { publicKey: pemOf(rsaKeyPair().privateKey, 'pkcs8') } }, noKey],
    ['an invalid key', { webhookServiceConfig: { publicKey: 'MIIB' } }, noKey],
  ])('returns INVALID_ARGUMENT with the field and stores nothing: %s', async (_what, data, message) => {
    const { status, body } = await customer.call(paths.updateBasic, data);
    const isWrongType = / must be an? (boolean|string|object)$/.test(message);
    const general = isWrongType ? ['Invalid webhook service configuration.'] : [];
    expect({ status, error: body.error.status, message: body.error.message }).toEqual({
      status: 400,
      error: 'INVALID_ARGUMENT',
      message: general[0] ?? message,
    });
    expect(
      body.error.details.issues.map((issue: { message: string }) => issue.message).slice(0, general.length + 1),
    ).toEqual([...general, message]);
    expect(await stored()).toBeUndefined();
  });

  test('names both URLs if both are private', async () => {
    const { body } = await customer.call(paths.updateBasic, {
      webhookServiceConfig: { rawNotificationUrl: 'http://127.1', processedNotificationUrl: 'http://0x0a000001' },
    });
    expect(body.error.details.issues.map(({ path }: any) => path)).toEqual([
      ['webhookServiceConfig', 'rawNotificationUrl'],
      ['webhookServiceConfig', 'processedNotificationUrl'],
    ]);
  });

  test('rejects a cleared key while encryptData is true', async () => {
    await update({ webhookServiceConfig: { publicKey: key, encryptData: true } });
    const before = await stored();
    expect(
      (await customer.call(paths.updateBasic, { webhookServiceConfig: { publicKey: '' } })).body.error.message,
    ).toBe('webhookServiceConfig.publicKey is required while encryptData is true');
    expect(await stored()).toEqual(before);
  });
});
