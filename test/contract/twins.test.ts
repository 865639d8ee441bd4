import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Endpoint, otherVersion, sourceFile } from '../../lib/app/endpoint.ts';
import { capabilitiesOf } from '../../lib/http/capabilities.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { startEngine } from '../support/engine.ts';
import { examplePaths, ExampleRun } from '../support/examples.ts';
import { handlerOf, presentName } from '../support/functionHandlers.ts';
import { post, type Response } from '../support/requests.ts';
import { endpoints } from './cases.ts';
import { expectDocumented, openApi } from './contract.ts';

const twins = endpoints.filter(({ twinOf }) => twinOf !== undefined);
const endpointAt = (path: string) => endpoints.find((endpoint) => endpoint.path === path)!;
const each = twins.map((twin) => [twin.path, twin, endpointAt(twin.twinOf!)] as const);
/** Returns an answer as text, without ids of the service and times. */
const comparable = (body: unknown) =>
  JSON.stringify(body).replace(/(usual|twin)@|[a-z]+_[0-9A-Za-z]{20,}|\d{13}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '');

forAllTests(() => startEngine({ table: 'memory' }));
/** The answers to the examples of an endpoint and its twin, by the path of the twin. */
const answers = new Map<string, readonly Response[]>();
beforeAll(async () => {
  const usualRun = new ExampleRun('usual@example.com');
  const twinRun = new ExampleRun('twin@example.com');
  // The search asks a model.
  for (const path of examplePaths.filter((each) => each !== '/v2/memory/search')) {
    const twin = twins.find(({ twinOf }) => twinOf === path);
    const usual = await usualRun.customer.call(path, await usualRun.prepare(path));
    const other = await twinRun.customer.call(twin?.path ?? path, await twinRun.prepare(path, twin));
    await usualRun.record(path, usual.body);
    await twinRun.record(path, other.body);
    if (twin) answers.set(twin.path, [usual, other]);
  }
});

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

  test.each(each)('%s answers its example as documented, like its endpoint', (path, twin) => {
    const [usual, answer] = answers.get(path)!;
    expectDocumented(twin, answer!);
    expect([usual!.status, answer!.status]).toEqual([200, 200]);
    if (twin.differs === undefined && twin.message === endpointAt(twin.twinOf!).message)
      expect(comparable(answer!.body)).toBe(comparable(usual!.body));
    else
      expect(Object.keys(answer!.body.result)).toEqual(
        Object.keys(usual!.body.result).filter((key) => twin.differs === undefined || !/page ?token/i.test(key)),
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
