import { inParallel } from '../shared/inParallel.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { newId } from '../shared/ids.ts';
import { type Table, upsert } from '../table/table.ts';
import { type Blob, EditorPartEntity } from './entities.ts';

/** What a part has: DynamoDB holds 400 KB in an item. */
const PART_BYTES = 350_000;
const PARALLEL = 4;

/**
 * Writes bytes in parts. Nobody sees them before something refers to them, which is written after that; when that fails they stay, since nobody
 * can be sure that it did, until a compaction finds that nothing refers to them.
 */
export async function writeBlob(
  table: Table,
  of: DocumentScope & { readonly editorId: string; readonly internalId: string },
  bytes: Uint8Array,
  now: number,
): Promise<Blob> {
  const blob = { id: newId('blob', now), parts: Math.ceil(bytes.length / PART_BYTES) };
  await inParallel(
    Array.from({ length: blob.parts }, (_each, part) => part),
    PARALLEL,
    async (part) => {
      const slice = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
      await table.write([upsert(EditorPartEntity, { ...of, id: blob.id, part, bytes: slice, at: now })]);
    },
  );
  return blob;
}
