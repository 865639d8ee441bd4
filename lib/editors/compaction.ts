import type { DocumentScope } from '../content/documentScope.ts';
import type { Key } from '../table/entity.ts';
import { pages } from '../table/pages.ts';
import { replace, type Table } from '../table/table.ts';
import { StateBuilder } from './editorState.ts';
import { type Editor, EditorEntity, EditorItems, type EditorUpdate } from './entities.ts';
import { encodeState, openDocument } from './rules/yjs/document.ts';
import { pack, writeBlob } from './storedBytes.ts';

/**
 * How long a snapshot leaves the updates that it covers. A request that read the log before could otherwise take the
 * version of a removed update. No request runs this long. The last update stays for good.
 */
const MIN_AGE_MS = 120_000;
const PAGE = { limit: 1_000, bytes: 4_000_000 };
/** The size of an item of the log without its update. */
const ENTRY_BYTES = 300;
/**
 * A log is long at half of the size of its snapshot, within these bounds: about a hundred small changes, and much less
 * than an answer.
 */
const [MIN_LOG_BYTES, MAX_LOG_BYTES] = [32_768, 2_000_000];

/** Returns the size that an update adds to the log. */
export function entryBytes(packed?: Uint8Array): number {
  return ENTRY_BYTES + (packed?.length ?? 0);
}

/**
 * Returns whether the writer of the newest update must compact the log: the update made the log long, or doubled a
 * long log. So concurrent writers do not all compact, and a failed compaction is repeated later.
 */
export function isDueForCompaction(head: Editor, before: EditorUpdate, newest: EditorUpdate): boolean {
  return countLongLogs(head, newest) > countLongLogs(head, before);
}

/** Returns how many times the log since the snapshot exceeds the size of a long log. */
function countLongLogs({ snapshot }: Editor, { logBytes }: EditorUpdate): number {
  const limit = Math.min(Math.max((snapshot?.bytes ?? 0) / 2, MIN_LOG_BYTES), MAX_LOG_BYTES);
  return Math.floor((logBytes - (snapshot?.logBytes ?? 0)) / limit);
}

/**
 * Replaces a long log of an editor by a snapshot. Writes the blob of the snapshot, then the head that refers to it,
 * and only then removes what is garbage. A concurrent reader finds what its head needs, or an incomplete editor that it
 * reads again. After a crash at any point, the next compaction removes the rest.
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
  const blob = await writeBlob(table, { ...scope, editorId, internalId: head.internalId }, bytes, now);
  const snapshot = { version: newest.version, blob, bytes: bytes.length, logBytes: newest.logBytes };
  // On a conflict the blob stays for the next compaction: the SDK may have repeated a write that succeeded.
  if ((await table.write([replace(EditorEntity, { ...scope, ...head, snapshot }, revision)])) !== 'done') return;
  const garbage = items.filter(
    ({ at, internalId, version }) =>
      at + MIN_AGE_MS < now && !(internalId === head.internalId && version === newest.version),
  );
  await table.removeKeys(garbage.map(({ key }) => key));
}
