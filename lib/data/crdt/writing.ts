import type * as Y from 'yjs';
import type { Capability } from '../../capability.ts';
import { encodeState, openDocument } from '../../domain/crdt/document.ts';
import { faultOfUpdate, replaceValue } from '../../domain/crdt/editing.ts';
import { crdtLimits, type CrdtType, type CrdtValue } from '../../domain/crdt/values.ts';
import { requireSameKind } from '../../domain/editors.ts';
import { holds } from '../../domain/editorUpdates.ts';
import { ApiError, invalid } from '../../errors.ts';
import { newId } from '../../ids.ts';
import type { ContentPlace, DocumentPlace } from '../content/places.ts';
import type { JobMessage } from '../jobs.ts';
import { pause } from '../settle.ts';
import { insert, openTable, type WriteOp } from '../table.ts';
import type { EditorState } from './assembly.ts';
import { writeBlob } from './blobs.ts';
import { type Editor, EditorEntity, type EditorUpdate, EditorUpdateEntity } from './entities.ts';
import { pack } from './packing.ts';
import { EditorReader } from './reading.ts';
import { beginTelling, isBeingTold } from './telling.ts';
import { unknownEditor } from './unknown.ts';
import { isLongLog, logWeight } from './weight.ts';

/** What is packed to more than this lies in a blob, so that who only looks for news reads little. */
const INLINE_BYTES = 8_192;
/** How often a change is tried while others change the same editor: one of them gets on each time. */
const TRIES = 40;
/** The pauses in between grow no further from here on. */
const LONGEST_PAUSE_AFTER = 8;

/** Who changes an editor, and when (epoch ms). */
export interface Changing {
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly now: number;
}

/** What is to be in an editor. */
export interface NewValue {
  readonly type: CrdtType;
  readonly contentKey?: string | undefined;
  readonly data: CrdtValue;
}

/** What a change came to, and what is to be done after it (`FollowChanges`). */
export interface Changed {
  /** The version since which the editor has the change. */
  readonly version: number;
  /** The job that will tell of it, when this change has begun it. */
  readonly telling?: JobMessage | undefined;
  /** Whether the log has become long. */
  readonly compact: boolean;
}

const DEFAULT_CONTENT_KEY = 'content';

/**
 * Changes editors. The log is what is true: a change is made when its update is there under the next version, and nowhere before. Who finds
 * that version taken reads what came, and decides anew.
 */
export class EditorWriter extends EditorReader {
  /** Adds an editor with a value. ALREADY_EXISTS when there is one; INVALID_ARGUMENT for a value above the limits. */
  async add({ place, organization, document }: ContentPlace, editorId: string, { type, contentKey = DEFAULT_CONTENT_KEY, data }: NewValue, changing: Changing): Promise<Changed> {
    const { now } = changing;
    const doc = openDocument([]);
    const update = replaceValue(doc, type, contentKey, data);
    requireSize(doc, update);
    // In microseconds, which nobody writes as fast as: an editor added again later never has a version that an earlier one had.
    const head: Editor = { editorId, internalId: newId('edt', now), type, contentKey, createdAt: now, first: now * 1000 };
    const began = beginTelling({ place, organization, document }, head, now);
    // Before something large is written in vain.
    if (update && update.length > INLINE_BYTES) await this.#requireAbsent(place, editorId);
    const entry = await this.#entry(place, head, undefined, { update, tellingSince: now }, changing);
    const outcome = await this.table.write([
      // The revision says which editor it is as well: one that was added again is not the one that somebody removes.
      insert(EditorEntity, { ...place, ...head }, now), insert(EditorUpdateEntity, { ...place, editorId, ...entry }), began.op,
    ]);
    if (outcome === 'done') return { version: entry.version, telling: began.message, compact: false };
    await this.#requireAbsent(place, editorId);
    throw tooManyOthers();
  }

