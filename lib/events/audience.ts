import { readNotificationLevels } from '../notifications/notificationSettings.ts';
import { CommentEntity, ThreadEntity } from '../comments/threads.ts';
import { usersWhoCanSee } from '../content/accessChecks.ts';
import { type Document, DocumentEntity, DocumentReader } from '../directory/documents.ts';
import type { Stored } from '../table/entity.ts';
import { organizationScope } from '../directory/folders/folders.ts';
import { type Organization, OrganizationEntity } from '../directory/organizations.ts';
import { type Table, itemOf } from '../table/table.ts';
import { accessFieldsOf } from '../comments/rules/comments.ts';
import type { RecordAccess } from '../content/rules/threadAccess.ts';
import { threadAccessOf } from '../comments/rules/threads.ts';
import type { Audience, EventPayload } from './rules/payload.ts';
import { levelsFor, type RecipientRules } from './rules/recipients.ts';
import { distinct } from '../shared/collections.ts';

/** An event as deliveries are made of it. */
export interface OccurredEvent {
  readonly tenant: string;
  readonly eventId: string;
  readonly event: string;
  /** Under the customer's ids. */
  readonly organizationId?: string | undefined;
  readonly documentId?: string | undefined;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly payload: EventPayload;
}

/** Makes deliveries of another kind of an event, such as mails; once more for the same event changes nothing. */
export type EventConsumer = (event: OccurredEvent) => Promise<void>;

export interface AudienceDeps {
  readonly table: Table;
  /** The time, epoch ms. */
  readonly clock: () => number;
}

const nobody: RecipientRules = { levelsOf: () => levelsFor(undefined, undefined), maySee: () => false };

/** Everybody whom an event may concern. */
export function audienceMembers({ actorId, addressed, following }: Audience): string[] {
  return distinct([...addressed, ...following]).filter((userId) => userId !== actorId);
}

interface EventPlace {
  readonly organization: Organization;
  readonly document: Stored<Document> | undefined;
}

/** Where an event happened: undefined when its organization or document is not there any more. */
async function placeOfEvent(
  table: Table,
  { tenant, organizationId, documentId, payload }: OccurredEvent,
): Promise<EventPlace | undefined> {
  const thread = payload.audience?.thread;
  if (organizationId === undefined) return undefined;
  const documentOf = (organization: string) =>
    documentId === undefined
      ? undefined
      : table.get(DocumentEntity, { tenant, organizationKey: organization, documentId });
  const [organization, early] = await Promise.all([
    table.get(OrganizationEntity, { tenant, organizationId }),
    thread && documentOf(thread.organizationKey),
  ]);
  if (!organization || (thread && thread.organizationKey !== organization.internalId)) return undefined;
  const document = thread ? early : await documentOf(organization.internalId);
  if ((documentId !== undefined && !document) || (thread && document?.internalId !== thread.documentKey))
    return undefined;
  return { organization, document };
}

/** What recipients of an event must be allowed to see. */
type EventGuard = Pick<RecordAccess, 'thread' | 'accessFields'>;

/**
 * Reads the thread and the comment of an event as they are now; undefined when the thread is deleted. A deletion is told to users who could see the
 * deleted comment, so `comment.delete` falls back on what the event recorded. One BatchGet.
 */
async function guardNow(table: Table, event: OccurredEvent): Promise<EventGuard | undefined> {
  const {
    tenant,
    payload: { audience },
  } = event;
  const { thread, accessFields = [] } = audience ?? {};
  if (!thread) return { accessFields };
  const { organizationKey, documentKey, annotationId, createdAt, commentId } = thread;
  const scope = { tenant, organizationKey, documentKey };
  const [head, comment] = await table.batchGet(
    itemOf(ThreadEntity, { ...scope, annotationId, createdAt }),
    ...(commentId === undefined
      ? []
      : [itemOf(CommentEntity, { ...scope, annotationId, threadCreatedAt: createdAt, commentId })]),
  );
  if (!head && event.event !== 'comment.delete') return undefined;
  return {
    thread: head ? threadAccessOf(head, thread.organizationId) : thread,
    accessFields: distinct([...accessFields, ...(accessFieldsOf(comment?.context) ?? [])]),
  };
}

/**
 * Reads what decides who is told of an event: settings, and whether a user may see the event, by the rule `maySee`. All of it is read when the
 * event is sent, not when it happened. A user that the tenant does not know can be told of an event in a public document. Nobody is told
 * of an event in a document or thread that is deleted, except `comment.delete` of a thread that was deleted with its last comment.
 */
export async function readRecipientRules(
  { table, clock }: AudienceDeps,
  tenant: string,
  event: OccurredEvent,
): Promise<RecipientRules> {
  const { audience } = event.payload;
  const userIds = audience ? audienceMembers(audience) : [];
  if (!audience || userIds.length === 0) return nobody;
  const [at, guard] = await Promise.all([placeOfEvent(table, event), guardNow(table, event)]);
  if (!at || !guard) return nobody;

  const { organization, document } = at;
  const scope = organizationScope(tenant, organization);
  const check = { scope, organization, now: clock() };
  const seeing = async () => {
    if (!document) return usersWhoCanSee(table, check, guard, userIds);
    const [placed] = await new DocumentReader(table).placed(scope, [document]);
    return placed ? usersWhoCanSee(table, check, { ...guard, document: placed }, userIds) : new Set<string>();
  };
  const [settings, allowed] = await Promise.all([
    readNotificationLevels(table, scope, document?.internalId, userIds),
    seeing(),
  ]);
  return {
    levelsOf: (userId) => settings.get(userId) ?? levelsFor(undefined, undefined),
    maySee: (userId) => allowed.has(userId),
  };
}
