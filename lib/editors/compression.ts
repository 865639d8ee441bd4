import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** The first byte says how the rest is packed. */
const PLAIN = 0;
const DEFLATED = 1;
/** Less than this is not worth the time. */
const WORTH_BYTES = 512;
/** More than the state of any editor can have. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Bytes packed for the table, whose prices go by the KB; `unpack` gives them back. */
export function pack(bytes: Uint8Array): Uint8Array {
  const deflated = bytes.length < WORTH_BYTES ? undefined : deflateRawSync(bytes);
  const isSmaller = deflated !== undefined && deflated.length < bytes.length;
  const packed = new Uint8Array(1 + (isSmaller ? deflated.length : bytes.length));
  packed[0] = isSmaller ? DEFLATED : PLAIN;
  packed.set(isSmaller ? deflated : bytes, 1);
  return packed;
}

/** What was packed. */
export function unpack(packed: Uint8Array): Uint8Array {
  const rest = packed.subarray(1);
  if (packed[0] === PLAIN) return rest;
  const bytes = inflateRawSync(rest, { maxOutputLength: MOST_BYTES });
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}
