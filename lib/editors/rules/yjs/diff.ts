/** `removed` elements from index `at` of the old sequence become `added` elements from index `from` of the new one. */
export interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly from: number;
  readonly added: number;
}

/**
 * The steps and the memory of a search grow with the square of the number of differences. So all searches of a `diff`
 * take from one budget.
 */
export interface Budget {
  steps: number;
}

const MAX_DIFFERENCES = 512;
const MIN_DIFFERENCES = 64;

interface Range {
  readonly aFrom: number;
  readonly aTo: number;
  readonly bFrom: number;
  readonly bTo: number;
}

export function at<T>(list: Readonly<Record<number, T>>, index: number): T {
  return list[index] as T;
}

/**
 * Returns edits in ascending order that do not touch each other. Short differences get the shortest edits (Myers). A
 * longer one is split at elements that occur exactly once in `a` and once in `b` (patience diff), or becomes one edit.
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
 * Myers' greedy search. `reach[k]` is the furthest index in `a` on diagonal `k`, the index in `a` minus the index in
 * `b`. Returns undefined if there are too many edits or no steps remain.
 */
function findShortestEdits(a: Int32Array, b: Int32Array, range: Range, budget: Budget): Edit[] | undefined {
  const { aFrom, bFrom } = range;
  const n = range.aTo - aFrom;
  const m = range.bTo - bFrom;
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

/** Follows the recorded steps of a search backwards. Each step gives an edit of one element. */
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

/** Returns the longest ascending sequence of pairs `[in a, in b]` of elements that occur exactly once in both. */
function findAnchors(a: Int32Array, b: Int32Array, { aFrom, aTo, bFrom, bTo }: Range): [number, number][] {
  const inB = positionsOfUnique(b, bFrom, bTo);
  const common: [number, number][] = [];
  for (const [value, position] of positionsOfUnique(a, aFrom, aTo)) {
    const other = inB.get(value) ?? -1;
    if (position >= 0 && other >= 0) common.push([position, other]);
  }
  return longestAscending(common);
}

function positionsOfUnique(values: Int32Array, from: number, to: number): Map<number, number> {
  const positions = new Map<number, number>();
  for (let index = from; index < to; index++) {
    const value = at(values, index);
    positions.set(value, positions.has(value) ? -1 : index);
  }
  return positions;
}

function longestAscending(pairs: readonly [number, number][]): [number, number][] {
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

export function mergeTouching(edits: readonly Edit[]): Edit[] {
  const merged: Edit[] = [];
  for (const edit of edits) {
    const last = merged.at(-1);
    if (!last || last.at + last.removed !== edit.at || last.from + last.added !== edit.from) merged.push(edit);
    else merged[merged.length - 1] = { ...last, removed: last.removed + edit.removed, added: last.added + edit.added };
  }
  return merged;
}
