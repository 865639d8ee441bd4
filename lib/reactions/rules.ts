import * as z from 'zod';
import { isLongerThan } from '../shared/bytes.ts';
import { distinctBy } from '../shared/collections.ts';
import { readJson } from '../shared/jsonFields.ts';
import { type Location, locationKey } from '../content/rules/location.ts';
import { type ContentUser, MAX_INVOLVED_USERS, StoredUser } from '../content/rules/user.ts';

/** Reactions of one comment, and the size of their references. Each new reaction writes the comment again. */
const MOST_REACTIONS = 200;
const MOST_REFERENCE_BYTES = 64 * 1024;
/** The size of a reaction's users. DynamoDB limits an item to 400 KB. */
const MOST_USER_BYTES = 256 * 1024;

/** The key of a reaction, as its comment stores it. */
export const ReactionReference = z.object({ id: z.string(), createdAt: z.number() });
export type ReactionReference = z.output<typeof ReactionReference>;

/** A reaction as it is stored. */
export const Reaction = z.object({
  annotationId: z.string(),
  icon: z.string(),
  /**
   * The users in the order of their reactions. `lastUpdated` is the time of the reaction, epoch ms, and never changes.
   */
  fromUsers: z.array(z.object({ from: StoredUser, lastUpdated: z.number() })),
  /** The comment; `threadCreatedAt` is a part of the comment's key. Undefined for a reaction on the document. */
  on: z.object({ annotationId: z.string(), commentId: z.number(), threadCreatedAt: z.number() }).optional(),
  /** JSON text: its own location, otherwise the location of the thread when the reaction was made. */
  location: z.string().optional(),
  /** The key of its own location. Absent for the location of the thread, because that one can change. */
  locationKey: z.string().optional(),
  /** The customer's id of the document. */
  documentId: z.string(),
  createdAt: z.number(),
  lastUpdated: z.number(),
});
export type Reaction = z.output<typeof Reaction>;

/** The ids of a comment. */
export interface CommentReference {
  readonly annotationId: string;
  readonly commentId: number;
}

/** One entry of a call: a user reacts. */
export interface ReactionEntry {
  readonly annotationId: string;
  readonly icon: string;
  readonly from: ContentUser;
  readonly on?: CommentReference | undefined;
  readonly location?: Location | undefined;
}

/** The entries of a call for one reaction. */
export interface ReactionRequest {
  readonly annotationId: string;
  readonly icon: string;
  /** All users of the call. */
  readonly users: readonly ContentUser[];
  readonly on: CommentReference | undefined;
  readonly location: Location | undefined;
  /** Whether all entries name the same icon and the same comment. */
  readonly isConsistent: boolean;
}

/** Groups the entries of a call by reaction, in the order of their first mention. */
export function groupEntries(entries: readonly ReactionEntry[]): ReactionRequest[] {
  return [...Map.groupBy(entries, ({ annotationId }) => annotationId)].map(([annotationId, same]) => {
    const { icon } = same[0] as ReactionEntry;
    const on = same.find((entry) => entry.on)?.on;
    const users = distinctBy(
      same.map(({ from }) => from),
      ({ userId }) => userId,
    );
    return {
      annotationId,
      icon,
      users,
      on,
      location: same.find((entry) => entry.location)?.location,
      isConsistent: same.every((entry) => entry.icon === icon && (!entry.on || isSameComment(entry.on, on))),
    };
  });
}

function isSameComment(one: CommentReference, other: CommentReference | undefined): boolean {
  return one.annotationId === other?.annotationId && one.commentId === other.commentId;
}

/** The document and comment of a new reaction. */
export interface NewReactionContext {
  readonly documentId: string;
  readonly on?: Reaction['on'];
  /** The location of the thread, as JSON text: for a reaction without its own. */
  readonly threadLocation?: string | undefined;
}

