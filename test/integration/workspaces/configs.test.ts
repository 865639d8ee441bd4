import { describe, expect, test } from '@jest/globals';
import { defaultEmailTriggers } from '../../../lib/events/rules/catalogue.ts';
import { noProvider } from '../../../lib/workspaces/rules/storedOnly.ts';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import type { Customer } from '../../support/customer.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { itemsOfTenant } from '../../support/items.ts';
import { errorOf, eventOf, send } from '../../support/requests.ts';

const { engine, customer } = acmeWorld();

const pathOf = (config: string, verb: 'get' | 'update') => `/v2/workspace/${config}/${verb}`;
const get = (config: string) => customer.untyped(pathOf(config, 'get'), {});
const update = (config: string, data: unknown) => customer.untyped(pathOf(config, 'update'), data);
const itemsOf = async (of: Customer) =>
  (await itemsOfTenant(engine, of.apiKey)).filter(({ _t }) => _t.endsWith('Config'));

const emptyEmail = {
  type: 'default',
  apiKey: '',
  fromEmail: '',
  fromCompany: '',
  commentTemplateId: '',
  tagTemplateId: '',
  digestTemplateId: '',
};

/** The response of `get` for each configuration that is not stored yet. */
const initial: Readonly<Record<string, object>> = {
  emailconfig: { useEmailService: false, emailServiceConfig: emptyEmail },
  chatconfig: {
    useChatService: false,
    chatServiceConfig: { provider: 'slack', botToken: '', channelWebhookUrl: '' },
  },
  activityconfig: { activityServiceConfig: { isEnabled: false } },
  notificationconfig: { useNotificationService: false, notificationServiceConfig: {} },
  permissionproviderconfig: {
    usePermissionProvider: false,
    permissionProviderConfig: { permissionProviderUrl: '', authToken: '' },
  },
};

test.each(Object.entries(initial))(
  '%s/get returns the initial configuration with and without a body',
  async (config, value) => {
    expect(await get(config)).toEqual(value);
    const { status, body } = await send(handlerOf(pathOf(config, 'get')), eventOf(undefined, customer.headers));
    expect([status, body.result.data]).toEqual([200, value]);
  },
);

test.each([
  ['emailconfig', { useEmailService: true }, 'Email configuration'],
  ['chatconfig', { useChatService: true }, 'Chat configuration'],
  ['activityconfig', { activityServiceConfig: { isEnabled: true } }, 'Activity logs configuration'],
  ['notificationconfig', { useNotificationService: true }, 'Notification configuration'],
  ['permissionproviderconfig', { usePermissionProvider: true }, 'Permission provider configuration'],
  ['apikeyconfig', { requireJwtToken: true }, 'API key configuration', 'API key metadata'],
])('%s returns its success message', async (config, data, updated, retrieved = updated) => {
  const messages = [];
  for (const [verb, sent] of [
    ['update', data],
    ['get', {}],
  ] as const)
    messages.push((await customer.result(pathOf(config, verb), sent)).message);
  expect(messages).toEqual([`${updated} updated successfully.`, `${retrieved} retrieved successfully.`]);
});

describe('emailconfig get and update', () => {
  const provider = {
    type: 'sendgrid',
    apiKey: 'SG.0123456789',
    fromEmail: 'notes@example.com',
    fromCompany: 'Acme & Söhne',
  };

  test('returns the complete configuration, including the provider key, after an update', async () => {
    const first = await update('emailconfig', { emailServiceConfig: provider });
    expect(first).toEqual({ useEmailService: false, emailServiceConfig: { ...emptyEmail, ...provider } });
    const second = await update('emailconfig', {
      emailServiceConfig: { fromCompany: '', tagTemplateId: 'd-1', commentTemplateId: null },
    });
    expect(second).toEqual({
      useEmailService: false,
      emailServiceConfig: { ...emptyEmail, ...provider, fromCompany: '', tagTemplateId: 'd-1' },
    });
    expect(await get('emailconfig')).toEqual(second);
  });

  test('stores default triggers and provider only when first enabled, and keeps sent fields', async () => {
    await update('emailconfig', { emailServiceConfig: provider });
    const enabled = {
      useEmailService: true,
      emailServiceConfig: {
        ...emptyEmail,
        ...provider,
        type: 'custom',
        triggers: { ...defaultEmailTriggers, 'comment.add': false },
      },
    };
    expect(
      await update('emailconfig', {
        useEmailService: true,
        emailServiceConfig: { triggers: { 'comment.add': false } },
      }),
    ).toEqual(enabled);
    expect(await update('emailconfig', { useEmailService: false })).toEqual({ ...enabled, useEmailService: false });
    expect(await update('emailconfig', { useEmailService: true, emailServiceConfig: { type: 'default' } })).toEqual({
      ...enabled,
      emailServiceConfig: { ...enabled.emailServiceConfig, type: 'default' },
    });
    expect(await get('emailconfig')).toEqual({
      ...enabled,
      emailServiceConfig: { ...enabled.emailServiceConfig, type: 'default' },
    });
  });

  test('deletes the stored key if the request has an empty key', async () => {
    await update('emailconfig', { emailServiceConfig: provider });
    expect((await update('emailconfig', { emailServiceConfig: { apiKey: '' } })).emailServiceConfig.apiKey).toBe('');
    expect((await get('emailconfig')).emailServiceConfig.apiKey).toBe('');
    expect((await itemsOf(customer))[0]?.emailServiceConfig.apiKey).toBe('');
  });
});

