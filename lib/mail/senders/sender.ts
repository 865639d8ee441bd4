import type { MailResult } from '../rules/mailRecord.ts';

/** A mail to one person, in two forms with the same content. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Further headers, such as `List-Unsubscribe`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A mail with everything that its provider needs. */
export interface OutgoingMail extends Mail {
  /** Our id. The provider repeats it in its reports about the mail. */
  readonly mailId: string;
  /** The customer's name and address; either may be missing. */
  readonly sender: { readonly name?: string | undefined; readonly address?: string | undefined };
  /** The recipient's name. */
  readonly toName?: string | undefined;
  /** A template of the customer at the provider. It replaces subject and text where the provider has templates. */
  readonly template?: { readonly id: string; readonly data: Readonly<Record<string, unknown>> } | undefined;
}

/** Hands mails to a provider, each once: the caller decides about retries. */
export interface MailSender {
  /** Returns what the provider said. Failures of the provider are results; throws only on internal errors. */
  send(mail: OutgoingMail): Promise<MailResult>;
}

/**
 * Returns the result of a request without an answer. It can be retried when it never reached the provider. Otherwise nobody knows whether the provider
 * accepted the mail.
 */
export function unanswered(error: unknown, reached: boolean): MailResult {
  const { code, name = 'Error' } = error as { code?: string; name?: string };
  const reason = `not ${reached ? 'answered' : 'connected'}: ${code ?? name}`;
  return reached ? { outcome: 'unknown', reason } : { outcome: 'failed', reason, retry: true };
}
