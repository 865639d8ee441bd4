import { describe, expect, test } from '@jest/globals';
import { defaultEmailTriggers } from '../../../lib/events/rules/catalogue.ts';
import { noProvider } from '../../../lib/workspaces/rules/storedOnly.ts';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import type { Customer } from '../../support/customer.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { everyItem } from '../../support/items.ts';
import { errorOf, eventOf, post, send } from '../../support/requests.ts';

const { engine, customer } = acmeWorld();

const pathOf = (config: string, verb: 'get' | 'update') => `/v2/workspace/${config}/${verb}`;
const get = (config: string) => customer.untyped(pathOf(config, 'get'), {});
const update = (config: string, data: unknown) => customer.untyped(pathOf(config, 'update'), data);
const itemsOf = async (of: Customer) =>
  (await everyItem(engine)).filter(({ PK, _t }) => PK.includes(of.apiKey) && _t.endsWith('Config'));

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

describe.each(Object.entries(initial))('%s', (config, value) => {
  test('returns the initial configuration with and without a body', async () => {
    expect(await get(config)).toEqual(value);
    const { status, body } = await send(handlerOf(pathOf(config, 'get')), eventOf(undefined, customer.headers));
    expect([status, body.result.data]).toEqual([200, value]);
  });

  test.each(['get', 'update'] as const)('%s returns PERMISSION_DENIED for an invalid API key', async (verb) => {
    const { status, body } = await post(
      handlerOf(pathOf(config, verb)),
      { ...customer.headers, 'x-svc-api-key': 'unknown' },
      {},
    );
    expect([status, body]).toEqual([403, { error: { status: 'PERMISSION_DENIED', message: 'Invalid API key.' } }]);
  });
});

test.each([
  [
    'emailconfig',
    { useEmailService: true },
    'Email configuration updated successfully.',
    'Email configuration retrieved successfully.',
  ],
  [
    'chatconfig',
    { useChatService: true },
    'Chat configuration updated successfully.',
    'Chat configuration retrieved successfully.',
  ],
  [
    'activityconfig',
    { activityServiceConfig: { isEnabled: true } },
    'Activity logs configuration updated successfully.',
    'Activity logs configuration retrieved successfully.',
  ],
  [
    'notificationconfig',
    { useNotificationService: true },
    'Notification configuration updated successfully.',
    'Notification configuration retrieved successfully.',
  ],
  [
    'permissionproviderconfig',
    { usePermissionProvider: true },
    'Permission provider configuration updated successfully.',
    'Permission provider configuration retrieved successfully.',
  ],
  [
    'apikeyconfig',
    { requireJwtToken: true },
    'API key configuration updated successfully.',
    'API key metadata retrieved successfully.',
  ],
])('%s returns its success message', async (config, data, updated, retrieved) => {
  expect((await customer.call(pathOf(config, 'update'), data)).body.result).toMatchObject({
    status: 'success',
    message: updated,
  });
  expect((await customer.call(pathOf(config, 'get'), {})).body.result).toMatchObject({
    status: 'success',
    message: retrieved,
  });
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

  test('rejects fields and triggers named __proto__ or constructor', async () => {
    for (const name of ['__proto__', 'constructor']) {
      for (const [path, emailServiceConfig] of [
        [name, `{"${name}":{"type":"custom","polluted":true},"fromCompany":"Acme"}`],
        [`triggers.${name}`, `{"triggers":{"${name}":true}}`],
      ] as const) {
        const { body } = await customer.call(pathOf('emailconfig', 'update'), {
          emailServiceConfig: JSON.parse(emailServiceConfig),
        });
        expect(body.error.message).toBe(`emailServiceConfig.${path}: unknown field.`);
      }
    }
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });
});

describe('activityconfig get and update', () => {
  test('stores all defaults when first enabled, and merges later updates', async () => {
    const before = Date.now();
    const { activityServiceConfig } = await update('activityconfig', { activityServiceConfig: { isEnabled: true } });
    expect(activityServiceConfig).toMatchObject({
      isEnabled: true,
      immutable: true,
      triggers: { comment: { added: true, suggestionAccepted: true } },
    });
    expect(activityServiceConfig.enabledTime).toBeGreaterThanOrEqual(before);
    expect(activityServiceConfig.enabledTime).toBeLessThanOrEqual(Date.now());
    const merged = {
      ...activityServiceConfig,
      immutable: false,
      triggers: { comment: { ...activityServiceConfig.triggers.comment, added: false } },
    };
    expect(
      await update('activityconfig', {
        activityServiceConfig: { immutable: false, triggers: { comment: { added: false } } },
      }),
    ).toEqual({ activityServiceConfig: merged });
    expect(await get('activityconfig')).toEqual({ activityServiceConfig: merged });
  });
});

