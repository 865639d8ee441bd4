import { InvalidFileError } from './invalidFileError.ts';

/** Control characters that do not occur in text. Form feeds are allowed, because they separate pages. */
const NOT_TEXT = /[\u0000-\u0008\u000B\u000E-\u001F\u007F]/;

/** Byte order marks in hexadecimal, each with its encoding. */
const marks: readonly [mark: string, encoding: string][] = [
  ['efbbbf', 'utf-8'],
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
];

/**
 * Returns the text of a file, with `\n` as line ends. The byte order mark decides the encoding. Without a mark, the text is
 * decoded as UTF-8, or as Windows-1252 if it is not valid UTF-8. Throws InvalidFileError if the bytes are not text.
 */
export function decodeText(bytes: Uint8Array): string {
  const marked = markedEncoding(bytes);
  const decoded = decode(bytes, marked ?? 'utf-8') ?? (marked ? undefined : decode(bytes, 'windows-1252'));
  const text = decoded?.replace(/\r\n?/g, '\n');
  if (text === undefined || NOT_TEXT.test(text)) throw new InvalidFileError('is not text');
  return text;
}

/** Returns the encoding that the byte order mark of a file names, or undefined for a file without a mark. */
export function markedEncoding(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 3)).toString('hex');
  return marks.find(([mark]) => start.startsWith(mark))?.[1];
}

function decode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
