import { describe, expect, test } from '@jest/globals';
import { defaultEmailTriggers, defaultWebhookTriggers } from '../../../lib/events/rules/catalogue.ts';
import { AllowedDomainsEntity } from '../../../lib/workspaces/allowedDomains.ts';
import { defaultNotificationTriggers } from '../../../lib/workspaces/rules/notificationConfig.ts';
import { forAllTests, forEachTest, table } from '../../support/acmeWorld.ts';
import { MASTER_KEY_SECRET_ARN, startEngine } from '../../support/engine.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { everyItem } from '../../support/items.ts';
import { post } from '../../support/requests.ts';
import { newApiKey, newWorkspace } from '../../support/workspaces.ts';

const createKey = handlerOf('/v2/workspace/apikey/create');

const engine = forAllTests(startEngine);
const workspace = forEachTest(newWorkspace);

const create = (data: object) =>
  post(createKey, workspace.headers, {
    ownerEmail: workspace.ownerEmail,
    type: 'testing',
    createAuthToken: true,
    ...data,
  });

/** Creates an API key. Returns a function that reads one of its configurations. */
async function created(data: object): Promise<(config: string) => Promise<any>> {
  const { headers } = await newApiKey(workspace, { createAuthToken: true, ...data });
  return async (config) => (await post(handlerOf(`/v2/workspace/${config}/get`), headers, {})).body.result.data;
}

