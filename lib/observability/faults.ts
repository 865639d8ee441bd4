import type { Dependency } from './dependencies.ts';
import { METRICS_NAMESPACE, writeCounts } from './metricsWriter.ts';

/**
 * The metrics of faults: answers of 500 or above, and failures of workers. `name` counts all faults, for graphs. `frequentName` is
 * for alarms.
 */
export const faultsMetric = {
  namespace: METRICS_NAMESPACE,
  name: 'Faults',
  /** Counts the faults of a function instance while at least 1 % of its recent calls are faults (`FaultShare`). */
  frequentName: 'FrequentFaults',
  dimensions: ['service', 'family', 'endpoint'],
  workerDimensions: ['service', 'worker'],
} as const;

/** The metric of invocations in which a dependency fails, from instances in which it fails in at least 1 % of them. */
export const dependencyMetric = { name: 'DependencyFaults', dimension: 'dependency' } as const;

/** Counts an answer of 500 or above. An endpoint without faults writes no metric, so its metrics cost nothing. */
export function countFault(service: string, family: string, endpoint: string, isFrequent: boolean): void {
  countFaults(service, { family, endpoint }, 1, isFrequent);
}

/** Counts the failures of a worker in one run. Writes nothing if `times` is 0. */
export function countWorkerFaults(service: string, worker: string, times: number, isFrequent: boolean): void {
  if (times > 0) countFaults(service, { worker }, times, isFrequent);
}

/** Counts one invocation for each dependency that failed in it. Writes nothing without any. */
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
