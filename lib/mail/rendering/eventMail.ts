import type { EventMailContent } from '../rules/eventMailContent.ts';
import type { Mail } from '../senders/sender.ts';
import { button, quote } from './layout.ts';
import { userMail } from './userMail.ts';

export function eventMail(
  content: EventMailContent,
  { to, unsubscribeLink }: { to: string; unsubscribeLink: string },
): Mail {
  const { subject, headline, quote: text, link, why, documentName, organizationName } = content;
  return userMail({
    to,
    subject,
    headline,
    where: [documentName, organizationName],
    text: [...(text ? [text.replace(/^/gm, '> ')] : []), ...(link ? [`Open the document: ${link}`] : [])],
    html: [...(text ? [quote(text)] : []), ...(link ? [button(link, 'Open the document')] : [])],
    preview: text,
    why,
    unsubscribeLink,
  });
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
