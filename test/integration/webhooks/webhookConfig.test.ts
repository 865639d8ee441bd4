import { describe, expect, test } from '@jest/globals';
import { defaultWebhookTriggers } from '../../../lib/events/rules/catalogue.ts';
import { BasicWebhookConfigEntity } from '../../../lib/webhooks/webhookConfigs.ts';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { storedItem } from '../../support/items.ts';
import { pemOf, rsaKeyPair } from '../../support/rsaKeys.ts';
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

  test.each([
    { authToken: '' },
    { rawNotificationUrl: '' },
    { processedNotificationUrl: '' },
    { publicKey: '', encryptData: false },
  ])('clears fields by %j', async (cleared) => {
    await update({ webhookServiceConfig: whole });
    await update({ webhookServiceConfig: cleared });
    expect(await get()).toEqual({ useWebhookService: false, webhookServiceConfig: { ...whole, ...cleared } });
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

  test('keeps the fields of parallel updates, also of the first ones', async () => {
    const triggers = { 'comment.add': false, 'recorder.done': true, 'huddle.join': false };
    await Promise.all([
      update({ webhookServiceConfig: { authToken: 'first token' } }),
      update({ useWebhookService: true }),
    ]);
    await Promise.all(
      Object.entries(triggers).map(([type, value]) =>
        update({ webhookServiceConfig: { triggers: { [type]: value } } }),
      ),
    );
    expect(await get()).toMatchObject({
      useWebhookService: true,
      webhookServiceConfig: { authToken: 'first token', triggers: { ...defaultWebhookTriggers, ...triggers } },
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

  test.each<[string, unknown, string]>([
    ['an auth token with a line break', { webhookServiceConfig: { authToken: 'a\r\nx-injected: 1' } }, inAHeader],
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
      'encryptData without a key',
      { webhookServiceConfig: { encryptData: true } },
      'webhookServiceConfig.publicKey is required while encryptData is true',
    ],
    ['an invalid key', { webhookServiceConfig: { publicKey: 'MIIB' } }, noKey],
  ])('returns INVALID_ARGUMENT with the field and stores nothing: %s', async (_what, data, message) => {
    const { status, body } = await customer.call(paths.updateBasic, data);
    const error = { status: 'INVALID_ARGUMENT', message, details: { issues: [{ message }] } };
    expect({ status, ...body }).toMatchObject({ status: 400, error });
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
