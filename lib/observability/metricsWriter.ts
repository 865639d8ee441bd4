import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';

export const METRICS_NAMESPACE = 'CollaborationBackend';

/** Replaces the name of the service in the dimension `service`. Only a stack without the default name sets it. */
export const METRICS_SERVICE = 'POWERTOOLS_SERVICE_NAME';

const byService = new Map<string, Metrics>();

/**
 * Created once per service, because this takes longer than writing. Callers add and publish metrics without waiting in
 * between, so invocations cannot mix theirs.
 */
export function metricsWriter(serviceName: string): Metrics {
  let writer = byService.get(serviceName);
  if (!writer) {
    // eslint-disable-next-line no-restricted-syntax -- Every entry point of a function uses this writer, and Powertools reads its variables itself.
    const metricsService = process.env[METRICS_SERVICE] || serviceName;
    writer = new Metrics({
      namespace: METRICS_NAMESPACE,
      serviceName: metricsService,
    });
    byService.set(serviceName, writer);
  }
  return writer;
}

export function writeCounts(
  service: string,
  dimensions: Readonly<Record<string, string>>,
  counts: Readonly<Record<string, number>>,
): void {
  const metrics = metricsWriter(service);
  for (const [name, value] of Object.entries(dimensions)) metrics.addDimension(name, value);
  for (const [name, count] of Object.entries(counts)) metrics.addMetric(name, MetricUnit.Count, count);
  metrics.publishStoredMetrics();
}
