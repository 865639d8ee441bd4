import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, test } from '@jest/globals';
import { projectDir } from '../../../infra/build/build.ts';
import { clientMethods, clientMethodsFile } from '../../../infra/build/client.ts';
import { clientWebhooks, clientWebhooksFile } from '../../../infra/build/clientWebhooks.ts';
import { registeredEndpoints, registeredRoutes, registeredWorkers } from '../../../infra/build/registry.ts';
import { orderExamples } from '../../../infra/commands/smoke/examples.ts';
import { type Capability, environment, mergeGrants } from '../../../lib/app/capability.ts';
import type { Endpoint } from '../../../lib/app/endpoint.ts';
import { isTwin } from '../../../lib/app/page.ts';
import { createClient } from '../../../lib/client/index.ts';
import { capabilitiesOf, isRateLimited } from '../../../lib/http/capabilities.ts';
import { renameHooks } from '../../../lib/migration/migrateDocumentStep.ts';
import { type JsonSchema, jsonSchemaOf } from '../../../lib/openapi/jsonSchema.ts';
import { entities } from '../../../lib/table/entity.ts';
import { workerCapabilities } from '../../../lib/workers/capabilities.ts';
import * as sendTo from '../../../lib/workers/sendTo.ts';
import { functionVariables } from '../../support/engine.ts';
import { expectNoRefusals, requirePermission, roleOf, variablesOf } from '../../support/permissions.ts';

const functions = [
  ...registeredRoutes()
    .filter((route) => !isTwin(route))
    .map((route) => [route.path, capabilitiesOf(route)] as const),
  ...registeredWorkers().map((worker) => [worker.name, workerCapabilities(worker)] as const),
];

describe('the environment variables of a function', () => {
  test.each(functions)('suffice to open the capabilities of %s', (name, capabilities) => {
    const variables = environment(variablesOf(name, capabilities, functionVariables));
    for (const capability of capabilities) capability.open(variables);
    expectNoRefusals();
  });

  test('are those that its capabilities declare, and those of Lambda', () => {
    const own = variablesOf('f', [sendTo.mail], functionVariables);
    expect(environment(own).MAIL_QUEUE_URL).toBe(functionVariables.MAIL_QUEUE_URL);
    expect(own.AWS_REGION).toBe('us-east-1');
    expect(() => environment(own).JOBS_QUEUE_URL).toThrow('JOBS_QUEUE_URL is not set');
    expect(expectNoRefusals).toThrow(
      'f reads the environment variable JOBS_QUEUE_URL, which no capability of the function declares',
    );
  });
});

