import { InvalidFileError } from './invalidFileError.ts';

/** Form feeds are allowed, because they separate pages. */
const NOT_TEXT = /[\u0000-\u0008\u000B\u000E-\u001F\u007F]/;

/** In hexadecimal. */
const marks: readonly [mark: string, encoding: string][] = [
  ['efbbbf', 'utf-8'],
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
];

/**
 * Line ends become `\n`. The byte order mark wins over `charset`, and UTF-8 is the default. Throws InvalidFileError for
 * bytes that are not text in this encoding.
 */
export function decodeText(bytes: Uint8Array, charset?: string): string {
  const encoding = markedEncoding(bytes) ?? charset;
  const text = decode(bytes, encoding ?? 'utf-8')?.replace(/\r\n?/g, '\n');
  if (text === undefined && encoding === undefined)
    throw new InvalidFileError(
      'is neither UTF-8 nor UTF-16 with a byte order mark: name its encoding in mimeType, for example text/csv; charset=windows-1252',
    );
  if (text === undefined) throw new InvalidFileError(`is not text in ${encoding}`);
  if (NOT_TEXT.test(text)) throw new InvalidFileError('is not text');
  return text;
}

export function isCharset(charset: string): boolean {
  try {
    return new TextDecoder(charset).encoding !== '';
  } catch {
    return false;
  }
}

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
