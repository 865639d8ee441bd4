import { type Expression, type Ids, type MetricStatistic, readExpression, readStatistic } from './expression.ts';
import { isQuery, type Query, readQuery } from './query.ts';
import { NotUnderstood } from './scanner.ts';
import type { MetricId } from './series.ts';

/** The dimension that own metrics have for the service's name, which the local run may call otherwise than the template does. */
const SERVICE = 'service';

/** A metric's statistic, as templates define it. */
export function metricStatistic(
  { namespace, name, dimensions }: MetricId,
  statistic: unknown,
  serviceName: string | undefined,
): MetricStatistic {
  return {
    kind: 'metric',
    metric: { namespace, name, dimensions: renamed(dimensions, serviceName) },
    statistic: readStatistic(String(statistic)),
  };
}

/** What an expression of a template says. */
export function expressionOrQuery(text: string, ids: Ids, serviceName: string | undefined): Expression | Query {
  if (!isQuery(text)) return readExpression(text, ids);
  const query = readQuery(text);
  return { ...query, where: renamed(query.where, serviceName) };
}

function renamed(dimensions: MetricId['dimensions'], serviceName: string | undefined): MetricId['dimensions'] {
  return serviceName === undefined || dimensions[SERVICE] === undefined
    ? dimensions
    : { ...dimensions, [SERVICE]: serviceName };
}

/** Refuses properties that are not among the known ones: they would change what is shown. */
export function refuseOthers(given: object, known: readonly string[], owner: string): void {
  const strange = Object.keys(given).find((name) => !known.includes(name));
  if (strange !== undefined) throw new NotUnderstood(`"${strange}" of ${owner}`);
}
