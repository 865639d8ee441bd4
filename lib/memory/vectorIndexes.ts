import { type VectorIndexName, vectorIndexNames } from '../app/capability.ts';
import { DIMENSIONS } from './rules/similarity.ts';

/**
 * The partition attribute of the vector indexes. Only items that have it are in these indexes. The indexed attributes
 * have their own names (`v...`), because an attribute must have the same type in the whole table.
 */
export const vectorPartition = 'vectorsOf';

/**
 * The attributes by which a search can filter. DynamoDB allows 18 such attributes in an index, and compares them only
 * for equality. A search for a time therefore compares the year, the month or the day.
 */
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

/** The attribute with the creation time of the judgment. Searches return it. */
export const vectorTime = 'vAt';

/** The attribute that has the vector, by vector index. */
export const vectorAttributes: Readonly<Record<VectorIndexName, 'reviewVector' | 'contentVector'>> = {
  review: 'reviewVector',
  content: 'contentVector',
};

/** The attributes of the vector indexes that CreateTable must define. All are strings. */
export const vectorKeys: readonly string[] = [vectorPartition, ...vectorFilters];

/** The definitions of the vector indexes for CreateTable. */
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
