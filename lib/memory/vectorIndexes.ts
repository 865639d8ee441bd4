import { type VectorIndexName, vectorIndexNames } from '../app/capability.ts';
import { DIMENSIONS } from './rules/similarity.ts';

/**
 * The partition attribute of the vector indexes. An item without it is in no vector index, so only items with vectors have it. The attributes of
 * the indexes begin with `v`, because an attribute name has one type in the whole table.
 */
export const vectorPartition = 'vectorsOf';

/** The attributes that a search can compare, for equality only; DynamoDB allows 18. A time is compared by its year, month or day. */
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

/** The creation time of the judgment, which a search returns. */
export const vectorTime = 'vAt';

/** The attribute with the vector, by index. */
export const vectorAttributes: Readonly<Record<VectorIndexName, 'reviewVector' | 'contentVector'>> = {
  review: 'reviewVector',
  content: 'contentVector',
};

/** The attributes of the vector indexes that CreateTable must define; all are strings. */
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
