import type { MailResult } from '../rules/mailRecord.ts';

/** A mail to one person, with the same content as text and as HTML. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Further headers, for example `List-Unsubscribe`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A mail with everything that its provider needs. */
export interface OutgoingMail extends Mail {
  /** This service's id of the mail. The provider repeats it in its reports about the mail. */
  readonly mailId: string;
  /** The customer's name and address. */
  readonly sender: { readonly name?: string | undefined; readonly address?: string | undefined };
  readonly toName?: string | undefined;
  /**
   * The customer's template at the provider, with its variables. It replaces the subject and the text, if the provider supports
   * templates.
   */
  readonly template?: { readonly id: string; readonly data: Readonly<Record<string, unknown>> } | undefined;
}

/** Sends mails through a provider. The caller decides about retries. */
export interface MailSender {
  /** Sends a mail once. Failures of the provider are results, not errors. Throws only on internal errors. */
  send(mail: OutgoingMail): Promise<MailResult>;
}

/**
 * Returns the result of a request without a response. `failed` can be retried, because the request has not reached the provider.
 * `unknown` means that the provider may have accepted the mail.
 */
export function unanswered(error: unknown, reached: boolean): MailResult {
  const { code, name = 'Error' } = error as { code?: string; name?: string };
  const reason = `not ${reached ? 'answered' : 'connected'}: ${code ?? name}`;
  return reached ? { outcome: 'unknown', reason } : { outcome: 'failed', reason, retry: true };
}
