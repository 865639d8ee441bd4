import type { EventMailContent } from '../rules/eventMailContent.ts';
import type { Mail } from '../senders/sender.ts';
import { unsubscribeHeaders } from '../unsubscribeLinks.ts';
import { button, heading, kicker, linkedNote, mailDocument, quote } from './layout.ts';

export function eventMail(
  content: EventMailContent,
  { to, unsubscribeLink }: { to: string; unsubscribeLink: string },
): Mail {
  const { subject, headline, quote: text, link, why } = content;
  const where = locationLine(content);
  return {
    to,
    subject,
    text: [
      headline,
      ...(where ? [where] : []),
      ...(text ? [text.replace(/^/gm, '> ')] : []),
      ...(link ? [`Open the document: ${link}`] : []),
      '-- ',
      `${why}\nGet no more of these mails: ${unsubscribeLink}`,
      '',
    ].join('\n\n'),
    html: mailDocument(
      subject,
      [
        ...(where ? [kicker(where)] : []),
        heading(headline),
        ...(text ? [quote(text)] : []),
        ...(link ? [button(link, 'Open the document')] : []),
        linkedNote(why, unsubscribeLink, 'Unsubscribe'),
      ],
      text ?? where,
    ),
    // Prevents automatic replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated', ...unsubscribeHeaders(unsubscribeLink) },
  };
}

function locationLine({ documentName, organizationName }: EventMailContent): string | undefined {
  return [documentName, organizationName].filter((name) => name !== undefined).join(' · ') || undefined;
}

export function templateData(
  event: string,
  content: EventMailContent,
  {
    recipientName = '',
    company = '',
    unsubscribeLink,
  }: { recipientName?: string | undefined; company?: string | undefined; unsubscribeLink: string },
): Record<string, string> {
  const {
    subject,
    headline,
    actorName,
    documentName = '',
    organizationName = '',
    quote: commentText = '',
    link = '',
    why,
  } = content;
  return {
    event,
    subject,
    headline,
    actorName,
    recipientName,
    commentText,
    documentName,
    organizationName,
    link,
    why,
    company,
    unsubscribeLink,
  };
}
