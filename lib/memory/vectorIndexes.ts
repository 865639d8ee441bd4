import { type VectorIndexName, vectorIndexNames } from '../app/capability.ts';

/** The dimensions of every vector. */
export const DIMENSIONS = 512;

/**
 * The attribute that parts the vector indexes. Without it an item with a vector is in none of them, so no other item has it; what else indexes know
 * of an item begins with `v` for the same reason: attributes of a name have one type in the whole table.
 */
export const vectorPartition = 'vectorsOf';

/** What a search can ask to be equal, which is all that it can ask; DynamoDB takes 18 of them. A time is asked for by its year, month or day. */
export const vectorFilters = [
  'vOrganization',
  'vDocument',
  'vDecision',
  'vJudgeType',
  'vContentType',
  'vReviewerId',
  'vYear',
  'vMonth',
  'vDay',
] as const;
export type VectorFilter = (typeof vectorFilters)[number];

/** When the judgment was made, which a search gives along. */
export const vectorTime = 'vAt';

/** The attribute with the vector of each index. */
export const vectorAttributes: Readonly<Record<VectorIndexName, 'reviewVector' | 'contentVector'>> = {
  review: 'reviewVector',
  content: 'contentVector',
};

/** What the table's attributes have to say of the vector indexes: all are texts. */
export const vectorKeys: readonly string[] = [vectorPartition, ...vectorFilters];

/** The vector indexes as CreateTable takes them. */
export const vectorIndexes = vectorIndexNames.map((IndexName) => ({
  IndexName,
  VectorAttribute: { AttributeName: vectorAttributes[IndexName] },
  Dimensions: DIMENSIONS,
  DistanceFunction: 'COSINE' as const,
  SearchSchema: [
    { AttributeName: vectorPartition, SearchSchemaElementType: 'HASH' as const },
    ...vectorFilters.map((AttributeName) => ({ AttributeName, SearchSchemaElementType: 'INLINE_FILTER' as const })),
  ],
  Projection: { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [vectorTime] },
}));
