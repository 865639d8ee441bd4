import type { ItemChange } from '../content/rules/hints.ts';
import { type Blob, EditorPartEntity } from '../editors/entities.ts';
import { partsOf, unpack } from '../editors/storedBytes.ts';
import { decodePart } from '../shared/keyParts.ts';
import type { Table } from '../table/table.ts';
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

export class EditorParts {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async read(document: DocumentKeys, editorId: string, blob: Blob): Promise<Buffer | undefined> {
    const parts = await this.#table.getMany(
      EditorPartEntity,
      partsOf(blob).map((part) => ({ ...document, editorId, ...part })),
    );
    const bytes = parts.flatMap((part) => (part ? [part.bytes] : []));
    return bytes.length === parts.length ? Buffer.concat(bytes) : undefined;
  }
}

/** Returns undefined for an item of the log that changes nothing. */
export async function toEditorPush(
  parts: EditorParts,
  document: DocumentKeys,
  { key, item }: ItemChange,
): Promise<EditorPush | undefined> {
  const { internalId, version, at, packed, blob, changedBy } = item as unknown as StreamUpdate;
  const editorId = decodePart(key.SK.split('#', 1)[0] ?? '');
  if (editorId === undefined || (packed === undefined && blob === undefined)) return undefined;
  const bytes = packed === undefined ? undefined : Buffer.from(packed as string, 'base64');
  const stored = blob ? await parts.read(document, editorId, blob) : bytes;
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
