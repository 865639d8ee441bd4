import { expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { capturedLog } from '../../support/capturedLog.ts';
import { everyItem } from '../../support/items.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';

const TOKEN = 'the-auth-token-of-basic-webhooks';
const USERINFO = 'someone:a-password-in-a-url';

const lines = capturedLog();
const { engine, customer } = acmeWorld({ newCustomer: newWebhookCustomer });

/** Returns a secret in each encoding in which it could leak. */
const formsOf = (secret: string) => [
  secret,
  Buffer.from(secret).toString('base64'),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('hex'),
  encodeURIComponent(secret),
];

test('signing secrets and auth tokens are readable in no item, no log line and no error message', async () => {
  const { id: endpointId } = await customer.ok(paths.create, { url: `https://${USERINFO}@example.com/hook` });
  const first = (await customer.ok(paths.getSecret, { endpointId })).secret;
  const second = (await customer.call(paths.rotate, { endpointId }, { 'idempotency-key': 'sealed' })).body.result.data
    .secret;
  const third = (await customer.ok(paths.rotate, { endpointId, overlapSeconds: 0 })).secret;
  const config = { authToken: TOKEN, rawNotificationUrl: `https://${USERINFO}@example.com/raw` };
  const updated = await customer.call(
    paths.updateBasic,
    { webhookServiceConfig: config },
    { 'idempotency-key': 'sealed' },
  );
  expect(updated.body.result.data.webhookServiceConfig).toEqual({ ...config, processedNotificationUrl: '' });
  expect((await customer.ok(paths.getBasic, {})).webhookServiceConfig).toEqual({
    ...config,
    processedNotificationUrl: '',
  });

  const failures = JSON.stringify(
    [
      await customer.call(paths.updateBasic, { webhookServiceConfig: { authToken: `${TOKEN}\n` } }),
      await customer.call(paths.updateBasic, {
        webhookServiceConfig: { authToken: TOKEN, rawNotificationUrl: `https://${USERINFO}@10.0.0.1` },
      }),
      await customer.call(paths.create, { url: `https://${USERINFO}@localhost` }),
      await customer.call(paths.create, { url: `https://${USERINFO}@` }),
      await customer.call(paths.update, { endpointId, url: `https://${USERINFO}@example.com:25` }),
      await customer.call(paths.rotate, { endpointId, secret: third, overlapSeconds: -1 }),
      await customer.call(paths.getSecret, { endpointId: third }),
    ].map(({ status, body }) => ({ status, error: body.error })),
  );
  expect(failures).not.toContain('"status":200');

  const items = Buffer.concat((await everyItem(engine)).flatMap(bytesOf));
  for (const secret of [first, second, third, TOKEN]) {
    for (const form of formsOf(secret)) {
      expect(items.includes(form)).toBe(false);
      expect(lines.join('\n')).not.toContain(form);
      expect(failures).not.toContain(form);
    }
    // The key in a signing secret is encoded as base64. Its raw bytes must not be stored either.
    expect(items.includes(Buffer.from(secret.replace('whsec_', ''), 'base64'))).toBe(false);
  }
  for (const form of formsOf(USERINFO)) {
    expect(lines.join('\n')).not.toContain(form);
    expect(failures).not.toContain(form);
  }
  // Checks the search itself: the stored URL contains this text.
  expect(items.includes(USERINFO)).toBe(true);
  expect(lines.filter((line) => line.includes('"request completed"')).length).toBeGreaterThan(10);
});

/** Returns all texts and bytes in a value, each followed by a line break. */
function bytesOf(value: unknown): Buffer[] {
  if (value instanceof Uint8Array) return [Buffer.from(value), Buffer.from('\n')];
  if (value instanceof Set || Array.isArray(value)) return [...value].flatMap(bytesOf);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => [Buffer.from(`${key}\n`), ...bytesOf(inner)]);
  return [Buffer.from(`${String(value)}\n`)];
}

test('each read and each rotation of a webhook secret writes a log line', async () => {
  const { id: endpointId } = await customer.ok(paths.create, { url: 'https://example.com' });
  await customer.ok(paths.getSecret, { endpointId });
  await customer.ok(paths.rotate, { endpointId });
  await customer.call(paths.getSecret, { endpointId: 'ep_unknown' });
  const audit = lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ message }) => String(message).startsWith('webhook secret'));
  expect(audit.map(({ message, endpointId: of, requestId }) => [message, of, typeof requestId])).toEqual([
    ['webhook secret read', endpointId, 'string'],
    ['webhook secret rotated', endpointId, 'string'],
  ]);
});