// What each update changes is in the unit tests of the configurations.
test.each([
  [
    'activityconfig',
    { activityServiceConfig: { isEnabled: true } },
    { activityServiceConfig: { triggers: { comment: { added: false } } } },
    {
      activityServiceConfig: {
        isEnabled: true,
        immutable: true,
        triggers: { comment: { added: false, deleted: true } },
      },
    },
  ],
  [
    'notificationconfig',
    { notificationServiceConfig: { delayConfig: { isEnabled: true } } },
    { useNotificationService: true, notificationServiceConfig: { triggers: { huddle: { join: false } } } },
    {
      useNotificationService: true,
      notificationServiceConfig: {
        delayConfig: { isEnabled: true },
        triggers: { huddle: { created: true, join: false } },
      },
    },
  ],
])('%s/update merges %j and %j, and get returns the same', async (config, first, second, merged) => {
  await update(config, first);
  const updated = await update(config, second);
  expect(updated).toMatchObject(merged);
  expect(await get(config)).toEqual(updated);
});

describe('permissionproviderconfig get and update', () => {
  const permissionProviderUrl = 'https://example.com/permissions';

  test('returns no data from update, and the merged configuration from get', async () => {
    const { body } = await customer.call(pathOf('permissionproviderconfig', 'update'), {
      usePermissionProvider: true,
      permissionProviderConfig: { permissionProviderUrl },
    });
    expect(body).toEqual({
      result: {
        status: 'success',
        message: 'Permission provider configuration updated successfully.',
        warnings: [
          { field: 'usePermissionProvider', reason: noProvider },
          { field: 'permissionProviderConfig.permissionProviderUrl', reason: noProvider },
        ],
      },
    });
    await update('permissionproviderconfig', { permissionProviderConfig: { authToken: 'a token' } });
    expect(await get('permissionproviderconfig')).toEqual({
      usePermissionProvider: true,
      permissionProviderConfig: { permissionProviderUrl, authToken: 'a token' },
    });
    await update('permissionproviderconfig', {
      usePermissionProvider: false,
      permissionProviderConfig: { permissionProviderUrl: '', authToken: '' },
    });
    expect(await get('permissionproviderconfig')).toEqual(initial.permissionproviderconfig);
  });

  test.each([
    ...['example.com', 'ftp://example.com', 'https://', 'https://user@example.com', 'https://example.com:25/'].map(
      (url) => [url, 'Please enter a valid URL'],
    ),
    [
      'http://0x7f.1',
      'permissionProviderConfig.permissionProviderUrl must not lead to a loopback, private or reserved address',
    ],
  ])('rejects the URL %j and does not store it: %s', async (permissionProviderUrl, message) => {
    const answer = await customer.call(pathOf('permissionproviderconfig', 'update'), {
      permissionProviderConfig: { permissionProviderUrl },
    });
    expect(errorOf(answer)).toEqual(invalid(message));
    expect(answer.body.error.details.issues).toMatchObject([
      { path: ['permissionProviderConfig', 'permissionProviderUrl'] },
    ]);
    expect(await get('permissionproviderconfig')).toEqual(initial.permissionproviderconfig);
  });
});