describe('the role of a function', () => {
  const client = new SQSClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    // No server listens on this port.
    endpoint: 'http://127.0.0.1:9',
    useQueueUrlAsEndpoint: false,
    maxAttempts: 1,
  });
  const run = roleOf('f', [sendTo.mail], functionVariables);
  const send = (QueueUrl: string) => client.send(new SendMessageCommand({ QueueUrl, MessageBody: '{}' }));

  test('allows calls of the SDK on the resources of its grants only', async () => {
    await expect(run(() => send(functionVariables.MAIL_QUEUE_URL))).rejects.toThrow('ECONNREFUSED');
    await expect(run(() => send(functionVariables.JOBS_QUEUE_URL))).rejects.toMatchObject({
      name: 'AccessDeniedException',
    });
    expect(expectNoRefusals).toThrow('f declares no grant for sqs:SendMessage on');
  });

  test('makes the test fail even if the function handles the error', async () => {
    await expect(run(() => send(functionVariables.JOBS_QUEUE_URL).catch(() => undefined))).rejects.toThrow(
      'f declares no grant for sqs:SendMessage on',
    );
  });

  test('does not apply to calls of tests', async () => {
    await expect(send(functionVariables.JOBS_QUEUE_URL)).rejects.toThrow('ECONNREFUSED');
  });

  const { MAIL_FROM, MASTER_KEY_SECRET_ARN, SIGNING_KEY_SECRET_ARN, TABLE_NAME } = functionVariables;
  const variables = { ...functionVariables, CLAUDE_MODEL_ID: 'claude', NOVA_MODEL_ID: 'nova' };
  test.each([
    [
      { resource: 'table', actions: ['GetItem'] },
      ['DynamoDB', 'GetItem', { TableName: TABLE_NAME }],
      ['DynamoDB', 'PutItem', { TableName: TABLE_NAME }],
    ],
    [
      { resource: 'index/gsi1', actions: ['Query'] },
      ['DynamoDB', 'Query', { TableName: TABLE_NAME, IndexName: 'gsi1' }],
      ['DynamoDB', 'Query', { TableName: TABLE_NAME, IndexName: 'gsi2' }],
    ],
    [
      { resource: 'secret/masterKey', actions: ['GetSecretValue'] },
      ['Secrets Manager', 'GetSecretValue', { SecretId: MASTER_KEY_SECRET_ARN }],
      ['Secrets Manager', 'GetSecretValue', { SecretId: SIGNING_KEY_SECRET_ARN }],
    ],
    [
      { resource: 'model/claude', actions: ['InvokeModel'] },
      ['Bedrock Runtime', 'Converse', { modelId: 'claude' }],
      ['Bedrock Runtime', 'Converse', { modelId: 'nova' }],
    ],
    [
      { resource: 'mail/identity', actions: ['SendEmail'] },
      ['SESv2', 'SendEmail', { FromEmailAddress: MAIL_FROM }],
      ['SESv2', 'SendEmail', { FromEmailAddress: 'ada@example.org' }],
    ],
    [
      { resource: 'live/channels', actions: ['EventPublish'] },
      ['AppSync Events', 'Publish', { channel: '/live/document' }],
      ['AppSync Events', 'Publish', { channel: '/other/document' }],
    ],
    [
      { resource: 'queue/deliver', actions: ['GetQueueAttributes'] },
      ['SQS', 'GetQueueAttributes', { QueueUrl: functionVariables.DELIVER_QUEUE_URL }],
      ['SQS', 'SendMessageBatch', { QueueUrl: functionVariables.DELIVER_QUEUE_URL }],
    ],
  ] as const)('with the grant %j allows %j but not %j', async (grant, allowed, refused) => {
    const capability: Capability<undefined> = { grants: [grant], env: [], open: () => undefined };
    const call = ([service, operation, input]: readonly [string, string, object]) =>
      roleOf('f', [capability], variables)(async () => requirePermission({ service, operation, input }));
    await call(allowed);
    await expect(call(refused)).rejects.toThrow('f declares no grant');
    expect(expectNoRefusals).toThrow('f declares no grant');
  });
});

/** Returns the actions that the function of an endpoint may make on a resource. */
function granted(endpoint: Endpoint, resource: string): readonly string[] {
  return (
    mergeGrants(capabilitiesOf(endpoint).flatMap(({ grants }) => grants)).find((grant) => grant.resource === resource)
      ?.actions ?? []
  );
}

/** Returns the sorted paths of the endpoints that meet a condition. */
const pathsOf = (endpoints: readonly Endpoint[], meets: (endpoint: Endpoint) => boolean) =>
  endpoints
    .filter(meets)
    .map(({ path }) => path)
    .sort();
const isGranted = (resource: string) => (endpoint: Endpoint) => granted(endpoint, resource).length > 0;

test('each key that signs or encrypts tokens is read only by the functions that need it', () => {
  const readersOf = (secret: string) => [
    ...pathsOf(
      registeredEndpoints().filter(({ twinOf }) => twinOf === undefined),
      isGranted(secret),
    ),
    ...registeredWorkers()
      .filter((worker) =>
        workerCapabilities(worker).some(({ grants }) => grants.some(({ resource }) => resource === secret)),
      )
      .map(({ name }) => name)
      .sort(),
  ];
  expect(readersOf('secret/signingKey')).toEqual([
    '/v1/auth/token/get',
    '/v2/auth/generate_token',
    '/v2/auth/token/get',
  ]);
  expect(readersOf('secret/permissionKey')).toEqual(['/v2/auth/generate_signature']);
  expect(readersOf('secret/liveKey')).toEqual(['/v2/live/connect', 'authorizeLive', 'publishLive']);
});

