/** The outcome of one call of a load run. */
export interface CallOutcome {
  readonly path: string;
  /** The time from the planned start to the end of the answer, so that a late start counts. */
  readonly milliseconds: number;
  /** The status of the error, or undefined for a success. */
  readonly error: string | undefined;
}

export interface EndpointReport {
  readonly path: string;
  readonly calls: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly p50: number;
  readonly p99: number;
}

/** Returns the planned start of each call in milliseconds after the start of the run. The distances are equal. */
export function plannedStarts(perSecond: number, minutes: number): number[] {
  const count = Math.max(1, Math.round(perSecond * minutes * 60));
  return Array.from({ length: count }, (_each, index) => (index * 1_000) / perSecond);
}

/**
 * Returns `count` items. Each part of the list has the items in the proportion of their weights (smooth weighted round robin).
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

/**
 * The number of documents of a run, and of comments in a thread. A long thread makes reads costlier than those in `npm run
 * cost`.
 */
const DOCUMENTS = { min: 10, max: 1_000 };
const COMMENTS_PER_THREAD = 20;

/** Returns the number of documents, each with one thread, for a run that adds `comments` comments. */
export function documentsFor(comments: number): number {
  return Math.min(DOCUMENTS.max, Math.max(DOCUMENTS.min, Math.ceil(comments / COMMENTS_PER_THREAD)));
}

/** Returns the nearest-rank percentile of at least one value. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? NaN;
}

/** Returns the report of each endpoint, by path. */
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
