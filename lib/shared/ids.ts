import { createHash, randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 27;
/** The epoch of the KSUID format, 2014-05-13T16:53:20Z. Its 32-bit counter of seconds lasts until 2150. */
const EPOCH_SECONDS = 1_400_000_000;

/**
 * Returns a KSUID: 4 bytes of time in seconds and 16 random bytes, as 27 base-62 characters. KSUIDs sort by time. `now` is
 * in epoch milliseconds.
 */
export function ksuid(now: number, random: Uint8Array = randomBytes(16)): string {
  const bytes = Buffer.alloc(20);
  bytes.writeUInt32BE(Math.floor(now / 1000) - EPOCH_SECONDS);
  bytes.set(random, 4);
  let remaining = BigInt(`0x${bytes.toString('hex')}`);
  const digits: string[] = [];
  for (let i = 0; i < LENGTH; i++) {
    digits.push(ALPHABET.charAt(Number(remaining % 62n)));
    remaining /= 62n;
  }
  return digits.reverse().join('');
}

/** Returns a new id: `<prefix>_` and a KSUID. `now` is in epoch milliseconds. */
export function newId(prefix: string, now: number): string {
  return `${prefix}_${ksuid(now)}`;
}

/** Returns an id like `newId`. The same prefix, time and values in `of` always give the same id. */
export function derivedId(prefix: string, now: number, of: readonly (string | number)[]): string {
  return `${prefix}_${ksuid(now, createHash('sha256').update(JSON.stringify(of)).digest().subarray(0, 16))}`;
}
