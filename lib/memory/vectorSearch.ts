import type { VectorIndexName } from '../app/capability.ts';
import { ApiError } from '../shared/errors.ts';
import { SearchVectorsCommand } from '../table/commands.ts';
import type { Key } from '../table/entity.ts';
import type { Table } from '../table/table.ts';

export interface VectorQuery {
  readonly vector: readonly number[];
  readonly where: Readonly<Record<string, string | undefined>>;
  readonly limit: number;
}

export interface VectorHit {
  readonly key: Key;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly distance: number;
}

/** AWS's guide names half a minute for an index of a new table, and minutes for one that is backfilled. */
const RETRY_SECONDS = 60;
/**
 * Messages of the `ValidationException` while DynamoDB creates or backfills an index, and shortly after it reports
 * ACTIVE. The second also means that an index is missing after a restore.
 */
const NOT_READY = /Cannot search backfilling vector index|The table does not have the specified index/;

/**
 * Nearest first. Conditions apply before the limit. The index is eventually consistent, and approximate if it is large.
 * Throws UNAVAILABLE while it is not ready, and on an engine without vector search.
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
      throw apiErrorOf(error) ?? error;
    });
  return SearchResults.map(({ Item = {}, Score = 0 }) => ({
    key: { PK: Item.PK as string, SK: Item.SK as string },
    attributes: Item,
    distance: Score,
  }));
}

function apiErrorOf(error: unknown): ApiError | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'UnknownOperationException')
    return new ApiError('UNAVAILABLE', 'Vector search is not available on this table engine.', { cause: error });
  if (error.name === 'ValidationException' && NOT_READY.test(error.message))
    return new ApiError('UNAVAILABLE', 'The index of the search is not ready yet. Send the request again later.', {
      cause: error,
      retryAfterSeconds: RETRY_SECONDS,
    });
  return undefined;
}
