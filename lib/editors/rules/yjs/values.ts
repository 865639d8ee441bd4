export const crdtTypes = ['text', 'map', 'array', 'xml'] as const;
export type CrdtType = (typeof crdtTypes)[number];
export type CrdtValue = string | { readonly [key: string]: unknown } | readonly unknown[];

/** What one editor may hold. */
export const crdtLimits = {
  /** Of the encoded state. */
  stateBytes: 4 * 1024 * 1024,
  /** Of the value as JSON. */
  valueBytes: 4 * 1024 * 1024,
  /** How deep values may lie in each other; the value itself is at depth 1. */
  depth: 100,
  /** Keys, lists and objects, or elements and attributes: each costs memory far beyond its bytes. */
  parts: 100_000,
  /** Of Yjs in an update and the document together: each session of an editor writes as a client of its own. */
  clients: 10_000,
  /** Pieces of Yjs in an update and the document together. */
  structs: 400_000,
  /** Of updates that wait for others, encoded. */
  waitingBytes: 64 * 1024,
  /** How many structs may be passed to put concurrent changes in order. Two million take about half a second. */
  conflictSteps: 2_000_000,
} as const;

const shapes: Readonly<Record<CrdtType, string>> = {
  text: 'a string',
  map: 'an object',
  array: 'an array',
  xml: 'a string',
};

/**
 * What is wrong with a value for a type, or undefined: another shape than the type's (spec 4.16), more than the limits, text that
 * is not Unicode (half of a surrogate pair cannot be stored). Whether XML is well formed is another question (`faultOf`).
 */
export function faultOfValue(type: CrdtType, value: unknown): string | undefined {
  if (!hasShape(type, value)) return `Data must be ${shapes[type]} for type ${type}.`;
  const fault = typeof value === 'string' ? faultOfString(value, '') : new Walk().faultOf(value, 1);
  if (fault) return fault;
  return jsonBytes(value) > crdtLimits.valueBytes ? tooLarge : undefined;
}

export const tooLarge = 'Data must not be larger than 4 MB as JSON.';
export const tooDeep = `Data must not be nested deeper than ${crdtLimits.depth} levels.`;

function hasShape(type: CrdtType, value: unknown): value is CrdtValue {
  if (type === 'map') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return type === 'array' ? Array.isArray(value) : typeof value === 'string';
}

/** How many bytes a value is as JSON in UTF-8. */
export function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function faultOfString(text: string, path: string): string | undefined {
  return text.isWellFormed() ? undefined : `Data must be valid Unicode: data${path} has half of a surrogate pair.`;
}

/** Goes through a value, never deeper than is allowed: what JSON parses can lie deeper than a stack. */
class Walk {
  #parts = 0;
  readonly #path: (string | number)[] = [];

  faultOf(value: unknown, depth: number): string | undefined {
    if (typeof value === 'string') return faultOfString(value, this.#shown());
    if (typeof value === 'number') return Number.isFinite(value) ? undefined : this.#notJson();
    if (value === null || typeof value === 'boolean') return undefined;
    if (typeof value !== 'object') return this.#notJson();
    if (depth > crdtLimits.depth) return tooDeep;
    if (++this.#parts > crdtLimits.parts) return this.#tooMany();
    return Array.isArray(value) ? this.#faultOfArray(value, depth) : this.#faultOfMap(value, depth);
  }

  #faultOfArray(values: readonly unknown[], depth: number): string | undefined {
    for (const [index, value] of values.entries()) {
      const fault = this.#within(index, value, depth);
      if (fault) return fault;
    }
    return undefined;
  }

  #faultOfMap(values: object, depth: number): string | undefined {
    for (const [key, value] of Object.entries(values)) {
      if (++this.#parts > crdtLimits.parts) return this.#tooMany();
      if (!key.isWellFormed())
        return `Data must be valid Unicode: a key of data${this.#shown()} has half of a surrogate pair.`;
      const fault = this.#within(key, value, depth);
      if (fault) return fault;
    }
    return undefined;
  }

  #within(at: string | number, value: unknown, depth: number): string | undefined {
    this.#path.push(at);
    const fault = this.faultOf(value, depth + 1);
    this.#path.pop();
    return fault;
  }

  #notJson(): string {
    return `Data must hold JSON values only: data${this.#shown()} is none.`;
  }

  #tooMany(): string {
    return `Data must not have more than ${crdtLimits.parts} keys, objects and arrays in all.`;
  }

  #shown(): string {
    const path = this.#path.map((at) => (typeof at === 'number' ? `[${at}]` : `.${at}`)).join('');
    return path.length > 100 ? `${path.slice(0, 100).toWellFormed()}...` : path;
  }
}
