import { posix } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { FileFault } from './fileFault.ts';

/** A part of an archive, as its directory has it: what the directory says of sizes is only checked, never relied on. */
interface Entry {
  readonly at: number;
  readonly flags: number;
  readonly method: number;
  readonly checksum: number;
  readonly packed: number;
}

const MOST_PARTS = 2_000;
/** A longer name is not that of a part that is read. To take `..` out of a path can take quadratic time. */
const LONGEST_NAME = 1_024;
const [END, END_BYTES, LONGEST_COMMENT] = [0x06054b50, 22, 0xffff];
const [ENTRY, ENTRY_BYTES] = [0x02014b50, 46];
const [LOCAL, LOCAL_BYTES] = [0x04034b50, 30];
const [STORED, DEFLATED] = [0, 8];

const DAMAGED = 'is damaged, or is not a file of this type';

/** The parts of a ZIP archive. Names lead to nothing but the archive's own parts, and all parts that are read share one limit. */
export class Zip {
  readonly #bytes: Buffer;
  readonly #entries: ReadonlyMap<string, Entry>;
  #room: number;

  constructor(bytes: Buffer, limit: number) {
    this.#bytes = bytes;
    this.#room = limit;
    this.#entries = directoryOf(bytes);
  }

  /** The bytes of a part; undefined when there is none of this name. FileFault when it is damaged, encrypted or too large. */
  read(name: string): Buffer | undefined {
    const entry = this.#entries.get(partName(name));
    if (entry === undefined) return undefined;
    if (entry.flags & 1) throw new FileFault('is protected by a password');
    const part = this.#unpacked(entry);
    if (crc32(part) !== entry.checksum) throw new FileFault(DAMAGED);
    this.#room -= part.length;
    return part;
  }

  #unpacked({ at, method, packed }: Entry): Buffer {
    const bytes = this.#bytes;
    if (at + LOCAL_BYTES > bytes.length || bytes.readUInt32LE(at) !== LOCAL) throw new FileFault(DAMAGED);
    const start = at + LOCAL_BYTES + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
    const body = bytes.subarray(start, start + packed);
    if (body.length < packed || (method !== STORED && method !== DEFLATED)) throw new FileFault(DAMAGED);
    if (method === STORED && packed <= this.#room) return body;
    if (method === STORED || this.#room === 0) throw tooLarge();
    try {
      return inflateRawSync(body, { maxOutputLength: this.#room });
    } catch (error) {
      throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : new FileFault(DAMAGED);
    }
  }
}

function tooLarge(): FileFault {
  return new FileFault('is too large when it is unpacked');
}

/** Names of parts know no case, and are all from the root. */
function partName(name: string): string {
  return posix.resolve('/', name.replaceAll('\\', '/')).toLowerCase();
}

function directoryOf(bytes: Buffer): Map<string, Entry> {
  const end = endOf(bytes);
  const count = bytes.readUInt16LE(end + 10);
  if (count > MOST_PARTS) throw new FileFault('has too many parts');
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
    if (nameEnd - at - ENTRY_BYTES <= LONGEST_NAME)
      entries.set(partName(bytes.subarray(at + ENTRY_BYTES, nameEnd).toString()), entry);
    at = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

/** Where the end of the directory is told: before a comment that may follow it. */
function endOf(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_BYTES - LONGEST_COMMENT);
  for (let at = bytes.length - END_BYTES; at >= first; at--) if (bytes.readUInt32LE(at) === END) return at;
  throw new FileFault(DAMAGED);
}
