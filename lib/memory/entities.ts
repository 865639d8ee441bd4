import * as z from 'zod';
import type { IndexName } from '../app/capability.ts';
import { Judgment } from './rules/judgments.ts';
import { type Filtered, filtered, filteredValues, type TimeRange } from './rules/filters.ts';
import { instantKey } from '../shared/times.ts';
import { defineEntity, indexPartition, type Key } from '../table/entity.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { encodePart } from '../table/keys.ts';
import { DIMENSIONS, vectorPartition, vectorTime } from './vectorIndexes.ts';

/** A judgment among those of its tenant, by internal ids. The same record id in another document, or in none, is another judgment. */
export interface JudgmentRef {
  readonly organizationKey: string;
  readonly documentKey?: string | undefined;
  readonly recordId: string;
}

const within = ({ documentKey = '' }: Pick<JudgmentRef, 'documentKey'>) => documentKey;
/** By time, then what filters look at: who lists by an index reads no judgment that is not wanted. */
const listed = (judgment: Judgment) => [
  instantKey(judgment.createdAt),
  ...filtered.map((field) => filteredValues(judgment)[field]),
];

/** A decision of a reviewer. Without its vectors, which are read by searches alone. */
export const JudgmentEntity = defineEntity({
  type: 'Judgment',
  version: 1,
  scope: 'tenant',
  // What lies in a document goes with it as well.
  ownedBy: 'document',
  purpose: 'What a reviewer decided, and why',
  schema: Judgment,
  pk: (of: OrganizationScope) => [of.tenant, 'ORGANIZATION', of.organizationKey, 'JUDGMENTS'],
  sk: (key: Omit<JudgmentRef, 'organizationKey'>) => [within(key), key.recordId],
  indexes: {
    gsi1: {
      holds: 'judgments of a thread by time',
      pk: ({ tenant, organizationKey, annotationId }) =>
        annotationId === undefined ? undefined : [tenant, 'JUDGMENTS', organizationKey, annotationId],
      sk: listed,
    },
    gsi2: {
      holds: 'judgments of a document by time',
      pk: ({ tenant, documentKey }) => (documentKey === undefined ? undefined : [tenant, 'JUDGMENTS', documentKey]),
      sk: listed,
    },
    gsi3: { holds: 'judgments of a tenant by time', pk: ({ tenant }) => [tenant, 'JUDGMENTS'], sk: listed },
    gsi4: {
      holds: 'judgments of an organization by time',
      pk: ({ tenant, organizationKey }) => [tenant, 'JUDGMENTS', organizationKey],
      sk: listed,
    },
  },
});

/** Where a listing finds judgments. */
export interface JudgmentListing {
  readonly index: IndexName;
  readonly partition: string;
}

/** Where the judgments of a scope are listed: of a document, an organization, or the whole tenant. */
export function listingOf({
  tenant,
  organizationKey,
  documentKey,
}: {
  readonly tenant: string;
  readonly organizationKey?: string | undefined;
  readonly documentKey?: string | undefined;
}): JudgmentListing {
  if (documentKey !== undefined)
    return { index: 'gsi2', partition: indexPartition('tenant', [tenant, 'JUDGMENTS', documentKey]) };
  if (organizationKey !== undefined)
    return { index: 'gsi4', partition: indexPartition('tenant', [tenant, 'JUDGMENTS', organizationKey]) };
  return { index: 'gsi3', partition: indexPartition('tenant', [tenant, 'JUDGMENTS']) };
}

/** Where the judgments of a thread are listed. */
export function threadListing(tenant: string, organization: string, annotationId: string): JudgmentListing {
  return { index: 'gsi1', partition: indexPartition('tenant', [tenant, 'JUDGMENTS', organization, annotationId]) };
}

/** The keys of a listing in a time. */
export function listedBetween({ from, to }: TimeRange): [from: string, to: string] {
  // What follows an instant begins with the separator: one more is behind all of it.
  return [instantKey(from), `${instantKey(to)}$`];
}

/** When a listed judgment was made, and whether it meets filters, by the key under which it is listed. */
export function readListed(sortKey: string): {
  readonly at: number;
  meets(filters: Partial<Record<Filtered, string | undefined>>): boolean;
} {
  const [at = '', ...values] = sortKey.split('#');
  return {
    at: Date.parse(at),
    meets: (filters) =>
      filtered.every((field, index) => filters[field] === undefined || encodePart(filters[field]) === values[index]),
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

/** The vectors of a judgment by one model. Its revision is that of the judgment whose texts they are of. */
export const JudgmentVectorEntity = defineEntity({
  type: 'JudgmentVector',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'The vectors by which a judgment is found, by the model that made them',
  schema: JudgmentVector,
  pk: (of: OrganizationScope) => [of.tenant, 'ORGANIZATION', of.organizationKey, 'VECTORS'],
  sk: (key: Omit<JudgmentRef, 'organizationKey'> & { model: string }) => [within(key), key.recordId, key.model],
});

/** The partition of the vector indexes that has the vectors which a model made of a tenant's judgments. */
export function vectorsOf(tenant: string, model: string): string {
  return indexPartition('tenant', [tenant, 'VECTORS', model]);
}

/** The key of the judgment whose vectors have this key. */
export function judgmentKeyOf({ PK, SK }: Key): Key {
  return { PK: PK.replace(/VECTORS$/, 'JUDGMENTS'), SK: SK.split('#').slice(0, 2).join('#') };
}

/** The key of the vectors that a model made of the judgment with this key. */
export function vectorKeyOf({ PK, SK }: Key, model: string): Key {
  return { PK: PK.replace(/JUDGMENTS$/, 'VECTORS'), SK: `${SK}#${encodePart(model)}` };
}

/** The parts that a judgment's keys begin with in a document, for those who remove it. */
export function documentPrefix(document: string): string[] {
  return [document];
}

const State = z.object({
  /** By whose vectors searches go. */
  model: z.string(),
  /** The model that takes its place once all judgments have vectors of it. */
  next: z.string().optional(),
  /** Models whose vectors nobody needs any more. */
  stale: z.array(z.string()).optional(),
});
export type EmbeddingState = z.output<typeof State>;

/** By which model a tenant's judgments are searched. Made with the first judgment. */
export const EmbeddingStateEntity = defineEntity({
  type: 'EmbeddingState',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: "By which embedding model a tenant's judgments are searched",
  schema: State,
  pk: (of: { tenant: string }) => [of.tenant, 'MEMORY'],
  sk: (_key: unknown) => ['EMBEDDING'],
});
