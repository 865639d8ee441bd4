import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { page } from '../../../functions/v2/workspace/email/verify.ts';
import { ApiKeyEntity, WorkspaceEntity } from '../../../lib/http/entities.ts';
import { upsert } from '../../../lib/table/table.ts';
import { AllowedDomainsEntity } from '../../../lib/workspaces/allowedDomains.ts';
import { OwnerEmailEntity } from '../../../lib/workspaces/entities.ts';
import { LoginLinkEntity } from '../../../lib/workspaces/verification.ts';
import { forAllTests, table } from '../../support/acmeWorld.ts';
import { CONTINUE_URL, mailedToken, openLink, type PageAnswer, pressButton } from '../../support/email.ts';
import { startEngine } from '../../support/engine.ts';
import { handlerOf, pageHandler } from '../../support/functionHandlers.ts';
import { everyItem, putItem, storedItem } from '../../support/items.ts';
import { post } from '../../support/requests.ts';
import { times } from '../../support/times.ts';
import { virtualTime } from '../../support/virtualTime.ts';
import { newApiKey, newWorkspace, type TestWorkspace } from '../../support/workspaces.ts';

const engine = forAllTests(startEngine);
afterEach(() => {
  jest.restoreAllMocks();
});

const workspaceItem = ({ id }: TestWorkspace) => storedItem(engine, WorkspaceEntity.key({ workspaceId: id }));
const isVerified = async (workspace: TestWorkspace) => (await workspaceItem(workspace))?.verifiedAt !== undefined;

/** Creates a workspace and mails a link to its owner. */
async function newLink(): Promise<{ readonly workspace: TestWorkspace; readonly token: string }> {
  const workspace = await newWorkspace();
  return { workspace, token: await mailedToken(engine, workspace) };
}

/** Expects the page of a link that is used, expired or unknown. It is the same for all three. */
async function expectUsedLink(page: PageAnswer): Promise<void> {
  const unknown = await openLink(randomBytes(32).toString('base64url'));
  expect(unknown.status).toBe(410);
  expect({ status: page.status, html: page.html }).toEqual({ status: 410, html: unknown.html });
}

/** Returns the value of an HTML attribute as a browser reads it. */
function unescaped(text: string): string {
  return text.replace(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)));
}

describe('GET /v2/workspace/email/verify', () => {
  test('shows the address and one button that posts the token', async () => {
    const { workspace, token } = await newLink();
    const { status, html } = await openLink(token);
    expect(status).toBe(200);
    expect(html).toContain(`<strong>${workspace.ownerEmail}</strong>`);
    expect(html).toContain(
      `<form method="post" action="verify"><input type="hidden" name="token" value="${token}"><button>`,
    );
    expect(html.match(/<button|<form|<input|<a /g)).toHaveLength(3);
  });

  test('changes nothing, so that mail scanners may open the link', async () => {
    const { workspace, token } = await newLink();
    const before = await everyItem(engine);
    const answers = await Promise.all(times(20, (index) => openLink(token, { method: index % 2 ? 'HEAD' : 'GET' })));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS'])
      expect((await openLink(token, { method })).status).toBe(405);
    expect(await everyItem(engine)).toEqual(before);
    expect(await isVerified(workspace)).toBe(false);
    expect((await pressButton(token)).status).toBe(200);
    expect(await isVerified(workspace)).toBe(true);
  });
});

