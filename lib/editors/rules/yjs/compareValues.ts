import { jsonBytes } from '../../../shared/bytes.ts';
import { isObject } from '../../../shared/collections.ts';
import { Interner, listEdits, memoize, sharedFeatures } from './listDiff.ts';
import { textEdits } from './textDiff.ts';
import type { CrdtType, CrdtValue } from './values.ts';

/** `at` counts UTF-16 units of the text after the operations before this one, `delete` those that are removed there. */
export interface TextOperation {
  readonly at: number;
  readonly delete: number;
  readonly insert: string;
}

/**
 * Without `from`, the value is added; without `to`, it is removed. The path is valid in the value after the changes
 * before this one.
 */
export interface ValueChange {
  readonly path: (string | number)[];
  readonly from?: unknown;
  readonly to?: unknown;
}

export type Comparison =
  | { readonly operations: TextOperation[]; readonly truncated?: true }
  | { readonly changes: ValueChange[]; readonly truncated?: true };

const MAX_ENTRIES = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Both values are of this type. In order, the entries turn `from` into `to`; truncated, they are the first ones. */
export function compareValues(type: CrdtType, from: CrdtValue, to: CrdtValue): Comparison {
  if (type === 'text' || type === 'xml') {
    const { entries, isTruncated } = firstOf(textOperations(from as string, to as string));
    return isTruncated ? { operations: entries, truncated: true } : { operations: entries };
  }
  const { entries, isTruncated } = firstOf(changesBetween(from, to, [], new Interner()));
  return isTruncated ? { changes: entries, truncated: true } : { changes: entries };
}

function firstOf<T>(all: Iterable<T>): { readonly entries: T[]; readonly isTruncated: boolean } {
  const entries: T[] = [];
  let bytes = 2;
  for (const entry of all) {
    bytes += jsonBytes(entry) + 1;
    if (entries.length === MAX_ENTRIES || bytes > MAX_BYTES) return { entries, isTruncated: true };
    entries.push(entry);
  }
  return { entries, isTruncated: false };
}

function* textOperations(from: string, to: string): Generator<TextOperation> {
  let shift = 0;
  for (const { index, remove, insert } of textEdits(from, to)) {
    yield { at: index + shift, delete: remove, insert };
    shift += insert.length - remove;
  }
}

type Path = ValueChange['path'];

function* changesBetween(from: unknown, to: unknown, path: Path, interner: Interner): Generator<ValueChange> {
  if (interner.numberOfJson(from) === interner.numberOfJson(to)) return;
  if (Array.isArray(from) && Array.isArray(to)) yield* changesOfArray(from, to, path, interner);
  else if (isObject(from) && isObject(to)) yield* changesOfObject(from, to, path, interner);
  else yield { path, from, to };
}

function* changesOfObject(
  from: Readonly<Record<string, unknown>>,
  to: Readonly<Record<string, unknown>>,
  path: Path,
  interner: Interner,
): Generator<ValueChange> {
  for (const [key, value] of Object.entries(from)) {
    if (Object.hasOwn(to, key)) yield* changesBetween(value, to[key], [...path, key], interner);
    else yield { path: [...path, key], from: value };
  }
  for (const [key, value] of Object.entries(to))
    if (!Object.hasOwn(from, key)) yield { path: [...path, key], to: value };
}

/** Works from the beginning to the end, so each index is where the element is in the new array. */
function* changesOfArray(
  from: readonly unknown[],
  to: readonly unknown[],
  path: Path,
  interner: Interner,
): Generator<ValueChange> {
  const numbersOf = (values: readonly unknown[]) => values.map((value) => interner.numberOfJson(value));
  const similarityOf = similarityBy(interner);
  const similarity = (index: number, newIndex: number) => similarityOf(from[index], to[newIndex]);
  for (const edit of listEdits(numbersOf(from), numbersOf(to), similarity)) {
    let [index, newIndex] = [edit.at, edit.from];
    const pairs = [...edit.pairs, [edit.at + edit.removed, edit.from + edit.added] as const];
    for (const [pairIndex, pairNewIndex] of pairs) {
      for (; index < pairIndex; index++) yield { path: [...path, newIndex], from: from[index] };
      for (; newIndex < pairNewIndex; newIndex++) yield { path: [...path, newIndex], to: to[newIndex] };
      const isPair = pairIndex < edit.at + edit.removed && pairNewIndex < edit.from + edit.added;
      if (isPair) yield* changesBetween(from[index++], to[newIndex], [...path, newIndex++], interner);
    }
  }
}

const MAX_FEATURES = 100;

/** Two objects or two arrays are similar by their content. Other values can replace each other. */
function similarityBy(interner: Interner): (from: unknown, to: unknown) => number {
  const featuresOf = memoize((value: object) => {
    const features = Array.isArray(value)
      ? value.map((element) => interner.numberOfJson(element))
      : interner.numbersOfEntries(value);
    return features.slice(0, MAX_FEATURES);
  });
  return (from, to) => {
    const isContainer = typeof from === 'object' && from !== null && typeof to === 'object' && to !== null;
    if (isContainer && Array.isArray(from) === Array.isArray(to))
      return sharedFeatures(featuresOf(from), featuresOf(to));
    return typeof from === 'object' || typeof to === 'object' ? 0 : 0.005;
  };
}
