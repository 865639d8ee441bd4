import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { referenceDocument } from '../../infra/build/reference.ts';
import { runSmoke } from '../../infra/commands/smoke.ts';
import { eventTypes, triggerTypes } from '../../lib/events/rules/catalogue.ts';
import type { JsonSchema, OpenApiDocument } from '../../lib/openapi/document.ts';
import { errorExamples } from '../../lib/openapi/errors.ts';
import { checksOf } from '../support/documented.ts';
import { endpoints, ExampleCustomer, ExampleRun } from '../support/examples.ts';
import { RemoteReceiver, type RemoteWebhook } from '../support/remoteReceiver.ts';
import type { Response } from '../support/requests.ts';
import { mailsIn, startSystem, type System } from './system.ts';

const WORKSPACE = '/v2/workspace';
const ADVANCED = `${WORKSPACE}/advancedwebhook`;
/** A test waits this long before it reports missing data. */
const PATIENCE_MILLISECONDS = 20_000;

/** A customer of the running system. */
class HttpCustomer extends ExampleCustomer {
  override async call(path: string, data: unknown): Promise<Response> {
    const answer = await system.post(path, data, this.headersOf(path));
    return { ...answer, headers: Object.fromEntries(answer.headers) };
  }
}

let system: System;
let receiver: RemoteReceiver;
let served: OpenApiDocument;
let checks: ReturnType<typeof checksOf>;
const customer = new HttpCustomer();
const run = new ExampleRun('ada@example.com', customer);
beforeAll(async () => {
  // Each run of `npm run smoke` calls all functions. With fewer threads, each would start every function.
  const env = { FUNCTION_THREADS: '250' };
  [system, receiver] = await Promise.all([startSystem({ env }), RemoteReceiver.start()]);
  served = JSON.parse((await read('/openapi.json')).text) as OpenApiDocument;
  checks = checksOf(served);
  await send(`${WORKSPACE}/create`);
});
afterAll(() => Promise.all([system.stop(), receiver.stop()]));

async function read(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(system.baseUrl + path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Sends an example. Returns the `result` of the answer, which must be as documented. */
async function send(path: string): Promise<any> {
  const answer = await customer.call(path, await run.prepare(path));
  expect([path, answer.status, answer.body.error]).toEqual([path, 200, undefined]);
  checks.expectDocumented(endpoints.get(path)!, answer);
  await run.record(path, answer.body);
  return answer.body.result;
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

test("GET /openapi.json answers the OpenAPI document of all endpoints, with the running system's address", async () => {
  const expected = await referenceDocument({ url: system.baseUrl, serviceName: 'svc' });
  expect(served).toEqual(JSON.parse(JSON.stringify(expected)));
});

test('an owner is verified once the button behind the link of the mail is pressed', async () => {
  for (const name of ['domains/add', 'email/send-login-link']) await send(`${WORKSPACE}/${name}`);
  expect(await send(`${WORKSPACE}/email/status`)).toMatchObject({ data: { verified: false } });
  await pressLoginLink();
  expect(await send(`${WORKSPACE}/email/status`)).toMatchObject({ data: { verified: true } });
});

describe('npm run smoke', () => {
  /** Makes the network fail from the first call of an endpoint on. */
  function failFrom(path: string): void {
    const connected = globalThis.fetch;
    let isBroken = false;
    jest.spyOn(globalThis, 'fetch').mockImplementation((url, init) => {
      isBroken ||= (url as URL).pathname === path;
      return isBroken ? Promise.reject(new TypeError('fetch failed')) : connected(url, init);
    });
  }

  test('succeeds after a run that left data. Each sends a webhook and a mail, and the second deletes all data', async () => {
    const { baseUrl, dataDir } = system;
    const options = { baseUrl, credentialsFile: join(dataDir, 'credentials.json'), serviceName: 'svc' };
    const sent = async () => {
      const { text, failed } = await runSmoke(options);
      expect(text).toMatch(/^webhook +ok +\d+ ms +delivered to 127\.0\.0\.1:\d+$/m);
      expect(text).toMatch(/^alarm +skipped +needs --alarm$/m);
      const mails = await mailsIn(dataDir);
      return {
        text,
        failed,
        mails: mails.filter((mail) => /^To: success@simulator\.amazonses\.com/m.test(mail)).length,
      };
    };
    failFrom(`${ADVANCED}/endpoints/update`);
    const first = await sent();
    jest.restoreAllMocks();
    expect(first.text).toMatch(/^deletion +failed /m);
    const second = await sent();
    expect([second.failed, second.text.split('\n').filter((line) => line.includes('  failed  '))]).toEqual([0, []]);
    expect(first.mails).toBeGreaterThanOrEqual(1);
    expect(second.mails).toBeGreaterThan(first.mails);

    const { workspaceId, workspaceAuthToken } = system.credentials;
    const workspace = { 'x-svc-workspace-id': workspaceId, 'x-svc-workspace-auth-token': workspaceAuthToken };
    const keys = (await system.ok(`${WORKSPACE}/apikeys/get`, {}, workspace)).filter(
      ({ apiKeyName }: { apiKeyName: string }) => apiKeyName === 'npm run smoke',
    );
    expect(keys).toHaveLength(1);
    const { authTokens } = await system.ok(`${WORKSPACE}/authtokens/get`, { apiKey: keys[0].id }, workspace);
    const key = { 'x-svc-api-key': keys[0].id, 'x-svc-auth-token': authTokens[0].token };
    expect(await system.ok('/v2/organizations/get', {}, key)).toEqual([]);
  });
});

describe('webhooks', () => {
  let endpointId: string;
  beforeAll(async () => {
    await customer.ok(`${WORKSPACE}/webhookconfig/update`, {
      useWebhookService: true,
      webhookServiceConfig: {
        rawNotificationUrl: receiver.url('/raw'),
        processedNotificationUrl: receiver.url('/processed'),
        triggers: Object.fromEntries(triggerTypes.map((type) => [type, true])),
      },
    });
    endpointId = (await customer.ok(`${ADVANCED}/endpoints/create`, { url: receiver.url('/advanced') })).id;
    for (const path of [
      '/v2/organizations/folders/add',
      '/v2/organizations/documents/add',
      '/v2/commentannotations/add',
      '/v2/commentannotations/comments/add',
      '/v2/reactions/add',
      '/v2/commentannotations/update',
      '/v2/recordings/add',
      '/v2/crdt/add',
      '/v2/crdt/updates/push',
      '/v2/events/publish',
    ])
      await send(path);
  });

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
        const messageId = (await customer.ok(`${ADVANCED}/endpoints/test`, { endpointId, event })).messageId as string;
        expect([
          event,
          problemsOf(event, await waitForWebhook('/advanced', ({ webhookId }) => webhookId === messageId)),
        ]).toEqual([event, []]);
      }),
    );
  });
});

test('the documented examples of INVALID_ARGUMENT and PERMISSION_DENIED equal the real answers', async () => {
  const path = '/v2/organizations/folders/get';
  for (const [http, status, data, headers] of [
    [400, 'INVALID_ARGUMENT', {}, customer.key],
    [403, 'PERMISSION_DENIED', { organizationId: 'acme' }, {}],
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
