import type { Capability } from '../app/capability.ts';
import { EVENT_LIFETIME_SECONDS, EventEntity, type StoredEvent, tenantEvents, tenantShards } from '../events/outbox.ts';
import { jsonBytes } from '../shared/bytes.ts';
import { inParallel } from '../shared/inParallel.ts';
import { AFTER_ALL_TIMES, isoTime } from '../shared/isoTime.ts';
import type { Key, Stored } from '../table/entity.ts';
import type { ItemPage } from '../table/pages.ts';
import { type IndexEntry, queryShards, shardNumbers } from '../table/queryShards.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { DeliveryEntity, DeliveryStore, endpointPartitions, failedDeliveriesTo } from './deliveries.ts';
import type { Delivery } from './rules/delivery.ts';
import { type MessageStatus, toMessageResponse, toMessageStatus } from './rules/messageView.ts';

export interface MessageFilter {
  readonly endpointId?: string | undefined;
  readonly status?: MessageStatus | undefined;
}

export interface Message {
  readonly event: Omit<StoredEvent, 'tenant'>;
  readonly deliveries: readonly Delivery[];
}

export interface MessagePageOptions {
  readonly limit: number;
  readonly after?: string | undefined;
  readonly now: number;
}

interface EntryOptions {
  readonly since: number;
  readonly before: string | undefined;
  readonly limit: number;
}

const MAX_EXAMINED_MESSAGES = 1_000;
const EXAMINED_PER_STEP = 250;
const PAGE_BYTES = 4_000_000;
const PARALLEL = 20;

/**
 * New messages come before the first page, so tokens of later pages stay valid. New ones can be missing for a moment,
 * because the indexes are eventually consistent.
 */
export class MessageReader {
  readonly #table: Table;
  readonly #deliveries: DeliveryStore;

  constructor(table: Table) {
    this.#table = table;
    this.#deliveries = new DeliveryStore(table);
  }

  /** A page ends at `limit` messages, about 4 MB, or 1,000 examined messages. */
  async list(
    tenant: string,
    filter: MessageFilter,
    { limit, after, now }: MessagePageOptions,
  ): Promise<ItemPage<Message>> {
    const hasFilter = filter.endpointId !== undefined || filter.status !== undefined;
    const step = hasFilter ? EXAMINED_PER_STEP : limit;
    const values: Message[] = [];
    let before = after;
    let bytes = 0;
    for (let examined = 0; examined < MAX_EXAMINED_MESSAGES; examined += step) {
      const entries = await this.#entries(tenant, filter, {
        since: now - EVENT_LIFETIME_SECONDS * 1000,
        before,
        limit: step + 1,
      });
      const current = entries.slice(0, step);
      const read = await this.#read(tenant, filter, current);
      for (const [index, { position }] of current.entries()) {
        before = position;
        const message = read[index];
        if (!message) continue;
        values.push(message);
        bytes += jsonBytes(toMessageResponse(message.event, message.deliveries));
        if (values.length === limit || bytes >= PAGE_BYTES)
          return { values, next: index < entries.length - 1 ? position : undefined };
      }
      if (entries.length <= step) return { values, next: undefined };
    }
    return { values, next: before };
  }

  async event(tenant: string, eventId: string): Promise<Stored<Message['event']> | undefined> {
    return this.#table.get(EventEntity, { tenant, eventId });
  }

  async #entries(
    tenant: string,
    { endpointId, status }: MessageFilter,
    { since, before, limit }: EntryOptions,
  ): Promise<IndexEntry[]> {
    const query = { between: [isoTime(since), AFTER_ALL_TIMES], after: before, limit, descending: true } as const;
    if (endpointId === undefined)
      return queryShards(
        this.#table,
        'gsi4',
        shardNumbers(tenantShards).map((shard) => tenantEvents(tenant, shard)),
        query,
      );
    return status === 'failed'
      ? queryShards(this.#table, 'gsi3', [failedDeliveriesTo(tenant, endpointId)], query)
      : queryShards(this.#table, 'gsi4', endpointPartitions(tenant, endpointId), query);
  }

  async #read(
    tenant: string,
    { endpointId, status }: MessageFilter,
    entries: readonly IndexEntry[],
  ): Promise<(Message | undefined)[]> {
    const matches = (delivery: Delivery) => status === undefined || toMessageStatus(delivery.status) === status;
    const keys = entries.map(({ key }) => key);
    if (endpointId !== undefined) return this.#readByDeliveries(tenant, keys, matches);
    const events = await this.#table.getByKeys(EventEntity, keys);
    return inParallel(events, PARALLEL, async (event) => {
      if (!event) return undefined;
      const deliveries = (await this.#deliveries.listOfEvent(tenant, event.eventId)).filter(matches);
      return status === undefined || deliveries.length > 0 ? { event, deliveries } : undefined;
    });
  }

  async #readByDeliveries(
    tenant: string,
    keys: readonly Key[],
    matches: (delivery: Delivery) => boolean,
  ): Promise<(Message | undefined)[]> {
    const stored = await this.#table.getByKeys(DeliveryEntity, keys);
    const deliveries = stored.map((delivery) => (delivery && matches(delivery) ? delivery : undefined));
    const events = await this.#table.getMany(
      EventEntity,
      deliveries.flatMap((delivery) => (delivery ? [{ tenant, eventId: delivery.eventId }] : [])),
    );
    const eventsById = new Map(events.map((event) => [event?.eventId, event] as const));
    return deliveries.map((delivery) => {
      const event = delivery && eventsById.get(delivery.eventId);
      return event && { event, deliveries: [delivery] };
    });
  }
}

export const readMessage: Capability<Pick<MessageReader, 'event'>> = /* @__PURE__ */ storeCapability(MessageReader, [
  'GetItem',
]);

export const readMessages: Capability<Pick<MessageReader, 'list'>> = /* @__PURE__ */ storeCapability(
  MessageReader,
  ['BatchGetItem', 'Query'],
  ['gsi3', 'gsi4'],
);
