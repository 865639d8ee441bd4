import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { newId } from '../shared/ids.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Table, WriteOp } from '../table/table.ts';
import type { Blob } from './entities.ts';

const PLAIN = 0;
const DEFLATED = 1;
/** Compression would save too little of fewer bytes. */
const MIN_DEFLATED_BYTES = 512;
/** Every state of an editor is smaller. */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;
/** A DynamoDB item has at most 400 KB. */
const PART_BYTES = 350_000;
const PARALLEL_WRITES = 4;

export function pack(bytes: Uint8Array): Uint8Array {
  const deflated = bytes.length < MIN_DEFLATED_BYTES ? bytes : deflateRawSync(bytes);
  const isSmaller = deflated.length < bytes.length;
  return Buffer.concat([Uint8Array.of(isSmaller ? DEFLATED : PLAIN), isSmaller ? deflated : bytes]);
}

export function unpack(packed: Uint8Array): Uint8Array {
  const content = packed.subarray(1);
  return packed[0] === PLAIN ? content : inflateRawSync(content, { maxOutputLength: MAX_UNPACKED_BYTES });
}

/**
 * The caller must then write an item that refers to the blob. If that write fails, no reader uses the parts, which
 * `toOp` stores.
 */
export async function writeBlob(
  table: Table,
  bytes: Uint8Array,
  now: number,
  toOp: (part: { readonly id: string; readonly part: number; readonly bytes: Uint8Array }) => WriteOp,
): Promise<Blob> {
  const blob = { id: newId('blob', now), parts: Math.ceil(bytes.length / PART_BYTES) };
  await inParallel(partsOf(blob), PARALLEL_WRITES, async ({ id, part }) => {
    const slice = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
    await table.write([toOp({ id, part, bytes: slice })]);
  });
  return blob;
}

export function partsOf({ id, parts }: Blob): { id: string; part: number }[] {
  return Array.from({ length: parts }, (_each, part) => ({ id, part }));
}
