import { MetricUnit, Metrics } from '@aws-lambda-powertools/metrics';

/** The namespace and the metric that the alarms of families and workers watch. */
export const faultsMetric = {
  namespace: 'CollaborationBackend',
  name: 'Faults',
  dimensions: ['service', 'family', 'endpoint'],
  workerDimensions: ['service', 'worker'],
} as const;

/** Counts an answer of 500 and above. Written only when it happens, so that a healthy endpoint costs no custom metric. */
export function countFault(service: string, family: string, endpoint: string): void {
  countFaults(service, { family, endpoint }, 1);
}

/** Counts what a worker failed to do in one run, if it failed. */
export function countWorkerFaults(service: string, worker: string, times: number): void {
  if (times > 0) countFaults(service, { worker }, times);
}

function countFaults(service: string, dimensions: Readonly<Record<string, string>>, times: number): void {
  const metrics = new Metrics({ namespace: faultsMetric.namespace, serviceName: service });
  for (const [name, value] of Object.entries(dimensions)) metrics.addDimension(name, value);
  metrics.addMetric(faultsMetric.name, MetricUnit.Count, times);
  metrics.publishStoredMetrics();
}
