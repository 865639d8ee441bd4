import type { EditorState } from './editorState.ts';

/** How many bytes of updates are remembered. */
const MOST_BYTES = 24_000_000;
/** An editor with more updates is read again: by then there is a snapshot of them. */
const MOST_UPDATES = 250;

/** The editors that a process has seen lately. A state at a version never changes, so that only what came after it has to be read. */
export class KnownStates {
  readonly #states = new Map<string, { readonly state: EditorState; readonly bytes: number }>();
  #bytes = 0;

  get(key: string): EditorState | undefined {
    return this.#states.get(key)?.state;
  }

  set(key: string, state: EditorState): void {
    this.forget(key);
    const bytes = state.updates.reduce((sum, update) => sum + update.length, 0);
    if (bytes > MOST_BYTES || state.updates.length > MOST_UPDATES) return;
    this.#states.set(key, { state, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#states.keys()) {
      if (this.#bytes <= MOST_BYTES) return;
      this.forget(oldest);
    }
  }

  forget(key: string): void {
    this.#bytes -= this.#states.get(key)?.bytes ?? 0;
    this.#states.delete(key);
  }
}
