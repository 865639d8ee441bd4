import { describe, expect, jest, test } from '@jest/globals';
import { endpoint as getDocuments } from '../../../functions/v2/organizations/documents/get.ts';
import { endpoint as getOrganizations } from '../../../functions/v2/organizations/get.ts';
import { run as command } from '../../../infra/commands/workspace.ts';
import { RateBucketEntity, RateBuckets } from '../../../lib/http/rateBuckets.ts';
import type { UpdateCommand } from '../../../lib/table/commands.ts';
import type { TableClient } from '../../../lib/table/documentClient.ts';
import { Table } from '../../../lib/table/table.ts';
import { forAllTests, table } from '../../support/acmeWorld.ts';
import { newCustomer } from '../../support/customer.ts';
import { startEngine } from '../../support/engine.ts';
import { endpointHandler } from '../../support/functionHandlers.ts';
import { post } from '../../support/requests.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';
import { newUser } from '../../support/userTokens.ts';
import { newWorkspace, type TestWorkspace } from '../../support/workspaces.ts';

const NOW = 1_800_000_000_000;
const limit = { perSecond: 20, burstSeconds: 2 };
const limits = { read: limit, write: limit, expensive: limit };

forAllTests(startEngine);
const workspace = forAllTests(newWorkspace);

/**
 * Takes tokens for calls of one class, one after the other. The clock does not advance. Returns the number of allowed
 * calls.
 */
async function countAllowed(
  buckets: RateBuckets,
  calls: number,
  options: { tenant: string; userKey?: string; limitClass?: 'read' | 'write'; perSecond?: number; now?: number },
): Promise<number> {
  let count = 0;
  for (let i = 0; i < calls; i++) {
    const decision = await buckets.take({ limitClass: 'read', now: NOW, ...options });
    if ('retryAfter' in decision) continue;
    count++;
    await Promise.all(decision.sharedBucketWrites);
  }
  return count;
}

/** Sends calls one after the other while the clock stands still. Returns their answers. */
function callsAtOneTime(
  handler: ReturnType<typeof endpointHandler>,
  headers: TestWorkspace['keyHeaders'],
  count: number,
) {
  return withStillClock(async () => {
    const answers = [];
    for (let i = 0; i < count; i++) answers.push(await post(handler, headers, {}));
    return answers;
  });
}

