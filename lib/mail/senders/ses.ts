import { SendEmailCommand, type SendEmailCommandInput, SESv2Client } from '@aws-sdk/client-sesv2';
import type { Capability } from '../../app/capability.ts';
import { clientSettings } from '../../app/sdkSettings.ts';
import { noteOutage } from '../../observability/dependencies.ts';
import { neverConnectedCodes } from '../../shared/connectionErrors.ts';
import { lazy } from '../../shared/lazy.ts';
import type { MailResult } from '../rules/mailRecord.ts';
import { mailbox } from './mailbox.ts';
import { type Mail, type MailSender, type OutgoingMail, unanswered } from './sender.ts';

/** The errors of SES for an exceeded limit per second or per day. */
const THROTTLED: ReadonlySet<string> = new Set([
  'TooManyRequestsException',
  'LimitExceededException',
  'ThrottlingException',
  'Throttling',
]);
/**
 * The start of the message with which SES rejects a mail because its sender is not verified. In the sandbox of SES, also because
 * its recipient is not. Other rejections have the same name.
 */
const NOT_VERIFIED = 'Email address is not verified';

/** The errors that the operator can correct in SES. After that, a retry succeeds. */
const OPERATOR: ReadonlySet<string> = new Set([
  'AccountSuspendedException',
  'SendingPausedException',
  'MailFromDomainNotVerifiedException',
  NOT_VERIFIED,
]);

const ownConnection = { httpAgent: { keepAlive: false }, httpsAgent: { keepAlive: false } } as const;

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
 * Sends mails through Amazon SES from the operator's address, because SES accepts no other sender. Replies go to the customer's
 * address.
 *
 * Every mail has its own connection, and the SDK does not retry it. An idle connection can break while Lambda freezes the function.
 * After a failure on such a connection, it would be unknown whether SES accepted the mail.
 */
export class SesSender implements MailSender {
  readonly #from: string;
  readonly #openClient: () => Pick<SESv2Client, 'send'>;

  constructor(
    from: string,
    openClient: () => Pick<SESv2Client, 'send'> = lazy(
      () =>
        new SESv2Client({
          maxAttempts: 1,
          requestHandler: {
            connectionTimeout: 2_000,
            requestTimeout: 10_000,
            throwOnRequestTimeout: true,
            ...ownConnection,
          },
        }),
    ),
  ) {
    this.#from = from;
    this.#openClient = openClient;
  }

  async send(mail: OutgoingMail): Promise<MailResult> {
    const { name, address } = mail.sender;
    try {
      const { MessageId = '' } = await this.#openClient().send(
        new SendEmailCommand({
          ...sesInput(mailbox(this.#from, name), mail),
          ...(address && { ReplyToAddresses: [address] }),
          // SES repeats these tags in its reports about the mail.
          EmailTags: [{ Name: 'mailId', Value: mail.mailId }],
        }),
      );
      return { outcome: 'sent', messageId: MessageId };
    } catch (error) {
      return failureOf(error);
    }
  }
}

/**
 * Returns the result for an error of the SDK. An error with a status is a response of SES. `reason` is the error's name or a
 * constant, because the message can contain the recipient's address.
 */
function failureOf(error: unknown): MailResult {
  const {
    name = 'Error',
    message = '',
    code = '',
    $metadata: { httpStatusCode: status } = {},
  } = error as { name?: string; message?: string; code?: string; $metadata?: { httpStatusCode?: number } };
  if (status === undefined) return unanswered(error, !neverConnectedCodes.has(code));
  if (status === 429 || THROTTLED.has(name)) return { outcome: 'throttled', reason: name };
  const reason = message.startsWith(NOT_VERIFIED) ? NOT_VERIFIED : name;
  return {
    outcome: 'failed',
    reason,
    retry: status >= 500 || status === 401 || status === 403 || OPERATOR.has(reason),
  };
}

/**
 * Returns whether an error of `SesMailer` means that SES has certainly not sent the mail, and that a later call can succeed. After
 * a timeout, SES may have sent the mail.
 */
export function isUnsent(error: unknown): boolean {
  const result = failureOf(error);
  return result.outcome === 'throttled' || (result.outcome === 'failed' && result.retry);
}

/**
 * Sends login links through Amazon SES. As in `SesSender`, every mail has its own connection, and the SDK does not retry it. If it
 * did, the error would not show whether an earlier try has sent the mail.
 */
export class SesMailer {
  readonly #from: string;
  readonly #openClient = lazy(
    () => new SESv2Client({ maxAttempts: 1, requestHandler: { ...clientSettings.requestHandler, ...ownConnection } }),
  );

  constructor(from: string) {
    this.#from = from;
  }

  /** Sends a mail and returns the id that SES gave it. Throws errors of the SDK. */
  async send(mail: Mail): Promise<{ messageId: string }> {
    try {
      const { MessageId = '' } = await this.#openClient().send(new SendEmailCommand(sesInput(this.#from, mail)));
      return { messageId: MessageId };
    } catch (error) {
      const result = failureOf(error);
      if (result.outcome === 'failed' && result.retry) noteOutage('mail');
      throw error;
    }
  }
}

function sesCapability<T>(open: (from: string) => T): Capability<T | undefined> {
  return {
    grants: [{ resource: 'mail/identity', actions: ['SendEmail'] }],
    env: ['MAIL_FROM'],
    open: (env) => (env.MAIL_FROM === '' ? undefined : open(env.MAIL_FROM)),
  };
}

/** Sends mails about events and mails to owners. Undefined if the operator has not set `mailFrom`. */
export const sesSender: Capability<MailSender | undefined> = /* @__PURE__ */ sesCapability(
  (from) => new SesSender(from),
);

/** Sends login links. Undefined if the operator has not set `mailFrom`. */
export const mailer: Capability<SesMailer | undefined> = /* @__PURE__ */ sesCapability((from) => new SesMailer(from));
