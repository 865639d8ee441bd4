import { createDecoder, type Decoder, readVarUint } from 'lib0/decoding';
import { crdtLimits } from './values.ts';

/** What an update consists of, counted without making any of it. */
export interface UpdateStructure {
  readonly clients: number;
  /** Structs and ranges of deletions. */
  readonly structs: number;
  /** Objects, arrays and keys within values. */
  readonly parts: number;
  readonly hasSubdocuments: boolean;
}

/** The numbers by which format 1 of Yjs tells contents and shared types apart. */
const GC = 0;
const [DELETED, JSON_TEXTS, BINARY, STRING, EMBED, FORMAT, TYPE, ANY, SUBDOCUMENT, SKIP] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
];
const [XML_ELEMENT, XML_HOOK] = [3, 5];
const [HAS_ORIGIN, HAS_RIGHT_ORIGIN, HAS_PARENT_KEY] = [0x80, 0x40, 0x20];
/** Values nested deeper than this would exhaust the stack when Yjs reads them. */
const DEEPEST_VALUE = 1_000;

/**
 * Counts what an update of format 1 consists of, in linear time and constant memory: Yjs itself would make an object of each struct, and a
 * whole document of each subdocument. Throws where the bytes are no such update. Stops early, with what it has counted,
 * where a limit is exceeded.
 */
export function structureOf(update: Uint8Array): UpdateStructure {
  return new Scan(update).run();
}

class Scan {
  readonly #decoder: Decoder;
  #clients = 0;
  #structs = 0;
  #parts = 0;
  #hasSubdocuments = false;

  constructor(update: Uint8Array) {
    this.#decoder = createDecoder(update);
  }

  run(): UpdateStructure {
    this.#blocks();
    if (!this.#isBeyondLimits()) this.#deletions();
    return {
      clients: this.#clients,
      structs: this.#structs,
      parts: this.#parts,
      hasSubdocuments: this.#hasSubdocuments,
    };
  }

  #isBeyondLimits(): boolean {
    return (
      this.#hasSubdocuments ||
      this.#clients > crdtLimits.clients ||
      this.#structs > crdtLimits.structs ||
      this.#parts > crdtLimits.parts
    );
  }

  #blocks(): void {
    for (let block = this.#number(); block > 0 && !this.#isBeyondLimits(); block--) {
      this.#clients++;
      let structs = this.#number();
      this.#number();
      this.#number();
      for (; structs > 0 && !this.#isBeyondLimits(); structs--) this.#struct();
    }
  }

  #struct(): void {
    this.#structs++;
    const info = this.#byte();
    const content = info & 0x1f;
    if (info === SKIP || content === GC) {
      this.#number();
      return;
    }
    if (info & HAS_ORIGIN) this.#id();
    if (info & HAS_RIGHT_ORIGIN) this.#id();
    if (!(info & (HAS_ORIGIN | HAS_RIGHT_ORIGIN))) {
      if (this.#number() === 1) this.#bytes();
      else this.#id();
      if (info & HAS_PARENT_KEY) this.#bytes();
    }
    this.#content(content);
  }

  #content(content: number): void {
    switch (content) {
      case DELETED:
        return void this.#number();
      case JSON_TEXTS:
        return this.#each(() => this.#bytes());
      case BINARY:
      case STRING:
      case EMBED:
        return this.#bytes();
      case FORMAT:
        return (this.#bytes(), this.#bytes());
      case TYPE: {
        const type = this.#number();
        return type === XML_ELEMENT || type === XML_HOOK ? this.#bytes() : undefined;
      }
      case ANY:
        return this.#each(() => this.#value());
      case SUBDOCUMENT:
        this.#hasSubdocuments = true;
        return;
      default:
        throw new Error('Unknown content');
    }
  }

  #deletions(): void {
    for (let block = this.#number(); block > 0 && !this.#isBeyondLimits(); block--) {
      this.#number();
      for (let ranges = this.#number(); ranges > 0 && !this.#isBeyondLimits(); ranges--) {
        this.#structs++;
        this.#number();
        this.#number();
      }
    }
  }

  /** Passes a value and what is in it, without recursion. */
  #value(): void {
    /** How many values are still to come in each array, or each object, that is open. */
    const open = [{ left: 1, hasKeys: false }];
    for (let at = open.at(-1); at && !this.#isBeyondLimits(); at = open.at(-1)) {
      if (at.left-- === 0) {
        open.pop();
        continue;
      }
      if (at.hasKeys) {
        this.#parts++;
        this.#bytes();
      }
      const type = this.#byte();
      if (type === 117 || type === 118) {
        this.#parts++;
        if (open.push({ left: this.#number(), hasKeys: type === 118 }) > DEEPEST_VALUE) throw new Error('Too deep');
      } else {
        this.#plainValue(type);
      }
    }
  }

  #plainValue(type: number): void {
    switch (type) {
      case 127:
      case 126:
      case 121:
      case 120:
        return;
      case 125:
        while (this.#byte() & 0x80);
        return;
      case 124:
        return this.#skip(4);
      case 123:
      case 122:
        return this.#skip(8);
      case 119:
      case 116:
        return this.#bytes();
      default:
        throw new Error('Unknown value');
    }
  }

  #each(pass: () => void): void {
    for (let left = this.#number(); left > 0 && !this.#isBeyondLimits(); left--) pass();
  }

  #id(): void {
    this.#number();
    this.#number();
  }

  #number(): number {
    return readVarUint(this.#decoder);
  }

  #byte(): number {
    const { arr, pos } = this.#decoder;
    const byte = arr[pos];
    if (byte === undefined) throw new Error('Unexpected end');
    this.#decoder.pos++;
    return byte;
  }

  /** Passes a text or bytes, which begin with their length. */
  #bytes(): void {
    this.#skip(this.#number());
  }

  #skip(count: number): void {
    if (count > this.#decoder.arr.length - this.#decoder.pos) throw new Error('Unexpected end');
    this.#decoder.pos += count;
  }
}
