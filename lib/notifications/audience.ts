import { accessFieldsOf } from '../comments/rules/commentContext.ts';
import type { Comment } from '../comments/rules/comments.ts';
import { threadAccessOf } from '../comments/rules/threads.ts';
import { CommentEntity, commentKey, ThreadEntity } from '../comments/threads.ts';
import { findUsersWhoCanSee } from '../content/accessChecks.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import type { RecordAccess } from '../content/rules/threadAccess.ts';
import type { UserWritten } from '../content/rules/userLinks.ts';
import { type Document, DocumentEntity, DocumentReader } from '../directory/documents.ts';
import { type Organization, OrganizationEntity } from '../directory/organizations.ts';
import { organizationScope } from '../directory/organizationScope.ts';
import { findRenamed, unlessLater } from '../directory/renamedDocuments.ts';
import type { Audience, EventPayload } from '../events/rules/payload.ts';
import { levelsFor, type RecipientRules } from '../events/rules/recipients.ts';
import { readCommentReactions } from '../reactions/reactions.ts';
import { distinct } from '../shared/collections.ts';
import type { Stored } from '../table/entity.ts';
import { itemOf, type Table } from '../table/table.ts';
import { AllowedDomainsEntity } from '../workspaces/allowedDomains.ts';
import { readNotificationLevels } from './notificationSettings.ts';

export interface OccurredEvent {
  readonly tenant: string;
  readonly eventId: string;
  readonly event: string;
  readonly organizationId?: string | undefined;
  readonly documentId?: string | undefined;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly payload: EventPayload;
}

/**
 * Delivers events by mail or as in-app notifications. `consume` must be idempotent, because it can get an event twice.
 */
export interface EventConsumer {
  /** True if the tenant's configuration asks for deliveries of the event. */
  concerns(event: Pick<OccurredEvent, 'tenant' | 'event'>): Promise<boolean>;
  /** Returns until when the event must be readable (epoch ms), if this is longer than usual. */
  consume(event: OccurredEvent): Promise<number | undefined>;
}

export interface AudienceDeps {
  readonly table: Table;
  readonly clock: () => number;
}

const nobody: RecipientRules = {
  levelsOf: () => levelsFor(undefined, undefined),
  maySee: () => false,
  documentId: undefined,
  location: undefined,
};

export function audienceMembers({ actorId, addressed, following }: Audience): string[] {
  return distinct([...addressed, ...following]).filter((userId) => userId !== actorId);
}

export interface EventLocation {
  readonly organization: Organization;
  readonly document: Stored<Document> | undefined;
}

/**
 * Undefined without an organization, or if organization or document was deleted, also if another one has the id now.
 */
export async function readEventLocation(
  table: Table,
  { tenant, organizationId, documentId, createdAt, payload }: OccurredEvent,
): Promise<EventLocation | undefined> {
  const thread = payload.audience?.thread;
  if (organizationId === undefined) return undefined;
  const readDocument = async (organizationKey: string) =>
    documentId === undefined ? undefined : table.get(DocumentEntity, { tenant, organizationKey, documentId });
  // The thread of the event contains the organization key, so both are read in parallel.
  const [organization, documentOfThread] = await Promise.all([
    table.get(OrganizationEntity, { tenant, organizationId }),
    thread && readDocument(thread.organizationKey),
  ]);
  if (!organization || organization.createdAt > createdAt) return undefined;
  const organizationKey = organization.internalId;
  if (thread && thread.organizationKey !== organizationKey) return undefined;
  const named = thread ? documentOfThread : await readDocument(organizationKey);
  // An event without a thread does not have the internal id of its document.
  const document = thread
    ? await findRenamed(table, { tenant, ...thread }, named)
    : named && (await unlessLater(table, { tenant, organizationKey }, named, createdAt));
  if ((documentId !== undefined || thread) && !document) return undefined;
  return { organization, document };
}

type EventAccess = Pick<RecordAccess, 'thread' | 'accessFields'>;

/**
 * Undefined if the thread, or a comment that a mail can quote, was deleted, or the reaction was taken back. Except for
 * `comment.delete`: users who could see the comment are notified.
 */
