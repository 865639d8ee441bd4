import type { MetricId, Statistic } from '../assembly/monitoring/expression.ts';
import { Distribution, percentileOf } from './distribution.ts';

/** All measurements in a bucket count as simultaneous. */
export const BUCKET_MILLISECONDS = 5_000;
/** An hour, the dashboard's longest range. */
export const BUCKETS = 720;

/** Of one series. Two open dashboards need fewer. */
const MAX_CACHED_PERCENTILES = 400;

/** Bucket numbers, both ends included. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** `time` is epoch ms. */
export function bucketAt(time: number): number {
  return Math.floor(time / BUCKET_MILLISECONDS);
}

/**
 * One metric in the last hour, in a ring buffer of buckets. Sums and maxima are exact, percentiles to three digits. A
 * bucket has a distribution only if its values differ: most metrics record only ones.
 */
export class Series {
  readonly metric: MetricId;
  latest = -1;
  /** The bucket at each position of the ring. An old one stays until a new one takes its position. */
  readonly #buckets = new Int32Array(BUCKETS).fill(-1);
  readonly #counts = new Uint32Array(BUCKETS);
  readonly #sums = new Float64Array(BUCKETS);
  readonly #maxima = new Float64Array(BUCKETS);
  readonly #distributions: (Distribution | undefined)[] = [];
  /** Of past windows. Most of them repeat at the next request of a dashboard. */
  readonly #percentiles = new Map<string, number | undefined>();

  constructor(metric: MetricId) {
    this.metric = metric;
  }

  add(bucket: number, value: number): void {
    const position = bucket % BUCKETS;
    // The clock was set back, so buckets of the past can change.
    if (bucket < this.latest) this.#percentiles.clear();
    if (this.#buckets[position] !== bucket) {
      // Reading `lists` sorts the bucket that ended. Otherwise the first reader would sort an hour of buckets.
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
