import { Metrics } from '@aws-lambda-powertools/metrics';
import { type CountedMetric, deliveryMetrics, type MetricName, type RecordedMetric } from './deliveryMetrics.ts';
import { faultsMetric } from './faults.ts';

/** Takes what a worker measures; it is written once, when the invocation ends. */
export interface Measures {
  /** Something happened, `times` times; once when left out. */
  count(name: CountedMetric, times?: number): void;
  /** A duration, or how much there is now, in the unit of the metric. */
  record(name: RecordedMetric, value: number): void;
}

/**
 * The measures of one invocation: counts are added up, values are kept one by one, so that percentiles can be made of them. What is
 * not a number is left out: CloudWatch would take none of them then.
 */
export class InvocationMeasures implements Measures {
  readonly #values = new Map<MetricName, number[]>();

  count(name: CountedMetric, times = 1): void {
    const [sum = 0] = this.#values.get(name) ?? [];
    if (Number.isFinite(times)) this.#values.set(name, [sum + times]);
  }

  record(name: RecordedMetric, value: number): void {
    // Nobody pays for a metric that says every minute that nothing is wrong; where there is no value, there is nothing.
    if (!Number.isFinite(value) || (value === 0 && deliveryMetrics[name].kind === 'gauge')) return;
    const values = this.#values.get(name);
    if (values) values.push(value);
    else this.#values.set(name, [value]);
  }

  /** Writes what was measured into the log, from where CloudWatch takes it, and begins anew; nothing if there is nothing. */
  flush(serviceName: string): void {
    if (this.#values.size === 0) return;
    const metrics = new Metrics({ namespace: faultsMetric.namespace, serviceName });
    for (const [name, values] of this.#values) {
      for (const value of values) metrics.addMetric(name, deliveryMetrics[name].unit, value);
    }
    metrics.publishStoredMetrics();
    this.#values.clear();
  }
}
