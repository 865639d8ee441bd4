import type * as Y from 'yjs';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import type { JobMessage } from '../jobs/jobStore.ts';
import { distinct } from '../shared/collections.ts';
import { ApiError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, type Table, type WriteOp } from '../table/table.ts';
import { entryBytes, isDueForCompaction } from './compaction.ts';
import { EditorReader } from './editorReader.ts';
import type { EditorState } from './editorState.ts';
import {
  type Editor,
  EditorEntity,
  editorPart,
  type EditorUpdate,
  EditorUpdateEntity,
  stateVersionOf,
} from './entities.ts';
import { isJobPending, startEventJob } from './eventJob.ts';
import { versionLimits } from './rules/versionLife.ts';
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

interface Decision {
  readonly update: Uint8Array;
  readonly ops: readonly WriteOp[];
  /** Whether `ops` make a version of the state before the update. */
  readonly hasVersion?: boolean;
  readonly finish?: (isWritten: boolean) => Promise<void>;
}

/** The next update of the log, without a change. */
export function unchangedUpdate(before: EditorUpdate, now: number): EditorUpdate {
  const { internalId, changedAt, changedBy, sessionId, version, logBytes, authors, versionDueAt } = before;
  return {
    internalId,
    version: version + 1,
    at: now,
    changedAt,
    changedBy,
    sessionId,
    eventJobStartedAt: before.eventJobStartedAt,
    logBytes: logBytes + entryBytes(),
    authors,
    unchangedSince: stateVersionOf(before),
    versionDueAt,
  };
}

function addAuthor(authors: readonly string[] = [], userId: string | undefined): string[] | undefined {
  const all = userId === undefined ? authors : distinct([...authors, userId]);
  return all.length > 0 ? all.slice(0, versionLimits.authors) : undefined;
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
    return this.changeWith(context, editorId, author, (state, doc) => {
      const update = decide(state, doc);
      return Promise.resolve(update && { update, ops: [] });
    });
  }

  /** Like `change`. The operations are in the transaction of the update. */
  async changeWith(
    context: DocumentContext,
    editorId: string,
    author: Author,
    decide: (state: EditorState, doc: Y.Doc) => Promise<Decision | undefined>,
  ): Promise<Changed> {
    return retryOnConflict(async () => {
      const state = await this.#reader.require(context.scope, editorId);
      const decision = await decide(state, openDocument(state.updates));
      if (!decision) return { version: state.newest.version, isDueForCompaction: false };
      const changed = await this.#append(context, state, decision, author);
      await decision.finish?.(changed !== 'conflict');
      return changed;
    });
  }

  async #append(
    context: DocumentContext,
    { head, newest, updates }: EditorState,
    { update, ops, hasVersion = false }: Decision,
    author: Author,
  ): Promise<Changed | 'conflict'> {
    const { scope } = context;
    const { now } = author;
    const job = isJobPending(newest.eventJobStartedAt, now) ? undefined : startEventJob(context, head, now);
    const eventJobStartedAt = job ? now : newest.eventJobStartedAt;
    const before = hasVersion ? { ...newest, authors: [] } : newest;
    const entry = await this.#newEntry(scope, head, before, update, { ...author, eventJobStartedAt });
    const op = insert(EditorUpdateEntity, { ...scope, editorId: head.editorId, ...entry });
    if ((await this.#table.write([op, ...(job ? [job.op] : []), ...ops])) !== 'done') return 'conflict';
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
      ...(isLarge ? { blob: await writeBlob(this.#table, packed, now, editorPart(owner, now)) } : { packed }),
      changedAt: now,
      changedBy: userId,
      sessionId,
      eventJobStartedAt,
      logBytes: (before?.logBytes ?? 0) + entryBytes(update),
      authors: addAuthor(before?.authors, userId),
      versionDueAt: before?.versionDueAt,
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
