import { MetricUnit, Metrics } from '@aws-lambda-powertools/metrics';

/** The namespace and the metric that the family alarms watch. */
export const faultsMetric = { namespace: 'CollaborationBackend', name: 'Faults', dimensions: ['service', 'family'] } as const;

/** Counts an answer of 500 and above. Written only when it happens, so that a healthy endpoint costs no custom metric. */
export function countFault(service: string, family: string): void {
  const metrics = new Metrics({ namespace: faultsMetric.namespace, serviceName: service });
  metrics.addDimension('family', family);
  metrics.addMetric(faultsMetric.name, MetricUnit.Count, 1);
  metrics.publishStoredMetrics();
}
