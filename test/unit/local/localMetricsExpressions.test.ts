import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type MetricId, type Operator, readExpression } from '../../../infra/local/assembly/monitoring/expression.ts';
import { readQuery } from '../../../infra/local/assembly/monitoring/query.ts';
import { bind, bindQuery } from '../../../infra/local/metrics/evaluate.ts';
import { MetricStore } from '../../../infra/local/metrics/metricStore.ts';
import { bucketAt } from '../../../infra/local/metrics/series.ts';
import { testProperty } from '../../support/testProperty.ts';

const START = Date.UTC(2026, 0, 1);
const NOW = { from: bucketAt(START), to: bucketAt(START) };

function storeWith(...measured: readonly (readonly [MetricId, number])[]): MetricStore {
  const store = new MetricStore(() => START);
  for (const [metric, value] of measured) store.add(metric, value);
  return store;
}

const metricOf = (name: string): MetricId => ({ namespace: 'Test', name, dimensions: {} });
/**
 * Evaluates an expression. Each metric has the id that is also its name, and a value. `allowedIds` are the ids that
 * the expression may use.
 */
function valueOf(text: string, values: Readonly<Record<string, number>>): number | undefined {
  const expression = readExpression(text, (id) =>
    ['a', 'b', 'c'].includes(id) ? { kind: 'metric', metric: metricOf(id), statistic: 'Sum' } : undefined,
  );
  return bind(
    expression,
    storeWith(...Object.entries(values).map(([name, value]) => [metricOf(name), value] as const)),
  ).valueIn(NOW);
}

describe('readExpression', () => {
  test.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['10 - 3 - 2', 5],
    ['10 - (3 - 2)', 9],
    ['8 / 4 / 2', 1],
    ['2 * 3 + 4 * 5', 26],
    ['0.125 * (a + b)', 0.625],
    ['100*a/(a+b)', 40],
    [' a ', 2],
    ['MAX([FILL(a, 0), FILL(b, 0)])', 3],
    ['MAX([1, 2.5, FILL(b, 0)]) * 2', 6],
    ['FILL(a + b, 0)', 5],
  ])('evaluates %s', (text, expected) => {
    expect(valueOf(text, { a: 2, b: 3 })).toBe(expected);
  });

  type Tree = number | { readonly operator: Operator; readonly left: Tree; readonly right: Tree };
  const strength: Record<Operator, number> = { '>=': 0, '+': 1, '-': 1, '*': 2, '/': 2 };
  const { tree } = fc.letrec<{ tree: Tree; leaf: number; node: Tree }>((tie) => ({
    tree: fc.oneof({ maxDepth: 5 }, tie('leaf'), tie('node')),
    leaf: fc.integer({ min: 0, max: 999 }).map((tenths) => tenths / 10),
    node: fc.record({
      operator: fc.constantFrom<Operator>('>=', '+', '-', '*', '/'),
      left: tie('tree'),
      right: tie('tree'),
    }),
  }));
  const compute = (each: Tree): number => {
    if (typeof each === 'number') return each;
    const [left, right] = [compute(each.left), compute(each.right)];
    if (each.operator === '>=') return left >= right ? 1 : 0;
    if (each.operator === '+') return left + right;
    if (each.operator === '-') return left - right;
    return each.operator === '*' ? left * right : left / right;
  };
  /** Writes an expression with only the necessary parentheses. */
  const write = (each: Tree, least = 0): string => {
    if (typeof each === 'number') return String(each);
    const own = strength[each.operator];
    const text = `${write(each.left, own)} ${each.operator} ${write(each.right, own + 1)}`;
    return own < least ? `(${text})` : text;
  };
  const finite = (each: Tree): boolean =>
    Number.isFinite(compute(each)) && (typeof each === 'number' || (finite(each.left) && finite(each.right)));

  testProperty(
    'follows the precedence of arithmetic',
    [tree],
    (each) => {
      expect(valueOf(write(each), {})).toBe(finite(each) ? compute(each) : undefined);
    },
    { numRuns: 300 },
  );

  test.each([
    ['a +', 'something is missing at the end'],
    ['a b', '"b" is left over'],
    ['(a', ') is missing at the end'],
    ['x', '"x" is unknown'],
    ['a ^ 2', '"^ 2" cannot be read'],
    ['FILL(a)', '")" is in the place of ,'],
    ['FILL(a, REPEAT)', '"REPEAT" is not a number'],
    ['MAX(a)', '"a" is in the place of ['],
    ['MAX([a, FILL(b, 0)])', 'MAX of a value that may be missing'],
    ["SEARCH('{N,D} m', 'Sum', 300)", `"'{N,D} m', 'Sum', 300)" cannot be read`],
    ['SUM([a, b])', '"SUM" is not a known function'],
  ])('refuses %j, and quotes it', (text, problem) => {
    expect(() => valueOf(text, {})).toThrow(problem);
    expect(() => valueOf(text, {})).toThrow(`in: ${text}`);
  });
});

