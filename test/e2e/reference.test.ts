import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { referenceDocument } from '../../infra/build/reference.ts';
import { runSmoke } from '../../infra/commands/smoke.ts';
import { ExampleValues, orderExamples, requestsBefore } from '../../infra/commands/smoke/examples.ts';
import { otherVersion } from '../../lib/app/endpoint.ts';
import { eventTypes, triggerTypes } from '../../lib/events/rules/catalogue.ts';
import type { DocumentedResponse, JsonSchema, OpenApiDocument } from '../../lib/openapi/document.ts';
import { errorExamples } from '../../lib/openapi/errors.ts';
import { endpoints } from '../contract/cases.ts';
import { hasOwnCases } from '../support/describeEndpoint.ts';
import { checksOf } from '../support/documented.ts';
import { RemoteReceiver, type RemoteWebhook } from '../support/remoteReceiver.ts';
import { type Answer, mailsIn, startSystem, type System, until } from './system.ts';

const WORKSPACE = '/v2/workspace';
const ADVANCED = `${WORKSPACE}/advancedwebhook`;
const ORGANIZATIONS = '/v2/organizations';
/** A test waits this long before it reports missing data. */
const PATIENCE_MILLISECONDS = 20_000;
const acme = { organizationId: 'acme' };

const twins = endpoints.filter(({ twinOf }) => twinOf !== undefined && !hasOwnCases(twinOf));
/**
 * Twins that write. Their examples are left out here, because the same examples already ran at the other endpoint.
 * twins.test.ts covers them.
 */
const writingTwins = twins.filter(({ kind }) => kind === 'write').map(({ path }) => path);

/** All operations in the order in which their examples run. A reading twin follows its endpoint. */
const order = orderExamples(endpoints.filter(({ twinOf }) => twinOf === undefined).map(({ path }) => path))
  .filter((path) => !hasOwnCases(path))
  .flatMap((path) => [
    path,
    ...twins.filter(({ kind, twinOf }) => kind === 'read' && twinOf === path).map((twin) => twin.path),
  ]);

/** What must be done before an example, in addition to `requestsBefore`. */
const before: Readonly<Record<string, () => Promise<unknown>>> = {
  [`${WORKSPACE}/email/status`]: pressLoginLink,
  [`${ADVANCED}/messages/get`]: () =>
    waitForExample(`${ADVANCED}/messages/get`, ({ messages }) => messages[0]?.deliveries[0].attempts > 0),
  [`${ORGANIZATIONS}/add`]: subscribeReceiver,
  '/v1/auth/token/get': async () => values.set('<signed token>', credentials['x-svc-auth-token']),
  // The event of an editor comes seconds after its change. Its webhook must arrive before the editor is deleted.
  '/v2/crdt/delete': () => waitForWebhook('/advanced', ({ event }) => event === 'crdt.update_data'),
  '/v2/memory/search': async () => {
    const [{ agent: _, annotationId: __, ...judgment }] = (
      exampleOf('/v2/memory/judgments/add').data as { judgments: [Record<string, unknown>] }
    ).judgments;
    await postOk('/v2/memory/judgments/add', {
      ...acme,
      documentId: 'pricing',
      judgments: [{ ...judgment, recordId: 'review-18' }],
    });
    await waitForExample('/v2/memory/search', ({ results }) => results.length > 0);
  },
};

