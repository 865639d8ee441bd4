/**
 * One difference of two sequences. `removed` elements from index `at` of the old sequence become `added` elements from
 * index `from` of the new one.
 */
export interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly from: number;
  readonly added: number;
}

/** How many more steps all searches together may take. The steps of a search grow with the square of the number of differences. */
export interface Budget {
  steps: number;
}

/** A search gives up after this many differences. Its memory grows with the square of this number. */
const MAX_DIFFERENCES = 512;
/** A search does not give up before this many differences, however short the sequences are. */
const MIN_DIFFERENCES = 64;

/** A range of the sequences `a` and `b`, without the elements at `aTo` and `bTo`. */
interface Range {
  readonly aFrom: number;
  readonly aTo: number;
  readonly bFrom: number;
  readonly bTo: number;
}

/** Returns an element of a list. The index must be valid. */
export function at<T>(list: Readonly<Record<number, T>>, index: number): T {
  return list[index] as T;
}

/**
 * Returns the edits that turn the sequence `a` into `b`, in ascending order. No two edits touch each other. Short
 * differences get the shortest edits (Myers). A longer difference is split at elements that occur exactly once in `a`
 * and once in `b` (patience diff). Without such elements, it becomes one edit. The budget limits the time.
 */
export function diff(a: Int32Array, b: Int32Array, budget: Budget): Edit[] {
  const edits: Edit[] = [];
  const ranges: Range[] = [{ aFrom: 0, aTo: a.length, bFrom: 0, bTo: b.length }];
  for (let next = ranges.pop(); next; next = ranges.pop()) {
    const range = trimCommonEnds(a, b, next);
    const { aFrom, aTo, bFrom, bTo } = range;
    if (aFrom === aTo && bFrom === bTo) continue;
    const whole = { at: aFrom, removed: aTo - aFrom, from: bFrom, added: bTo - bFrom };
    const edited = aFrom === aTo || bFrom === bTo ? [whole] : findShortestEdits(a, b, range, budget);
    if (edited) {
      edits.push(...edited);
      continue;
    }
    const parts = budget.steps > 0 ? splitAt(range, findAnchors(a, b, range)) : [];
    if (parts.length < 2) edits.push(whole);
    else ranges.push(...parts.reverse());
  }
  return mergeTouching(edits);
}

function trimCommonEnds(a: Int32Array, b: Int32Array, { aFrom, aTo, bFrom, bTo }: Range): Range {
  while (aFrom < aTo && bFrom < bTo && a[aFrom] === b[bFrom]) {
    aFrom++;
    bFrom++;
  }
  while (aFrom < aTo && bFrom < bTo && a[aTo - 1] === b[bTo - 1]) {
    aTo--;
    bTo--;
  }
  return { aFrom, aTo, bFrom, bTo };
}

/**
 * Returns the shortest edits by Myers' greedy search. Returns undefined if there are too many edits or no steps remain.
 * `reach[k]` is the furthest index in `a` on diagonal `k`, which is the index in `a` minus the index in `b`.
 */
function findShortestEdits(a: Int32Array, b: Int32Array, range: Range, budget: Budget): Edit[] | undefined {
  const { aFrom, bFrom } = range;
  const n = range.aTo - aFrom;
  const m = range.bTo - bFrom;
  // If more than about half of the elements differ, the shortest edits are not worth the search.
  const limit = Math.min(n + m, MAX_DIFFERENCES, MIN_DIFFERENCES + ((n + m) >> 1));
  if (Math.abs(n - m) > limit) return undefined;
  const middle = limit + 1;
  const reach = new Int32Array(2 * limit + 3);
  const traces: Int32Array[] = [];
  for (let d = 0; d <= limit; d++) {
    for (let k = -d; k <= d; k += 2) {
      const left = at(reach, middle + k - 1);
      const right = at(reach, middle + k + 1);
      const start = k === -d || (k !== d && left < right) ? right : left + 1;
      let x = start;
      while (x < n && x - k < m && a[aFrom + x] === b[bFrom + x - k]) x++;
      budget.steps -= 1 + x - start;
      reach[middle + k] = x;
      if (x >= n && x - k >= m) return editsOfTraces(traces, n, m, aFrom, bFrom);
    }
    if (budget.steps <= 0) return undefined;
    traces.push(reach.slice(middle - d, middle + d + 1));
  }
  return undefined;
}