export async function readEventAccess(table: Table, event: OccurredEvent): Promise<EventAccess | undefined> {
  const { tenant, payload } = event;
  const { thread, accessFields = [] } = payload.audience ?? {};
  if (!thread) return { accessFields };
  const { organizationKey, documentKey, commentId } = thread;
  const scope = { tenant, organizationKey, documentKey };
  const commentIds = commentId === undefined ? [] : quotedCommentIds(event, commentId);
  const [head, ...comments] = await table.batchGet(
    itemOf(ThreadEntity, { ...scope, ...thread }),
    ...commentIds.map((id) => itemOf(CommentEntity, commentKey(scope, thread, id))),
  );
  const isDeleted = !head || comments.some((comment) => !comment);
  if (isDeleted && event.event !== 'comment.delete') return undefined;
  const [comment] = comments;
  if (event.event === 'comment.reaction_add' && comment && !(await hasReaction(table, scope, event, comment)))
    return undefined;
  return {
    thread: head ? threadAccessOf(head, thread.organizationId) : thread,
    accessFields: distinct([...accessFields, ...comments.flatMap((comment) => accessFieldsOf(comment?.context) ?? [])]),
  };
}

function quotedCommentIds({ event, payload }: OccurredEvent, commentId: number): number[] {
  if (event !== 'comment_annotation.add') return [commentId];
  const { commentAnnotation } = payload.data as { commentAnnotation: { comments: { commentId: number }[] } };
  return commentAnnotation.comments.map((comment) => comment.commentId);
}

/** A reaction that the user took back and made again belongs to a later event. */
async function hasReaction(
  table: Table,
  scope: DocumentScope,
  { createdAt, payload: { audience, data } }: OccurredEvent,
  { reactions = [] }: Comment,
): Promise<boolean> {
  const { targetComment } = data as { targetComment: { reactionAnnotations: { annotationId: string }[] } };
  const { annotationId } = targetComment.reactionAnnotations[0] ?? {};
  const references = reactions.filter(({ id }) => id === annotationId);
  const [reaction] = await readCommentReactions(table, scope, references);
  const isMade = reaction?.fromUsers.some(
    ({ from, lastUpdated }) => from.userId === audience?.actorId && lastUpdated <= createdAt,
  );
  return isMade === true;
}

export async function readUserWritten(
  table: Table,
  { tenant, payload: { audience } }: Pick<OccurredEvent, 'tenant' | 'payload'>,
): Promise<UserWritten | undefined> {
  const written = audience?.userWritten;
  if (!written) return undefined;
  const [allowed] = await table.batchGet(itemOf(AllowedDomainsEntity, { tenant }));
  return { ...written, domains: allowed?.domains ?? [] };
}

/**
 * Reads current settings and access. An event in a deleted document has no recipients, nor has an event about a deleted
 * thread or comment, except `comment.delete`. A caller that has read the location passes it as `known`.
 */
export async function readRecipientRules(
  { table, clock }: AudienceDeps,
  tenant: string,
  event: OccurredEvent,
  known?: EventLocation,
): Promise<RecipientRules> {
  const { audience } = event.payload;
  const userIds = audience ? audienceMembers(audience) : [];
  if (userIds.length === 0) return nobody;
  const [location, access] = await Promise.all([
    known ?? readEventLocation(table, event),
    readEventAccess(table, event),
  ]);
  if (!location || !access) return nobody;

  const { organization, document } = location;
  const scope = organizationScope(tenant, organization);
  const check = { scope, organization, now: clock() };
  const readAllowed = async () => {
    if (!document) return findUsersWhoCanSee(table, check, access, userIds);
    const [documentInFolder] = await new DocumentReader(table).attachFolders(scope, [document]);
    return documentInFolder
      ? findUsersWhoCanSee(table, check, { ...access, document: documentInFolder }, userIds)
      : new Set<string>();
  };
  const [settings, allowed] = await Promise.all([
    readNotificationLevels(table, scope, document?.internalId, userIds),
    readAllowed(),
  ]);
  return {
    levelsOf: (userId) => settings.get(userId) ?? levelsFor(undefined, undefined),
    maySee: (userId) => allowed.has(userId),
    documentId: document?.leaving?.to ?? document?.documentId,
    location: { organizationKey: organization.internalId, documentKey: document?.internalId },
  };
}
