import { LINK_MINUTES } from '../../workspaces/rules/verification.ts';
import type { Mail } from '../senders/sender.ts';
import { bareLink, button, heading, mailDocument, note, paragraph } from './layout.ts';

const subject = 'Verify your e-mail address';
const instruction = 'Open this link and press the button there, so that we know that this address is yours:';
const expiry = `The link works once, within ${LINK_MINUTES} minutes.`;
const ignoreNote = 'If you did not ask for this mail, ignore it. Nothing changes unless you press the button.';

export function loginLinkMail({ to, link }: { to: string; link: string }): Mail {
  return {
    to,
    subject,
    text: [subject, instruction, link, expiry, ignoreNote, ''].join('\n\n'),
    html: mailDocument(subject, [
      heading(subject),
      paragraph('Open the link and press the button there, so that we know that this address is yours.'),
      button(link, 'Open the link'),
      bareLink(link),
      paragraph(expiry),
      note(ignoreNote),
    ]),
    // Prevents automatic replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}