describe('of the functions with workspace credentials,', () => {
  const endpoints = registeredEndpoints().filter(
    ({ auth, path }) => auth === 'workspace' || path === '/v2/workspace/create',
  );
  const issuing = ['/v2/workspace/apikey/create', '/v2/workspace/authtoken/reset', '/v2/workspace/create'];

  test('none may read the signing key', () => {
    expect(pathsOf(endpoints, isGranted('secret/signingKey'))).toEqual([]);
  });

  test('only those that encrypt or decrypt tokens may read the master key', () => {
    expect(pathsOf(endpoints, isGranted('secret/masterKey'))).toEqual(
      [...issuing, '/v2/workspace/authtokens/get'].sort(),
    );
  });

  test('those that only read may not write, and only authtoken/reset may delete items', () => {
    const writing = ['PutItem', 'UpdateItem', 'DeleteItem'];
    for (const endpoint of endpoints.filter(({ kind }) => kind === 'read'))
      expect(granted(endpoint, 'table').filter((action) => writing.includes(action))).toEqual([]);
    expect(pathsOf(endpoints, (endpoint) => granted(endpoint, 'table').includes('DeleteItem'))).toEqual([
      '/v2/workspace/authtoken/reset',
    ]);
  });

  test('those that return or replace credentials check credentials against the table, not memory', () => {
    expect(pathsOf(endpoints, ({ freshCredentials }) => freshCredentials === true)).toEqual([
      '/v2/workspace/apikey/create',
      '/v2/workspace/authtoken/reset',
      '/v2/workspace/authtokens/get',
    ]);
  });
});

describe('the functions that read and update configurations', () => {
  const endpoints = registeredEndpoints().filter(
    ({ path, twinOf }) =>
      twinOf === undefined &&
      /workspace\/(emailconfig|chatconfig|activityconfig|notificationconfig|apikeyconfig|permissionproviderconfig|domains)\/(add|delete|get|update)$/.test(
        path,
      ),
  );

  test('may read the master key only if they encrypt or decrypt a secret', () => {
    expect(pathsOf(endpoints, isGranted('secret/masterKey'))).toEqual([
      '/v2/workspace/apikeyconfig/update',
      '/v2/workspace/chatconfig/get',
      '/v2/workspace/chatconfig/update',
      '/v2/workspace/emailconfig/get',
      '/v2/workspace/emailconfig/update',
      '/v2/workspace/permissionproviderconfig/get',
      '/v2/workspace/permissionproviderconfig/update',
    ]);
  });

  test('may not write if they only read, except UpdateItem to count calls', () => {
    for (const endpoint of endpoints)
      expect(granted(endpoint, 'table')).toEqual(
        endpoint.kind === 'read' ? ['GetItem', 'UpdateItem'] : ['GetItem', 'PutItem', 'UpdateItem'],
      );
  });

  test('read credentials from the table, not from memory, if they return a secret', () => {
    expect(pathsOf(endpoints, ({ freshCredentials }) => freshCredentials === true)).toEqual([
      '/v2/workspace/emailconfig/get',
      '/v2/workspace/emailconfig/update',
      '/v2/workspace/permissionproviderconfig/get',
    ]);
  });
});

/** Entities with the id of a document that no hook renames, and why. */
const notRenamed = {
  Document: 'the last transaction',
  LiveChannel: 'the last transaction',
  RenamedDocument: 'the last transaction',
  RecordId: 'with its record',
  Event: 'keeps the id of before',
};

test('the hooks of a migration rename every entity with the id of a document', () => {
  const named = entities().filter(({ definition }) => 'documentId' in definition.schema.shape);
  const renamed = renameHooks.map(({ entity }) => entity.type);
  expect([...renamed, ...Object.keys(notRenamed)].sort()).toEqual(named.map(({ type }) => type).sort());
});

/** Writes whose lists do not multiply, by the reason. */
const withoutWork: Readonly<Record<string, string>> = {
  '/v2/users/data/delete': 'starts one job',
  '/v2/workspace/advancedwebhook/endpoints/create': 'writes one endpoint',
  '/v2/workspace/advancedwebhook/endpoints/update': 'writes one endpoint',
};

test('a write with two lists in its data declares its work, because it can write an item for each pair', () => {
  const writes = registeredEndpoints().filter(
    (endpoint) => endpoint.kind === 'write' && isRateLimited(endpoint) && !endpoint.work,
  );
  const withTwoLists = writes
    .filter(({ twinOf }) => twinOf === undefined)
    .filter(({ input }) => {
      const fields = Object.values(jsonSchemaOf(input).properties ?? {});
      return fields.filter((field) => typeof field === 'object' && [field.type].flat().includes('array')).length > 1;
    })
    .map(({ path }) => path);
  expect(withTwoLists.filter((path) => !(path in withoutWork))).toEqual([]);
  expect(withTwoLists.filter((path) => path in withoutWork)).toEqual(Object.keys(withoutWork));
});

