import type { MetricId, Statistic } from '../assembly/monitoring/expression.ts';
import { Distribution, percentileOf } from './distribution.ts';

/** The length of a bucket. All measurements in a bucket count as simultaneous. */
export const BUCKET_MILLISECONDS = 5_000;
/** The number of buckets in an hour, which is the longest time range of the dashboard. */
export const BUCKETS = 720;

/** The largest number of cached percentiles in a series. Two open dashboards need fewer. */
const MAX_CACHED_PERCENTILES = 400;

/** A time window as a range of bucket numbers. It includes both ends. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Returns the number of the bucket that contains a time. The time is in epoch milliseconds. */
export function bucketAt(time: number): number {
  return Math.floor(time / BUCKET_MILLISECONDS);
}

/**
 * The measurements of one metric in the last hour. They are counted in buckets, which form a ring buffer. Sums and
 * maxima are exact. Percentiles are exact to three digits.
 *
 * A bucket has a distribution only if its values differ. Usually they do not, because most metrics record only ones.
 */
export class Series {
  readonly metric: MetricId;
  /** The newest bucket that has a measurement. */
  latest = -1;
  /**
   * The number of the bucket at each position of the ring. A bucket that is older than an hour stays until a new bucket
   * takes its position.
   */
  readonly #buckets = new Int32Array(BUCKETS).fill(-1);
  readonly #counts = new Uint32Array(BUCKETS);
  readonly #sums = new Float64Array(BUCKETS);
  readonly #maxima = new Float64Array(BUCKETS);
  readonly #distributions: (Distribution | undefined)[] = [];
  /**
   * Percentiles of past windows. They are cached, because each request of a dashboard needs nearly the same windows as
   * the request before.
   */
  readonly #percentiles = new Map<string, number | undefined>();

  constructor(metric: MetricId) {
    this.metric = metric;
  }

  add(bucket: number, value: number): void {
    const position = bucket % BUCKETS;
    // The clock was set back. Buckets of past windows can change again, so the cache is not valid.
    if (bucket < this.latest) this.#percentiles.clear();
    if (this.#buckets[position] !== bucket) {
      // Reading `lists` sorts the distribution of the bucket that has just ended. Otherwise the first reader would have
      // to sort the distributions of an hour.
      void this.#distributions[this.latest % BUCKETS]?.lists;
      this.#buckets[position] = bucket;
      this.#counts[position] = 1;
      this.#sums[position] = value;
      this.#maxima[position] = value;
      this.#distributions[position] = undefined;
      this.latest = Math.max(this.latest, bucket);
      return;
    }
    // A bucket without a distribution has equal values, so all of them equal its maximum.
    if (!this.#distributions[position] && value !== this.#maxima[position])
      this.#distributions[position] = this.#evenDistribution(position);
    this.#distributions[position]?.add(value);
    this.#counts[position] = (this.#counts[position] ?? 0) + 1;
    this.#sums[position] = (this.#sums[position] ?? 0) + value;
    this.#maxima[position] = Math.max(this.#maxima[position] ?? value, value);
  }

  /** Returns the statistic in a time window. Returns undefined if the window has no data. */
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
