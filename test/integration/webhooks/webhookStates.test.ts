import { describe, expect, test } from '@jest/globals';
import { setAdvancedWebhooks } from '../../../infra/commands/workspace.ts';
import { environment } from '../../../lib/app/capability.ts';
import { defaultWebhookTriggers } from '../../../lib/events/rules/catalogue.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { type Customer, newCustomer } from '../../support/customer.ts';
import { startEngine } from '../../support/engine.ts';
import { restartFunctions } from '../../support/functionHandlers.ts';
import { outcome, paths } from '../../support/webhooks.ts';

forAllTests(() => startEngine({ table: 'memory' }));

async function offer(customer: Customer, offered: boolean): Promise<void> {
  await setAdvancedWebhooks({ apiKey: customer.apiKey, offered, env: environment(process.env) });
  restartFunctions();
}

const UNAVAILABLE = ['FAILED_PRECONDITION', 'Advanced webhooks are not available for this workspace.'] as const;
const DISABLED = [
  'FAILED_PRECONDITION',
  'Advanced webhooks are disabled for this workspace. Enable them via POST /v2/workspace/advancedwebhookconfig/update with { "isEnabled": true }.',
] as const;
const NOT_CONFIGURED = [
  'FAILED_PRECONDITION',
  'Advanced webhooks are not configured for this workspace. Enable them first via POST /v2/workspace/advancedwebhookconfig/update with { "isEnabled": true }.',
] as const;
const FIRST = [
  'FAILED_PRECONDITION',
  'Advanced webhooks are not configured for this workspace. The first configuration must have isEnabled: true.',
] as const;
const NO_FIELD = [
  'INVALID_ARGUMENT',
  'At least one of isEnabled, encryptData, encodeData, publicKey or enableDataProtection must be provided.',
] as const;

