import * as z from 'zod';
import { isAllowedLink, type UserWritten, withoutForeignLinks } from '../../content/rules/userLinks.ts';
import type { MailedType } from '../../events/rules/catalogue.ts';
import { htmlToText } from '../../markup/rules/htmlToText.ts';
import { parseHttpUrl } from '../../net/httpUrl.ts';
import { defineSchema } from '../../shared/schema.ts';
import { headline } from './headlines.ts';
import { oneLine, toQuote } from './plainText.ts';

/** Ignores a value that does not match, because customers can publish events with any data. */
function lenient<S extends z.ZodType>(schema: S) {
  return schema.optional().catch(undefined);
}

const Text = /* @__PURE__ */ defineSchema(() => lenient(z.string()));
const Person = /* @__PURE__ */ defineSchema(() => z.object({ userId: z.string(), name: Text, email: Text }));
type Person = z.output<typeof Person>;
const listOf = <S extends z.ZodType>(schema: S) =>
  lenient(z.array(lenient(schema))).transform((items = []) => items.filter((item) => item !== undefined));

const Comment = /* @__PURE__ */ defineSchema(() =>
  z.object({
    commentId: lenient(z.number()),
    commentText: Text,
    commentHtml: Text,
    from: lenient(Person),
    to: listOf(Person),
    taggedUserContacts: listOf(z.object({ userId: Text, contact: lenient(Person) })),
    reactionAnnotations: listOf(z.object({ icon: z.string() })),
  }),
);
type Comment = z.output<typeof Comment>;

const Page = /* @__PURE__ */ defineSchema(() => lenient(z.object({ url: Text })));
const Labelled = /* @__PURE__ */ defineSchema(() =>
  lenient(z.union([z.string(), z.object({ id: Text, name: Text, label: Text })])),
);

const EventContent = /* @__PURE__ */ defineSchema(() =>
  z.object({
    actionUser: lenient(Person),
    commentAnnotation: lenient(
      z.object({
        from: lenient(Person),
        assignedTo: lenient(Person),
        subscribedUsers: listOf(Person),
        comments: listOf(Comment),
        pageInfo: Page,
      }),
    ),
    targetComment: lenient(Comment),
    notifyUsers: listOf(Person),
    metadata: lenient(
      z.object({
        organization: lenient(z.object({ organizationName: Text })),
        document: lenient(z.object({ documentName: Text, url: Text })),
        pageInfo: Page,
      }),
    ),
    newStatus: Labelled,
    newPriority: Labelled,
  }),
);
export type EventContent = z.output<typeof EventContent>;

export function parseEventContent(data: unknown): EventContent {
  return EventContent.catch(EventContent.parse({})).parse(data);
}

export function commentsOf({ targetComment, commentAnnotation }: EventContent): readonly Comment[] {
  return targetComment ? [targetComment] : (commentAnnotation?.comments ?? []);
}

function allCommentsOf({ targetComment, commentAnnotation }: EventContent): readonly Comment[] {
  return [...(targetComment ? [targetComment] : []), ...(commentAnnotation?.comments ?? [])];
}

function mentions({ to, taggedUserContacts }: Comment, userId: string): boolean {
  return [
    ...to.map((person) => person.userId),
    ...taggedUserContacts.map((tagged) => tagged.userId ?? tagged.contact?.userId),
  ].includes(userId);
}

/** The name and address that the event contains for a user. They count if the stored profile has none. */
export function findPerson(event: EventContent, userId: string): Pick<Person, 'name' | 'email'> {
  const { commentAnnotation: thread, notifyUsers } = event;
  const involved = allCommentsOf(event).flatMap(({ from, to, taggedUserContacts }) => [
    ...taggedUserContacts.map(({ contact }) => contact),
    ...to,
    from,
  ]);
  const subscribers = thread?.subscribedUsers ?? [];
  const people = [...involved, thread?.assignedTo, thread?.from, ...subscribers, ...notifyUsers].filter(
    (person) => person?.userId === userId,
  );
  return { name: people.find((person) => person?.name)?.name, email: people.find((person) => person?.email)?.email };
}

export interface EventMailContent {
  readonly subject: string;
  readonly headline: string;
  readonly actorName: string;
  readonly documentName: string | undefined;
  readonly organizationName: string | undefined;
  readonly quote: string | undefined;
  readonly link: string | undefined;
  readonly why: string;
  readonly mentioned: boolean;
}

