import type { Stored } from '../table/entity.ts';
import type { Blob, Editor, EditorItem, EditorUpdate } from './entities.ts';
import { partsOf, unpack } from './storedBytes.ts';

export interface EditorState {
  readonly head: Stored<Editor>;
  readonly newest: EditorUpdate;
  readonly updates: readonly Uint8Array[];
}

/** A blob is bytes that are stored in one or more items. */
export class BlobParts {
  readonly #parts = new Map<string, Uint8Array>();

  add({ id, part }: { id: string; part: number }, bytes: Uint8Array): void {
    this.#parts.set(`${id} ${part}`, bytes);
  }

  hasAll(blobs: readonly Blob[]): boolean {
    return blobs.every((blob) => this.#bytesOf(blob).every((bytes) => bytes !== undefined));
  }

  /** All parts of the item's blob must have been added. Returns an empty list for an item that changes nothing. */
  read({ packed, blob }: Pick<EditorUpdate, 'packed' | 'blob'>): Uint8Array[] {
    const parts = blob ? this.#bytesOf(blob).filter((bytes) => bytes !== undefined) : [];
    const bytes = packed ?? (blob && Buffer.concat(parts));
    return bytes ? [unpack(bytes)] : [];
  }

  #bytesOf(blob: Blob): (Uint8Array | undefined)[] {
    return partsOf(blob).map(({ id, part }) => this.#parts.get(`${id} ${part}`));
  }
}

/**
 * Items must be added in descending order of their keys: the head, the log from its end, blobs. `state` returns
 * `incomplete` while needed items are missing: not added yet, or removed by another request between two pages.
 */
export class StateBuilder {
  #head: Stored<Editor> | undefined;
  #newest: EditorUpdate | undefined;
  readonly #log: EditorUpdate[] = [];
  readonly #parts = new BlobParts();

  add(item: EditorItem): void {
    if (item.kind === 'head') this.#head = item.value;
    // Items with another internal id belong to an earlier editor with the same id.
    if (item.value.internalId !== this.#head?.internalId) return;
    if (item.kind === 'part') this.#parts.add(item.value, item.value.bytes);
    if (item.kind !== 'update') return;
    this.#newest ??= item.value;
    if (item.value.version >= firstVersionAfterSnapshot(this.#head)) this.#log.push(item.value);
  }

  get editorId(): string | undefined {
    return this.#head?.editorId;
  }

  state(): EditorState | 'incomplete' | undefined {
    const [head, newest] = [this.#head, this.#newest];
    if (!head) return undefined;
    const log = [...(head.snapshot ? [{ blob: head.snapshot.blob }] : []), ...this.#log.toReversed()];
    const isComplete =
      newest &&
      this.#log.length === newest.version - firstVersionAfterSnapshot(head) + 1 &&
      this.#parts.hasAll(log.flatMap(({ blob }) => blob ?? []));
    return isComplete ? { head, newest, updates: log.flatMap((update) => this.#parts.read(update)) } : 'incomplete';
  }
}

function firstVersionAfterSnapshot({ first, snapshot }: Editor): number {
  return snapshot ? snapshot.version + 1 : first;
}