/** Fields in which the answer here differs from the example. The example describes another, larger workspace. */
const elsewhere: Readonly<Record<string, readonly string[]>> = {
  // The answer lists these items in another order.
  [`${WORKSPACE}/domains/get`]: [
    'result.data.allowedDomains.0',
    'result.data.allowedDomains.1',
    'result.data.allowedDomains.2',
  ],
  [`${WORKSPACE}/apikeyconfig/get`]: ['result.data.defaultDocumentAccessType'],
  [`${WORKSPACE}/apikeymetadata/get`]: ['result.data.defaultDocumentAccessType'],
  [`${ADVANCED}/endpoints/get`]: ['description', 'filterTypes', 'rateLimit', 'uid'].map(
    (field) => `result.data.endpoints.0.${field}`,
  ),
  [`${ADVANCED}/messages/get`]: ['result.data.messages.0.deliveries.0.attempts'],
  [`${ADVANCED}/attempts/get`]: ['responseStatus', 'responseBody'].map((field) => `result.data.attempts.0.${field}`),
  [`${ADVANCED}/endpoints/recover`]: ['result.data.messages'],
  [`${ORGANIZATIONS}/documents/count/get`]: ['result.data.count'],
  '/v2/users/count/get': ['result.data.count'],
  // The earlier example of `users/update` sets another role.
  '/v2/auth/permissions/get': ['result.data.ada.organization.acme.accessRole'],
  '/v2/commentannotations/get': ['annotationNumber', 'annotationIndex', 'locationId'].map(
    (field) => `result.data.0.${field}`,
  ),
  '/v1/commentannotations/get': [],
  '/v1/commentannotations/comments/get': [],
  '/v2/commentannotations/comments/get': ['result.data.0.reactionAnnotations.0.fromUsers.0.from.userId'],
  '/v2/commentannotations/count/get': ['result.data.nda.total', 'result.data.nda.unread'],
  '/v2/auth/generate_signature': ['result.data.signature'],
  '/v2/crdt/updates/get': ['result.data.update'],
  '/v2/users/data/get': ['annotationId', 'commentId', 'status', 'commentText', 'isEdited'].map(
    (field) => `result.data.comments.0.${field}`,
  ),
  '/v2/memory/judgments/query': ['result.results.0.agent', 'result.results.0.judgeType', 'result.total'],
  '/v2/memory/search': ['result.results.0.recordId', 'result.results.0.similarity', 'result.totalInScope'],
  '/v2/agents/groups/get': ['result.data.group.agentIds.1'],
  '/v2/users/data/delete/status': ['isDeleteCompleted', 'tasksLeft', 'lastTaskCompletedTime'].map(
    (field) => `result.data.${field}`,
  ),
};

let system: System;
let receiver: RemoteReceiver;
let served: OpenApiDocument;
let checks: ReturnType<typeof checksOf>;
let subscribedEndpointId: string;
beforeAll(async () => {
  // The examples and each run of `npm run smoke` call all functions. With fewer threads, each would start every function.
  const env = { FUNCTION_THREADS: '250' };
  [system, receiver] = await Promise.all([startSystem({ env }), RemoteReceiver.start()]);
  served = JSON.parse((await read('/openapi.json')).text) as OpenApiDocument;
  checks = checksOf(served);
});
afterAll(() => Promise.all([system.stop(), receiver.stop()]));