describe('notificationconfig get and update', () => {
  test('merges every level, and stores the default triggers when first enabled', async () => {
    await update('notificationconfig', {
      notificationServiceConfig: { batchConfig: { document: { isEnabled: true, batchWindowSeconds: 60 } } },
    });
    await update('notificationconfig', {
      notificationServiceConfig: {
        batchConfig: { document: { maxActivities: 5 }, user: { isEnabled: false } },
        delayConfig: { isEnabled: true, delaySeconds: 10 },
      },
    });
    const enabled = await update('notificationconfig', {
      useNotificationService: true,
      notificationServiceConfig: { triggers: { huddle: { join: false } } },
    });
    expect(enabled).toMatchObject({
      useNotificationService: true,
      notificationServiceConfig: {
        triggers: { comment: { added: true, suggestionAccepted: false }, huddle: { created: true, join: false } },
        delayConfig: { isEnabled: true, delaySeconds: 10 },
        batchConfig: {
          document: { isEnabled: true, batchWindowSeconds: 60, maxActivities: 5 },
          user: { isEnabled: false },
        },
      },
    });
    expect(await get('notificationconfig')).toEqual(enabled);
  });
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
    'example.com',
    'ftp://example.com',
    'javascript:alert(1)',
    'https://',
    'https://a..b',
    'https://user:password@example.com',
    'https://user@example.com',
    'https://example.com:25/',
    'https://example.com/\n',
  ])('rejects the URL %j and does not store it', async (url) => {
    const answer = await customer.call(pathOf('permissionproviderconfig', 'update'), {
      permissionProviderConfig: { permissionProviderUrl: url },
    });
    expect(errorOf(answer)).toEqual(invalid('Please enter a valid URL'));
    expect(answer.body.error.details.issues).toMatchObject([
      { path: ['permissionProviderConfig', 'permissionProviderUrl'] },
    ]);
    expect(await get('permissionproviderconfig')).toEqual(initial.permissionproviderconfig);
  });

  test.each([
    'http://localhost:8080/',
    'http://127.0.0.1',
    'http://0x7f.1',
    'http://[::1]/',
    'http://169.254.169.254/latest/',
    'https://10.0.0.1/',
  ])('rejects the internal address %s', async (url) => {
    const { body } = await customer.call(pathOf('permissionproviderconfig', 'update'), {
      permissionProviderConfig: { permissionProviderUrl: url },
    });
    expect(body.error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      message:
        'permissionProviderConfig.permissionProviderUrl must not lead to a loopback, private or reserved address',
    });
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

  const email = (emailServiceConfig: unknown) => ({ useEmailService: true, emailServiceConfig });
  const activity = (activityServiceConfig: unknown) => ({ activityServiceConfig });
  const notification = (notificationServiceConfig: unknown) => ({
    useNotificationService: true,
    notificationServiceConfig,
  });
  const provider = (permissionProviderConfig: unknown) => ({ usePermissionProvider: true, permissionProviderConfig });
  test.each([
    ['emailconfig', { useEmailService: 'true' }, 'useEmailService must be a boolean'],
    ['emailconfig', email('x'), 'emailServiceConfig must be an object'],
    ['emailconfig', email({ type: 'ses' }), 'emailServiceConfig.type must be "default" or "sendgrid" or "custom"'],
    [
      'emailconfig',
      email({ apiKey: 'x'.repeat(4_097) }),
      'emailServiceConfig.apiKey must have at most 4096 characters',
    ],
    [
      'emailconfig',
      email({ apiKey: 'a\nb' }),
      'emailServiceConfig.apiKey must be of visible ASCII characters and spaces, since it is sent in a header',
    ],
    [
      'emailconfig',
      email({ fromEmail: 'a@example.com\r\nBcc: b@example.com' }),
      'emailServiceConfig.fromEmail must be an e-mail address, or empty',
    ],
    [
      'emailconfig',
      email({ fromCompany: 'Acme\r\nBcc: b@example.com' }),
      'emailServiceConfig.fromCompany must not contain control characters',
    ],
    [
      'emailconfig',
      email({ triggers: { 'comment.added': true } }),
      'emailServiceConfig.triggers.comment.added: unknown field. Did you mean emailServiceConfig.triggers.comment.add?',
    ],
    [
      'emailconfig',
      email({ triggers: { 'comment.add': 'true' } }),
      'emailServiceConfig.triggers.comment.add must be a boolean',
    ],
    ...['crdt.update_data', 'recorder.done'].map((type): [string, object, string] => [
      'emailconfig',
      email({ triggers: { [type]: true } }),
      `emailServiceConfig.triggers.${type} must be false: only events of comments and huddles are mailed`,
    ]),
    ['activityconfig', {}, 'activityServiceConfig is required'],
    ['activityconfig', activity({ enabledTime: '2026-01-01' }), 'activityServiceConfig.enabledTime must be a number'],
    [
      'activityconfig',
      activity({ isEnabled: true, triggers: { comment: { 'comment.add': true } } }),
      'activityServiceConfig.triggers.comment.comment.add: unknown field.',
    ],
    [
      'activityconfig',
      activity({ isEnabled: true, triggers: { recorder: { done: true } } }),
      'activityServiceConfig.triggers.recorder: unknown field.',
    ],
    [
      'notificationconfig',
      notification({ delayConfig: { delaySeconds: 9 } }),
      'notificationServiceConfig.delayConfig.delaySeconds must be at least 10',
    ],
    [
      'notificationconfig',
      notification({ batchConfig: { user: { maxActivities: 51 } } }),
      'notificationServiceConfig.batchConfig.user.maxActivities must be at most 50',
    ],
    ['chatconfig', { useChatService: 'yes' }, 'useChatService must be a boolean'],
    ['chatconfig', { chatServiceConfig: { botToken: 5 } }, 'chatServiceConfig.botToken must be a string'],
    [
      'notificationconfig',
      notification({ batchConfig: { document: { batchWindowSeconds: 604_801 } } }),
      'notificationServiceConfig.batchConfig.document.batchWindowSeconds must be at most 604800',
    ],
    [
      'permissionproviderconfig',
      provider({ authToken: 'ключ' }),
      'permissionProviderConfig.authToken must be of visible ASCII characters and spaces, since it is sent in a header',
    ],
    [
      'permissionproviderconfig',
      provider({ permissionProviderUrl: `https://example.com/${'x'.repeat(2_048)}` }),
      'permissionProviderConfig.permissionProviderUrl must have at most 2048 characters',
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
  const verbs = [
    'newlyAdded',
    'added',
    'updated',
    'deleted',
    'approved',
    'assigned',
    'reactionAdded',
    'reactionDeleted',
    'statusChanged',
    'priorityChanged',
  ];
  const types = [
    'comment.add',
    'comment.update',
    'comment.delete',
    'comment.reaction_add',
    'comment.reaction_delete',
    'huddle.create',
    'huddle.join',
    'comment_annotation.add',
    'comment_annotation.assign',
    'comment_annotation.status_change',
  ];
  const on = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, true]));

  test.each([
    [
      'emailconfig',
      types.map((type) => ({ emailServiceConfig: { triggers: { [type]: true } } })),
      { emailServiceConfig: { triggers: on(types) } },
    ],
    [
      'activityconfig',
      verbs.map((verb) => ({ activityServiceConfig: { triggers: { comment: { [verb]: true } } } })),
      { activityServiceConfig: { triggers: { comment: on(verbs) } } },
    ],
    [
      'notificationconfig',
      verbs.map((verb) => ({ notificationServiceConfig: { triggers: { comment: { [verb]: true } } } })),
      { notificationServiceConfig: { triggers: { comment: on(verbs) } } },
    ],
  ])('are all stored: ten of %s', async (config, updates, expected) => {
    await Promise.all(updates.map((data) => update(config, data)));
    expect(await get(config)).toMatchObject(expected);
  });

  test.each([
    [
      'emailconfig',
      { emailServiceConfig: { fromCompany: 'Acme' } },
      { useEmailService: true },
      { useEmailService: true, emailServiceConfig: { type: 'custom', fromCompany: 'Acme' } },
    ],
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
      'notificationconfig',
      { notificationServiceConfig: { delayConfig: { isEnabled: true } } },
      { notificationServiceConfig: { delayConfig: { delaySeconds: 10 } } },
      { notificationServiceConfig: { delayConfig: { isEnabled: true, delaySeconds: 10 } } },
    ],
    [
      'permissionproviderconfig',
      { usePermissionProvider: true },
      { permissionProviderConfig: { authToken: 'token' } },
      { usePermissionProvider: true, permissionProviderConfig: { authToken: 'token' } },
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

  test('store the defaults once and all sent values if several updates first enable the service', async () => {
    await Promise.all(
      types
        .slice(0, 5)
        .map((type) =>
          update('emailconfig', { useEmailService: true, emailServiceConfig: { triggers: { [type]: false } } }),
        ),
    );
    expect((await get('emailconfig')).emailServiceConfig.triggers).toEqual({
      ...defaultEmailTriggers,
      ...Object.fromEntries(types.slice(0, 5).map((type) => [type, false])),
    });
  });
});
