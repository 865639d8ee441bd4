import { at, type Budget, diff, type Edit } from './diff.ts';

/** Equal values get the same number, so that `diff` can compare sequences of values. */
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

  numberOfJson(value: unknown): number {
    if (typeof value === 'object' && value !== null) return this.#numberOfObject(value);
    return this.numberOf(Object.is(value, -0) ? '-0' : JSON.stringify(value));
  }

  numbersOfEntries(value: object): number[] {
    return Object.entries(value).map(([key, element]) => this.numberOf(`${this.numberOfJson(element)}:${key}`));
  }
}

/** `pairs` are `[old index, new index]` of elements that change in place. Both indexes ascend. */
export interface ListEdit extends Edit {
  readonly pairs: readonly (readonly [number, number])[];
}

/** Returns 0 if the old element cannot be changed into the new one. */
export type Similarity = (at: number, from: number) => number;

const MAX_STEPS = 1_000_000;
/** Above this number of possible pairs, an edit gets the first similar pairs instead of the best ones. */
const MAX_COMBINATIONS = 10_000;

/**
 * Keeps equal elements where `diff` finds them. Similar ones of the others become pairs: the old element changes in
 * place, so that concurrent edits in it survive.
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
 * A feature is a number that stands for a part of an element. The share of common features is at least a little above
 * 0, so an old element can change into a new one without a common feature.
 */
export function sharedFeatures(a: readonly number[], b: readonly number[]): number {
  const inB = new Set(b);
  const shared = a.filter((feature) => inB.has(feature)).length;
  return 0.01 + (2 * shared) / Math.max(1, a.length + b.length);
}

export function memoize<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const results = new WeakMap<K, { readonly value: V }>();
  return (key) => {
    const result = results.get(key) ?? { value: compute(key) };
    results.set(key, result);
    return result.value;
  };
}

/**
 * `at` is a position in the unchanged list, because `applyEdits` works from its end to its beginning. `from` is a
 * position in the new list.
 */
export interface ListWriter {
  remove(at: number, count: number): void;
  insert(at: number, from: number, count: number): void;
  change(at: number, from: number): void;
}

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
