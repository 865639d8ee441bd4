import type { MailResult } from '../rules/mailRecord.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OutgoingMail extends Mail {
  /** The provider's reports contain this id. */
  readonly mailId: string;
  readonly sender: { readonly name?: string | undefined; readonly address?: string | undefined };
  readonly toName?: string | undefined;
  /** The customer's template at the provider replaces the subject and the text, if the provider supports templates. */
  readonly template?: { readonly id: string; readonly data: Readonly<Record<string, unknown>> } | undefined;
}

export interface MailSender {
  /** Failures of the provider are results. Throws only on internal errors. */
  send(mail: OutgoingMail): Promise<MailResult>;
}

/**
 * `failed`: the request has not reached the provider and can be repeated. `unknown`: the provider may have accepted the
 * mail.
 */
export function unanswered(error: unknown, reached: boolean): MailResult {
  const { code, name = 'Error' } = error as { code?: string; name?: string };
  const reason = `not ${reached ? 'answered' : 'connected'}: ${code ?? name}`;
  return reached ? { outcome: 'unknown', reason } : { outcome: 'failed', reason, retry: true };
}
