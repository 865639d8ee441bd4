import { FileFault } from './fileFault.ts';

/** Control characters that no text has; pages are parted by form feeds. */
const NOT_TEXT = /[\u0000-\u0008\u000B\u000E-\u001F\u007F]/;

/** Byte order marks and what follows them; that of UTF-16 is the one of two bytes. */
const marks: readonly [mark: string, encoding: string][] = [
  ['efbbbf', 'utf-8'],
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
];

/**
 * The text of a file: in the encoding that its byte order mark tells, else in UTF-8, else as Windows writes text where it does not
 * write UTF-8. Line ends are made `\n`.
 */
export function decodeText(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 3)).toString('hex');
  const marked = marks.find(([mark]) => start.startsWith(mark))?.[1];
  const text = (
    marked === undefined ? (decoded(bytes, 'utf-8') ?? decoded(bytes, 'windows-1252')) : decoded(bytes, marked)
  )?.replace(/\r\n?/g, '\n');
  if (text === undefined || NOT_TEXT.test(text)) throw new FileFault('is not text');
  return text;
}

function decoded(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
