import { NotUnderstood, Scanner } from './scanner.ts';
import type { MetricId, Statistic } from './series.ts';
import { type Search, searchOf } from './search.ts';

/** A metric and what is made of its measurements. */
export interface MetricStatistic {
  readonly kind: 'metric';
  readonly metric: MetricId;
  readonly statistic: Statistic;
}

/** A number for each window, or none where something is missing. */
export type Expression =
  | MetricStatistic
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'fill'; readonly of: Expression; readonly value: number }
  | { readonly kind: 'maximum'; readonly of: readonly Expression[] }
  | { readonly kind: 'sum'; readonly of: Search }
  | { readonly kind: 'operation'; readonly operator: Operator; readonly left: Expression; readonly right: Expression };

export type Operator = '+' | '-' | '*' | '/';

/** What the ids of a graph or an alarm stand for; undefined if there is no such id. */
export type Ids = (id: string) => MetricStatistic | undefined;

/** Operators by how strongly they bind, the weakest first. */
const levels: readonly (readonly Operator[])[] = [
  ['+', '-'],
  ['*', '/'],
];

/**
 * Reads metric math: numbers, ids, `+ - * /`, parentheses, `FILL(…, 0)`, `MAX([…, …])` and `SUM(SEARCH(…))`. Throws NotUnderstood on anything
 * else, so that nothing is evaluated otherwise than CloudWatch would.
 */
export function readExpression(text: string, ids: Ids): Expression {
  const scanner = new Scanner(text, /\s*([A-Za-z_]\w*|\d+(?:\.\d+)?|'[^']*'|[-+*/()[\],])/y);
  const expression = operation(scanner, ids);
  scanner.end();
  return expression;
}

function operation(scanner: Scanner, ids: Ids, level = 0): Expression {
  const operators = levels[level];
  if (!operators) return term(scanner, ids);
  let left = operation(scanner, ids, level + 1);
  for (let operator = scanner.takeOneOf(operators); operator; operator = scanner.takeOneOf(operators)) {
    left = { kind: 'operation', operator, left, right: operation(scanner, ids, level + 1) };
  }
  return left;
}

function term(scanner: Scanner, ids: Ids): Expression {
  if (scanner.takeOneOf(['('])) {
    const inner = operation(scanner, ids);
    scanner.take(')');
    return inner;
  }
  const token = scanner.take();
  if (/^\d/.test(token)) return { kind: 'number', value: Number(token) };
  if (scanner.takeOneOf(['('])) {
    const made = call(token, scanner, ids);
    scanner.take(')');
    return made;
  }
  const metric = /^\w/.test(token) ? ids(token) : undefined;
  if (!metric) throw scanner.problem(`"${token}" is nothing that is known`);
  return metric;
}

function call(name: string, scanner: Scanner, ids: Ids): Expression {
  if (name === 'FILL') {
    const of = operation(scanner, ids);
    scanner.take(',');
    return { kind: 'fill', of, value: numberOf(scanner) };
  }
  if (name === 'MAX') {
    scanner.take('[');
    const of = [operation(scanner, ids)];
    while (scanner.takeOneOf([','])) of.push(operation(scanner, ids));
    scanner.take(']');
    // What CloudWatch makes of a gap in one of them is told nowhere.
    if (of.some(mayLack)) throw scanner.problem('MAX of what may be missing: FILL it');
    return { kind: 'maximum', of };
  }
  if (name === 'SUM') {
    scanner.take('SEARCH');
    scanner.take('(');
    const terms = scanner.take();
    scanner.take(',');
    const statistic = scanner.take();
    scanner.take(',');
    // The period: whoever evaluates chooses another for all that is in a graph.
    numberOf(scanner);
    scanner.take(')');
    if (statistic !== "'Sum'") throw scanner.problem(`SEARCH with the statistic ${statistic}`);
    return { kind: 'sum', of: searchOf(terms, scanner) };
  }
  throw scanner.problem(`"${name}" is no function that is known`);
}

function numberOf(scanner: Scanner): number {
  const token = scanner.take();
  if (!/^\d/.test(token)) throw scanner.problem(`"${token}" is no number`);
  return Number(token);
}

function mayLack(expression: Expression): boolean {
  return expression.kind !== 'fill' && expression.kind !== 'number';
}

/** The metrics that an expression is made of, and what it searches for. */
export function partsOf(expression: Expression): (MetricStatistic | Search)[] {
  switch (expression.kind) {
    case 'metric':
      return [expression];
    case 'number':
      return [];
    case 'fill':
      return partsOf(expression.of);
    case 'maximum':
      return expression.of.flatMap(partsOf);
    case 'sum':
      return [expression.of];
    case 'operation':
      return [...partsOf(expression.left), ...partsOf(expression.right)];
  }
}

/** The statistic of this name. */
export function readStatistic(name: string): Statistic {
  if (name === 'Sum' || name === 'Maximum') return name;
  const [, percentile] = /^p(\d{1,2}(?:\.\d+)?)$/.exec(name) ?? [];
  if (percentile === undefined) throw new NotUnderstood(`the statistic "${name}"`);
  return { percentile: Number(percentile) };
}
