import { describe, expect, test } from '@jest/globals';
import { type AuthLevel, type Endpoint, otherVersion, sourceFile } from '../../lib/app/endpoint.ts';
import { capabilitiesOf } from '../../lib/http/capabilities.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { newCustomer } from '../support/customer.ts';
import { startEngine } from '../support/engine.ts';
import { handlerOf, presentName } from '../support/functionHandlers.ts';
import { type Headers, post } from '../support/requests.ts';
import { endpoints } from './cases.ts';
import { expectDocumented, openApi } from './contract.ts';

const twins = endpoints.filter(({ twinOf }) => twinOf !== undefined);
const each = twins.map((twin) => [twin.path, twin, endpoints.find(({ path }) => path === twin.twinOf)!] as const);

forAllTests(startEngine);

/** Returns the credentials of a new workspace that has the resources of the examples. */
async function newCustomerWithExamples(): Promise<Record<AuthLevel, Headers>> {
  const { headers: apiKey, workspaceHeaders: workspace, ok, untyped, addDocuments } = await newCustomer();
  const sendExample = (path: string) =>
    untyped(path, endpoints.find((endpoint) => endpoint.path === path)!.example.data);
  await ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });
  for (const name of ['add', 'folders/add', 'documents/add', 'usergroups/add'])
    await sendExample(`/v2/organizations/${name}`);
  for (const path of ['/v2/users/add', '/v2/commentannotations/add', '/v2/notifications/add']) await sendExample(path);
  await addDocuments(['nda']);
  return { apiKey, workspace, user: {}, none: {} };
}

/** The paths that exist in both versions of the API. */
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
  'notifications/add',
  'notifications/config/get',
  'notifications/config/set',
  'notifications/delete',
  'notifications/get',
  'notifications/update',
  'organizations/access/disablestate/update',
  'organizations/add',
  'organizations/delete',
  'organizations/documents/access/disablestate/update',
  'organizations/documents/access/update',
  'organizations/documents/add',
  'organizations/documents/delete',
  'organizations/documents/get',
  'organizations/documents/move',
  'organizations/documents/update',
  'organizations/folders/access/update',
  'organizations/folders/add',
  'organizations/folders/get',
  'organizations/folders/update',
  'organizations/get',
  'organizations/update',
  'organizations/usergroups/add',
  'organizations/usergroups/users/add',
  'organizations/usergroups/users/delete',
  'users/add',
  'users/data/delete',
  'users/data/delete/status',
  'users/data/get',
  'users/delete',
  'users/get',
  'users/update',
  'workspace/domains/add',
  'workspace/domains/delete',
];

test('every operation that exists in both versions is served under both', () => {
  const paths = endpoints.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(inBothVersions.flatMap((name) => [`/v1/${name}`, `/v2/${name}`])));
  const names = twins.map(({ path }) => path.slice('/v1/'.length));
  expect(names.filter((name) => !inBothVersions.includes(name))).toEqual([
    'workspace/apikeymetadata/get',
    'workspace/apikeymetadata/update',
  ]);
});

describe('the twin of an endpoint, in the other API version or under an older name,', () => {
  test.each(each)(
    '%s is in the file of its endpoint, and has the same credentials, kind and capabilities',
    async (_path, twin, endpoint) => {
      expect([otherVersion(twin.path), presentName(twin.path)]).toContain(endpoint.path);
      const module = (await import(`../../${sourceFile(endpoint.path)}`)) as { endpoint: Endpoint; twin: Endpoint };
      expect([module.endpoint, module.twin]).toEqual([endpoint, twin]);
      const { auth, kind, freshCredentials, errors } = endpoint;
      expect(twin).toMatchObject({ auth, kind, errors });
      expect(twin.freshCredentials).toBe(freshCredentials);
      expect(capabilitiesOf(twin)).toEqual(capabilitiesOf(endpoint));
    },
  );

  test.each(each)('%s names its endpoint in the reference, and has its text', (path, { differs }, endpoint) => {
    const { description, 'x-twin-of': twinOf } = openApi.paths[path]!.post;
    expect(twinOf).toBe(openApi.paths[endpoint.path]!.post.operationId);
    const relation = `The same as \`${endpoint.path}\`${differs === undefined ? '' : `, ${differs}`}.`;
    const texts = [relation, openApi.paths[endpoint.path]!.post.description].filter((text) => text !== undefined);
    expect(description).toBe(texts.join('\n\n'));
  });

  test.each(each)('%s refuses wrong credentials like its endpoint', async (path, twin) => {
    const answer = await post(handlerOf(path), {}, twin.example.data);
    expectDocumented(twin, answer);
    expect(answer).toEqual({
      ...answer,
      status: 403,
      body: { error: { status: 'PERMISSION_DENIED', message: expect.any(String) } },
    });
  });

  test.each(each)('%s answers its example as documented, like its endpoint', async (path, twin, endpoint) => {
    const [headers, usualHeaders] = [await newCustomerWithExamples(), await newCustomerWithExamples()];
    const answer = await post(handlerOf(path), headers[twin.auth], twin.example.data);
    const usual = await post(handlerOf(endpoint.path), usualHeaders[twin.auth], endpoint.example.data);
    expectDocumented(twin, answer);
    expect(answer.status).toBe(usual.status);
    if (answer.status !== 200) expect(answer.body.error).toEqual(usual.body.error);
    else
      expect(Object.keys(answer.body.result)).toEqual(
        Object.keys(usual.body.result).filter((key) => twin.differs === undefined || !/page ?token/i.test(key)),
      );
  });

  test('has no paging fields if it reads, except /v1/users/data/get', () => {
    const paging = twins
      .filter(({ path, kind }) => kind === 'read' && path !== '/v1/users/data/get')
      .flatMap(({ path }) => {
        const { requestBody, responses } = openApi.paths[path]!.post;
        return [
          ...JSON.stringify([requestBody, responses[200]]).matchAll(/"(order|pageSize|pageToken|nextPageToken)":/g),
        ].map(([, name]) => `${path} ${name}`);
      });
    expect(paging).toEqual([]);
  });
});
