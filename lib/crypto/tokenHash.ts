import { hash, timingSafeEqual } from 'node:crypto';

/** The SHA-256 of a token: what is stored to recognise it. */
export function tokenHash(token: string): Uint8Array {
  // By way of text: three times as fast as a Hash object, and this runs in every request.
  return Buffer.from(hash('sha256', token, 'hex'), 'hex');
}

/** Whether a token's hash is one of those stored; takes the same time for each of them. */
export function matchesAny(hash: Uint8Array, stored: readonly Uint8Array[]): boolean {
  let matches = false;
  for (const one of stored) if (one.length === hash.length && timingSafeEqual(one, hash)) matches = true;
  return matches;
}
