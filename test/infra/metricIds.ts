import { type Expression, type MetricId, metricsOf } from '../../infra/local/assembly/monitoring/expression.ts';
import type { MonitoringModel } from '../../infra/local/assembly/monitoring/monitoringModel.ts';
import type { Query } from '../../infra/local/assembly/monitoring/query.ts';

/**
 * Returns the id of each metric in graphs and alarms once. For a query or a search, the id contains only the
 * dimensions that it fixes.
 */
export function metricIdsOf({ rows, alarms }: Pick<MonitoringModel, 'rows' | 'alarms'>): MetricId[] {
  const sources: readonly (Expression | Query)[] = [
    ...rows.flatMap(({ graphs }) => graphs.flatMap(({ series }) => series.map(({ source }) => source))),
    ...alarms.map(({ source }) => source),
  ];
  const ids = sources.flatMap((source): MetricId[] => {
    if (source.kind === 'query') return [{ namespace: source.namespace, name: source.name, dimensions: source.where }];
    return metricsOf(source).map(({ metric }) => metric);
  });
  return [...new Map(ids.map((id) => [JSON.stringify(id), id])).values()];
}
