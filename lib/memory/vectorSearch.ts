import type { VectorIndexName } from '../app/capability.ts';
import { ApiError } from '../shared/errors.ts';
import { SearchVectorsCommand } from '../table/commands.ts';
import type { Key } from '../table/entity.ts';
import type { Table } from '../table/table.ts';

export interface VectorQuery {
  readonly vector: readonly number[];
  /** The value that each attribute of a hit must have. The partition of the index is required. Undefined values are ignored. */
  readonly where: Readonly<Record<string, string | undefined>>;
  /** The largest number of hits, 1 to 100. */
  readonly limit: number;
}

export interface VectorHit {
  readonly key: Key;
  /** The attributes that the index contains. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The cosine distance between the hit's vector and the searched vector, 0 to 2. */
  readonly distance: number;
}

/**
 * Returns the items with the nearest vectors, nearest first. Conditions apply before the limit. The index is eventually
 * consistent, and approximate if it is large. Throws UNAVAILABLE on a table engine without vector search, such as
 * DynamoDB Local.
 */
export async function searchVectors(
  table: Table,
  index: VectorIndexName,
  { vector, where, limit }: VectorQuery,
): Promise<VectorHit[]> {
  const conditions = Object.entries(where).filter(([, value]) => value !== undefined);
  const { client, name } = table.connection;
  const { SearchResults = [] } = await client
    .send(
      new SearchVectorsCommand({
        TableName: name,
        IndexName: index,
        SearchVector: [...vector],
        TopK: limit,
        SearchConditionExpression: conditions.map((_condition, i) => `#n${i} = :v${i}`).join(' AND '),
        ExpressionAttributeNames: Object.fromEntries(conditions.map(([attribute], i) => [`#n${i}`, attribute])),
        ExpressionAttributeValues: Object.fromEntries(conditions.map(([, value], i) => [`:v${i}`, value])),
      }),
    )
    .catch((error: unknown) => {
      throw error instanceof Error && error.name === 'UnknownOperationException'
        ? new ApiError('UNAVAILABLE', 'Vector search is not available on this table engine.', { cause: error })
        : error;
    });
  return SearchResults.map(({ Item = {}, Score = 0 }) => ({
    key: { PK: Item.PK as string, SK: Item.SK as string },
    attributes: Item,
    distance: Score,
  }));
}
