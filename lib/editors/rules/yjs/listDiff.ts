import { at, type Budget, diff, type Edit } from './diff.ts';

/** Gives equal values the same number, so that `diff` can compare sequences of values. */
export class Interner {
  readonly #numbers = new Map<string, number>();
  readonly #numberOfObject = memoize((value: object) =>
    this.numberOf(
      Array.isArray(value)
        ? `[${value.map((element) => this.numberOfJson(element)).join()}]`
        : `{${this.numbersOfEntries(value)
            .sort((a, b) => a - b)
            .join()}}`,
    ),
  );

  numberOf(text: string): number {
    const existing = this.#numbers.get(text);
    if (existing !== undefined) return existing;
    this.#numbers.set(text, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  /** Returns the number of a JSON value. Objects with the same entries in another order have the same number. */
  numberOfJson(value: unknown): number {
    if (typeof value === 'object' && value !== null) return this.#numberOfObject(value);
    return this.numberOf(Object.is(value, -0) ? '-0' : JSON.stringify(value));
  }

  /** Returns a number for each entry of an object. Entries with equal keys and values have the same number. */
  numbersOfEntries(value: object): number[] {
    return Object.entries(value).map(([key, element]) => this.numberOf(`${this.numberOfJson(element)}:${key}`));
  }
}

/**
 * An edit of a list. `pairs` are the elements that change in place, as `[old index, new index]`. Both indexes ascend
 * from pair to pair.
 */
export interface ListEdit extends Edit {
  readonly pairs: readonly (readonly [number, number])[];
}

/** Returns how similar an old and a new element are: 0 if the old element cannot be changed into the new one. */
export type Similarity = (at: number, from: number) => number;

const MAX_STEPS = 1_000_000;
/**
 * An edit can pair each removed element with each added one. If there are more possible pairs than this, it gets the
 * first similar pairs instead of the best ones.
 */
const MAX_COMBINATIONS = 10_000;

/**
 * Returns the edits that turn one list into another. Equal elements stay. Of the others, the most similar old and new
 * elements become pairs. The old element of a pair changes in place, so that concurrent edits in it survive.
 */
export function listEdits(before: readonly number[], after: readonly number[], similarity: Similarity): ListEdit[] {
  const budget: Budget = { steps: MAX_STEPS };
  return diff(Int32Array.from(before), Int32Array.from(after), budget).map((edit) => {
    const combinations = edit.removed * edit.added;
    if (combinations === 0) return { ...edit, pairs: [] };
    budget.steps -= combinations;
    const isSmall = combinations <= MAX_COMBINATIONS && budget.steps > 0;
    return { ...edit, pairs: (isSmall ? findBestPairs : findFirstPairs)(edit, similarity) };
  });
}

/**
 * Returns the pairs with the largest sum of similarities. For every `i` and `j`, `best` has the largest sum for the old
 * elements from `i` on and the new elements from `j` on.
 */
function findBestPairs({ at: start, removed, from, added }: Edit, similarity: Similarity): [number, number][] {
  const width = added + 1;
  const similarities = new Float64Array(removed * added);
  const best = new Float64Array((removed + 1) * width);
  for (let i = removed - 1; i >= 0; i--) {
    for (let j = added - 1; j >= 0; j--) {
      const own = similarity(start + i, from + j);
      similarities[i * added + j] = own;
      best[i * width + j] = Math.max(
        at(best, (i + 1) * width + j),
        at(best, i * width + j + 1),
        own > 0 ? own + at(best, (i + 1) * width + j + 1) : 0,
      );
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < removed && j < added;) {
    const own = at(similarities, i * added + j);
    if (own > 0 && best[i * width + j] === own + at(best, (i + 1) * width + j + 1))
      pairs.push([start + i++, from + j++]);
    else if (best[i * width + j] === best[(i + 1) * width + j]) i++;
    else j++;
  }
  return pairs;
}

/** Returns the first pairs of similar elements, in order. Used for edits that are too large for a search of the best pairs. */
function findFirstPairs({ at: start, removed, from, added }: Edit, similarity: Similarity): [number, number][] {
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < removed && j < added;) {
    if (similarity(start + i, from + j) > 0) pairs.push([start + i++, from + j++]);
    else if (removed - i > added - j) i++;
    else j++;
  }
  return pairs;
}

/**
 * Returns how similar two elements are. A feature is a number that stands for a part of an element. The result is the share of
 * features that both elements have (0 to 1), plus 0.01. It is never 0, so an old element can change into a new one even
 * without a common feature.
 */
export function sharedFeatures(a: readonly number[], b: readonly number[]): number {
  const inB = new Set(b);
  const shared = a.filter((feature) => inB.has(feature)).length;
  return 0.01 + (2 * shared) / Math.max(1, a.length + b.length);
}

/** Returns a function that computes the result for each object only once. */
export function memoize<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const results = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const result = results.get(key) ?? { value: compute(key) };
    results.set(key, result);
    return result.value;
  };
}

/**
 * The operations with which `applyEdits` changes a list. Indexes are positions in the unchanged list. `applyEdits` works from
 * the end of the list to its beginning, so that these positions stay right.
 */
export interface ListWriter {
  /** Removes `count` elements from index `at` on. */
  remove(at: number, count: number): void;
  /** Inserts `count` elements of the new list, from index `from` on, before index `at`. */
  insert(at: number, from: number, count: number): void;
  /** Changes the element at index `at` into the element `from` of the new list. */
  change(at: number, from: number): void;
}

/** Applies edits to a list, the last edit first. */
export function applyEdits(edits: readonly ListEdit[], list: ListWriter): void {
  for (const { at: start, removed, from, added, pairs } of edits.toReversed()) {
    let [end, newEnd] = [start + removed, from + added];
    for (const [index, newIndex] of [...pairs.toReversed(), [start - 1, from - 1] as const]) {
      if (end > index + 1) list.remove(index + 1, end - index - 1);
      if (newEnd > newIndex + 1) list.insert(index + 1, newIndex + 1, newEnd - newIndex - 1);
      if (index >= start) list.change(index, newIndex);
      [end, newEnd] = [index, newIndex];
    }
  }
}
