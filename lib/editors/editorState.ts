import type { Stored } from '../table/entity.ts';
import type { Blob, Editor, EditorItem, EditorUpdate } from './entities.ts';
import { partsOf, unpack } from './storedBytes.ts';

/** An editor at the version of its newest update. */
export interface EditorState {
  readonly head: Stored<Editor>;
  readonly newest: EditorUpdate;
  /** All updates up to this version. The first update can be a snapshot of many. */
  readonly updates: readonly Uint8Array[];
}

/** The parts of blobs that were read. */
export class BlobParts {
  readonly #parts = new Map<string, Uint8Array>();

  add({ id, part }: { id: string; part: number }, bytes: Uint8Array): void {
    this.#parts.set(`${id} ${part}`, bytes);
  }

  hasAll(blobs: readonly Blob[]): boolean {
    return blobs.every((blob) => this.#bytesOf(blob).every((bytes) => bytes !== undefined));
  }

  /**
   * Returns a list with the bytes of an update. The list is empty for an update without a change. All parts must have been added.
   */
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
 * Builds the state of an editor from its items in descending order of their keys: the head, the log from its end, blobs. Other
 * requests can write and compact between two pages, so items can be missing. `state` returns whether the items are complete.
 */
export class StateBuilder {
  #head: Stored<Editor> | undefined;
  #newest: EditorUpdate | undefined;
  /** The updates after the snapshot. The newest update is first. */
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

  /** The id of the editor. Undefined before the head was added. */
  get editorId(): string | undefined {
    return this.#head?.editorId;
  }

  /** Returns the state. Returns `incomplete` if items are missing, or undefined if there is no head. */
  state(): EditorState | 'incomplete' | undefined {
    const [head, newest] = [this.#head, this.#newest];
    if (!head) return undefined;
    // The snapshot is an update too. It comes before all other updates.
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
