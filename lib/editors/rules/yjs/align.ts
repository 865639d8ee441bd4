import { type Budget, diff, type Edit } from './diff.ts';

/** Numbers for values, the same for the same: sequences of them are compared by number. */
export class Interner {
  readonly #numbers = new Map<string, number>();
  readonly #known = new WeakMap<object, number>();

  /** The number of a text. */
  of(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  /** The number of a JSON value; objects are the same whatever the order of their keys. */
  ofJson(value: unknown): number {
    if (typeof value !== 'object' || value === null)
      return this.of(Object.is(value, -0) ? '-0' : JSON.stringify(value));
    let number = this.#known.get(value);
    if (number === undefined) {
      number = this.of(
        Array.isArray(value)
          ? `[${value.map((each) => this.ofJson(each)).join()}]`
          : `{${this.pairsOf(value)
              .sort((a, b) => a - b)
              .join()}}`,
      );
      this.#known.set(value, number);
    }
    return number;
  }

  /** The numbers of an object's keys with their values. */
  pairsOf(value: object): number[] {
    return Object.entries(value).map(([key, each]) => this.of(`${this.ofJson(each)}:${key}`));
  }
}

/** What of an old sequence becomes what of a new one, in order; the rest goes and comes. */
export interface Replacement {
  readonly at: number;
  readonly removed: number;
  readonly from: number;
  readonly added: number;
  /** Old and new places of those that are changed in their place. */
  readonly pairs: readonly (readonly [number, number])[];
}

/** How alike two elements are that may become each other, above 0; 0 when they may not. */
export type Likeness = (at: number, from: number) => number;

/** How many steps a comparison of lists may take. */
const MOST_STEPS = 1_000_000;
/** Up to so many pairs, the best choice of them is searched for. */
const MOST_PAIRS = 10_000;

/**
 * Where two sequences of numbers differ, and who becomes whom there: elements that are the same keep their identity, and of the others
 * those that are most alike are changed in their place, so that what clients do to them meanwhile is kept.
 */
export function replacements(before: readonly number[], after: readonly number[], likeness: Likeness): Replacement[] {
  const budget: Budget = { steps: MOST_STEPS };
  return diff(Int32Array.from(before), Int32Array.from(after), budget).map((edit) => ({
    ...edit,
    pairs: pairsOf(edit, likeness, budget),
  }));
}

function pairsOf(edit: Edit, likeness: Likeness, budget: Budget): [number, number][] {
  if (edit.removed === 0 || edit.added === 0) return [];
  budget.steps -= edit.removed * edit.added;
  return edit.removed * edit.added <= MOST_PAIRS && budget.steps > 0
    ? bestPairs(edit, likeness)
    : firstPairs(edit, likeness);
}

function bestPairs({ at, removed, from, added }: Edit, likeness: Likeness): [number, number][] {
  const width = added + 1;
  const alike = new Float64Array(removed * added);
  const best = new Float64Array((removed + 1) * width);
  for (let i = removed - 1; i >= 0; i--) {
    for (let j = added - 1; j >= 0; j--) {
      const here = (alike[i * added + j] = likeness(at + i, from + j));
      best[i * width + j] = Math.max(
        best[(i + 1) * width + j]!,
        best[i * width + j + 1]!,
        here > 0 ? here + best[(i + 1) * width + j + 1]! : 0,
      );
    }
  }
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < removed && j < added;) {
    const here = alike[i * added + j]!;
    if (here > 0 && best[i * width + j] === here + best[(i + 1) * width + j + 1]!) pairs.push([at + i++, from + j++]);
    else if (best[i * width + j] === best[(i + 1) * width + j]) i++;
    else j++;
  }
  return pairs;
}

/** Pairs in their order, where there are too many to choose. */
function firstPairs({ at, removed, from, added }: Edit, likeness: Likeness): [number, number][] {
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < removed && j < added;) {
    if (likeness(at + i, from + j) > 0) pairs.push([at + i++, from + j++]);
    else if (removed - i > added - j) i++;
    else j++;
  }
  return pairs;
}

/** How many of the features two elements share, from just above 0 to just above 1: those of one kind are never quite unlike. */
export function sharedPart(a: readonly number[], b: readonly number[]): number {
  const inB = new Set(b);
  const shared = a.reduce((count, feature) => count + (inB.has(feature) ? 1 : 0), 0);
  return 0.01 + (2 * shared) / Math.max(1, a.length + b.length);
}

/** The same function, which works once for each object. */
export function remembered<K extends object, V>(work: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, V>();
  return (of) => {
    if (!known.has(of)) known.set(of, work(of));
    return known.get(of)!;
  };
}

/** How a list is changed, from its end to its start, so that places before stay as they are. */
export interface ListWriter {
  /** Takes away these old elements. */
  remove(at: number, count: number): void;
  /** Puts these new elements before the old element `at`. */
  insert(at: number, from: number, count: number): void;
  /** Makes the old element the new one. */
  change(at: number, from: number): void;
}

/** Carries replacements out, the last one first. */
export function carryOut(replaced: readonly Replacement[], list: ListWriter): void {
  for (const { at, removed, from, added, pairs } of replaced.toReversed()) {
    let [to, until] = [at + removed, from + added];
    for (const [scope, other] of [...pairs.toReversed(), [at - 1, from - 1] as const]) {
      if (to > scope + 1) list.remove(scope + 1, to - scope - 1);
      if (until > other + 1) list.insert(scope + 1, other + 1, until - other - 1);
      if (scope >= at) list.change(scope, other);
      [to, until] = [scope, other];
    }
  }
}
