import type { Expression, Operator } from './expression.ts';
import type { MetricStore } from './metricStore.ts';
import { type Query, selects } from './query.ts';
import type { Series, Window } from './series.ts';

/** Returns the value of an expression in a window, or undefined for missing data. */
export type Values = (window: Window) => number | undefined;

/** An expression whose series are already looked up, so that no window looks them up again. */
export interface Bound {
  readonly valueIn: Values;
  /** The last bucket in which any metric of the expression has a measurement, or -1 if there is none. */
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
 * Looks up the series of an expression. If an operand has no data, neither has the result, unless `FILL` gives the operand
 * a value. A division by zero also has no data.
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
    case 'sum':
      return sumOf(seriesOf(expression.of, store));
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

/** Looks up the series of a query by group. A query without `GROUP BY` has the single group ''. */
export function bindQuery(query: Query, store: MetricStore): Map<string, Bound> {
  const { groupBy } = query;
  const groups = Map.groupBy(seriesOf(query, store), ({ metric }) =>
    groupBy === undefined ? '' : (metric.dimensions[groupBy] ?? ''),
  );
  return new Map([...groups].map(([group, series]) => [group, sumOf(series)]));
}

function seriesOf(query: Query, store: MetricStore): Series[] {
  return store.named(query.namespace, query.name).filter(({ metric }) => selects(query, metric));
}

/** Returns the sum of several series. A window has no value if no series has data in it. */
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