describe('RateBuckets', () => {
  test('enforces one limit across four processes with at most one table write per two calls', async () => {
    const send = jest.spyOn(table.connection.client, 'send');
    const processes = times(4, () => new RateBuckets(table, limits));
    let count = 0;
    for (let round = 0; round < 100; round++)
      for (const buckets of processes) count += await countAllowed(buckets, 1, { tenant: 'shared' });
    expect(count).toBeGreaterThanOrEqual(40);
    // Each of the four processes may exceed the limit by twice the calls of a tenth of a second, which are two.
    expect(count).toBeLessThanOrEqual(40 + 2 * 4 * 2);
    // The bucket is created by a second call, after the first one finds no number.
    expect(send.mock.calls.length - 1).toBeLessThanOrEqual(count / 2);
    send.mockRestore();
    // The shared bucket counts all allowed calls, also those above the limit. In each process, at most one call is not
    // written yet.
    const shared = await table.get(RateBucketEntity, { tenant: 'shared', limitClass: 'read' });
    expect(shared!.at).toBeGreaterThanOrEqual(NOW + (count - 4) * 50);
    expect(shared!.at).toBeLessThanOrEqual(NOW + count * 50);
  });

  test('enforces the limit for calls that run at the same time in several processes', async () => {
    const processes = times(4, () => new RateBuckets(table, limits));
    const counts = await Promise.all(
      processes.flatMap((buckets) => times(40, () => countAllowed(buckets, 1, { tenant: 'burst' }))),
    );
    const count = counts.reduce((sum, allowed) => sum + allowed);
    expect(count).toBeGreaterThanOrEqual(40);
    expect(count).toBeLessThanOrEqual(40 + 2 * 4 * 2);
  });

  test('counts calls for each API key and each limit class separately', async () => {
    const buckets = new RateBuckets(table, limits);
    expect(await countAllowed(buckets, 50, { tenant: 'a' })).toBe(40);
    expect(await countAllowed(buckets, 50, { tenant: 'a', limitClass: 'write' })).toBe(40);
    expect(await countAllowed(buckets, 50, { tenant: 'b' })).toBe(40);
  });

  test('lets one user make a fifth of the calls, and leaves the last fifth to servers', async () => {
    const buckets = new RateBuckets(table, limits);
    const count = (userKey?: string) => countAllowed(buckets, 50, { tenant: 'users', ...(userKey && { userKey }) });
    expect([await count('ada'), await count('ada'), await count('bob')]).toEqual([8, 0, 8]);
    expect([await count('cy'), await count('dan'), await count('fay'), await count()]).toEqual([8, 8, 0, 8]);
    const take = (userKey: string) => buckets.take({ tenant: 'users', limitClass: 'read', userKey, now: NOW });
    expect(await take('ada')).toEqual({ retryAfter: 250, emptyBucketOf: 'user', sharedBucketWrites: [] });
    expect(await take('eve')).toEqual({ retryAfter: 450, emptyBucketOf: 'apiKey', sharedBucketWrites: [] });
  });

  test('takes the tokens of a large call from the shared bucket before the call, with one conditional write', async () => {
    const [here, there] = [new RateBuckets(table, limits), new RateBuckets(table, limits)];
    const take = async (buckets: RateBuckets, more?: number) => {
      const result = await buckets.take({ tenant: 'large', limitClass: 'write', more, now: NOW });
      await Promise.all(result.sharedBucketWrites);
      return 'retryAfter' in result ? result.retryAfter : 'taken';
    };
    expect([await take(here), await take(here, 29), await take(there)]).toEqual(['taken', 'taken', 'taken']);
    const send = jest.spyOn(table.connection.client, 'send');
    // The other process has not seen these calls. It needs 19 of the 10 tokens that are left.
    expect([await take(there, 18), send.mock.calls.length]).toEqual([450, 1]);
    // It knows this now.
    expect([await take(there, 18), send.mock.calls.length]).toEqual([450, 1]);
    expect([await take(there, 9), send.mock.calls.length]).toEqual(['taken', 2]);
    send.mockRestore();
  });

  test('lets a call that needs more than the bucket run only if the bucket is full', async () => {
    const buckets = new RateBuckets(table, limits);
    const take = async (more?: number, now = NOW) => {
      const result = await buckets.take({ tenant: 'huge', limitClass: 'write', userKey: 'ada', more, now });
      return 'retryAfter' in result ? [result.retryAfter, result.emptyBucketOf] : 'taken';
    };
    // The user's bucket has 8 tokens, and 4 more each second. The users' part of the API key's bucket has 32.
    expect([await take(), await take(99)]).toEqual(['taken', 'taken']);
    expect(await take(undefined, NOW + 1_000)).toEqual([22_250, 'user']);
    expect([await take(undefined, NOW + 24_750), await take(99, NOW + 24_750)]).toEqual(['taken', [250, 'user']]);
    const shared = await table.get(RateBucketEntity, { tenant: 'huge', limitClass: 'write' });
    expect(shared!.at).toBeLessThanOrEqual(NOW + 32 * 50);
  });

  test('enforces the limit of a user across processes', async () => {
    const processes = times(4, () => new RateBuckets(table, limits));
    let count = 0;
    for (let round = 0; round < 20; round++)
      for (const buckets of processes)
        count += await countAllowed(buckets, 1, { tenant: 'shared user', userKey: 'ada' });
    expect(count).toBeGreaterThanOrEqual(8);
    expect(count).toBeLessThanOrEqual(8 + 2 * 4 * 2);
  });

  test('uses the rate of the API key if one is set, otherwise the rate of the settings', async () => {
    expect(await countAllowed(new RateBuckets(table, limits), 500, { tenant: 'more', perSecond: 100 })).toBe(200);
    expect(await countAllowed(new RateBuckets(table, limits), 500, { tenant: 'less', perSecond: 1 })).toBe(2);
  });

  test('enforces the limit in the process while the table fails, and counts these calls in the table later', async () => {
    let fails = true;
    const moved: number[] = [];
    const client = {
      send: async ({ input }: UpdateCommand) => {
        if (fails) throw new Error('The table is away');
        const by = input.ExpressionAttributeValues![':by'] as number;
        moved.push(by);
        return { Attributes: { at: NOW + by } };
      },
    } as unknown as TableClient;
    const buckets = new RateBuckets(new Table(client, 'table'), limits);
    let failures = 0;
    let count = 0;
    for (let i = 0; i < 60; i++) {
      const decision = await buckets.take({ tenant: 't', limitClass: 'read', now: NOW });
      if ('retryAfter' in decision) continue;
      count++;
      await Promise.all(decision.sharedBucketWrites).catch(() => failures++);
    }
    // After this failure, the process does not try to write to the shared bucket for a second.
    expect([count, failures]).toEqual([40, 1]);
    fails = false;
    await countAllowed(buckets, 1, { tenant: 't', now: NOW + 1_000 });
    expect(moved).toEqual([41 * 50]);
  });
});

