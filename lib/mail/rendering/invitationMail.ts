import type { InvitationMailContent } from '../rules/invitationMailContent.ts';
import type { Mail } from '../senders/sender.ts';
import { button, heading, kicker, mailDocument, note } from './layout.ts';

const ignoreNote = 'If you did not expect this mail, ignore it. Nothing changes unless you accept the invitation.';

export function invitationMail({ headline, where, link, expiry }: InvitationMailContent, to: string): Mail {
  return {
    to,
    subject: headline,
    text: [
      headline,
      ...(where ? [where] : []),
      ...(link ? [`Open the invitation: ${link}`] : []),
      '-- ',
      `${expiry}\n${ignoreNote}`,
      '',
    ].join('\n\n'),
    html: mailDocument(
      headline,
      [
        ...(where ? [kicker(where)] : []),
        heading(headline),
        ...(link ? [button(link, 'Open the invitation')] : []),
        note(`${expiry} ${ignoreNote}`),
      ],
      where,
    ),
    // Prevents automatic replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}
