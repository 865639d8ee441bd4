import { QueryCommand, SearchVectorsCommand } from '@aws-sdk/lib-dynamodb';
import type { IndexName, VectorIndexName } from '../app/capability.ts';
import { ApiError } from '../shared/errors.ts';
import type { Key } from '../table/entity.ts';
import type { Table } from '../table/table.ts';

/** A search for what is most alike to a vector. */
export interface VectorQuery {
  readonly vector: readonly number[];
  /** What must be equal, by attribute; the index's partition is one of them. */
  readonly where: Readonly<Record<string, string>>;
  /** How many at most: 1 to 100. */
  readonly limit: number;
}

/** What a search found: a key, what the index has of the item, and how far its vector is from the one that was searched, 0 to 2. */
export interface VectorHit {
  readonly key: Key;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly distance: number;
}

/**
 * What is most alike to a vector among the items that a vector index holds, the nearest first. The conditions apply within the search: what does not meet
 * them takes nobody's place. The index follows the table a moment later, and is approximate where it is large. UNAVAILABLE on a table engine without
 * vector search, as DynamoDB Local.
 */
export async function searchVectors(
  table: Table,
  index: VectorIndexName,
  { vector, where, limit }: VectorQuery,
): Promise<VectorHit[]> {
  const names = Object.keys(where);
  const { client, name } = table.asked;
  const { SearchResults = [] } = await client
    .send(
      new SearchVectorsCommand({
        TableName: name,
        IndexName: index,
        SearchVector: [...vector],
        TopK: limit,
        SearchConditionExpression: names.map((_name, at) => `#n${at} = :v${at}`).join(' AND '),
        ExpressionAttributeNames: Object.fromEntries(names.map((attribute, at) => [`#n${at}`, attribute])),
        ExpressionAttributeValues: Object.fromEntries(names.map((attribute, at) => [`:v${at}`, where[attribute]])),
      }),
    )
    .catch((error: Error) => {
      throw error.name === 'UnknownOperationException'
        ? new ApiError('UNAVAILABLE', 'Vector search is not available on this table engine.', { cause: error })
        : error;
    });
  return SearchResults.map(({ Item = {}, Score = 0 }) => ({
    key: { PK: Item.PK as string, SK: Item.SK as string },
    attributes: Item,
    distance: Score,
  }));
}

/** How many items one partition of an index holds, as far as the index has followed the table. Costs as much as reading their keys: one call per 1 MB. */
export async function countIndex(table: Table, index: IndexName, partition: string): Promise<number> {
  const { client, name } = table.asked;
  let count = 0;
  let after: Record<string, unknown> | undefined;
  do {
    const answer = await client.send(
      new QueryCommand({
        TableName: name,
        IndexName: index,
        KeyConditionExpression: '#pk = :pk',
        ExpressionAttributeNames: { '#pk': `${index}pk` },
        ExpressionAttributeValues: { ':pk': partition },
        Select: 'COUNT',
        ...(after && { ExclusiveStartKey: after }),
      }),
    );
    count += answer.Count ?? 0;
    after = answer.LastEvaluatedKey;
  } while (after);
  return count;
}
