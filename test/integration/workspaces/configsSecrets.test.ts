import { describe, expect, jest, test } from '@jest/globals';
import { replace } from '../../../lib/table/table.ts';
import { EmailConfigEntity } from '../../../lib/workspaces/configs/emailConfig.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { capturedLog } from '../../support/capturedLog.ts';
import { newCustomer } from '../../support/customer.ts';
import { everyItem } from '../../support/items.ts';

const EMAIL_KEY = 'SG.email-provider-key-4711';
const AI_KEY = 'sk-ai-model-api-key-4711';
const TOKEN = 'permission-provider-token-4711';
const BOT_TOKEN = 'xoxb-4711-bot-token-of-chat';
const CHANNEL_PATH = 'services/T4711/B4711/channel-webhook';
const secrets = [EMAIL_KEY, AI_KEY, TOKEN, BOT_TOKEN, CHANNEL_PATH];
const chatServiceConfig = { botToken: BOT_TOKEN, channelWebhookUrl: `https://hooks.slack.com/${CHANNEL_PATH}` };

const update = (config: string) => `/v2/workspace/${config}/update`;
const get = (config: string) => `/v2/workspace/${config}/get`;

const lines = capturedLog();
const { engine, customer } = acmeWorld();

/** Expects that a text contains no secret, neither as it is nor in an encoding that can be decoded. */
function expectNoSecret(text: string): void {
  for (const secret of secrets) {
    for (const form of [
      secret,
      Buffer.from(secret).toString('base64').slice(0, -4),
      Buffer.from(secret).toString('hex'),
      encodeURIComponent(secret),
    ])
      expect(text).not.toContain(form);
  }
}

const sent = [
  [update('emailconfig'), { emailServiceConfig: { apiKey: EMAIL_KEY } }],
  [update('apikeyconfig'), { aiModelApiKey: [{ provider: 'openai', customerApiKey: AI_KEY }] }],
  [update('permissionproviderconfig'), { permissionProviderConfig: { authToken: TOKEN } }],
  [update('chatconfig'), { chatServiceConfig }],
] as const;

async function storeSecrets(headers: Record<string, string> = {}): Promise<void> {
  for (const [path, data] of sent) expect((await customer.call(path, data, headers)).status).toBe(200);
}

describe('secrets of configurations', () => {
  test('are not readable in the table, nor in stored answers for an Idempotency-Key', async () => {
    await storeSecrets();
    await storeSecrets({ 'idempotency-key': 'once' });
    const items = await everyItem(engine);
    expect(
      items.filter(({ _t }) =>
        ['EmailConfig', 'ApiKeyConfig', 'PermissionProviderConfig', 'ChatConfig', 'Idempotency'].includes(_t),
      ),
    ).toHaveLength(8);
    for (const item of items) {
      expectNoSecret(JSON.stringify(item));
      for (const value of Object.values(item))
        if (value instanceof Uint8Array) expectNoSecret(Buffer.from(value).toString('latin1'));
    }
    expect((await customer.untyped(get('emailconfig'), {})).emailServiceConfig.apiKey).toBe(EMAIL_KEY);
    expect((await customer.untyped(get('permissionproviderconfig'), {})).permissionProviderConfig.authToken).toBe(
      TOKEN,
    );
  });

  test('are only in responses that must return them to their owner', async () => {
    await storeSecrets();
    for (const config of ['apikeyconfig', 'activityconfig', 'notificationconfig', 'domains', 'chatconfig'])
      expectNoSecret(JSON.stringify((await customer.call(get(config), {})).body));
    for (const [path, data] of sent.filter(([path]) => path !== update('emailconfig')))
      expectNoSecret(JSON.stringify((await customer.call(path, data)).body));
  });

  test('are in no error message and no log line, even if a request fails', async () => {
    await storeSecrets();
    const refused = await Promise.all([
      customer.call(update('emailconfig'), { emailServiceConfig: { apiKey: `${EMAIL_KEY}\n` } }),
      customer.call(update('emailconfig'), { emailServiceConfig: { apiKey: EMAIL_KEY, type: EMAIL_KEY.repeat(9) } }),
      customer.call(update('emailconfig'), {
        emailServiceConfig: { apiKey: { key: EMAIL_KEY }, fromEmail: EMAIL_KEY },
      }),
      customer.call(update('apikeyconfig'), {
        aiModelApiKey: [
          { provider: 'openai', customerApiKey: AI_KEY },
          { provider: 'openai', customerApiKey: AI_KEY },
        ],
      }),
      customer.call(update('apikeyconfig'), { aiModelApiKey: [{ provider: AI_KEY, customerApiKey: [AI_KEY] }] }),
      customer.call(update('permissionproviderconfig'), {
        permissionProviderConfig: {
          authToken: TOKEN.repeat(200),
          permissionProviderUrl: `https://user:${TOKEN}@example.com`,
        },
      }),
      customer.call(update('permissionproviderconfig'), {
        permissionProviderConfig: { permissionProviderUrl: `https://${TOKEN}@127.0.0.1/${TOKEN}` },
      }),
      customer.call(update('chatconfig'), { chatServiceConfig: { botToken: `${BOT_TOKEN}\n` } }),
      customer.call(update('chatconfig'), {
        chatServiceConfig: { channelWebhookUrl: `https://example.com/${CHANNEL_PATH}` },
      }),
    ]);
    for (const { status, body } of refused) {
      expect(status).toBe(400);
      expectNoSecret(JSON.stringify(body));
    }
    jest.spyOn(table, 'write').mockRejectedValue(new Error('The table is broken'));
    for (const [path, data] of sent.filter(([path]) => path !== update('apikeyconfig'))) {
      const { status, body } = await customer.call(path, data);
      expect(status).toBe(500);
      expectNoSecret(JSON.stringify(body));
    }
    expect(lines.filter((line) => line.includes('The table is broken'))).toHaveLength(3);
    expect(lines.length).toBeGreaterThanOrEqual(12);
    for (const line of lines) expectNoSecret(line);
  });

  test('cannot be decrypted by another tenant after their item is copied', async () => {
    await storeSecrets();
    const other = await newCustomer();
    await other.untyped(update('emailconfig'), { emailServiceConfig: { apiKey: 'another' } });
    const [own, foreign] = [
      await table.get(EmailConfigEntity, { tenant: customer.apiKey }),
      await table.get(EmailConfigEntity, { tenant: other.apiKey }),
    ];
    await table.write([
      replace(
        EmailConfigEntity,
        { ...foreign!, emailServiceConfig: own!.emailServiceConfig, tenant: other.apiKey },
        foreign!._r,
      ),
    ]);
    const { status, body } = await other.call(get('emailconfig'), {});
    expect(status).toBe(500);
    expectNoSecret(JSON.stringify(body));
    for (const line of lines) expectNoSecret(line);
  });
});
