import * as z from 'zod';
import type { CrdtType } from './rules/yjs/values.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { defineEntity, type Item, type Stored } from '../table/entity.ts';
import { joinKey } from '../table/keys.ts';
import type { QueryableEntity } from '../table/table.ts';
import { organizationPartition } from '../directory/folders/folders.ts';

/** Repeated here: an import of `crdtTypes` would bring the rules of values into every bundle. */
const types = ['text', 'map', 'array', 'xml'] as const satisfies readonly CrdtType[];

const Bytes = z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array);

/** Bytes in several items. */
const Blob = z.object({ id: z.string(), parts: z.number() });
export type Blob = z.output<typeof Blob>;

const Head = z.object({
  editorId: z.string(),
  /** Drawn at creation. All items of the editor carry it, so an editor that is added again starts empty. */
  internalId: z.string(),
  type: z.enum(types),
  contentKey: z.string(),
  createdAt: z.number(),
  /** The version of the first update. An earlier editor of the same id has smaller versions. */
  first: z.number(),
  /** All updates up to a version in one. Absent while the log is short. */
  snapshot: z
    .object({
      version: z.number(),
      blob: Blob,
      /** The size of the blob. */
      bytes: z.number(),
      /** `logBytes` of the update with that version. */
      logBytes: z.number(),
    })
    .optional(),
});
export type Editor = z.output<typeof Head>;

const Update = z.object({
  /** The editor's internal id. Items of an earlier editor of the same id may still exist. */
  internalId: z.string(),
  version: z.number(),
  /** When the item was written, epoch ms. */
  at: z.number(),
  /** The Yjs update, packed. A large one is in a blob. The update of an event job has neither. */
  packed: Bytes.optional(),
  blob: Blob.optional(),
  /** When the value last changed, epoch ms, and by whom. */
  changedAt: z.number(),
  changedBy: z.string().optional(),
  sessionId: z.string().optional(),
  /**
   * When the job was started that will emit an event about the changes, epoch ms. Absent when an event has reported
   * them.
   */
  eventJobStartedAt: z.number().optional(),
  /** The size of the log up to here in bytes, counting all updates that were ever written. */
  logBytes: z.number(),
});
export type EditorUpdate = z.output<typeof Update>;

const Part = z.object({
  internalId: z.string(),
  bytes: Bytes,
  /** When it was written, epoch ms. A part that nothing refers to some time later is garbage. */
  at: z.number(),
});
type EditorPart = z.output<typeof Part>;

/** The sort keys of an editor's items begin with its id. They sort as its blobs, its log, its head. */
const editorsOf = (of: DocumentScope) => organizationPartition(of, 'DOCUMENT', of.documentKey, 'EDITORS');
const BLOB = 'BLOB';
const LOG = 'LOG';
/** Sorts last: a query in descending order starts with the head. */
const META = 'META';
const versionKey = (version: number) => String(version).padStart(16, '0');

/** The head of an editor. An editor exists as long as its head. */
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

/** One change of an editor. The insertion under the next version commits it. Committed items never change. */
export const EditorUpdateEntity = defineEntity({
  type: 'EditorUpdate',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A change of an editor, by its version: the log',
  schema: Update,
  pk: editorsOf,
  sk: (key: { editorId: string; version: number }) => [key.editorId, LOG, versionKey(key.version)],
});

/** A part of a blob. It is written before the item that refers to the blob. */
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

/** Returns the range of sort keys from an update of an editor to its head. */
export function sinceVersion(editorId: string, version: number): [from: string, to: string] {
  return [joinKey([editorId, LOG, versionKey(version)]), joinKey([editorId, META])];
}

/** Returns a sort key before all items of an editor, whose keys begin with `prefix`. */
export function beforeEditor(prefix: string): string {
  return `${prefix}#`;
}

/** An item in the partition of a document's editors. */
export type EditorItem = { readonly prefix: string; readonly SK: string } & (
  | { readonly kind: 'head'; readonly value: Stored<Editor> }
  | { readonly kind: 'update'; readonly value: Stored<EditorUpdate> }
  | { readonly kind: 'part'; readonly value: EditorPart & { readonly id: string; readonly part: number } }
);

/**
 * Reads all items of a document's editors. `prefix` is the first part of the sort key: the escaped id of the editor.
 */
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
