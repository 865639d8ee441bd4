import * as z from 'zod';
import { isLongerThan } from '../shared/bytes.ts';
import { distinctBy } from '../shared/collections.ts';
import { type Location, locationKey } from '../content/rules/location.ts';
import { type ContentUser, MOST_INVOLVED, StoredUser } from '../content/rules/user.ts';

/** How many reactions a comment can carry, and how many bytes their names may take in it: the comment is rewritten with each. */
const MOST_REACTIONS = 200;
const MOST_REFERENCE_BYTES = 64 * 1024;
/** What the users of one reaction may take: DynamoDB holds 400 KB in one item. */
const MOST_USER_BYTES = 256 * 1024;

/** A reaction as the comment that it is on names it: what its key is made of. */
export const ReactionReference = z.object({ id: z.string(), createdAt: z.number() });
export type ReactionReference = z.output<typeof ReactionReference>;

/** A reaction as it is stored (facts B17). */
export const Reaction = z.object({
  annotationId: z.string(),
  icon: z.string(),
  /** Who reacted, in the order in which they did; `lastUpdated` is when, epoch ms, and never changes. */
  fromUsers: z.array(z.object({ from: StoredUser, lastUpdated: z.number() })),
  /** The comment that it is on; `threadCreatedAt` is a part of that comment's key. */
  on: z.object({ annotationId: z.string(), commentId: z.number(), threadCreatedAt: z.number() }).optional(),
  /** As JSON text: its own location, or that which the thread had when the reaction was made. */
  location: z.string().optional(),
  /** What its own location is known by; absent when the location is the thread's, which may move. */
  locationKey: z.string().optional(),
  /** The customer's id of the document. */
  documentId: z.string(),
  createdAt: z.number(),
  lastUpdated: z.number(),
});
export type Reaction = z.output<typeof Reaction>;

/** A comment as callers name it for a reaction. */
export interface CommentReference {
  readonly annotationId: string;
  readonly commentId: number;
}

/** One entry of a call: somebody reacts. */
export interface ReactionEntry {
  readonly annotationId: string;
  readonly icon: string;
  readonly from: ContentUser;
  readonly on?: CommentReference | undefined;
  readonly location?: Location | undefined;
}

/** What one call says of one reaction: its entries with the same id, as one. */
export interface ReactionRequest {
  readonly annotationId: string;
  readonly icon: string;
  /** Everybody whom the call names. */
  readonly users: readonly ContentUser[];
  readonly on: CommentReference | undefined;
  readonly location: Location | undefined;
  /** Whether its entries are of one mind: same icon, same comment. */
  readonly agreed: boolean;
}

/** The entries of a call by reaction, in the order of their first mention: those with the same id are several users of one reaction. */
export function groupEntries(entries: readonly ReactionEntry[]): ReactionRequest[] {
  return [...Map.groupBy(entries, ({ annotationId }) => annotationId)].map(([annotationId, same]) => {
    const { icon } = same[0] as ReactionEntry;
    const on = same.find((entry) => entry.on)?.on;
    return {
      annotationId,
      icon,
      users: distinctBy(
        same.map(({ from }) => from),
        ({ userId }) => userId,
      ),
      on,
      location: same.find((entry) => entry.location)?.location,
      agreed: same.every((entry) => entry.icon === icon && (!entry.on || isSameComment(entry.on, on))),
    };
  });
}

function isSameComment(one: CommentReference, other: CommentReference | undefined): boolean {
  return one.annotationId === other?.annotationId && one.commentId === other.commentId;
}

/** Where a new reaction lies: in which document, on which comment, at which location when it has none of its own. */
export interface NewReactionContext {
  readonly documentId: string;
  readonly on?: Reaction['on'];
  /** The location of the thread, as JSON text. */
  readonly threadLocation?: string | undefined;
}

/** A reaction after users reacted, and who of them was not among its users before; or why it cannot be. */
export type ReactionOutcome =
  { readonly refused: string } | { readonly reaction: Reaction; readonly added: readonly ContentUser[] };

/**
 * Some of the users of a call react: a new reaction, or the stored one with those added who are not among its users yet. Another icon or
 * comment than the stored ones is refused; so are all users of the call when they would be more than 50 in the end, or too much to store.
 */
export function addReactionUsers(
  stored: Reaction | undefined,
  { annotationId, icon, users, on, location, agreed }: ReactionRequest,
  some: readonly ContentUser[],
  scope: NewReactionContext,
  now: number,
): ReactionOutcome {
  if (!agreed) return { refused: 'Reaction is given with several icons or comments.' };
  if (stored && stored.icon !== icon) return { refused: 'Reaction has another icon.' };
  if (stored && on && !isSameComment(on, stored.on)) return { refused: 'Reaction is on something else.' };
  const before = stored?.fromUsers ?? [];
  const isNew = ({ userId }: ContentUser) => !before.some(({ from }) => from.userId === userId);
  const withUsers = (more: readonly ContentUser[]) => [...before, ...more.map((from) => ({ from, lastUpdated: now }))];
  const inTheEnd = withUsers(users.filter(isNew));
  if (inTheEnd.length > MOST_INVOLVED) return { refused: `Reaction can have at most ${MOST_INVOLVED} users.` };
  if (isLongerThan(JSON.stringify(inTheEnd), MOST_USER_BYTES)) return { refused: 'Reaction is too large.' };
  const added = some.filter(isNew);
  const fromUsers = withUsers(added);
  if (stored) return { added, reaction: added.length === 0 ? stored : { ...stored, fromUsers, lastUpdated: now } };
  const lies = location
    ? { location: JSON.stringify(location), locationKey: locationKey(location) }
    : { location: scope.threadLocation };
  return {
    added,
    reaction: {
      annotationId,
      icon,
      fromUsers,
      on: scope.on,
      ...lies,
      documentId: scope.documentId,
      createdAt: now,
      lastUpdated: now,
    },
  };
}

/** What a comment names once a reaction is on it; undefined when it takes no more. */
export function addReference(
  references: readonly ReactionReference[],
  { annotationId: id, createdAt }: Reaction,
): readonly ReactionReference[] | undefined {
  if (references.some((reference) => reference.id === id)) return references;
  const grown = [...references, { id, createdAt }];
  return grown.length > MOST_REACTIONS || isLongerThan(JSON.stringify(grown), MOST_REFERENCE_BYTES) ? undefined : grown;
}

/** A reaction as answers show it. */
export const ReactionResponse = z.object({
  annotationId: z.string(),
  type: z.literal('reaction'),
  icon: z.string(),
  commentAnnotationId: z.string().optional(),
  commentId: z.number().optional(),
  fromUsers: Reaction.shape.fromUsers,
  location: z.record(z.string(), z.unknown()).optional(),
  locationId: z.string().optional(),
  /** Epoch milliseconds, like `lastUpdated` here and of the users. */
  createdAt: z.number(),
  lastUpdated: z.number(),
  metadata: z.object({ apiKey: z.string(), organizationId: z.string(), documentId: z.string() }),
});
export type ReactionResponse = z.output<typeof ReactionResponse>;

/** Shows a reaction (facts B17); `apiKey` and `organizationId` are those that it lies under, as customers know them. */
export function toReactionResponse(
  { apiKey, organizationId }: { apiKey: string; organizationId: string },
  reaction: Reaction,
): ReactionResponse {
  const { annotationId, icon, on, fromUsers, documentId, createdAt, lastUpdated } = reaction;
  const location = reaction.location === undefined ? undefined : (JSON.parse(reaction.location) as Location);
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
