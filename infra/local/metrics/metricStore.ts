import { bucketAt, type MetricId, Series } from './series.ts';

/**
 * More than any system of the templates has: three for each function and about a hundred, 500 in all. Who writes more, by a dimension of which
 * there is no end, pushes out what was measured longest ago. A series takes 20 kB and, where its values differ, up to 300 kB more in an hour of
 * load; those of the whole system take 45 MB after an hour of 200 requests a second, and 16 MB of 20.
 */
const MOST_SERIES = 2_000;

/** What the embedded metric format has in a log line, beside the values. */
interface Directive {
  readonly Namespace: string;
  readonly Dimensions: readonly (readonly string[])[];
  readonly Metrics: readonly { readonly Name: string }[];
}

/** What was measured in the last hour, as CloudWatch keeps it: in memory, because a run that begins anew measures anew. */
export class MetricStore {
  /** Since when it measures, in milliseconds since 1970. */
  readonly since: number;
  readonly #clock: () => number;
  /** By namespace and name, then by dimensions. */
  readonly #series = new Map<string, Map<string, Series>>();
  #size = 0;

  constructor(clock: () => number = Date.now) {
    this.#clock = clock;
    this.since = clock();
  }

  /** Takes what was measured now; what is no number is left out. */
  add(metric: MetricId, value: number): void {
    if (Number.isFinite(value)) this.#seriesOf(metric).add(bucketAt(this.#clock()), value);
  }

  /** Takes the metrics of a log line in the embedded metric format, as CloudWatch does; other lines have none. */
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

  /** What was measured of a metric; undefined if nothing ever was. */
  find({ namespace, name, dimensions }: MetricId): Series | undefined {
    return this.#series.get(nameKey(namespace, name))?.get(dimensionsKey(dimensions));
  }

  /** The series of a name, whatever their dimensions. */
  named(namespace: string, name: string): Series[] {
    return [...(this.#series.get(nameKey(namespace, name))?.values() ?? [])];
  }

  #seriesOf(metric: MetricId): Series {
    const key = nameKey(metric.namespace, metric.name);
    let named = this.#series.get(key);
    if (!named) this.#series.set(key, (named = new Map()));
    const dimensions = dimensionsKey(metric.dimensions);
    let series = named.get(dimensions);
    if (!series) {
      if (this.#size >= MOST_SERIES) this.#dropOldest();
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