/**
 * Returns the edits of a search. Follows its recorded steps (`traces`) from the end to the start. Each step gives an
 * edit of one element.
 */
function editsOfTraces(traces: readonly Int32Array[], n: number, m: number, aFrom: number, bFrom: number): Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [n, m];
  for (const [d, trace] of [...traces.entries()].reverse()) {
    const reached = (diagonal: number) => trace[diagonal + d] ?? -1;
    const k = x - y;
    const isInsertion = k === -d - 1 || (k !== d + 1 && reached(k - 1) < reached(k + 1));
    const previous = isInsertion ? k + 1 : k - 1;
    x = reached(previous);
    y = x - previous;
    edits.push({ at: aFrom + x, removed: isInsertion ? 0 : 1, from: bFrom + y, added: isInsertion ? 1 : 0 });
  }
  return edits.reverse();
}

/**
 * Returns the positions of elements that occur exactly once in `a` and exactly once in `b`, as pairs `[in a, in b]`.
 * Both positions ascend from pair to pair.
 */
function findAnchors(a: Int32Array, b: Int32Array, { aFrom, aTo, bFrom, bTo }: Range): [number, number][] {
  const inB = positionsOfUnique(b, bFrom, bTo);
  const common: [number, number][] = [];
  for (const [value, position] of positionsOfUnique(a, aFrom, aTo)) {
    const other = inB.get(value) ?? -1;
    if (position >= 0 && other >= 0) common.push([position, other]);
  }
  return longestAscending(common);
}

/** Returns the position of each value, or -1 for a value that occurs more than once. */
function positionsOfUnique(values: Int32Array, from: number, to: number): Map<number, number> {
  const positions = new Map<number, number>();
  for (let index = from; index < to; index++) {
    const value = at(values, index);
    positions.set(value, positions.has(value) ? -1 : index);
  }
  return positions;
}

/** Returns the longest selection of pairs with ascending second numbers. `pairs` must be sorted by first number. */
function longestAscending(pairs: readonly [number, number][]): [number, number][] {
  /** `tails[n]` is the index of the pair that ends a selection of `n + 1` pairs with the smallest second number. */
  const tails: number[] = [];
  const previous = new Int32Array(pairs.length);
  for (const [index, [, position]] of pairs.entries()) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at(pairs, at(tails, middle))[1] < position) low = middle + 1;
      else high = middle;
    }
    previous[index] = tails[low - 1] ?? -1;
    tails[low] = index;
  }
  const chosen: [number, number][] = [];
  for (let index = tails.at(-1) ?? -1; index >= 0; index = at(previous, index)) chosen.push(at(pairs, index));
  return chosen.reverse();
}

function splitAt({ aFrom, aTo, bFrom, bTo }: Range, anchors: readonly [number, number][]): Range[] {
  const parts: Range[] = [];
  let start = { aFrom, bFrom };
  for (const [a, b] of [...anchors, [aTo, bTo] as const]) {
    parts.push({ ...start, aTo: a, bTo: b });
    start = { aFrom: a + 1, bFrom: b + 1 };
  }
  return parts;
}

/** Returns the edits, with edits that touch each other merged into one. */
export function mergeTouching(edits: readonly Edit[]): Edit[] {
  const merged: Edit[] = [];
  for (const edit of edits) {
    const last = merged.at(-1);
    if (!last || last.at + last.removed !== edit.at || last.from + last.added !== edit.from) merged.push(edit);
    else merged[merged.length - 1] = { ...last, removed: last.removed + edit.removed, added: last.added + edit.added };
  }
  return merged;
}