describe('POST /v2/workspace/email/verify', () => {
  test('verifies the owner and links to continueUrl', async () => {
    const { workspace, token } = await newLink();
    const before = Date.now();
    const { status, html } = await pressButton(token);
    expect(status).toBe(200);
    expect(html).toContain('Your address is verified');
    expect(html).toContain(`<a class="button" href="${CONTINUE_URL}" rel="noreferrer">Continue to api.test</a>`);
    expect((await workspaceItem(workspace))?.verifiedAt).toBeGreaterThanOrEqual(before);
  });

  test('accepts a link once and deletes it', async () => {
    const { workspace, token } = await newLink();
    await pressButton(token);
    const verified = await workspaceItem(workspace);
    await expectUsedLink(await pressButton(token));
    await expectUsedLink(await openLink(token));
    expect(await workspaceItem(workspace)).toEqual(verified);
    expect(
      (await everyItem(engine)).filter((item) => item._t === LoginLinkEntity.type && item.workspaceId === workspace.id),
    ).toEqual([]);
  });

  test('accepts a link once for 20 concurrent requests', async () => {
    const { workspace, token } = await newLink();
    const functions = times(4, () => pageHandler(page));
    const answers = await Promise.all(times(20, (index) => pressButton(token, functions[index % 4])));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) await expectUsedLink(answer);
    expect(await isVerified(workspace)).toBe(true);
  });

  test('accepts a link for 30 minutes and not longer', async () => {
    const [early, late] = [await newWorkspace(), await newWorkspace()];
    const sentAt = Date.now() + 60_000;
    const clock = jest.spyOn(Date, 'now').mockReturnValue(sentAt);
    const [earlyToken, lateToken] = [await mailedToken(engine, early), await mailedToken(engine, late)];
    clock.mockReturnValue(sentAt + 30 * 60_000 - 1);
    expect((await openLink(lateToken)).status).toBe(200);
    expect((await pressButton(earlyToken)).status).toBe(200);
    clock.mockReturnValue(sentAt + 30 * 60_000);
    await expectUsedLink(await openLink(lateToken));
    await expectUsedLink(await pressButton(lateToken));
    expect([await isVerified(early), await isVerified(late)]).toEqual([true, false]);
  });

  test('accepts several links of one owner, and keeps the time of the first verification', async () => {
    const workspace = await newWorkspace();
    const [first, second] = [await mailedToken(engine, workspace), await mailedToken(engine, workspace)];
    await pressButton(second);
    const verified = await workspaceItem(workspace);
    expect((await pressButton(first)).status).toBe(200);
    expect((await workspaceItem(workspace))?.verifiedAt).toBe(verified?.verifiedAt);
  });

  test('leaves an API key that is created at the same time without expiry', async () => {
    const { workspace, token } = await newLink();
    const query = table.query.bind(table);
    // The owner is verified while apikey/create runs: after it has read the workspace and before it writes.
    jest.spyOn(table, 'query').mockImplementationOnce(async (...args) => {
      expect((await pressButton(token)).status).toBe(200);
      return query(...args);
    });
    const { apiKey } = await newApiKey(workspace);
    expect(await storedItem(engine, ApiKeyEntity.key({ apiKey }))).not.toHaveProperty('expiresAt');
  });

  test('retries if transactions conflict, and returns an error if the conflict lasts', async () => {
    const { token } = await newLink();
    const write = jest.spyOn(table, 'write').mockResolvedValue({ conflicts: [1] });
    const time = virtualTime();
    const answer = await time.run(() => pressButton(token));
    expect(answer.status).toBe(409);
    expect(time.sleeps.length).toBeGreaterThan(3);
    expect(write).toHaveBeenCalledTimes(time.sleeps.length + 1);
    expect(answer.html).toContain('Please try again in a moment.');
    write.mockRestore();
    jest.spyOn(table, 'write').mockResolvedValueOnce({ conflicts: [1] });
    expect((await pressButton(token)).status).toBe(200);
  });

  test('uses the token in the body, not the token in the URL', async () => {
    const { workspace, token } = await newLink();
    await expectUsedLink(await openLink(token, { method: 'POST' }));
    expect(await isVerified(workspace)).toBe(false);
  });
});

describe('POST /v2/workspace/email/verify with a malformed token', () => {
  test.each([
    ['missing', undefined],
    ['two tokens', `${'a'.repeat(43)},${'b'.repeat(43)}`],
    ['markup', '"><script>alert(1)</script>'],
  ])('that is %s returns the page for an unknown token, without the token', async (_what, token) => {
    const get = jest.spyOn(table, 'get');
    const answers = [await openLink(token), await pressButton(token ?? '')];
    expect(get).not.toHaveBeenCalled();
    for (const answer of answers) {
      expect(answer.html).not.toContain('<script');
      await expectUsedLink(answer);
    }
  });
});

