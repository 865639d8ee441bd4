import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { run } from '../../../infra/commands/workspace.ts';
import { acmeWorld, forAllTests, invalid } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { type Customer, newCustomer } from '../../support/customer.ts';
import { handlerOf, restartFunctions } from '../../support/functionHandlers.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { startQueues } from '../../support/queues.ts';
import { post } from '../../support/requests.ts';
import { times } from '../../support/times.ts';
import { newUser, type TestUser, userWith } from '../../support/userTokens.ts';

const GENERATE = '/v2/auth/generate_token';
const THREADS = '/v2/commentannotations/get';
const document = { type: 'document', id: 'nda', organizationId: 'acme' } as const;
const acme = { type: 'organization', id: 'acme' } as const;
const folder = { type: 'folder', id: 'contracts', organizationId: 'acme' } as const;

const { customer } = acmeWorld({ documents: ['nda'] });
const queues = forAllTests(startQueues);
let hours = 0;
beforeAll(() => {
  const { now } = Date;
  jest.spyOn(Date, 'now').mockImplementation(() => now() + hours * 60 * 60 * 1000);
});
afterAll(() => {
  jest.restoreAllMocks();
});
beforeEach(async () => {
  restartFunctions();
  await restrict();
});
afterEach(() => {
  hours = 0;
});

const restrict = () => customer.setAccess('restricted', ['nda']);
const moveTo = (folderId: string) =>
  customer.ok('/v2/organizations/documents/move', { organizationId: 'acme', documentIds: ['nda'], folderId });
const generate = (resources: readonly object[], fields: object = {}) => ({
  userId: 'ada',
  userProperties: { name: 'Ada', email: 'ada@example.com', ...fields },
  permissions: { resources },
});
const TEN_SECONDS = 10 / 3_600;
/** Waits until everything in memory has expired. Returns whether the user can then read the document. */
async function canRead(user: TestUser): Promise<boolean> {
  hours += TEN_SECONDS;
  return (await user.status(THREADS, nda)) === 'OK';
}
/** Runs all jobs to their ends. The clock of the test then shows the time of the last end. */
async function finishJobs(): Promise<void> {
  const messages = queues.messagesOf('jobs');
  queues.clear();
  const start = Date.now();
  const runner = new JobRunner(start);
  for (const { body } of messages) await runner.finish(body);
  hours += (runner.now - start) / 3_600_000;
}
const claimsOf = ({ token }: TestUser) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());

describe('POST /v2/auth/generate_token', () => {
  test('returns a token for 48 hours with the user, the tenant and the granted resources', async () => {
    const claims = claimsOf(await newUser(customer, 'ada', [document]));
    expect(claims).toMatchObject({ sub: 'ada', tenant: customer.apiKey, isAdmin: false });
    expect(claims.exp - claims.iat).toBe(48 * 60 * 60);
    expect(claims.grants).toEqual([[expect.stringMatching(/^org_/), [['de', expect.stringMatching(/^doc_/)]]]]);
  });

  test('creates the user, or adds missing fields to the profile of an existing user', async () => {
    await customer.addUsers([{ userId: 'ada', photoUrl: 'https://a.example/a.png' }]);
    await newUser(customer, 'ada', [acme]);
    await newUser(customer, 'bob', [acme]);
    const users = (await customer.ok('/v2/users/get', { organizationId: 'acme' })) as any[];
    expect(users).toEqual([
      expect.objectContaining({ userId: 'ada', name: 'ada of Acme', photoUrl: 'https://a.example/a.png' }),
      expect.objectContaining({ userId: 'bob', email: 'bob@example.com' }),
    ]);
  });

  test('makes the user a member of an organization, and keeps the role of an existing member', async () => {
    const roleOf = async (userId: string) =>
      (await customer.ok('/v2/auth/permissions/get', { organizationId: 'acme', userIds: [userId] }))[userId]
        .organization.acme.accessRole;
    await newUser(customer, 'ada', [{ ...acme, accessRole: 'viewer' }]);
    expect(await roleOf('ada')).toBe('viewer');
    await newUser(customer, 'ada', [{ ...acme, accessRole: 'editor' }]);
    expect(await roleOf('ada')).toBe('viewer');
  });

  test.each([
    ['an unknown organization', { ...acme, id: 'other' }, 'INVALID_ARGUMENT'],
    ['an unknown document', { ...document, id: 'other' }, 'NOT_FOUND'],
    ['a document without its organization', { type: 'document', id: 'nda' }, 'INVALID_ARGUMENT'],
  ])('rejects %s', async (_what, resource, status) => {
    const { body } = await customer.call(GENERATE, generate([resource]));
    expect(body.error.status).toBe(status);
  });

  test('rejects an address that cannot receive mail', async () => {
    const { body } = await customer.call(GENERATE, generate([], { email: 'nobody' }));
    expect(body.error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      details: { issues: [{ path: ['userProperties', 'email'] }] },
    });
  });

  test('accepts one hundred grants, and the token still fits into a header', async () => {
    const ids = times(100, (index) => `d${index}`);
    await customer.addDocuments(ids);
    const { token } = await newUser(
      customer,
      'ada',
      ids.map((id) => ({ ...document, id })),
    );
    expect(token.length).toBeLessThan(8_000);
  });

  test('does not register the user if the grants do not fit into a token', async () => {
    const ids = times(100, (index) => `organization-${index}`);
    await customer.addOrganizations(ids);
    const { body } = await customer.call(GENERATE, generate(ids.map((id) => ({ ...acme, id }))));
    expect(body.error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      details: { issues: [{ path: ['permissions', 'resources'], code: 'too_big' }] },
    });
    expect(await customer.untyped('/v2/users/get', { organizationId: ids[0] })).toEqual([]);
    expect(
      (await customer.ok('/v2/users/update', { organizationId: 'acme', users: [{ userId: 'ada' }] })).ada.message,
    ).toBe('User does not exist.');
  });
});

