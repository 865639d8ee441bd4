import { createDecoder, hasContent, readVarUint } from 'lib0/decoding';
import { crdtLimits } from './values.ts';

export interface UpdateStructure {
  readonly clients: number;
  readonly structs: number;
  readonly parts: number;
  readonly hasSubdocuments: boolean;
}

/** Bits in the first byte of a struct. */
const [HAS_ORIGIN, HAS_RIGHT_ORIGIN, HAS_PARENT_KEY, CONTENT] = [0x80, 0x40, 0x20, 0x1f];
/** Numbers in the update format 1: structs without content, and shared types with a name. */
const [GC, SKIP, XML_ELEMENT, XML_HOOK] = [0, 10, 3, 5];
/** Type numbers of values in lib0, the encoding library of Yjs. */
const [OBJECT, ARRAY, INTEGER] = [118, 117, 125];
/** Bytes of values by type number: undefined, null, false, true, and numbers of 32 or 64 bits. */
const fixedSizes: ReadonlyMap<number, number> = new Map([
  [127, 0],
  [126, 0],
  [121, 0],
  [120, 0],
  [124, 4],
  [123, 8],
  [122, 8],
]);
/** Values of these types begin with their length: text and bytes. */
const sizedTypes: ReadonlySet<number> = new Set([119, 116]);
/** Deeper values could overflow the stack when Yjs reads them. */
const MAX_VALUE_DEPTH = 1_000;

/**
 * Unlike Yjs, creates no object per struct and no document per subdocument. Stops when a limit is exceeded: the counts
 * are then too small. Throws if it cannot read the bytes as an update in format 1.
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
  const skipValue = () => {
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

  // By kind in format 1: deleted content, JSON, bytes, string, embedded object, formatting mark, type, values, subdocument.
  const contentSkippers: Readonly<Record<number, () => void>> = {
    1: readNumber,
    2: () => repeat(readNumber(), skipSized),
    3: skipSized,
    4: skipSized,
    5: skipSized,
    6: () => {
      skipSized();
      skipSized();
    },
    7: skipType,
    8: () => repeat(readNumber(), skipValue),
    // An update with a subdocument is rejected, so the count stops.
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

  let previous = Infinity;
  repeat(readNumber(), () => {
    clients++;
    const count = readNumber();
    const client = readNumber();
    // Yjs writes clients in descending order. In another order it would lose changes when it merges updates.
    if (client >= previous) throw new Error('Clients not in descending order');
    previous = client;
    readNumber();
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
  if (!isOverLimit() && hasContent(decoder)) throw new Error('Unexpected content');
  return { clients, structs, parts, hasSubdocuments };
}
