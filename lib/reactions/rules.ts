import * as z from 'zod';
import { type ContentUser, MAX_INVOLVED_USERS, StoredUser } from '../content/rules/contentUser.ts';
import { RecordNames, type ResponseNames } from '../content/rules/eventMetadata.ts';
import { type Location, locationKey } from '../content/rules/location.ts';
import {
  changedFieldsWithoutPersonal,
  isMadeBy,
  type RemovedUsers,
  withChanges,
} from '../content/rules/removedUsers.ts';
import { isLongerThan } from '../shared/bytes.ts';
import { distinctBy } from '../shared/collections.ts';
import { readJson } from '../shared/jsonFields.ts';
import { AnyObject, defineNamedSchema, defineSchema } from '../shared/schema.ts';

/** On one comment: reactions, and bytes of their references. Each new reaction rewrites the comment. */
const MAX_REACTIONS = 200;
const MAX_REFERENCE_BYTES = 64 * 1024;
/** DynamoDB limits an item to 400 KB. */
const MAX_USER_BYTES = 256 * 1024;

export const ReactionReference = /* @__PURE__ */ defineSchema(() =>
  z.object({ id: z.string(), createdAt: z.number() }),
);
export type ReactionReference = z.output<typeof ReactionReference>;

export const Reaction = /* @__PURE__ */ defineSchema(() =>
  z.object({
    annotationId: z.string(),
    icon: z.string(),
    /** In the order in which they reacted. `lastUpdated` (epoch ms) never changes. */
    fromUsers: z.array(z.object({ from: StoredUser, lastUpdated: z.number() })),
    /** The comment's key. Undefined for a reaction on the document itself. */
    on: z.object({ annotationId: z.string(), commentId: z.number(), threadCreatedAt: z.number() }).optional(),
    /** JSON text. If none was sent, that of the thread at that time. */
    location: z.string().optional(),
    /** Undefined if no location was sent: that of the thread then applies, which can change. */
    locationKey: z.string().optional(),
    documentId: z.string(),
    createdAt: z.number(),
    lastUpdated: z.number(),
  }),
);
export type Reaction = z.output<typeof Reaction>;

export interface CommentReference {
  readonly annotationId: string;
  readonly commentId: number;
}

export interface ReactionEntry {
  readonly annotationId: string;
  readonly icon: string;
  readonly from: ContentUser;
  readonly on?: CommentReference | undefined;
  readonly location?: Location | undefined;
}

export interface ReactionRequest {
  readonly annotationId: string;
  readonly icon: string;
  readonly users: readonly ContentUser[];
  readonly on: CommentReference | undefined;
  readonly location: Location | undefined;
  /** All entries have the same icon, and those on a comment the same comment. */
  readonly isConsistent: boolean;
}

/** In the order of their first entries. */
export function groupEntries(entries: readonly ReactionEntry[]): ReactionRequest[] {
  return [...Map.groupBy(entries, ({ annotationId }) => annotationId)].map(([annotationId, ownEntries]) => {
    const { icon } = ownEntries[0] as ReactionEntry;
    const on = ownEntries.find((entry) => entry.on)?.on;
    const users = distinctBy(
      ownEntries.map(({ from }) => from),
      ({ userId }) => userId,
    );
    return {
      annotationId,
      icon,
      users,
      on,
      location: ownEntries.find((entry) => entry.location)?.location,
      isConsistent: ownEntries.every((entry) => entry.icon === icon && (!entry.on || isSameComment(entry.on, on))),
    };
  });
}

function isSameComment(a: CommentReference, b: CommentReference | undefined): boolean {
  return a.annotationId === b?.annotationId && a.commentId === b.commentId;
}

export interface NewReactionContext {
  readonly documentId: string;
  readonly on?: Reaction['on'];
  /** JSON text, for a reaction that is sent without a location. */
  readonly threadLocation?: string | undefined;
}

export type ReactionOutcome =
  { readonly refused: string } | { readonly reaction: Reaction; readonly added: readonly ContentUser[] };

/** A request is refused as a whole: no user is added. */
export function addReactionUsers(
  stored: Reaction | undefined,
  { annotationId, icon, users, on, location, isConsistent }: ReactionRequest,
  stepUsers: readonly ContentUser[],
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
  if (isLongerThan(JSON.stringify(all), MAX_USER_BYTES)) return { refused: 'Reaction is too large.' };
  const added = stepUsers.filter(isNew);
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

/** Undefined if the comment has no room for it. */
export function addReference(
  references: readonly ReactionReference[],
  { annotationId: id, createdAt }: Reaction,
): readonly ReactionReference[] | undefined {
  if (references.some((reference) => reference.id === id)) return references;
  const all = [...references, { id, createdAt }];
  return all.length > MAX_REACTIONS || isLongerThan(JSON.stringify(all), MAX_REFERENCE_BYTES) ? undefined : all;
}

export const ReactionResponse = /* @__PURE__ */ defineNamedSchema('Reaction', () =>
  z
    .object({
      annotationId: z.string().describe('The reaction, by your id or the one that the service chose.'),
      type: z.literal('reaction').describe('Always `reaction`.'),
      icon: z.string().describe('The emoji, or the name of a picture of yours.'),
      commentAnnotationId: z
        .string()
        .describe('The thread of the comment. Missing if the reaction belongs to the document.')
        .optional(),
      commentId: z.number().describe('The comment in the thread, by its number.').optional(),
      fromUsers: z
        .array(
          z.object({
            from: StoredUser.describe('A user who reacted.'),
            lastUpdated: z.number().describe('When the user reacted, in epoch milliseconds.'),
          }),
        )
        .describe('The users in the order in which they reacted.'),
      location: AnyObject.describe('Where in the document the reaction is.').optional(),
      locationId: z
        .string()
        .describe('The key of the location: its `id` as text, otherwise a hash of the location.')
        .optional(),
      createdAt: z.number().describe('When the first user reacted, in epoch milliseconds.'),
      lastUpdated: z.number().describe('When the users of the reaction last changed, in epoch milliseconds.'),
      metadata: RecordNames,
    })
    .describe('A reaction with its users.'),
);
export type ReactionResponse = z.output<typeof ReactionResponse>;

export function toReactionResponse({ apiKey, organizationId }: ResponseNames, reaction: Reaction): ReactionResponse {
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

export function removeReactors(reaction: Reaction, removed: RemovedUsers): Reaction | undefined {
  const fromUsers = reaction.fromUsers.filter(({ from, lastUpdated }) => !isMadeBy(from.userId, lastUpdated, removed));
  if (fromUsers.length === 0) return undefined;
  return fromUsers.length === reaction.fromUsers.length ? reaction : { ...reaction, fromUsers };
}

export function eraseFromReaction(reaction: Reaction, removed: RemovedUsers): Reaction | undefined {
  const remaining = removeReactors(reaction, removed);
  return remaining && remaining.createdAt <= removed.removedAt
    ? withChanges(remaining, changedFieldsWithoutPersonal(remaining, ['location'], removed))
    : remaining;
}
