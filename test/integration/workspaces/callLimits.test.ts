import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { endpoint as createWorkspace } from '../../../functions/v2/workspace/create.ts';
import { endpoint as sendLoginLink } from '../../../functions/v2/workspace/email/send-login-link.ts';
import { endpoint as emailStatus } from '../../../functions/v2/workspace/email/status.ts';
import type { Endpoint } from '../../../lib/app/endpoint.ts';
import { RateLimitEntity, RateLimits } from '../../../lib/table/rateLimits.ts';
import { forAllTests, table } from '../../support/acmeWorld.ts';
import { CONTINUE_URL } from '../../support/email.ts';
import { startEngine } from '../../support/engine.ts';
import { endpointHandler } from '../../support/functionHandlers.ts';
import { storedItem } from '../../support/items.ts';
import { eventOf, postFrom, send } from '../../support/requests.ts';
import { times } from '../../support/times.ts';

const engine = forAllTests(startEngine);
afterEach(() => {
  jest.restoreAllMocks();
});

const START = Math.ceil(Date.now() / 3_600_000) * 3_600_000;
const someone = () => `someone-${randomUUID()}@example.com`;
let addresses = 0;
const someAddress = () => `198.51.100.${++addresses}`;

describe('calls without credentials', () => {
  const [MINUTE, HOUR] = [60_000, 3_600_000];
  const perAddress = { EMAIL_STATUS_PER_MINUTE_PER_ADDRESS: '2' };
  const rows: [Endpoint, string, Record<string, string>, number][] = [
    [createWorkspace, 'source address', { WORKSPACE_CREATION_PER_MINUTE: '2' }, MINUTE],
    [emailStatus, 'source address', perAddress, MINUTE],
    [emailStatus, 'e-mail address', { EMAIL_STATUS_PER_MINUTE_PER_EMAIL: '2' }, MINUTE],
    [sendLoginLink, 'source address', perAddress, MINUTE],
    [sendLoginLink, 'e-mail address', { LOGIN_LINKS_PER_HOUR_PER_EMAIL: '2' }, HOUR],
  ];
  test.each(rows.map(([endpoint, ...row]) => [endpoint.path, ...row, endpoint] as const))(
    'of %s are limited for each %s until the window ends',
    async (_path, subject, settings, window, endpoint) => {
      const clock = jest.spyOn(Date, 'now').mockReturnValue(START);
      const handler = endpointHandler(endpoint, settings);
      const call = (of: string) => {
        const email = subject === 'e-mail address' ? of : someone();
        const data = endpoint === sendLoginLink ? { email, continueUrl: CONTINUE_URL } : { ownerEmail: email };
        return postFrom(subject === 'source address' ? of : someAddress(), handler, data);
      };
      const [limited, other] = subject === 'source address' ? [someAddress(), someAddress()] : [someone(), someone()];
      const allowed = endpoint === emailStatus ? 404 : 200;
      const statuses = [];
      for (const caller of [limited, limited.toUpperCase(), limited, other]) statuses.push((await call(caller)).status);
      expect(statuses).toEqual([allowed, allowed, 429, allowed]);
      clock.mockReturnValue(START + window - 1);
      expect((await call(limited)).body.error).toEqual({
        status: 'RESOURCE_EXHAUSTED',
        message: 'Rate limit exceeded for this endpoint. Try again later.',
      });
      clock.mockReturnValue(START + window);
      expect((await call(limited)).status).toBe(allowed);
    },
  );

  test('are counted by the source address of API Gateway, not of a header', async () => {
    const limited = endpointHandler(createWorkspace, { WORKSPACE_CREATION_PER_MINUTE: '1' });
    jest.spyOn(Date, 'now').mockReturnValue(START + HOUR);
    const statuses = [];
    for (const forged of ['192.0.2.1', '192.0.2.2']) {
      const event = eventOf(JSON.stringify({ data: { ownerEmail: someone() } }), {
        'x-forwarded-for': forged,
        forwarded: `for=${forged}`,
        'x-real-ip': forged,
      });
      statuses.push((await send(limited, event)).status);
    }
    expect(statuses).toEqual([200, 429]);
  });
});

describe('RateLimits', () => {
  test('refuses a subject above its limit for five seconds without a table call', async () => {
    const calls: string[] = [];
    const counting = new Proxy(table, {
      get: (target, name) => {
        calls.push(String(name));
        return Reflect.get(target, name) as unknown;
      },
    });
    const limits = new RateLimits(counting);
    const at = (now: number) => ({ limit: 1, windowSeconds: 3_600, now });
    expect(await limits.allow('flood', 'subject', at(START))).toBe(true);
    expect(await limits.allow('flood', 'subject', at(START))).toBe(false);
    calls.length = 0;
    for (let n = 0; n < 5_000; n += 50) {
      expect(await limits.allow('flood', 'subject', at(START + n))).toBe(false);
      expect(await limits.isUsedUp('flood', 'subject', at(START + n))).toBe(true);
    }
    expect(calls).toEqual([]);
    expect(await limits.allow('flood', 'another', at(START))).toBe(true);
    await new RateLimits(table).giveBack('flood', 'subject', at(START));
    expect(await limits.allow('flood', 'subject', at(START + 5_000))).toBe(true);
  });

  test('allows a call that the same process has given back at once', async () => {
    const limits = new RateLimits(table);
    const options = { limit: 1, windowSeconds: 60, now: START };
    await limits.allow('returned', 'subject', options);
    expect(await limits.allow('returned', 'subject', options)).toBe(false);
    await limits.giveBack('returned', 'subject', options);
    expect(await limits.allow('returned', 'subject', options)).toBe(true);
  });

  test('allows as many of 50 concurrent requests as the limit', async () => {
    const limits = new RateLimits(table);
    const allow = (subject: string, now: number) => limits.allow('test', subject, { limit: 7, windowSeconds: 60, now });
    const answers = await Promise.all(times(50, () => allow('198.51.100.9', START)));
    expect(answers.filter(Boolean)).toHaveLength(7);
    expect(await allow('198.51.100.9', START + 59_999)).toBe(false);
    expect(await allow('198.51.100.9', START + 60_000)).toBe(true);
    expect(await allow('198.51.100.10', START)).toBe(true);
  });

  test('stores counters that expire after their window', async () => {
    const limits = new RateLimits(table);
    await limits.allow('expiring', 'subject', { limit: 1, windowSeconds: 60, now: START + 30_000 });
    const item = await storedItem(
      engine,
      RateLimitEntity.key({ name: 'expiring', subject: 'subject', window: START / 60_000 }),
    );
    expect(item?.ttl).toBe(START / 1000 + 120);
  });
});
