import { hash, randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 27;
/** The epoch of KSUIDs is 2014-05-13T16:53:20Z. Their 32-bit counter of seconds lasts until 2150. */
const EPOCH_SECONDS = 1_400_000_000;

/** The second word of a KSUID has these bits after 10 bits of milliseconds. */
const RANDOM_BITS = 22;

/**
 * A KSUID has 4 bytes of seconds and 16 others, as 27 base-62 characters. The others begin with the milliseconds, so
 * ids sort by time.
 */
export function ksuid(now: number, random: Uint8Array = randomBytes(16)): string {
  const view = new DataView(random.buffer, random.byteOffset);
  const milliseconds = (now % 1000) * 2 ** RANDOM_BITS + (view.getUint32(0) % 2 ** RANDOM_BITS);
  const words = [Math.floor(now / 1000) - EPOCH_SECONDS, milliseconds];
  for (let offset = 4; offset < 16; offset += 4) words.push(view.getUint32(offset));
  let text = '';
  // A division of one BigInt takes several times as long.
  for (let digit = 0; digit < LENGTH; digit++) {
    let remainder = 0;
    for (let index = 0; index < words.length; index++) {
      const dividend = remainder * 2 ** 32 + (words[index] ?? 0);
      const quotient = Math.floor(dividend / ALPHABET.length);
      words[index] = quotient;
      remainder = dividend - quotient * ALPHABET.length;
    }
    text = ALPHABET.charAt(remainder) + text;
  }
  return text;
}

/** `now` is in epoch ms. */
export function newId(prefix: string, now: number): string {
  return `${prefix}_${ksuid(now)}`;
}

const ID_END = /^_[0-9A-Za-z]{27}$/;

export function isId(prefix: string, text: string | undefined): text is string {
  return text?.startsWith(prefix) === true && ID_END.test(text.slice(prefix.length));
}

/** The same prefix, time and values in `of` always give the same id. */
export function derivedId(prefix: string, now: number, of: readonly (string | number)[]): string {
  return `${prefix}_${ksuid(now, hash('sha256', JSON.stringify(of), 'buffer').subarray(0, 16))}`;
}
