import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startSystem, type System } from './system.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system.stop());

const outbox = async () => (await readdir(join(system.dataDir, 'outbox'))).sort();
const publicCall = async (path: string, data: object) => (await system.post(path, data, {})).body;

test('the API key of an owner who verifies the e-mail address does not expire', async () => {
  const ownerEmail = 'owner@example.com';
  const { id, authToken, apiKeyList } = (await publicCall('/v2/workspace/create', { ownerEmail })).result.data;
  const [apiKey] = Object.keys(apiKeyList);
  expect((await publicCall('/v2/workspace/email/status', { ownerEmail })).result.data).toEqual({ verified: false });

  const workspaceHeaders = { 'x-svc-workspace-id': id, 'x-svc-workspace-auth-token': authToken };
  const { authTokens } = (await system.post('/v2/workspace/authtokens/get', { apiKey }, workspaceHeaders)).body.result
    .data;
  const keyHeaders = { 'x-svc-api-key': apiKey!, 'x-svc-auth-token': authTokens[0].token as string };
  await system.post('/v2/workspace/domains/add', { domains: ['app.example.com'] }, keyHeaders);

  const refused = await publicCall('/v2/workspace/email/send-login-link', {
    email: ownerEmail,
    continueUrl: 'https://elsewhere.example/',
  });
  expect(refused.error.status).toBe('INVALID_ARGUMENT');
  const unknown = await publicCall('/v2/workspace/email/send-login-link', {
    email: 'nobody@example.com',
    continueUrl: system.baseUrl,
  });
  expect(unknown.result.message).toBe('Login link sent successfully');
  expect(await outbox()).toEqual([]);
  const sent = await publicCall('/v2/workspace/email/send-login-link', {
    email: ownerEmail,
    continueUrl: 'https://app.example.com/welcome',
  });
  expect(sent).toEqual({ result: { status: 'success', message: 'Login link sent successfully', data: null } });

  const [file, ...others] = await outbox();
  expect([file, others]).toEqual([expect.stringMatching(/\.eml$/), []]);
  const eml = await readFile(join(system.dataDir, 'outbox', file!), 'utf8');
  expect(eml).toMatch(
    /^From: no-reply@example\.com\r\nTo: owner@example\.com\r\nSubject: Verify your e-mail address\r\n/,
  );
  const [link = ''] = /^http:\S+$/m.exec(eml) ?? [];
  expect(link.startsWith(`${system.baseUrl}/v2/workspace/email/verify?token=`)).toBe(true);

  // A link scanner opens the link before the owner does. This must not verify the owner.
  for (const method of ['HEAD', 'GET', 'OPTIONS']) await (await fetch(link, { method })).text();
  const page = await fetch(link);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const html = await page.text();
  expect((await publicCall('/v2/workspace/email/status', { ownerEmail })).result.data).toEqual({ verified: false });

  // Sends what a browser sends after a click on the button.
  const [, action = ''] = /<form method="post" action="([^"]*)">/.exec(html) ?? [];
  const [, name = '', value = ''] = /<input type="hidden" name="([^"]*)" value="([^"]*)">/.exec(html) ?? [];
  const press = () => fetch(new URL(action, link), { method: 'POST', body: new URLSearchParams({ [name]: value }) });
  const pressed = await press();
  expect(pressed.status).toBe(200);
  expect(await pressed.text()).toContain('href="https://app.example.com/welcome"');
  expect((await press()).status).toBe(410);

  expect((await publicCall('/v2/workspace/email/status', { ownerEmail })).result).toEqual({
    status: 'success',
    message: 'Email verified and workspace reactivated',
    data: { verified: true },
  });
  expect((await system.post('/v2/organizations/get', {}, keyHeaders)).status).toBe(200);
  expect(await readFile(join(system.dataDir, 'functions.log'), 'utf8')).not.toContain(value);
});

test('the verification page answers GET, POST and DELETE with an HTML page', async () => {
  for (const [method, status] of [
    ['GET', 410],
    ['POST', 410],
    ['DELETE', 405],
  ] as const) {
    const answer = await fetch(`${system.baseUrl}/v2/workspace/email/verify`, { method });
    expect([method, answer.status, answer.headers.get('content-type')]).toEqual([
      method,
      status,
      'text/html; charset=utf-8',
    ]);
    expect(await answer.text()).toMatch(/^<!doctype html>/);
  }
});
