import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { endpoint } from '../../../functions/v2/workspace/email/send-login-link.ts';
import { SesMailer } from '../../../lib/mail/senders/ses.ts';
import { upsert } from '../../../lib/table/table.ts';
import { AllowedDomainsEntity } from '../../../lib/workspaces/allowedDomains.ts';
import { LoginLinkEntity } from '../../../lib/workspaces/verification.ts';
import { forAllTests, table } from '../../support/acmeWorld.ts';
import { CONTINUE_URL, mailedToken, openLink, pressButton, tokenIn } from '../../support/email.ts';
import { startEngine } from '../../support/engine.ts';
import { endpointHandler, handlerOf } from '../../support/functionHandlers.ts';
import { everyItem } from '../../support/items.ts';
import { errorOf, post, postFrom } from '../../support/requests.ts';
import { newApiKey, newWorkspace } from '../../support/workspaces.ts';

const handler = handlerOf('/v2/workspace/email/send-login-link');

const SENT = { result: { status: 'success', message: 'Login link sent successfully', data: null } };

const engine = forAllTests(startEngine);
beforeEach(() => {
  engine.mails.length = 0;
});
afterEach(() => {
  jest.restoreAllMocks();
});

const someone = () => `someone-${randomUUID()}@example.com`;
const sendLink = (email: string, continueUrl: string, to = handler) => post(to, {}, { email, continueUrl });

async function allow(apiKey: string, domains: string[]): Promise<void> {
  await table.write([upsert(AllowedDomainsEntity, { tenant: apiKey, domains })]);
}

