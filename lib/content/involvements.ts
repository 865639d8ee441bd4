import * as z from 'zod';
import { instantKey } from '../shared/times.ts';
import { defineEntity } from '../table/entity.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { remove, upsert, type WriteOp } from '../table/table.ts';
import type { DocumentScope } from './documentScope.ts';

/** The kinds of records that belong to a user's data (spec 4.19). */
export const involvedKinds = ['comment', 'reaction', 'recording', 'notification'] as const;
export type InvolvedKind = (typeof involvedKinds)[number];

const Schema = z.object({
  /** The document's internal id. */
  documentKey: z.string(),
  /** The id of the annotation or notification. */
  id: z.string(),
  /** When the annotation or notification was created, epoch ms: a part of its sort key. */
  createdAt: z.number(),
  /** For a comment: which one of the annotation. */
  commentId: z.number().optional(),
  /** Whether the user made it, and is not just mentioned, assigned or notified. */
  made: z.boolean(),
});

/** One record of which a user's data consists, and the key of its edge. */
export interface Involvement extends z.output<typeof Schema> {
  readonly userId: string;
  readonly kind: InvolvedKind;
  /** When the record itself was created, epoch ms; never changes, so that paging over edges loses and repeats nothing. */
  readonly at: number;
}

/**
 * That a user is involved in a record: wrote it, is mentioned in it, is notified by it. It lies in the user's partition of the organization,
 * read with strong consistency; an index would show it later than the record itself.
 */
export const InvolvementEntity = defineEntity({
  type: 'Involvement',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'That a user is involved in a comment, reaction, recording or notification',
  schema: Schema.extend({ at: z.number() }),
  pk: (of: OrganizationScope & { userId: string }) => [
    of.tenant,
    'ORGANIZATION',
    of.organizationKey,
    'USER',
    of.userId,
  ],
  sk: (key: { kind: InvolvedKind; at: number; documentKey: string; id: string; commentId?: number | undefined }) => [
    'DATA',
    key.kind,
    instantKey(key.at),
    key.documentKey,
    key.id,
    ...(key.commentId === undefined ? [] : [String(key.commentId)]),
  ],
});

/** Records that a user is involved; once more changes nothing. */
export function addInvolvement({ tenant, organizationKey }: OrganizationScope, involvement: Involvement): WriteOp {
  return upsert(InvolvementEntity, { tenant, organizationKey, ...involvement });
}

/** Forgets that a user is involved. */
export function removeInvolvement(
  { tenant, organizationKey }: OrganizationScope,
  involvement: Omit<Involvement, 'made' | 'createdAt'>,
): WriteOp {
  return remove(InvolvementEntity, { tenant, organizationKey, ...involvement });
}

/** Whom everybody in the organization stands for, where a notification is for all of them: no user has this id. */
export const EVERYBODY = '\u0000everybody';

/** The sort key of the records of a kind in a document: by creation, then id. */
export function recordSortKey(createdAt: number, id: string): [string, string] {
  return [instantKey(createdAt), id];
}

/** The partition of the records of a kind in a document. */
export function recordPartition(scope: DocumentScope, records: string): string[] {
  return [scope.tenant, 'ORGANIZATION', scope.organizationKey, 'DOCUMENT', scope.documentKey, records];
}
