import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import type { Capability } from '../../app/capability.ts';
import type { MailResult } from '../rules/mail.ts';
import { sesInput } from './mailer.ts';
import { mailbox } from './mailbox.ts';
import { type MailSender, type OutgoingMail, unanswered } from './sender.ts';

/** More than SES allows at the time, in a second or in a day. */
const TOO_MUCH: ReadonlySet<string> = new Set([
  'TooManyRequestsException',
  'LimitExceededException',
  'ThrottlingException',
  'Throttling',
]);
/** What goes wrong before there is a connection. */
const UNREACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** What the operator has to put in order; the mails are all right. */
const OPERATOR: ReadonlySet<string> = new Set([
  'AccountSuspendedException',
  'SendingPausedException',
  'MailFromDomainNotVerifiedException',
]);

/**
 * Sends through Amazon SES, from the operator's address, which is the only one that SES lets it send from: the customer's is where
 * answers go. Each mail goes once and over a connection of its own: on one that was kept while the function slept, nobody could tell
 * a mail that was taken from one that was not.
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
          // They come back in what SES publishes of the mail, where the operator has that sent somewhere.
          EmailTags: [{ Name: 'mailId', Value: mail.mailId }],
        }),
      );
      return { outcome: 'sent', messageId: MessageId };
    } catch (error) {
      return failureOf(error);
    }
  }
}

/** What an error of the SDK means: with a status SES has answered. Its text can repeat the address, so the name has to do. */
function failureOf(error: unknown): MailResult {
  const {
    name: reason = 'Error',
    code = '',
    $metadata: { httpStatusCode: status } = {},
  } = error as { name?: string; code?: string; $metadata?: { httpStatusCode?: number } };
  if (status === undefined) return unanswered(error, !UNREACHED.has(code));
  if (status === 429 || TOO_MUCH.has(reason)) return { outcome: 'putOff', reason };
  return {
    outcome: 'failed',
    reason,
    again: status >= 500 || status === 401 || status === 403 || OPERATOR.has(reason),
  };
}

/** Send through the operator's SES. Undefined where the operator has not said from which address. */
export const sesSender: Capability<MailSender | undefined> = {
  grants: [{ resource: 'mail/identity', actions: ['SendEmail'] }],
  env: ['MAIL_FROM'],
  open: (env) => (env.MAIL_FROM === '' ? undefined : new SesSender(env.MAIL_FROM)),
};
