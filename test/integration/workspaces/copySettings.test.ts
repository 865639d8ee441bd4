import { describe, expect, test } from '@jest/globals';
import { forAllTests, forEachTest } from '../../support/acmeWorld.ts';
import { startEngine } from '../../support/engine.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { type Headers, post } from '../../support/requests.ts';
import { newApiKey, newWorkspace } from '../../support/workspaces.ts';

forAllTests(startEngine);
const workspace = forEachTest(newWorkspace);

const send = async (path: string, headers: Headers, data: object) =>
  (await post(handlerOf(`/v2/workspace/${path}`), headers, data)).body;
const copy = (data: object) => send('apikey/copy', workspace.headers, data);

const newKey = (settings: object = {}) => newApiKey(workspace, { createAuthToken: true, ...settings });

const configs = [
  'activityconfig',
  'apikeyconfig',
  'chatconfig',
  'emailconfig',
  'notificationconfig',
  'webhookconfig',
  'domains',
];
const readConfigs = async (headers: Headers) =>
  Promise.all(configs.map(async (name) => (await send(`${name}/get`, headers, {})).result.data));

const sendgrid = (apiKey: string) => ({
  useEmailService: true,
  emailServiceConfig: { type: 'sendgrid', apiKey, fromEmail: 'notes@example.com' },
});

