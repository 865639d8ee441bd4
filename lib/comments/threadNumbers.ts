import * as z from 'zod';
import { defineEntity } from '../table/entity.ts';
import type { Table } from '../table/table.ts';
import { recordPartition } from '../content/involvements.ts';
import type { DocumentScope } from '../content/documentScope.ts';

/** The largest thread number of a document. In a partition of its own: calls increment it outside of transactions, so they never conflict. */
export const ThreadCounterEntity = defineEntity({
  type: 'ThreadCounter',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'The largest number that a thread of a document ever got',
  schema: z.object({ last: z.number() }),
  pk: (of: DocumentScope) => recordPartition(of, 'THREADNUMBERS'),
  sk: (_key: object) => ['COUNTER'],
});

/**
 * Reserves consecutive thread numbers of a document and returns the first of them. Numbers begin with 1 and are never returned twice.
 * A number that is not used afterwards leaves a gap.
 */
export async function reserveThreadNumbers(table: Table, scope: DocumentScope, count: number): Promise<number> {
  return (await table.increment(ThreadCounterEntity, scope, count)) - count + 1;
}
