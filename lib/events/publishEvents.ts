import { sourceOf, type AudienceThread } from './rules/payload.ts';
import { threadAccessOf } from '../comments/rules/threads.ts';
import { annotationIdIn, type Published, publishedPayload } from './rules/published.ts';
import { findRecordIds } from '../content/recordIds.ts';
import { ThreadEntity } from '../comments/threads.ts';
import { type Document, DocumentReader } from '../directory/documents.ts';
import { EventEntity, publishedId, recordEvent } from './outbox.ts';
import { organizationScope } from '../directory/folders/folders.ts';
import { type Organization, OrganizationReader } from '../directory/organizations.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import type { Table } from '../table/table.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** An event that a customer publishes, and where. */
export interface Publication extends Published {
  readonly organizationId: string;
  readonly documentId?: string | undefined;
  readonly channels?: readonly string[] | undefined;
  /** The publisher's own id of the event. */
  readonly eventId?: string | undefined;
}

export class EventPublisher {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Writes an event, and gives the id of its message. The same `eventId` once more, or the same `call` where there is none, gives that of the
   * first time and writes nothing, whatever it says then. INVALID_ARGUMENT when the organization does not exist, NOT_FOUND when the document does not.
   */
  async publish(tenant: string, { eventId, ...sent }: Publication, call: string, now: number): Promise<string> {
    const { event, organizationId, documentId, channels } = sent;
    const organization = await new OrganizationReader(this.#table).require(tenant, organizationId);
    const document =
      documentId === undefined
        ? undefined
        : await new DocumentReader(this.#table).require(organizationScope(tenant, organization), documentId);
    const thread = document && (await this.#thread(tenant, organization, document, sent));
    const payload = publishedPayload(sent, { apiKey: tenant, organization, document }, thread);
    const cause = { type: 'Published', id: eventId ?? call, revision: 1 };
    const recorded = recordEvent(tenant, { event, cause, organizationId, documentId, channels, payload }, now, {
      eventId: eventId === undefined ? undefined : publishedId(tenant, eventId),
    });
    return retryOnConflict(async () => {
      if ((await this.#table.write(recorded.ops)) === 'done') return recorded.event.eventId;
      const there = await this.#table.get(EventEntity, { tenant, eventId: recorded.event.eventId });
      return there ? there.eventId : 'conflict';
    });
  }

  /** The thread that the event is about, when it is stored: whoever is told has to be allowed to see it. */
  async #thread(
    tenant: string,
    organization: Organization,
    document: Document,
    { event, data }: Published,
  ): Promise<AudienceThread | undefined> {
    const annotationId = sourceOf(event) === 'comment' ? annotationIdIn(data) : undefined;
    if (annotationId === undefined) return undefined;
    const scope = { ...organizationScope(tenant, organization), documentKey: document.internalId };
    const [position] = await findRecordIds(this.#table, scope, [
      { kind: 'thread', id: annotationId, within: document.documentId },
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

/** Publish events. */
export const publishEvents = /* @__PURE__ */ storeCapability(EventPublisher, ['GetItem', 'BatchGetItem', 'PutItem']);