describe('the rate limit of an API key', () => {
  const handlerWith = (variables: Record<string, string>) => endpointHandler(getOrganizations, variables);

  test('returns RESOURCE_EXHAUSTED with retry-after, and other API keys are not limited', async () => {
    const handler = handlerWith({ READS_PER_SECOND_PER_KEY: '1', CALL_BURST_SECONDS: '3' });
    const outcomes = await callsAtOneTime(handler, workspace.keyHeaders, 5);
    expect(outcomes.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
    const { headers, body } = outcomes[4]!;
    expect(body.error).toEqual({
      status: 'RESOURCE_EXHAUSTED',
      message: expect.stringMatching(/^The API key sends too many reads\. Send the request again after [12] s\.$/),
    });
    expect(headers['retry-after']).toMatch(/^[12]$/);
    expect(headers['x-request-id']).toBeTruthy();
    const other = await newWorkspace();
    expect((await post(handler, other.keyHeaders, {})).status).toBe(200);
  });
});

describe('the rate limit of a user', () => {
  test('returns RESOURCE_EXHAUSTED that names the user, while the servers of the API key can go on', async () => {
    const customer = await newCustomer();
    await customer.addDocuments(['nda']);
    const ada = await newUser(customer, 'ada', [{ type: 'organization', id: 'acme', organizationId: 'acme' }]);
    const handler = endpointHandler(getDocuments, { READS_PER_SECOND_PER_KEY: '5', CALL_BURST_SECONDS: '1' });
    const documents = { organizationId: 'acme', documentIds: ['nda'] };
    await withStillClock(async () => {
      expect((await post(handler, ada.headers, documents)).status).toBe(200);
      const { status, headers, body } = await post(handler, ada.headers, documents);
      expect([status, body.error, headers['retry-after']]).toEqual([
        429,
        { status: 'RESOURCE_EXHAUSTED', message: 'The user sends too many reads. Send the request again after 1 s.' },
        '1',
      ]);
      expect((await post(handler, customer.headers, documents)).status).toBe(200);
    });
  });
});

describe('npm run workspace -- limits', () => {
  const limitsOf = async (...args: string[]) => JSON.parse(await command(['limits', ...args], process.env)) as unknown;

  test('prints and stores the limits of an API key, which functions then apply', async () => {
    const { apiKey, keyHeaders } = await newWorkspace();
    expect(await limitsOf(apiKey)).toEqual({
      apiKey,
      callsPerSecond: { read: 'default', write: 'default', expensive: 'default' },
    });
    expect(await limitsOf(apiKey, 'read=1', 'expensive=7')).toEqual({
      apiKey,
      callsPerSecond: { read: 1, write: 'default', expensive: 7 },
    });
    expect(await limitsOf(apiKey, 'expensive=default')).toEqual({
      apiKey,
      callsPerSecond: { read: 1, write: 'default', expensive: 'default' },
    });
    const handler = endpointHandler(getOrganizations, { CALL_BURST_SECONDS: '1' });
    const outcomes = await callsAtOneTime(handler, keyHeaders, 3);
    expect(outcomes.map(({ status }) => status)).toEqual([200, 429, 429]);
    expect(await limitsOf(apiKey, 'read=default')).toEqual({
      apiKey,
      callsPerSecond: { read: 'default', write: 'default', expensive: 'default' },
    });
  });

  test.each([
    [['read=0'], 'read must be'],
    [['read=100001'], 'read must be'],
    [['read=1.5'], 'read must be'],
    [['read='], 'read must be'],
    [['reads=5'], 'reads'],
    [['5'], '5'],
  ])('rejects %j', async (args, message) => {
    await expect(command(['limits', 'key_1', ...args], process.env)).rejects.toThrow(message);
  });

  test('reports an unknown API key', async () => {
    await expect(command(['limits', 'key_nobody'], process.env)).rejects.toThrow('API key key_nobody does not exist.');
  });
});