describe('the older endpoints for user tokens', () => {
  const request = { userId: 'ada', userProperties: { organizationId: 'acme', email: 'ada@example.com' } };

  test('/v2/auth/token/get makes the user a member of the organization', async () => {
    const { token } = await customer.ok('/v2/auth/token/get', { ...request, permissions: { resources: [document] } });
    expect(await canRead(userWith('ada', token))).toBe(true);
    expect((await customer.ok('/v2/users/get', { organizationId: 'acme' }))[0]).toMatchObject({ userId: 'ada' });
  });

  test('/v2/auth/token/get gives the role and the end that the resources name for the organization', async () => {
    const viewer = { ...acme, accessRole: 'viewer', expiresAt: 4_102_444_800 };
    const { token } = await customer.untyped('/v2/auth/token/get', {
      ...request,
      permissions: { resources: [viewer] },
    });
    expect(claimsOf(userWith('ada', token)).grants).toEqual([
      [expect.any(String), [['ov', expect.any(String), viewer.expiresAt]]],
    ]);
    const { ada } = await customer.ok('/v2/auth/permissions/get', { organizationId: 'acme', userIds: ['ada'] });
    expect(ada.organization.acme).toEqual({ accessRole: 'viewer', expiresAt: viewer.expiresAt });
  });

  test('/v2/auth/token/get names userProperties.organizationId if the organization does not exist', async () => {
    const { body } = await customer.call('/v2/auth/token/get', {
      ...request,
      userProperties: { organizationId: 'other' },
    });
    expect(body.error).toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: 'userProperties.organizationId does not exist',
      details: { issues: [{ path: ['userProperties', 'organizationId'], code: 'does_not_exist' }] },
    });
  });

  test('/v1/auth/token/get reads the credentials from the body', async () => {
    const handler = handlerOf('/v1/auth/token/get');
    const { apiKey, authToken } = customer;
    const { status, body } = await post(handler, {}, { ...request, apiKey, authToken });
    expect([status, body.result.message]).toEqual([200, 'Token generated successfully.']);
    for (const wrong of [{ apiKey: 'key_unknown' }, { authToken: 'wrong' }]) {
      const refused = await post(handler, {}, { ...request, apiKey, authToken, ...wrong });
      expect(refused).toMatchObject({
        status: 400,
        body: { error: { status: 'INVALID_ARGUMENT', message: 'Auth token not found.' } },
      });
    }
  });
});

