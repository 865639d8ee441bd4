import { Distribution, percentileOf } from './distribution.ts';

/** The length of a bucket, which is the resolution of the measurements. */
export const BUCKET_MILLISECONDS = 5_000;
/** The number of buckets in one hour, the longest time range of the dashboard. */
export const BUCKETS = 720;

/** The largest number of cached percentiles per series. It suffices for two open dashboards. */
const MAX_CACHED_PERCENTILES = 400;

/** The identity of a metric. */
export interface MetricId {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** A statistic over the measurements of a window. */
export type Statistic = 'Sum' | 'Maximum' | { readonly percentile: number };

/** A range of bucket numbers. It includes `from` and `to`. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Returns the number of the bucket that contains a time in epoch milliseconds. */
export function bucketAt(time: number): number {
  return Math.floor(time / BUCKET_MILLISECONDS);
}

/**
 * The measurements of one metric in the last hour, in a ring buffer of buckets. Sums and maxima are exact. Percentiles have
 * three digits. A bucket whose values are all equal has no distribution. This is usual, because counters record only ones.
 */
export class Series {
  readonly metric: MetricId;
  /** The last bucket with a measurement. */
  latest = -1;
  /** The bucket number at each position of the ring. A bucket of more than an hour ago remains until its position is reused. */
  readonly #buckets = new Int32Array(BUCKETS).fill(-1);
  readonly #counts = new Uint32Array(BUCKETS);
  readonly #sums = new Float64Array(BUCKETS);
  readonly #maxima = new Float64Array(BUCKETS);
  readonly #distributions: (Distribution | undefined)[] = [];
  /** The cached percentiles of past windows. Each request of a dashboard needs nearly the same windows as the one before. */
  readonly #percentiles = new Map<string, number | undefined>();

  constructor(metric: MetricId) {
    this.metric = metric;
  }

  add(bucket: number, value: number): void {
    const position = bucket % BUCKETS;
    // If the clock was set back, cached windows may change.
    if (bucket < this.latest) this.#percentiles.clear();
    if (this.#buckets[position] !== bucket) {
      // Reading `lists` sorts the distribution of the finished bucket now, so that the first reader need not sort an hour of data.
      void this.#distributions[this.latest % BUCKETS]?.lists;
      this.#buckets[position] = bucket;
      this.#counts[position] = 1;
      this.#sums[position] = value;
      this.#maxima[position] = value;
      this.#distributions[position] = undefined;
      this.latest = Math.max(this.latest, bucket);
      return;
    }
    // Without a distribution, all values of the bucket equal the maximum.
    if (!this.#distributions[position] && value !== this.#maxima[position])
      this.#distributions[position] = this.#evenDistribution(position);
    this.#distributions[position]?.add(value);
    this.#counts[position] = (this.#counts[position] ?? 0) + 1;
    this.#sums[position] = (this.#sums[position] ?? 0) + value;
    this.#maxima[position] = Math.max(this.#maxima[position] ?? value, value);
  }

  /** Returns the statistic over a window, or undefined without data. */
  statistic(statistic: Statistic, window: Window): number | undefined {
    if (this.latest < window.from) return undefined;
    if (statistic === 'Sum') return this.#sum(window);
    if (statistic === 'Maximum') return this.#maximum(window);
    return this.#percentile(statistic.percentile, window);
  }

  #percentile(percentile: number, window: Window): number | undefined {
    const key = `${percentile} ${window.from} ${window.to}`;
    if (this.#percentiles.has(key)) return this.#percentiles.get(key);
    const value = percentileOf(
      percentile,
      this.#positionsIn(window).map((position) => this.#distributions[position] ?? this.#evenDistribution(position)),
    );
    if (window.to < this.latest) {
      this.#percentiles.set(key, value);
      const [oldest] = this.#percentiles.keys();
      if (oldest !== undefined && this.#percentiles.size > MAX_CACHED_PERCENTILES) this.#percentiles.delete(oldest);
    }
    return value;
  }

  #sum({ from, to }: Window): number | undefined {
    let sum: number | undefined;
    for (let bucket = from; bucket <= to; bucket++) {
      const position = bucket % BUCKETS;
      if (this.#buckets[position] === bucket) sum = (sum ?? 0) + (this.#sums[position] ?? 0);
    }
    return sum;
  }

  #maximum(window: Window): number | undefined {
    const positions = this.#positionsIn(window);
    return positions.length > 0 ? Math.max(...positions.map((position) => this.#maxima[position] ?? 0)) : undefined;
  }

  #positionsIn({ from, to }: Window): number[] {
    const positions: number[] = [];
    for (let bucket = from; bucket <= to; bucket++)
      if (this.#buckets[bucket % BUCKETS] === bucket) positions.push(bucket % BUCKETS);
    return positions;
  }

  #evenDistribution(position: number): Distribution {
    const distribution = new Distribution();
    distribution.add(this.#maxima[position] ?? 0, this.#counts[position]);
    return distribution;
  }
}
