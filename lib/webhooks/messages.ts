import type { Capability, IndexName } from '../app/capability.ts';
import { instantKey } from '../shared/times.ts';
import type { Delivery } from './rules/delivery.ts';
import { type StatusResponse, shownStatus } from './rules/messageView.ts';
import { inParallel } from '../shared/inParallel.ts';
import { indexPartition, type Key, type Stored } from '../table/entity.ts';
import { EventEntity, eventShards, eventsOf, type StoredEvent } from '../events/outbox.ts';
import type { Table } from '../table/table.ts';
import { DeliveryEntity, DeliveryStore, deliveriesTo, failedDeliveriesTo } from './deliveries.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** Which messages are listed: those with a delivery to this endpoint, of this status. The other deliveries of a message are not shown then. */
export interface MessageFilter {
  readonly endpointId?: string | undefined;
  readonly status?: StatusResponse | undefined;
}

/** An event with its deliveries. */
export interface Message {
  readonly event: Omit<StoredEvent, 'tenant'>;
  readonly deliveries: readonly Delivery[];
}

export interface MessagePage {
  readonly messages: Message[];
  /** What to continue after; undefined at the end. */
  readonly next: string | undefined;
}

export interface MessageListing {
  readonly limit: number;
  /** What the page before ended with. */
  readonly after?: string | undefined;
  /** The time, epoch ms. */
  readonly now: number;
}

/** An item's key, and where it stands: its sort key in the index, which begins with the time. */
interface Place {
  readonly key: Key;
  readonly at: string;
}

const DAY = 24 * 60 * 60 * 1000;
/** Messages are kept for so long. */
const KEPT = 30 * DAY;
/** Behind all instants. */
const LAST = '~';
/** How many messages a call looks at in search of those that a filter wants, and how many of them at a time. */
const MOST_EXAMINED = 1_000;
const EXAMINED_AT_A_TIME = 250;
/** Where a page ends early, as JSON, so that an answer stays below its limit of 5 MB. */
const PAGE_BYTES = 4_000_000;
const PARALLEL = 20;

/** Reads messages, newest first. Indexes show what is new a moment later; what comes in meanwhile stands ahead of every page that was read. */
export class MessageReader {
  readonly #table: Table;
  readonly #deliveries: DeliveryStore;

  constructor(table: Table) {
    this.#table = table;
    this.#deliveries = new DeliveryStore(table);
  }

  /**
   * A page of a tenant's messages of the last 30 days: up to `limit`, about 4 MB, or as many as were found among 1,000, whichever comes
   * first. It can have fewer than `limit`, or none, without being the last one.
   */
  async list(tenant: string, filter: MessageFilter, { limit, after, now }: MessageListing): Promise<MessagePage> {
    const filtered = filter.endpointId !== undefined || filter.status !== undefined;
    const atATime = filtered ? EXAMINED_AT_A_TIME : limit;
    const messages: Message[] = [];
    let [before, bytes] = [after, 0];
    for (let examined = 0; examined < MOST_EXAMINED; examined += atATime) {
      const found = await this.#places(tenant, filter, { before, now, limit: atATime + 1 });
      const places = found.slice(0, atATime);
      const read = await this.#read(tenant, filter, places);
      for (const [index, { at }] of places.entries()) {
        before = at;
        const message = read[index];
        if (!message) continue;
        messages.push(message);
        bytes += Buffer.byteLength(JSON.stringify(message));
        if (messages.length === limit || bytes >= PAGE_BYTES)
          return { messages, next: index < found.length - 1 ? at : undefined };
      }
      if (found.length <= atATime) return { messages, next: undefined };
    }
    return { messages, next: before };
  }

  /** An event; undefined when there is none, or none any more. */
  async event(tenant: string, eventId: string): Promise<Stored<Message['event']> | undefined> {
    return this.#table.get(EventEntity, { tenant, eventId });
  }

  /** The next places to look at: of events, or of an endpoint's deliveries. */
  async #places(
    tenant: string,
    { endpointId, status }: MessageFilter,
    page: { before: string | undefined; now: number; limit: number },
  ): Promise<Place[]> {
    const since = page.now - KEPT;
    if (endpointId === undefined) return this.#recent(tenant, since, page);
    return status === 'failed'
      ? this.#newest('gsi3', failedDeliveriesTo(tenant, endpointId), since, page)
      : this.#newest('gsi4', deliveriesTo(tenant, endpointId), since, page);
  }

  /** Places of events, those of all shards in one row. */
  async #recent(tenant: string, since: number, page: { before: string | undefined; limit: number }): Promise<Place[]> {
    const shards = await Promise.all(
      Array.from({ length: eventShards }, (_each, shard) => this.#newest('gsi4', eventsOf(tenant, shard), since, page)),
    );
    return shards
      .flat()
      .sort((a, b) => (a.at > b.at ? -1 : 1))
      .slice(0, page.limit);
  }

  async #newest(
    index: IndexName,
    parts: readonly string[],
    since: number,
    { before = LAST, limit }: { before: string | undefined; limit: number },
  ): Promise<Place[]> {
    const from = instantKey(since);
    if (before <= from) return [];
    const { keys, positions } = await this.#table.queryIndex(index, indexPartition('tenant', parts), {
      between: [from, before],
      descending: true,
      limit: limit + 1,
    });
    const places = keys.map((key, i) => ({
      key,
      at: (JSON.parse(positions[i]!) as Record<string, string>)[`${index}sk`]!,
    }));
    // Both ends of the range belong to it, and the upper one was on the page before.
    return places.filter(({ at }) => at !== before).slice(0, limit);
  }

  /** The messages at these places; undefined where there is none that the filter wants. */
  async #read(
    tenant: string,
    { endpointId, status }: MessageFilter,
    places: readonly Place[],
  ): Promise<(Message | undefined)[]> {
    const wanted = (delivery: Delivery) => status === undefined || shownStatus(delivery.status) === status;
    if (endpointId !== undefined) return this.#ofDeliveries(tenant, places, wanted);
    const messages: (Message | undefined)[] = places.map(() => undefined);
    const events = await this.#table.getByKeys(
      EventEntity,
      places.map(({ key }) => key),
    );
    await inParallel([...events.entries()], PARALLEL, async ([index, event]) => {
      if (!event) return;
      const deliveries = (await this.#deliveries.of(tenant, event.eventId)).filter(wanted);
      if (status === undefined || deliveries.length > 0) messages[index] = { event, deliveries };
    });
    return messages;
  }

  async #ofDeliveries(
    tenant: string,
    places: readonly Place[],
    wanted: (delivery: Delivery) => boolean,
  ): Promise<(Message | undefined)[]> {
    const found = await this.#table.getByKeys(
      DeliveryEntity,
      places.map(({ key }) => key),
    );
    const deliveries = found.map((delivery) => (delivery && wanted(delivery) ? delivery : undefined));
    const ofWanted = deliveries.filter((delivery) => delivery !== undefined);
    const read = await this.#table.getMany(
      EventEntity,
      ofWanted.map(({ eventId }) => ({ tenant, eventId })),
    );
    const events = new Map(read.flatMap((event) => (event ? [[event.eventId, event] as const] : [])));
    return deliveries.map((delivery) => {
      const event = delivery && events.get(delivery.eventId);
      return event && { event, deliveries: [delivery] };
    });
  }
}

/** List messages, and look one up. */
export const readMessages: Capability<Pick<MessageReader, 'list' | 'event'>> = /* @__PURE__ */ storeCapability(
  MessageReader,
  ['GetItem', 'BatchGetItem', 'Query'],
  ['gsi3', 'gsi4'],
);
