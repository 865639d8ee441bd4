import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { enginePorts } from '../../infra/local/table/engineAddress.ts';
import { TestBrowser } from '../support/browser.ts';
import { type Receiver, startHttp } from '../support/receivers.ts';
import { times } from '../support/times.ts';
import { type OpenPort, openPorts } from './openPorts.ts';
import { startSystem, type System } from './system.ts';

const LIST_TABLES = 'x-amz-target: DynamoDB_20120810.ListTables';
const EVIL = 'https://evil.example';

let system: System;
/** All ports that the run opens, as the operating system lists them. */
let ports: readonly OpenPort[];
/** The ports that web pages may call: those of the API, which also serves the console, and of the push service. */
let open: readonly number[];

beforeAll(async () => {
  system = await startSystem();
  const { token } = await json('/_local/demo/token', { userId: 'ada' });
  const welcome = { organizationId: 'demo', documentId: 'welcome' };
  const { url } = await system.ok('/v2/live/connect', welcome, { authorization: `Bearer ${token}` });
  open = [system.baseUrl, String(url)].map((each) => Number(new URL(each).port));
  ports = await openPorts(system.pid);
});
afterAll(() => system.stop());

async function json(path: string, body: object): Promise<any> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(system.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}

const isEngine = ({ port }: OpenPort) => enginePorts.includes(port);
const isOpen = ({ port }: OpenPort) => open.includes(port);

/** Sends a request with these lines to a port. Returns the whole answer. */
async function ask({ host, port }: OpenPort, ...lines: string[]): Promise<string> {
  const socket = connect(port, host);
  socket.end([...lines, 'Connection: close', 'Content-Length: 2', '', '{}'].join('\r\n'));
  return text(socket);
}

describe('of the ports that npm start opens', () => {
  test('the engine has one that browsers refuse, at an address of its own, and the others are known', () => {
    expect(ports.filter(isEngine)).toEqual([
      { host: expect.not.stringMatching(/^127\.0\.0\.1$/), port: expect.any(Number) },
    ]);
    expect(ports.filter((port) => !isEngine(port)).map(({ host }) => host)).toEqual(times(5, () => '127.0.0.1'));
    expect(ports.filter(isOpen)).toHaveLength(2);
  });

  test.each(['POST /', 'GET /_local/dashboard.json', 'POST /event', 'GET /event/realtime', 'OPTIONS /'])(
    'each but the one of the engine refuses %s with a foreign Host header or with two',
    async (request) => {
      for (const port of ports.filter((each) => !isEngine(each))) {
        const own = `${port.host}:${port.port}`;
        for (const hosts of [
          ['evil.example'],
          [`evil.example:${port.port}`],
          [own, 'evil.example'],
          ['evil.example', own],
        ]) {
          const answer = await ask(port, `${request} HTTP/1.1`, ...hosts.map((host) => `Host: ${host}`), LIST_TABLES);
          expect([port, hosts, answer]).toEqual([port, hosts, expect.stringMatching(/^HTTP\/1\.1 403 /)]);
          expect(answer).not.toMatch(/^access-control-/im);
        }
      }
    },
  );

  test('each behind the API and the push service refuses a request with an Origin or without the secret of the run', async () => {
    const behind = ports.filter((port) => !isEngine(port) && !isOpen(port));
    expect(behind).toHaveLength(3);
    for (const port of behind)
      for (const method of ['POST', 'OPTIONS']) {
        const request = [`${method} / HTTP/1.1`, `Host: ${port.host}:${port.port}`, LIST_TABLES];
        const answer = await ask(port, ...request, `Origin: ${EVIL}`);
        expect(answer).toMatch(/^HTTP\/1\.1 403 /);
        expect(answer).not.toMatch(/^access-control-/im);
        expect(await ask(port, ...request)).toMatch(/^HTTP\/1\.1 400 [^]*MissingAuthenticationToken/);
      }
  });
});

describe('a page of another origin in a browser', () => {
  let browser: TestBrowser;
  let site: Receiver;
  beforeAll(async () => {
    [browser, site] = await Promise.all([
      TestBrowser.start(),
      startHttp((_request, response) => response.setHeader('content-type', 'text/html').end('<!doctype html>')),
    ]);
  });
  afterAll(() => Promise.all([browser.stop(), site.stop()]));

  test('reads no port behind the API, nor the console', async () => {
    const { page } = await browser.open();
    await page.goto(site.url);
    const behind = ports.filter((port) => port.port !== open[0]).map(({ host, port }) => `http://${host}:${port}/`);
    const console = ['/_local/dashboard.json', '/_local/dashboard'].map((path) => system.baseUrl + path);
    for (const url of [...behind, ...console])
      for (const options of [
        {},
        { method: 'POST', body: '{}' },
        { method: 'POST', body: '{}', headers: { 'x-amz-target': 'DynamoDB_20120810.ListTables' } },
      ])
        expect([
          url,
          await page.evaluate(
            `fetch(${JSON.stringify(url)}, ${JSON.stringify(options)}).then((answer) => answer.text(), () => 'refused')`,
          ),
        ]).toEqual([url, 'refused']);
  });

  test('sends nothing to the table engine', async () => {
    const { page, problems } = await browser.open();
    await page.goto(site.url);
    const { host, port } = ports.find(isEngine)!;
    const at = `${host}:${port}`;
    const refused = await page.evaluate(`(async () => {
      const ended = (target, events) =>
        new Promise((resolve) => events.forEach((event) => target.addEventListener(event, () => resolve(event))));
      const image = new Image();
      image.src = 'http://${at}/image';
      const script = document.createElement('script');
      script.src = 'http://${at}/script';
      document.body.append(script);
      return Promise.all([
        fetch('http://${at}/opaque', { method: 'POST', mode: 'no-cors', body: '{}' }).catch(() => 'error'),
        ended(image, ['load', 'error']),
        ended(script, ['load', 'error']),
        ended(new WebSocket('ws://${at}/socket'), ['open', 'error']),
      ]);
    })()`);
    expect(refused).toEqual(times(4, () => 'error'));
    const failed = page.waitForEvent('requestfailed');
    await page.evaluate(`(() => {
      const form = Object.assign(document.createElement('form'), { method: 'POST', action: 'http://${at}/form' });
      document.body.append(form);
      form.submit();
    })()`);
    await failed;
    for (const path of ['opaque', 'image', 'script', 'form'])
      expect(problems).toContainEqual(
        expect.stringMatching(new RegExp(` http://${at}/${path}: net::ERR_UNSAFE_PORT$`)),
      );
  });
});
