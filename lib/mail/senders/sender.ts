import type { MailResult } from '../rules/mail.ts';
import type { Mail } from './mailer.ts';

/** A mail with what its provider needs besides. */
export interface OutgoingMail extends Mail {
  /** Ours; told to the provider, so that what it reports can be matched. */
  readonly mailId: string;
  /** As whom it is sent: the customer's name and address, either may be missing. */
  readonly sender: { readonly name?: string | undefined; readonly address?: string | undefined };
  /** The name of whom it is sent to. */
  readonly toName?: string | undefined;
  /** A template of the customer's at the provider, which takes the place of subject and text where the provider knows such. */
  readonly template?: { readonly id: string; readonly data: Readonly<Record<string, unknown>> } | undefined;
}

/** Hands mails over to a provider, each once: what is to be tried again is for the caller to decide. */
export interface MailSender {
  /** What came of it. What the provider's side can cause is a result; it throws for faults of ours only. */
  send(mail: OutgoingMail): Promise<MailResult>;
}

/** What came of a request without an answer: one that never reached the provider can be made again, of any other nobody knows. */
export function unanswered(error: unknown, reached: boolean): MailResult {
  const { code, name = 'Error' } = error as { code?: string; name?: string };
  const reason = `not ${reached ? 'answered' : 'connected'}: ${code ?? name}`;
  return reached ? { outcome: 'unknown', reason } : { outcome: 'failed', reason, again: true };
}
