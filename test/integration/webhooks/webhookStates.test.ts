import { describe, expect, test } from '@jest/globals';
import { setAdvancedWebhooks } from '../../../infra/commands/workspace.ts';
import { environment } from '../../../lib/app/capability.ts';
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

  type Answer = 'done' | readonly [string, string];

  /** Calls, and what each answers in each of the three states. */
  const onlyEnabled = [DISABLED, 'done', DISABLED] as const;
  const inputs: [
    what: string,
    path: string,
    data: (endpointId: string) => object,
    answers: readonly [Answer, Answer, Answer],
    next?: State,
  ][] = [
    [
      'config/update with isEnabled true',
      paths.updateConfig,
      () => ({ isEnabled: true }),
      ['done', 'done', 'done'],
      'enabled',
    ],
    [
      'config/update with isEnabled false',
      paths.updateConfig,
      () => ({ isEnabled: false }),
      [FIRST, 'done', 'done'],
      'disabled',
    ],
    ['config/update with another field', paths.updateConfig, () => ({ encodeData: true }), [FIRST, 'done', 'done']],
    ['config/update with no field', paths.updateConfig, () => ({}), [NO_FIELD, NO_FIELD, NO_FIELD]],
    ['config/get', paths.getConfig, () => ({}), ['done', 'done', 'done']],
    ['endpoints/create', paths.create, () => ({ url: 'https://example.com' }), onlyEnabled],
    ['endpoints/get', paths.list, () => ({}), [NOT_CONFIGURED, 'done', DISABLED]],
    ['endpoints/update', paths.update, (endpointId) => ({ endpointId, disabled: true }), onlyEnabled],
    ['endpoints/secret/get', paths.getSecret, (endpointId) => ({ endpointId }), onlyEnabled],
    ['endpoints/secret/rotate', paths.rotate, (endpointId) => ({ endpointId }), onlyEnabled],
    ['endpoints/delete', paths.delete, (endpointId) => ({ endpointId }), onlyEnabled],
  ];
  const transitions = inputs.flatMap(([call, path, data, answers, next]) =>
    states.map((state, index) => ({
      call,
      state,
      path,
      data,
      answer: answers[index]!,
      next: answers[index] === 'done' ? next : undefined,
    })),
  );

  test.each(transitions)('$state: $call returns $answer', async ({ state, path, data, answer, next }) => {
    const { customer, endpointId } = await customerIn(state);
    expect(await outcome(customer, path, data(endpointId))).toEqual(answer);
    expect(await stateOf(customer)).toBe(next ?? state);
  });

  test.each(transitions.filter(({ call }) => !call.includes('no field')))(
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
