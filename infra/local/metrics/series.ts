import type { MetricId, Statistic } from '../assembly/monitoring/expression.ts';
import { Distribution, percentileOf } from './distribution.ts';

/** All measurements in a bucket count as simultaneous. */
export const BUCKET_MILLISECONDS = 5_000;
/** An hour, the longest time range of the dashboard. */
export const BUCKETS = 720;

/** In a series. Two open dashboards need fewer. */
const MAX_CACHED_PERCENTILES = 400;

/** A range of bucket numbers that includes both ends. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** `time` is epoch ms. */
export function bucketAt(time: number): number {
  return Math.floor(time / BUCKET_MILLISECONDS);
}

/**
 * The measurements of one metric in the last hour, in buckets that form a ring buffer. Sums and maxima are exact,
 * percentiles to three digits. A bucket has a distribution only if its values differ: most metrics record only ones.
 */
export class Series {
  readonly metric: MetricId;
  /** The newest bucket with a measurement. */
  latest = -1;
  /** The bucket at each position of the ring. One older than an hour stays until a new bucket takes its position. */
  readonly #buckets = new Int32Array(BUCKETS).fill(-1);
  readonly #counts = new Uint32Array(BUCKETS);
  readonly #sums = new Float64Array(BUCKETS);
  readonly #maxima = new Float64Array(BUCKETS);
  readonly #distributions: (Distribution | undefined)[] = [];
  /** Of past windows: each request of a dashboard needs nearly the same windows as the one before. */
  readonly #percentiles = new Map<string, number | undefined>();

  constructor(metric: MetricId) {
    this.metric = metric;
  }

  add(bucket: number, value: number): void {
    const position = bucket % BUCKETS;
    // The clock was set back, so buckets of past windows can change again.
    if (bucket < this.latest) this.#percentiles.clear();
    if (this.#buckets[position] !== bucket) {
      // `lists` sorts the bucket that has ended. Otherwise the first reader would sort an hour of buckets.
      void this.#distributions[this.latest % BUCKETS]?.lists;
      this.#buckets[position] = bucket;
      this.#counts[position] = 1;
      this.#sums[position] = value;
      this.#maxima[position] = value;
      this.#distributions[position] = undefined;
      this.latest = Math.max(this.latest, bucket);
      return;
    }
    // Without a distribution, all values equal the maximum.
    if (!this.#distributions[position] && value !== this.#maxima[position])
      this.#distributions[position] = this.#evenDistribution(position);
    this.#distributions[position]?.add(value);
    this.#counts[position] = (this.#counts[position] ?? 0) + 1;
    this.#sums[position] = (this.#sums[position] ?? 0) + value;
    this.#maxima[position] = Math.max(this.#maxima[position] ?? value, value);
  }

  /** Returns undefined if the window has no data. */
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
