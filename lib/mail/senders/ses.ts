import { SendEmailCommand, type SendEmailCommandInput, SESv2Client } from '@aws-sdk/client-sesv2';
import type { Capability } from '../../app/capability.ts';
import { clientSettings } from '../../app/sdkSettings.ts';
import { noteOutage } from '../../observability/dependencies.ts';
import { neverConnectedCodes } from '../../shared/connectionErrors.ts';
import { lazy } from '../../shared/lazy.ts';
import type { MailResult } from '../rules/mailRecord.ts';
import { mailbox } from './mailbox.ts';
import { type Mail, type MailSender, type OutgoingMail, unanswered } from './sender.ts';

const THROTTLED: ReadonlySet<string> = new Set([
  'TooManyRequestsException',
  'LimitExceededException',
  'ThrottlingException',
  'Throttling',
]);
/** The sender is not verified, or in the sandbox the recipient. Other rejections have the same name. */
const NOT_VERIFIED = 'Email address is not verified';

/** Errors that the operator can correct in SES. A retry can then succeed. */
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
 * SES accepts only the operator's address as sender, so replies go to the customer's. Every mail has its own
 * connection, and the SDK does not retry: after a failure on an idle connection, which can break while Lambda freezes
 * the function, it is unknown whether SES has the mail.
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
 * An error with a status is a response of SES. Its message can contain the recipient's address, so `reason` never
 * quotes it.
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

/** SES has not accepted the mail, and a later call can succeed. */
export function isUnsent(error: unknown): boolean {
  const result = failureOf(error);
  return result.outcome === 'throttled' || (result.outcome === 'failed' && result.retry);
}

/** As in `SesSender`, no try is repeated: an error would not show whether an earlier one has sent the mail. */
export class SesMailer {
  readonly #from: string;
  readonly #openClient = lazy(
    () => new SESv2Client({ maxAttempts: 1, requestHandler: { ...clientSettings.requestHandler, ...ownConnection } }),
  );

  constructor(from: string) {
    this.#from = from;
  }

  /** Returns the id that SES gave the mail. Throws errors of the SDK. */
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

/** Undefined if the operator has not set `mailFrom`. */
export const sesSender: Capability<MailSender | undefined> = /* @__PURE__ */ sesCapability(
  (from) => new SesSender(from),
);

export const mailer: Capability<SesMailer | undefined> = /* @__PURE__ */ sesCapability((from) => new SesMailer(from));
