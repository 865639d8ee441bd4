import type { DocumentScope } from '../content/documentScope.ts';
import type { Stored } from '../table/entity.ts';
import { pause } from '../table/retryOnConflict.ts';
import type { Table } from '../table/table.ts';
import { Assembly, type Blobs, bytesOf, type EditorState } from './editorState.ts';
import { type Blob, type Editor, EditorItems, EditorPartEntity, type EditorUpdate, sinceVersion } from './entities.ts';
import { KnownStates } from './knownStates.ts';

/** How much is read at a time. */
const PAGE = { limit: 1_000, bytes: 1_000_000 };
/** What came after a version is read alone up to here; more is read as a whole, with what was compacted of it. */
const MOST_AFTER = { limit: 300, bytes: 1_000_000 };
const MOST_PARTS_AFTER = 20;
/** How often an editor is read again that others changed while it was read. */
const TRIES = 8;

/** What came after a version. */
export interface Since {
  readonly version: number;
  readonly updates: readonly Uint8Array[];
}

/** Reads editors. */
export class EditorReader {
  protected readonly table: Table;
  readonly #known = new KnownStates();

  constructor(table: Table) {
    this.table = table;
  }

  /** An editor as it is; undefined when there is none. One query: of everything, or of what came since this process saw it last. */
  async find(scope: DocumentScope, editorId: string): Promise<EditorState | undefined> {
    const known = this.#known.get(keyOf(scope, editorId));
    const after = known && (await this.#log(scope, editorId, known.newest.version + 1));
    if (known && typeof after === 'object' && after.head.internalId === known.head.internalId) {
      return this.remember(scope, {
        head: after.head,
        newest: after.log.at(-1) ?? known.newest,
        updates: [...known.updates, ...after.log.flatMap((update) => bytesOf(update, after.blobs))],
      });
    }
    const state = await this.#whole(scope, editorId);
    if (state) return this.remember(scope, state);
    this.#known.forget(keyOf(scope, editorId));
    return undefined;
  }

  /**
   * What came to an editor after a version; `unknown` when that is not to be had without the rest, as the version is of long ago or
   * of an editor that was there before. Undefined when there is no editor. Where nothing came, this reads the head and one update.
   */
  async since(scope: DocumentScope, editorId: string, version: number): Promise<Since | 'unknown' | undefined> {
    const from = await this.#log(scope, editorId, version);
    if (typeof from !== 'object') return from;
    const [first, ...later] = from.log;
    if (!first) return 'unknown';
    return {
      version: later.at(-1)?.version ?? version,
      updates: later.flatMap((update) => bytesOf(update, from.blobs)),
    };
  }

  /** The editors of a document, one after the other, in no order that means something. */
  async *all(scope: DocumentScope): AsyncGenerator<EditorState> {
    let [assembly, of]: [Assembly, string | undefined] = [new Assembly(), undefined];
    let after: string | undefined;
    do {
      const page = await this.table.query(EditorItems, scope, { ...PAGE, descending: true, after });
      for (const item of page.values) {
        if (item.of !== of) {
          yield* this.#assembled(scope, assembly);
          [assembly, of] = [new Assembly(), item.of];
        }
        assembly.take(item);
      }
      after = page.next;
    } while (after !== undefined);
    yield* this.#assembled(scope, assembly);
  }

  /** Keeps in mind how an editor is. */
  protected remember(scope: DocumentScope, state: EditorState): EditorState {
    this.#known.set(keyOf(scope, state.head.editorId), state);
    return state;
  }

  async *#assembled(scope: DocumentScope, assembly: Assembly): AsyncGenerator<EditorState> {
    if (assembly.editorId === undefined) return;
    const state = assembly.state();
    const whole = state === 'torn' ? await this.#whole(scope, assembly.editorId) : state;
    if (whole) yield whole;
  }

  async #whole(scope: DocumentScope, editorId: string): Promise<EditorState | undefined> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const state = await this.#read(scope, editorId);
      if (state !== 'torn') return state;
      await pause(attempt);
    }
    throw new Error('An editor could not be read as a whole');
  }

  /** Backwards, until there is all that its head asks for: what was compacted already comes last. */
  async #read(scope: DocumentScope, editorId: string): Promise<EditorState | 'torn' | undefined> {
    const assembly = new Assembly();
    let after: string | undefined;
    do {
      const page = await this.table.query(EditorItems, scope, { ...PAGE, prefix: [editorId], descending: true, after });
      for (const item of page.values) assembly.take(item);
      const state = assembly.state();
      if (state !== 'torn') return state;
      after = page.next;
    } while (after !== undefined);
    return 'torn';
  }

  /** The head and the log from a version on, if that is there without a gap and is not too much; undefined when there is no editor. */
  async #log(
    scope: DocumentScope,
    editorId: string,
    version: number,
  ): Promise<{ head: Stored<Editor>; log: EditorUpdate[]; blobs: Blobs } | 'unknown' | undefined> {
    const { values, next } = await this.table.query(EditorItems, scope, {
      ...MOST_AFTER,
      between: sinceVersion(editorId, version),
    });
    if (next !== undefined) return 'unknown';
    const last = values.at(-1);
    if (last?.kind !== 'head') return undefined;
    const { head } = last;
    const log = values.flatMap((item) =>
      item.kind === 'update' && item.update.internalId === head.internalId ? item.update : [],
    );
    if (version < head.first || log.some((update, index) => update.version !== version + index)) return 'unknown';
    const blobs = await this.#blobs(
      scope,
      editorId,
      log.flatMap(({ blob }) => blob ?? []),
    );
    return blobs ? { head, log, blobs } : 'unknown';
  }

  /** What is in blobs; undefined when that is too much, or when parts are missing, as they have been compacted. */
  async #blobs(scope: DocumentScope, editorId: string, blobs: readonly Blob[]): Promise<Blobs | undefined> {
    const keys = blobs.flatMap(({ id, parts }) =>
      Array.from({ length: parts }, (_each, part) => ({ ...scope, editorId, id, part })),
    );
    if (keys.length === 0) return new Map();
    if (keys.length > MOST_PARTS_AFTER) return undefined;
    const found = (await this.table.getMany(EditorPartEntity, keys)).map((part) => part?.bytes);
    if (found.includes(undefined)) return undefined;
    return new Map(
      blobs.map(({ id }) => [id, found.filter((_bytes, index) => keys[index]?.id === id) as Uint8Array[]]),
    );
  }
}

/** An editor among all that a process sees. Internal ids are nobody else's. */
function keyOf({ documentKey }: DocumentScope, editorId: string): string {
  return `${documentKey} ${editorId}`;
}
