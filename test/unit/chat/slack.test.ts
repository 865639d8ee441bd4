import { describe, expect, test } from '@jest/globals';
import { methodAnswer, type SlackAnswer, webhookResult } from '../../../lib/chat/rules/slackAnswer.ts';
import { isUnsent, refusals, timeouts, toFailure } from '../../../lib/webhooks/transport/failures.ts';
import { CHANNEL_URL, TestSlack } from '../../support/slack.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const folder = temporaryFolder();
const answered = (text: string, status = 200, retryAfterSeconds?: number): SlackAnswer => ({
  status,
  text,
  retryAfterSeconds,
});
const error = (code: string) => answered(JSON.stringify({ ok: false, error: code }));

describe('methodAnswer', () => {
  const failed = (retry: boolean) => ({ outcome: 'failed', retry });
  test.each<[string, SlackAnswer, object]>([
    ['a success', answered('{"ok":true,"ts":"1.2"}'), { body: { ok: true, ts: '1.2' } }],
    ['a success that is cut off', answered('{"ok":true,"message":{"te'), { body: { ok: true } }],
    ['another text', answered('<html>'), failed(false)],
    ['another JSON', answered('[]'), failed(false)],
    ['an invalid token', error('invalid_auth'), { outcome: 'denied', reason: 'Slack answered invalid_auth' }],
    ['a disabled account', error('account_inactive'), { outcome: 'denied' }],
    ['a revoked token', error('token_revoked'), { outcome: 'denied' }],
    ['no token', error('not_authed'), { outcome: 'denied' }],
    ['a token without the scope', error('missing_scope'), { outcome: 'denied' }],
    ['a channel that does not exist', error('channel_not_found'), failed(false)],
    ['an internal error', error('internal_error'), failed(true)],
    ['a limit in the body', error('ratelimited'), { outcome: 'throttled' }],
    ['a limit in the status', answered('', 429, 30), { outcome: 'throttled', retryAfterSeconds: 30 }],
    ['an outage', answered('', 503), failed(true)],
    ['a refused connection', { unsent: 'connection refused' }, failed(true)],
    ['no answer', { unanswered: 'no answer in time' }, { outcome: 'unknown' }],
    ['a text that a log must not have', error('Ada <ada@example.com>'), { reason: 'Slack answered with status 200' }],
  ])('maps %s', (_what, answer, expected) => {
    expect(methodAnswer(answer)).toMatchObject(expected);
  });
});

describe('webhookResult', () => {
  test.each<[string, SlackAnswer, object]>([
    ['a success', answered('ok'), { outcome: 'sent' }],
    ['a deleted webhook', answered('no_service', 404), { outcome: 'denied', reason: 'Slack answered no_service' }],
    ['an archived channel', answered('channel_is_archived', 410), { outcome: 'denied' }],
    ['a forbidden post', answered('action_prohibited', 403), { outcome: 'denied' }],
    ['an invalid message', answered('invalid_payload', 400), { outcome: 'failed', retry: false }],
    ['a redirect', answered('', 302), { outcome: 'failed', retry: false }],
    ['a limit', answered('', 429, 5), { outcome: 'throttled', retryAfterSeconds: 5 }],
    ['an outage', answered('', 500), { outcome: 'failed', retry: true }],
    ['no answer', { unanswered: 'no answer in time' }, { outcome: 'unknown' }],
  ])('maps %s', (_what, answer, expected) => {
    expect(webhookResult(answer)).toMatchObject(expected);
  });
});

test.each([
  [refusals.address, true],
  [timeouts.connecting, true],
  [toFailure({ code: 'ECONNREFUSED' } as never), true],
  [toFailure({ code: 'DNS_ENOTFOUND' } as never), true],
  [toFailure({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' } as never), true],
  [timeouts.waiting, false],
  [timeouts.reading, false],
  [toFailure({ code: 'ECONNRESET' } as never), false],
])('isUnsent knows whether the receiver can have the request: %j', (failure, expected) => {
  expect(isUnsent(failure)).toBe(expected);
});

describe('SlackClient', () => {
  test('finds a user by the address, and posts into the direct channel', async () => {
    const slack = new TestSlack(folder);
    const opened = await slack.client.openDirectChannel('xoxb-1', 'ada+x@example.com');
    expect(opened).toMatchObject({ channelId: expect.stringMatching(/^D/) });
    const { channelId } = opened as { channelId: string };
    expect(await slack.client.post('xoxb-1', channelId, { text: 'Hello' })).toMatchObject({ outcome: 'sent' });
    expect(await slack.client.postToWebhook(CHANNEL_URL, { text: 'All' })).toMatchObject({ outcome: 'sent' });
    expect(slack.messages).toEqual([
      { to: 'ada+x@example.com', text: 'Hello', unfurl_links: false, unfurl_media: false },
      { channelWebhook: '/services/T1/B1/channel', text: 'All', unfurl_links: false, unfurl_media: false },
    ]);
  });

  test('says that nobody has an address', async () => {
    expect(await new TestSlack(folder).client.openDirectChannel('xoxb-1', 'nobody@example.com')).toBe('unknown');
  });

  test.each([
    ['xoxb-dead', { outcome: 'denied', reason: 'Slack answered invalid_auth' }],
    ['xoxb-busy', { outcome: 'throttled', retryAfterSeconds: 1 }],
    ['xoxb-down', { outcome: 'failed', retry: true }],
  ])('returns how the stand-in fails with the token %s', async (token, expected) => {
    const { client } = new TestSlack(folder);
    expect(await client.openDirectChannel(token, 'ada@example.com')).toMatchObject(expected);
    expect(await client.post(token, 'D00', { text: 'x' })).toMatchObject(expected);
  });

  test('repeats a look-up whose answer was lost, but not a message', async () => {
    const slack = new TestSlack(folder);
    slack.results.push({ error: timeouts.waiting.error }, { error: timeouts.waiting.error });
    expect(await slack.client.openDirectChannel('xoxb-1', 'ada@example.com')).toMatchObject({ retry: true });
    expect(await slack.client.post('xoxb-1', 'D00', { text: 'x' })).toMatchObject({ outcome: 'unknown' });
  });
});
