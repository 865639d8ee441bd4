import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { DocumentScope } from '../content/documentScope.ts';
import { newId } from '../shared/ids.ts';
import { inParallel } from '../shared/inParallel.ts';
import { type Table, upsert } from '../table/table.ts';
import { type Blob, EditorPartEntity } from './entities.ts';

/** The first byte of packed bytes says whether the other bytes are compressed. */
const PLAIN = 0;
const DEFLATED = 1;
/** Fewer bytes than this are not compressed, because it would save too little. */
const MIN_DEFLATED_BYTES = 512;
/** The largest size in bytes after decompression. Every state of an editor is smaller. */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;
/** The size of a part in bytes. A DynamoDB item has at most 400 KB. */
const PART_BYTES = 350_000;
const PARALLEL_WRITES = 4;

/**
 * Returns packed bytes: one byte that says whether the others are compressed, and then the bytes, compressed if that
 * makes them smaller.
 */
export function pack(bytes: Uint8Array): Uint8Array {
  const deflated = bytes.length < MIN_DEFLATED_BYTES ? bytes : deflateRawSync(bytes);
  const isSmaller = deflated.length < bytes.length;
  return Buffer.concat([Uint8Array.of(isSmaller ? DEFLATED : PLAIN), isSmaller ? deflated : bytes]);
}

/** Returns the bytes from which `pack` made the packed bytes. */
export function unpack(packed: Uint8Array): Uint8Array {
  const content = packed.subarray(1);
  return packed[0] === PLAIN ? content : inflateRawSync(content, { maxOutputLength: MAX_UNPACKED_BYTES });
}

/**
 * Writes bytes that are too large for one item as several items (a blob). The caller must then write an item that
 * refers to the blob. If that write fails, no reader uses the blob, and the next compaction of the editor removes it.
 */
export async function writeBlob(
  table: Table,
  owner: DocumentScope & { readonly editorId: string; readonly internalId: string },
  bytes: Uint8Array,
  now: number,
): Promise<Blob> {
  const blob = { id: newId('blob', now), parts: Math.ceil(bytes.length / PART_BYTES) };
  await inParallel(partsOf(blob), PARALLEL_WRITES, async ({ id, part }) => {
    const slice = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
    await table.write([upsert(EditorPartEntity, { ...owner, id, part, bytes: slice, at: now })]);
  });
  return blob;
}

/** Returns the id and number of each part of a blob. */
export function partsOf({ id, parts }: Blob): { id: string; part: number }[] {
  return Array.from({ length: parts }, (_each, part) => ({ id, part }));
}
