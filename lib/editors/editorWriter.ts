import type * as Y from 'yjs';
import { openDocument } from './rules/yjs/document.ts';
import { ApiError } from '../shared/errors.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import type { JobMessage } from '../jobs/jobStore.ts';
import { pause } from '../table/retryOnConflict.ts';
import { insert, type WriteOp } from '../table/table.ts';
import type { EditorState } from './editorState.ts';
import { writeBlob } from './blobs.ts';
import { type Editor, type EditorUpdate, EditorUpdateEntity } from './entities.ts';
import { pack } from './compression.ts';
import { EditorReader } from './editorReader.ts';
import { beginTelling, isBeingTold } from './debounce.ts';
import { unknownEditor } from './unknownEditor.ts';
import { isLongLog, logWeight } from './logWeight.ts';

/** What is packed to more than this lies in a blob, so that who only looks for news reads little. */
export const INLINE_BYTES = 8_192;
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

/** What a change came to, and what is to be done after it (`FollowChanges`). */
export interface Changed {
  /** The version since which the editor has the change. */
  readonly version: number;
  /** The job that will tell of it, when this change has begun it. */
  readonly telling?: JobMessage | undefined;
  /** Whether the log has become long. */
  readonly compact: boolean;
}

/**
 * Changes editors. The log is what is true: a change is made when its update is there under the next version, and nowhere before. Who finds
 * that version taken reads what came, and decides anew.
 */
export class EditorWriter extends EditorReader {
  /**
   * Appends the update that `decide` makes of what the editor is, if any; asked again when others were first. NOT_FOUND when there is no editor,
   * ABORTED when others keep changing it.
   */
  protected async change(
    found: DocumentContext,
    editorId: string,
    changing: Changing,
    decide: (state: EditorState, doc: Y.Doc) => Uint8Array | undefined,
  ): Promise<Changed> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      if (attempt > 0) await pause(Math.min(attempt - 1, LONGEST_PAUSE_AFTER));
      const state = await this.find(found.scope, editorId);
      if (!state) throw unknownEditor();
      const update = decide(state, openDocument(state.updates));
      if (!update) return { version: state.newest.version, compact: false };
      const outcome = await this.#append(found, state, update, changing);
      if (outcome !== 'conflict') return outcome;
    }
    throw tooManyOthers();
  }

  /** Puts an update behind those of a state, if that is still all there are. The first one since the last event begins the job of the next. */
  async #append(
    found: DocumentContext,
    state: EditorState,
    update: Uint8Array,
    changing: Changing,
  ): Promise<Changed | 'conflict'> {
    const { scope: scope } = found;
    const { head, newest } = state;
    const { now } = changing;
    const began = isBeingTold(newest, now) ? undefined : beginTelling(found, head, now);
    const entry = await this.entry(
      scope,
      head,
      newest,
      { update, tellingSince: began ? now : newest.tellingSince },
      changing,
    );
    const ops: WriteOp[] = [
      insert(EditorUpdateEntity, { ...scope, editorId: head.editorId, ...entry }),
      ...(began ? [began.op] : []),
    ];
    if ((await this.table.write(ops)) !== 'done') return 'conflict';
    this.remember(scope, { head, newest: entry, updates: [...state.updates, update] });
    return { version: entry.version, telling: began?.message, compact: isLongLog(head, newest, entry) };
  }

  protected async entry(
    scope: DocumentScope,
    { editorId, internalId, first }: Editor,
    before: EditorUpdate | undefined,
    { update, tellingSince }: { update: Uint8Array | undefined; tellingSince: number | undefined },
    { userId, sessionId, now }: Changing,
  ): Promise<EditorUpdate> {
    const packed = update && pack(update);
    const isLarge = packed !== undefined && packed.length > INLINE_BYTES;
    const blob = isLarge ? await writeBlob(this.table, { ...scope, editorId, internalId }, packed, now) : undefined;
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

export function tooManyOthers(): ApiError {
  return new ApiError('ABORTED', 'Other requests are changing the same editor. Send the request again.');
}
