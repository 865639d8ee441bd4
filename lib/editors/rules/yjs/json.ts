import * as Y from 'yjs';
import { applyEdits, type Interner, listEdits, memoize, sharedFeatures } from './listDiff.ts';
import { readText, replaceText } from './plainText.ts';
import { entriesOf, itemsOf, type Shared, valueOf } from './sharedTypes.ts';
import type { Writer } from './writers.ts';

type Json = Readonly<Record<string, unknown>>;

/** `Object.fromEntries` keeps a key `__proto__`. */
function objectOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

export function readMap(map: Shared): Record<string, unknown> {
  return objectOf(entriesOf(map).map(([key, item]) => [key, readAny(valueOf(item))]));
}

export function readArray(array: Shared): unknown[] {
  const values: unknown[] = [];
  for (const item of itemsOf(array))
    if (item.countable) for (const content of item.content.getContent()) values.push(readAny(content) ?? null);
  return values;
}

/** Returns undefined for bytes and subdocuments, which JSON cannot express. */
function readAny(content: unknown): unknown {
  if (content instanceof Y.Text) return readText(content as Shared);
  if (content instanceof Y.Map) return readMap(content as Shared);
  if (content instanceof Y.Array) return readArray(content as Shared);
  // At run time the class has a `toString` that the types of Yjs do not declare.
  if (content instanceof Y.XmlFragment) return (content as { toString(): string }).toString();
  if (typeof content === 'bigint') return Number(content);
  if (typeof content === 'number') return Number.isFinite(content) ? content : null;
  if (Array.isArray(content)) return content.map((element) => readAny(element) ?? null);
  if (content instanceof Uint8Array || content instanceof Y.Doc) return undefined;
  if (typeof content !== 'object' || content === null) return content;
  return objectOf(Object.entries(content).map(([key, value]) => [key, readAny(value)]));
}

export interface JsonTools {
  readonly writer: Writer;
  readonly interner: Interner;
}

/** Yjs maps, arrays and texts that keep their kind change in place, so that concurrent edits in them survive. */
export function replaceMap(map: Y.Map<unknown>, target: Json, tools: JsonTools): void {
  const current = new Map(entriesOf(map as Shared));
  for (const key of current.keys()) if (!Object.hasOwn(target, key)) map.delete(key);
  for (const [key, value] of Object.entries(target)) {
    const item = current.get(key);
    if (item) {
      const content = valueOf(item);
      if (replaceInPlace(content, value, tools)) continue;
      const known = readAny(content);
      // Reads leave out bytes, so bytes are not equal to null.
      if (known !== undefined && tools.interner.numberOfJson(known) === tools.interner.numberOfJson(value)) continue;
    }
    const content = emptyTypeFor(value);
    tools.writer.overwrite(map._map.get(key), () => map.set(key, content));
    fill(content, value);
  }
}

const MAX_FEATURES = 100;

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

function idOf(value: Json): unknown {
  return ['id', '_id', 'key']
    .map((name) => (Object.hasOwn(value, name) ? value[name] : undefined))
    .find((id) => typeof id === 'string' || typeof id === 'number');
}

function emptyTypeFor(value: unknown): unknown {
  if (!isContainer(value)) return value;
  return Array.isArray(value) ? new Y.Array() : new Y.Map();
}

function fill(content: unknown, value: unknown): void {
  if (content instanceof Y.Array) insertAll(content, 0, value as unknown[]);
  if (!(content instanceof Y.Map)) return;
  for (const [key, element] of Object.entries(value as Json)) {
    const inner = emptyTypeFor(element);
    content.set(key, inner);
    fill(inner, element);
  }
}

function insertAll(array: Y.Array<unknown>, at: number, values: readonly unknown[]): void {
  const contents = values.map(emptyTypeFor);
  array.insert(at, contents);
  for (const [index, content] of contents.entries()) fill(content, values[index]);
}
