import type { Footprint, Scope } from '../../../infra/commands/simulate/footprints.ts';
import { EVENT_TYPE, newPublisher, OTHER_TYPE, startMemoryWorld } from './world.ts';

/** The number of events whose fan-outs and deliveries run in the same batches. */
const TOGETHER = 10;
const EVENTS_PER_ENDPOINT = 400;

/**
 * Says what shares a partition: `account` all events, `tenant` or `endpoint` the events of one, `item` a single event.
 */
type EventScope = Extract<Scope, 'account' | 'tenant' | 'endpoint' | 'item'>;

/**
 * Processes events of two customers with two endpoints each on a table in memory, ten events at a time. Returns what
 * one event consumes in each kind of partition. Reads by the publishing call do not count.
 */
export async function measureFootprint(): Promise<Footprint[]> {
  const { table, cloud, receiver, stop } = await startMemoryWorld();
  const kinds = new Map<
    string,
    { scope: EventScope; owners: Map<string, Set<string>>; read: number; written: number }
  >();
  let events = 0;
  for (let customers = 0; customers < 2; customers++) {
    const { apiKey, publish, subscribe } = await newPublisher();
    const endpoints = new Map<string, string>();
    for (const type of [EVENT_TYPE, OTHER_TYPE])
      endpoints.set(type, await subscribe(receiver.url('/ok'), { filterTypes: [type] }));
    for (const [type, endpointId] of endpoints) {
      for (let n = 0; n < EVENTS_PER_ENDPOINT; n += TOGETHER) {
        const ids: string[] = [];
        const published = await table.measure(async () => {
          for (let i = 0; i < TOGETHER; i++) ids.push(await publish(type));
        });
        const delivered = await table.measure(() => cloud.drain());
        events += TOGETHER;
        const all = [...[...published.partitions].filter(([, { written }]) => written > 0), ...delivered.partitions];
        for (const [name, { read, written }] of all) {
          const eventId = ids.find((id) => name.includes(id));
          const scope = eventId
            ? 'item'
            : name.includes(endpointId)
              ? 'endpoint'
              : name.includes(apiKey)
                ? 'tenant'
                : 'account';
          const kindName = name
            .replace(eventId ?? '<event>', '<event>')
            .replace(endpointId, '<endpoint>')
            .replace(apiKey, '<tenant>')
            .replace(/#\d+$/, '#<n>');
          const kind = kinds.get(kindName) ?? { scope, owners: new Map(), read: 0, written: 0 };
          kinds.set(kindName, kind);
          const owner = { account: '', tenant: apiKey, endpoint: endpointId, item: eventId ?? '' }[scope];
          kind.owners.set(owner, (kind.owners.get(owner) ?? new Set()).add(name));
          kind.read += read;
          kind.written += written;
        }
      }
    }
  }
  await stop();
  return [...kinds].map(([partitions, { scope, owners, read, written }]) => ({
    partitions,
    scope,
    shards: Math.max(...[...owners.values()].map((names) => names.size)),
    read: round(read / events),
    written: round(written / events),
  }));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
