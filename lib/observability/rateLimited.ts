import { METRICS_NAMESPACE, writeCounts } from './metricsWriter.ts';

/** The classes of calls with a rate limit. `source` stands for the limits of source addresses. */
export const limitedClasses = ['read', 'write', 'expensive', 'source'] as const;
export type LimitedClass = (typeof limitedClasses)[number];

/**
 * The metric of calls that were refused by a rate limit. The API key is no dimension, because CloudWatch charges for each value. The
 * log line of the call names it.
 */
export const rateLimitedMetric = {
  namespace: METRICS_NAMESPACE,
  name: 'RateLimitedCalls',
  dimensions: ['service', 'limitedClass'],
} as const;

/** Counts a call that a rate limit refused. */
export function countRateLimited(service: string, limitedClass: LimitedClass): void {
  writeCounts(service, { limitedClass }, { [rateLimitedMetric.name]: 1 });
}