/** The reaction after users were added, and the users who are new; or why they are refused. */
export type ReactionOutcome =
  { readonly refused: string } | { readonly reaction: Reaction; readonly added: readonly ContentUser[] };

/**
 * Adds `some` of the users of a call to a new reaction or to the stored one. Refuses another icon or another comment
 * than the stored ones. Refuses all users of the call if together they exceed 50 users or the size limit.
 */
export function addReactionUsers(
  stored: Reaction | undefined,
  { annotationId, icon, users, on, location, isConsistent }: ReactionRequest,
  some: readonly ContentUser[],
  context: NewReactionContext,
  now: number,
): ReactionOutcome {
  if (!isConsistent) return { refused: 'Reaction is given with several icons or comments.' };
  if (stored && stored.icon !== icon) return { refused: 'Reaction has another icon.' };
  if (stored && on && !isSameComment(on, stored.on))
    return { refused: 'Reaction belongs to another comment or document.' };
  const before = stored?.fromUsers ?? [];
  const isNew = ({ userId }: ContentUser) => !before.some(({ from }) => from.userId === userId);
  const withUsers = (more: readonly ContentUser[]) => [...before, ...more.map((from) => ({ from, lastUpdated: now }))];
  const all = withUsers(users.filter(isNew));
  if (all.length > MAX_INVOLVED_USERS) return { refused: `Reaction can have at most ${MAX_INVOLVED_USERS} users.` };
  if (isLongerThan(JSON.stringify(all), MOST_USER_BYTES)) return { refused: 'Reaction is too large.' };
  const added = some.filter(isNew);
  const fromUsers = withUsers(added);
  if (stored) return { added, reaction: added.length === 0 ? stored : { ...stored, fromUsers, lastUpdated: now } };
  const reaction = {
    annotationId,
    icon,
    fromUsers,
    on: context.on,
    location: location ? JSON.stringify(location) : context.threadLocation,
    locationKey: location && locationKey(location),
    documentId: context.documentId,
    createdAt: now,
    lastUpdated: now,
  };
  return { added, reaction };
}

/** Returns the reaction references of a comment after a reaction was added; undefined when the comment has too many. */
export function addReference(
  references: readonly ReactionReference[],
  { annotationId: id, createdAt }: Reaction,
): readonly ReactionReference[] | undefined {
  if (references.some((reference) => reference.id === id)) return references;
  const grown = [...references, { id, createdAt }];
  return grown.length > MOST_REACTIONS || isLongerThan(JSON.stringify(grown), MOST_REFERENCE_BYTES) ? undefined : grown;
}

/** A reaction in a response. */
export const ReactionResponse = z.object({
  annotationId: z.string(),
  type: z.literal('reaction'),
  icon: z.string(),
  commentAnnotationId: z.string().optional(),
  commentId: z.number().optional(),
  fromUsers: Reaction.shape.fromUsers,
  location: z.record(z.string(), z.unknown()).optional(),
  locationId: z.string().optional(),
  /** All times are epoch milliseconds, also those of the users. */
  createdAt: z.number(),
  lastUpdated: z.number(),
  metadata: z.object({ apiKey: z.string(), organizationId: z.string(), documentId: z.string() }),
});
export type ReactionResponse = z.output<typeof ReactionResponse>;

/** Returns a reaction as responses and events have it. */
export function toReactionResponse(
  { apiKey, organizationId }: { apiKey: string; organizationId: string },
  reaction: Reaction,
): ReactionResponse {
  const { annotationId, icon, on, fromUsers, documentId, createdAt, lastUpdated } = reaction;
  const location = readJson<Location>(reaction.location);
  return {
    annotationId,
    type: 'reaction',
    icon,
    commentAnnotationId: on?.annotationId,
    commentId: on?.commentId,
    fromUsers,
    location,
    locationId: location && locationKey(location),
    createdAt,
    lastUpdated,
    metadata: { apiKey, organizationId, documentId },
  };
}
