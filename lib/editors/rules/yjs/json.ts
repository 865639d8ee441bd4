import * as Y from 'yjs';
import { carryOut, type Interner, remembered, replacements, sharedPart } from './align.ts';
import { readText, replaceText } from './plainText.ts';
import { contentOf, entriesOf, itemsOf, type Shared } from './types.ts';
import type { Writer } from './writers.ts';

type Json = { readonly [key: string]: unknown };

/** An object with any keys, `__proto__` as well, as JSON makes it. */
export function objectOf(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [key, value] of entries) {
    if (key === '__proto__')
      Object.defineProperty(made, key, { value, enumerable: true, configurable: true, writable: true });
    else made[key] = value;
  }
  return made;
}

/** The JSON value of a map. */
export function readMap(map: Shared): Record<string, unknown> {
  return objectOf(
    entriesOf(map)
      .map(([key, item]) => [key, readAny(contentOf(item))] as const)
      .filter(([, value]) => value !== undefined),
  );
}

/** The JSON value of an array. */
export function readArray(array: Shared): unknown[] {
  const values: unknown[] = [];
  for (const item of itemsOf(array))
    if (item.countable) for (const content of item.content.getContent()) values.push(readAny(content) ?? null);
  return values;
}

/** What JSON says of anything that a client may have put into a map or an array; undefined of what JSON leaves out. */
function readAny(content: unknown): unknown {
  if (content instanceof Y.Text) return readText(content as Shared);
  if (content instanceof Y.Map) return readMap(content as Shared);
  if (content instanceof Y.Array) return readArray(content as Shared);
  if (content instanceof Y.XmlFragment) return content.toString();
  if (typeof content === 'bigint') return Number(content);
  if (typeof content === 'number') return Number.isFinite(content) ? content : null;
  if (Array.isArray(content)) return content.map((each) => readAny(each) ?? null);
  if (content instanceof Uint8Array || content instanceof Y.Doc) return undefined;
  if (typeof content === 'object' && content !== null) {
    return objectOf(
      Object.entries(content)
        .map(([key, each]) => [key, readAny(each)] as const)
        .filter(([, each]) => each !== undefined),
    );
  }
  return content;
}

/** Makes the value of a map this one: key by key, and inside of what stays an object or an array. */
export function replaceMap(map: Y.Map<unknown>, target: Json, tools: JsonTools): void {
  const current = new Map(entriesOf(map as Shared));
  for (const key of current.keys()) if (!Object.hasOwn(target, key)) map.delete(key);
  for (const [key, value] of Object.entries(target)) {
    const item = current.get(key);
    const content = item && contentOf(item);
    if (item && replaceWithin(content, value, tools)) continue;
    if (item && tools.interner.ofJson(readAny(content) ?? null) === tools.interner.ofJson(value)) continue;
    const made = madeFor(value);
    tools.writer.overwriting(map._map.get(key), () => map.set(key, made));
    fill(made, value);
  }
}

/** Makes the value of an array this one: equal elements stay, and what is most alike of the others is changed in its place. */
export function replaceArray(array: Y.Array<unknown>, target: readonly unknown[], tools: JsonTools): void {
  const { interner } = tools;
  const contents = array.toArray();
  const current = contents.map((content) => readAny(content) ?? null);
  const features = remembered((value: object) =>
    (Array.isArray(value) ? value.map((each) => interner.ofJson(each)) : interner.pairsOf(value)).slice(
      0,
      MOST_FEATURES,
    ),
  );
  const likeness = (at: number, from: number) => {
    const [before, after] = [current[at], target[from]];
    if (contents[at] instanceof Y.Text) return typeof after === 'string' ? 1 : 0;
    if (
      !(contents[at] instanceof Y.Map || contents[at] instanceof Y.Array) ||
      !isContainer(before) ||
      !isContainer(after)
    )
      return 0;
    if (Array.isArray(before) !== Array.isArray(after)) return 0;
    return (
      sharedPart(features(before), features(after)) +
      (idOf(before) !== undefined && idOf(before) === idOf(after) ? 1 : 0)
    );
  };
  const replaced = replacements(
    current.map((value) => interner.ofJson(value)),
    target.map((value) => interner.ofJson(value)),
    likeness,
  );
  carryOut(replaced, {
    remove: (at, count) => array.delete(at, count),
    insert: (at, from, count) => insertInto(array, at, target.slice(from, from + count)),
    change: (at, from) => void replaceWithin(contents[at], target[from], tools),
  });
}

/** What a replace needs wherever it is: who writes, and what is the same. */
export interface JsonTools {
  readonly writer: Writer;
  readonly interner: Interner;
}

const MOST_FEATURES = 100;

/** Whether a shared type could take the value on by a change within. */
function replaceWithin(content: unknown, value: unknown, tools: JsonTools): boolean {
  if (content instanceof Y.Text && typeof value === 'string') replaceText(content, value);
  else if (content instanceof Y.Map && isContainer(value) && !Array.isArray(value)) replaceMap(content, value, tools);
  else if (content instanceof Y.Array && Array.isArray(value)) replaceArray(content, value, tools);
  else return false;
  return true;
}

function isContainer(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

/** What a value's author tells it from others by. */
function idOf(value: Json): unknown {
  return ['id', '_id', 'key']
    .map((name) => (Object.hasOwn(value, name) ? value[name] : undefined))
    .find((id) => typeof id === 'string' || typeof id === 'number');
}

/** A value as it is stored, objects and arrays as shared types that are filled afterwards. */
function madeFor(value: unknown): unknown {
  if (!isContainer(value)) return value;
  return Array.isArray(value) ? new Y.Array() : new Y.Map();
}

function fill(made: unknown, value: unknown): void {
  if (made instanceof Y.Array) return insertInto(made, 0, value as unknown[]);
  if (!(made instanceof Y.Map)) return;
  for (const [key, each] of Object.entries(value as Json)) {
    const inner = madeFor(each);
    made.set(key, inner);
    fill(inner, each);
  }
}

function insertInto(array: Y.Array<unknown>, at: number, values: readonly unknown[]): void {
  const made = values.map(madeFor);
  array.insert(at, made);
  for (const [index, each] of made.entries()) fill(each, values[index]);
}
