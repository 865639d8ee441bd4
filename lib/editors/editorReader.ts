import type { DocumentScope } from '../content/documentScope.ts';
import { ApiError, type Issue } from '../shared/errors.ts';
import type { Stored } from '../table/entity.ts';
import { pages } from '../table/pages.ts';
import { Retries } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { BlobParts, type EditorState, StateBuilder } from './editorState.ts';
import { type Editor, EditorItems, EditorPartEntity, type EditorUpdate, sinceVersion } from './entities.ts';
import { crdtLimits } from './rules/yjs/values.ts';
import { partsOf } from './storedBytes.ts';

const PAGE = { limit: 1_000, bytes: 1_000_000 };
/** Above one of these limits, the whole editor is read from its snapshot instead of the newest part of its log. */
const LOG_END = { limit: 300, bytes: 1_000_000 };
const MAX_LOG_END_PARTS = 20;

export interface UpdatesSince {
  readonly head: Editor;
  readonly version: number;
  readonly updates: readonly Uint8Array[];
}

interface LogEnd {
  readonly head: Stored<Editor>;
  readonly log: readonly EditorUpdate[];
  readonly parts: BlobParts;
}

export class EditorReader {
  readonly #table: Table;
  readonly #cache = new StateCache();

  constructor(table: Table) {
    this.#table = table;
  }

  async find(scope: DocumentScope, editorId: string): Promise<EditorState | undefined> {
    const cached = this.#cache.get(scope, editorId);
    const updated = cached && (await this.#readLater(scope, cached));
    const state = updated ?? (await this.#readWhole(scope, editorId));
    this.#cache.set(scope, editorId, state);
    return state;
  }

  async require(scope: DocumentScope, editorId: string): Promise<EditorState> {
    const state = await this.find(scope, editorId);
    if (!state) throw unknownEditor();
    return state;
  }

  /**
   * `unavailable`: the log does not have all updates of this editor since the version, or they are too many. The caller
   * must then read the whole editor. Throws NOT_FOUND if the editor does not exist.
   */
  async findUpdatesSince(
    scope: DocumentScope,
    editorId: string,
    version: number,
  ): Promise<UpdatesSince | 'unavailable'> {
    const end = await this.#readLogEnd(scope, editorId, version);
    if (!end) throw unknownEditor();
    if (end === 'unavailable' || end.log.length === 0) return 'unavailable';
    const { head, log, parts } = end;
    const later = log.slice(1);
    const updates = unpackLog(later, parts);
    return updates === 'unavailable' ? updates : { head, version: later.at(-1)?.version ?? version, updates };
  }

  async *all(scope: DocumentScope): AsyncGenerator<EditorState> {
    let [builder, prefix]: [StateBuilder, string | undefined] = [new StateBuilder(), undefined];
    const read = (after?: string) => this.#table.query(EditorItems, scope, { ...PAGE, descending: true, after });
    for await (const { values } of pages(read)) {
      for (const item of values) {
        if (item.prefix !== prefix) {
          yield* this.#build(scope, builder);
          [builder, prefix] = [new StateBuilder(), item.prefix];
        }
        builder.add(item);
      }
    }
    yield* this.#build(scope, builder);
  }

  cache(scope: DocumentScope, state: EditorState): void {
    this.#cache.set(scope, state.head.editorId, state);
  }

  async *#build(scope: DocumentScope, builder: StateBuilder): AsyncGenerator<EditorState> {
    if (builder.editorId === undefined) return;
    const state = builder.state();
    const whole = state === 'incomplete' ? await this.#readWhole(scope, builder.editorId) : state;
    if (whole) yield whole;
  }

  async #readLater(scope: DocumentScope, { head, newest, updates }: EditorState): Promise<EditorState | undefined> {
    const end = await this.#readLogEnd(scope, head.editorId, newest.version + 1);
    if (typeof end !== 'object' || end.head.internalId !== head.internalId) return undefined;
    const later = unpackLog(end.log, end.parts);
    if (later === 'unavailable') return undefined;
    return { head: end.head, newest: end.log.at(-1) ?? newest, updates: [...updates, ...later] };
  }

