import type { ItemChange } from '../content/rules/hints.ts';
import type { Blob } from '../editors/entities.ts';
import { unpack } from '../editors/storedBytes.ts';
import { decodePart } from '../shared/keyParts.ts';
import type { LiveStore } from './liveStore.ts';
import { MAX_EVENT_BYTES } from './rules/events.ts';
import type { DocumentKeys, EditorHint } from './rules/hints.ts';

/** An update in a stream record, whose bytes are base64 text. */
interface StreamUpdate {
  readonly internalId: string;
  readonly version: number;
  readonly at: number;
  readonly packed?: string | Uint8Array;
  readonly blob?: Blob;
  readonly changedBy?: string;
}

export interface EditorPush {
  readonly hint: EditorHint;
  readonly payload: { readonly update: string } | undefined;
}

const MAX_UPDATE_BYTES = (MAX_EVENT_BYTES / 4) * 3;

/** Returns undefined for an item of the log that changes nothing. */
export async function toEditorPush(
  store: Pick<LiveStore, 'readParts'>,
  document: DocumentKeys,
  { key, item }: ItemChange,
): Promise<EditorPush | undefined> {
  const { internalId, version, at, packed, blob, changedBy } = item as unknown as StreamUpdate;
  const editorId = decodePart(key.SK.split('#', 1)[0] ?? '');
  if (editorId === undefined || (packed === undefined && blob === undefined)) return undefined;
  const bytes = packed === undefined ? undefined : Buffer.from(packed as string, 'base64');
  const stored = blob ? await store.readParts(document, editorId, blob) : bytes;
  const update = stored && unpack(stored);
  return {
    hint: {
      type: 'crdt.update',
      at,
      editorId,
      editorKey: internalId,
      editorVersion: version,
      ...(changedBy !== undefined && { by: changedBy }),
    },
    payload:
      update && update.length <= MAX_UPDATE_BYTES ? { update: Buffer.from(update).toString('base64') } : undefined,
  };
}
