import * as z from 'zod';
import type { CrdtType } from './rules/yjs/values.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { defineEntity, type Item, type Stored } from '../table/entity.ts';
import { joinKey } from '../table/keys.ts';
import type { QueryableEntity } from '../table/table.ts';

/** Spelled out here: the module that has them has the XML parser as well, which those who only read and remove do not need. */
const types = ['text', 'map', 'array', 'xml'] as const satisfies readonly CrdtType[];

/** Bytes as DynamoDB has them. */
const Bytes = z.instanceof<typeof Uint8Array<ArrayBufferLike>>(Uint8Array);

/** Bytes that one item cannot hold: so many parts under an id of their own. */
const Blob = z.object({ id: z.string(), parts: z.number() });
export type Blob = z.output<typeof Blob>;

const Head = z.object({
  editorId: z.string(),
  /** Made at creation; what lies beneath carries it, so that an editor added again starts empty. */
  internalId: z.string(),
  type: z.enum(types),
  contentKey: z.string(),
  createdAt: z.number(),
  /** The version of its first update. Versions of an editor that was there before under the same id are smaller. */
  first: z.number(),
  /** Everything up to a version, as one. Absent while the log is short. */
  snapshot: z
    .object({
      version: z.number(),
      blob: Blob,
      /** How many bytes its parts have. */
      bytes: z.number(),
      /** `weight` of the update with that version. */
      weight: z.number(),
    })
    .optional(),
});
export type Editor = z.output<typeof Head>;

const Update = z.object({
  /** Whose it is: an editor under the same id that was there before can have left some. */
  internalId: z.string(),
  version: z.number(),
  /** When it was sent, epoch ms. */
  at: z.number(),
  /** The change as Yjs has it, packed: here when it is small, else in a blob; neither where nothing changed but what is said below. */
  packed: Bytes.optional(),
  blob: Blob.optional(),
  /** The last change of the editor, which is this one unless it changes nothing: when it was made, and by whom. */
  changedAt: z.number(),
  changedBy: z.string().optional(),
  sessionId: z.string().optional(),
  /** When the job that tells of the changes so far was begun, epoch ms. Absent when they have been told: the next change begins one. */
  tellingSince: z.number().optional(),
  /** How much the log weighs up to here, all updates counted that ever were. */
  weight: z.number(),
});
export type EditorUpdate = z.output<typeof Update>;

const Part = z.object({
  internalId: z.string(),
  bytes: Bytes,
  /** When it was written, epoch ms: what nothing refers to a while later never will be. */
  at: z.number(),
});

/** What one editor has begins with its id, and lies together: its blobs, its log, its head. */
const editorsOf = (of: DocumentScope) => [
  of.tenant,
  'ORGANIZATION',
  of.organizationKey,
  'DOCUMENT',
  of.documentKey,
  'EDITORS',
];
const BLOB = 'BLOB';
const LOG = 'LOG';
/** Sorts after the rest: who reads backwards knows first what to look for. */
const META = 'META';
const versionKey = (version: number) => String(version).padStart(16, '0');

/** The head of an editor. What has no head is not there. */
export const EditorEntity = defineEntity({
  type: 'Editor',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A collaborative editor of a document: its type, and which blob has its state up to which version',
  schema: Head,
  pk: editorsOf,
  sk: (key: { editorId: string }) => [key.editorId, META],
});

/** One change of an editor. To insert the one with the next version is what commits a change; what is committed never changes. */
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

/** A part of what is too large for an item, written before that which refers to it. */
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

/** The sort keys of the head of an editor and of its updates from a version on. */
export function sinceVersion(editorId: string, version: number): [from: string, to: string] {
  return [joinKey([editorId, LOG, versionKey(version)]), joinKey([editorId, META])];
}

/** A sort key before everything that an editor has, by the first part of its keys: none is so short. */
export function beforeEditor(of: string): string {
  return `${of}#`;
}

/** An item of an editor, with what its key says. */
export type EditorItem =
  | { readonly kind: 'head'; readonly head: Stored<Editor> }
  | { readonly kind: 'update'; readonly update: Stored<EditorUpdate> }
  | {
      readonly kind: 'part';
      readonly internalId: string;
      readonly id: string;
      readonly part: number;
      readonly bytes: Uint8Array;
      readonly at: number;
    };

/** Everything in the partition of a document's editors, as it comes. The first part of the sort key, escaped, says whose it is. */
export const EditorItems: QueryableEntity<EditorItem & { readonly of: string; readonly SK: string }, DocumentScope> = {
  partition: (scope) => EditorEntity.partition(scope),
  fromItem(item, now) {
    const { SK } = item as Item;
    const [of = '', , id = '', part = ''] = SK.split('#');
    const read = (): EditorItem | undefined => {
      if (item._t === EditorUpdateEntity.type) {
        const update = EditorUpdateEntity.fromItem(item, now);
        return update && { kind: 'update', update };
      }
      if (item._t === EditorPartEntity.type) {
        const found = EditorPartEntity.fromItem(item, now);
        return (
          found && {
            kind: 'part',
            internalId: found.internalId,
            id,
            part: Number(part),
            bytes: found.bytes,
            at: found.at,
          }
        );
      }
      const head = EditorEntity.fromItem(item, now);
      return head && { kind: 'head', head };
    };
    const value = read();
    return value && { ...value, of, SK, _r: item._r as number };
  },
};
