import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { fieldUse } from '../../lib/userTokens/rules/userContent.ts';
import { type Customer, newCustomer } from '../support/customer.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { handlerOf, restartFunctions } from '../support/functionHandlers.ts';
import { type Queues, startQueues } from '../support/queues.ts';
import { eventOf, post, send } from '../support/requests.ts';
import { newUser, type TestUser, userWith } from '../support/userTokens.ts';
import { endpoints } from './cases.ts';
import { dataSchema, expectDocumented } from './contract.ts';
import { exampleOfUser, fieldsOf } from './fields.ts';

const grant = { type: 'document', id: 'nda', organizationId: 'acme' } as const;
const ACME = { type: 'organization', id: 'acme' } as const;

let engine: Engine;
let queues: Queues;
let acme: Customer;
let editor: TestUser;
/** Users without access. The key says why a user has none. */
let strangers: Record<string, TestUser>;
beforeAll(async () => {
  engine = await startEngine({ sdk: true });
  queues = await startQueues();
  acme = await newCustomerWithDocuments();
  const other = await newCustomerWithDocuments();
  editor = await newUser(acme, 'ada', [grant, { ...grant, type: 'folder', id: 'contracts' }, ACME]);
  const expired = await newUser(acme, 'expired', [grant]);
  const forged = [expired.token.split('.')[0], payloadWith(expired.token, { sub: 'ada' }), expired.token.split('.')[2]];
  strangers = {
    'without a role': await newUser(acme, 'eve', []),
    'of another tenant': await newUser(other, 'eve', [grant]),
    'of another document': await newUser(acme, 'carl', [{ ...grant, id: 'other' }]),
    'with a forged token': userWith('ada', forged.join('.')),
    'without a token': userWith('ada', 'nothing'),
  };
});
afterAll(async () => {
  await queues.stop();
  await engine.stop();
});

/** Creates a customer with two restricted documents, a restricted folder and a thread. */
async function newCustomerWithDocuments(): Promise<Customer> {
  const customer = await newCustomer();
  await customer.addDocuments(['nda', 'other']);
  const restricted = { organizationId: 'acme', accessType: 'restricted' };
  await customer.untyped('/v2/organizations/documents/access/update', { ...restricted, documentIds: ['nda', 'other'] });
  await customer.addOrganizations(['disabled']);
  await customer.addDocuments(['nda'], { organizationId: 'disabled' });
  await customer.ok('/v2/organizations/access/disablestate/update', { organizationIds: ['disabled'], disabled: true });
  await customer.ok('/v2/organizations/folders/add', {
    ...{ organizationId: 'acme', folders: [{ folderId: 'contracts', accessType: 'restricted' }] },
  });
  return customer;
}

/** Returns the payload of a token in which some claims are replaced. */
function payloadWith(token: string, claims: object): string {
  const payload = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as object;
  return Buffer.from(JSON.stringify({ ...payload, ...claims })).toString('base64url');
}

/** The paths that a user interface needs in both versions of the API. */
const inBothVersions = [
  'commentannotations/add',
  'commentannotations/comments/add',
  'commentannotations/comments/delete',
  'commentannotations/comments/get',
  'commentannotations/comments/update',
  'commentannotations/count/get',
  'commentannotations/delete',
  'commentannotations/get',
  'commentannotations/update',
  'livestate/broadcast',
  'notifications/config/get',
  'notifications/config/set',
  'notifications/get',
  'notifications/update',
  'organizations/documents/get',
  'organizations/folders/get',
  'users/get',
];
const inVersion2 = [
  'activities/get',
  'auth/permissions/get',
  'commentannotations/views/add',
  'crdt/get',
  'crdt/updates/get',
  'crdt/updates/push',
  'crdt/versions/add',
  'crdt/versions/compare',
  'crdt/versions/delete',
  'crdt/versions/get',
  'crdt/versions/restore',
  'crdt/versions/update',
  'live/changes',
  'live/connect',
  'livestate/get',
  'notifications/count/get',
  'presence/add',
  'presence/delete',
  'presence/get',
  'presence/update',
  'reactions/add',
  'reactions/delete',
];

