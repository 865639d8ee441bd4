import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestBrowser } from '../support/browser.ts';
import { RemoteReceiver } from '../support/remoteReceiver.ts';
import { startSystem, type System } from './system.ts';

const APP = 'https://app.example.com';
const POLL_MILLISECONDS = 100;
let system: System;
let token: string;
beforeAll(async () => {
  system = await startSystem();
  await system.client.v2.organizations.documents.add({
    organizationId: 'acme',
    createOrganization: true,
    documents: [{ documentId: 'nda' }],
  });
  await system.post('/v2/workspace/domains/add', { domains: ['app.example.com'] });
  const { body } = await system.post('/v2/auth/generate_token', {
    userId: 'ada',
    userProperties: { name: 'Ada', email: 'ada@example.com' },
    permissions: { resources: [{ type: 'document', id: 'nda', organizationId: 'acme' }] },
  });
  token = body.result.data.token;
});
afterAll(() => system.stop());

/** Sends a call as a script would from a page at `origin`. */
async function callFrom(origin: string, path: string, authorization = `Bearer ${token}`): Promise<Response> {
  return fetch(system.baseUrl + path, {
    method: 'POST',
    headers: { origin, authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ data: { organizationId: 'acme', documentId: 'nda' } }),
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

test('an allowed origin may read the answer to a call with a user token, including a refusal', async () => {
  for (const [path, authorization, status] of [
    ['/v2/commentannotations/get', undefined, 200],
    ['/v2/organizations/documents/get', undefined, 403],
    ['/v2/commentannotations/get', `Bearer ${token}x`, 403],
  ] as const) {
    const answer = await callFrom(APP, path, authorization);
    expect([path, answer.status]).toEqual([path, status]);
    expect(answer.headers.get('access-control-allow-origin')).toBe(APP);
    expect(answer.headers.get('access-control-expose-headers')).toBe('x-request-id, retry-after, idempotency-replayed');
    expect(answer.headers.get('vary')).toBe('origin');
  }
});

test('an origin that is not allowed may not read the answer to a call with a user token', async () => {
  const answer = await callFrom('https://elsewhere.example', '/v2/commentannotations/get');
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, null]);
});

test('a keepalive call to another origin arrives after the user has left the page', async () => {
  const nda = { organizationId: 'acme', documentId: 'nda' };
  const { presence } = system.client.v2;
  await presence.add({ ...nda, users: [{ userId: 'ada' }] });
  const [browser, receiver] = await Promise.all([TestBrowser.start(), RemoteReceiver.start()]);
  try {
    await receiver.setBehaviour('/page', { headers: { 'content-type': 'text/html' }, body: '<title>App</title>' });
    const { page } = await browser.open();
    await page.goto(receiver.url('/page'));
    // This is how the typed client reports that the user leaves the page.
    const request = {
      method: 'POST',
      keepalive: true,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'idempotency-key': 'leave' },
      body: JSON.stringify({ data: { ...nda, userIds: ['ada'] } }),
    };
    const url = `${system.baseUrl}/v2/presence/delete`;
    await page.evaluate(`addEventListener('pagehide', () => fetch('${url}', ${JSON.stringify(request)}))`);
    await page.goto('about:blank');
    while ((await presence.get(nda)).data.users.length > 0) await delay(POLL_MILLISECONDS);
  } finally {
    await Promise.all([browser.stop(), receiver.stop()]);
  }
});

test('the answer to a call with an API key never has CORS headers', async () => {
  const { headers, status } = await system.post('/v2/commentannotations/get', {
    organizationId: 'acme',
    documentId: 'nda',
  });
  expect(status).toBe(200);
  expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
});

test('the logs never contain a user token', () => {
  expect(system.logs()).not.toContain(token.split('.')[1]!.slice(0, 40));
});
