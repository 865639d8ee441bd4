import { Metrics } from '@aws-lambda-powertools/metrics';

export const METRICS_NAMESPACE = 'CollaborationBackend';

const byService = new Map<string, Metrics>();

/**
 * Returns the writer for the metrics of a service. It is created once, because creating it takes longer than writing
 * metrics. Callers add metrics and publish them without waiting in between, so invocations in the same process cannot
 * mix their metrics.
 */
export function metricsWriter(serviceName: string): Metrics {
  let writer = byService.get(serviceName);
  if (!writer) {
    writer = new Metrics({ namespace: METRICS_NAMESPACE, serviceName });
    byService.set(serviceName, writer);
  }
  return writer;
}
