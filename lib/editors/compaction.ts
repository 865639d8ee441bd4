import type { DocumentScope } from '../content/documentScope.ts';
import type { Key } from '../table/entity.ts';
import { pages } from '../table/pages.ts';
import { replace, type Table } from '../table/table.ts';
import { StateBuilder } from './editorState.ts';
import { type Editor, EditorEntity, EditorItems, editorPart, type EditorUpdate } from './entities.ts';
import { encodeState, openDocument } from './rules/yjs/document.ts';
import { pack, writeBlob } from './storedBytes.ts';

/**
 * A compaction removes only older items. A request that read the log before the snapshot could otherwise write an
 * update under the version of a removed one. No request runs this long.
 */
const MIN_AGE_MS = 120_000;
const PAGE = { limit: 1_000, bytes: 4_000_000 };
const ENTRY_BYTES = 300;
/**
 * A log is long at half the size of its snapshot, but never below the first number (a hundred small changes), and
 * always above the second.
 */
const [MIN_LOG_BYTES, MAX_LOG_BYTES] = [32_768, 2_000_000];

/** Counts the bytes of the update before compression, because each reader holds them in memory. */
export function entryBytes(update?: Uint8Array): number {
  return ENTRY_BYTES + (update?.length ?? 0);
}

/**
 * True if the update made the log long, twice as long, three times, and so on. Only one of several concurrent writers
 * therefore compacts. If its compaction fails, a later writer repeats it.
 */
export function isDueForCompaction(head: Editor, before: EditorUpdate, newest: EditorUpdate): boolean {
  return countLongLogs(head, newest) > countLongLogs(head, before);
}

function countLongLogs({ snapshot }: Editor, { logBytes }: EditorUpdate): number {
  const limit = Math.min(Math.max((snapshot?.bytes ?? 0) / 2, MIN_LOG_BYTES), MAX_LOG_BYTES);
  return Math.floor((logBytes - (snapshot?.logBytes ?? 0)) / limit);
}

/**
 * A concurrent reader that misses a removed item reads again. After a crash, the next compaction removes useless items.
 */
export async function compactLog(table: Table, scope: DocumentScope, editorId: string, now: number): Promise<void> {
  const PK = EditorItems.partition(scope);
  const builder = new StateBuilder();
  const items: { key: Key; internalId: string; at: number; version?: number }[] = [];
  const options = { ...PAGE, prefix: [editorId], descending: true };
  for await (const { values } of pages((after) => table.query(EditorItems, scope, { ...options, after }))) {
    for (const item of values) {
      builder.add(item);
      if (item.kind === 'head') continue;
      const { internalId, at } = item.value;
      const version = item.kind === 'update' ? { version: item.value.version } : {};
      items.push({ key: { PK, SK: item.SK }, internalId, at, ...version });
    }
  }
  const state = builder.state();
  if (state === undefined || state === 'incomplete' || countLongLogs(state.head, state.newest) === 0) return;
  const { newest } = state;
  const { _r: revision, ...head } = state.head;
  const bytes = pack(encodeState(openDocument(state.updates)));
  const blob = await writeBlob(table, bytes, now, editorPart({ ...scope, editorId, internalId: head.internalId }, now));
  const snapshot = { version: newest.version, blob, bytes: bytes.length, logBytes: newest.logBytes };
  // On a conflict, the blob stays: the SDK may have repeated a write that had succeeded, and the head then refers to
  // it.
  if ((await table.write([replace(EditorEntity, { ...scope, ...head, snapshot }, revision)])) !== 'done') return;
  const garbage = items.filter(
    ({ at, internalId, version }) =>
      at + MIN_AGE_MS < now && !(internalId === head.internalId && version === newest.version),
  );
  await table.removeKeys(garbage.map(({ key }) => key));
}
