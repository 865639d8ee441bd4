export interface CallOutcome {
  readonly path: string;
  /** From the planned start to the end of the answer: the delay of a late start counts too. */
  readonly milliseconds: number;
  /** Undefined if the call succeeded. */
  readonly error: string | undefined;
}

export interface EndpointReport {
  readonly path: string;
  readonly calls: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly p50: number;
  readonly p99: number;
}

/** Returns milliseconds after the first call. */
export function plannedStarts(perSecond: number, minutes: number): number[] {
  const count = Math.max(1, Math.round(perSecond * minutes * 60));
  return Array.from({ length: count }, (_each, index) => (index * 1_000) / perSecond);
}

/**
 * Returns `count` items, in an order in which each item occurs evenly and as often as its weight says (smooth weighted
 * round robin).
 */
export function inProportion<T extends { readonly weight: number }>(items: readonly T[], count: number): T[] {
  const total = items.reduce((sum, { weight }) => sum + weight, 0);
  const credits = items.map(() => 0);
  return Array.from({ length: count }, () => {
    for (const [index, { weight }] of items.entries()) credits[index] = (credits[index] ?? 0) + weight;
    const highest = credits.indexOf(Math.max(...credits));
    credits[highest] = (credits[highest] ?? 0) - total;
    const item = items[highest];
    if (!item) throw new Error('There are no items');
    return item;
  });
}

/** Reads of long threads would cost more than `npm run cost` assumes, so a run spreads its comments over documents. */
const DOCUMENTS = { min: 10, max: 1_000 };
const COMMENTS_PER_THREAD = 20;

export function documentsFor(comments: number): number {
  return Math.min(DOCUMENTS.max, Math.max(DOCUMENTS.min, Math.ceil(comments / COMMENTS_PER_THREAD)));
}

/** Returns the nearest-rank percentile. Needs at least one value. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? NaN;
}

export function reportsOf(outcomes: readonly CallOutcome[]): EndpointReport[] {
  return [...Map.groupBy(outcomes, ({ path }) => path)]
    .map(([path, calls]): EndpointReport => {
      const errors: Record<string, number> = {};
      for (const { error } of calls) if (error !== undefined) errors[error] = (errors[error] ?? 0) + 1;
      const times = calls.map(({ milliseconds }) => milliseconds);
      return { path, calls: calls.length, errors, p50: percentile(times, 50), p99: percentile(times, 99) };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}
