import type { Dependency } from './dependencies.ts';
import { METRICS_NAMESPACE, writeCounts } from './metricsWriter.ts';

/** Answers of 500 or above, and failures of workers. `name` is for graphs, `frequentName` for alarms. */
export const faultsMetric = {
  namespace: METRICS_NAMESPACE,
  name: 'Faults',
  /** Faults of an instance while they are at least 1 % of its recent calls (`FaultShare`). */
  frequentName: 'FrequentFaults',
  dimensions: ['service', 'family', 'endpoint'],
  workerDimensions: ['service', 'worker'],
} as const;

/** From instances in which the dependency fails in at least 1 % of the invocations. */
export const dependencyMetric = { name: 'DependencyFaults', dimension: 'dependency' } as const;

/** An endpoint without faults writes no metric, so its metrics cost nothing. */
export function countFault(service: string, family: string, endpoint: string, isFrequent: boolean): void {
  countFaults(service, { family, endpoint }, 1, isFrequent);
}

export function countWorkerFaults(service: string, worker: string, times: number, isFrequent: boolean): void {
  if (times > 0) countFaults(service, { worker }, times, isFrequent);
}

export function countDependencyFaults(service: string, failed: readonly Dependency[]): void {
  for (const dependency of failed)
    writeCounts(service, { [dependencyMetric.dimension]: dependency }, { [dependencyMetric.name]: 1 });
}

function countFaults(
  service: string,
  dimensions: Readonly<Record<string, string>>,
  times: number,
  isFrequent: boolean,
): void {
  writeCounts(service, dimensions, {
    [faultsMetric.name]: times,
    ...(isFrequent && { [faultsMetric.frequentName]: times }),
  });
}
