import { deliveryMetrics } from '../../../lib/observability/deliveryMetrics.ts';
import { limitedClasses } from '../../../lib/observability/rateLimited.ts';
import { prices } from '../../cost/prices.ts';
import type { CostLine } from './idle.ts';

/** One metric counts all faults, the other only those in function instances in which at least 1 % of the calls fail. */
const FAULT_METRICS = 2;

/**
 * Returns the cost of a month, if each metric is written in every hour. CloudWatch bills a metric only for the hours in
 * which it is written. `failing` is the number of endpoints and workers that fail.
 */
export function metricBill(failing: number): CostLine[] {
  const names = Object.values(deliveryMetrics);
  const rows = Map.groupBy(names, ({ row }) => row);
  return [
    ...[...rows].map(([row, metrics]) => line(`metrics of row "${row}" of the dashboard`, metrics.length)),
    line('metrics of rate-limited calls', limitedClasses.length),
    line(`metrics of faults of ${failing} endpoints`, failing * FAULT_METRICS),
  ];
}

function line(item: string, count: number): CostLine {
  return { item, count, dollars: count * prices.metric };
}