describe('invalid updates of configurations', () => {
  const nothing = 'At least one field must be provided for update';
  test.each([
    ['emailconfig', {}, 'Invalid email service configuration.', [[], ['useEmailService'], ['emailServiceConfig']]],
    [
      'emailconfig',
      { useEmailService: null, emailServiceConfig: null },
      'Invalid email service configuration.',
      [[], ['useEmailService'], ['emailServiceConfig']],
    ],
    [
      'activityconfig',
      { activityServiceConfig: {} },
      nothing,
      [
        ['activityServiceConfig'],
        ...['isEnabled', 'enabledTime', 'immutable', 'triggers'].map((field) => ['activityServiceConfig', field]),
      ],
    ],
    [
      'notificationconfig',
      {},
      'At least one of useNotificationService or notificationServiceConfig must be provided.',
      [[], ['useNotificationService'], ['notificationServiceConfig']],
    ],
    [
      'chatconfig',
      {},
      'At least one of useChatService or chatServiceConfig must be provided.',
      [[], ['useChatService'], ['chatServiceConfig']],
    ],
    [
      'permissionproviderconfig',
      {},
      'At least one of usePermissionProvider or permissionProviderConfig must be provided.',
      [[], ['usePermissionProvider'], ['permissionProviderConfig']],
    ],
    [
      'apikeyconfig',
      {},
      nothing,
      [
        [],
        ...[
          'editorVersions',
          'enablePrivateComments',
          'requireJwtToken',
          'requireAutoOrgUser',
          'defaultDocumentAccessType',
          'aiModelApiKey',
        ].map((field) => [field]),
      ],
    ],
  ])('%s rejects an update without fields: %j', async (config, data, message, paths) => {
    const answer = await customer.call(pathOf(config, 'update'), data);
    expect(errorOf(answer)).toEqual(invalid(message));
    expect(answer.body.error.details.issues.map(({ path }: { path: unknown }) => path)).toEqual(paths);
  });

  // The unit tests of each configuration have its other wrong values.
  const provider = (permissionProviderConfig: unknown) => ({ usePermissionProvider: true, permissionProviderConfig });
  test.each([
    ['emailconfig', { useEmailService: 'true' }, 'useEmailService must be a boolean'],
    [
      'emailconfig',
      { emailServiceConfig: { triggers: { 'comment.added': true } } },
      'emailServiceConfig.triggers.comment.added: unknown field. Did you mean emailServiceConfig.triggers.comment.add?',
    ],
    [
      'emailconfig',
      { emailServiceConfig: { triggers: { 'recorder.done': true } } },
      'emailServiceConfig.triggers.recorder.done must be false: only events of comments and huddles are mailed',
    ],
    [
      'activityconfig',
      { activityServiceConfig: { enabledTime: 'x' } },
      'activityServiceConfig.enabledTime must be a number',
    ],
    [
      'permissionproviderconfig',
      provider({ authToken: 'ключ' }),
      'permissionProviderConfig.authToken must be of visible ASCII characters and spaces, since it is sent in a header',
    ],
  ])('%s rejects %j', async (config, data, message) => {
    const answer = await customer.call(pathOf(config, 'update'), data);
    const general =
      config === 'emailconfig' && / must be an? (boolean|string|object)$/.test(message)
        ? ['Invalid email service configuration.']
        : [];
    expect(errorOf(answer)).toEqual(invalid(general[0] ?? message));
    const issue = answer.body.error.details.issues[general.length];
    expect([issue.message, issue.path.length > 0]).toEqual([message, true]);
    expect(await get(config)).toEqual(initial[config]);
    expect(await itemsOf(customer)).toEqual([]);
  });
});

describe('concurrent updates of configurations', () => {
  test('are all stored, and the defaults once, if several first enable the service', async () => {
    const types = ['comment.add', 'comment.update', 'comment.delete', 'huddle.create', 'huddle.join'];
    await Promise.all(
      types.map((type) =>
        update('emailconfig', { useEmailService: true, emailServiceConfig: { triggers: { [type]: false } } }),
      ),
    );
    expect((await get('emailconfig')).emailServiceConfig.triggers).toEqual({
      ...defaultEmailTriggers,
      ...Object.fromEntries(types.map((type) => [type, false])),
    });
  });

  test.each([
    [
      'emailconfig',
      { emailServiceConfig: { apiKey: 'key' } },
      { emailServiceConfig: { fromEmail: 'a@example.com' } },
      { emailServiceConfig: { apiKey: 'key', fromEmail: 'a@example.com' } },
    ],
    [
      'activityconfig',
      { activityServiceConfig: { immutable: false } },
      { activityServiceConfig: { isEnabled: true } },
      { activityServiceConfig: { isEnabled: true, immutable: false } },
    ],
    [
      'apikeyconfig',
      { requireJwtToken: true },
      { defaultDocumentAccessType: 'restricted' },
      { requireJwtToken: true, defaultDocumentAccessType: 'restricted' },
    ],
  ])('are both stored: %s %j and %j', async (config, first, second, expected) => {
    await Promise.all([update(config, first), update(config, second)]);
    expect(await get(config)).toMatchObject(expected);
  });
});
