import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import * as registry from '../../functions/index.ts';
import { projectDir } from '../../infra/build/build.ts';
import { buildClientPackage } from '../../infra/build/clientPackage.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { type Tab, TestBrowser } from '../support/browser.ts';
import { type Receiver, startHttp } from '../support/receivers.ts';
import { RemoteReceiver } from '../support/remoteReceiver.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { startSystem, type System } from './system.ts';

const acme = { organizationId: 'acme' };
const nda = { ...acme, documentId: 'nda' };
const APP = 'https://app.example.com';
const POLL_MILLISECONDS = 100;

let system: System;
let browser: TestBrowser;
let receiver: RemoteReceiver;

// All tests share one system and one browser.
beforeAll(async () => {
  [system, browser, receiver] = await Promise.all([startSystem(), TestBrowser.start(), RemoteReceiver.start()]);
  await system.ok('/v2/organizations/documents/add', {
    ...acme,
    createOrganization: true,
    documents: [{ documentId: 'nda' }],
  });
  await system.ok('/v2/workspace/domains/add', { domains: ['localhost', 'app.example.com'] });
});
afterAll(() => Promise.all([system.stop(), browser.stop(), receiver.stop()]));

describe('calls with a user token', () => {
  let token: string;
  beforeAll(async () => {
    ({ token } = await system.ok('/v2/auth/generate_token', {
      userId: 'linus',
      userProperties: { name: 'Linus', email: 'linus@example.com' },
      permissions: { resources: [{ type: 'document', id: 'nda', ...acme }] },
    }));
  });

  /** Sends a call as a script would from a page at `origin`. */
  async function callFrom(
    origin: string,
    path: string,
    authorization = `Bearer ${token}`,
    data: object = nda,
  ): Promise<Response> {
    return fetch(system.baseUrl + path, {
      method: 'POST',
      headers: { origin, authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ data }),
    });
  }

  test('a CORS preflight succeeds from every origin', async () => {
    const preflight = await fetch(`${system.baseUrl}/v2/commentannotations/get`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://elsewhere.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': 'https://elsewhere.example',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type, authorization, idempotency-key',
    });
  });

  const withWrongSignature = (text: string) => text.replace(/[^.]+$/, (signature) => 'A'.repeat(signature.length));

  test('an allowed origin may read the answer to a call with a user token, including a refusal', async () => {
    for (const [path, authorization, status] of [
      ['/v2/commentannotations/get', undefined, 200],
      ['/v2/organizations/documents/get', undefined, 403],
      ['/v2/commentannotations/get', `Bearer ${withWrongSignature(token)}`, 403],
    ] as const) {
      const data = path.includes('documents') ? { organizationId: nda.organizationId } : nda;
      const answer = await callFrom(APP, path, authorization, data);
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers.get('access-control-allow-origin')).toBe(APP);
      expect(answer.headers.get('access-control-expose-headers')).toBe(
        'x-request-id, retry-after, idempotency-replayed',
      );
      expect(answer.headers.get('vary')).toBe('origin');
    }
  });

  test('an origin that is not allowed may not read such an answer, and no origin that to a call with an API key', async () => {
    const foreign = await callFrom('https://elsewhere.example', '/v2/commentannotations/get');
    const ofServer = await system.post('/v2/commentannotations/get', nda);
    for (const { status, headers } of [foreign, ofServer]) {
      expect(status).toBe(200);
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  test('a keepalive call to another origin arrives after the user has left the page', async () => {
    const { presence } = system.client.v2;
    await presence.add({ ...nda, users: [{ userId: 'linus' }] });
    await receiver.setBehaviour('/page', { headers: { 'content-type': 'text/html' }, body: '<title>App</title>' });
    const { page } = await browser.open();
    await page.goto(receiver.url('/page'));
    // This is how the typed client reports that the user leaves the page.
    const request = {
      method: 'POST',
      keepalive: true,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'idempotency-key': 'leave' },
      body: JSON.stringify({ data: { ...nda, userIds: ['linus'] } }),
    };
    const url = `${system.baseUrl}/v2/presence/delete`;
    await page.evaluate(`addEventListener('pagehide', () => fetch('${url}', ${JSON.stringify(request)}))`);
    await page.goto('about:blank');
    while ((await presence.get(nda)).data.users.length > 0) await delay(POLL_MILLISECONDS);
  });
});

