import type { Expression, Operator } from '../assembly/monitoring/expression.ts';
import { type Query, selects } from '../assembly/monitoring/query.ts';
import type { MetricStore } from './metricStore.ts';
import type { Series, Window } from './series.ts';

/** Returns the value of an expression in a time window. Returns undefined if data is missing. */
export type Values = (window: Window) => number | undefined;

/**
 * A metric expression whose series have been looked up in the store. Its value can be computed for many windows without
 * looking them up again.
 */
export interface Bound {
  readonly valueIn: Values;
  /** The last bucket in which a metric of the expression has a measurement. The value is -1 if no metric has one. */
  readonly latest: number;
}

const operations: Readonly<Record<Operator, (left: number, right: number) => number>> = {
  '>=': (left, right) => (left >= right ? 1 : 0),
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
};

/**
 * Finds the series of an expression. An operation has no data if an operand has none, or if it divides by zero. `FILL`
 * replaces missing data by a value.
 */
export function bind(expression: Expression, store: MetricStore): Bound {
  switch (expression.kind) {
    case 'metric': {
      const series = store.find(expression.metric);
      return { valueIn: (window) => series?.statistic(expression.statistic, window), latest: series?.latest ?? -1 };
    }
    case 'number':
      return { valueIn: () => expression.value, latest: -1 };
    case 'fill': {
      const { valueIn, latest } = bind(expression.of, store);
      return { valueIn: (window) => valueIn(window) ?? expression.value, latest };
    }
    case 'maximum': {
      const all = expression.of.map((each) => bind(each, store));
      return {
        valueIn: (window) => Math.max(...all.map(({ valueIn }) => valueIn(window) ?? NaN)),
        latest: Math.max(...all.map(({ latest }) => latest)),
      };
    }
    case 'operation': {
      const [left, right] = [bind(expression.left, store), bind(expression.right, store)];
      const operate = operations[expression.operator];
      const valueIn: Values = (window) => {
        const [a, b] = [left.valueIn(window), right.valueIn(window)];
        const result = a === undefined || b === undefined ? NaN : operate(a, b);
        return Number.isFinite(result) ? result : undefined;
      };
      return { valueIn, latest: Math.max(left.latest, right.latest) };
    }
  }
}

/** Finds the series of a query, by group. A query without `GROUP BY` has one group with the name ''. */
export function bindQuery(query: Query, store: MetricStore): Map<string, Bound> {
  const { namespace, name, groupBy } = query;
  const selected = store.named(namespace, name).filter(({ metric }) => selects(query, metric));
  const groups = Map.groupBy(selected, ({ metric }) =>
    groupBy === undefined ? '' : (metric.dimensions[groupBy] ?? ''),
  );
  return new Map([...groups].map(([group, series]) => [group, sumOf(series)]));
}

/** Returns the sum of several series. In a window in which no series has data, the sum has no value. */
function sumOf(all: readonly Series[]): Bound {
  const valueIn: Values = (window) => {
    let sum: number | undefined;
    for (const series of all) {
      const value = series.statistic('Sum', window);
      if (value !== undefined) sum = (sum ?? 0) + value;
    }
    return sum;
  };
  return { valueIn, latest: Math.max(-1, ...all.map(({ latest }) => latest)) };
}
