import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { inParallel } from '../../lib/shared/inParallel.ts';
import { TABLE_NAME } from '../support/engine.ts';
import type { LeanClient } from '../support/leanClient.ts';
import { times } from '../support/times.ts';

/** The most items that the table takes in one call. */
const BATCH = 25;

export const batches = (items: readonly Record<string, any>[]) =>
  times(Math.ceil(items.length / BATCH), (index) => items.slice(index * BATCH, (index + 1) * BATCH));

/** Writes items, without conditions. */
export function putAll(client: LeanClient, items: readonly Record<string, any>[], atATime: number): Promise<unknown> {
  return inParallel(batches(items), atATime, async (batch) => {
    const requests = batch.map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteCommand({ RequestItems: { [TABLE_NAME]: requests } }));
  });
}
