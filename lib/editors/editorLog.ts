import type * as Y from 'yjs';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import type { JobMessage } from '../jobs/jobStore.ts';
import { ApiError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, type Table } from '../table/table.ts';
import { entryBytes, isDueForCompaction } from './compaction.ts';
import { EditorReader } from './editorReader.ts';
import type { EditorState } from './editorState.ts';
import { type Editor, EditorEntity, type EditorUpdate, EditorUpdateEntity } from './entities.ts';
import { hasEventJob, startEventJob } from './eventJob.ts';
import { openDocument } from './rules/yjs/document.ts';
import { pack, writeBlob } from './storedBytes.ts';

/** Larger updates are stored as blobs in separate items, so that reads of the log stay small. */
const MAX_INLINE_BYTES = 8_192;

export interface Author {
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly now: number;
}

export interface Changed {
  /** If nothing changed, the current version. */
  readonly version: number;
  /** Undefined if nothing changed, or if such a job was pending already. */
  readonly eventJob?: JobMessage | undefined;
  readonly isDueForCompaction: boolean;
}

/**
 * An update takes effect when it is inserted under the next version. If another request has taken the version, the
 * change is computed again.
 */
export class EditorLog {
  readonly #table: Table;
  readonly #reader: EditorReader;

  constructor(table: Table) {
    this.#table = table;
    this.#reader = new EditorReader(table);
  }

  /** Throws ALREADY_EXISTS if an editor with this id exists, and ABORTED after another conflict. */
  async add(
    context: DocumentContext,
    { editorId, type, contentKey }: Pick<Editor, 'editorId' | 'type' | 'contentKey'>,
    update: Uint8Array | undefined,
    author: Author,
  ): Promise<Changed> {
    const { scope } = context;
    const { now } = author;
    // No editor gets a million updates per second, so an editor that is added later under the same id has larger
    // versions.
    const head = { editorId, internalId: newId('edt', now), type, contentKey, createdAt: now, first: now * 1000 };
    if (update && update.length > MAX_INLINE_BYTES) await this.#requireAbsent(scope, editorId);
    const job = startEventJob(context, head, now);
    const entry = await this.#newEntry(scope, head, undefined, update, { ...author, eventJobStartedAt: now });
    const outcome = await this.#table.write([
      // A concurrent deletion that has read an earlier editor with the same id fails, because the first revision is the
      // creation time.
      insert(EditorEntity, { ...scope, ...head }, now),
      insert(EditorUpdateEntity, { ...scope, editorId, ...entry }),
      job.op,
    ]);
    if (outcome === 'done') return { version: entry.version, eventJob: job.message, isDueForCompaction: false };
    await this.#requireAbsent(scope, editorId);
    throw new ApiError('ABORTED', 'Other requests are changing the same editor. Send the request again.');
  }

  /**
   * `decide` returns an update for the current state, or undefined to write nothing. It runs again after a conflict.
   * Throws what `decide` throws, NOT_FOUND if the editor does not exist, and ABORTED after too many conflicts.
   */
  async change(
    context: DocumentContext,
    editorId: string,
    author: Author,
    decide: (state: EditorState, doc: Y.Doc) => Uint8Array | undefined,
  ): Promise<Changed> {
    return retryOnConflict(async () => {
      const state = await this.#reader.require(context.scope, editorId);
      const update = decide(state, openDocument(state.updates));
      if (!update) return { version: state.newest.version, isDueForCompaction: false };
      return this.#append(context, state, update, author);
    });
  }

  async #append(
    context: DocumentContext,
    { head, newest, updates }: EditorState,
    update: Uint8Array,
    author: Author,
  ): Promise<Changed | 'conflict'> {
    const { scope } = context;
    const { now } = author;
    const job = hasEventJob(newest, now) ? undefined : startEventJob(context, head, now);
    const eventJobStartedAt = job ? now : newest.eventJobStartedAt;
    const entry = await this.#newEntry(scope, head, newest, update, { ...author, eventJobStartedAt });
    const op = insert(EditorUpdateEntity, { ...scope, editorId: head.editorId, ...entry });
    if ((await this.#table.write(job ? [op, job.op] : [op])) !== 'done') return 'conflict';
    this.#reader.cache(scope, { head, newest: entry, updates: [...updates, update] });
    return {
      version: entry.version,
      eventJob: job?.message,
      isDueForCompaction: isDueForCompaction(head, newest, entry),
    };
  }

  async #newEntry(
    scope: DocumentScope,
    { editorId, internalId, first }: Editor,
    before: EditorUpdate | undefined,
    update: Uint8Array | undefined,
    { userId, sessionId, now, eventJobStartedAt }: Author & Pick<EditorUpdate, 'eventJobStartedAt'>,
  ): Promise<EditorUpdate> {
    const packed = update && pack(update);
    const isLarge = packed !== undefined && packed.length > MAX_INLINE_BYTES;
    const owner = { ...scope, editorId, internalId };
    return {
      internalId,
      version: before ? before.version + 1 : first,
      at: now,
      ...(isLarge ? { blob: await writeBlob(this.#table, owner, packed, now) } : { packed }),
      changedAt: now,
      changedBy: userId,
      sessionId,
      eventJobStartedAt,
      logBytes: (before?.logBytes ?? 0) + entryBytes(update),
    };
  }

  async #requireAbsent(scope: DocumentScope, editorId: string): Promise<void> {
    if (await this.#table.get(EditorEntity, { ...scope, editorId }))
      throw new ApiError('ALREADY_EXISTS', 'CRDT data already exists for this editor ID.');
  }
}

export const changeEditors = /* @__PURE__ */ storeCapability(EditorLog, [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
]);