describe('a login link', () => {
  test('is mailed to the owner as text and HTML', async () => {
    const { ownerEmail } = await newWorkspace();
    expect(await sendLink(ownerEmail, CONTINUE_URL)).toMatchObject({ status: 200, body: SENT });
    const [mail, ...others] = engine.mails;
    expect(others).toEqual([]);
    expect(mail).toMatchObject({
      from: 'no-reply@example.com',
      to: [ownerEmail],
      subject: 'Verify your e-mail address',
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    const link = `https://api.test/v2/workspace/email/verify?token=${tokenIn(mail!.text)}`;
    expect(mail!.text.split('\n')).toContain(link);
    expect(mail!.html).toContain(`href="${link}"`);
  });

  test('is sent to the stored address, whatever the spelling in the request', async () => {
    const { ownerEmail } = await newWorkspace();
    await sendLink(ownerEmail.toUpperCase(), CONTINUE_URL);
    expect(engine.mails[0]?.to).toEqual([ownerEmail]);
  });

  test('has a different token of 256 bits each time', async () => {
    const workspace = await newWorkspace();
    const tokens = new Set<string>();
    for (let i = 0; i < 5; i++) tokens.add(await mailedToken(engine, workspace));
    expect(tokens.size).toBe(5);
    for (const token of tokens) expect(Buffer.from(token, 'base64url')).toHaveLength(32);
  });

  test('is stored only as a hash, with an expiry', async () => {
    const workspace = await newWorkspace();
    const token = await mailedToken(engine, workspace);
    const items = await everyItem(engine);
    expect(JSON.stringify(items)).not.toContain(token);
    const stored = items.filter((item) => item._t === LoginLinkEntity.type && item.workspaceId === workspace.id);
    expect(stored).toEqual([expect.objectContaining({ continueUrl: CONTINUE_URL, email: workspace.ownerEmail })]);
    expect(stored[0]!.ttl - Date.now() / 1000).toBeGreaterThan(29 * 60);
    expect(stored[0]!.ttl - Date.now() / 1000).toBeLessThan(31 * 60);
  });

  test('has a token that is in no log line', async () => {
    const workspace = await newWorkspace();
    const written: string[] = [];
    for (const stream of [process.stdout, process.stderr])
      jest.spyOn(stream, 'write').mockImplementation((chunk) => written.push(String(chunk)) > 0);
    for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const)
      jest.spyOn(console, method).mockImplementation((...values) => {
        written.push(...values.map(String));
      });
    // A logger reads its level when it is created, so the test needs new handlers.
    const { infoHandlers } = await loggingHandlers();
    await sendLink(workspace.ownerEmail, CONTINUE_URL, infoHandlers.send);
    const token = tokenIn(engine.mails[0]!.text);
    await openLink(token, { handler: infoHandlers.page });
    await pressButton(token, infoHandlers.page);
    jest.restoreAllMocks();
    const log = written.join('');
    expect(log).toContain('workspace owner verified');
    for (const secret of [token, encodeURIComponent(token), workspace.ownerEmail]) expect(log).not.toContain(secret);
  });
});

/** Imports the handlers again. They log at level INFO. */
async function loggingHandlers() {
  process.env.POWERTOOLS_LOG_LEVEL = 'INFO';
  jest.resetModules();
  const [send, page] = [
    await import('../../../functions/v2/workspace/email/send-login-link.ts'),
    await import('../../../functions/v2/workspace/email/verify.ts'),
  ];
  return { infoHandlers: { send: send.handler, page: page.handler } };
}

describe('continueUrl of POST /v2/workspace/email/send-login-link', () => {
  // Its rules are in test/unit/mail/email.test.ts.
  test.each([
    ['an http(s) URL', 'nowhere', 'Invalid url for continueUrl'],
    ['without a user name', 'https://api.test@evil.net/', 'continueUrl must not contain a user name or password'],
    ['on an allowed domain of the workspace', 'https://theirs.example', 'The continueUrl domain is not allowed.'],
  ])('must be %s, otherwise no mail is sent', async (_what, continueUrl, message) => {
    const [workspace, other] = [await newWorkspace(), await newWorkspace()];
    await allow(workspace.apiKey, ['app.example.com']);
    await allow(other.apiKey, ['theirs.example']);
    const { status, body } = await sendLink(workspace.ownerEmail, continueUrl);
    expect([status, body.error, engine.mails]).toEqual([
      400,
      expect.objectContaining({
        status: 'INVALID_ARGUMENT',
        message,
        details: { issues: [expect.objectContaining({ path: ['continueUrl'] })] },
      }),
      [],
    ]);
  });

  test('may be on an allowed domain of any API key of the workspace, or on the service itself', async () => {
    const workspace = await newWorkspace();
    const second = (await newApiKey(workspace)).apiKey;
    await allow(workspace.apiKey, ['app.example.com']);
    await allow(second, ['*.example.org']);
    for (const url of ['https://app.example.com/a?b=c', 'https://x.example.org', 'https://api.test/x'])
      expect(await sendLink(workspace.ownerEmail, url)).toMatchObject({ status: 200, body: SENT });
    expect(engine.mails).toHaveLength(3);
  });
});

describe('POST /v2/workspace/email/send-login-link for an address without a workspace', () => {
  test.each([CONTINUE_URL, 'https://evil.net/', 'nowhere'])(
    'returns for %s the same response as for an address with a workspace, and sends no mail',
    async (continueUrl) => {
      const { ownerEmail } = await newWorkspace();
      const ofOwner = await sendLink(ownerEmail, continueUrl);
      engine.mails.length = 0;
      const unknown = await sendLink(someone(), continueUrl);
      expect({ status: unknown.status, body: unknown.body }).toEqual({ status: ofOwner.status, body: ofOwner.body });
      expect(Object.keys(unknown.headers).sort()).toEqual(Object.keys(ofOwner.headers).sort());
      expect(engine.mails).toEqual([]);
    },
  );

  test('does not store the address', async () => {
    const email = someone();
    await sendLink(email, CONTINUE_URL);
    const items = (await everyItem(engine)).filter((item) => item._t !== 'RateLimit');
    expect(JSON.stringify(items)).not.toContain(email);
  });
});

describe('POST /v2/workspace/email/send-login-link', () => {
  test.each([
    ['a word', 'nobody', 'email must be an e-mail address'],
    ['of a disposable mail service', 'ada@mailinator.com', 'This email domain is not supported.'],
  ])('rejects an address that is %s', async (_what, email, message) => {
    expect(errorOf(await sendLink(email, CONTINUE_URL))).toEqual([400, 'INVALID_ARGUMENT', message]);
  });

  test('returns FAILED_PRECONDITION for every address if the operator has not set mailFrom', async () => {
    const { ownerEmail } = await newWorkspace();
    const mute = endpointHandler(endpoint, { MAIL_FROM: '' });
    const answers = [await sendLink(ownerEmail, CONTINUE_URL, mute), await sendLink(someone(), CONTINUE_URL, mute)];
    for (const { status, body } of answers) {
      expect({ status, body }).toEqual({
        status: 400,
        body: {
          error: {
            status: 'FAILED_PRECONDITION',
            message: 'This service cannot send mail: its operator has not set mailFrom.',
          },
        },
      });
    }
  });

  test.each([
    ['TooManyRequestsException', 503, 'UNAVAILABLE'],
    ['MessageRejected', 500, 'INTERNAL'],
  ])('returns for the SES error %s the HTTP status %i', async (name, status, error) => {
    const { ownerEmail } = await newWorkspace();
    jest.spyOn(SesMailer.prototype, 'send').mockRejectedValueOnce(Object.assign(new Error('secret detail'), { name }));
    const answer = await sendLink(ownerEmail, CONTINUE_URL);
    expect({ status: answer.status, error: answer.body.error.status }).toEqual({ status, error });
    expect(JSON.stringify(answer.body)).not.toContain('secret detail');
  });
});

describe('the rate limits of login links', () => {
  const START = Math.ceil(Date.now() / 3_600_000) * 3_600_000;
  let addresses = 0;
  const sourceIp = () => `198.51.100.${++addresses}`;
  const limited = (perAddress: number, perEmail: number) =>
    endpointHandler(endpoint, {
      EMAIL_STATUS_PER_MINUTE_PER_ADDRESS: String(perAddress),
      LOGIN_LINKS_PER_HOUR_PER_EMAIL: String(perEmail),
    });

  test.each([
    ['does not count if SES is down', { $metadata: { httpStatusCode: 503 } }, 200],
    ['does not count if SES cannot be reached', { code: 'ECONNREFUSED' }, 200],
    ['counts if SES may have sent the mail', { name: 'TimeoutError' }, 429],
    ['counts if SES rejects the mail', { name: 'MessageRejected', $metadata: { httpStatusCode: 400 } }, 429],
  ])('count requests per hour and e-mail address: one that fails %s', async (_what, error, status) => {
    const [{ ownerEmail }, limitedHandler] = [await newWorkspace(), limited(1_000, 1)];
    jest.spyOn(Date, 'now').mockReturnValue(START);
    const call = async () =>
      (await postFrom(sourceIp(), limitedHandler, { email: ownerEmail, continueUrl: CONTINUE_URL })).status;
    jest.spyOn(SesMailer.prototype, 'send').mockRejectedValueOnce(Object.assign(new Error(), error));
    expect(await call()).toBeGreaterThanOrEqual(500);
    expect([await call(), await call()]).toEqual([status, 429]);
  });
});
