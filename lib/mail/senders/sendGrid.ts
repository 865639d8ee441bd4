import * as http from 'node:http';
import * as https from 'node:https';
import { addressAttempts } from '../../net/addressAttempts.ts';
import type { MailResult } from '../rules/mailRecord.ts';
import { type MailSender, type OutgoingMail, unanswered } from './sender.ts';

const SENDGRID = 'https://api.sendgrid.com';

const TIMEOUT_MILLISECONDS = 15_000;

export interface SendGridAccount {
  readonly apiKey: string;
  readonly from: { readonly email: string; readonly name?: string | undefined };
}

export class SendGridSender implements MailSender {
  readonly #account: SendGridAccount;
  readonly #base: string;
  readonly #now: () => number;

  constructor(account: SendGridAccount, base = SENDGRID, now: () => number = Date.now) {
    this.#account = account;
    this.#base = base;
    this.#now = now;
  }

  async send(mail: OutgoingMail): Promise<MailResult> {
    const answer = await post(
      new URL('/v3/mail/send', this.#base),
      this.#account.apiKey,
      JSON.stringify(bodyOf(mail, this.#account)),
    );
    return 'status' in answer ? this.#resultOf(answer) : answer;
  }

  #resultOf({ status, headers }: Answer): MailResult {
    const reason = `SendGrid answered ${status}`;
    if (status >= 200 && status < 300) return { outcome: 'sent', messageId: String(headers['x-message-id'] ?? '') };
    if (status === 429)
      return { outcome: 'throttled', reason, retryAfterSeconds: this.#secondsUntil(headers['x-ratelimit-reset']) };
    // SendGrid answers 403 also for an unverified sender address. The customer must correct the key or the address.
    if (status === 401 || status === 403) return { outcome: 'denied', reason };
    return { outcome: 'failed', reason, retry: status >= 500 };
  }

  /** `reset` is in epoch seconds. Returns 0 for another value or an earlier time. */
  #secondsUntil(reset: unknown): number {
    const seconds = Number(reset) - this.#now() / 1000;
    return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : 0;
  }
}

function bodyOf(
  { to, toName, subject, text: plain, html, headers = {}, mailId, sender, template }: OutgoingMail,
  { from }: SendGridAccount,
): object {
  const name = from.name ?? sender.name;
  return {
    personalizations: [
      {
        to: [{ email: to, ...(toName && { name: toName }) }],
        ...(template && { dynamic_template_data: template.data }),
      },
    ],
    from: { email: from.email, ...(name && { name }) },
    ...(template
      ? { template_id: template.id }
      : {
          subject,
          content: [
            { type: 'text/plain', value: plain },
            { type: 'text/html', value: html },
          ],
        }),
    headers,
    custom_args: { mailId },
  };
}

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
}

/** Posts once, over a new connection: after a failure on a reused one, it is unknown whether SendGrid has the mail. */
function post(url: URL, apiKey: string, body: string): Promise<Answer | MailResult> {
  return new Promise((resolve) => {
    const secure = url.protocol === 'https:';
    let connected = false;
    const request = (secure ? https.request : http.request)(url, {
      ...addressAttempts,
      method: 'POST',
      agent: false,
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        accept: 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    });
    request.on('socket', (socket) => socket.once(secure ? 'secureConnect' : 'connect', () => (connected = true)));
    request.on('error', (error) => resolve(unanswered(error, connected)));
    request.on('response', (response) => {
      // The body can contain the recipient's address, and the status is enough.
      response.on('error', () => undefined).resume();
      resolve({ status: response.statusCode ?? 0, headers: response.headers });
    });
    request.end(body);
  });
}
