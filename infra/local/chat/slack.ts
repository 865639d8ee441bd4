import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalRequest } from '../gateway/gateway.ts';
import { type GatewayResponse, gatewayResponse } from '../gateway/httpApiResponse.ts';
import { writePrivateJson } from '../privateFile.ts';

/** Below it are `api/<method>` of the Web API and `services/<any path>` of incoming webhooks. */
export const SLACK = '/_local/slack';

/** Bot tokens that fail. All others work. */
const failures: Readonly<Record<string, () => GatewayResponse>> = {
  'xoxb-dead': () => refused('invalid_auth'),
  'xoxb-busy': () => ({ ...refused('ratelimited'), status: 429, headers: { 'retry-after': '1' } }),
  'xoxb-down': () => gatewayResponse(503, 'Service Unavailable'),
};

/** Users of these addresses are not in the workspace of Slack. */
const UNKNOWN_USER = /^nobody@/;

/**
 * Stands for Slack: each message is a JSON file in `outbox/slack`. The ids of users and channels contain the address, so
 * the ids that the service remembers stay valid after a restart.
 */
export function slackStandIn(dataDir: string): (request: LocalRequest) => Promise<GatewayResponse> {
  const dir = join(dataDir, 'outbox', 'slack');
  let count = 0;
  const put = async (message: object) => {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const time = new Date().toISOString().replace(/[-:.]/g, '');
    await writePrivateJson(join(dir, `${time}-${String(++count).padStart(6, '0')}.json`), message);
  };

  async function answerMethod(method: string, token: string, input: Record<string, unknown>): Promise<GatewayResponse> {
    const failure = Object.hasOwn(failures, token) ? failures[token] : undefined;
    if (failure) return failure();
    if (!token.includes('xoxb-')) return refused('not_authed');
    switch (method) {
      case 'users.lookupByEmail': {
        const email = String(input.email);
        return UNKNOWN_USER.test(email) ? refused('users_not_found') : done({ user: { id: `U${encode(email)}` } });
      }
      case 'conversations.open':
        return done({ channel: { id: String(input.users).replace(/^U/, 'D') } });
      case 'chat.postMessage': {
        const { channel, ...message } = input;
        const email = decode(String(channel));
        if (email === undefined) return refused('channel_not_found');
        await put({ to: email, ...message });
        return done({ channel, ts: String(Date.now() / 1000) });
      }
      default:
        return refused('unknown_method');
    }
  }

  return async ({ path, headers, body }) => {
    const target = path.slice(SLACK.length);
    const text = body.toString();
    if (target.startsWith('/services/')) {
      if (target === '/services/dead') return gatewayResponse(404, 'no_service');
      await put({ channelWebhook: target, ...(JSON.parse(text) as object) });
      return gatewayResponse(200, 'ok');
    }
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded');
    const input = (isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text)) as Record<
      string,
      unknown
    >;
    const token = (headers.authorization ?? '').replace(/^Bearer /, '');
    return answerMethod(target.replace(/^\/api\//, ''), token, input);
  };
}

function encode(email: string): string {
  return Buffer.from(email).toString('hex').toUpperCase();
}

function decode(channelId: string): string | undefined {
  const [, hex] = /^D((?:[0-9A-F]{2})+)$/.exec(channelId) ?? [];
  return hex === undefined ? undefined : Buffer.from(hex, 'hex').toString();
}

function done(fields: object): GatewayResponse {
  return json({ ok: true, ...fields });
}

function refused(error: string): GatewayResponse {
  return json({ ok: false, error });
}

function json(value: object): GatewayResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) };
}
