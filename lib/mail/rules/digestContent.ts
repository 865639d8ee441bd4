import { distinct } from '../../shared/collections.ts';
import type { EventMailContent } from './eventMailContent.ts';
import { oneLine } from './plainText.ts';

export const MAX_ENTRIES = 30;
/** Gmail hides what follows the first 102 KB of a mail. */
const MAX_QUOTE_CHARACTERS = 280;

export interface DigestEntry {
  readonly event: string;
  /** Epoch ms of the event. */
  readonly at: number;
  readonly documentId: string | undefined;
  readonly annotationId: string | undefined;
  /** An entry without content is counted, but not shown. */
  readonly content?: EventMailContent | undefined;
}

export interface DigestLine {
  readonly event: string;
  readonly at: number;
  readonly headline: string;
  readonly actorName: string;
  readonly quote: string | undefined;
  readonly mentionsUser: boolean;
}

export interface DigestThread {
  readonly annotationId: string | undefined;
  /** Absent if the document has the link of all its threads. */
  readonly link: string | undefined;
  readonly lines: readonly DigestLine[];
}

export interface DigestDocument {
  readonly documentId: string | undefined;
  readonly name: string | undefined;
  readonly link: string | undefined;
  readonly threads: readonly DigestThread[];
}

export interface DigestContent {
  readonly subject: string;
  readonly headline: string;
  readonly organizationName: string | undefined;
  readonly documents: readonly DigestDocument[];
  readonly more: number;
  readonly why: string;
}

type ShownEntry = DigestEntry & { readonly content: EventMailContent };

/** Takes all entries of a digest in any order. The oldest 30 that have content are shown. */
export function digestContent(entries: readonly DigestEntry[]): DigestContent {
  const ordered = entries.toSorted((a, b) => a.at - b.at);
  const shown = ordered.filter((entry): entry is ShownEntry => entry.content !== undefined).slice(0, MAX_ENTRIES);
  const documents = [...Map.groupBy(shown, ({ documentId }) => documentId)].map(toDocument);
  const headline = headlineOf(shown, ordered);
  const mentioned = shown.some(({ content }) => content.mentioned);
  return {
    subject: headline + placeOf(documents, ordered),
    headline,
    organizationName: newest(shown, ({ organizationName }) => organizationName),
    documents,
    more: entries.length - shown.length,
    why: `You get this mail because you ${mentioned ? 'were mentioned or ' : ''}take part in these conversations.`,
  };
}

function toDocument([documentId, entries]: [string | undefined, readonly ShownEntry[]]): DigestDocument {
  const threads = [...Map.groupBy(entries, ({ annotationId }) => annotationId)].map(([annotationId, of]) => ({
    annotationId,
    link: newest(of, ({ link }) => link),
    lines: of.map(toLine),
  }));
  const links = distinct(threads.flatMap(({ link }) => link ?? []));
  const link = links.length === 1 ? links[0] : undefined;
  return {
    documentId,
    name: newest(entries, ({ documentName }) => documentName),
    link,
    threads: threads.map((thread) => (link === undefined ? thread : { ...thread, link: undefined })),
  };
}

function toLine(entry: ShownEntry): DigestLine {
  const { event, at, content } = entry;
  return {
    event,
    at,
    headline: content.headline,
    actorName: content.actorName,
    quote: oneLine(content.quote, MAX_QUOTE_CHARACTERS),
    mentionsUser: mentionsUser(entry),
  };
}

function newest<T>(entries: readonly ShownEntry[], pick: (content: EventMailContent) => T | undefined): T | undefined {
  return entries.map(({ content }) => pick(content)).findLast((value) => value !== undefined);
}

function isComment(event: string): boolean {
  return event === 'comment_annotation.add' || event === 'comment.add';
}

/** The content of another event can have an older mention. */
function mentionsUser({ event, content }: ShownEntry): boolean {
  return isComment(event) && content.mentioned;
}

function headlineOf(shown: readonly ShownEntry[], all: readonly DigestEntry[]): string {
  const mentions: readonly DigestEntry[] = shown.filter(mentionsUser);
  const rest = all.filter((entry) => !mentions.includes(entry));
  if (mentions.length === 0) {
    const comments = rest.filter(({ event }) => isComment(event));
    const others = rest.filter(({ event }) => !isComment(event));
    return [comments, others].flatMap((of) => (of.length > 0 ? [`${of.length} ${nounOf(of)}`] : [])).join(' and ');
  }
  const actors = distinct(mentions.flatMap(({ content }) => content?.actorName ?? []));
  const times = actors.length === 1 && mentions.length > 1 ? ` ${mentions.length} times` : '';
  const mention = `${listOf(actors)} mentioned you${times}`;
  return rest.length === 0 ? mention : `${mention}, and ${rest.length} more ${nounOf(rest)}`;
}

function nounOf(entries: readonly DigestEntry[]): string {
  const plural = entries.length === 1 ? '' : 's';
  if (entries.every(({ event }) => isComment(event))) return `comment${plural}`;
  return `${entries.every(({ event }) => event === 'comment.reaction_add') ? 'reaction' : 'update'}${plural}`;
}

function listOf([first, second, ...others]: readonly string[]): string {
  if (second === undefined) return first ?? '';
  return `${first} and ${others.length === 0 ? second : `${others.length + 1} others`}`;
}

function placeOf(documents: readonly DigestDocument[], all: readonly DigestEntry[]): string {
  const count = new Set(all.map(({ documentId }) => documentId)).size;
  if (count > 1) return ` in ${count} documents`;
  const name = documents[0]?.name;
  return name === undefined ? '' : ` in ${name}`;
}
