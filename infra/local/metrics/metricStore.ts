import { type MetricId } from '../assembly/monitoring/expression.ts';
import { bucketAt, Series } from './series.ts';

/**
 * The largest number of series. If there are more, the series whose last measurement is oldest is deleted. A running
 * system has about 500 series.
 *
 * A series takes 20 kB. If its values differ, it takes up to 300 kB more. After an hour, all series together take 45 MB
 * at 200 requests per second, and 16 MB at 20.
 */
const MAX_SERIES = 2_000;

/** Names the metrics in a log line of the embedded metric format, and their dimensions. */
interface Directive {
  readonly Namespace: string;
  readonly Dimensions: readonly (readonly string[])[];
  readonly Metrics: readonly { readonly Name: string }[];
}

/** All measurements of the last hour, in memory. */
export class MetricStore {
  /** The time of the store's creation in epoch milliseconds. */
  readonly since: number;
  readonly #clock: () => number;
  /** The series of each metric name. The outer key is namespace and name, the inner key is the dimensions. */
  readonly #series = new Map<string, Map<string, Series>>();
  #size = 0;

  constructor(clock: () => number = Date.now) {
    this.#clock = clock;
    this.since = clock();
  }

  /** Records a value at the current time. Ignores NaN and infinity. */
  add(metric: MetricId, value: number): void {
    if (Number.isFinite(value)) this.#seriesOf(metric).add(bucketAt(this.#clock()), value);
  }

  /** Records the metrics in a log line of the embedded metric format. Ignores other lines. */
  addLine(line: Readonly<Record<string, unknown>>): void {
    for (const { Namespace, Dimensions, Metrics } of directivesOf(line)) {
      for (const names of Dimensions.filter((each) => each.every((name) => line[name] !== undefined))) {
        const dimensions = Object.fromEntries(names.map((name) => [name, String(line[name])]));
        for (const { Name } of Metrics) {
          for (const value of [line[Name]].flat())
            if (typeof value === 'number') this.add({ namespace: Namespace, name: Name, dimensions }, value);
        }
      }
    }
  }

  /** Returns the series of a metric. Returns undefined if the metric has never been recorded. */
  find({ namespace, name, dimensions }: MetricId): Series | undefined {
    return this.#series.get(nameKey(namespace, name))?.get(dimensionsKey(dimensions));
  }

  /** Returns all series with this namespace and name, whatever their dimensions are. */
  named(namespace: string, name: string): Series[] {
    return [...(this.#series.get(nameKey(namespace, name))?.values() ?? [])];
  }

  #seriesOf(metric: MetricId): Series {
    const key = nameKey(metric.namespace, metric.name);
    let named = this.#series.get(key);
    if (!named) this.#series.set(key, (named = new Map<string, Series>()));
    const dimensions = dimensionsKey(metric.dimensions);
    let series = named.get(dimensions);
    if (!series) {
      if (this.#size >= MAX_SERIES) this.#dropOldest();
      named.set(dimensions, (series = new Series({ ...metric, dimensions: { ...metric.dimensions } })));
      this.#size++;
    }
    return series;
  }

  #dropOldest(): void {
    const all = [...this.#series.values()].flatMap((named) =>
      [...named].map(([key, series]) => ({ named, key, series })),
    );
    const oldest = all.reduce((a, b) => (b.series.latest < a.series.latest ? b : a));
    oldest.named.delete(oldest.key);
    this.#size--;
  }
}

function directivesOf({ _aws }: Readonly<Record<string, unknown>>): readonly Directive[] {
  const directives = (_aws as { CloudWatchMetrics?: unknown } | null | undefined)?.CloudWatchMetrics;
  const isDirective = (each: Partial<Directive> | null): each is Directive =>
    Array.isArray(each?.Dimensions) && Array.isArray(each.Metrics);
  return Array.isArray(directives) ? directives.filter(isDirective) : [];
}

function nameKey(namespace: string, name: string): string {
  return `${namespace}\0${name}`;
}

function dimensionsKey(dimensions: MetricId['dimensions']): string {
  return Object.keys(dimensions)
    .sort()
    .map((name) => `${name}\0${dimensions[name]}`)
    .join('\0');
}
