import { createDecoder, readVarUint } from 'lib0/decoding';
import { crdtLimits } from './values.ts';

/** The numbers of parts of an update. */
export interface UpdateStructure {
  readonly clients: number;
  /** The number of structs and ranges of deletions. */
  readonly structs: number;
  /** The number of objects, arrays and keys within values. */
  readonly parts: number;
  readonly hasSubdocuments: boolean;
}

/** The bits of the first byte of a struct. */
const [HAS_ORIGIN, HAS_RIGHT_ORIGIN, HAS_PARENT_KEY, CONTENT] = [0x80, 0x40, 0x20, 0x1f];
/** The numbers, in format 1, of structs without content (GC, skip) and of shared types with a name (XML element, XML hook). */
const [GC, SKIP, XML_ELEMENT, XML_HOOK] = [0, 10, 3, 5];
/** The types of values in the encoding of lib0. */
const [OBJECT, ARRAY, INTEGER] = [118, 117, 125];
/** The size in bytes of values with a fixed size: undefined, null, booleans, and numbers of 32 and 64 bits. */
const fixedSizes: ReadonlyMap<number, number> = new Map([
  [127, 0],
  [126, 0],
  [121, 0],
  [120, 0],
  [124, 4],
  [123, 8],
  [122, 8],
]);
/** The types of values that begin with their length: text and bytes. */
const sizedTypes: ReadonlySet<number> = new Set([119, 116]);
/** The largest depth of values. Deeper values would exhaust the stack when Yjs reads them. */
const MAX_VALUE_DEPTH = 1_000;

/**
 * Counts the parts of an update of format 1, in linear time. Unlike Yjs, it creates no object per struct and no document per
 * subdocument. Stops at the first limit that is exceeded. Throws if the bytes are not an update.
 */
export function countStructure(update: Uint8Array): UpdateStructure {
  const decoder = createDecoder(update);
  let [clients, structs, parts, hasSubdocuments] = [0, 0, 0, false];

  const isOverLimit = () =>
    hasSubdocuments || clients > crdtLimits.clients || structs > crdtLimits.structs || parts > crdtLimits.parts;
  const readNumber = () => readVarUint(decoder);
  const skip = (bytes: number) => {
    if (bytes > update.length - decoder.pos) throw new Error('Unexpected end');
    decoder.pos += bytes;
  };
  const readByte = () => {
    skip(1);
    return update[decoder.pos - 1] ?? 0;
  };
  const skipSized = () => skip(readNumber());
  const skipId = () => {
    readNumber();
    readNumber();
  };
  const repeat = (times: number, read: () => void) => {
    for (let remaining = times; remaining > 0 && !isOverLimit(); remaining--) read();
  };

  const skipPlainValue = (type: number) => {
    const size = fixedSizes.get(type);
    if (size !== undefined) skip(size);
    else if (sizedTypes.has(type)) skipSized();
    else if (type !== INTEGER) throw new Error('Unknown value');
    else while (readByte() & 0x80);
  };
  /** Skips a value and the values in it, without recursion. */
  const skipValue = () => {
    /** For each array and object that is being read, the number of its remaining values. */
    const open = [{ remaining: 1, hasKeys: false }];
    for (let last = open.at(-1); last && !isOverLimit(); last = open.at(-1)) {
      if (last.remaining-- === 0) {
        open.pop();
        continue;
      }
      if (last.hasKeys) {
        parts++;
        skipSized();
      }
      const type = readByte();
      if (type === OBJECT || type === ARRAY) {
        parts++;
        const depth = open.push({ remaining: readNumber(), hasKeys: type === OBJECT });
        if (depth > MAX_VALUE_DEPTH) throw new Error('Too deep');
      } else skipPlainValue(type);
    }
  };
  const skipType = () => {
    const type = readNumber();
    if (type === XML_ELEMENT || type === XML_HOOK) skipSized();
  };

  /** The functions that skip each kind of content, by its number in format 1. */
  const contentSkippers: Readonly<Record<number, () => void>> = {
    // Deleted content: its length.
    1: readNumber,
    // JSON texts: their number, then each text.
    2: () => repeat(readNumber(), skipSized),
    // Bytes, a string or an embedded object: its length, then its bytes.
    3: skipSized,
    4: skipSized,
    5: skipSized,
    // Format: a key and its value.
    6: () => {
      skipSized();
      skipSized();
    },
    // A shared type: its kind, and the name of an XML element.
    7: skipType,
    // Values: their number, then each value.
    8: () => repeat(readNumber(), skipValue),
    // A subdocument, at which the count stops.
    9: () => {
      hasSubdocuments = true;
    },
  };
  const skipStruct = () => {
    structs++;
    const info = readByte();
    if (info === SKIP || (info & CONTENT) === GC) {
      readNumber();
      return;
    }
    if (info & HAS_ORIGIN) skipId();
    if (info & HAS_RIGHT_ORIGIN) skipId();
    if (!(info & (HAS_ORIGIN | HAS_RIGHT_ORIGIN))) {
      if (readNumber() === 1) skipSized();
      else skipId();
      if (info & HAS_PARENT_KEY) skipSized();
    }
    const skipContent = contentSkippers[info & CONTENT];
    if (!skipContent) throw new Error('Unknown content');
    skipContent();
  };

  repeat(readNumber(), () => {
    clients++;
    const count = readNumber();
    skipId();
    repeat(count, skipStruct);
  });
  if (!isOverLimit()) {
    repeat(readNumber(), () => {
      readNumber();
      repeat(readNumber(), () => {
        structs++;
        skipId();
      });
    });
  }
  return { clients, structs, parts, hasSubdocuments };
}
