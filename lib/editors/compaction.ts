import { encodeState, openDocument } from './rules/yjs/document.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import type { Key } from '../table/entity.ts';
import { replace, type Table } from '../table/table.ts';
import { Assembly } from './editorState.ts';
import { writeBlob } from './blobs.ts';
import { EditorEntity, EditorItems, type EditorItem } from './entities.ts';
import { pack } from './compression.ts';
import { lengths } from './logWeight.ts';

/**
 * How long an update stays after it was sent, though a snapshot covers it: longer than any request lives that could still take its version for
 * free, having read the log before it was written. The last one stays for good.
 */
const KEPT_MS = 120_000;
const PAGE = { limit: 1_000, bytes: 4_000_000 };

/** An update, or a part, which has no version, without what is in it. */
interface Lying {
  readonly key: Key;
  readonly internalId: string;
  readonly at: number;
  readonly version: number | undefined;
}

/**
 * Makes one snapshot of an editor's log, when that is long, and removes what nobody needs any more. The blob of the snapshot is written first, then
 * the head that names it, and only then something is removed: who reads meanwhile finds either what the old head asks for or that something is
 * missing, and reads again. Cut short anywhere it leaves what the next one removes.
 */
export async function compact(table: Table, scope: DocumentScope, editorId: string, now: number): Promise<void> {
  const { assembly, items } = await readAll(table, scope, editorId);
  const state = assembly.state();
  if (state === undefined || state === 'torn' || lengths(state.head, state.newest) === 0) return;
  const {
    newest,
    head: { _r: revision, ...head },
  } = state;
  const bytes = pack(encodeState(openDocument(state.updates)));
  const blob = await writeBlob(table, { ...scope, editorId, internalId: head.internalId }, bytes, now);
  const snapshot = { version: newest.version, blob, bytes: bytes.length, weight: newest.weight };
  // On a conflict the blob stays, for the next one to remove: a call whose answer was lost is repeated, and meets what it wrote itself.
  if ((await table.write([replace(EditorEntity, { ...scope, ...head, snapshot }, revision)])) !== 'done') return;
  await table.removeKeys(needless(items, head.internalId, newest.version, now));
}

/**
 * The keys of what nobody needs any more, of what there was when a snapshot was made: the updates before its version, all blobs, and what editors
 * left that were there before or never came to be; as far as it is old enough.
 */
function needless(items: readonly Lying[], internalId: string, version: number, now: number): Key[] {
  const isNeeded = (item: Lying) => item.internalId === internalId && item.version === version;
  return items.filter((item) => item.at + KEPT_MS < now && !isNeeded(item)).map(({ key }) => key);
}

async function readAll(
  table: Table,
  scope: DocumentScope,
  editorId: string,
): Promise<{ assembly: Assembly; items: Lying[] }> {
  const PK = EditorItems.partition(scope);
  const assembly = new Assembly();
  const items: Lying[] = [];
  let after: string | undefined;
  do {
    const page = await table.query(EditorItems, scope, { ...PAGE, prefix: [editorId], descending: true, after });
    for (const item of page.values) {
      assembly.take(item);
      items.push(...lying(item, { PK, SK: item.SK }));
    }
    after = page.next;
  } while (after !== undefined);
  return { assembly, items };
}

function lying(item: EditorItem, key: Key): Lying[] {
  if (item.kind === 'head') return [];
  const { internalId, at, version } = item.kind === 'part' ? { ...item, version: undefined } : item.update;
  return [{ key, internalId, at, version }];
}
