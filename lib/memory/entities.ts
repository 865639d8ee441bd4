import * as z from 'zod';
import type { IndexName } from '../app/capability.ts';
import { DIMENSIONS } from '../bedrock/rules.ts';
import { organizationPartition, type OrganizationScope } from '../directory/organizationScope.ts';
import { isoTime } from '../shared/isoTime.ts';
import { encodePart } from '../shared/keyParts.ts';
import { defineEntity, indexPartition, type Key } from '../table/entity.ts';
import { EmbeddingState } from './rules/embeddingModels.ts';
import { filteredValues, type FilterField, filterFields, type TimeRange } from './rules/filters.ts';
import { Judgment } from './rules/judgments.ts';
import { vectorPartition, vectorTime } from './vectorIndexes.ts';

export interface JudgmentRef {
  readonly organizationKey: string;
  readonly documentKey?: string | undefined;
  readonly recordId: string;
}

/** The sort key has the filtered values, so a listing applies filters without reading judgments. */
const listingKey = (judgment: Judgment) => {
  const values = filteredValues(judgment);
  return [isoTime(judgment.createdAt), ...filterFields.map((field) => values[field])];
};

/** Vectors are separate items, because only searches read them. */
export const JudgmentEntity = defineEntity({
  type: 'Judgment',
  version: 1,
  scope: 'tenant',
  // A judgment without a document is purged with its organization.
  ownedBy: 'document',
  purpose: 'The decision of a reviewer, with its reason',
  schema: Judgment,
  pk: (of: OrganizationScope) => organizationPartition(of, 'JUDGMENTS'),
  sk: ({ documentKey = '', recordId }: Omit<JudgmentRef, 'organizationKey'>) => [documentKey, recordId],
  indexes: {
    gsi1: {
      holds: 'judgments of a thread by time',
      pk: ({ tenant, organizationKey, annotationId }) =>
        annotationId === undefined ? undefined : [tenant, 'JUDGMENTS', organizationKey, annotationId],
      sk: listingKey,
    },
    gsi2: {
      holds: 'judgments of a document by time',
      pk: ({ tenant, documentKey }) => (documentKey === undefined ? undefined : [tenant, 'JUDGMENTS', documentKey]),
      sk: listingKey,
    },
    gsi3: { holds: 'judgments of a tenant by time', pk: ({ tenant }) => [tenant, 'JUDGMENTS'], sk: listingKey },
    gsi4: {
      holds: 'judgments of an organization by time',
      pk: ({ tenant, organizationKey }) => [tenant, 'JUDGMENTS', organizationKey],
      sk: listingKey,
    },
  },
});

/** Without `documentKeys`, every judgment is. */
export function isInDocuments({ SK }: Key, documentKeys: readonly string[] | undefined): boolean {
  const [document] = SK.split('#');
  return documentKeys?.some((documentKey) => encodePart(documentKey) === document) ?? true;
}

export interface JudgmentListing {
  readonly index: IndexName;
  readonly partition: readonly string[];
}

function listing(index: IndexName, tenant: string, ...parts: string[]): JudgmentListing {
  return { index, partition: [tenant, 'JUDGMENTS', ...parts] };
}

export function listingOf({
  tenant,
  organizationKey,
  documentKey,
}: Partial<OrganizationScope> & {
  readonly tenant: string;
  readonly documentKey?: string | undefined;
}): JudgmentListing {
  if (documentKey !== undefined) return listing('gsi2', tenant, documentKey);
  return organizationKey === undefined ? listing('gsi3', tenant) : listing('gsi4', tenant, organizationKey);
}

export function threadListing(
  { tenant, organizationKey = '' }: Partial<OrganizationScope> & { readonly tenant: string },
  annotationId: string,
): JudgmentListing {
  return listing('gsi1', tenant, organizationKey, annotationId);
}

export function listingRange({ from, to }: TimeRange): [from: string, to: string] {
  // In a sort key, `#` follows the time. `$` sorts after `#`, so the range includes the last time.
  return [isoTime(from), `${isoTime(to)}$`];
}

export function parseListingKey(sortKey: string): {
  readonly at: number;
  readonly matches: (filters: Partial<Record<FilterField, string | undefined>>) => boolean;
} {
  const [time = '', ...values] = sortKey.split('#');
  return {
    at: Date.parse(time),
    matches: (filters) =>
      filterFields.every((field, index) => {
        const filter = filters[field];
        return filter === undefined || encodePart(filter) === values[index];
      }),
  };
}

const Vector = z.custom<number[]>((value) => Array.isArray(value) && value.length === DIMENSIONS);

const JudgmentVector = z.object({
  [vectorPartition]: z.string(),
  vOrganization: z.string(),
  vDocument: z.string().optional(),
  vDecision: z.string(),
  vJudgeType: z.string(),
  vContentType: z.string().optional(),
  vReviewerId: z.string(),
  vYear: z.string(),
  vMonth: z.string(),
  vDay: z.string(),
  [vectorTime]: z.number(),
  reviewVector: Vector.optional(),
  contentVector: Vector.optional(),
});
export type JudgmentVector = z.output<typeof JudgmentVector>;

/** The item has the revision of the judgment whose texts were embedded. */
export const JudgmentVectorEntity = defineEntity({
  type: 'JudgmentVector',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'The vectors that one embedding model made of a judgment',
  schema: JudgmentVector,
  pk: (of: OrganizationScope) => organizationPartition(of, 'VECTORS'),
  sk: ({ documentKey = '', recordId, model }: Omit<JudgmentRef, 'organizationKey'> & { model: string }) => [
    documentKey,
    recordId,
    model,
  ],
});

export function vectorsOf(tenant: string, model: string): string {
  return indexPartition([tenant, 'VECTORS', model]);
}

export function judgmentKeyOf({ PK, SK }: Key): Key {
  return { PK: PK.replace(/VECTORS$/, 'JUDGMENTS'), SK: SK.split('#').slice(0, 2).join('#') };
}

export function vectorKeyOf({ PK, SK }: Key, model: string): Key {
  return { PK: PK.replace(/JUDGMENTS$/, 'VECTORS'), SK: `${SK}#${encodePart(model)}` };
}

export const EmbeddingStateEntity = defineEntity({
  type: 'EmbeddingState',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: "The embedding model of a tenant's searches",
  schema: EmbeddingState,
  pk: (of: { tenant: string }) => [of.tenant, 'MEMORY'],
  sk: (_key: unknown) => ['EMBEDDING'],
});
