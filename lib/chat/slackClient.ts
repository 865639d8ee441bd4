import { type Capability, combine } from '../app/capability.ts';
import type { MailResult } from '../mail/rules/mailRecord.ts';
import { isUnsent } from '../webhooks/transport/failures.ts';
import { type WebhookClient, webhookClient } from '../webhooks/transport/send.ts';
import { methodAnswer, type Refused, type SlackAnswer, webhookResult } from './rules/slackAnswer.ts';

export interface SlackMessage {
  readonly text: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';
/** A link that Slack fetches for a preview would tell its page that the message was sent. */
const withoutPreviews = { unfurl_links: false, unfurl_media: false };

/** Failures of Slack are results. Throws only on internal errors. */
export class SlackClient {
  readonly #http: WebhookClient;
  readonly #apiUrl: string;

  constructor(http: WebhookClient, apiUrl: string) {
    this.#http = http;
    this.#apiUrl = apiUrl;
  }

  /** The id of the channel in which the app writes to one user. `unknown` if nobody in the workspace has the address. */
  async openDirectChannel(token: string, email: string): Promise<{ readonly channelId: string } | 'unknown' | Refused> {
    const found = await this.#call(token, 'users.lookupByEmail', `email=${encodeURIComponent(email)}`);
    if ('outcome' in found) return found.reason.endsWith(' users_not_found') ? 'unknown' : repeatable(found);
    const opened = await this.#call(token, 'conversations.open', { users: found.body.user?.id });
    if ('outcome' in opened) return repeatable(opened);
    const { channel } = opened.body;
    return { channelId: typeof channel === 'object' ? channel.id : '' };
  }

  async post(token: string, channelId: string, message: SlackMessage): Promise<MailResult> {
    const sent = await this.#call(token, 'chat.postMessage', { channel: channelId, ...withoutPreviews, ...message });
    return 'outcome' in sent ? sent : { outcome: 'sent', messageId: sent.body.ts ?? '' };
  }

  async postToWebhook(url: string, message: SlackMessage): Promise<MailResult> {
    const body = JSON.stringify({ ...withoutPreviews, ...message });
    return webhookResult(await this.#post(url, { 'content-type': JSON_TYPE }, body));
  }

  /** `users.lookupByEmail` takes no JSON. */
  async #call(token: string, method: string, data: object | string): Promise<ReturnType<typeof methodAnswer>> {
    const isForm = typeof data === 'string';
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': isForm ? 'application/x-www-form-urlencoded' : JSON_TYPE,
    };
    return methodAnswer(await this.#post(`${this.#apiUrl}/${method}`, headers, isForm ? data : JSON.stringify(data)));
  }

  async #post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<SlackAnswer> {
    const result = await this.#http.post({ url, headers, body });
    const { responseStatus, responseBody, retryAfterSeconds, error = 'no answer' } = result;
    if (responseStatus === undefined) return isUnsent(result) ? { unsent: error } : { unanswered: error };
    return { status: responseStatus, text: Buffer.from(responseBody ?? []).toString(), retryAfterSeconds };
  }
}

/** A look-up changes nothing, so its result does not matter if it is unknown. */
function repeatable(refused: Refused): Refused {
  return refused.outcome === 'unknown' ? { outcome: 'failed', reason: refused.reason, retry: true } : refused;
}

export const slackClient: Capability<SlackClient> = /* @__PURE__ */ combine(
  { http: webhookClient },
  ({ http }, { SLACK_API_URL }) => new SlackClient(http, SLACK_API_URL),
  ['SLACK_API_URL'],
);
