import * as Y from 'yjs';
import { applyEdits, type Interner, listEdits, memoize, sharedFeatures } from './listDiff.ts';
import { readText, replaceText } from './plainText.ts';
import { entriesOf, itemsOf, type Shared, valueOf } from './types.ts';
import type { Writer } from './writers.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Returns an object of the entries that JSON does not leave out. `Object.fromEntries` makes `__proto__` a key like any
 * other.
 */
function objectOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** Returns the JSON value of a map. */
export function readMap(map: Shared): Record<string, unknown> {
  return objectOf(entriesOf(map).map(([key, item]) => [key, readAny(valueOf(item))]));
}

/** Returns the JSON value of an array. */
export function readArray(array: Shared): unknown[] {
  const values: unknown[] = [];
  for (const item of itemsOf(array))
    if (item.countable) for (const content of item.content.getContent()) values.push(readAny(content) ?? null);
  return values;
}

/**
 * Returns the JSON value of anything that a client may put into a map or an array; undefined for values that JSON
 * leaves out.
 */
function readAny(content: unknown): unknown {
  if (content instanceof Y.Text) return readText(content as Shared);
  if (content instanceof Y.Map) return readMap(content as Shared);
  if (content instanceof Y.Array) return readArray(content as Shared);
  // Typed loosely by Yjs: the class has a `toString` of its own.
  if (content instanceof Y.XmlFragment) return (content as { toString(): string }).toString();
  if (typeof content === 'bigint') return Number(content);
  if (typeof content === 'number') return Number.isFinite(content) ? content : null;
  if (Array.isArray(content)) return content.map((element) => readAny(element) ?? null);
  if (content instanceof Uint8Array || content instanceof Y.Doc) return undefined;
  if (typeof content !== 'object' || content === null) return content;
  return objectOf(Object.entries(content).map(([key, value]) => [key, readAny(value)]));
}

/** The writer of changes to JSON types, and the numbers of equal values. */
export interface JsonTools {
  readonly writer: Writer;
  readonly interner: Interner;
}

/** Changes the value of a map key by key. Values that stay objects, arrays or texts change in place. */
export function replaceMap(map: Y.Map<unknown>, target: Json, tools: JsonTools): void {
  const current = new Map(entriesOf(map as Shared));
  for (const key of current.keys()) if (!Object.hasOwn(target, key)) map.delete(key);
  for (const [key, value] of Object.entries(target)) {
    const item = current.get(key);
    if (item) {
      const content = valueOf(item);
      if (replaceInPlace(content, value, tools)) continue;
      if (tools.interner.numberOfJson(readAny(content) ?? null) === tools.interner.numberOfJson(value)) continue;
    }
    const made = emptyTypeFor(value);
    tools.writer.overwrite(map._map.get(key), () => map.set(key, made));
    fill(made, value);
  }
}

const MAX_FEATURES = 100;

/** Changes the value of an array. Equal elements stay, and the most similar ones of the others change in place. */
export function replaceArray(array: Y.Array<unknown>, target: readonly unknown[], tools: JsonTools): void {
  const { interner } = tools;
  const contents = array.toArray();
  const current = contents.map((content) => readAny(content) ?? null);
  const featuresOf = memoize((value: object) => {
    const features = Array.isArray(value)
      ? value.map((element) => interner.numberOfJson(element))
      : interner.numbersOfEntries(value);
    return features.slice(0, MAX_FEATURES);
  });
  const similarity = (at: number, from: number) => {
    const [content, before, after] = [contents[at], current[at], target[from]];
    if (content instanceof Y.Text) return typeof after === 'string' ? 1 : 0;
    const isShared = content instanceof Y.Map || content instanceof Y.Array;
    if (!isShared || !isContainer(before) || !isContainer(after)) return 0;
    if (Array.isArray(before) !== Array.isArray(after)) return 0;
    const id = idOf(before);
    return sharedFeatures(featuresOf(before), featuresOf(after)) + (id !== undefined && id === idOf(after) ? 1 : 0);
  };
  const numbersOf = (values: readonly unknown[]) => values.map((value) => interner.numberOfJson(value));
  applyEdits(listEdits(numbersOf(current), numbersOf(target), similarity), {
    remove: (at, count) => array.delete(at, count),
    insert: (at, from, count) => insertAll(array, at, target.slice(from, from + count)),
    change: (at, from) => void replaceInPlace(contents[at], target[from], tools),
  });
}

/** Changes a shared type into a value of the same kind. Returns false when the kinds differ. */
function replaceInPlace(content: unknown, value: unknown, tools: JsonTools): boolean {
  if (content instanceof Y.Text && typeof value === 'string') replaceText(content, value);
  else if (content instanceof Y.Map && isContainer(value) && !Array.isArray(value)) replaceMap(content, value, tools);
  else if (content instanceof Y.Array && Array.isArray(value)) replaceArray(content, value, tools);
  else return false;
  return true;
}

function isContainer(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

/** Returns the id by which the customer tells objects apart, if there is one. */
function idOf(value: Json): unknown {
  return ['id', '_id', 'key']
    .map((name) => (Object.hasOwn(value, name) ? value[name] : undefined))
    .find((id) => typeof id === 'string' || typeof id === 'number');
}

/** Returns the stored form of a value: an empty shared type for an object or array, which `fill` then fills. */
function emptyTypeFor(value: unknown): unknown {
  if (!isContainer(value)) return value;
  return Array.isArray(value) ? new Y.Array() : new Y.Map();
}

function fill(made: unknown, value: unknown): void {
  if (made instanceof Y.Array) insertAll(made, 0, value as unknown[]);
  if (!(made instanceof Y.Map)) return;
  for (const [key, element] of Object.entries(value as Json)) {
    const inner = emptyTypeFor(element);
    made.set(key, inner);
    fill(inner, element);
  }
}

function insertAll(array: Y.Array<unknown>, at: number, values: readonly unknown[]): void {
  const made = values.map(emptyTypeFor);
  array.insert(at, made);
  for (const [index, element] of made.entries()) fill(element, values[index]);
}