describe('a hostile continueUrl', () => {
  test.each([
    'https://app.example.com/"><script>alert(1)</script>',
    "https://app.example.com/?a='onmouseover='alert(1)&b=<img src=x>",
    'https://app.example.com/\u202e\u0000gpj.exe',
  ])('%j is escaped in the link', async (continueUrl) => {
    const workspace = await newWorkspace();
    await table.write([upsert(AllowedDomainsEntity, { tenant: workspace.apiKey, domains: ['app.example.com'] })]);
    const { html } = await pressButton(await mailedToken(engine, workspace, continueUrl));
    const [, href = ''] =
      /<a class="button" href="([^"]*)" rel="noreferrer">Continue to app\.example\.com<\/a>/.exec(html) ?? [];
    expect(unescaped(href)).toBe(new URL(continueUrl).href);
    expect(html).not.toMatch(/<(script|img)|'on|"on/);
  });
});

test('every page of a login link forbids caching and sends no referrer', async () => {
  const { token } = await newLink();
  for (const page of [await openLink(token), await pressButton(token), await pressButton(token)]) {
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringContaining("form-action 'self'"),
    });
  }
});

describe('an address with several workspaces', () => {
  const keyOf = async ({ apiKey }: TestWorkspace) => (await storedItem(engine, ApiKeyEntity.key({ apiKey })))!;

  test('is verified for all of them, and for those that are created later', async () => {
    const first = await newWorkspace();
    const second = await newWorkspace(first.ownerEmail);
    expect((await keyOf(second)).expiresAt).toBeDefined();
    await pressButton(await mailedToken(engine, first));
    const third = await newWorkspace(first.ownerEmail);
    expect((await keyOf(third)).expiresAt).toBeUndefined();
    const status = await post(handlerOf('/v2/workspace/email/status'), {}, { ownerEmail: first.ownerEmail });
    expect(status.body.result.data).toEqual({ verified: true });
    expect((await keyOf(second)).expiresAt).toBeUndefined();
    for (const { id } of [first, second, third])
      expect((await storedItem(engine, WorkspaceEntity.key({ workspaceId: id })))?.verifiedAt).toBeDefined();
  });

  test('is verified for a later workspace if an earlier version stored the verification', async () => {
    const first = await newWorkspace();
    await pressButton(await mailedToken(engine, first));
    const address = await storedItem(engine, OwnerEmailEntity.key({ email: first.ownerEmail }));
    const { verifiedAt: _, ...earlier } = address!;
    await putItem(engine, { ...earlier, _v: 1 });
    expect((await keyOf(await newWorkspace(first.ownerEmail))).expiresAt).toBeUndefined();
  });

  test('is verified for a workspace that is created at the same time', async () => {
    const { workspace: first, token } = await newLink();
    const get = table.get.bind(table);
    // The owner is verified after workspace/create has read the address and its first workspace, and before it writes.
    const read = jest.spyOn(table, 'get').mockImplementation(async (entity, ...rest) => {
      const stored = await get(entity, ...rest);
      if ((entity as unknown) === WorkspaceEntity) {
        read.mockRestore();
        expect((await pressButton(token)).status).toBe(200);
      }
      return stored;
    });
    const second = await newWorkspace(first.ownerEmail);
    expect([await isVerified(first), await isVerified(second)]).toEqual([true, true]);
    expect((await keyOf(second)).expiresAt).toBeUndefined();
  });

  test('gets no link to a domain that only a later workspace allows', async () => {
    const { ownerEmail } = await newWorkspace();
    const second = await newWorkspace(ownerEmail);
    await table.write([upsert(AllowedDomainsEntity, { tenant: second.apiKey, domains: ['evil.example.org'] })]);
    const data = { email: ownerEmail, continueUrl: 'https://evil.example.org/' };
    const { body } = await post(handlerOf('/v2/workspace/email/send-login-link'), {}, data);
    expect(body.error.message).toBe('The continueUrl domain is not allowed.');
  });
});
