import { Distribution, percentileOf } from './distribution.ts';

/** Measurements are kept in buckets of so long; no window is more exact. */
export const BUCKET_MILLISECONDS = 5_000;
/** One hour of them: the longest picture. */
export const BUCKETS = 720;

/** How many percentiles of windows a series remembers: those of two pictures. */
const REMEMBERED = 400;

/** Which metric: CloudWatch knows one by all of this. */
export interface MetricId {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

/** What is made of the measurements of a window. A percentile is the value that so many in a hundred do not exceed. */
export type Statistic = 'Sum' | 'Maximum' | { readonly percentile: number };

/** Buckets from one up to and with another, by their number since 1970. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** The bucket that a time, in milliseconds since 1970, lies in. */
export function bucketAt(time: number): number {
  return Math.floor(time / BUCKET_MILLISECONDS);
}

/**
 * What was measured of one metric in the last hour, in a ring of buckets. Sum and maximum are exact, percentiles have three digits. A bucket whose
 * values are all the same needs no distribution, and most are such: what counts something measures nothing but ones.
 */
export class Series {
  readonly metric: MetricId;
  /** The last bucket with a measurement. */
  latest = -1;
  /** Which bucket lies in each place of the ring: it may be one of an hour ago. */
  readonly #buckets = new Int32Array(BUCKETS).fill(-1);
  readonly #counts = new Uint32Array(BUCKETS);
  readonly #sums = new Float64Array(BUCKETS);
  readonly #maxima = new Float64Array(BUCKETS);
  readonly #distributions: (Distribution | undefined)[] = [];
  /** Of windows that are over: each picture asks for nearly the same ones as the picture before. */
  readonly #percentiles = new Map<string, number | undefined>();

  constructor(metric: MetricId) {
    this.metric = metric;
  }

  add(bucket: number, value: number): void {
    const place = bucket % BUCKETS;
    // The clock was set back.
    if (bucket < this.latest) this.#percentiles.clear();
    if (this.#buckets[place] !== bucket) {
      // The one before is over: sorted now, so that whoever looks first need not sort an hour.
      void this.#distributions[this.latest % BUCKETS]?.lists;
      this.#buckets[place] = bucket;
      this.#counts[place] = 1;
      this.#sums[place] = value;
      this.#maxima[place] = value;
      this.#distributions[place] = undefined;
      this.latest = Math.max(this.latest, bucket);
      return;
    }
    // Until there are two values, the maximum is the only one.
    if (!this.#distributions[place] && value !== this.#maxima[place])
      this.#distributions[place] = this.#evenDistribution(place);
    this.#distributions[place]?.add(value);
    this.#counts[place]! += 1;
    this.#sums[place]! += value;
    if (value > this.#maxima[place]!) this.#maxima[place] = value;
  }

  /** The statistic over a window; undefined if nothing was measured in it. */
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
      if (this.#percentiles.size > REMEMBERED) this.#percentiles.delete(this.#percentiles.keys().next().value!);
    }
    return value;
  }

  #sum({ from, to }: Window): number | undefined {
    let sum: number | undefined;
    for (let bucket = from; bucket <= to; bucket++) {
      const place = bucket % BUCKETS;
      if (this.#buckets[place] === bucket) sum = (sum ?? 0) + this.#sums[place]!;
    }
    return sum;
  }

  #maximum(window: Window): number | undefined {
    const places = this.#placesIn(window);
    return places.length > 0 ? Math.max(...places.map((place) => this.#maxima[place]!)) : undefined;
  }

  #placesIn({ from, to }: Window): number[] {
    const places: number[] = [];
    for (let bucket = from; bucket <= to; bucket++)
      if (this.#buckets[bucket % BUCKETS] === bucket) places.push(bucket % BUCKETS);
    return places;
  }

  #evenDistribution(place: number): Distribution {
    const distribution = new Distribution();
    distribution.add(this.#maxima[place]!, this.#counts[place]!);
    return distribution;
  }
}
