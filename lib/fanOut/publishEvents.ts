import { threadAccessOf } from '../comments/rules/threads.ts';
import { ThreadEntity } from '../comments/threads.ts';
import { documentScope } from '../content/documentScope.ts';
import { findRecordIds, recordIdKey } from '../content/recordIds.ts';
import { type Document, DocumentReader, readDocuments, refuseMigrating } from '../directory/documents.ts';
import { findOrganization, type Organization, OrganizationReader } from '../directory/organizations.ts';
import { organizationScope } from '../directory/organizationScope.ts';
import { EventEntity, publishedId, recordEvent } from '../events/outbox.ts';
import { type AudienceThread, sourceOf } from '../events/rules/payload.ts';
import { BatchReader } from '../table/batchReader.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { publishedAnnotationId, type PublishedEvent, publishedPayload } from './rules/publishedEvent.ts';

export interface Publication extends PublishedEvent {
  readonly organizationId: string;
  readonly documentId?: string | undefined;
  readonly channels?: readonly string[] | undefined;
  readonly eventId?: string | undefined;
}

export class EventPublisher {
  readonly #table: Table;
  readonly #organizations: OrganizationReader;
  readonly #documents: DocumentReader;

  constructor(table: Table) {
    this.#table = table;
    const items = BatchReader.of(table);
    this.#organizations = new OrganizationReader(table, items);
    this.#documents = new DocumentReader(table, items);
  }

  /**
   * Returns the message id. An event with the same `eventId` is not written again, even if its content differs. Without
   * `eventId`, the message id derives from the id of the call. Throws INVALID_ARGUMENT for an unknown organization, too
   * many users to notify or a payload that is too large, NOT_FOUND for an unknown document, and FAILED_PRECONDITION for
   * one that is being migrated.
   */
  async publish(tenant: string, { eventId, ...sent }: Publication, call: string, now: number): Promise<string> {
    const { event, organizationId, documentId, channels } = sent;
    const { organization, content: document } = await this.#organizations.readWithin(
      tenant,
      organizationId,
      async (keys) =>
        documentId === undefined ? undefined : this.#documents.require(organizationScope(tenant, keys), documentId),
    );
    refuseMigrating([document]);
    const thread = document && (await this.#thread(tenant, organization, document, sent));
    const payload = publishedPayload(sent, { apiKey: tenant, organization, document }, thread);
    const cause = { type: 'Published', id: eventId ?? call, revision: 1 };
    const recorded = recordEvent(tenant, { event, cause, organizationId, documentId, channels, payload }, now, {
      eventId: eventId === undefined ? undefined : publishedId(tenant, eventId),
    });
    return retryOnConflict(async () => {
      if ((await this.#table.write(recorded.ops)) === 'done') return recorded.event.eventId;
      const existing = await this.#table.get(EventEntity, { tenant, eventId: recorded.event.eventId });
      return existing ? existing.eventId : 'conflict';
    });
  }

  async #thread(
    tenant: string,
    organization: Organization,
    document: Document,
    { event, data }: PublishedEvent,
  ): Promise<AudienceThread | undefined> {
    const annotationId = sourceOf(event) === 'comment' ? publishedAnnotationId(data) : undefined;
    if (annotationId === undefined) return undefined;
    const scope = documentScope(organizationScope(tenant, organization), document);
    const [position] = await findRecordIds(this.#table, scope, [
      recordIdKey('thread', annotationId, document.documentId),
    ]);
    const thread =
      position && (await this.#table.get(ThreadEntity, { ...scope, annotationId, createdAt: position.createdAt }));
    if (!thread) return undefined;
    const { createdAt } = thread;
    return {
      ...threadAccessOf(thread, organization.organizationId),
      organizationKey: organization.internalId,
      documentKey: document.internalId,
      annotationId,
      createdAt,
    };
  }
}

export const publishEvents = /* @__PURE__ */ storeCapability(EventPublisher, [
  findOrganization,
  readDocuments,
  'GetItem',
  'BatchGetItem',
  'PutItem',
]);
