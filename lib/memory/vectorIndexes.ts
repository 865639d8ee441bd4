import { type VectorIndexName, vectorIndexNames } from '../app/capability.ts';
import { DIMENSIONS } from './rules/similarity.ts';

/**
 * The partition attribute of the vector indexes. Only items that have this attribute are in the vector indexes. All
 * attributes of these indexes begin with `v`, because an attribute name must have the same type in the whole table.
 */
export const vectorPartition = 'vectorsOf';

/**
 * The attributes that a search can compare. DynamoDB allows 18, and compares them only for equality. A search therefore
 * compares the year, the month or the day of a time.
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

/** The attribute with the creation time of the judgment. A search returns it. */
export const vectorTime = 'vAt';

/** The attribute with the vector, for each vector index. */
export const vectorAttributes: Readonly<Record<VectorIndexName, 'reviewVector' | 'contentVector'>> = {
  review: 'reviewVector',
  content: 'contentVector',
};

/** The attributes of the vector indexes that CreateTable must define. All are strings. */
export const vectorKeys: readonly string[] = [vectorPartition, ...vectorFilters];

/** The vector indexes in the form of CreateTable. */
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