async function read(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(system.baseUrl + path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const values = new ExampleValues();
/** The fields of examples whose values depend on the date. */
const changes: Readonly<Record<string, object>> = {
  [`${ADVANCED}/endpoints/recover`]: { since: new Date(Date.now() - 3_600_000).toISOString() },
};

const KEY = 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ';
const TOKEN = 'the token of the headers';
const credentials: Record<string, string> = {};

/** Returns the headers that the document requires for an operation. */
function headersOf(path: string): Record<string, string> {
  const { security } = served.paths[path]!.post;
  const names = security
    .flatMap(Object.keys)
    .map((scheme) => (served.components.securitySchemes[scheme] as { name: string }).name);
  return Object.fromEntries(names.map((name) => [name, credentials[name]!]));
}

async function postOk(path: string, data: object): Promise<any> {
  return system.ok(path, data, headersOf(path));
}

/** Returns the request of an example, and the answer that the document shows for it. */
function exampleOf(path: string): { data: unknown; answer: { result: Record<string, unknown> } } {
  const { requestBody, responses } = served.paths[path]!.post;
  const { content } = responses[200] as DocumentedResponse;
  return {
    ...(requestBody.content['application/json'].example as { data: unknown }),
    answer: content['application/json'].example as { result: Record<string, unknown> },
  };
}

/** Repeats an example until its answer is complete. Workers write parts of it later. */
async function waitForExample(path: string, isComplete: (data: any) => boolean): Promise<void> {
  await until(
    () => system.post(path, values.fill(exampleOf(path).data), headersOf(path)),
    ({ body: { result } }) => result && isComplete(result.data ?? result),
    ({ body }) => `${path} does not return the documented example: ${JSON.stringify(body)}`,
  );
}

/**
 * Returns the paths at which an answer differs from its example. Fields and items that only the answer has are
 * ignored. Two ids with the same prefix, two times and two durations count as equal.
 */
function differencesBetween(example: unknown, answer: unknown, path = ''): string[] {
  if (typeof example === 'object' && example !== null && typeof answer === 'object' && answer !== null) {
    return Object.entries(example).flatMap(([key, value]) =>
      differencesBetween(value, (answer as Record<string, unknown>)[key], path === '' ? key : `${path}.${key}`),
    );
  }
  if (example === answer) return [];
  const kinds = [example, answer].map((value) =>
    typeof value === 'string'
      ? /^([a-z]+_|\d{4}-\d\d-\d\dT)/.exec(value)?.[0].replace(/\d{4}-.*/, 'time')
      : typeof value === 'number' && (value > 1e11 || path.endsWith('Ms'))
        ? 'time'
        : undefined,
  );
  return kinds[0] !== undefined && kinds[0] === kinds[1] ? [] : [path];
}

/** Opens the link in the mail and presses the button of the page. */
async function pressLoginLink(): Promise<void> {
  const [mail = ''] = await mailsIn(system.dataDir);
  const [link = ''] = /^http:\S+$/m.exec(mail) ?? [];
  const { searchParams, origin, pathname } = new URL(link);
  const page = await fetch(link);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect((await fetch(origin + pathname, { method: 'POST', body: searchParams })).status).toBe(200);
}

/** Subscribes the receiver to all later events, by both kinds of webhooks. */
async function subscribeReceiver(): Promise<void> {
  await postOk(`${WORKSPACE}/webhookconfig/update`, {
    useWebhookService: true,
    webhookServiceConfig: {
      rawNotificationUrl: receiver.url('/raw'),
      processedNotificationUrl: receiver.url('/processed'),
      triggers: Object.fromEntries(triggerTypes.map((type) => [type, true])),
    },
  });
  const { id } = await postOk(`${ADVANCED}/endpoints/create`, { url: receiver.url('/advanced') });
  subscribedEndpointId = id;
}

/**
 * Waits for a webhook at a path for which `matches` returns true. If none comes, throws an error that lists the other
 * webhooks.
 */
async function waitForWebhook(
  path: string,
  matches: (body: Record<string, unknown>) => boolean,
): Promise<RemoteWebhook> {
  const received = receiver.waitForWebhooks(path, 1, ({ body }) =>
    matches(JSON.parse(body) as Record<string, unknown>),
  );
  const timeout = delay(PATIENCE_MILLISECONDS, undefined, { ref: false }).then(() => {
    throw new Error(
      `The webhook did not arrive at ${path}. Received instead: ${JSON.stringify(receiver.at(path).map(({ body }) => (JSON.parse(body) as { event?: string; actionType: string }).event ?? JSON.parse(body).actionType))}`,
    );
  });
  return (await Promise.race([received, timeout]))[0]!;
}

test('this file calls every operation of the OpenAPI document', () => {
  const own = endpoints.filter(({ path, twinOf = path }) => hasOwnCases(twinOf)).map(({ path }) => path);
  expect([...order, ...writingTwins, ...own].sort()).toEqual(Object.keys(served.paths).sort());
});

test("GET /openapi.json answers the OpenAPI document of all endpoints, with the running system's address", async () => {
  const expected = await referenceDocument({ url: system.baseUrl, serviceName: 'svc' });
  expect(served).toEqual(JSON.parse(JSON.stringify(expected)));
});

describe('the documented example of', () => {
  test.each(order)('%s gets the documented answer', async (path) => {
    for (const [requestPath, data] of requestsBefore[path] ?? []) await postOk(requestPath, data);
    await before[path]?.();
    const example = exampleOf(path);
    const data = { ...(values.fill(example.data) as object), ...changes[path] };
    const answer = await system.post(path, data, headersOf(path));
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    checks.expectDocumented(
      endpoints.find((endpoint) => endpoint.path === path)!,
      { ...answer, headers: Object.fromEntries(answer.headers) },
    );
    values.recordAnswer(example.answer, answer.body);
    expect(differencesBetween(values.fill(example.answer), answer.body)).toEqual(
      elsewhere[path] ?? elsewhere[otherVersion(path)] ?? [],
    );
    storeCredentials(path, answer);
  });
});

/** Stores the credentials in the answer of an example, for later requests. */
function storeCredentials(path: string, { body }: Answer): void {
  if (path === `${WORKSPACE}/create`) {
    const { id, authToken, apiKeyList } = body.result.data;
    Object.assign(credentials, {
      'x-svc-workspace-id': id,
      'x-svc-workspace-auth-token': authToken,
      'x-svc-api-key': Object.keys(apiKeyList)[0],
    });
    values.set(KEY, credentials['x-svc-api-key']);
  }
  if (path === `${WORKSPACE}/authtokens/get`) {
    credentials['x-svc-auth-token'] = body.result.data.authTokens[0].token;
    values.set(TOKEN, credentials['x-svc-auth-token']);
  }
}

describe('npm run smoke', () => {
  test('succeeds twice. Each run sends a webhook and a mail, and deletes its data', async () => {
    const options = {
      baseUrl: system.baseUrl,
      credentialsFile: join(system.dataDir, 'credentials.json'),
      serviceName: 'svc',
    };
    for (const runs of [1, 2]) {
      const { text, failed } = await runSmoke(options);
      expect([failed, text.split('\n').filter((line) => line.includes('  failed  '))]).toEqual([0, []]);
      expect(text).toMatch(/^webhook +ok +\d+ ms +delivered to 127\.0\.0\.1:\d+$/m);
      expect(text).toMatch(/^alarm +skipped +needs --alarm$/m);
      const mails = await mailsIn(system.dataDir);
      expect(
        mails.filter((mail) => /^To: success@simulator\.amazonses\.com/m.test(mail)).length,
      ).toBeGreaterThanOrEqual(runs);
    }
    const { workspaceId, workspaceAuthToken } = system.credentials;
    const headers = { 'x-svc-workspace-id': workspaceId, 'x-svc-workspace-auth-token': workspaceAuthToken };
    const { body } = await system.post('/v2/workspace/apikeys/get', {}, headers);
    const names = body.result.data.map(({ apiKeyName }: { apiKeyName: string }) => apiKeyName);
    expect(names.filter((name: string) => name === 'npm run smoke')).toHaveLength(1);
  });
});

describe('webhooks', () => {
  /** Returns the differences between a received webhook and its documentation. Headers are checked too. */
  function problemsOf(name: string, { headers, body }: RemoteWebhook): string[] {
    const { parameters, requestBody } = served.webhooks[name]!.post;
    const required = parameters.filter((parameter) => parameter.required);
    const [plain] = requestBody.content['application/json'].schema.anyOf as [JsonSchema];
    return [
      ...required
        .filter((parameter) => headers[parameter.name] === undefined)
        .map((parameter) => `${parameter.name} is missing`),
      ...checks.problems(plain, JSON.parse(body), 'closed'),
    ];
  }

  test('match their documented schemas, as advanced, raw and processed webhooks', async () => {
    const brought: [event: string, actionType: string][] = [
      ['comment_annotation.add', 'newlyAdded'],
      ['comment_annotation.status_change', 'statusChanged'],
      ['comment.add', 'added'],
      ['comment.reaction_add', 'reactionAdded'],
      ['huddle.create', 'created'],
      ['crdt.update_data', 'updateData'],
      ['recorder.done', 'done'],
    ];
    for (const [event, actionType] of brought) {
      expect([event, problemsOf(event, await waitForWebhook('/advanced', (body) => body.event === event))]).toEqual([
        event,
        [],
      ]);
      // The caller publishes the data of this event. Its basic payload therefore has no documented fields.
      if (event === 'huddle.create') continue;
      for (const path of ['/raw', '/processed']) {
        const basic = await waitForWebhook(path, (body) => body.actionType === actionType);
        expect([event, path, problemsOf(`basic.${event}`, basic)]).toEqual([event, path, []]);
      }
    }
  });

  test('have a documented test payload for every event type', async () => {
    await Promise.all(
      eventTypes.map(async (event) => {
        const messageId = (await postOk(`${ADVANCED}/endpoints/test`, { endpointId: subscribedEndpointId, event }))
          .messageId as string;
        expect([
          event,
          problemsOf(event, await waitForWebhook('/advanced', ({ webhookId }) => webhookId === messageId)),
        ]).toEqual([event, []]);
      }),
    );
  });
});

test('the documented examples of INVALID_ARGUMENT and PERMISSION_DENIED equal the real answers', async () => {
  const path = `${ORGANIZATIONS}/folders/get`;
  for (const [http, status, data, headers] of [
    [400, 'INVALID_ARGUMENT', {}, headersOf(path)],
    [403, 'PERMISSION_DENIED', acme, {}],
  ] as const)
    expect(await system.post(path, data, headers)).toMatchObject({
      status: http,
      body: { error: { status, ...errorExamples[status] } },
    });
});

describe('pages for a browser', () => {
  test.each([
    ['/openapi.json', 'application/json; charset=utf-8'],
    ['/docs', 'text/html; charset=utf-8'],
    ['/docs/reference-users', 'text/html; charset=utf-8'],
    ['/docs/search.json', 'application/json; charset=utf-8'],
  ])('%s is compressed, and answers 304 to a request with the current ETag', async (path, type) => {
    const { status, headers, text } = await read(path);
    expect([
      status,
      headers.get('content-type'),
      headers.get('content-encoding'),
      headers.get('cache-control'),
    ]).toEqual([200, type, 'gzip', 'public, max-age=300']);
    const plain = await read(path, { 'accept-encoding': 'identity' });
    expect([plain.headers.get('content-encoding'), plain.text === text]).toEqual([null, true]);
    const again = await read(path, { 'if-none-match': headers.get('etag')! });
    expect([again.status, again.text]).toEqual([304, '']);
  });
});
