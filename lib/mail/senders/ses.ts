import { SendEmailCommand, type SendEmailCommandInput, SESv2Client } from '@aws-sdk/client-sesv2';
import type { Capability } from '../../app/capability.ts';
import { clientSettings } from '../../app/sdkSettings.ts';
import type { MailResult } from '../rules/mailRecord.ts';
import { mailbox } from './mailbox.ts';
import { type Mail, type MailSender, type OutgoingMail, unanswered } from './sender.ts';

/** A limit of SES is exceeded, per second or per day. */
const THROTTLED: ReadonlySet<string> = new Set([
  'TooManyRequestsException',
  'LimitExceededException',
  'ThrottlingException',
  'Throttling',
]);
/** The connection could not be opened. */
const UNREACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** The operator must change something in SES. The mails can be sent after that. */
const OPERATOR: ReadonlySet<string> = new Set([
  'AccountSuspendedException',
  'SendingPausedException',
  'MailFromDomainNotVerifiedException',
]);

function sesInput(from: string, { to, subject, text, html, headers = {} }: Mail): SendEmailCommandInput {
  return {
    FromEmailAddress: from,
    Destination: { ToAddresses: [to] },
    Content: {
      Simple: {
        Subject: utf8(subject),
        Body: { Text: utf8(text), Html: utf8(html) },
        Headers: Object.entries(headers).map(([Name, Value]) => ({ Name, Value })),
      },
    },
  };
}

function utf8(Data: string): { Data: string; Charset: string } {
  return { Data, Charset: 'UTF-8' };
}

/**
 * Sends through Amazon SES from the operator's address, the only one that SES accepts. Replies go to the customer's address. Every mail has a
 * connection of its own and is not retried by the SDK: after a failure on a connection that was idle while the function slept, nobody could know
 * whether SES accepted the mail.
 */
export class SesSender implements MailSender {
  readonly #from: string;
  readonly #client: Pick<SESv2Client, 'send'>;

  constructor(
    from: string,
    client: Pick<SESv2Client, 'send'> = new SESv2Client({
      maxAttempts: 1,
      requestHandler: {
        connectionTimeout: 2_000,
        requestTimeout: 10_000,
        throwOnRequestTimeout: true,
        httpAgent: { keepAlive: false },
        httpsAgent: { keepAlive: false },
      },
    }),
  ) {
    this.#from = from;
    this.#client = client;
  }

  async send(mail: OutgoingMail): Promise<MailResult> {
    const { name, address } = mail.sender;
    try {
      const { MessageId = '' } = await this.#client.send(
        new SendEmailCommand({
          ...sesInput(mailbox(this.#from, name), mail),
          ...(address && { ReplyToAddresses: [address] }),
          // SES repeats the tags in the events that it publishes about the mail.
          EmailTags: [{ Name: 'mailId', Value: mail.mailId }],
        }),
      );
      return { outcome: 'sent', messageId: MessageId };
    } catch (error) {
      return failureOf(error);
    }
  }
}

/** Returns the result for an error of the SDK. With a status, SES has answered. The reason is the error's name, because its message can contain the address. */
function failureOf(error: unknown): MailResult {
  const {
    name: reason = 'Error',
    code = '',
    $metadata: { httpStatusCode: status } = {},
  } = error as { name?: string; code?: string; $metadata?: { httpStatusCode?: number } };
  if (status === undefined) return unanswered(error, !UNREACHED.has(code));
  if (status === 429 || THROTTLED.has(reason)) return { outcome: 'throttled', reason };
  return {
    outcome: 'failed',
    reason,
    retry: status >= 500 || status === 401 || status === 403 || OPERATOR.has(reason),
  };
}

/** Sends login links through Amazon SES, with the retries of the SDK. A retried mail can arrive twice, because SES has no idempotency key. */
export class SesMailer {
  readonly #from: string;
  readonly #client: SESv2Client;

  constructor(from: string, client = new SESv2Client(clientSettings)) {
    this.#from = from;
    this.#client = client;
  }

  /** Sends a mail and returns the id that SES gave it. Throws what the SDK throws. */
  async send(mail: Mail): Promise<{ messageId: string }> {
    const { MessageId = '' } = await this.#client.send(new SendEmailCommand(sesInput(this.#from, mail)));
    return { messageId: MessageId };
  }
}

function sesCapability<T>(open: (from: string) => T): Capability<T | undefined> {
  return {
    grants: [{ resource: 'mail/identity', actions: ['SendEmail'] }],
    env: ['MAIL_FROM'],
    open: (env) => (env.MAIL_FROM === '' ? undefined : open(env.MAIL_FROM)),
  };
}

/** Send the mails of events and to owners. Undefined when the operator has not set `mailFrom`. */
export const sesSender: Capability<MailSender | undefined> = /* @__PURE__ */ sesCapability(
  (from) => new SesSender(from),
);

/** Send login links. Undefined when the operator has not set `mailFrom`. */
export const mailer: Capability<SesMailer | undefined> = /* @__PURE__ */ sesCapability((from) => new SesMailer(from));
