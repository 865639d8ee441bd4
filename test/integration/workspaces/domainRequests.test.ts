import { describe, expect, test } from '@jest/globals';
import { upsert } from '../../../lib/table/table.ts';
import { DomainRequestEntity, MAX_DOMAIN_REQUESTS } from '../../../lib/workspaces/domainRequests.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { times } from '../../support/times.ts';

const ASK = '/v2/workspace/domains/request';
const LIST = '/v2/workspace/requested/domains/get';
const ANSWER = '/v2/workspace/additional-url-request';
const DAY = 24 * 60 * 60_000;
const partner = {
  organizationId: 'acme',
  clientDocumentId: 'nda',
  domain: 'https://www.Partner.example.com:8443/pricing',
};

const { customer } = acmeWorld({ documents: ['nda', 'tos'], table: 'memory' });

const list = () => customer.ok(LIST, {});
const allowed = async () => (await customer.ok('/v2/workspace/domains/get', {})).allowedDomains;
const fill = (count: number, requestedAt = Date.now()) =>
  table.writeAll(
    times(count, (n) =>
      upsert(DomainRequestEntity, {
        ...partner,
        requestedAt,
        status: 'pending',
        tenant: customer.apiKey,
        id: `other-${n}`,
      }),
    ),
  );
async function ask(data: object = partner): Promise<string> {
  await customer.untyped(ASK, data);
  return (await list())[0].id;
}

describe('domains/request', () => {
  test('stores a pending request, and one for the same domain and document', async () => {
    const id = await ask();
    expect(await ask()).toBe(id);
    await ask({ ...partner, clientDocumentId: 'tos' });
    const row = { domain: 'partner.example.com', organizationId: 'acme', status: 'pending' };
    expect(await list()).toHaveLength(2);
    expect(await list()).toContainEqual({ ...row, id, clientDocumentId: 'nda', requestedAt: expect.any(Number) });
    expect(await allowed()).toEqual([]);
  });

  test.each([
    ['an IP address', { ...partner, domain: '10.0.0.1' }, 400, 'INVALID_ARGUMENT'],
    ['an unknown organization', { ...partner, organizationId: 'unknown' }, 400, 'INVALID_ARGUMENT'],
    ['an unknown document', { ...partner, clientDocumentId: 'unknown' }, 404, 'NOT_FOUND'],
  ])('refuses %s', async (_what, data, ...expected) => {
    expect((await customer.error(ASK, data)).slice(0, 2)).toEqual(expected);
  });

  test('refuses a request too many, but not one that exists', async () => {
    await ask();
    await fill(MAX_DOMAIN_REQUESTS - 1);
    await customer.ok(ASK, partner);
    const tooMany = await customer.error(ASK, { ...partner, domain: 'new.example.com' });
    expect(tooMany.slice(0, 2)).toEqual([429, 'RESOURCE_EXHAUSTED']);
  });

  test('counts no request from more than 90 days ago', async () => {
    await fill(MAX_DOMAIN_REQUESTS, Date.now() - 91 * DAY);
    await ask();
    expect(await list()).toHaveLength(1);
  });

  test('lists requests above the limit, which simultaneous calls can store', async () => {
    await fill(MAX_DOMAIN_REQUESTS + 20);
    expect(await list()).toHaveLength(MAX_DOMAIN_REQUESTS + 20);
  });
});

describe('additional-url-request', () => {
  test('accepts a domain once, and a repeated request is pending again', async () => {
    const id = await ask();
    const accept = { action: 'accept', id, clientDocId: 'nda' };
    await Promise.all(times(5, () => customer.untyped(ANSWER, accept)));
    expect([await allowed(), (await list())[0].status]).toEqual([['partner.example.com'], 'accepted']);
    const { body } = await customer.call(ANSWER, { ...accept, action: 'reject' });
    expect(body.error).toMatchObject({
      status: 'FAILED_PRECONDITION',
      message: 'The domain request is accepted already',
      details: { status: 'accepted' },
    });
    await ask();
    expect((await list())[0].status).toBe('pending');
    await customer.untyped(ANSWER, accept);
    expect(await allowed()).toEqual(['partner.example.com']);
  });

  test('rejects a domain, which is not allowed then', async () => {
    const id = await ask();
    await customer.untyped(ANSWER, { action: 'reject', id, clientDocId: 'nda' });
    expect([await allowed(), (await list())[0].status]).toEqual([[], 'rejected']);
  });

  test.each([
    ['an unknown request', { action: 'accept', clientDocId: 'nda', id: 'unknown' }],
    ['a request for another document', { action: 'accept', clientDocId: 'tos' }],
  ])('does not find %s', async (_what, data) => {
    const id = await ask();
    expect(await customer.error(ANSWER, { id, ...data })).toEqual([404, 'NOT_FOUND', 'Domain request does not exist']);
  });
});
