import { describe, expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { newCustomer } from '../../support/customer.ts';
import { handlerOf } from '../../support/functionHandlers.ts';
import { eventOf, send } from '../../support/requests.ts';
import { times } from '../../support/times.ts';

const GET = '/v2/workspace/domains/get';
const ADD = '/v2/workspace/domains/add';
const DELETE = '/v2/workspace/domains/delete';

const { customer } = acmeWorld();

const allowed = async (of = customer): Promise<string[]> => (await of.ok(GET, {})).allowedDomains;
const numbered = (from: number, count: number) => times(count, (index) => `d${from + index}.example`);

describe('workspace/domains', () => {
  test('get returns an empty list before the first addition, without a body', async () => {
    const { body } = await send(handlerOf(GET), eventOf(undefined, customer.headers));
    expect(body).toEqual({
      result: { status: 'success', message: 'Allowed domains retrieved successfully.', data: { allowedDomains: [] } },
    });
  });

  test('add stores each domain once without scheme, port and path', async () => {
    const { body } = await customer.call(ADD, {
      domains: [
        'https://www.Example.com:8080/x',
        'example.com',
        '*.example.com',
        'http://localhost:3000',
        'bücher.example',
      ],
    });
    const domains = ['example.com', '*.example.com', 'localhost', 'xn--bcher-kva.example'];
    expect(body.result).toEqual({
      status: 'success',
      message: 'Domain(s) added successfully to allowed domains.',
      data: { domainsAdded: domains, skippedDomains: [] },
    });
    expect(await allowed()).toEqual(domains);
  });

  test('add skips domains that are already stored', async () => {
    await customer.ok(ADD, { domains: ['a.example', 'b.example'] });
    expect(await customer.ok(ADD, { domains: ['B.example', 'c.example'] })).toEqual({
      domainsAdded: ['c.example'],
      skippedDomains: ['b.example'],
    });
    expect(await customer.ok(ADD, { domains: ['a.example'] })).toEqual({
      domainsAdded: [],
      skippedDomains: ['a.example'],
    });
    expect(await allowed()).toEqual(['a.example', 'b.example', 'c.example']);
  });

  test('delete accepts domains in any spelling and skips unknown ones', async () => {
    await customer.ok(ADD, { domains: ['a.example', 'b.example', '*.b.example'] });
    const { body } = await customer.call(DELETE, { domains: ['https://www.b.example/', 'elsewhere.example'] });
    expect(body.result).toEqual({
      status: 'success',
      message: 'Domain(s) removed successfully from allowed domains.',
      data: { domainsRemoved: ['b.example'], skippedDomains: ['elsewhere.example'] },
    });
    expect(await allowed()).toEqual(['a.example', '*.b.example']);
  });

  test.each([ADD, DELETE])('%s rejects an invalid domain with its index and changes nothing', async (path) => {
    await customer.ok(ADD, { domains: ['a.example'] });
    const { status, body } = await customer.call(path, {
      domains: ['a.example', 'b.example', 'exa mple.com', '10.0.0.1', '__proto__'],
    });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'domains[2] must be a domain such as example.com, *.example.com or localhost',
    });
    expect(body.error.details.issues.map((issue: { path: unknown }) => issue.path)).toEqual([
      ['domains', 2],
      ['domains', 3],
      ['domains', 4],
    ]);
    expect(await allowed()).toEqual(['a.example']);
  });

  test('add stores the five hundredth domain and rejects the next with RESOURCE_EXHAUSTED', async () => {
    for (let from = 0; from < 500; from += 100) await customer.ok(ADD, { domains: numbered(from, 100) });
    const { status, body } = await customer.call(ADD, { domains: ['one.example', 'd0.example'] });
    expect([status, body.error]).toEqual([
      429,
      { status: 'RESOURCE_EXHAUSTED', message: 'An API key can allow at most 500 domains.' },
    ]);
    expect(await allowed()).toEqual(numbered(0, 500));
  });

  test('add and delete apply all concurrent requests', async () => {
    await customer.ok(ADD, { domains: numbered(0, 5) });
    await Promise.all([
      ...numbered(5, 5).map((domain) => customer.ok(ADD, { domains: [domain] })),
      ...numbered(0, 5).map((domain) => customer.ok(DELETE, { domains: [domain] })),
    ]);
    expect((await allowed()).sort()).toEqual(numbered(5, 5));
  });

  test('add and delete affect the domains of one API key only', async () => {
    await customer.ok(ADD, { domains: ['a.example'] });
    const other = await newCustomer();
    expect(await allowed(other)).toEqual([]);
    expect(await other.ok(DELETE, { domains: ['a.example'] })).toEqual({
      domainsRemoved: [],
      skippedDomains: ['a.example'],
    });
    expect(await allowed()).toEqual(['a.example']);
  });
});