describe('advanced webhooks that are never configured, enabled or disabled', () => {
  type State = 'never configured' | 'enabled' | 'disabled';
  const states: State[] = ['never configured', 'enabled', 'disabled'];

  /** Creates a customer in a state. Except in the state `never configured`, the customer has an endpoint. */
  async function customerIn(state: State): Promise<{ customer: Customer; endpointId: string }> {
    const customer = await newCustomer();
    if (state === 'never configured') return { customer, endpointId: 'ep_000000000000000000000000000' };
    await customer.ok(paths.updateConfig, { isEnabled: true });
    const { id } = await customer.ok(paths.create, { url: 'https://example.com/first' });
    if (state === 'disabled') await customer.ok(paths.updateConfig, { isEnabled: false });
    return { customer, endpointId: id };
  }

  /**
   * Returns the state of a customer. Only the error message of endpoints/get shows whether webhooks were never
   * configured or are disabled.
   */
  async function stateOf(customer: Customer): Promise<State> {
    const answer = await outcome(customer, paths.list, {});
    if (answer === 'done') return 'enabled';
    return answer[1] === NOT_CONFIGURED[1] ? 'never configured' : 'disabled';
  }

  type Expected = Record<State, { answer: 'done' | readonly [string, string]; next?: State }>;
  const same = (answer: 'done' | readonly [string, string]): Expected => ({
    'never configured': { answer },
    enabled: { answer },
    disabled: { answer },
  });
  const onlyEnabled: Expected = {
    'never configured': { answer: DISABLED },
    enabled: { answer: 'done' },
    disabled: { answer: DISABLED },
  };

  const inputs: [what: string, path: string, data: (endpointId: string) => object, expected: Expected][] = [
    [
      'config/update with isEnabled true',
      paths.updateConfig,
      () => ({ isEnabled: true }),
      {
        'never configured': { answer: 'done', next: 'enabled' },
        enabled: { answer: 'done' },
        disabled: { answer: 'done', next: 'enabled' },
      },
    ],
    [
      'config/update with isEnabled true and more',
      paths.updateConfig,
      () => ({ isEnabled: true, encodeData: true }),
      {
        'never configured': { answer: 'done', next: 'enabled' },
        enabled: { answer: 'done' },
        disabled: { answer: 'done', next: 'enabled' },
      },
    ],
    [
      'config/update with isEnabled false',
      paths.updateConfig,
      () => ({ isEnabled: false }),
      {
        'never configured': { answer: FIRST },
        enabled: { answer: 'done', next: 'disabled' },
        disabled: { answer: 'done' },
      },
    ],
    [
      'config/update with another field',
      paths.updateConfig,
      () => ({ encodeData: true }),
      { 'never configured': { answer: FIRST }, enabled: { answer: 'done' }, disabled: { answer: 'done' } },
    ],
    [
      'config/update with isEnabled null and another field',
      paths.updateConfig,
      () => ({ isEnabled: null, encodeData: true }),
      { 'never configured': { answer: FIRST }, enabled: { answer: 'done' }, disabled: { answer: 'done' } },
    ],
    ['config/update with no field', paths.updateConfig, () => ({}), same(NO_FIELD)],
    [
      'config/update with fields that it does not know',
      paths.updateConfig,
      () => ({ enabled: true }),
      same(['INVALID_ARGUMENT', 'enabled: unknown field. Did you mean isEnabled?']),
    ],
    ['config/get', paths.getConfig, () => ({}), same('done')],
    ['endpoints/create', paths.create, () => ({ url: 'https://example.com' }), onlyEnabled],
    [
      'endpoints/get',
      paths.list,
      () => ({}),
      { 'never configured': { answer: NOT_CONFIGURED }, enabled: { answer: 'done' }, disabled: { answer: DISABLED } },
    ],
    ['endpoints/update', paths.update, (endpointId) => ({ endpointId, disabled: true }), onlyEnabled],
    ['endpoints/secret/get', paths.getSecret, (endpointId) => ({ endpointId }), onlyEnabled],
    ['endpoints/secret/rotate', paths.rotate, (endpointId) => ({ endpointId }), onlyEnabled],
    ['endpoints/delete', paths.delete, (endpointId) => ({ endpointId }), onlyEnabled],
  ];
  const transitions = inputs.flatMap(([call, path, data, expected]) =>
    states.map((state) => ({ call, state, path, data, ...expected[state] })),
  );

  test.each(transitions)('$state: $call returns $answer', async ({ state, path, data, answer, next = state }) => {
    const { customer, endpointId } = await customerIn(state);
    expect(await outcome(customer, path, data(endpointId))).toEqual(answer);
    expect(await stateOf(customer)).toBe(next);
  });

  test.each(transitions.filter(({ call }) => !call.includes('no field') && !call.includes('does not know')))(
    '$state: $call is rejected while the operator withholds advanced webhooks',
    async ({ state, path, data }) => {
      const { customer, endpointId } = await customerIn(state);
      await offer(customer, false);
      expect(await outcome(customer, path, data(endpointId))).toEqual(UNAVAILABLE);
      await offer(customer, true);
      expect(await stateOf(customer)).toBe(state);
    },
  );

  test.each(states)('%s: every endpoint rejects an invalid request before it checks the state', async (state) => {
    const { customer } = await customerIn(state);
    for (const [path, data] of [
      [paths.create, { url: 'no' }],
      [paths.update, { endpointId: 'ep_1' }],
      [paths.list, { limit: 0 }],
      [paths.rotate, { endpointId: 'ep_1', overlapSeconds: -1 }],
    ] as const) {
      expect((await outcome(customer, path, data))[0]).toBe('INVALID_ARGUMENT');
    }
  });

  test('disabled: endpoints and their secrets remain stored until webhooks are enabled again', async () => {
    const { customer, endpointId } = await customerIn('enabled');
    const before = await customer.ok(paths.getSecret, { endpointId });
    await customer.ok(paths.updateConfig, { isEnabled: false });
    await customer.ok(paths.updateConfig, { isEnabled: true });
    expect(await customer.ok(paths.getSecret, { endpointId })).toEqual(before);
  });
});