describe('a user token', () => {
  const reset = (fields: object = {}) =>
    post(handlerOf('/v2/workspace/authtoken/reset'), customer.workspaceHeaders, { apiKey: customer.apiKey, ...fields });

  test('gives access to granted documents and to no others', async () => {
    expect(await canRead(await newUser(customer, 'ada', [document]))).toBe(true);
    expect(await canRead(await newUser(customer, 'bob', []))).toBe(false);
    expect(await canRead(await newUser(customer, 'eve', [acme]))).toBe(false);
  });

  test('gives the more permissive role if a stored grant exists for the same document', async () => {
    const roleOf = async (user: TestUser) =>
      (await user.ok('/v2/auth/permissions/get', { organizationId: 'acme', documentIds: ['nda'] }))[user.userId]
        .documents.nda.accessRole;
    await customer.grant('ada', { ...document, accessRole: 'viewer' });
    await customer.grant('bob', { ...document, accessRole: 'editor' });
    expect(await roleOf(await newUser(customer, 'ada', [{ ...document, accessRole: 'editor' }]))).toBe('editor');
    expect(await roleOf(await newUser(customer, 'bob', [{ ...document, accessRole: 'viewer' }]))).toBe('editor');
    expect(await roleOf(await newUser(customer, 'bob', []))).toBe('editor');
  });

  test('does not make an editor of a stored viewer of a public document', async () => {
    await customer.setAccess('public', ['nda']);
    for (const [userId, resource] of [
      ['ada', document],
      ['bob', acme],
    ] as const) {
      await customer.grant(userId, { ...resource, accessRole: 'viewer' });
      const push = { ...nda, editorId: 'summary', update: 'AAA=' };
      expect(await (await newUser(customer, userId)).status('/v2/crdt/updates/push', push)).toBe('PERMISSION_DENIED');
    }
    expect(await canRead(await newUser(customer, 'eve'))).toBe(true);
  });

  test('expires after 48 hours, and each of its grants at expiresAt', async () => {
    const ada = await newUser(customer, 'ada', [document]);
    const bob = await newUser(customer, 'bob', [{ ...document, expiresAt: Math.floor(Date.now() / 1000) + 3_600 }]);
    expect(await canRead(bob)).toBe(true);
    hours = 2;
    expect([await canRead(ada), await canRead(bob)]).toEqual([true, false]);
    hours = 49;
    expect(await ada.call(THREADS, nda)).toMatchObject({
      status: 403,
      body: { error: { status: 'PERMISSION_DENIED', message: 'Invalid or expired user token.' } },
    });
  });

  test('does not get a removed grant back, even if access is granted again', async () => {
    const ada = await newUser(customer, 'ada', [{ ...document, accessRole: 'editor' }]);
    expect(await canRead(ada)).toBe(true);
    await customer.call('/v2/auth/permissions/remove', { userId: 'ada', permissions: { resources: [document] } });
    expect(await canRead(ada)).toBe(false);
    // This access comes from the stored grant and not from the token.
    await customer.grant('ada', { ...document, accessRole: 'viewer' });
    expect(await canRead(ada)).toBe(true);
    const editor = { ...nda, editorId: 'summary', update: 'AAA=' };
    expect(await ada.status('/v2/crdt/updates/push', editor)).toBe('PERMISSION_DENIED');
    // A token that was created after the removal keeps its access.
    expect(await canRead(await newUser(customer, 'ada', [document]))).toBe(true);
  });

  test('keeps its other grants when one is removed', async () => {
    const ada = await newUser(customer, 'ada', [document, acme]);
    await customer.call('/v2/auth/permissions/remove', { userId: 'ada', permissions: { resources: [acme] } });
    expect(await canRead(ada)).toBe(true);
  });

  test.each([
    ['the organization', {}],
    ['the document', { documentId: 'nda' }],
  ])('loses its grants if the user is removed from %s', async (_what, from) => {
    const ada = await newUser(customer, 'ada', [document, acme]);
    expect(await canRead(ada)).toBe(true);
    await customer.ok('/v2/users/delete', { organizationId: 'acme', ...from, userIds: ['ada'] });
    expect(await canRead(ada)).toBe(false);
  });

  test('loses access to a document in a folder from which the user is removed', async () => {
    await customer.addFolders([{ folderId: 'contracts', accessType: 'restricted' }]);
    await moveTo('contracts');
    const ada = await newUser(customer, 'ada', [document]);
    const bob = await newUser(customer, 'bob', [folder]);
    expect([await canRead(ada), await canRead(bob)]).toEqual([true, true]);
    await customer.ok('/v2/users/delete', { organizationId: 'acme', folderId: 'contracts', userIds: ['ada', 'bob'] });
    expect([await canRead(ada), await canRead(bob)]).toEqual([false, false]);
  });

  test.each([
    ['the document is moved out', () => moveTo('root')],
    [
      'a folder of the document is moved out',
      () =>
        customer.ok('/v2/organizations/folders/update', {
          organizationId: 'acme',
          folders: [{ folderId: 'drafts', parentFolderId: 'root' }],
        }),
    ],
  ])('does not get a grant back if the user was removed from a folder and later %s', async (_what, move) => {
    queues.clear();
    await customer.addFolders([
      { folderId: 'contracts', accessType: 'restricted' },
      { folderId: 'drafts', parentFolderId: 'contracts', accessType: 'restricted' },
      { folderId: 'old', parentFolderId: 'drafts' },
    ]);
    await moveTo('old');
    hours += 1;
    const drafts = { ...folder, id: 'drafts' };
    const [ada, bob, eve] = [
      await newUser(customer, 'ada', [document, acme]),
      await newUser(customer, 'bob', [drafts]),
      await newUser(customer, 'eve', [document]),
    ];
    expect([await canRead(ada), await canRead(bob)]).toEqual([true, true]);
    await customer.ok('/v2/users/delete', { organizationId: 'acme', folderId: 'contracts', userIds: ['ada', 'bob'] });
    await finishJobs();
    await move();
    expect([await canRead(ada), await canRead(bob), await canRead(eve)]).toEqual([false, false, true]);
    await finishJobs();
    expect([await canRead(ada), await canRead(bob), await canRead(eve)]).toEqual([false, false, true]);
    expect(await ada.ok('/v2/organizations/documents/get', { organizationId: 'acme' })).toEqual([]);
    expect(await canRead(await newUser(customer, 'ada', [document]))).toBe(true);
  });

  test.each([
    ['in the organization', { organizationIds: ['acme'] }],
    ['everywhere, and is added again', {}],
  ])('does not get its grants back if the user is erased %s', async (_where, organizations) => {
    queues.clear();
    const ada = await newUser(customer, 'ada', [document, acme]);
    expect(await canRead(ada)).toBe(true);
    await customer.ok('/v2/users/data/delete', { userIds: ['ada'], ...organizations });
    await customer.addUsers([{ userId: 'ada', name: 'Ada again' }]);
    expect(await canRead(ada)).toBe(false);
    await finishJobs();
    expect(await canRead(ada)).toBe(false);
    expect(await canRead(await newUser(customer, 'ada', [document]))).toBe(true);
  });

  test('gives no access to a public document as soon as the user is erased everywhere', async () => {
    await customer.setAccess('public', ['nda']);
    const ada = await newUser(customer, 'ada', [acme]);
    expect(await canRead(ada)).toBe(true);
    await customer.ok('/v2/users/data/delete', { userIds: ['ada'] });
    expect(await canRead(ada)).toBe(false);
  });

  test('loses its grants if the organization is disabled, even after it is enabled again', async () => {
    const ada = await newUser(customer, 'ada', [document]);
    await customer.grant('bob', document);
    const bob = await newUser(customer, 'bob', []);
    const disable = (disabled: boolean) =>
      customer.ok('/v2/organizations/access/disablestate/update', { organizationIds: ['acme'], disabled });
    await disable(true);
    expect([await canRead(ada), await canRead(bob)]).toEqual([false, false]);
    await disable(false);
    expect([await canRead(ada), await canRead(bob)]).toEqual([false, true]);
  });

  test('gives no access to a document that was deleted and created again', async () => {
    const ada = await newUser(customer, 'ada', [document]);
    await customer.ok('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['nda'] });
    await customer.addDocuments(['nda']);
    await restrict();
    expect(await canRead(ada)).toBe(false);
  });

  test('is rejected at once if all tokens of the API key are revoked, and newer tokens work', async () => {
    const ada = await newUser(customer, 'ada', [document]);
    expect(await canRead(ada)).toBe(true);
    const { body } = await reset({ revokeUserTokens: true });
    expect(await canRead(ada)).toBe(false);
    const headers = { ...customer.headers, 'x-svc-auth-token': body.result.data.newAuthToken.token as string };
    const answer = await customer.call(GENERATE, generate([document]), headers);
    expect(await canRead(userWith('ada', answer.body.result.data.token))).toBe(true);
  });

  test('is refused at once when the operator revokes all tokens of the API key, whose auth token stays valid', async () => {
    const ada = await newUser(customer, 'ada', [document]);
    const output = await run(['revoke-user-tokens', customer.apiKey], process.env);
    expect(JSON.parse(output)).toEqual({ apiKey: customer.apiKey, userTokens: 'revoked' });
    expect(await canRead(ada)).toBe(false);
    expect(await canRead(await newUser(customer, 'ada', [document]))).toBe(true);
    await expect(run(['revoke-user-tokens', 'key_unknown'], process.env)).rejects.toThrow(
      'API key key_unknown does not exist.',
    );
  });

  test('works after a reset of the auth tokens without revocation', async () => {
    const ada = await newUser(customer, 'ada', [document]);
    await reset();
    expect(await canRead(ada)).toBe(true);
  });

  test('gives access at once after a grant is added, although denials are kept in memory', async () => {
    const ada = await newUser(customer, 'ada', []);
    expect(await ada.status(THREADS, nda)).toBe('PERMISSION_DENIED');
    await customer.grant('ada', document);
    hours += 1.1 / 3_600;
    expect(await ada.status(THREADS, nda)).toBe('OK');
  });

  test('lets a page read answers as soon as its domain is allowed, although the domains are kept in memory', async () => {
    const ada = await newUser(customer, 'ada', [document]);
    const allowedOrigin = async (origin: string) =>
      (await ada.call(THREADS, nda, { origin })).headers['access-control-allow-origin'];
    expect(await allowedOrigin('https://example.com')).toBeUndefined();
    await customer.ok('/v2/workspace/domains/add', { domains: ['example.com'] });
    hours += 1.1 / 3_600;
    expect(await allowedOrigin('https://example.com')).toBe('https://example.com');
    expect(await allowedOrigin('https://example.org')).toBeUndefined();
  });

  test('gets the same answer for its Idempotency-Key, and other users can use the key', async () => {
    const [ada, bob] = [await newUser(customer, 'ada', [document]), await newUser(customer, 'bob', [document])];
    const add = { ...nda, commentAnnotations: [{ commentData: [{ commentText: 'x' }] }] };
    const key = { 'idempotency-key': 'k' };
    const first = await ada.call('/v2/commentannotations/add', add, key);
    const again = await ada.call('/v2/commentannotations/add', add, key);
    const other = await bob.call('/v2/commentannotations/add', add, key);
    expect(again).toMatchObject({ body: first.body, headers: { 'idempotency-replayed': 'true' } });
    expect(other.status).toBe(200);
    expect(other.body).not.toEqual(first.body);
  });

  test('gets the same answer for an Idempotency-Key after the token is renewed', async () => {
    const add = { ...nda, commentAnnotations: [{ commentData: [{ commentText: 'x' }] }] };
    const key = { 'idempotency-key': 'k' };
    const ada = await newUser(customer, 'ada', [document]);
    const first = await ada.call('/v2/commentannotations/add', add, key);
    hours = 1;
    const renewed = await newUser(customer, 'ada', [document, acme]);
    expect(renewed.token).not.toBe(ada.token);
    const again = await renewed.call('/v2/commentannotations/add', add, key);
    expect(again).toMatchObject({ status: 200, body: first.body, headers: { 'idempotency-replayed': 'true' } });
  });

  test('contains a key for stored answers that no other user or API key has', async () => {
    const answerKey = async (by: Customer, userId: string) => claimsOf(await newUser(by, userId)).answerKey;
    const own = await answerKey(customer, 'ada');
    expect(own).toMatch(/^[\w-]{43}$/);
    expect(await answerKey(customer, 'ada')).toBe(own);
    expect(await answerKey(customer, 'bob')).not.toBe(own);
    expect(await answerKey(await newCustomer(), 'ada')).not.toBe(own);
  });
});

describe('a page token', () => {
  test('is rejected for another user and for the API key', async () => {
    await customer.addDocuments(['second']);
    const list = { organizationId: 'acme', pageSize: 1 };
    const [ada, bob] = [await newUser(customer, 'ada', [acme, document]), await newUser(customer, 'bob', [acme])];
    const { body } = await ada.call('/v2/organizations/documents/get', list);
    const next = { ...list, pageToken: body.result.pageToken };
    expect(next.pageToken).not.toBeNull();
    expect(await ada.status('/v2/organizations/documents/get', next)).toBe('OK');
    expect(await bob.status('/v2/organizations/documents/get', next)).toBe('INVALID_ARGUMENT');
    expect((await customer.call('/v2/organizations/documents/get', next)).body.error.status).toBe('INVALID_ARGUMENT');
  });
});

describe('listings with a user token', () => {
  test('contain only documents and folders that the user may read', async () => {
    await customer.addDocuments(['open']);
    await customer.addFolders(['contracts', { folderId: 'secret', accessType: 'restricted' }]);
    const ada = await newUser(customer, 'ada', [acme]);
    const ids = async (path: string, id: string) =>
      ((await ada.ok(path, { organizationId: 'acme' })) as any[]).map((row) => row[id]);
    expect(await ids('/v2/organizations/documents/get', 'id')).toEqual(['open']);
    expect(await ids('/v2/organizations/folders/get', 'folderId')).toEqual(['contracts']);
  });

  test('have full pages, so that hidden documents and folders cannot be counted', async () => {
    const restricted = (ids: string[]) => ids.map((folderId) => ({ folderId, accessType: 'restricted' }));
    await customer.addFolders([...restricted(['a', 'b', 'z']), 'open', { folderId: 'own', accessType: 'public' }]);
    await customer.addDocuments(['a', 'b', 'z'], { folderId: 'a' });
    await customer.addDocuments(['first', 'second']);
    const ada = await newUser(customer, 'ada', [acme]);
    const pages = async (path: string, token: string) => {
      const first = (await ada.call(path, { organizationId: 'acme', pageSize: 1 })).body.result;
      const second = (await ada.call(path, { organizationId: 'acme', pageSize: 1, pageToken: first[token] })).body
        .result;
      return [first, second].map(({ data, [token]: next }) => [data.map((row: any) => row.id ?? row.folderId), !next]);
    };
    expect(await pages('/v2/organizations/documents/get', 'pageToken')).toEqual([
      [['first'], false],
      [['second'], true],
    ]);
    expect(await pages('/v2/organizations/folders/get', 'nextPageToken')).toEqual([
      [['open'], false],
      [['own'], true],
    ]);
  });

  test('contain the same permissions for unknown and forbidden resources', async () => {
    await customer.addFolders([{ folderId: 'secret', accessType: 'restricted' }]);
    const ada = await newUser(customer, 'ada');
    const request = { organizationId: 'acme', documentIds: ['nda', 'unknown'], folderIds: ['secret', 'unknown'] };
    const { documents, folders } = (await ada.ok('/v2/auth/permissions/get', request)).ada;
    const denied = (type: string) => ({
      error: `User does not have access to ${type}`,
      errorCode: 'permission_denied',
    });
    expect(documents).toEqual({ nda: denied('document'), unknown: denied('document') });
    expect(folders).toEqual({ secret: denied('folder'), unknown: denied('folder') });
  });

  test('contain names and avatars of users, but no e-mail addresses', async () => {
    await customer.addUsers([{ userId: 'bob', name: 'Bob', email: 'bob@example.com' }], nda);
    const ada = await newUser(customer, 'ada', [document]);
    expect(await ada.ok('/v2/users/get', nda)).toEqual([{ userId: 'bob', name: 'Bob', initial: 'B' }]);
    expect(await ada.status('/v2/users/get', { organizationId: 'acme' })).toBe('INVALID_ARGUMENT');
    const found = async (searchKey: string) => (await ada.ok('/v2/users/get', { ...nda, searchKey })).length;
    expect(await found('bob')).toBe(1);
    expect(await found('example.com')).toBe(0);
  });
});

describe('POST /v2/auth/generate_signature', () => {
  test('returns 64 hexadecimal digits that depend on the permissions and the API key', async () => {
    const permission = { userId: 'ada', resourceId: 'nda', type: 'document', hasAccess: true };
    const sign = async (by: Customer, fields: object = {}) =>
      (await by.untyped('/v2/auth/generate_signature', { permissions: [{ ...permission, ...fields }] })).signature;
    const signature = await sign(customer);
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
    expect(await sign(customer)).toBe(signature);
    expect(await sign(customer, { hasAccess: false })).not.toBe(signature);
    expect(await sign(await newCustomer())).not.toBe(signature);
  });

  test('accepts an end in the past without access only', async () => {
    const ended = { userId: 'ada', resourceId: 'nda', type: 'document', expiresAt: 1 };
    const sign = (hasAccess: boolean) =>
      customer.error('/v2/auth/generate_signature', { permissions: [{ ...ended, hasAccess }] });
    expect((await sign(false))[0]).toBe(200);
    expect(await sign(true)).toEqual(invalid('permissions[0].expiresAt must be in the future'));
  });
});
