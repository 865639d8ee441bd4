import type { Html } from '../../shared/html.ts';
import type { DigestContent, DigestDocument, DigestLine } from '../rules/digestContent.ts';
import type { Mail } from '../senders/sender.ts';
import { button, formatTime, paragraph, section, threadBox } from './layout.ts';
import { userMail } from './userMail.ts';

const OPEN = 'Open the document';

export function digestMail(
  content: DigestContent,
  { to, unsubscribeLink }: { to: string; unsubscribeLink: string },
): Mail {
  const { subject, headline, documents, organizationName, more, why } = content;
  const rest = more > 0 ? [`And ${more} more, which this mail does not show.`] : [];
  const titled = documents.length > 1;
  return userMail({
    to,
    subject,
    headline,
    where: [titled ? undefined : documents[0]?.name, organizationName],
    text: [
      ...documents.flatMap((document) => [...(titled ? [`== ${titleOf(document)} ==`] : []), ...textOf(document)]),
      ...rest,
    ],
    html: [
      ...documents.flatMap((document) => [...(titled ? [section(titleOf(document))] : []), ...htmlOf(document)]),
      ...rest.map(paragraph),
    ],
    preview: previewOf(content),
    why,
    unsubscribeLink,
  });
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
