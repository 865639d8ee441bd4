import { hash, randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 27;
/** Of the KSUID format, 2014-05-13T16:53:20Z. Its 32-bit counter of seconds lasts until 2150. */
const EPOCH_SECONDS = 1_400_000_000;

/** Of a KSUID's second word. The 10 bits before them are the milliseconds of its time. */
const RANDOM_BITS = 22;

/**
 * 4 bytes of time in seconds and 16 others, as 27 base-62 characters. The others begin with the milliseconds and are
 * random otherwise, so ids sort by time. `now` is epoch milliseconds.
 */
export function ksuid(now: number, random: Uint8Array = randomBytes(16)): string {
  const view = new DataView(random.buffer, random.byteOffset);
  const milliseconds = (now % 1000) * 2 ** RANDOM_BITS + (view.getUint32(0) % 2 ** RANDOM_BITS);
  const words = [Math.floor(now / 1000) - EPOCH_SECONDS, milliseconds];
  for (let offset = 4; offset < 16; offset += 4) words.push(view.getUint32(offset));
  let text = '';
  // By 32-bit words, because a division of one BigInt takes several times as long.
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

/** `<prefix>_` and a KSUID of `now` (epoch ms). */
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
