import type { Stored } from '../table/entity.ts';
import type { Blob, Editor, EditorItem, EditorUpdate } from './entities.ts';
import { unpack } from './compression.ts';

/** An editor at a version: all of its updates up to it, the first of which may be a snapshot of many. */
export interface EditorState {
  readonly head: Stored<Editor>;
  readonly newest: EditorUpdate;
  readonly updates: readonly Uint8Array[];
}

/**
 * Puts an editor together from its items as they come, backwards: the head, the log from its end, blobs. While they are read others write and
 * compact, so that what is found need not be of one moment; whether it makes a whole is known in the end.
 */
export class Assembly {
  #head: Stored<Editor> | undefined;
  #newest: EditorUpdate | undefined;
  /** Newest first. */
  readonly #updates: EditorUpdate[] = [];
  readonly #blobs = new Map<string, Uint8Array[]>();

  /** Takes the next item of the editor. */
  take(item: EditorItem): void {
    if (item.kind === 'head') this.#head = item.head;
    if (
      !this.#head ||
      (item.kind === 'update' ? item.update : item.kind === 'part' ? item : this.#head).internalId !==
        this.#head.internalId
    )
      return;
    if (item.kind === 'update') {
      this.#newest ??= item.update;
      if (item.update.version >= firstNeeded(this.#head)) this.#updates.push(item.update);
    }
    if (item.kind === 'part' && this.#wanted().some(({ id }) => id === item.id)) {
      const parts = this.#blobs.get(item.id) ?? [];
      parts[item.part] = item.bytes;
      this.#blobs.set(item.id, parts);
    }
  }

  /** The editor's id, once it is known that there is one. */
  get editorId(): string | undefined {
    return this.#head?.editorId;
  }

  /** The whole, or `torn` when something of it is missing as yet; undefined where there is no editor. */
  state(): EditorState | 'torn' | undefined {
    const [head, newest] = [this.#head, this.#newest];
    if (!head) return undefined;
    const isWhole =
      newest &&
      this.#updates.length === newest.version - firstNeeded(head) + 1 &&
      this.#wanted().every(({ id, parts }) => partsIn(this.#blobs.get(id)) === parts);
    if (!isWhole) return 'torn';
    const updates = this.#updates.toReversed().flatMap((update) => bytesOf(update, this.#blobs));
    return { head, newest, updates: head.snapshot ? [fromBlob(head.snapshot.blob, this.#blobs), ...updates] : updates };
  }

  #wanted(): Blob[] {
    return [
      ...(this.#head?.snapshot ? [this.#head.snapshot.blob] : []),
      ...this.#updates.flatMap(({ blob }) => blob ?? []),
    ];
  }
}

/** The parts of blobs by their id, in their order. */
export type Blobs = ReadonlyMap<string, readonly Uint8Array[]>;

/** The bytes of an update, which may have none, with the parts of its blob. */
export function bytesOf({ packed, blob }: EditorUpdate, blobs: Blobs): Uint8Array[] {
  return packed ? [unpack(packed)] : blob ? [fromBlob(blob, blobs)] : [];
}

function fromBlob({ id }: Blob, blobs: Blobs): Uint8Array {
  const parts = blobs.get(id) ?? [];
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (joined.set(part, at), at + part.length), 0);
  return unpack(joined);
}

/** How many of the parts are there: a gap has none. */
function partsIn(parts: readonly Uint8Array[] = []): number {
  return parts.filter(() => true).length;
}

/** The version from which on the log is needed. */
function firstNeeded({ first, snapshot }: Editor): number {
  return snapshot ? snapshot.version + 1 : first;
}
