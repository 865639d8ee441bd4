import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ApiKeyEntity } from '../../../lib/http/entities.ts';
import { replace } from '../../../lib/table/table.ts';
import { WebhookEndpointEntity } from '../../../lib/webhooks/endpoints.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { storedItem } from '../../support/items.ts';
import { times } from '../../support/times.ts';
import { virtualTime } from '../../support/virtualTime.ts';
import { newWebhookCustomer, outcome, paths } from '../../support/webhooks.ts';

const { engine, customer } = acmeWorld({ newCustomer: newWebhookCustomer });
let endpointId: string;
beforeEach(async () => {
  ({ id: endpointId } = await customer.ok(paths.create, { url: 'https://example.com' }));
});
afterEach(() => {
  jest.restoreAllMocks();
});

const OVERLAPPING = [
  'FAILED_PRECONDITION',
  'The previous secret is still valid. Wait for its overlap to end, or end it at once with overlapSeconds: 0.',
] as const;
const HOUR = 3_600_000;

const secretNow = async (): Promise<string> => (await customer.ok(paths.getSecret, { endpointId })).secret;
const rotate = (data: object = {}) => customer.ok(paths.rotate, { endpointId, ...data });
const stored = async (): Promise<{ sealed: string; createdAt: number; expiresAt?: number }[]> =>
  (await storedItem(engine, WebhookEndpointEntity.key({ tenant: customer.apiKey, endpointId })))?.secrets;

/** Makes the clock show a later time. */
function later(milliseconds: number): void {
  const now = Date.now();
  jest.restoreAllMocks();
  jest.spyOn(Date, 'now').mockReturnValue(now + milliseconds);
}

describe('POST /v2/workspace/advancedwebhook/endpoints/secret/get', () => {
  test('returns whsec_ and the base64 of 32 bytes, which stay the same and differ between endpoints', async () => {
    const { status, body } = await customer.call(paths.getSecret, { endpointId });
    expect({ status, ...body.result }).toEqual({
      status: 'success',
      message: 'Advanced webhook endpoint secret retrieved successfully.',
      data: { endpointId, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) },
    });
    const { secret } = body.result.data;
    expect(Buffer.from(secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
    expect(await secretNow()).toBe(secret);
    const { id } = await customer.ok(paths.create, { url: 'https://example.com' });
    expect((await customer.ok(paths.getSecret, { endpointId: id })).secret).not.toBe(secret);
  });

  test('returns no secret for an auth token that was just replaced', async () => {
    const secret = await secretNow();
    const key = (await table.get(ApiKeyEntity, { apiKey: customer.apiKey }))!;
    await table.write([replace(ApiKeyEntity, { ...key, tokenHashes: [] }, key._r)]);
    for (const path of [paths.getSecret, paths.rotate, paths.delete, paths.getBasic, paths.updateBasic]) {
      const { status, body } = await customer.call(path, { endpointId });
      expect([path, status]).toEqual([path, 403]);
      expect(JSON.stringify(body)).not.toContain(secret);
    }
    expect(await stored()).toHaveLength(1);
  });
});

describe('POST /v2/workspace/advancedwebhook/endpoints/secret/rotate', () => {
  test('returns a new secret, which secret/get then returns, and both secrets are valid for a day', async () => {
    const old = await secretNow();
    const { status, body } = await customer.call(paths.rotate, { endpointId });
    expect({ status, ...body.result }).toEqual({
      status: 'success',
      message: 'Advanced webhook endpoint secret rotated successfully.',
      data: { endpointId, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) },
    });
    expect(body.result.data.secret).not.toBe(old);
    expect(await secretNow()).toBe(body.result.data.secret);
    const [newest, previous, ...more] = await stored();
    expect(more).toEqual([]);
    expect(newest).not.toHaveProperty('expiresAt');
    expect(previous!.expiresAt! - newest!.createdAt).toBe(24 * HOUR);
  });

  test('returns FAILED_PRECONDITION while two secrets are valid, except with overlapSeconds: 0, and succeeds afterwards', async () => {
    later(0);
    const { secret } = await rotate({ overlapSeconds: 3_600 });
    const before = await stored();
    expect(await outcome(customer, paths.rotate, { endpointId })).toEqual(OVERLAPPING);
    expect(await stored()).toEqual(before);
    expect(await secretNow()).toBe(secret);
    later(HOUR + 1_000);
    // Another write of the endpoint drops the expired secret.
    await customer.ok(paths.update, { endpointId, url: 'https://example.org', disabled: true });
    expect([await secretNow(), (await stored()).length]).toEqual([secret, 1]);
    await rotate({ overlapSeconds: 604_800 });
    expect((await stored()).map(({ sealed }) => sealed)).toEqual([expect.any(String), before[0]!.sealed]);
    // Without an overlap, all old secrets end at once.
    const { secret: last } = await rotate({ overlapSeconds: 0 });
    expect([await secretNow(), (await stored()).length]).toEqual([last, 1]);
  });

  test('succeeds for one of ten parallel calls, and secret/get returns the secret of this call', async () => {
    const answers = await Promise.all(times(10, () => customer.call(paths.rotate, { endpointId })));
    const done = answers.filter(({ status }) => status === 200);
    expect(done).toHaveLength(1);
    for (const { status, body } of answers)
      if (status !== 200) expect([body.error.status, body.error.message]).toEqual(OVERLAPPING);
    expect(await secretNow()).toBe(done[0]!.body.result.data.secret);
  });

  test('keeps a parallel change of the endpoint', async () => {
    const [{ secret }] = await Promise.all([rotate(), customer.ok(paths.update, { endpointId, description: 'new' })]);
    expect(await secretNow()).toBe(secret);
    expect((await customer.ok(paths.list, {})).endpoints).toMatchObject([{ description: 'new' }]);
  });

  test('returns ABORTED if every write conflicts', async () => {
    const before = await stored();
    jest.spyOn(table, 'write').mockResolvedValue({ conflicts: [0] });
    expect((await virtualTime().run(() => outcome(customer, paths.rotate, { endpointId })))[0]).toBe('ABORTED');
    expect(await stored()).toEqual(before);
  });
});
