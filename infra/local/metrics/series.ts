import { Distribution, percentileOf } from './distribution.ts';

/** The resolution of the measurements. */
export const BUCKET_MILLISECONDS = 5_000;
/** Buckets of one hour: the longest range of the dashboard. */
export const BUCKETS = 720;

/** Limit of cached percentiles, enough for two dashboards. */
const REMEMBERED = 400;

/** The identity of a metric. */
export interface MetricId {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** A statistic over the measurements of a window. */
export type Statistic = 'Sum' | 'Maximum' | { readonly percentile: number };

/** A range of bucket numbers, both ends included. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** Returns the number of the bucket that contains a time in epoch milliseconds. */
export function bucketAt(time: number): number {
  return Math.floor(time / BUCKET_MILLISECONDS);
}

/**
 * The measurements of one metric in the last hour, in a ring buffer of buckets. Sums and maxima are exact, percentiles
 * have three digits. A bucket with equal values needs no distribution. That is the usual case, because counters only
 * record ones.
 */
export class Series {
  readonly metric: MetricId;
  /** The last bucket with a measurement. */
  latest = -1;
  /** The bucket number at each position of the ring. It may be one of an hour ago. */
  readonly #buckets = new Int32Array(BUCKETS).fill(-1);
  readonly #counts = new Uint32Array(BUCKETS);
  readonly #sums = new Float64Array(BUCKETS);
  readonly #maxima = new Float64Array(BUCKETS);
  readonly #distributions: (Distribution | undefined)[] = [];
  /** Cached percentiles of past windows. Each dashboard asks for nearly the same windows as the one before. */
  readonly #percentiles = new Map<string, number | undefined>();

  constructor(metric: MetricId) {
    this.metric = metric;
  }

  add(bucket: number, value: number): void {
    const place = bucket % BUCKETS;
    // The clock was set back.
    if (bucket < this.latest) this.#percentiles.clear();
    if (this.#buckets[place] !== bucket) {
      // Sorts the distribution of the finished bucket now, so that the first reader need not sort an hour of data.
      void this.#distributions[this.latest % BUCKETS]?.lists;
      this.#buckets[place] = bucket;
      this.#counts[place] = 1;
      this.#sums[place] = value;
      this.#maxima[place] = value;
      this.#distributions[place] = undefined;
      this.latest = Math.max(this.latest, bucket);
      return;
    }
    // With equal values so far, the maximum is that value.
    if (!this.#distributions[place] && value !== this.#maxima[place])
      this.#distributions[place] = this.#evenDistribution(place);
    this.#distributions[place]?.add(value);
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    this.#sums[place] = (this.#sums[place] ?? 0) + value;
    this.#maxima[place] = Math.max(this.#maxima[place] ?? value, value);
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
      this.#placesIn(window).map((place) => this.#distributions[place] ?? this.#evenDistribution(place)),
    );
    if (window.to < this.latest) {
      this.#percentiles.set(key, value);
      const [oldest] = this.#percentiles.keys();
      if (oldest !== undefined && this.#percentiles.size > REMEMBERED) this.#percentiles.delete(oldest);
    }
    return value;
  }

  #sum({ from, to }: Window): number | undefined {
    let sum: number | undefined;
    for (let bucket = from; bucket <= to; bucket++) {
      const place = bucket % BUCKETS;
      if (this.#buckets[place] === bucket) sum = (sum ?? 0) + (this.#sums[place] ?? 0);
    }
    return sum;
  }

  #maximum(window: Window): number | undefined {
    const places = this.#placesIn(window);
    return places.length > 0 ? Math.max(...places.map((place) => this.#maxima[place] ?? 0)) : undefined;
  }

  #placesIn({ from, to }: Window): number[] {
    const places: number[] = [];
    for (let bucket = from; bucket <= to; bucket++)
      if (this.#buckets[bucket % BUCKETS] === bucket) places.push(bucket % BUCKETS);
    return places;
  }

  #evenDistribution(place: number): Distribution {
    const distribution = new Distribution();
    distribution.add(this.#maxima[place] ?? 0, this.#counts[place]);
    return distribution;
  }
}