export function eventMailContent(
  type: MailedType,
  event: EventContent,
  userId: string,
  written?: UserWritten,
): EventMailContent {
  const { actionUser, commentAnnotation: thread, targetComment, metadata, newStatus, newPriority } = event;
  const isNewThread = type === 'comment_annotation.add';
  // All comments of a new thread are new. The thread of another event can contain older ones.
  const comments = isNewThread ? allCommentsOf(event) : commentsOf(event);
  const mentioning = comments.find((comment) => mentions(comment, userId));
  const mentioned = mentioning !== undefined;
  const assigned = thread?.assignedTo?.userId === userId;
  const own = (isReaction(type) ? targetComment?.from : thread?.from)?.userId === userId;
  const shown = (byUser: boolean | undefined, text: string | undefined) =>
    written && byUser && text !== undefined ? withoutForeignLinks(text, written.domains) : text;
  const actorName = nameOf((isNewThread ? mentioning?.from : undefined) ?? actionUser) ?? 'Somebody';
  const eventHeadline = headline(type, {
    actor: actorName,
    mentioned,
    assigned,
    own,
    assignee: nameOf(thread?.assignedTo),
    status: shown(written?.thread.includes('status'), labelOf(newStatus)),
    priority: shown(written?.thread.includes('priority'), labelOf(newPriority)),
    icon: emojiOf(targetComment),
  });
  const documentName = oneLine(metadata?.document?.documentName);
  const preposition = isNewThread && !mentioned && !assigned ? 'on' : 'in';
  // The mail must not repeat the text of a deleted comment.
  const quoted = type === 'comment.delete' ? undefined : (mentioning ?? comments[0]);
  return {
    subject: documentName ? `${eventHeadline} ${preposition} ${documentName}` : eventHeadline,
    headline: eventHeadline,
    actorName,
    documentName,
    organizationName: oneLine(metadata?.organization?.organizationName),
    quote: shown(
      quoted?.commentId === undefined || written?.comments.includes(quoted.commentId),
      toQuote(quoted?.commentText || htmlToText(quoted?.commentHtml ?? '')),
    ),
    link: linkOf(event, written),
    why: `You get this mail because ${reason({ mentioned, assigned, own: thread?.from?.userId === userId })}.`,
    mentioned,
  };
}

/** The headline without what only readers of the document may know: texts, icons, and names except that of the actor. */
export function eventFact(type: MailedType, { actionUser, commentAnnotation }: EventContent): string {
  return headline(type, {
    actor: nameOf(actionUser) ?? 'Somebody',
    mentioned: false,
    assigned: false,
    own: false,
    assignee: commentAnnotation?.assignedTo && 'somebody',
    status: undefined,
    priority: undefined,
    icon: undefined,
  });
}

function isReaction(type: MailedType): boolean {
  return type === 'comment.reaction_add' || type === 'comment.reaction_delete';
}

function reason({ mentioned, assigned, own }: { mentioned: boolean; assigned: boolean; own: boolean }): string {
  if (mentioned) return 'you were mentioned';
  if (assigned) return 'this is assigned to you';
  return own ? 'you started this thread' : 'you take part in this';
}

function nameOf(person: Person | undefined): string | undefined {
  return oneLine(person?.name, 60) ?? oneLine(person?.email, 60) ?? oneLine(person?.userId, 60);
}

function labelOf(value: z.output<typeof Labelled>): string | undefined {
  return oneLine(typeof value === 'object' ? (value.name ?? value.label ?? value.id) : value, 60);
}

/** Other icons are names that only the customer's product can display. */
function emojiOf(comment: Comment | undefined): string | undefined {
  const icon = comment?.reactionAnnotations[0]?.icon ?? '';
  return /^\p{RGI_Emoji}$/v.test(icon) ? icon : undefined;
}

/** Skips URLs with credentials, which can imitate another host, and foreign pages of users. */
function linkOf({ metadata, commentAnnotation }: EventContent, written: UserWritten | undefined): string | undefined {
  const page = commentAnnotation?.pageInfo?.url;
  const isTrusted = !written?.thread.includes('pageInfo') || isAllowedLink(page ?? '', written.domains);
  for (const text of [metadata?.pageInfo?.url, isTrusted ? page : undefined, metadata?.document?.url]) {
    const url = text === undefined || text.length > 2_048 ? undefined : parseHttpUrl(text);
    if (url && url.username === '' && url.password === '') return url.href;
  }
  return undefined;
}