  /**
   * Makes the value of an editor this one by the smallest change, which wins over what it replaces and keeps what comes after. NOT_FOUND when
   * there is no editor, INVALID_ARGUMENT for another type or content key than it has, or a value above the limits; ABORTED when others keep changing it.
   */
  async replace(found: ContentPlace, editorId: string, { type, contentKey, data }: NewValue, changing: Changing): Promise<Changed> {
    return this.#change(found, editorId, changing, (state, doc) => {
      requireSameKind(state.head, { type, contentKey });
      const update = replaceValue(doc, type, state.head.contentKey, data);
      requireSize(doc, update);
      return update;
    });
  }

  /**
   * Adds a client's update. What the editor has already is not added again. NOT_FOUND when there is no editor, INVALID_ARGUMENT for an update that
   * is malformed, contradicts the type, or leads beyond the limits; ABORTED when others keep changing it.
   */
  async push(found: ContentPlace, editorId: string, update: Uint8Array, changing: Changing): Promise<Changed> {
    return this.#change(found, editorId, changing, ({ head }, doc) => {
      const fault = faultOfUpdate(doc, head.type, head.contentKey, update);
      if (fault !== undefined) throw invalid({ path: ['update'], code: 'invalid_update', message: fault });
      return holds(doc, update) ? undefined : update;
    });
  }

  async #requireAbsent(place: DocumentPlace, editorId: string): Promise<void> {
    if (await this.table.get(EditorEntity, { ...place, editorId })) throw new ApiError('ALREADY_EXISTS', 'CRDT data already exists for this editor ID.');
  }

  async #change(found: ContentPlace, editorId: string, changing: Changing, decide: (state: EditorState, doc: Y.Doc) => Uint8Array | undefined): Promise<Changed> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      if (attempt > 0) await pause(Math.min(attempt - 1, LONGEST_PAUSE_AFTER));
      const state = await this.find(found.place, editorId);
      if (!state) throw unknownEditor();
      const update = decide(state, openDocument(state.updates));
      if (!update) return { version: state.newest.version, compact: false };
      const outcome = await this.#append(found, state, update, changing);
      if (outcome !== 'conflict') return outcome;
    }
    throw tooManyOthers();
  }

  /** Puts an update behind those of a state, if that is still all there are. The first one since the last event begins the job of the next. */
  async #append(found: ContentPlace, state: EditorState, update: Uint8Array, changing: Changing): Promise<Changed | 'conflict'> {
    const { place } = found;
    const { head, newest } = state;
    const { now } = changing;
    const began = isBeingTold(newest, now) ? undefined : beginTelling(found, head, now);
    const entry = await this.#entry(place, head, newest, { update, tellingSince: began ? now : newest.tellingSince }, changing);
    const ops: WriteOp[] = [insert(EditorUpdateEntity, { ...place, editorId: head.editorId, ...entry }), ...(began ? [began.op] : [])];
    if ((await this.table.write(ops)) !== 'done') return 'conflict';
    this.remember(place, { head, newest: entry, updates: [...state.updates, update] });
    return { version: entry.version, telling: began?.message, compact: isLongLog(head, newest, entry) };
  }

  async #entry(
    place: DocumentPlace, { editorId, internalId, first }: Editor, before: EditorUpdate | undefined,
    { update, tellingSince }: { update: Uint8Array | undefined; tellingSince: number | undefined }, { userId, sessionId, now }: Changing,
  ): Promise<EditorUpdate> {
    const packed = update && pack(update);
    const isLarge = packed !== undefined && packed.length > INLINE_BYTES;
    const blob = isLarge ? await writeBlob(this.table, { ...place, editorId, internalId }, packed, now) : undefined;
    return {
      internalId,
      version: before ? before.version + 1 : first,
      at: now,
      packed: isLarge ? undefined : packed,
      blob,
      changedAt: now,
      changedBy: userId,
      sessionId,
      tellingSince,
      weight: (before?.weight ?? 0) + logWeight(packed),
    };
  }
}

function tooManyOthers(): ApiError {
  return new ApiError('ABORTED', 'Other requests are changing the same editor. Send the request again.');
}

/** INVALID_ARGUMENT when a replace would make the state of an editor too large. */
function requireSize(doc: Y.Doc, update: Uint8Array | undefined): void {
  // What deletes makes the state smaller, though hardly ever: only then it is worth to look.
  if (!update || encodeState(doc).length + update.length <= crdtLimits.stateBytes || encodeState(openDocument([encodeState(doc), update])).length <= crdtLimits.stateBytes) return;
  throw invalid({ path: ['data'], code: 'too_big', message: `data would make the state of the editor larger than ${crdtLimits.stateBytes} bytes` });
}

/** Add and change editors. */
export const writeEditors: Capability<Pick<EditorWriter, 'add' | 'replace' | 'push'>> = {
  grants: [{ resource: 'table', actions: ['GetItem', 'BatchGetItem', 'Query', 'PutItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new EditorWriter(openTable(env)),
};
