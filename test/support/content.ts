import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Customer } from './customer.ts';
import { type Engine, TABLE_NAME } from './engine.ts';

export const nda = { organizationId: 'acme', documentId: 'nda' } as const;

/** Creates the document `nda`. */
export async function addDocument(customer: Customer): Promise<void> {
  await customer.ok('/v2/organizations/documents/add', {
    organizationId: nda.organizationId,
    createOrganization: true,
    documents: [{ documentId: nda.documentId, documentName: 'NDA' }],
  });
}

/** An emitted event with its payload. */
export interface Emitted {
  readonly event: string;
  readonly data: any;
  readonly audience: any;
}

/** Returns a customer's stored items of one type. */
export async function itemsOf(engine: Engine, { apiKey }: Customer, type: string): Promise<Record<string, any>[]> {
  const items: Record<string, any>[] = [];
  let from: Record<string, any> | undefined;
  do {
    const { Items, LastEvaluatedKey } = await engine.lean.send(
      new ScanCommand({
        TableName: TABLE_NAME,
        ExclusiveStartKey: from,
        FilterExpression: 'begins_with(PK, :tenant) AND #t = :type',
        ExpressionAttributeNames: { '#t': '_t' },
        ExpressionAttributeValues: { ':tenant': `T#${apiKey}#`, ':type': type },
      }),
    );
    for (const item of Items) items.push(item);
    from = LastEvaluatedKey;
  } while (from);
  return items;
}

/** Returns a customer's emitted events, in no particular order. */
export async function emitted(engine: Engine, customer: Customer): Promise<Emitted[]> {
  const [events, payloads] = [
    await itemsOf(engine, customer, 'Event'),
    await itemsOf(engine, customer, 'EventPayload'),
  ];
  const byKey = new Map(payloads.map(({ PK, payload }) => [PK, JSON.parse(payload)]));
  return events.map(({ PK, event }) => ({ event, data: byKey.get(PK).data, audience: byKey.get(PK).audience }));
}

/**
 * Returns a user's involvements, sorted. Each is a list of the kind, the id, the comment id (if any), and whether the
 * user created the record.
 */
export async function involvements(engine: Engine, customer: Customer, userId: string): Promise<unknown[][]> {
  const involvements = (await itemsOf(engine, customer, 'Involvement')).filter(({ PK }) =>
    PK.endsWith(`#USER#${userId}`),
  );
  return involvements
    .map(({ SK, id, commentId, made }) => [SK.split('#')[1], id, ...(commentId === undefined ? [] : [commentId]), made])
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
