import type { MailResult } from '../rules/mailRecord.ts';

/** A mail to one person, with the same content as text and as HTML. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Additional headers, for example `List-Unsubscribe`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A mail with everything that its provider needs. */
export interface OutgoingMail extends Mail {
  /** The service's id of the mail. The provider adds the id to its reports about the mail. */
  readonly mailId: string;
  /** The customer's name and address. */
  readonly sender: { readonly name?: string | undefined; readonly address?: string | undefined };
  /** The recipient's name. */
  readonly toName?: string | undefined;
  /** A template of the customer at the provider. It replaces subject and text if the provider supports templates. */
  readonly template?: { readonly id: string; readonly data: Readonly<Record<string, unknown>> } | undefined;
}

/** Sends mails through a provider. The caller decides about retries. */
export interface MailSender {
  /** Sends a mail once. Failures of the provider are results. Throws only on internal errors. */
  send(mail: OutgoingMail): Promise<MailResult>;
}

/**
 * Returns the result of a request without a response. A request that did not reach the provider can be retried. Otherwise it is
 * unknown whether the provider accepted the mail.
 */
export function unanswered(error: unknown, reached: boolean): MailResult {
  const { code, name = 'Error' } = error as { code?: string; name?: string };
  const reason = `not ${reached ? 'answered' : 'connected'}: ${code ?? name}`;
  return reached ? { outcome: 'unknown', reason } : { outcome: 'failed', reason, retry: true };
}