  async #readWhole(scope: DocumentScope, editorId: string): Promise<EditorState | undefined> {
    const retries = new Retries();
    do {
      const state = await this.#readOnce(scope, editorId);
      if (state !== 'incomplete') return state;
    } while (await retries.next());
    throw new Error('An editor could not be read as a whole');
  }

  async #readOnce(scope: DocumentScope, editorId: string): Promise<EditorState | 'incomplete' | undefined> {
    const builder = new StateBuilder();
    const options = { ...PAGE, prefix: [editorId], descending: true };
    for await (const { values } of pages((after) => this.#table.query(EditorItems, scope, { ...options, after }))) {
      for (const item of values) builder.add(item);
      const state = builder.state();
      if (state !== 'incomplete') return state;
    }
    return 'incomplete';
  }

  /**
   * `unavailable`: updates are missing, the version is of an earlier editor with the same id, or too much must be read.
   * Undefined: the editor does not exist.
   */
  async #readLogEnd(
    scope: DocumentScope,
    editorId: string,
    version: number,
  ): Promise<LogEnd | 'unavailable' | undefined> {
    const between = sinceVersion(editorId, version);
    const { values, next } = await this.#table.query(EditorItems, scope, { ...LOG_END, between });
    if (next !== undefined) return 'unavailable';
    const last = values.at(-1);
    if (last?.kind !== 'head') return undefined;
    const head = last.value;
    const log = values.flatMap(({ kind, value }) =>
      kind === 'update' && value.internalId === head.internalId ? value : [],
    );
    if (version < head.first || log.some((update, index) => update.version !== version + index)) return 'unavailable';
    const blobs = log.flatMap(({ blob }) => blob ?? []);
    const keys = blobs.flatMap(partsOf);
    if (keys.length > MAX_LOG_END_PARTS) return 'unavailable';
    const parts = new BlobParts();
    const storedParts = await this.#table.getMany(
      EditorPartEntity,
      keys.map((key) => ({ ...scope, editorId, ...key })),
    );
    for (const [index, key] of keys.entries()) {
      const part = storedParts[index];
      if (part) parts.add(key, part.bytes);
    }
    return parts.hasAll(blobs) ? { head, log, parts } : 'unavailable';
  }
}

/** `unavailable`: together, the updates are larger than the state of an editor may be. */
function unpackLog(log: readonly EditorUpdate[], parts: BlobParts): Uint8Array[] | 'unavailable' {
  const updates: Uint8Array[] = [];
  let bytes = 0;
  for (const entry of log)
    for (const update of parts.read(entry)) {
      bytes += update.length;
      if (bytes > crdtLimits.stateBytes) return 'unavailable';
      updates.push(update);
    }
  return updates;
}

const MAX_CACHED_BYTES = 24_000_000;
const MAX_CACHED_UPDATES = 250;

/** A state at a version never changes, so a later read needs only the updates after that version. */
class StateCache {
  readonly #states = new Map<string, { readonly state: EditorState; readonly bytes: number }>();
  #bytes = 0;

  get(scope: DocumentScope, editorId: string): EditorState | undefined {
    return this.#states.get(cacheKey(scope, editorId))?.state;
  }

  set(scope: DocumentScope, editorId: string, state: EditorState | undefined): void {
    const key = cacheKey(scope, editorId);
    this.#delete(key);
    const bytes = state?.updates.reduce((sum, update) => sum + update.length, 0) ?? 0;
    if (!state || bytes > MAX_CACHED_BYTES || state.updates.length > MAX_CACHED_UPDATES) return;
    this.#states.set(key, { state, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#states.keys()) {
      if (this.#bytes <= MAX_CACHED_BYTES) return;
      this.#delete(oldest);
    }
  }

  #delete(key: string): void {
    this.#bytes -= this.#states.get(key)?.bytes ?? 0;
    this.#states.delete(key);
  }
}

/** Internal ids of documents are unique in the whole table, so the key needs no tenant. */
function cacheKey({ documentKey }: DocumentScope, editorId: string): string {
  return `${documentKey} ${editorId}`;
}

export function unknownEditor(): ApiError {
  return new ApiError('NOT_FOUND', 'No CRDT data found for this editor ID.');
}

export function requireEditorKey({ internalId }: Editor, editorKey: string | undefined): void {
  if (editorKey === undefined || editorKey === internalId) return;
  const message = 'No CRDT data found for this editorKey. Another editor has this editor ID.';
  const issue: Issue = { path: ['editorKey'], code: 'does_not_exist', message };
  throw new ApiError('NOT_FOUND', message, { details: { issues: [issue] } });
}

export const readEditors = /* @__PURE__ */ storeCapability(EditorReader, ['BatchGetItem', 'Query']);
