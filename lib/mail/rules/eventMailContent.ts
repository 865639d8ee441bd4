import * as z from 'zod';
import { parseHttpUrl } from '../../net/httpUrl.ts';
import { headline, type MailedType } from './headlines.ts';
import { oneLine, toQuote, htmlToText } from './plainText.ts';

/** A field that is left out when it is something else than expected: events that customers publish say what they like. */
function lenient<S extends z.ZodType>(schema: S) {
  return schema.optional().catch(undefined);
}

const Text = lenient(z.string());
const Person = z.object({ userId: z.string(), name: Text, email: Text });
type Person = z.output<typeof Person>;
/** Those of a list that are what is expected. */
const listOf = <S extends z.ZodType>(schema: S) =>
  z
    .array(lenient(schema))
    .catch([])
    .transform((all) => all.filter((one) => one !== undefined));

const Comment = z.object({
  commentText: Text,
  commentHtml: Text,
  from: lenient(Person),
  to: listOf(Person),
  taggedUserContacts: listOf(z.object({ userId: Text, contact: lenient(Person) })),
  reactionAnnotations: listOf(z.object({ icon: z.string() })),
});
type Comment = z.output<typeof Comment>;

const Page = lenient(z.object({ url: Text }));
/** A status or priority: whole, or its id alone. */
const Labelled = lenient(z.union([z.string(), z.object({ id: Text, name: Text, label: Text })]));

/** What a mail needs of an event's `data` (facts B7). */
const EventContent = z.object({
  actionUser: lenient(Person),
  commentAnnotation: lenient(
    z.object({ from: lenient(Person), assignedTo: lenient(Person), comments: listOf(Comment), pageInfo: Page }),
  ),
  targetComment: lenient(Comment),
  metadata: lenient(
    z.object({
      organization: lenient(z.object({ organizationName: Text })),
      document: lenient(z.object({ documentName: Text, url: Text })),
      pageInfo: Page,
    }),
  ),
  newStatus: Labelled,
  newPriority: Labelled,
});
export type Said = z.output<typeof EventContent>;

/** What an event says, as far as it is understood. */
export function parseEventContent(data: unknown): Said {
  return EventContent.catch(EventContent.parse({})).parse(data);
}

/** The comments that an event is about: the one that it happened to, else those of the thread that it shows. */
export function commentsOf({ targetComment, commentAnnotation }: Said): readonly Comment[] {
  return targetComment ? [targetComment] : (commentAnnotation?.comments ?? []);
}

/** A user as an event names one, where it mentions the user or assigns something: with a name and an address that may be known to it alone. */
export function findPerson(said: Said, userId: string): Pick<Person, 'name' | 'email'> {
  const { commentAnnotation } = said;
  const tagged = commentsOf(said).flatMap(({ to, taggedUserContacts }) => [
    ...taggedUserContacts.map(({ contact }) => contact),
    ...to,
  ]);
  const same = [...tagged, commentAnnotation?.assignedTo, commentAnnotation?.from].filter(
    (person) => person?.userId === userId,
  );
  return { name: same.find((person) => person?.name)?.name, email: same.find((person) => person?.email)?.email };
}

/** What the mail of an event says to one user. Each is one line of plain text, but for `quote`. */
export interface EventMailContent {
  readonly subject: string;
  /** What happened. */
  readonly headline: string;
  readonly actorName: string;
  readonly documentName: string | undefined;
  readonly organizationName: string | undefined;
  /** What the comment says, in its lines. */
  readonly quote: string | undefined;
  /** Where to look at it: an http(s) URL. */
  readonly link: string | undefined;
  /** Why the user gets it: a whole sentence. */
  readonly why: string;
  /** Whether it mentions the user. */
  readonly mentioned: boolean;
}

/** What the mail of an event says to a user. */
export function eventMailContent(event: MailedType, said: Said, userId: string): EventMailContent {
  const { actionUser, commentAnnotation: thread, targetComment, metadata, newStatus, newPriority } = said;
  const comments = commentsOf(said);
  const mentioned = comments.some(({ to, taggedUserContacts }) =>
    [...to.map((one) => one.userId), ...taggedUserContacts.map((one) => one.userId ?? one.contact?.userId)].includes(
      userId,
    ),
  );
  const assigned = thread?.assignedTo?.userId === userId;
  // A reaction is to the comment; anything else is about the thread, which is that of who began it.
  const own = (isReaction(event) ? targetComment?.from : thread?.from)?.userId === userId;
  const actorName = nameOf(actionUser) ?? 'Somebody';
  const what = headline(event, {
    actor: actorName,
    mentioned,
    assigned,
    own,
    assignee: nameOf(thread?.assignedTo),
    status: labelOf(newStatus),
    priority: labelOf(newPriority),
    icon: emojiOf(targetComment),
  });
  const documentName = oneLine(metadata?.document?.documentName);
  const preposition = event === 'comment_annotation.add' && !mentioned && !assigned ? 'on' : 'in';
  // What was deleted is not spread once more.
  const text = event === 'comment.delete' ? undefined : comments[0];
  return {
    subject: documentName ? `${what} ${preposition} ${documentName}` : what,
    headline: what,
    actorName,
    documentName,
    organizationName: oneLine(metadata?.organization?.organizationName),
    quote: toQuote(text?.commentText || htmlToText(text?.commentHtml ?? '')),
    link: linkOf(said),
    why: `You get this mail because ${reason({ mentioned, assigned, own: thread?.from?.userId === userId })}.`,
    mentioned,
  };
}

function isReaction(event: MailedType): boolean {
  return event === 'comment.reaction_add' || event === 'comment.reaction_delete';
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

/** The reaction that came or went, where it is an emoji: others are names of pictures that only the customer knows. */
function emojiOf(comment: Comment | undefined): string | undefined {
  const icon = comment?.reactionAnnotations[0]?.icon ?? '';
  return /^\p{RGI_Emoji}$/v.test(icon) ? icon : undefined;
}

/** Where it can be looked at, as the customer says; an address with a name or password in it can look like one of another host. */
function linkOf({ metadata, commentAnnotation }: Said): string | undefined {
  for (const text of [metadata?.pageInfo?.url, commentAnnotation?.pageInfo?.url, metadata?.document?.url]) {
    const url = text === undefined || text.length > 2_048 ? undefined : parseHttpUrl(text);
    if (url && url.username === '' && url.password === '') return url.href;
  }
  return undefined;
}