describe('the example page of the guide', () => {
  const clientDir = temporaryFolder();
  let site: Receiver;
  const tabs: Tab[] = [];
  beforeAll(async () => {
    await buildClientPackage(Object.entries<Endpoint>(registry), clientDir);
    site = await startHttp((request, response) => {
      answer(request.url ?? '', request.headers.cookie ?? '').then(
        ({ type, body }) => response.writeHead(200, { 'content-type': type }).end(body),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  });
  afterAll(() => site.stop());

  /** Returns the example page of the guide LIVE.md, with this system's URL. */
  async function examplePage(): Promise<string> {
    const guide = await readFile(join(projectDir, 'functions/LIVE.md'), 'utf8');
    const [, page = ''] = /```html\n(.*?)```/s.exec(guide) ?? [];
    expect(page).toContain('https://api.example.com');
    return page.replace('https://api.example.com', system.baseUrl);
  }

  /** Answers like a customer's web server. The cookie contains the id of the logged-in user. */
  async function answer(url: string, cookie: string): Promise<{ type: string; body: string }> {
    if (url === '/') return { type: 'text/html', body: await examplePage() };
    if (url.startsWith('/client/'))
      return { type: 'text/javascript', body: await readFile(join(clientDir, url.slice('/client/'.length)), 'utf8') };
    if (url !== '/my/token') return { type: 'text/plain', body: '' };
    const userId = cookie.replace('user=', '');
    const { token } = await system.ok('/v2/auth/generate_token', {
      userId,
      userProperties: { name: `${userId} of Acme`, email: `${userId}@example.com` },
      permissions: { resources: [{ type: 'document', id: 'nda', ...acme, accessRole: 'editor' }] },
    });
    return { type: 'text/plain', body: token };
  }

  async function open(userId: string): Promise<Page> {
    const tab = await browser.open();
    tabs.push(tab);
    const url = `http://localhost:${site.port}`;
    await tab.page.context().addCookies([{ name: 'user', value: userId, url }]);
    await tab.page.goto(url);
    await tab.page.getByRole('status').filter({ hasText: 'live' }).waitFor();
    return tab.page;
  }

  const itemOf = (page: Page, list: string, text: string) =>
    page.getByRole('list', { name: list }).getByRole('listitem').filter({ hasText: text });

  test('shows comments and users, and hides a thread that becomes private', async () => {
    const [ada, grace] = [await open('ada'), await open('grace')];
    for (const page of [ada, grace])
      for (const name of ['ada of Acme', 'grace of Acme']) await itemOf(page, 'Here now', name).waitFor();

    await ada.getByRole('textbox', { name: 'New comment' }).fill('Is clause 4 right?');
    await ada.getByRole('button', { name: 'Send' }).click();
    const shown = [ada, grace].map((page) => itemOf(page, 'Comments', 'Is clause 4 right?'));
    for (const comment of shown) await comment.waitFor();

    const [{ annotationId }] = await system.ok('/v2/commentannotations/get', nda);
    const updatedData = { visibility: { type: 'restricted', userIds: [] } };
    await system.ok('/v2/commentannotations/update', { ...nda, annotationIds: [annotationId], updatedData });
    await shown[1]!.waitFor({ state: 'detached' });
    expect(await shown[0]!.count()).toBe(1);
    expect(tabs.flatMap(({ problems }) => problems)).toEqual([]);
  });

  test('has about twenty lines of script', async () => {
    const script = (await examplePage()).split('<script type="module">\n')[1]!.split('</script>')[0]!;
    expect(script.trimEnd().split('\n').length).toBeLessThanOrEqual(24);
  });
});
