import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { addDocument, nda } from '../../support/content.ts';
import { type Customer, handlerOf, newCustomer, restartFunctions } from '../../support/customer.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { type Headers, post } from '../../support/requests.ts';

const GENERATE = '/v2/auth/generate_token';
const [READ, ADD_DATA] = ['/v2/crdt/updates/get', '/v2/crdt/add'] as const;
const ada = { userId: 'ada', userProperties: { name: 'Ada Lovelace', email: 'ada@example.com' } };
const document = { type: 'document', id: 'nda', organizationId: 'acme' } as const;
const editor = { ...nda, editorId: 'summary' };

let engine: Engine;
let customer: Customer;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());
beforeEach(async () => {
  restartFunctions();
  customer = await newCustomer();
  await addDocument(customer);
  await customer.ok('/v2/organizations/documents/access/update', {
    organizationId: 'acme',
    documentIds: ['nda'],
    accessType: 'restricted',
  });
});

async function tokenOf(resources: readonly object[] = [document], fields: object = {}): Promise<string> {
  return (await customer.ok(GENERATE, { ...ada, permissions: { resources }, ...fields })).token;
}

async function callAs(token: string, path: string, data: object, headers: Headers = {}) {
  return post(await handlerOf(path), { authorization: `Bearer ${token}`, ...headers }, data);
}

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

describe('POST /v2/auth/generate_token', () => {
  test('returns a token of 48 hours that names the user, the tenant and the granted resources', async () => {
    const claims = claimsOf(await tokenOf());
    expect(claims).toMatchObject({ sub: 'ada', tenant: customer.apiKey, isAdmin: false });
    expect(claims.exp - claims.iat).toBe(48 * 60 * 60);
    expect(claims.grants).toEqual([
      [expect.stringMatching(/^org_/), [['document', expect.stringMatching(/^doc_/), 'editor', null]]],
    ]);
  });
});

describe('a call with a user token', () => {
  test('reaches the documents that the token grants', async () => {
    await customer.ok(ADD_DATA, { ...editor, type: 'text', data: 'one' });
    const answer = await callAs(await tokenOf(), READ, editor);
    expect(answer).toMatchObject({ status: 200, body: { result: { data: { version: expect.any(Number) } } } });
  });

  test('is refused without access to the document', async () => {
    const answer = await callAs(await tokenOf([]), READ, editor);
    expect(answer).toMatchObject({ status: 403, body: { error: { status: 'PERMISSION_DENIED' } } });
  });
});
