import type { Capability, IndexName } from '../app/capability.ts';
import { EVENT_LIFETIME_SECONDS, EventEntity, type StoredEvent, tenantEvents, tenantShards } from '../events/outbox.ts';
import { jsonBytes } from '../shared/bytes.ts';
import { slicesOf } from '../shared/collections.ts';
import { inParallel } from '../shared/inParallel.ts';
import { AFTER_ALL_TIMES, isoTime } from '../shared/isoTime.ts';
import type { Key, Stored } from '../table/entity.ts';
import type { ItemPage } from '../table/pages.ts';
import { type IndexEntry, queryShardsPage, shardNumbers } from '../table/queryShards.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { DeliveryEntity, DeliveryStore, endpointPartitions, failedDeliveriesTo } from './deliveries.ts';
import type { Delivery } from './rules/delivery.ts';
import { type MessageStatus, toMessageResponse, toMessageStatus } from './rules/messageView.ts';

export interface MessageFilter {
  readonly endpointId?: string | undefined;
  readonly status?: MessageStatus | undefined;
  /** Types of events. */
  readonly events?: readonly string[] | undefined;
  /** Epoch ms. */
  readonly since?: number | undefined;
  /** Epoch ms, exclusive. */
  readonly until?: number | undefined;
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

/** For a page with `endpointId`, `status` or `events`. */
const EXAMINED_MESSAGES = 1_000;
const READ_TOGETHER = 100;
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

  /** Reads the index once. A page ends at `limit` messages, at about 4 MB, or after about 1,000 examined messages. */
  async list(
    tenant: string,
    filter: MessageFilter,
    { limit, after, now }: MessagePageOptions,
  ): Promise<ItemPage<Message>> {
    const values: Message[] = [];
    let bytes = 0;
    const page = await this.#entries(tenant, filter, { limit, after, now });
    const candidates = page.entries.filter(({ position }) => canMatch(position, filter.events));
    const groupSize = filter.status === undefined ? limit : Math.max(limit, READ_TOGETHER);
    for (const group of slicesOf(candidates, groupSize)) {
      const messages = await this.#read(tenant, filter, group);
      for (const [index, { position }] of group.entries()) {
        const message = messages[index];
        if (!message || !matchesType(message.event, filter)) continue;
        values.push(message);
        bytes += jsonBytes(toMessageResponse(message.event, message.deliveries));
        const isLast = page.next === undefined && position === candidates.at(-1)?.position;
        if (values.length === limit || bytes >= PAGE_BYTES) return { values, next: isLast ? undefined : position };
      }
    }
    return { values, next: page.next };
  }

  async event(tenant: string, eventId: string): Promise<Stored<Message['event']> | undefined> {
    return this.#table.get(EventEntity, { tenant, eventId });
  }

  async #entries(tenant: string, filter: MessageFilter, { limit, after, now }: MessagePageOptions) {
    const { endpointId, status, events, since = 0, until } = filter;
    const from = isoTime(Math.max(since, now - EVENT_LIFETIME_SECONDS * 1000));
    // A sort key at `until` has more parts than this bound, so the key sorts after the bound.
    const to = until === undefined ? AFTER_ALL_TIMES : isoTime(until);
    const hasFilter = endpointId !== undefined || status !== undefined || events !== undefined;
    const read = (index: IndexName, partitions: readonly (readonly string[])[]) =>
      queryShardsPage(this.#table, index, partitions, {
        between: [from, to],
        after,
        perShard: hasFilter ? Math.ceil(EXAMINED_MESSAGES / partitions.length) : limit,
        descending: true,
      });
    if (endpointId === undefined)
      return read(
        'gsi4',
        shardNumbers(tenantShards).map((shard) => tenantEvents(tenant, shard)),
      );
    return status === 'failed'
      ? read('gsi3', [failedDeliveriesTo(tenant, endpointId)])
      : read('gsi4', endpointPartitions(tenant, endpointId));
  }

  async #read(tenant: string, filter: MessageFilter, entries: readonly IndexEntry[]): Promise<(Message | undefined)[]> {
    const { endpointId, status } = filter;
    const matches = (delivery: Delivery) => status === undefined || toMessageStatus(delivery.status) === status;
    const keys = entries.map(({ key }) => key);
    if (endpointId !== undefined) return this.#readByDeliveries(tenant, keys, matches);
    const events = await this.#table.getByKeys(EventEntity, keys);
    return inParallel(events, PARALLEL, async (event) => {
      if (!event || !matchesType(event, filter)) return undefined;
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

/** Sort keys end with the type of the event, except those that version 0.1.0 wrote. */
function canMatch(position: string, events: readonly string[] | undefined): boolean {
  const type = position.split('#')[2];
  return events === undefined || type === undefined || events.includes(type);
}

function matchesType({ event }: { readonly event: string }, { events }: MessageFilter): boolean {
  return events === undefined || events.includes(event);
}

export const readMessage: Capability<Pick<MessageReader, 'event'>> = /* @__PURE__ */ storeCapability(MessageReader, [
  'GetItem',
]);

export const readMessages: Capability<Pick<MessageReader, 'list'>> = /* @__PURE__ */ storeCapability(
  MessageReader,
  ['BatchGetItem', 'Query'],
  ['gsi3', 'gsi4'],
);
