import { guardsOf, memberships, usersWithAccess } from '../data/content/viewers.ts';
import { notificationSettings } from '../data/content/notificationSettings.ts';
import { type Document, DocumentEntity } from '../data/documents.ts';
import { placeOf } from '../data/folders.ts';
import { type Organization, OrganizationEntity } from '../data/organizations.ts';
import type { Table } from '../data/table.ts';
import { type Guarded, maySee, visibleToMembersOf } from '../domain/content/visibility.ts';
import type { Audience, AudienceThread, EventPayload } from '../domain/events/payload.ts';
import { levelsFor, type RecipientRules } from '../domain/events/recipients.ts';
import { distinct } from '../dict.ts';

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

export interface AudienceDeps {
  readonly table: Table;
  /** The time, epoch ms. */
  readonly clock: () => number;
}

const nobody: RecipientRules = { levelsOf: () => levelsFor(undefined, undefined), maySee: () => false };

/** Everybody whom an event may concern. */
export function candidates({ actorId, addressed, following }: Audience): string[] {
  return distinct([...addressed, ...following]).filter((userId) => userId !== actorId);
}

interface EventPlace {
  readonly organization: Organization;
  readonly document: Document | undefined;
}

/** Where an event happened: undefined when its organization or document is not there any more. */
async function placeOfEvent(table: Table, { tenant, organizationId, documentId, payload }: OccurredEvent): Promise<EventPlace | undefined> {
  const thread = payload.audience?.thread;
  if (organizationId === undefined) return undefined;
  const documentOf = (organization: string) => (documentId === undefined ? undefined : table.get(DocumentEntity, { tenant, organization, documentId }));
  const [organization, early] = await Promise.all([table.get(OrganizationEntity, { tenant, organizationId }), thread && documentOf(thread.organization)]);
  if (!organization || (thread && thread.organization !== organization.internalId)) return undefined;
  const document = thread ? early : await documentOf(organization.internalId);
  if ((documentId !== undefined && !document) || (thread && document?.internalId !== thread.document)) return undefined;
  return { organization, document };
}

/** A thread as it is now. Once it is gone nobody hears of it any more, but that it was deleted those who could see it. */
async function guardedNow(table: Table, tenant: string, event: string, thread: AudienceThread): Promise<Guarded | undefined> {
  const [current] = await guardsOf(table, { tenant, organization: thread.organization }, thread.organizationId, [thread]);
  return current ?? (event === 'comment.delete' ? thread : undefined);
}

/**
 * What decides who is told of an event, as things are now and not as they were when it happened: settings, the visibility of the
 * thread, and access to the document. On a public document a user need not be known to be told. Nobody is told of what happened in a
 * document or thread that is gone; but that a comment was deleted, also when the thread went with it.
 */
export async function audienceRules({ table, clock }: AudienceDeps, tenant: string, event: OccurredEvent): Promise<RecipientRules> {
  const { audience } = event.payload;
  const userIds = audience ? candidates(audience) : [];
  if (!audience || userIds.length === 0) return nobody;
  const { thread } = audience;
  const [at, guarded] = await Promise.all([placeOfEvent(table, event), thread && guardedNow(table, tenant, event.event, thread)]);
  if (!at || (thread && !guarded)) return nobody;

  const now = clock();
  const { organization, document } = at;
  const place = placeOf(tenant, organization);
  const membersSee = guarded && visibleToMembersOf(guarded);
  const [settings, withAccess, isMember] = await Promise.all([
    notificationSettings(table, place, document?.internalId, userIds),
    document ? usersWithAccess(table, { organization, document, place: { ...place, document: document.internalId } }, userIds, { now, strangers: true }) : new Set(userIds),
    membersSee === undefined ? [] : memberships(table, tenant, userIds.map((userId) => ({ organizationId: membersSee, userId })), now),
  ]);
  const members = new Set(userIds.filter((_userId, index) => isMember[index]));
  return {
    levelsOf: (userId) => settings.get(userId) ?? levelsFor(undefined, undefined),
    maySee: (userId) => withAccess.has(userId) && (!guarded || maySee(guarded, userId, members.has(userId))),
  };
}