describe('POST /v2/workspace/webhookconfig/update by stored config', () => {
  const empty = { authToken: '', rawNotificationUrl: '', processedNotificationUrl: '' };
  const on = { ...defaultWebhookTriggers };

  /**
   * For each state: the requests that lead to it, and what is then stored. If `triggers` is undefined or empty, no
   * triggers are stored.
   */
  const states: Record<string, { requests: object[]; use: boolean; config: Record<string, any> }> = {
    'never configured': { requests: [], use: false, config: empty },
    'configured, no triggers': {
      requests: [
        {
          webhookServiceConfig: {
            authToken: 't',
            rawNotificationUrl: 'https://example.com/raw',
            encodeData: true,
            enableDataProtection: true,
          },
        },
      ],
      use: false,
      config: {
        ...empty,
        authToken: 't',
        rawNotificationUrl: 'https://example.com/raw',
        encodeData: true,
        enableDataProtection: true,
      },
    },
    'turned off first': { requests: [{ useWebhookService: false }], use: false, config: empty },
    'an empty trigger map': {
      requests: [{ webhookServiceConfig: { triggers: {} } }],
      use: false,
      config: { ...empty, triggers: {} },
    },
    'some triggers, never enabled': {
      requests: [{ webhookServiceConfig: { triggers: { 'comment.add': false } } }],
      use: false,
      config: { ...empty, triggers: { 'comment.add': false } },
    },
    enabled: {
      requests: [{ useWebhookService: true }],
      use: true,
      config: { ...empty, enableDataProtection: false, triggers: on },
    },
    'enabled and disabled': {
      requests: [
        { useWebhookService: true, webhookServiceConfig: { triggers: { 'comment.add': false } } },
        { useWebhookService: false },
      ],
      use: false,
      config: { ...empty, enableDataProtection: false, triggers: { ...on, 'comment.add': false } },
    },
  };

  const inputs: Record<string, any> = {
    'turn on': { useWebhookService: true },
    'turn off': { useWebhookService: false },
    'an empty config': { webhookServiceConfig: {} },
    triggers: { webhookServiceConfig: { triggers: { 'comment.update': false, 'crdt.update_data': true } } },
    'turn on with triggers': {
      useWebhookService: true,
      webhookServiceConfig: { triggers: { 'comment_annotation.suggestion_accept': true, 'huddle.create': false } },
    },
    'turn on with an empty trigger map': { useWebhookService: true, webhookServiceConfig: { triggers: {} } },
    'turn on with data protection and a URL': {
      useWebhookService: true,
      webhookServiceConfig: { enableDataProtection: true, processedNotificationUrl: 'https://example.com/processed' },
    },
    'turn off with triggers': { useWebhookService: false, webhookServiceConfig: { triggers: { 'comment.add': true } } },
  };

  const steps = Object.entries(states).flatMap(([state, before]) =>
    Object.entries(inputs).map(([input, data]) => ({ state, input, before, data })),
  );

  test.each(steps)('$state: accepts $input', async ({ before, data }) => {
    const customer = await newCustomer();
    for (const request of before.requests) await customer.ok(paths.updateBasic, request);
    expect(await customer.ok(paths.getBasic, {})).toEqual({
      useWebhookService: before.use,
      webhookServiceConfig: before.config,
    });

    const seeds = data.useWebhookService === true && Object.keys(before.config.triggers ?? {}).length === 0;
    const triggers = { ...(seeds && on), ...before.config.triggers, ...data.webhookServiceConfig?.triggers };
    const hasTriggers = seeds || before.config.triggers || data.webhookServiceConfig?.triggers;
    const expected = {
      useWebhookService: data.useWebhookService ?? before.use,
      webhookServiceConfig: {
        ...(seeds && { enableDataProtection: false }),
        ...before.config,
        ...data.webhookServiceConfig,
        ...(hasTriggers && { triggers }),
      },
    };
    expect(await customer.ok(paths.updateBasic, data)).toEqual(expected);
    expect(await customer.ok(paths.getBasic, {})).toEqual(expected);
  });

  test.each(Object.keys(states))('%s: rejects an empty update and changes nothing', async (state) => {
    const customer = await newCustomer();
    for (const request of states[state]!.requests) await customer.ok(paths.updateBasic, request);
    const before = await customer.ok(paths.getBasic, {});
    for (const data of [{}, { useWebhookService: null, webhookServiceConfig: null }]) {
      const { status, body } = await customer.call(paths.updateBasic, data);
      expect(status).toBe(400);
      expect(body.error).toMatchObject({
        status: 'INVALID_ARGUMENT',
        message: 'Invalid webhook service configuration.',
      });
      expect(JSON.stringify(body.error.details.issues)).toMatch(/useWebhookService.*webhookServiceConfig/);
    }
    expect(await customer.ok(paths.getBasic, {})).toEqual(before);
  });
});
