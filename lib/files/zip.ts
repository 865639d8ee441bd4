import { posix } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { InvalidFileError } from './invalidFileError.ts';

/** Without the unpacked size: a forged archive can state any. */
interface Entry {
  readonly offset: number;
  readonly flags: number;
  readonly method: number;
  readonly checksum: number;
  readonly packed: number;
}

const MAX_PARTS = 2_000;
/** Resolving `..` in a longer path can take quadratic time. */
const MAX_NAME_BYTES = 1_024;
const [END, END_BYTES, MAX_COMMENT_BYTES] = [0x06054b50, 22, 0xffff];
const [ENTRY, ENTRY_BYTES] = [0x02014b50, 46];
const [LOCAL, LOCAL_BYTES] = [0x04034b50, 30];
/** A field with its largest value has its real value in a ZIP64 record. */
const [LOCATOR64, LOCATOR64_BYTES] = [0x07064b50, 20];
const [END64, END64_BYTES] = [0x06064b50, 56];
const EXTRA64 = 1;
const [MAX_32, MAX_16] = [0xffffffff, 0xffff];
const [STORED, DEFLATED] = [0, 8];

const DAMAGED = 'is damaged, or is not a file of this type';
const TOO_LARGE = 'is too large when it is unpacked';

/** A name such as `../x` cannot lead out of the archive. All parts share one limit of unpacked bytes. */
export class Zip {
  readonly #bytes: Buffer;
  readonly #entries: ReadonlyMap<string, Entry>;
  #remainingBytes: number;

  constructor(bytes: Buffer, limit: number) {
    this.#bytes = bytes;
    this.#remainingBytes = limit;
    this.#entries = readDirectory(bytes);
  }

  /** Undefined if no part has this name. Throws InvalidFileError if it is damaged, encrypted or too large. */
  read(name: string): Buffer | undefined {
    const entry = this.#entries.get(normalizeName(name));
    if (entry === undefined) return undefined;
    if (entry.flags & 1) throw new InvalidFileError('is protected by a password');
    const part = this.#unpack(entry);
    if (crc32(part) !== entry.checksum) throw new InvalidFileError(DAMAGED);
    this.#remainingBytes -= part.length;
    return part;
  }

  #unpack({ offset, method, packed }: Entry): Buffer {
    const bytes = this.#bytes;
    if (offset + LOCAL_BYTES > bytes.length || bytes.readUInt32LE(offset) !== LOCAL)
      throw new InvalidFileError(DAMAGED);
    const start = offset + LOCAL_BYTES + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
    const body = bytes.subarray(start, start + packed);
    if (body.length < packed || (method !== STORED && method !== DEFLATED)) throw new InvalidFileError(DAMAGED);
    if (method === STORED && packed <= this.#remainingBytes) return body;
    if (method === STORED || this.#remainingBytes === 0) throw new InvalidFileError(TOO_LARGE);
    try {
      return inflateRawSync(body, { maxOutputLength: this.#remainingBytes });
    } catch (error) {
      const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      throw new InvalidFileError(isTooLarge ? TOO_LARGE : DAMAGED);
    }
  }
}

function normalizeName(name: string): string {
  return posix.resolve('/', name.replaceAll('\\', '/')).toLowerCase();
}

function readDirectory(bytes: Buffer): Map<string, Entry> {
  const directory = findDirectory(bytes);
  const { count } = directory;
  if (count > MAX_PARTS) throw new InvalidFileError('has too many parts');
  const entries = new Map<string, Entry>();
  let { start } = directory;
  for (let index = 0; index < count; index++) {
    if (start + ENTRY_BYTES > bytes.length || bytes.readUInt32LE(start) !== ENTRY) throw new InvalidFileError(DAMAGED);
    const nameEnd = start + ENTRY_BYTES + bytes.readUInt16LE(start + 28);
    const extraEnd = nameEnd + bytes.readUInt16LE(start + 30);
    const entry = {
      ...readPosition(bytes.subarray(start, start + ENTRY_BYTES), bytes.subarray(nameEnd, extraEnd)),
      flags: bytes.readUInt16LE(start + 8),
      method: bytes.readUInt16LE(start + 10),
      checksum: bytes.readUInt32LE(start + 16),
    };
    const name = bytes.subarray(start + ENTRY_BYTES, nameEnd);
    if (name.length <= MAX_NAME_BYTES) entries.set(normalizeName(name.toString()), entry);
    start = extraEnd + bytes.readUInt16LE(start + 32);
  }
  return entries;
}

function readPosition(entry: Buffer, extra: Buffer): Pick<Entry, 'offset' | 'packed'> {
  const fields = [entry.readUInt32LE(24), entry.readUInt32LE(20), entry.readUInt32LE(42)];
  let wide = fields.includes(MAX_32) ? findExtra(extra, EXTRA64) : undefined;
  const [, packed = 0, offset = 0] = fields.map((field) => {
    if (!wide || field !== MAX_32) return field;
    const value = readUInt64(wide, 0);
    wide = wide.subarray(8);
    return value;
  });
  return { packed, offset };
}

function findExtra(extra: Buffer, id: number): Buffer | undefined {
  for (let start = 0; start + 4 <= extra.length; start += 4 + extra.readUInt16LE(start + 2))
    if (extra.readUInt16LE(start) === id) return extra.subarray(start + 4, start + 4 + extra.readUInt16LE(start + 2));
  return undefined;
}

function readUInt64(bytes: Buffer, offset: number): number {
  if (offset + 8 > bytes.length) throw new InvalidFileError(DAMAGED);
  return Number(bytes.readBigUInt64LE(offset));
}

function findDirectory(bytes: Buffer): { readonly count: number; readonly start: number } {
  const end = findDirectoryEnd(bytes);
  const [count, start] = [bytes.readUInt16LE(end + 10), bytes.readUInt32LE(end + 16)];
  const locator = end - LOCATOR64_BYTES;
  const isZip64 = (count === MAX_16 || start === MAX_32) && locator >= 0 && bytes.readUInt32LE(locator) === LOCATOR64;
  if (!isZip64) return { count, start };
  const end64 = readUInt64(bytes, locator + 8);
  if (end64 + END64_BYTES > bytes.length || bytes.readUInt32LE(end64) !== END64) throw new InvalidFileError(DAMAGED);
  return { count: readUInt64(bytes, end64 + 32), start: readUInt64(bytes, end64 + 48) };
}

/** Only a comment may follow this record. */
function findDirectoryEnd(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_BYTES - MAX_COMMENT_BYTES);
  for (let offset = bytes.length - END_BYTES; offset >= first; offset--)
    if (bytes.readUInt32LE(offset) === END) return offset;
  throw new InvalidFileError(DAMAGED);
}
