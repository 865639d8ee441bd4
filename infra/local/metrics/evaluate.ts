import type { Expression, Operator } from '../assembly/monitoring/expression.ts';
import { type Query, selects } from '../assembly/monitoring/query.ts';
import type { MetricStore } from './metricStore.ts';
import type { Series, Window } from './series.ts';

export type Values = (window: Window) => number | undefined;

/** The series of an expression, looked up once for many windows. */
export interface Bound {
  readonly valueIn: Values;
  /** The last bucket with a measurement, or -1. */
  readonly latest: number;
}

const operations: Readonly<Record<Operator, (left: number, right: number) => number>> = {
  '>=': (left, right) => (left >= right ? 1 : 0),
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
};

/** An operation has no data if an operand has none, or if it divides by zero. */
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

/** Returns the sum of the series of each group. Without `GROUP BY`, all series are in the group ''. */
export function bindQuery(query: Query, store: MetricStore): Map<string, Bound> {
  const { namespace, name, groupBy } = query;
  const selected = store.named(namespace, name).filter(({ metric }) => selects(query, metric));
  const groups = Map.groupBy(selected, ({ metric }) =>
    groupBy === undefined ? '' : (metric.dimensions[groupBy] ?? ''),
  );
  return new Map([...groups].map(([group, series]) => [group, sumOf(series)]));
}

/** The sum has no value in a window in which no series has data. */
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