describe('apikey/copy', () => {
  test('copies every configuration and the allowed domains', async () => {
    const source = await newKey({
      allowedDomains: ['app.example'],
      useNotificationService: true,
      useWebhookService: true,
      webhookServiceConfig: { rawNotificationUrl: 'https://hooks.example.com/raw' },
      useEmailService: true,
      emailServiceConfig: { type: 'default', fromCompany: 'Acme' },
    });
    await send('activityconfig/update', source.headers, { activityServiceConfig: { isEnabled: true } });
    await send('apikeyconfig/update', source.headers, { defaultDocumentAccessType: 'restricted' });
    await send('advancedwebhookconfig/update', source.headers, { isEnabled: true, encodeData: true });
    const target = await newKey({ allowedDomains: ['old.example'] });
    const { result } = await copy({ sourceApiKey: source.apiKey, targetApiKey: target.apiKey, created: true });
    expect(result).toMatchObject({ data: {}, message: 'API key configuration copied successfully.' });
    expect(await readConfigs(target.headers)).toEqual(await readConfigs(source.headers));
    expect((await send('advancedwebhookconfig/get', target.headers, {})).result.data).toMatchObject({
      isEnabled: true,
      encodeData: true,
    });
    const unset = await newKey();
    await copy({ sourceApiKey: unset.apiKey, targetApiKey: target.apiKey });
    expect(await readConfigs(target.headers)).toEqual(await readConfigs(unset.headers));
  });

  test.each([
    ['keeps the secret of the target', { ...sendgrid('target-key') }, { useEmailService: true, apiKey: 'target-key' }],
    ['turns a service off whose secret the target lacks', {}, { useEmailService: false, apiKey: '' }],
  ])('%s', async (_what, ofTarget, { useEmailService, apiKey }) => {
    const source = await newKey(sendgrid('source-key'));
    const target = await newKey(ofTarget);
    await copy({ sourceApiKey: source.apiKey, targetApiKey: target.apiKey });
    expect((await send('emailconfig/get', target.headers, {})).result.data).toMatchObject({
      useEmailService,
      emailServiceConfig: { type: 'sendgrid', apiKey, fromEmail: 'notes@example.com' },
    });
  });

  test.each([
    ['a target with both', true, { botToken: '****get1', channelWebhookUrl: '****get2' }],
    ['a target with one', false, { botToken: '****get1', channelWebhookUrl: '' }],
  ])('copies chat without its secrets to %s', async (_what, useChatService, expected) => {
    const secretsOf = (owner: string) => ({
      botToken: `xoxb-of-the-${owner}1`,
      channelWebhookUrl: `https://hooks.slack.com/of-the-${owner}2`,
    });
    const own = secretsOf('target');
    const [source, target] = [
      await newKey({ useChatService: true, chatServiceConfig: secretsOf('source') }),
      await newKey({ chatServiceConfig: useChatService ? own : { botToken: own.botToken } }),
    ];
    await copy({ sourceApiKey: source.apiKey, targetApiKey: target.apiKey });
    const { data } = (await send('chatconfig/get', target.headers, {})).result;
    expect(data).toMatchObject({ useChatService, chatServiceConfig: expected });
    expect(data.chatServiceConfig.triggers['comment.add']).toBe(true);
  });

  test.each([
    [
      'permissionproviderconfig',
      'usePermissionProvider',
      'permissionProviderConfig',
      { permissionProviderUrl: 'https://access.example.com/check' },
    ],
    [
      'webhookconfig',
      'useWebhookService',
      'webhookServiceConfig',
      { rawNotificationUrl: 'https://hooks.example.com/raw' },
    ],
  ])('copies %s without its secret', async (config, service, group, fields) => {
    const [source, target, other] = [await newKey(), await newKey(), await newKey()];
    const sent = (authToken: string) => ({ [service]: true, [group]: { ...fields, authToken } });
    await send(`${config}/update`, source.headers, sent('of-the-source'));
    await send(`${config}/update`, target.headers, { [group]: { ...fields, authToken: 'of-the-target' } });
    const copied = async ({ apiKey, headers }: Awaited<ReturnType<typeof newKey>>) => {
      await copy({ sourceApiKey: source.apiKey, targetApiKey: apiKey });
      return (await send(`${config}/get`, headers, {})).result.data;
    };
    expect(await copied(target)).toMatchObject(sent('of-the-target'));
    expect(await copied(other)).toMatchObject({ ...sent(''), [service]: false });
  });

  const R = 'https://hooks.example.com/raw';
  const SECRET = 'https://ada:source-password@hooks.example.com/raw';
  test.each<[string, object, object, object]>([
    ['the password of a URL', { rawNotificationUrl: SECRET }, {}, { on: false, token: '', raw: R }],
    [
      'the password of the URL of the same receiver',
      { rawNotificationUrl: SECRET },
      { rawNotificationUrl: 'https://bob:target-password@hooks.example.com/raw' },
      { on: true, token: '', raw: 'https://bob:target-password@hooks.example.com/raw' },
    ],
    [
      'a token of the target to the URL of the source',
      { rawNotificationUrl: R },
      { rawNotificationUrl: 'https://other.example.com/raw', authToken: 'of-the-target' },
      { on: true, token: '', raw: R },
    ],
    [
      'a token of the target to a further URL of the source',
      { rawNotificationUrl: R, processedNotificationUrl: 'https://more.example.com/', authToken: 'of-the-source' },
      { rawNotificationUrl: R, authToken: 'of-the-target' },
      { on: false, token: '', raw: R },
    ],
    [
      'a token of a target without a URL',
      { rawNotificationUrl: R, authToken: 'of-the-source' },
      { authToken: 'of-the-target' },
      { on: false, token: '', raw: R },
    ],
    [
      'a password, but the token of the target stays beside its URLs',
      { rawNotificationUrl: SECRET },
      { rawNotificationUrl: R, processedNotificationUrl: 'https://more.example.com/', authToken: 'of-the-target' },
      { on: true, token: 'of-the-target', raw: R },
    ],
  ])('never gives away %s', async (_what, ofSource, ofTarget, expected) => {
    const source = await newKey({ useWebhookService: true, webhookServiceConfig: ofSource });
    const target = await newKey({ useWebhookService: true, webhookServiceConfig: ofTarget });
    await copy({ sourceApiKey: source.apiKey, targetApiKey: target.apiKey });
    const { useWebhookService: on, webhookServiceConfig } = (await send('webhookconfig/get', target.headers, {})).result
      .data;
    const { authToken: token, rawNotificationUrl: raw } = webhookServiceConfig;
    expect({ on, token, raw }).toEqual(expected);
  });

  test('leaves what neither API key has set', async () => {
    const [source, target] = [await newKey(), await newKey()];
    await copy({ sourceApiKey: source.apiKey, targetApiKey: target.apiKey });
    const { error } = await send('advancedwebhook/endpoints/get', target.headers, {});
    expect(error.message).toMatch(/^Advanced webhooks are not configured/);
  });

  test('keeps the AI keys of the target', async () => {
    const [source, target] = [await newKey(), await newKey()];
    const keys = (customerApiKey: string) => ({ aiModelApiKey: [{ provider: 'anthropic', customerApiKey }] });
    await send('apikeyconfig/update', source.headers, keys('a-key-of-the-source-aaaa'));
    await send('apikeyconfig/update', target.headers, keys('a-key-of-the-target-bbbb'));
    await copy({ sourceApiKey: source.apiKey, targetApiKey: target.apiKey });
    const { aiModelsConfig } = (await send('apikeyconfig/get', target.headers, {})).result.data;
    expect(aiModelsConfig).toEqual({ anthropic: { displayText: '****bbbb' } });
  });

  test('refuses equal and foreign API keys', async () => {
    const { apiKey } = await newKey();
    const foreign = (await newWorkspace()).apiKey;
    const errors = [];
    for (const data of [
      { sourceApiKey: apiKey, targetApiKey: apiKey },
      { sourceApiKey: foreign, targetApiKey: apiKey },
      { sourceApiKey: apiKey, targetApiKey: foreign },
    ]) {
      const { status, message } = (await copy(data)).error;
      errors.push([status, message]);
    }
    expect(errors).toEqual([
      ['INVALID_ARGUMENT', 'sourceApiKey and targetApiKey must be different'],
      ['NOT_FOUND', `Source API key not found: ${foreign}`],
      ['NOT_FOUND', `Target API key not found: ${foreign}`],
    ]);
  });
});
