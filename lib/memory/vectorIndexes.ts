import { type VectorIndexName, vectorIndexNames } from '../app/capability.ts';
import { DIMENSIONS } from '../bedrock/rules.ts';

/**
 * Only items with this attribute are in the vector indexes. Its name and those of the filters begin with `v`, because
 * an attribute must have the same type in the whole table.
 */
export const vectorPartition = 'vectorsOf';

/**
 * DynamoDB allows 18 filtered attributes in an index, and compares them only for equality. A search for a time
 * therefore compares year, month or day.
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

export const vectorTime = 'vAt';

export const vectorAttributes: Readonly<Record<VectorIndexName, 'reviewVector' | 'contentVector'>> = {
  review: 'reviewVector',
  content: 'contentVector',
};

export const vectorKeys: readonly string[] = [vectorPartition, ...vectorFilters];

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
