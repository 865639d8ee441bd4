import { type CountedMetric, deliveryMetrics, type MetricName, type RecordedMetric } from './deliveryMetrics.ts';
import { metricsWriter } from './metricsWriter.ts';

/** The metrics of a worker's run. They are written once, at the end of the invocation. */
export interface Measures {
  /** Counts an event, once by default. */
  count(name: CountedMetric, times?: number): void;
  /** Records a duration or a level, in the unit of the metric. */
  record(name: RecordedMetric, value: number): void;
}

/**
 * The metrics of one invocation. It adds up counts and collects every recorded value, because percentiles need all values. It
 * ignores values that are not finite, because CloudWatch would reject the whole record.
 */
export class InvocationMeasures implements Measures {
  readonly #values = new Map<MetricName, number[]>();

  count(name: CountedMetric, times = 1): void {
    const [sum = 0] = this.#values.get(name) ?? [];
    if (Number.isFinite(times)) this.#values.set(name, [sum + times]);
  }

  record(name: RecordedMetric, value: number): void {
    // CloudWatch charges a metric for each hour in which it is written, so a gauge of 0 is not written.
    if (!Number.isFinite(value) || (value === 0 && deliveryMetrics[name].kind === 'gauge')) return;
    const values = this.#values.get(name);
    if (values) values.push(value);
    else this.#values.set(name, [value]);
  }

  /** Writes the metrics to the log, from which CloudWatch reads them, and clears them. */
  flush(serviceName: string): void {
    if (this.#values.size === 0) return;
    const metrics = metricsWriter(serviceName);
    for (const [name, values] of this.#values) {
      for (const value of values) metrics.addMetric(name, deliveryMetrics[name].unit, value);
    }
    metrics.publishStoredMetrics();
    this.#values.clear();
  }
}
