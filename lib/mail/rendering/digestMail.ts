import type { Html } from '../../shared/html.ts';
import type { DigestContent, DigestDocument, DigestLine } from '../rules/digestContent.ts';
import type { Mail } from '../senders/sender.ts';
import { unsubscribeHeaders } from '../unsubscribeLinks.ts';
import {
  button,
  formatTime,
  heading,
  kicker,
  linkedNote,
  mailDocument,
  paragraph,
  section,
  threadBox,
} from './layout.ts';

const OPEN = 'Open the document';

export function digestMail(
  content: DigestContent,
  { to, unsubscribeLink }: { to: string; unsubscribeLink: string },
): Mail {
  const { subject, headline, documents, more, why } = content;
  const where = whereOf(content);
  const rest = more > 0 ? [`And ${more} more, which this mail does not show.`] : [];
  const titled = documents.length > 1;
  return {
    to,
    subject,
    text: [
      headline,
      ...(where ? [where] : []),
      ...documents.flatMap((document) => [...(titled ? [`== ${titleOf(document)} ==`] : []), ...textOf(document)]),
      ...rest,
      '-- ',
      `${why}\nGet no more of these mails: ${unsubscribeLink}`,
      '',
    ].join('\n\n'),
    html: mailDocument(
      subject,
      [
        ...(where ? [kicker(where)] : []),
        heading(headline),
        ...documents.flatMap((document) => [...(titled ? [section(titleOf(document))] : []), ...htmlOf(document)]),
        ...rest.map(paragraph),
        linkedNote(why, unsubscribeLink, 'Unsubscribe'),
      ],
      previewOf(content) ?? where,
    ),
    // Prevents automatic replies (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated', ...unsubscribeHeaders(unsubscribeLink) },
  };
}

/** The name of the document, if there is only one, and of the organization. */
function whereOf({ documents, organizationName }: DigestContent): string | undefined {
  const name = documents.length === 1 ? documents[0]?.name : undefined;
  return [name, organizationName].filter((part) => part !== undefined).join(' · ') || undefined;
}

function titleOf({ documentId, name }: DigestDocument): string {
  return name ?? (documentId === undefined ? 'Without a document' : 'A document without a name');
}

function textOf({ threads, link }: DigestDocument): string[] {
  return [
    ...threads.flatMap((thread) => [
      ...thread.lines.map(
        ({ headline, at, quote }) => `${headline} (${formatTime(at)})${quote === undefined ? '' : `\n> ${quote}`}`,
      ),
      ...(thread.link ? [`${OPEN}: ${thread.link}`] : []),
    ]),
    ...(link ? [`${OPEN}: ${link}`] : []),
  ];
}

function htmlOf({ threads, link }: DigestDocument): Html[] {
  return [
    ...threads.map((thread) =>
      threadBox(
        thread.lines.map((line) => ({ ...line, time: formatTime(line.at) })),
        thread.link === undefined ? undefined : { url: thread.link, text: OPEN },
      ),
    ),
    ...(link ? [button(link, OPEN)] : []),
  ];
}

/** A mention is more important than the oldest text. */
function previewOf({ documents }: DigestContent): string | undefined {
  const quoted = documents
    .flatMap(({ threads }) => threads.flatMap(({ lines }) => lines))
    .filter(({ quote }) => quote !== undefined);
  return (quoted.find(({ mentionsUser }) => mentionsUser) ?? quoted[0])?.quote;
}

export function digestTemplateData(
  { subject, headline, organizationName = '', documents, more, why }: DigestContent,
  {
    recipientName = '',
    company = '',
    unsubscribeLink,
  }: { recipientName?: string | undefined; company?: string | undefined; unsubscribeLink: string },
): Record<string, unknown> {
  return {
    event: 'digest',
    subject,
    headline,
    recipientName,
    organizationName,
    documents: documents.map(({ name = '', link = '', threads }) => ({
      documentName: name,
      link,
      threads: threads.map((thread) => ({ link: thread.link ?? link, entries: thread.lines.map(entryData) })),
    })),
    more,
    why,
    company,
    unsubscribeLink,
  };
}

function entryData({ event, at, headline, actorName, quote = '', mentionsUser }: DigestLine): Record<string, unknown> {
  return { event, time: new Date(at).toISOString(), headline, actorName, commentText: quote, mentioned: mentionsUser };
}
