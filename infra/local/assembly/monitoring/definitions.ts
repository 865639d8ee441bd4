import { UnsupportedDefinition } from '../scanner.ts';
import {
  type Expression,
  type Ids,
  type MetricId,
  type MetricStatistic,
  readExpression,
  readStatistic,
} from './expression.ts';
import { isQuery, type Query, readQuery } from './query.ts';

/**
 * The dimension that contains the name of the service. The name in a local run can differ from the name in the
 * template.
 */
const SERVICE = 'service';

/**
 * Returns a metric with its statistic, as a template defines them. `serviceName` replaces the value of the dimension
 * `service`.
 */
export function metricStatistic(
  { namespace, name, dimensions }: MetricId,
  statistic: unknown,
  serviceName: string | undefined,
): MetricStatistic {
  return {
    kind: 'metric',
    metric: { namespace, name, dimensions: withServiceName(dimensions, serviceName) },
    statistic: readStatistic(String(statistic)),
  };
}

/**
 * Reads an expression or a query of a template. `serviceName` replaces the value of the dimension `service` in a query.
 */
export function expressionOrQuery(text: string, ids: Ids, serviceName: string | undefined): Expression | Query {
  return isQuery(text) ? serviceQuery(text, serviceName) : readExpression(text, ids);
}

/** Reads a query of a template. `serviceName` replaces the value of the dimension `service`. */
export function serviceQuery(text: string, serviceName: string | undefined): Query {
  const query = readQuery(text);
  return { ...query, where: withServiceName(query.where, serviceName) };
}

function withServiceName(dimensions: MetricId['dimensions'], serviceName: string | undefined): MetricId['dimensions'] {
  return serviceName === undefined || dimensions[SERVICE] === undefined
    ? dimensions
    : { ...dimensions, [SERVICE]: serviceName };
}

/**
 * Throws UnsupportedDefinition if an object has a property that is not supported. The result would be wrong without
 * that property.
 */
export function requireSupported(definition: object, supported: readonly string[], owner: string): void {
  const unsupported = Object.keys(definition).find((name) => !supported.includes(name));
  if (unsupported !== undefined) throw new UnsupportedDefinition(`"${unsupported}" of ${owner}`);
}
