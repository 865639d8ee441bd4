import { Scanner } from '../scanner.ts';
import type { MetricId } from './expression.ts';

/**
 * Selects the metrics with this namespace and name, exactly the dimensions `dimensionNames`, and the values that
 * `where` has for some of them. The result is one sum for each value of the dimension `groupBy`, or one sum if
 * `groupBy` is undefined.
 */
export interface Query {
  readonly kind: 'query';
  readonly namespace: string;
  readonly name: string;
  readonly dimensionNames: readonly string[];
  readonly where: Readonly<Record<string, string>>;
  readonly groupBy: string | undefined;
}

export function isQuery(text: string): boolean {
  return text.trimStart().startsWith('SELECT ');
}

/**
 * Parses `SELECT SUM(name) FROM SCHEMA("Namespace", dimension, …)`, optionally with `WHERE dimension = 'value' AND …`
 * and `GROUP BY dimension ORDER BY SUM() DESC`. Throws UnsupportedDefinition for all else.
 */
export function readQuery(text: string): Query {
  const scanner = new Scanner(text, /\s*(\w+|"[^"]*"|'[^']*'|[(),=])/y);
  const take = (...tokens: string[]) => {
    for (const token of tokens) scanner.take(token);
  };
  const name = (token: string) => {
    if (!/^\w+$/.test(token)) throw scanner.problem(`"${token}" is not a name`);
    return token;
  };
  const quoted = (mark: string) => {
    const token = scanner.take();
    if (!token.startsWith(mark)) throw scanner.problem(`"${token}" is in the place of ${mark}…${mark}`);
    return token.slice(1, -1);
  };
  take('SELECT', 'SUM', '(');
  const metric = name(scanner.take());
  take(')', 'FROM', 'SCHEMA', '(');
  const namespace = quoted('"');
  const dimensionNames: string[] = [];
  while (scanner.takeOneOf([','])) dimensionNames.push(name(scanner.take()));
  take(')');
  const where: Record<string, string> = {};
  for (let more: string | undefined = scanner.takeOneOf(['WHERE']); more; more = scanner.takeOneOf(['AND'])) {
    const dimension = name(scanner.take());
    take('=');
    where[dimension] = quoted("'");
  }
  let groupBy: string | undefined;
  if (scanner.takeOneOf(['GROUP'])) {
    take('BY');
    groupBy = name(scanner.take());
    take('ORDER', 'BY', 'SUM', '(', ')', 'DESC');
  }
  scanner.end();
  const unsupported = [...Object.keys(where), groupBy].find(
    (dimension) => dimension !== undefined && !dimensionNames.includes(dimension),
  );
  if (unsupported !== undefined) throw scanner.problem(`"${unsupported}" is not in the SCHEMA`);
  return { kind: 'query', namespace, name: metric, dimensionNames, where, groupBy };
}

/** Compares the dimensions only: the caller has compared namespace and name. */
export function selects({ dimensionNames, where }: Query, { dimensions }: MetricId): boolean {
  return (
    hasExactly(dimensions, dimensionNames) &&
    Object.entries(where).every(([dimension, value]) => dimensions[dimension] === value)
  );
}

function hasExactly(dimensions: MetricId['dimensions'], names: readonly string[]): boolean {
  return Object.keys(dimensions).length === names.length && names.every((name) => dimensions[name] !== undefined);
}
