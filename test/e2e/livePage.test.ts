import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import * as registry from '../../functions/index.ts';
import { projectDir } from '../../infra/build/build.ts';
import { buildClientPackage } from '../../infra/build/clientPackage.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { type Tab, TestBrowser } from '../support/browser.ts';
import { startSystem, type System } from './system.ts';

const acme = { organizationId: 'acme' };
const nda = { ...acme, documentId: 'nda' };

let system: System;
let browser: TestBrowser;
let clientDir: string;
let site: Server;
const tabs: Tab[] = [];
beforeAll(async () => {
  clientDir = await mkdtemp(join(tmpdir(), 'client-'));
  [system, browser] = await Promise.all([
    startSystem(),
    TestBrowser.start(),
    buildClientPackage(Object.entries<Endpoint>(registry), clientDir),
  ]);
  site = createServer((request, response) => {
    answer(request.url ?? '', request.headers.cookie ?? '').then(
      ({ type, body }) => response.writeHead(200, { 'content-type': type }).end(body),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  await ok('/v2/organizations/documents/add', {
    ...acme,
    createOrganization: true,
    documents: [{ documentId: 'nda' }],
  });
  await ok('/v2/workspace/domains/add', { domains: ['localhost'] });
});
afterAll(async () => {
  site.close();
  site.closeAllConnections();
  await Promise.all([system.stop(), browser.stop(), rm(clientDir, { recursive: true })]);
});

async function ok(path: string, data: object): Promise<any> {
  const { status, body } = await system.post(path, data);
  if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return body.result.data;
}

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
  const { token } = await ok('/v2/auth/generate_token', {
    userId,
    userProperties: { name: `${userId} of Acme`, email: `${userId}@example.com` },
    permissions: { resources: [{ type: 'document', id: 'nda', ...acme, accessRole: 'editor' }] },
  });
  return { type: 'text/plain', body: token };
}

async function open(userId: string): Promise<Page> {
  const tab = await browser.open();
  tabs.push(tab);
  const url = `http://localhost:${(site.address() as AddressInfo).port}`;
  await tab.page.context().addCookies([{ name: 'user', value: userId, url }]);
  await tab.page.goto(url);
  await tab.page.getByRole('status').filter({ hasText: 'live' }).waitFor();
  return tab.page;
}

const itemOf = (page: Page, list: string, text: string) =>
  page.getByRole('list', { name: list }).getByRole('listitem').filter({ hasText: text });

test('the example page of the guide shows comments and users, and hides a thread that becomes private', async () => {
  const [ada, grace] = [await open('ada'), await open('grace')];
  for (const page of [ada, grace])
    for (const name of ['ada of Acme', 'grace of Acme']) await itemOf(page, 'Here now', name).waitFor();

  await ada.getByRole('textbox', { name: 'New comment' }).fill('Is clause 4 right?');
  await ada.getByRole('button', { name: 'Send' }).click();
  const shown = [ada, grace].map((page) => itemOf(page, 'Comments', 'Is clause 4 right?'));
  for (const comment of shown) await comment.waitFor();

  const [{ annotationId }] = await ok('/v2/commentannotations/get', nda);
  const updatedData = { visibility: { type: 'restricted', userIds: [] } };
  await ok('/v2/commentannotations/update', { ...nda, annotationIds: [annotationId], updatedData });
  await shown[1]!.waitFor({ state: 'detached' });
  expect(await shown[0]!.count()).toBe(1);
  expect(tabs.flatMap(({ problems }) => problems)).toEqual([]);
});

test('the example page of the guide has about twenty lines of script', async () => {
  const script = (await examplePage()).split('<script type="module">\n')[1]!.split('</script>')[0]!;
  expect(script.trimEnd().split('\n').length).toBeLessThanOrEqual(24);
});
