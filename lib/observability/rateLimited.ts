import { METRICS_NAMESPACE, writeCounts } from './metricsWriter.ts';

/** `source` stands for the limits of source addresses. */
export const limitedClasses = ['read', 'write', 'expensive', 'source'] as const;
export type LimitedClass = (typeof limitedClasses)[number];

/** The API key is no dimension, because CloudWatch charges for each value. The log line has it. */
export const rateLimitedMetric = {
  namespace: METRICS_NAMESPACE,
  name: 'RateLimitedCalls',
  dimensions: ['service', 'limitedClass'],
} as const;

export function countRateLimited(service: string, limitedClass: LimitedClass): void {
  writeCounts(service, { limitedClass }, { [rateLimitedMetric.name]: 1 });
}
