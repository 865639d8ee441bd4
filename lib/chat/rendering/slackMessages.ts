import type { DigestContent, DigestDocument, DigestLine } from '../../mail/rules/digestContent.ts';
import type { EventMailContent } from '../../mail/rules/eventMailContent.ts';
import type { SlackMessage } from '../slackClient.ts';

const OPEN = 'Open the document';

export function directMessage(content: EventMailContent): SlackMessage {
  const { headline, quote, link } = content;
  return messageOf([
    bold(headline),
    whereOf(content),
    quote === undefined ? '' : quoted(quote),
    link === undefined ? '' : linkTo(link, OPEN),
  ]);
}

/** A post for everybody in a channel. Of a restricted document, it has only the `fact` and the link. */
export function channelPost(content: EventMailContent, fact: string | undefined): SlackMessage {
  if (fact === undefined) return directMessage(content);
  const { link } = content;
  return messageOf([
    bold(fact),
    '_In a document with restricted access_',
    link === undefined ? '' : linkTo(link, OPEN),
  ]);
}

export function digestMessage(content: DigestContent): SlackMessage {
  const { headline, documents, more } = content;
  const isTitled = documents.length > 1;
  const name = isTitled ? undefined : documents[0]?.name;
  return messageOf([
    bold(headline),
    whereOf({ documentName: name, organizationName: content.organizationName }),
    ...documents.flatMap((document) => [isTitled ? `\n${bold(titleOf(document))}` : '', ...linesOf(document)]),
    more > 0 ? `And ${more} more, which this message does not show.` : '',
  ]);
}

function linesOf({ threads, link }: DigestDocument): string[] {
  return [
    ...threads.flatMap((thread) => [
      ...thread.lines.map(lineOf),
      thread.link === undefined ? '' : linkTo(thread.link, OPEN),
    ]),
    link === undefined ? '' : linkTo(link, OPEN),
  ];
}

function lineOf({ headline, at, quote }: DigestLine): string {
  const line = `• ${escaped(headline)} (${timeOf(at)})`;
  return quote === undefined ? line : `${line}\n${quoted(quote)}`;
}

function titleOf({ documentId, name }: DigestDocument): string {
  return name ?? (documentId === undefined ? 'Without a document' : 'A document without a name');
}

function whereOf({ documentName, organizationName }: Partial<EventMailContent>): string {
  return escaped([documentName, organizationName].filter((name) => name !== undefined).join(' · '));
}

/** Slack cuts a text after 40,000 characters, perhaps within a link. */
const MAX_CHARACTERS = 39_000;

function messageOf(lines: readonly string[]): SlackMessage {
  const kept: string[] = [];
  let length = 0;
  for (const line of lines.filter((text) => text !== '')) {
    length += line.length + 1;
    if (length > MAX_CHARACTERS) return { text: [...kept, '…'].join('\n') };
    kept.push(line);
  }
  return { text: kept.join('\n') };
}

/**
 * Without these characters, a text of a user cannot make a link, or notify a channel. A quote with other marks of Slack,
 * such as asterisks, only looks different.
 */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** An asterisk in the text would end the bold part. */
function bold(text: string): string {
  return `*${escaped(text.replaceAll('*', '∗'))}*`;
}

function quoted(text: string): string {
  return escaped(text).replace(/^/gm, '> ');
}

function linkTo(url: string, text: string): string {
  return `<${escaped(url).replaceAll('|', '%7C')}|${text}>`;
}

/** Slack shows the time in the time zone of the reader. */
function timeOf(at: number): string {
  const fallback = new Date(at).toISOString().slice(0, 16).replace('T', ' ');
  return `<!date^${Math.floor(at / 1000)}^{date_short_pretty} {time}|${fallback} UTC>`;
}
