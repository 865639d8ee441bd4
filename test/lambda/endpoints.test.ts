import { afterAll, describe, expect, test } from '@jest/globals';
import { registeredPages, registeredWorkers } from '../../infra/build/registry.ts';
import { pascal } from '../../infra/constructs/names.ts';
import { PREFLIGHT_ROUTE, routeKey } from '../../lib/app/page.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { checksOf, documentOf } from '../support/documented.ts';
import { endpoints, examplePaths, ExampleRun } from '../support/examples.ts';
import { LambdaCustomer, toResponse } from './customer.ts';
import { httpEvent } from './events.ts';
import { startTable } from './startTable.ts';
import { startLambdaSystem } from './system.ts';

const system = forAllTests(startLambdaSystem);
const { expectDocumented } = checksOf(documentOf([...endpoints.values()]));

const encodings = ['plain', 'base64'] as const;
const runs = forAllTests(() =>
  encodings.map((encoding) => new ExampleRun(`${encoding}@example.com`, new LambdaCustomer(system, encoding))),
);

describe('a function under the runtime client', () => {
  test.each(examplePaths)('answers the example of %s from a plain and from a base64 body', async (path) => {
    for (const run of runs) {
      const answer = await run.customer.call(path, await run.prepare(path));
      expect({ path, status: answer.status, error: answer.body.error }).toEqual({
        path,
        status: 200,
        error: undefined,
      });
      expectDocumented(endpoints.get(path)!, answer);
      await run.record(path, answer.body);
    }
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
