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

const SERVICE = 'service';

/**
 * `serviceName` replaces the value of the dimension `service`, if the local run has another service name than the
 * template.
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

export function expressionOrQuery(text: string, ids: Ids, serviceName: string | undefined): Expression | Query {
  return isQuery(text) ? serviceQuery(text, serviceName) : readExpression(text, ids);
}

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
 * Throws UnsupportedDefinition for a property that is not supported, because ignoring it could make the result wrong.
 */
export function requireSupported(definition: object, supported: readonly string[], owner: string): void {
  const unsupported = Object.keys(definition).find((name) => !supported.includes(name));
  if (unsupported !== undefined) throw new UnsupportedDefinition(`"${unsupported}" of ${owner}`);
}