describe('readQuery', () => {
  const text =
    "SELECT SUM(Faults) FROM SCHEMA(\"Own\", service, family, endpoint) WHERE service = 'svc' AND family = 'v2/auth' GROUP BY endpoint ORDER BY SUM() DESC";
  const faults = (family: string, endpoint: string, service = 'svc'): MetricId => ({
    namespace: 'Own',
    name: 'Faults',
    dimensions: { service, family, endpoint },
  });
  const groups = (...measured: readonly (readonly [MetricId, number])[]) => groupsOf(text, ...measured);
  const groupsOf = (query: string, ...measured: readonly (readonly [MetricId, number])[]) =>
    Object.fromEntries(
      [...bindQuery(readQuery(query), storeWith(...measured))].map(([group, { valueIn }]) => [group, valueIn(NOW)]),
    );

  test('adds up the selected series by group', () => {
    expect(
      groups(
        [faults('v2/auth', 'get'), 2],
        [faults('v2/auth', 'get'), 1],
        [faults('v2/auth', 'add'), 1],
        [faults('v2/users', 'get'), 10],
        [faults('v2/auth', 'get', 'other'), 100],
        [{ namespace: 'Own', name: 'Faults', dimensions: { service: 'svc', worker: 'get' } }, 1_000],
        [{ ...faults('v2/auth', 'get'), namespace: 'Other' }, 10_000],
        [{ ...faults('v2/auth', 'get'), name: 'Calls' }, 100_000],
      ),
    ).toEqual({ get: 3, add: 1 });
    expect(groups()).toEqual({});
  });

  test('adds up all selected series without groups', () => {
    const query = 'SELECT SUM(Faults) FROM SCHEMA("Own", service, family, endpoint)';
    expect(groupsOf(query, [faults('v2/auth', 'get'), 2], [faults('v2/users', 'get'), 10])).toEqual({ '': 12 });
  });

  test.each([
    ['another function', text.replace('SUM(Faults)', 'AVG(Faults)'), '"AVG" is in the place of SUM'],
    ['another order', text.replace('DESC', 'ASC'), '"ASC" is in the place of DESC'],
    ['a limit', `${text} LIMIT 5`, '"LIMIT 5" is left over'],
    ['no group', text.replace('GROUP BY endpoint ', ''), '"ORDER BY SUM ( ) DESC" is left over'],
    ['a condition other than an equality', text.replace('service =', 'service !='), 'cannot be read'],
    ['no quotes', text.replace("'svc'", 'svc'), '"svc" is in the place of \'…\''],
    [
      'a dimension that is not in the schema',
      text.replace('BY endpoint', 'BY worker'),
      '"worker" is not in the SCHEMA',
    ],
    ['an alternative', text.replace('AND', 'OR'), 'is left over'],
  ])('refuses %s', (_what, query, problem) => {
    expect(() => readQuery(query)).toThrow(problem);
    expect(() => readQuery(query)).toThrow(`in: ${query}`);
  });
});
