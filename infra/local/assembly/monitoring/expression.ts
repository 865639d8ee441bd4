import { Scanner, UnsupportedDefinition } from '../scanner.ts';

export interface MetricStatistic {
  readonly kind: 'metric';
  readonly metric: MetricId;
  readonly statistic: Statistic;
}

/** Metric math. Its value in a time window is a number, or missing. */
export type Expression =
  | MetricStatistic
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'fill'; readonly of: Expression; readonly value: number }
  | { readonly kind: 'maximum'; readonly of: readonly Expression[] }
  | { readonly kind: 'operation'; readonly operator: Operator; readonly left: Expression; readonly right: Expression };

export type Operator = '>=' | '+' | '-' | '*' | '/';

/** Finds a metric of the same graph or alarm by its id. */
export type Ids = (id: string) => MetricStatistic | undefined;

/** By precedence: operators of a later list bind more tightly. */
const levels: readonly (readonly Operator[])[] = [['>='], ['+', '-'], ['*', '/']];

/**
 * Parses numbers, ids, `+ - * /`, `>=`, parentheses, `FILL(…, number)` and `MAX([…, …])`. Throws UnsupportedDefinition
 * for all else, because a guess could give other values than CloudWatch.
 */
export function readExpression(text: string, ids: Ids): Expression {
  const scanner = new Scanner(text, /\s*([A-Za-z_]\w*|\d+(?:\.\d+)?|>=|[-+*/()[\],])/y);
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
  if (!metric) throw scanner.problem(`"${token}" is unknown`);
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
    // CloudWatch does not document how MAX treats missing data.
    if (of.some(mayLack)) throw scanner.problem('MAX of a value that may be missing: FILL it');
    return { kind: 'maximum', of };
  }
  throw scanner.problem(`"${name}" is not a known function`);
}

function numberOf(scanner: Scanner): number {
  const token = scanner.take();
  if (!/^\d/.test(token)) throw scanner.problem(`"${token}" is not a number`);
  return Number(token);
}

function mayLack(expression: Expression): boolean {
  if (expression.kind === 'operation') return mayLack(expression.left) || mayLack(expression.right);
  return expression.kind !== 'fill' && expression.kind !== 'number';
}

export function metricsOf(expression: Expression): MetricStatistic[] {
  switch (expression.kind) {
    case 'metric':
      return [expression];
    case 'number':
      return [];
    case 'fill':
      return metricsOf(expression.of);
    case 'maximum':
      return expression.of.flatMap(metricsOf);
    case 'operation':
      return [...metricsOf(expression.left), ...metricsOf(expression.right)];
  }
}

/** Reads `Sum`, `Maximum` or a percentile such as `p99`. Throws UnsupportedDefinition for others. */
export function readStatistic(name: string): Statistic {
  if (name === 'Sum' || name === 'Maximum') return name;
  const [, percentile] = /^p(\d{1,2}(?:\.\d+)?)$/.exec(name) ?? [];
  if (percentile === undefined) throw new UnsupportedDefinition(`the statistic "${name}"`);
  return { percentile: Number(percentile) };
}

export interface MetricId {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
}

export type Statistic = 'Sum' | 'Maximum' | { readonly percentile: number };
