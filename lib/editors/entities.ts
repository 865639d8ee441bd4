import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { recordPartition } from '../content/involvements.ts';
import { defineEntity, type Item, type Stored } from '../table/entity.ts';
import { joinKey, sortableNumber } from '../table/keys.ts';
import { type QueryableEntity, upsert, type WriteOp } from '../table/table.ts';
import type { CrdtType } from './rules/yjs/values.ts';

/** An import of `crdtTypes` would add the rules of values to bundles that do not need them. */
const types = ['text', 'map', 'array', 'xml'] as const satisfies readonly CrdtType[];

export const Bytes = z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array);

export const Blob = z.object({ id: z.string(), parts: z.number() });
export type Blob = z.output<typeof Blob>;

const Head = z.object({
  editorId: z.string(),
  /**
   * An editor that is added again under the same `editorId` has another internal id, and does not use the items of the
   * deleted one.
   */
  internalId: z.string(),
  type: z.enum(types),
  contentKey: z.string(),
  createdAt: z.number(),
  /** All versions of an earlier editor with the same id are smaller. */
  first: z.number(),
  /** All changes up to `version` as one update. Absent before the first compaction. */
  snapshot: z
    .object({
      version: z.number(),
      blob: Blob,
      bytes: z.number(),
      /** The newest `logBytes` minus this is the size of the log since the snapshot. */
      logBytes: z.number(),
    })
    .optional(),
});
export type Editor = z.output<typeof Head>;

const Update = z.object({
  internalId: z.string(),
  version: z.number(),
  at: z.number(),
  packed: Bytes.optional(),
  blob: Blob.optional(),
  /** When the value last changed, epoch ms. */
  changedAt: z.number(),
  changedBy: z.string().optional(),
  sessionId: z.string().optional(),
  /** When the pending event job started, epoch ms. */
  eventJobStartedAt: z.number().optional(),
  /** Includes updates that were removed since. */
  logBytes: z.number(),
  /** Users whose changes came since the last version of the editor. */
  authors: z.array(z.string()).optional(),
  /** For an update without a change: the version of the last change. */
  unchangedSince: z.number().optional(),
  /** When the pending job that makes the next automatic version is due, epoch ms. */
  versionDueAt: z.number().optional(),
});
export type EditorUpdate = z.output<typeof Update>;

/** Updates with the same result have the same state. */
export function stateVersionOf({ version, unchangedSince }: EditorUpdate): number {
  return unchangedSince ?? version;
}

const Part = z.object({
  internalId: z.string(),
  bytes: Bytes,
  /** Epoch ms. A compaction removes old parts. */
  at: z.number(),
});
type EditorPart = z.output<typeof Part>;

const editorsOf = (of: DocumentScope) => recordPartition(of, 'EDITORS');
const BLOB = 'BLOB';
const LOG = 'LOG';
/** `META` sorts after `BLOB` and `LOG`, so a query in descending order starts with the head. */
const META = 'META';

/** An editor exists only while this item, its head, exists. */
export const EditorEntity = defineEntity({
  type: 'Editor',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A collaborative editor of a document: its type, and the blob and version of its snapshot',
  schema: Head,
  pk: editorsOf,
  sk: (key: { editorId: string }) => [key.editorId, META],
});

export const EditorUpdateEntity = defineEntity({
  type: 'EditorUpdate',
  version: 2,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A change of an editor, by its version: the log',
  schema: Update,
  pk: editorsOf,
  sk: (key: { editorId: string; version: number }) => [key.editorId, LOG, sortableNumber(key.version)],
});

/** Written before the item that refers to the blob. */
export const EditorPartEntity = defineEntity({
  type: 'EditorPart',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A part of the state of an editor, or of a large change of it',
  schema: Part,
  pk: editorsOf,
  sk: (key: { editorId: string; id: string; part: number }) => [
    key.editorId,
    BLOB,
    key.id,
    String(key.part).padStart(4, '0'),
  ],
});

/** For `writeBlob`. If the item that refers to the blob is not written, a later compaction removes the part. */
export function editorPart(
  owner: DocumentScope & { readonly editorId: string; readonly internalId: string },
  at: number,
): (part: { readonly id: string; readonly part: number; readonly bytes: Uint8Array }) => WriteOp {
  return (part) => upsert(EditorPartEntity, { ...owner, ...part, at });
}

export function sinceVersion(editorId: string, version: number): [from: string, to: string] {
  return [joinKey([editorId, LOG, sortableNumber(version)]), joinKey([editorId, META])];
}

/** Sorts before all items of an editor, for queries in descending order that skip the editor. */
export function beforeEditor(prefix: string): string {
  return `${prefix}#`;
}

export type EditorItem = { readonly prefix: string; readonly SK: string } & (
  | { readonly kind: 'head'; readonly value: Stored<Editor> }
  | { readonly kind: 'update'; readonly value: Stored<EditorUpdate> }
  | { readonly kind: 'part'; readonly value: EditorPart & { readonly id: string; readonly part: number } }
);

export const EditorItems: QueryableEntity<EditorItem, DocumentScope> = {
  partition: (scope) => EditorEntity.partition(scope),
  fromItem(item, now) {
    const { SK } = item as Item;
    const [prefix = '', , id = '', part = ''] = SK.split('#');
    const common = { prefix, SK, _r: item._r as number };
    if (item._t === EditorUpdateEntity.type) {
      const value = EditorUpdateEntity.fromItem(item, now);
      return value && { ...common, kind: 'update', value };
    }
    if (item._t === EditorPartEntity.type) {
      const value = EditorPartEntity.fromItem(item, now);
      return value && { ...common, kind: 'part', value: { ...value, id, part: Number(part) } };
    }
    const value = EditorEntity.fromItem(item, now);
    return value && { ...common, kind: 'head', value };
  },
};
