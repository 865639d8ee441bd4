import * as z from 'zod';
import type { DocumentScope } from '../../content/documentScope.ts';
import { recordPartition } from '../../content/involvements.ts';
import { defineEntity } from '../../table/entity.ts';
import { Blob, Bytes } from '../entities.ts';

const Schema = z.object({
  versionId: z.string(),
  editorId: z.string(),
  internalId: z.string(),
  /** The version of the log that last changed the state. Equal for versions with the same state. */
  stateVersion: z.number(),
  /** Epoch ms, as all times here. */
  createdAt: z.number(),
  name: z.string().optional(),
  metadata: z.string().optional(),
  authors: z.array(z.string()),
  isAutomatic: z.boolean(),
  /** The version that was restored, if the restore made this version from the state before it. */
  restoredVersionId: z.string().optional(),
  blob: Blob,
  bytes: z.number(),
  expiresAt: z.number().optional(),
});
export type EditorVersion = z.output<typeof Schema>;

export interface EditorName extends DocumentScope {
  readonly editorId: string;
  /** Of the editor, so that an editor that is added again has none of the earlier versions. */
  readonly internalId: string;
}

export const EditorVersionEntity = defineEntity({
  type: 'EditorVersion',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A named or automatic version of an editor: its authors and the blob of its state',
  schema: Schema,
  pk: (of: DocumentScope) => recordPartition(of, 'EDITOR_VERSIONS'),
  sk: (key: { editorId: string; internalId: string; versionId: string }) => [
    key.editorId,
    key.internalId,
    key.versionId,
  ],
  expiresAt: ({ expiresAt }) => inSeconds(expiresAt),
});

/** Written before the version that refers to the blob. */
export const EditorVersionPartEntity = defineEntity({
  type: 'EditorVersionPart',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'A part of the state of a version of an editor',
  schema: z.object({
    bytes: Bytes,
    expiresAt: z.number().optional(),
  }),
  pk: (of: DocumentScope) => recordPartition(of, 'EDITOR_VERSION_PARTS'),
  sk: (key: { editorId: string; internalId: string; id: string; part: number }) => [
    key.editorId,
    key.internalId,
    key.id,
    String(key.part).padStart(4, '0'),
  ],
  expiresAt: ({ expiresAt }) => inSeconds(expiresAt),
});

function inSeconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.ceil(milliseconds / 1000);
}