describe('POST /v2/workspace/apikey/create with settings', () => {
  test('stores allowed domains without scheme, port and path, and localhost if requested', async () => {
    const read = await created({
      allowedDomains: ['https://www.app.example:8443/x', '*.example.org', 'app.example'],
      addLocalHostToAllowedDomains: true,
    });
    expect((await read('domains')).allowedDomains).toEqual(['app.example', '*.example.org', 'localhost', '127.0.0.1']);
  });

  test('stores localhost addresses that domains/delete can remove', async () => {
    const { headers } = await newApiKey(workspace, { createAuthToken: true, addLocalHostToAllowedDomains: true });
    const removed = await post(handlerOf('/v2/workspace/domains/delete'), headers, { domains: ['127.0.0.1'] });
    expect(removed.body.result.data.domainsRemoved).toEqual(['127.0.0.1']);
  });

  test('enables e-mail with its configuration, and stores a provider key that can be read again', async () => {
    const read = await created({
      useEmailService: true,
      emailServiceConfig: {
        type: 'sendgrid',
        apiKey: 'provider-key',
        fromEmail: 'notes@example.com',
        triggers: { 'comment.add': false },
      },
    });
    expect(await read('emailconfig')).toEqual({
      useEmailService: true,
      emailServiceConfig: {
        type: 'sendgrid',
        apiKey: 'provider-key',
        fromEmail: 'notes@example.com',
        fromCompany: '',
        commentTemplateId: '',
        tagTemplateId: '',
        digestTemplateId: '',
        triggers: { ...defaultEmailTriggers, 'comment.add': false },
      },
    });
  });

  test.each([
    [
      'stores the default triggers of e-mail while the service is off',
      { setDefaultEmailTriggers: true },
      { useEmailService: false, triggers: defaultEmailTriggers },
    ],
    [
      'stores the default triggers of e-mail with the service',
      { useEmailService: true, setDefaultEmailTriggers: true },
      { useEmailService: true, triggers: defaultEmailTriggers },
    ],
    [
      'stores no triggers of e-mail when the defaults are declined',
      { useEmailService: true, setDefaultEmailTriggers: false },
      { useEmailService: true, triggers: undefined },
    ],
    [
      'stores only the triggers of e-mail that are sent when the defaults are declined',
      {
        useEmailService: true,
        setDefaultEmailTriggers: false,
        emailServiceConfig: { triggers: { 'comment.add': true } },
      },
      { useEmailService: true, triggers: { 'comment.add': true } },
    ],
  ])('%s', async (_title, data, { useEmailService, triggers }) => {
    const config = await (await created(data))('emailconfig');
    expect([config.useEmailService, config.emailServiceConfig.triggers]).toEqual([useEmailService, triggers]);
  });

  test('enables webhooks with configuration and default triggers, and stores a readable token', async () => {
    const read = await created({
      useWebhookService: true,
      webhookServiceConfig: { authToken: 'hook-token', rawNotificationUrl: 'https://hooks.example.com/raw' },
    });
    expect(await read('webhookconfig')).toEqual({
      useWebhookService: true,
      webhookServiceConfig: {
        authToken: 'hook-token',
        rawNotificationUrl: 'https://hooks.example.com/raw',
        processedNotificationUrl: '',
        enableDataProtection: false,
        triggers: defaultWebhookTriggers,
      },
    });
  });

  test.each([
    [
      'turns notifications on with the default triggers',
      { useNotificationService: true },
      { useNotificationService: true, notificationServiceConfig: { triggers: defaultNotificationTriggers } },
    ],
    [
      'stores the default triggers of notifications while the service is off',
      { setDefaultNotificationTriggers: true },
      { useNotificationService: false, notificationServiceConfig: { triggers: defaultNotificationTriggers } },
    ],
    [
      'turns notifications on without triggers when the defaults are declined',
      { useNotificationService: true, setDefaultNotificationTriggers: false },
      { useNotificationService: true, notificationServiceConfig: {} },
    ],
  ])('%s', async (_title, data, config) => {
    expect(await (await created(data))('notificationconfig')).toEqual(config);
  });

  test('stores requireAutoOrgUser and enablePrivateComments, and warns that they have no effect', async () => {
    const settings = { requireAutoOrgUser: true, enablePrivateComments: true };
    const { body } = await create(settings);
    expect(body.result.warnings.map(({ field }: any) => field)).toEqual([
      'enablePrivateComments',
      'requireAutoOrgUser',
    ]);
    const config = await (await created(settings))('apikeyconfig');
    expect(config).toMatchObject({ requireAutoOrgUser: true, isPrivateCommentsEnabled: true, requireJwtToken: false });
  });

  test('writes all settings in the transaction that creates the key', async () => {
    const write = table.write.bind(table);
    const transactions: number[] = [];
    table.write = async (ops) => {
      transactions.push(ops.length);
      return write(ops);
    };
    try {
      await create({
        allowedDomains: ['app.example'],
        useEmailService: true,
        useWebhookService: true,
        useNotificationService: true,
        requireAutoOrgUser: true,
      });
    } finally {
      table.write = write;
    }
    // The transaction writes the workspace, the key, the key's list entry, the token and five configurations.
    expect(transactions).toEqual([9]);
  });

  test('stores nothing for settings that are not sent', async () => {
    const { apiKey } = (await create({})).body.result.data;
    expect(await table.get(AllowedDomainsEntity, { tenant: apiKey })).toBeUndefined();
  });

  test.each([
    [
      'an invalid domain',
      { allowedDomains: ['app.example', '10.0.0.1'] },
      'allowedDomains[1] must be a domain such as example.com, *.example.com or localhost',
    ],
    [
      'a webhook URL that is not public',
      { webhookServiceConfig: { rawNotificationUrl: 'http://10.0.0.1/' } },
      'webhookServiceConfig.rawNotificationUrl must not lead to a loopback, private or reserved address',
    ],
    [
      'encryption without a key',
      { webhookServiceConfig: { encryptData: true } },
      expect.stringContaining('webhookServiceConfig.publicKey'),
    ],
    [
      'an unsupported region of a production key',
      { type: 'production', persistenceDBRegion: 'mars' },
      'persistenceDBRegion must be us-east-1, the region of this service',
    ],
    [
      'an empty region of a production key',
      { type: 'production', realtimeDBRegion: '' },
      'realtimeDBRegion must be us-east-1, the region of this service',
    ],
  ])('rejects %s and creates no key', async (_what, data, message) => {
    const { status, body } = await create(data);
    expect({ status, error: body.error }).toMatchObject({
      status: 400,
      error: { status: 'INVALID_ARGUMENT', message },
    });
    const keys = await post(handlerOf('/v2/workspace/apikeys/get'), workspace.headers, {});
    expect(keys.body.result.data).toHaveLength(1);
  });

  test("accepts the deployment's region for a production key, and any region for a testing key", async () => {
    expect(MASTER_KEY_SECRET_ARN).toContain(':us-east-1:');
    for (const data of [
      { type: 'production', persistenceDBRegion: 'us-east-1' },
      { persistenceDBRegion: 'mars', realtimeDBRegion: '' },
    ])
      expect((await create(data)).status).toBe(200);
  });

  test('accepts fields that only the operator sets, and stores nothing of them', async () => {
    const storedFor = async (data: object) => {
      const { status, body } = await create(data);
      expect(status).toBe(200);
      const { apiKey } = body.result.data;
      const items = (await everyItem(engine)).filter(({ PK, SK }) => `${PK}#${SK}`.includes(apiKey));
      return {
        partitions: items.map(({ PK }) => PK.replace(apiKey, 'key')).sort(),
        attributes: items.map((item) => [item._t, ...Object.keys(item).sort()].join(' ')).sort(),
        texts: JSON.stringify(items),
      };
    };
    const usual = await storedFor({});
    const sent = await storedFor({
      planInfo: { type: 'paid plan' },
      customPlanInfo: 1,
      workspaceId: 'ws_other',
      isSuperWorkspace: true,
      platform: 'other platform',
    });
    expect(usual.partitions).toContain(`W#${workspace.id}`);
    expect(sent).toMatchObject({ partitions: usual.partitions, attributes: usual.attributes });
    for (const text of ['paid plan', 'ws_other', 'other platform']) expect(sent.texts).not.toContain(text);
  });
});
