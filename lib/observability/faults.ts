import { MetricUnit, Metrics } from '@aws-lambda-powertools/metrics';

/** The metric that the alarms of families and workers watch. */
export const faultsMetric = {
  namespace: 'CollaborationBackend',
  name: 'Faults',
  dimensions: ['service', 'family', 'endpoint'],
  workerDimensions: ['service', 'worker'],
} as const;

/** Counts an answer of 500 or above. A healthy endpoint writes no metric and costs nothing. */
export function countFault(service: string, family: string, endpoint: string): void {
  countFaults(service, { family, endpoint }, 1);
}

/** Counts the failures of a worker in one run. */
export function countWorkerFaults(service: string, worker: string, times: number): void {
  if (times > 0) countFaults(service, { worker }, times);
}

function countFaults(service: string, dimensions: Readonly<Record<string, string>>, times: number): void {
  const metrics = new Metrics({ namespace: faultsMetric.namespace, serviceName: service });
  for (const [name, value] of Object.entries(dimensions)) metrics.addDimension(name, value);
  metrics.addMetric(faultsMetric.name, MetricUnit.Count, times);
  metrics.publishStoredMetrics();
}
