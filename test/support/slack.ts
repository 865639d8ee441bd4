import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SLACK, slackStandIn } from '../../infra/local/chat/slack.ts';
import { SlackClient } from '../../lib/chat/slackClient.ts';
import type { AttemptResult } from '../../lib/webhooks/rules/outcome.ts';
import type { WebhookClient } from '../../lib/webhooks/transport/send.ts';

const BASE = 'http://slack.test';
/** An incoming webhook of the stand-in. It passes the check of a deployment. */
export const CHANNEL_URL = 'https://hooks.slack.com/services/T1/B1/channel';

/** The stand-in of Slack's API without a connection, and a client of it. */
export class TestSlack {
  /** The calls, such as `chat.postMessage`, oldest first. */
  readonly calls: string[] = [];
  /** What the next calls answer instead of the stand-in, in order. */
  readonly results: Partial<AttemptResult>[] = [];
  readonly client: SlackClient;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = join(folder, 'outbox', 'slack');
    const standIn = slackStandIn(folder);
    const post: WebhookClient['post'] = async ({ url, headers, body }) => {
      const { pathname } = new URL(url);
      this.calls.push(pathname.split('/').at(-1)!);
      const planned = this.results.shift();
      if (planned) return { outcome: 'failed', durationMs: 1, ...planned };
      const answer = await standIn({
        method: 'POST',
        path: `${SLACK}${pathname}`,
        query: new URLSearchParams(),
        headers,
        body: Buffer.from(body),
      });
      const retryAfter = answer.headers['retry-after'];
      return {
        outcome: answer.status === 200 ? 'delivered' : 'failed',
        durationMs: 1,
        responseStatus: answer.status,
        responseBody: answer.body,
        ...(retryAfter !== undefined && { retryAfterSeconds: Number(retryAfter) }),
      };
    };
    this.client = new SlackClient({ post }, `${BASE}/api`);
  }

  /** The messages that Slack has, oldest first. */
  get messages(): any[] {
    if (!existsSync(this.#folder)) return [];
    const files = readdirSync(this.#folder).sort();
    return files.map((file) => JSON.parse(readFileSync(join(this.#folder, file), 'utf8')) as unknown);
  }

  clear(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