const isOpen = ({ user }: Endpoint) => user !== undefined;
const closed = endpoints.filter((endpoint) => !isOpen(endpoint) && endpoint.auth !== 'none');
const open = endpoints.filter(isOpen);

test('the endpoints that accept user tokens are those that a user interface needs', () => {
  expect(open.map(({ path }) => path).sort()).toEqual(
    [
      ...inBothVersions.flatMap((name) => [`/v1/${name}`, `/v2/${name}`]),
      ...inVersion2.map((name) => `/v2/${name}`),
    ].sort(),
  );
});

test.each(open.filter(({ twinOf }) => twinOf === undefined).map((endpoint) => [endpoint.path, endpoint] as const))(
  '%s has every field that its rules for user tokens name',
  (path, { user }) => {
    const documented = JSON.stringify(dataSchema(path));
    const { refuses = [], omits = [], actor = [] } = user ?? {};
    for (const path of [...refuses, ...omits, ...actor.map((field) => field.path)])
      expect(documented).toContain(`"${path.split('.').at(-1)}"`);
  },
);

const writing = open.filter(({ kind }) => kind === 'write');

describe('what users store', () => {
  test.each(writing.map((endpoint) => [endpoint.path, endpoint] as const))(
    'at %s is judged by the names of fields that hold markup, URLs or pictures',
    (_path, endpoint) => {
      const names = fieldsOf(endpoint).map(({ at }) => String(at.at(-1)));
      for (const name of names.filter((field) =>
        /html|markup|ur[il]|href|src|link|photo|picture|avatar|image|icon|thumb/i.test(field),
      ))
        expect([name, fieldUse(name)]).toEqual([name, expect.stringMatching(/^(?:markup|picture|url)$/)]);
      if (names.some((name) => fieldUse(name) === 'markup')) expect(endpoint.user?.cleanMarkup).toBeDefined();
    },
  );

  test.each(writing.filter(({ twinOf }) => twinOf === undefined).map((endpoint) => [endpoint.path, endpoint] as const))(
    'at %s has no URL with an active scheme',
    async (path, endpoint) => {
      const data = asUser(probe(endpoint), editor) as object;
      const refused = (field: string, message: string) => ({
        status: 400,
        body: { error: { status: 'INVALID_ARGUMENT', message, details: { issues: [{ path: ['probe', field] }] } } },
      });
      expect(await editor.call(path, { ...data, probe: { url: 'javascript:alert(1)' } })).toMatchObject(
        refused('url', 'probe.url must be an http(s) URL'),
      );
      expect(await editor.call(path, { ...data, probe: { x: 'data:text/html,x' } })).toMatchObject(
        refused('x', 'probe.x must not be a URL with the scheme javascript, vbscript or data'),
      );
      const markup = await editor.call(path, { ...data, probe: { html: '<i>'.repeat(6_000) } });
      expect(markup).toMatchObject(refused('html', expect.stringMatching(/^probe\.html must be/) as never));
    },
  );
});

describe('an endpoint that does not accept user tokens', () => {
  test.each(closed.map((endpoint) => [endpoint.path, endpoint] as const))(
    '%s answers PERMISSION_DENIED to a user token',
    async (path, endpoint) => {
      const answer = await editor.call(path, endpoint.example.data);
      expect(answer).toMatchObject({ status: 403, body: { error: { status: 'PERMISSION_DENIED' } } });
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    },
  );
});

/** Returns the example of an endpoint, with a placeholder for the caller in the place of its users. */
function probe(endpoint: Endpoint): Record<string, unknown> {
  const text = JSON.stringify(exampleOfUser(endpoint)).replace(/"userId":"\w+"/g, '"userId":"{user}"');
  return JSON.parse(text) as Record<string, unknown>;
}

const asUser = (data: unknown, { userId }: TestUser): unknown =>
  JSON.parse(
    JSON.stringify(data)
      .replaceAll('{user}', userId)
      .replace(/"(userIds|readByUserIds)":\["\w+"\]/g, `"$1":["${userId}"]`),
  );

