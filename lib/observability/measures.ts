import { type CountedMetric, deliveryMetrics, type MetricName, type RecordedMetric } from './deliveryMetrics.ts';
import { metricsWriter } from './metricsWriter.ts';

/** Written once, at the end of the invocation. */
export interface Measures {
  count(name: CountedMetric, times?: number): void;
  record(name: RecordedMetric, value: number): void;
}

/**
 * Collects every recorded value, because percentiles need all. Ignores values that are not finite: CloudWatch would
 * reject the whole record.
 */
export class InvocationMeasures implements Measures {
  readonly #values = new Map<MetricName, number[]>();

  count(name: CountedMetric, times = 1): void {
    const [sum = 0] = this.#values.get(name) ?? [];
    if (Number.isFinite(times)) this.#values.set(name, [sum + times]);
  }

  record(name: RecordedMetric, value: number): void {
    // A gauge of 0 is not written, because CloudWatch charges a metric for each hour in which it is written.
    if (!Number.isFinite(value) || (value === 0 && deliveryMetrics[name].kind === 'gauge')) return;
    const values = this.#values.get(name);
    if (values) values.push(value);
    else this.#values.set(name, [value]);
  }

  /** CloudWatch reads metrics from the log. */
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
