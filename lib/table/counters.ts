import type { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { fromAttributes } from './attributeValues.ts';
import { UpdateCommand } from './commands.ts';
import type { Entity } from './entity.ts';
import type { Table } from './table.ts';
import { errorName, throttled } from './writeErrors.ts';

const ADVANCE_TRIES = 5;

/**
 * Adds 1 to a counter atomically and returns true, unless this would exceed `limit`. Creates the item, which expires at
 * `expiresAt` (epoch seconds).
 */
export async function countUp<P, K>(
  table: Table,
  entity: Entity<{ count: number; expiresAt?: number | undefined }, P, K>,
  key: P & K,
  limit: number,
  expiresAt?: number,
): Promise<boolean> {
  const updated = await updateNumber(table, entity, key, {
    name: 'count',
    update: 'SET #number = if_not_exists(#number, :zero) + :one,',
    condition: 'attribute_not_exists(#number) OR #number < :limit',
    values: { ':zero': 0, ':limit': limit },
    expiresAt,
  });
  return typeof updated === 'number';
}

export async function countDown<P, K>(
  table: Table,
  entity: Entity<{ count: number; expiresAt?: number | undefined }, P, K>,
  key: P & K,
  expiresAt?: number,
): Promise<void> {
  await updateNumber(table, entity, key, {
    name: 'count',
    update: 'SET #number = #number - :one,',
    condition: '#number > :zero',
    values: { ':zero': 0 },
    expiresAt,
  });
}

/** Adds `by` atomically and returns the new value. Creates the item, which never expires. */
export async function increment<P, K>(
  table: Table,
  entity: Entity<{ last: number }, P, K>,
  key: P & K,
  by: number,
): Promise<number> {
  const updated = await updateNumber(table, entity, key, {
    name: 'last',
    update: 'ADD #number :by SET',
    values: { ':by': by },
  });
  return updated as number;
}

interface Advance {
  readonly by: number;
  readonly least: number;
  readonly from: number;
  readonly revision?: number;
  readonly expiresAt: number;
}

/**
 * Adds `by` and returns the number before. A missing number, one below `least`, or one of a lower `revision` counts as
 * `from`. If the stored number is above `most`, adds nothing and returns it as `tooHigh`.
 */
export async function advanceNumber<P, K>(
  table: Table,
  entity: Entity<{ at: number; expiresAt: number }, P, K>,
  key: P & K,
  options: Advance & { readonly most: number },
): Promise<number | { readonly tooHigh: number }>;
export async function advanceNumber<P, K>(
  table: Table,
  entity: Entity<{ at: number; expiresAt: number }, P, K>,
  key: P & K,
  options: Advance,
): Promise<number>;
export async function advanceNumber<P, K>(
  table: Table,
  entity: Entity<{ at: number; expiresAt: number }, P, K>,
  key: P & K,
  { by, least, from, revision, expiresAt, most = Infinity }: Advance & { readonly most?: number },
): Promise<number | { readonly tooHigh: number }> {
  const hasRevision = revision !== undefined;
  const isLimited = most < Infinity;
  const names = hasRevision ? { '#revision': 'revision' } : {};
  const updates = [
    {
      update: 'SET #number = #number + :by,',
      condition: `#number >= :least${hasRevision ? ' AND #revision >= :revision' : ''}${isLimited ? ' AND #number <= :most' : ''}`,
      values: { ':by': by, ...(isLimited && { ':most': most }) },
    },
    {
      update: `SET #number = :to,${hasRevision ? ' #revision = :revision,' : ''}`,
      condition: `attribute_not_exists(#number) OR #number < :least${
        hasRevision ? ' OR attribute_not_exists(#revision) OR #revision < :revision' : ''
      }`,
      values: { ':to': from + by },
    },
  ];
  for (let attempt = 0; attempt < ADVANCE_TRIES; attempt++) {
    for (const { values, ...update } of updates) {
      const updated = await updateNumber(table, entity, key, {
        name: 'at',
        ...update,
        values: { ...values, ':least': least, ...(hasRevision && { ':revision': revision }) },
        names,
        expiresAt,
        returnsFound: isLimited,
      });
      if (typeof updated === 'number') return updated - by;
      if (updated.found !== undefined && updated.found > most) return { tooHigh: updated.found };
    }
  }
  throw throttled('Other writers kept changing the number');
}

async function updateNumber<P, K>(
  table: Table,
  entity: Entity<unknown, P, K>,
  key: P & K,
  {
    name,
    update,
    condition,
    values,
    names = {},
    expiresAt,
    returnsFound = false,
  }: {
    name: string;
    update: string;
    condition?: string;
    values: Record<string, number>;
    names?: Record<string, string>;
    expiresAt?: number | undefined;
    returnsFound?: boolean;
  },
): Promise<number | { readonly found?: number | undefined }> {
  const expiry = expiresAt === undefined ? '' : ' #expiresAt = :expiresAt, #ttl = :expiresAt,';
  try {
    const { Attributes } = await table.connection.client.send(
      new UpdateCommand({
        TableName: table.connection.name,
        Key: { ...entity.key(key) },
        UpdateExpression: `${update}${expiry} #t = :t, #v = :v, #r = :one`,
        ...(condition !== undefined && { ConditionExpression: condition }),
        ExpressionAttributeNames: {
          ...names,
          '#number': name,
          '#t': '_t',
          '#v': '_v',
          '#r': '_r',
          ...(expiresAt !== undefined && { '#expiresAt': 'expiresAt', '#ttl': 'ttl' }),
        },
        ExpressionAttributeValues: {
          ...values,
          ':t': entity.type,
          ':v': entity.version,
          ':one': 1,
          ...(expiresAt !== undefined && { ':expiresAt': expiresAt }),
        },
        ReturnValues: 'UPDATED_NEW',
        ...(returnsFound && { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
      }),
    );
    return Attributes?.[name] as number;
  } catch (error) {
    if (errorName(error) !== 'ConditionalCheckFailedException') throw error;
    const { Item } = error as ConditionalCheckFailedException;
    return { found: Item && (fromAttributes(Item)[name] as number) };
  }
}
