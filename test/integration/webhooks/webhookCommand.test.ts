import { describe, expect, test } from '@jest/globals';
import { run } from '../../../infra/commands/workspace.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { newCustomer } from '../../support/customer.ts';
import { startEngine, TABLE_NAME } from '../../support/engine.ts';
import { restartFunctions } from '../../support/functionHandlers.ts';
import { everyItem } from '../../support/items.ts';
import { outcome, paths } from '../../support/webhooks.ts';

const engine = forAllTests(startEngine);

const UNAVAILABLE = ['FAILED_PRECONDITION', 'Advanced webhooks are not available for this workspace.'];

describe('npm run workspace -- advanced-webhooks', () => {
  test('off withholds advanced webhooks from one API key, and on makes them available with their config', async () => {
    const [customer, other] = [await newCustomer(), await newCustomer()];
    await customer.ok(paths.updateConfig, { isEnabled: true, encodeData: true });
    expect(JSON.parse(await run(['advanced-webhooks', customer.apiKey, 'off'], process.env))).toEqual({
      apiKey: customer.apiKey,
      advancedWebhooks: 'off',
    });
    restartFunctions();
    expect(await outcome(customer, paths.getConfig, {})).toEqual(UNAVAILABLE);
    expect(await outcome(customer, paths.updateBasic, { useWebhookService: true })).toBe('done');
    expect(await outcome(other, paths.getConfig, {})).toBe('done');
    expect(JSON.parse(await run(['advanced-webhooks', customer.apiKey, 'on'], process.env))).toEqual({
      apiKey: customer.apiKey,
      advancedWebhooks: 'on',
    });
    restartFunctions();
    expect(await customer.ok(paths.getConfig, {})).toMatchObject({ isEnabled: true, encodeData: true });
    expect(await outcome(customer, paths.list, {})).toBe('done');
  });

  test('requires only the environment variable TABLE_NAME', async () => {
    const { apiKey } = await newCustomer();
    expect(await run(['advanced-webhooks', apiKey, 'off'], { TABLE_NAME })).toContain(apiKey);
  });

  test('reports an unknown API key and stores nothing', async () => {
    const before = (await everyItem(engine)).length;
    await expect(run(['advanced-webhooks', 'key_unknown', 'off'], process.env)).rejects.toThrow(
      'API key key_unknown does not exist.',
    );
    expect((await everyItem(engine)).length).toBe(before);
  });

  test.each([
    ['another state', ['advanced-webhooks', 'key_a', 'maybe']],
    ['too many arguments', ['advanced-webhooks', 'key_a', 'on', 'off']],
    ['a name', ['advanced-webhooks', 'key_a', 'on', '--name', 'Ada']],
  ])('prints its usage with %s', async (_what, args) => {
    await expect(run(args, process.env)).rejects.toThrow(
      /^Usage: .*\n +npm run workspace -- advanced-webhooks <apiKey> off\|on/,
    );
  });
});