type Results = Record<string, { success: boolean }>;
interface Answer {
  data: Results;
}

/** Whether an answer has a map or a list of items, each with a field `success`. */
function hasItemResults(answer: JsonSchema): boolean {
  const json = JSON.stringify((answer as { properties?: { data?: object } }).properties?.data ?? {});
  return /"(additionalProperties|items)":\{.*"success":\{"type":"boolean"/.test(json);
}

const batchCalls = registeredEndpoints()
  .filter(({ output }) => hasItemResults(jsonSchemaOf(output)))
  .map((endpoint) => [endpoint.path, endpoint] as const);

/** The answer of the example with these outcomes, one for each item. */
function answerWith(example: Answer, outcomes: readonly boolean[]): Answer {
  const [item] = Object.values(example.data);
  return {
    ...example,
    data: Object.fromEntries(outcomes.map((success, index) => [index, { ...item, success }])),
  };
}

test('the registry has batch calls of all families with lists of items', () => {
  const families = batchCalls.map(([path]) => path.split('/')[2]);
  expect([...new Set(families)].sort()).toEqual([
    'activities',
    'commentannotations',
    'crdt',
    'memory',
    'notifications',
    'organizations',
    'reactions',
    'recordings',
    'users',
  ]);
});

describe.each(batchCalls)('the message of %s', (_path, { message, example }) => {
  const { data, result } = example as { data: object; result: Answer };
  const messageOf = (outcomes: readonly boolean[]) =>
    typeof message === 'function'
      ? message(answerWith(result, outcomes) as never, data as never)
      : `${message} for any outcome`;

  test('says that no item succeeded if every item failed', () => {
    expect(messageOf([false, false])).toMatch(/^No [a-zCRDT ]+ was [a-z ]+\.$/);
  });

  test('is the message of a success if an item succeeded, or if there are no items', () => {
    expect([messageOf([false, true]), messageOf([])]).toEqual([messageOf([true]), messageOf([true])]);
    expect(messageOf([true])).not.toMatch(/^No /);
  });
});

test('a deletion of which every item failed says that more items remain', () => {
  const [, { message, example }] = batchCalls.find(([path]) => path === '/v2/notifications/delete')!;
  const answer = { ...answerWith(example.result as Answer, [false]), hasMore: true };
  expect((message as (output: Answer, input: unknown) => string)(answer, example.data)).toBe(
    'No notification was deleted. There are more: send the request again.',
  );
});

describe('the order in which npm run smoke sends the examples', () => {
  const paths = registeredEndpoints()
    .filter(({ twinOf }) => twinOf === undefined)
    .map(({ path }) => path as string);

  test('contains every endpoint once, and no other path', () => {
    expect(orderExamples(paths).toSorted()).toEqual(paths.toSorted());
  });

  test('runs a new endpoint when the data of the examples exists', () => {
    const order = orderExamples([...paths, '/v2/labels/get']);
    for (const path of ['/v2/organizations/documents/add', '/v2/commentannotations/add', '/v2/agents/create'])
      expect(order.indexOf('/v2/labels/get')).toBeGreaterThan(order.indexOf(path));
    for (const path of ['/v2/users/delete', '/v2/organizations/documents/delete', '/v2/organizations/delete'])
      expect(order.indexOf('/v2/labels/get')).toBeLessThan(order.indexOf(path));
  });
});

describe('the methods of createClient', () => {
  test('match the registry, as the types of webhooks do (npm run readme writes both)', () => {
    expect(readFileSync(join(projectDir, clientMethodsFile), 'utf8')).toBe(clientMethods());
    expect(readFileSync(join(projectDir, clientWebhooksFile), 'utf8')).toBe(clientWebhooks());
  });

  test('call the path of their name, with one method for every endpoint', async () => {
    const called: string[] = [];
    const answer = async (url: unknown) => {
      called.push(new URL(String(url)).pathname);
      return Response.json({ result: {} });
    };
    const client = createClient({ baseUrl: 'https://api.test', fetch: answer });
    const paths = registeredEndpoints().map(({ path }) => path);
    for (const path of paths) {
      const names = path
        .slice(1)
        .split('/')
        .map((name) => name.replace(/-(.)/g, (_all, letter: string) => letter.toUpperCase()));
      await names.reduce<any>((node, name) => node[name], client)({});
    }
    expect(called).toEqual(paths);
  });
});
