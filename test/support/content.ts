import type { OccurredEvent } from '../../lib/notifications/audience.ts';
import type { Customer } from './customer.ts';
import type { Engine } from './engine.ts';
import { itemsOfTenant, scan, storedItem } from './items.ts';

export const nda = { organizationId: 'acme', documentId: 'nda' } as const;

/** Returns the events of a tenant with their payloads, oldest first. */
export async function occurredEvents(engine: Engine, tenant: string): Promise<OccurredEvent[]> {
  const events = (await itemsOfTenant(engine, tenant)).filter(({ _t }) => _t === 'Event');
  return Promise.all(
    events
      .sort((a, b) => a.createdAt - b.createdAt)
      .map(async (event) => {
        const { eventId, event: type, organizationId, documentId, createdAt } = event;
        return {
          tenant,
          eventId,
          event: type,
          organizationId,
          documentId,
          createdAt,
          payload: await payloadOf(engine, event),
        };
      }),
  );
}

/** Returns the payload of a stored event. */
async function payloadOf(engine: Engine, { PK, smallPayload }: Record<string, any>): Promise<any> {
  return JSON.parse(smallPayload ?? (await existingItem(engine, { PK, SK: 'PAYLOAD' })).payload);
}

/** An emitted event with its payload. */
export interface Emitted {
  readonly event: string;
  readonly data: any;
  readonly audience: any;
}

/** Returns a customer's stored items of one type. */
export function itemsOf(engine: Engine, { apiKey }: Customer, type: string): Promise<Record<string, any>[]> {
  return scan(engine, {
    FilterExpression: 'begins_with(PK, :tenant) AND #t = :type',
    ExpressionAttributeNames: { '#t': '_t' },
    ExpressionAttributeValues: { ':tenant': `T#${apiKey}#`, ':type': type },
  });
}

/**
 * Returns a customer's emitted events, in no particular order. Reads the index of events instead of the table, which
 * takes much less time.
 */
export async function emitted(engine: Engine, { apiKey }: Customer): Promise<Emitted[]> {
  const entries = await scan(engine, {
    IndexName: 'gsi4',
    FilterExpression: 'begins_with(gsi4pk, :events)',
    ExpressionAttributeValues: { ':events': `T#${apiKey}#EVENTS#` },
  });
  return Promise.all(
    entries.map(async ({ PK, SK }) => {
      const item = await existingItem(engine, { PK, SK });
      const { data, audience } = await payloadOf(engine, item);
      return { event: item.event, data, audience };
    }),
  );
}

async function existingItem(engine: Engine, key: { PK: string; SK: string }): Promise<Record<string, any>> {
  const item = await storedItem(engine, key);
  if (!item) throw new Error(`There is no item ${key.PK} ${key.SK}`);
  return item;
}
