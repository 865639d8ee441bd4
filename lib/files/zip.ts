import { posix } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { FileFault } from './fileFault.ts';

/** An entry of an archive's directory. It leaves out the unpacked size, because a forged archive can state any size. */
interface Entry {
  readonly at: number;
  readonly flags: number;
  readonly method: number;
  readonly checksum: number;
  readonly packed: number;
}

const MAX_PARTS = 2_000;
/** No part that is read has a longer name. To resolve `..` in a path can take quadratic time. */
const MAX_NAME_BYTES = 1_024;
const [END, END_BYTES, MAX_COMMENT_BYTES] = [0x06054b50, 22, 0xffff];
const [ENTRY, ENTRY_BYTES] = [0x02014b50, 46];
const [LOCAL, LOCAL_BYTES] = [0x04034b50, 30];
const [STORED, DEFLATED] = [0, 8];

const DAMAGED = 'is damaged, or is not a file of this type';
const TOO_LARGE = 'is too large when it is unpacked';

/** The parts of a ZIP archive. Names lead only to parts of the archive, and all parts that are read share one limit. */
export class Zip {
  readonly #bytes: Buffer;
  readonly #entries: ReadonlyMap<string, Entry>;
  /** How many unpacked bytes may still be read. */
  #left: number;

  constructor(bytes: Buffer, limit: number) {
    this.#bytes = bytes;
    this.#left = limit;
    this.#entries = readDirectory(bytes);
  }

  /**
   * Returns the bytes of a part; undefined without a part of this name. Throws FileFault when it is damaged, encrypted
   * or too large.
   */
  read(name: string): Buffer | undefined {
    const entry = this.#entries.get(normalizeName(name));
    if (entry === undefined) return undefined;
    if (entry.flags & 1) throw new FileFault('is protected by a password');
    const part = this.#unpack(entry);
    if (crc32(part) !== entry.checksum) throw new FileFault(DAMAGED);
    this.#left -= part.length;
    return part;
  }

  #unpack({ at, method, packed }: Entry): Buffer {
    const bytes = this.#bytes;
    if (at + LOCAL_BYTES > bytes.length || bytes.readUInt32LE(at) !== LOCAL) throw new FileFault(DAMAGED);
    const start = at + LOCAL_BYTES + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
    const body = bytes.subarray(start, start + packed);
    if (body.length < packed || (method !== STORED && method !== DEFLATED)) throw new FileFault(DAMAGED);
    if (method === STORED && packed <= this.#left) return body;
    if (method === STORED || this.#left === 0) throw new FileFault(TOO_LARGE);
    try {
      return inflateRawSync(body, { maxOutputLength: this.#left });
    } catch (error) {
      const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      throw new FileFault(isTooLarge ? TOO_LARGE : DAMAGED);
    }
  }
}

/** Returns the form in which names are compared: in lower case, from the root. */
function normalizeName(name: string): string {
  return posix.resolve('/', name.replaceAll('\\', '/')).toLowerCase();
}

function readDirectory(bytes: Buffer): Map<string, Entry> {
  const end = findDirectoryEnd(bytes);
  const count = bytes.readUInt16LE(end + 10);
  if (count > MAX_PARTS) throw new FileFault('has too many parts');
  const entries = new Map<string, Entry>();
  let at = bytes.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (at + ENTRY_BYTES > bytes.length || bytes.readUInt32LE(at) !== ENTRY) throw new FileFault(DAMAGED);
    const nameEnd = at + ENTRY_BYTES + bytes.readUInt16LE(at + 28);
    const entry = {
      at: bytes.readUInt32LE(at + 42),
      flags: bytes.readUInt16LE(at + 8),
      method: bytes.readUInt16LE(at + 10),
      checksum: bytes.readUInt32LE(at + 16),
      packed: bytes.readUInt32LE(at + 20),
    };
    const name = bytes.subarray(at + ENTRY_BYTES, nameEnd);
    if (name.length <= MAX_NAME_BYTES) entries.set(normalizeName(name.toString()), entry);
    at = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

/** Returns where the end record of the directory begins. Only a comment may follow it. */
function findDirectoryEnd(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_BYTES - MAX_COMMENT_BYTES);
  for (let at = bytes.length - END_BYTES; at >= first; at--) if (bytes.readUInt32LE(at) === END) return at;
  throw new FileFault(DAMAGED);
}
