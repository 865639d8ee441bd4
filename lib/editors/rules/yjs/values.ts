import { jsonBytes } from '../../../shared/bytes.ts';

export const crdtTypes = ['text', 'map', 'array', 'xml'] as const;
export type CrdtType = (typeof crdtTypes)[number];
export type CrdtValue = string | Readonly<Record<string, unknown>> | readonly unknown[];

export const crdtLimits = {
  stateBytes: 4 * 1024 * 1024,
  valueBytes: 4 * 1024 * 1024,
  /** Levels of nested values. The value itself is level 1. */
  depth: 100,
  /**
   * Keys, objects and arrays of a value, or elements and attributes of XML. Each needs much more memory than its bytes.
   */
  parts: 100_000,
  /** Yjs clients in the update and the document together. Each session of an editor is another client. */
  clients: 10_000,
  structs: 400_000,
  /** Encoded updates that wait for missing updates. */
  waitingBytes: 64 * 1024,
  /** Structs that Yjs passes while it orders concurrent changes. Two million take about half a second. */
  conflictSteps: 2_000_000,
} as const;

const shapes: Readonly<Record<CrdtType, string>> = {
  text: 'a string',
  map: 'an object',
  array: 'an array',
  xml: 'a string',
};

export const tooLarge = `Data must not be larger than ${crdtLimits.valueBytes} bytes as JSON.`;
export const tooDeep = `Data must not be nested deeper than ${crdtLimits.depth} levels.`;
const tooManyParts = `Data must not have more than ${crdtLimits.parts} keys, objects and arrays in all.`;

/**
 * A value must fit the type and the limits, and have no half of a surrogate pair. Does not parse XML (see
 * `findValueFault`).
 */
export function findJsonFault(type: CrdtType, value: unknown): string | undefined {
  if (shapeOf(value) !== shapes[type]) return `Data must be ${shapes[type]} for type ${type}.`;
  return findNestedFault(value) ?? (jsonBytes(value) > crdtLimits.valueBytes ? tooLarge : undefined);
}

function shapeOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return shapes.array;
  if (typeof value === 'object' && value !== null) return shapes.map;
  return typeof value === 'string' ? shapes.text : undefined;
}

/** Stops at the depth limit, because deeper JSON could overflow the stack. */
function findNestedFault(value: unknown): string | undefined {
  const path: (string | number)[] = [];
  let parts = 0;
  const location = () => {
    const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
    return `data${text.length > 100 ? `${text.slice(0, 100).toWellFormed()}...` : text}`;
  };
  const findTextFault = (text: string, owner = '') =>
    text.isWellFormed() ? undefined : `Data must be valid Unicode: ${owner}${location()} has half of a surrogate pair.`;
  const findFault = (current: unknown): string | undefined => {
    if (typeof current === 'string') return findTextFault(current);
    if (current === null || typeof current === 'boolean' || Number.isFinite(current)) return undefined;
    if (typeof current !== 'object') return `Data must hold JSON values only: ${location()} is none.`;
    if (path.length >= crdtLimits.depth) return tooDeep;
    if (++parts > crdtLimits.parts) return tooManyParts;
    for (const [key, element] of Array.isArray(current) ? current.entries() : Object.entries(current)) {
      if (typeof key === 'string') {
        if (++parts > crdtLimits.parts) return tooManyParts;
        const fault = findTextFault(key, 'a key of ');
        if (fault) return fault;
      }
      path.push(key);
      const fault = findFault(element);
      if (fault) return fault;
      path.pop();
    }
    return undefined;
  };
  return findFault(value);
}
