import type { Html } from '../../shared/html.ts';
import type { Mail } from '../senders/sender.ts';
import { unsubscribeHeaders } from '../unsubscribeLinks.ts';
import { heading, kicker, linkedNote, mailDocument } from './layout.ts';

export interface UserMailParts {
  readonly to: string;
  readonly subject: string;
  readonly headline: string;
  readonly where: readonly (string | undefined)[];
  readonly text: readonly string[];
  readonly html: readonly Html[];
  readonly preview: string | undefined;
  readonly why: string;
  readonly unsubscribeLink: string;
}

export function userMail({ to, subject, headline, text, html, why, unsubscribeLink, ...parts }: UserMailParts): Mail {
  const where = parts.where.filter((name) => name !== undefined).join(' · ') || undefined;
  return {
    to,
    subject,
    text: [
      headline,
      ...(where ? [where] : []),
      ...text,
      '-- ',
      `${why}\nGet no more of these mails: ${unsubscribeLink}`,
      '',
    ].join('\n\n'),
    html: mailDocument(
      subject,
      [...(where ? [kicker(where)] : []), heading(headline), ...html, linkedNote(why, unsubscribeLink, 'Unsubscribe')],
      parts.preview ?? where,
    ),
    // Prevents automatic replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated', ...unsubscribeHeaders(unsubscribeLink) },
  };
}
