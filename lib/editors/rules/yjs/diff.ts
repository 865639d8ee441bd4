/** Where two sequences differ: from `at`, `removed` of the old one make place for `added` of the new one from `from`. */
export interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly from: number;
  readonly added: number;
}

/** How many steps may still be taken in search of a smaller change: a shortest one takes time by the square of its size. */
export interface Budget {
  steps: number;
}

/** More differences than this are not searched for at once; the marks of a search take its square in memory. */
const MOST_DIFFERENCES = 512;
/** Few differences are searched for in any case. */
const WORTH_A_SEARCH = 64;

/** A part of two sequences. */
interface Part {
  readonly aFrom: number;
  readonly aTo: number;
  readonly bFrom: number;
  readonly bTo: number;
}

/**
 * The edits that make one sequence of the other, in their order and never touching each other: the shortest way when it is short
 * (Myers), else around what occurs once in both (patience), else the whole part at once. Bounded by the budget.
 */
export function diff(a: Int32Array, b: Int32Array, budget: Budget): Edit[] {
  const edits: Edit[] = [];
  const parts: Part[] = [{ aFrom: 0, aTo: a.length, bFrom: 0, bTo: b.length }];
  while (parts.length > 0) {
    const part = trimmed(a, b, parts.pop()!);
    const { aFrom, aTo, bFrom, bTo } = part;
    if (aFrom === aTo && bFrom === bTo) continue;
    const whole = { at: aFrom, removed: aTo - aFrom, from: bFrom, added: bTo - bFrom };
    const shortest = aFrom === aTo || bFrom === bTo ? [whole] : shortestEdits(a, b, part, budget);
    if (shortest) {
      edits.push(...shortest);
      continue;
    }
    const between = budget.steps > 0 ? partsBetween(part, anchors(a, b, part)) : [];
    if (between.length < 2) edits.push(whole);
    else parts.push(...between.reverse());
  }
  return joined(edits);
}

function trimmed(a: Int32Array, b: Int32Array, { aFrom, aTo, bFrom, bTo }: Part): Part {
  while (aFrom < aTo && bFrom < bTo && a[aFrom] === b[bFrom]) (aFrom++, bFrom++);
  while (aFrom < aTo && bFrom < bTo && a[aTo - 1] === b[bTo - 1]) (aTo--, bTo--);
  return { aFrom, aTo, bFrom, bTo };
}

/** The shortest edits by Myers' greedy search, or undefined when they are too many or the budget ends. */
function shortestEdits(
  a: Int32Array,
  b: Int32Array,
  { aFrom, aTo, bFrom, bTo }: Part,
  budget: Budget,
): Edit[] | undefined {
  const n = aTo - aFrom;
  const m = bTo - bFrom;
  // Where less than half is common, there is little to find.
  const most = Math.min(n + m, MOST_DIFFERENCES, WORTH_A_SEARCH + ((n + m) >> 1));
  if (Math.abs(n - m) > most) return undefined;
  const middle = most + 1;
  const reach = new Int32Array(2 * most + 3);
  const traces: Int32Array[] = [];
  for (let d = 0; d <= most; d++) {
    for (let k = -d; k <= d; k += 2) {
      let x =
        k === -d || (k !== d && reach[middle + k - 1]! < reach[middle + k + 1]!)
          ? reach[middle + k + 1]!
          : reach[middle + k - 1]! + 1;
      const from = x;
      while (x < n && x - k < m && a[aFrom + x] === b[bFrom + x - k]) x++;
      budget.steps -= 1 + x - from;
      reach[middle + k] = x;
      if (x >= n && x - k >= m) return backwards(traces, d, n, m, aFrom, bFrom);
    }
    if (budget.steps <= 0) return undefined;
    traces.push(reach.slice(middle - d, middle + d + 1));
  }
  return undefined;
}

/** Follows the marks of the search from its end to its start. */
function backwards(
  traces: readonly Int32Array[],
  differences: number,
  n: number,
  m: number,
  aFrom: number,
  bFrom: number,
): Edit[] {
  const edits: Edit[] = [];
  let x = n;
  let y = m;
  for (let d = differences; d > 0; d--) {
    const trace = traces[d - 1]!;
    const reached = (k: number) => (Math.abs(k) <= d - 1 ? trace[k + d - 1]! : -1);
    const k = x - y;
    const isInsertion = k === -d || (k !== d && reached(k - 1) < reached(k + 1));
    const before = isInsertion ? k + 1 : k - 1;
    x = reached(before);
    y = x - before;
    edits.push({ at: aFrom + x, removed: isInsertion ? 0 : 1, from: bFrom + y, added: isInsertion ? 1 : 0 });
  }
  return edits.reverse();
}

/** Pairs of places of what occurs once in each part, in an order that is the same in both. */
function anchors(a: Int32Array, b: Int32Array, { aFrom, aTo, bFrom, bTo }: Part): [number, number][] {
  const inB = onceIn(b, bFrom, bTo);
  const common: [number, number][] = [];
  for (const [value, at] of onceIn(a, aFrom, aTo)) {
    const other = inB.get(value);
    if (at >= 0 && other !== undefined && other >= 0) common.push([at, other]);
  }
  return longestRising(common);
}

/** Where each value is, -1 when it is there more than once. */
function onceIn(values: Int32Array, from: number, to: number): Map<number, number> {
  const places = new Map<number, number>();
  for (let at = from; at < to; at++) places.set(values[at]!, places.has(values[at]!) ? -1 : at);
  return places;
}

/** The longest choice of pairs, sorted by the first, whose second rises. */
function longestRising(pairs: readonly [number, number][]): [number, number][] {
  const tails: number[] = [];
  const before = new Int32Array(pairs.length);
  for (const [index, [, scope]] of pairs.entries()) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[tails[middle]!]![1] < scope) low = middle + 1;
      else high = middle;
    }
    before[index] = low > 0 ? tails[low - 1]! : -1;
    tails[low] = index;
  }
  const chosen: [number, number][] = [];
  for (let at = tails.at(-1) ?? -1; at >= 0; at = before[at]!) chosen.push(pairs[at]!);
  return chosen.reverse();
}

function partsBetween(part: Part, pairs: readonly (readonly [number, number])[]): Part[] {
  const parts: Part[] = [];
  let [aFrom, bFrom] = [part.aFrom, part.bFrom];
  for (const [aTo, bTo] of [...pairs, [part.aTo, part.bTo] as const]) {
    parts.push({ aFrom, aTo, bFrom, bTo });
    [aFrom, bFrom] = [aTo + 1, bTo + 1];
  }
  return parts;
}

/** Edits without those that touch the one before: together they are one. */
export function joined(edits: readonly Edit[]): Edit[] {
  const result: Edit[] = [];
  for (const edit of edits) {
    const last = result.at(-1);
    if (last && last.at + last.removed === edit.at && last.from + last.added === edit.from) {
      result[result.length - 1] = { ...last, removed: last.removed + edit.removed, added: last.added + edit.added };
    } else {
      result.push(edit);
    }
  }
  return result;
}
