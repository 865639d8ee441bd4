import { crc32, deflateRawSync } from 'node:zlib';

/** Sizes of headers in a ZIP archive in bytes, and values of their fields. */
const LOCAL_HEADER = 30;
const DIRECTORY_ENTRY = 46;
const DIRECTORY_END = 22;
const VERSION = 20;
const [STORED, DEFLATED] = [0, 8];

/**
 * Returns a ZIP archive of these files. The keys are the paths. Uses the fastest compression: a better one would take
 * longer than the tests themselves.
 */
export function zip(parts: Readonly<Record<string, Uint8Array>>): Buffer {
  const [local, directory]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const [path, content] of Object.entries(parts)) {
    const name = Buffer.from(path);
    const isEmpty = content.length === 0;
    const packed = isEmpty ? Buffer.alloc(0) : deflateRawSync(content, { level: 1 });
    const header = Buffer.alloc(LOCAL_HEADER);
    header.writeUInt32LE(0x04034b50);
    header.writeUInt16LE(VERSION, 4);
    header.writeUInt16LE(isEmpty ? STORED : DEFLATED, 8);
    header.writeUInt32LE(crc32(content), 14);
    header.writeUInt32LE(packed.length, 18);
    header.writeUInt32LE(content.length, 22);
    header.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(DIRECTORY_ENTRY);
    entry.writeUInt32LE(0x02014b50);
    entry.writeUInt16LE(VERSION, 4);
    // These bytes of an entry, from the required version to the length of the name, are the same as in the local
    // header.
    header.copy(entry, 6, 4);
    entry.writeUInt32LE(offset, 42);
    local.push(header, name, packed);
    directory.push(entry, name);
    offset += header.length + name.length + packed.length;
  }
  const end = Buffer.alloc(DIRECTORY_END);
  const count = Object.keys(parts).length;
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(
    directory.reduce((sum, { length }) => sum + length, 0),
    12,
  );
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, ...directory, end]);
}