describe.each(open.map((endpoint) => [endpoint.path, endpoint] as const))('%s with a user token', (path, endpoint) => {
  const needsRole = endpoint.user?.needs !== 'self';

  test('gives a documented answer to a user with a role', async () => {
    const answer = await editor.call(path, asUser(probe(endpoint), editor));
    expectDocumented(endpoint, answer);
    // A record of the example may be missing here. Only a message about missing access would be an error.
    if (answer.status === 403) expect(answer.body.error.message).toMatch(/no access to this resource/);
  });

  test('answers PERMISSION_DENIED to a user without access, and to a forged, missing or expired token', async () => {
    const data = probe(endpoint);
    const whos = needsRole ? ['without a role', 'of another document'] : [];
    for (const who of [...whos, 'with a forged token', 'without a token']) {
      const stranger = strangers[who]!;
      const answer = await stranger.call(path, asUser(data, stranger));
      expectDocumented(endpoint, answer);
      expect([who, answer.status, answer.body.error.status]).toEqual([who, 403, 'PERMISSION_DENIED']);
    }
    const event = eventOf(JSON.stringify({ data: asUser(data, editor) }), editor.headers);
    const later = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 49 * 60 * 60 * 1000);
    const answer = await send(handlerOf(path), event).finally(() => later.mockRestore());
    expect(answer).toMatchObject({ status: 403, body: { error: { message: 'Invalid or expired user token.' } } });
  });

  test('returns no data of this tenant to a user of another tenant', async () => {
    const stranger = strangers['of another tenant']!;
    // The stranger's token belongs to another tenant, which has a document with the same id. The call must not reach
    // the document of this tenant, even if a header names its API key. The header changes nothing.
    const inOwn = await stranger.call(path, asUser(probe(endpoint), stranger));
    expect(JSON.stringify(inOwn.body)).not.toContain(acme.apiKey);
    const forged = { ...stranger.headers, 'x-svc-api-key': acme.apiKey };
    const answer = await post(handlerOf(path), forged, asUser(probe(endpoint), stranger));
    expect(JSON.stringify(answer.body)).not.toContain(acme.apiKey);
    // A repeated write can have another status than the first one.
    if (endpoint.kind === 'read') expect(answer.status).toBe(inOwn.status);
  });

  test('gives a user without access the same answer about existing, disabled and unknown organizations', async () => {
    const stranger = strangers['without a role']!;
    for (const without of [[], ['documentId', 'documentIds', 'folderId', 'parentFolderId'], ['userId', 'userIds']]) {
      const fields = Object.entries(probe(endpoint)).filter(([field]) => !without.includes(field));
      const answers = [];
      for (const organizationId of ['acme', 'disabled', 'ghost']) {
        const whole = path === '/v2/notifications/config/get' && { getOrganizationConfig: true };
        const data = asUser({ ...Object.fromEntries(fields), organizationId, ...whole }, stranger);
        const { status, body } = await stranger.call(path, data);
        answers.push(
          JSON.stringify({ status, body })
            .replaceAll(organizationId, 'it')
            .replaceAll(/req\w+/g, ''),
        );
      }
      expect([without, ...new Set(answers)]).toEqual([without, answers[0]]);
    }
  });
});

test('every endpoint that accepts user tokens refuses a revoked token', async () => {
  const revoked = await newUser(acme, 'rex', [grant, ACME]);
  await revokeUserTokens(acme);
  restartFunctions();
  for (const endpoint of open)
    expect([endpoint.path, await revoked.status(endpoint.path, asUser(probe(endpoint), revoked))]).toEqual([
      endpoint.path,
      'PERMISSION_DENIED',
    ]);
});

async function revokeUserTokens({ apiKey, workspaceHeaders }: Customer): Promise<void> {
  const { status } = await post(handlerOf('/v2/workspace/authtoken/reset'), workspaceHeaders, {
    apiKey,
    revokeUserTokens: true,
  });
  expect(status).toBe(200);
}
