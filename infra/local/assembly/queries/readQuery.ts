import { Scanner } from '../scanner.ts';

/** A field of a nested object has a dotted name, such as `error.name`. */
export type Condition =
  | { readonly kind: 'compare'; readonly field: string; readonly operator: Comparison; readonly value: Literal }
  | { readonly kind: 'in'; readonly field: string; readonly values: readonly Literal[] }
  | { readonly kind: 'isPresent'; readonly field: string }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] };

export type Literal = string | number;
export type Comparison = (typeof comparisons)[number];

/** A number that `stats` computes for each group. `percent` is the percentile of `pct`. */
export interface Aggregate {
  readonly name: (typeof aggregates)[number];
  /** `*` counts lines. */
  readonly field: string;
  readonly percent?: number;
  readonly as: string;
}

export type Command =
  | { readonly kind: 'fields'; readonly fields: readonly string[] }
  | { readonly kind: 'filter'; readonly condition: Condition }
  | { readonly kind: 'stats'; readonly aggregates: readonly Aggregate[]; readonly by: readonly string[] }
  | { readonly kind: 'sort'; readonly field: string; readonly direction: 'asc' | 'desc' }
  | { readonly kind: 'limit'; readonly count: number };

const comparisons = ['=', '!=', '<', '<=', '>', '>='] as const;
const aggregates = ['count', 'count_distinct', 'min', 'max', 'pct'] as const;
const TOKEN = /\s*("[^"]*"|[@\w][\w.@]*|[<>!]=|[=<>(),*[\]|])/y;

/** Parses the part of Logs Insights that the saved queries use. Throws UnsupportedDefinition for other syntax. */
export function readQuery(text: string): Command[] {
  const scanner = new Scanner(text, TOKEN);
  const list = <T>(item: () => T): T[] => {
    const items = [item()];
    while (scanner.takeOneOf([','])) items.push(item());
    return items;
  };
  const field = () => {
    const token = scanner.take();
    if (!/^[@a-z_]/i.test(token)) throw scanner.problem(`"${token}" is not a field`);
    return token;
  };
  const number = () => {
    const token = scanner.take();
    if (!/^\d+(\.\d+)?$/.test(token)) throw scanner.problem(`"${token}" is not a number`);
    return Number(token);
  };
  const literal = (): Literal => {
    const token = scanner.take();
    if (token.startsWith('"')) return token.slice(1, -1);
    if (!/^\d+(\.\d+)?$/.test(token)) throw scanner.problem(`"${token}" is neither a text nor a number`);
    return Number(token);
  };
  const term = (): Condition => {
    if (scanner.takeOneOf(['('])) {
      const condition = alternatives();
      scanner.take(')');
      return condition;
    }
    const name = field();
    if (name === 'ispresent') {
      scanner.take('(');
      const of = field();
      scanner.take(')');
      return { kind: 'isPresent', field: of };
    }
    if (scanner.takeOneOf(['in'])) {
      scanner.take('[');
      const values = list(literal);
      scanner.take(']');
      return { kind: 'in', field: name, values };
    }
    const operator = scanner.takeOneOf(comparisons);
    if (!operator) throw scanner.problem(`"${scanner.take()}" is not a comparison`);
    return { kind: 'compare', field: name, operator, value: literal() };
  };
  const chain = (word: 'and' | 'or', part: () => Condition): Condition => {
    const first = part();
    const of = [first];
    while (scanner.takeOneOf([word])) of.push(part());
    return of.length === 1 ? first : { kind: word === 'and' ? 'all' : 'any', of };
  };
  const alternatives = (): Condition => chain('or', () => chain('and', term));
  const aggregate = (): Aggregate => {
    const name = scanner.takeOneOf(aggregates);
    if (!name) throw scanner.problem(`"${scanner.take()}" is not a function of stats`);
    scanner.take('(');
    const of = scanner.takeOneOf(['*']) ?? field();
    const percent = name === 'pct' ? (scanner.take(','), number()) : undefined;
    scanner.take(')');
    scanner.take('as');
    return { name, field: of, ...(percent !== undefined && { percent }), as: field() };
  };
  const command = (): Command => {
    const word = scanner.take();
    switch (word) {
      case 'fields':
        return { kind: 'fields', fields: list(field) };
      case 'filter':
        return { kind: 'filter', condition: alternatives() };
      case 'stats': {
        const computed = list(aggregate);
        return { kind: 'stats', aggregates: computed, by: scanner.takeOneOf(['by']) ? list(field) : [] };
      }
      case 'sort':
        return { kind: 'sort', field: field(), direction: scanner.takeOneOf(['asc', 'desc']) ?? 'desc' };
      case 'limit':
        return { kind: 'limit', count: number() };
      default:
        throw scanner.problem(`"${word}" is not a known command`);
    }
  };
  const commands = [command()];
  while (scanner.takeOneOf(['|'])) commands.push(command());
  scanner.end();
  return commands;
}

/** The operator replaces each text `<name>` of a filter by a value. Returns the names, each once. */
export function placeholdersOf(commands: readonly Command[]): string[] {
  const literals = commands.flatMap((command) => (command.kind === 'filter' ? literalsOf(command.condition) : []));
  const names = literals.map((value) => /^<(.+)>$/.exec(String(value))?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))];
}

/** Replaces placeholders. One without a value stays. */
export function fill(commands: readonly Command[], values: Readonly<Record<string, string>>): Command[] {
  const filled = (value: Literal) => {
    const [, name] = /^<(.+)>$/.exec(String(value)) ?? [];
    return (name !== undefined && Object.hasOwn(values, name) ? values[name] : undefined) ?? value;
  };
  const inCondition = (condition: Condition): Condition => {
    switch (condition.kind) {
      case 'compare':
        return { ...condition, value: filled(condition.value) };
      case 'in':
        return { ...condition, values: condition.values.map(filled) };
      case 'isPresent':
        return condition;
      case 'all':
      case 'any':
        return { ...condition, of: condition.of.map(inCondition) };
    }
  };
  return commands.map((each) => (each.kind === 'filter' ? { ...each, condition: inCondition(each.condition) } : each));
}

function literalsOf(condition: Condition): Literal[] {
  switch (condition.kind) {
    case 'compare':
      return [condition.value];
    case 'in':
      return [...condition.values];
    case 'isPresent':
      return [];
    case 'all':
    case 'any':
      return condition.of.flatMap(literalsOf);
  }
}

/** A line of a log: the fields of its JSON, and `@timestamp` in epoch ms. */
export type LogLine = Readonly<Record<string, unknown>>;
