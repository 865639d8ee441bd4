import { afterAll, describe, expect, test } from '@jest/globals';
import { registeredPages, registeredWorkers } from '../../infra/build/registry.ts';
import { ExampleValues, orderExamples, requestsBefore } from '../../infra/commands/smoke/examples.ts';
import { pascal } from '../../infra/constructs/names.ts';
import { isTwin, PREFLIGHT_ROUTE, routeKey } from '../../lib/app/page.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { checksOf, documentOf } from '../support/documented.ts';
import { endpoints, LambdaCustomer, toResponse } from './customer.ts';
import { httpEvent } from './events.ts';
import { startTable } from './startTable.ts';
import { startLambdaSystem } from './system.ts';

const WORKSPACE = '/v2/workspace';
const ADVANCED = `${WORKSPACE}/advancedwebhook`;

const system = forAllTests(startLambdaSystem);
const { expectDocumented } = checksOf(documentOf([...endpoints.values()]));

/** Sends the examples in turn, each with the values that the answers to earlier examples had. */
class ExampleRun {
  readonly customer: LambdaCustomer;
  readonly #ownerEmail: string;
  #createdKey = '';
  #values = new ExampleValues();

  constructor(encoding: 'plain' | 'base64') {
    this.customer = new LambdaCustomer(system, encoding);
    this.#ownerEmail = `${encoding}@example.com`;
  }

  async send(path: string): Promise<void> {
    const endpoint = endpoints.get(path)!;
    for (const [before, data] of requestsBefore[path] ?? []) await this.customer.ok(before, data);
    if (endpoint.auth === 'user') await this.customer.createUserToken(['nda']);
    const data = { ...(this.#values.fill(endpoint.example.data) as object), ...this.#changesOf(path) };
    const answer = await this.customer.call(path, data);
    expect({ path, status: answer.status, error: answer.body.error }).toEqual({ path, status: 200, error: undefined });
    expectDocumented(endpoint, answer);
    this.#values.recordAnswer(endpoint.example.result, answer.body.result);
    if (path === `${WORKSPACE}/create`) await this.#useWorkspace(answer.body.result.data);
    if (path === `${WORKSPACE}/apikey/create`) this.#createdKey = answer.body.result.data.apiKey;
    if (path === `${WORKSPACE}/authtoken/reset`) this.#useToken(answer.body.result.data.newAuthToken.token);
  }

  async #useWorkspace(created: any): Promise<void> {
    await this.customer.use(created);
    this.#useToken(this.customer.key['x-svc-auth-token']!);
    await this.customer.ok(`${WORKSPACE}/advancedwebhookconfig/update`, { isEnabled: true });
  }

  #useToken(authToken: string): void {
    const apiKey = this.customer.key['x-svc-api-key']!;
    this.customer.key = { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken };
    // The examples have these two API keys.
    this.#values = new ExampleValues({
      key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ: apiKey,
      key_2xgC5RqLyN9oFzL3hM5vW7tB1cD: apiKey,
      '<signed token>': authToken,
      'the token of the headers': authToken,
    });
  }

  /** Returns the fields that the example leaves to the caller. */
  #changesOf(path: string): object {
    const changes: Readonly<Record<string, object>> = {
      [`${WORKSPACE}/create`]: { ownerEmail: this.#ownerEmail },
      [`${WORKSPACE}/apikey/create`]: { ownerEmail: this.#ownerEmail },
      [`${WORKSPACE}/apikey/copy`]: { targetApiKey: this.#createdKey },
      [`${WORKSPACE}/email/send-login-link`]: { email: this.#ownerEmail, continueUrl: 'https://localhost/' },
      [`${WORKSPACE}/email/status`]: { ownerEmail: this.#ownerEmail },
      [`${WORKSPACE}/emailconfig/update`]: { emailServiceConfig: { type: 'default', fromCompany: 'Acme' } },
      [`${ADVANCED}/endpoints/recover`]: { since: new Date(Date.now() - 3_600_000).toISOString() },
    };
    return changes[path] ?? {};
  }
}

// A twin shares the function of its endpoint.
const paths = orderExamples([...endpoints.values()].filter((one) => !isTwin(one)).map(({ path }) => path));
const plain = forAllTests(() => new ExampleRun('plain'));
const base64 = forAllTests(() => new ExampleRun('base64'));

describe('a function under the runtime client', () => {
  test.each(paths)('answers the example of %s from a plain and from a base64 body', async (path) => {
    await plain.send(path);
    await base64.send(path);
  });

  test.each(registeredPages().map((page) => [page.path, page] as const))(
    'answers a browser at %s',
    async (path, page) => {
      const request = { path, routeKey: routeKey(page), query: 'token=unknown' };
      const fn = system.functionOfRoute(request.routeKey);
      const send = async (event: object) => toResponse(await system.invoke(fn, event));
      const opened = await send(httpEvent({ ...request, method: 'GET' }, 'plain'));
      if (page.kind === 'asset') {
        expect(opened.status).toBe(200);
        expect(opened.headers['content-type']).toMatch(/^(text\/html|application\/json); charset=utf-8$/);
        const head = await send(httpEvent({ ...request, method: 'HEAD', routeKey: `HEAD ${path}` }, 'plain'));
        expect(head.headers.etag).toBe(opened.headers.etag);
        return;
      }
      // API Gateway encodes the body of a form in base64.
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const sent = await send(
        httpEvent({ ...request, method: 'POST', headers: form, body: 'token=unknown' }, 'base64'),
      );
      for (const { status, headers } of [opened, sent])
        expect({ isFound: status < 500, type: headers['content-type'] }).toEqual({
          isFound: true,
          type: 'text/html; charset=utf-8',
        });
    },
  );

  test('answers a path without a route, and a preflight', async () => {
    const fn = system.functionOfRoute('$default');
    const send = async (event: object) => toResponse(await system.invoke(fn, event));
    const unknown = await send(
      httpEvent({ method: 'POST', path: '/nowhere', routeKey: '$default', body: '{}' }, 'base64'),
    );
    expect([unknown.status, unknown.body.error.status]).toEqual([404, 'NOT_FOUND']);
    const preflight = { method: 'OPTIONS', path: '/v2/live/connect', routeKey: PREFLIGHT_ROUTE };
    const { status, headers } = await send(
      httpEvent({ ...preflight, headers: { origin: 'https://app.test' } }, 'plain'),
    );
    expect([status, headers['access-control-allow-origin']]).toEqual([204, 'https://app.test']);
  });

  test('has been called, unless it is a worker', () => {
    const called = new Set(system.startTimes.map(({ name }) => name));
    const others = system.model.functions.map(({ name }) => name).filter((name) => !called.has(name));
    expect(others.filter((name) => !isWorker(name))).toEqual([]);
  });
});

const workers = registeredWorkers().map(({ name }) => `-${pascal(name)}`);
const isWorker = (name: string) => workers.some((end) => name.endsWith(end));

afterAll(() => void process.stdout.write(startTable(system.startTimes)));
