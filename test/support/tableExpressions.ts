/** Evaluates DynamoDB expressions on items in memory. */

export type Item = Record<string, any>;
type Value = unknown;
/** An item, or the values of the placeholders in an expression. */
interface Scope {
  readonly item: Item | undefined;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Item;
}
type Reader = (scope: Scope) => Value;
type Test = (scope: Scope) => boolean;
type Change = (scope: Scope, next: Item) => void;

interface Placeholders {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
}

const tests = new Map<string, Test>();
const changes = new Map<string, Change>();

/** Returns whether an item fulfils a condition. The item may be missing. */
export function matches(expression: string, item: Item | undefined, placeholders: Placeholders): boolean {
  let test = tests.get(expression);
  if (!test) tests.set(expression, (test = new Parser(expression).condition()));
  return test(scopeOf(item, placeholders));
}

/** Returns the item that results from an update expression. */
export function updated(expression: string, item: Item, placeholders: Placeholders): Item {
  let change = changes.get(expression);
  if (!change) changes.set(expression, (change = new Parser(expression).update()));
  const next = structuredClone(item);
  change(scopeOf(item, placeholders), next);
  return next;
}

function scopeOf(
  item: Item | undefined,
  { ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {} }: Placeholders,
): Scope {
  return { item, names, values };
}

const comparisons: Readonly<Record<string, (a: any, b: any) => boolean>> = {
  '=': (a, b) => a === b,
  '<>': (a, b) => a !== b,
  '<': (a, b) => compareValues(a, b) < 0,
  '<=': (a, b) => compareValues(a, b) <= 0,
  '>': (a, b) => compareValues(a, b) > 0,
  '>=': (a, b) => compareValues(a, b) >= 0,
};

/** Compares texts by their bytes in UTF-8, as DynamoDB does. JavaScript compares UTF-16. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}

const SURROGATE = /[\ud800-\udfff]/;

function compareValues(a: any, b: any): number {
  return typeof a === 'string' ? compareTexts(a, b) : a - b;
}

class Parser {
  readonly #tokens: string[];
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = text.match(/[#:]?[A-Za-z_][\w]*|<=|>=|<>|[=<>(),.+-]/g) ?? [];
  }

  condition(): Test {
    const test = this.#or();
    if (this.#tokens.length > 0) throw this.#problem();
    return test;
  }

  update(): Change {
    const all: Change[] = [];
    while (this.#tokens.length > 0) {
      const clause = this.#take().toUpperCase();
      do all.push(this.#clause(clause));
      while (this.#skip(','));
    }
    return (scope, next) => all.forEach((change) => change(scope, next));
  }

  #clause(clause: string): Change {
    const path = this.#path();
    if (clause === 'REMOVE') return (scope, next) => write(next, path(scope), undefined);
    if (clause === 'ADD') {
      const by = this.#operand();
      return (scope, next) => write(next, path(scope), Number(read(scope.item, path(scope)) ?? 0) + Number(by(scope)));
    }
    if (clause !== 'SET' || !this.#skip('=')) throw this.#problem();
    const first = this.#operand();
    const sign = this.#skip('+') ? 1 : this.#skip('-') ? -1 : 0;
    if (sign === 0) return (scope, next) => write(next, path(scope), first(scope));
    const second = this.#operand();
    return (scope, next) => write(next, path(scope), Number(first(scope)) + sign * Number(second(scope)));
  }

  #or(): Test {
    const first = this.#and();
    if (!this.#skip('OR')) return first;
    const right = this.#or();
    return (scope) => first(scope) || right(scope);
  }

  #and(): Test {
    const first = this.#single();
    if (!this.#skip('AND')) return first;
    const right = this.#and();
    return (scope) => first(scope) && right(scope);
  }

  #single(): Test {
    if (this.#skip('NOT')) {
      const test = this.#single();
      return (scope) => !test(scope);
    }
    if (this.#skip('(')) {
      const test = this.#or();
      this.#expect(')');
      return test;
    }
    const call = /^(attribute_exists|attribute_not_exists|begins_with|contains)$/.exec(this.#tokens[0] ?? '')?.[0];
    if (call !== undefined) return this.#call(call);
    const left = this.#operand();
    if (this.#skip('BETWEEN')) {
      const from = this.#operand();
      this.#expect('AND');
      const to = this.#operand();
      return (scope) => compareValues(left(scope), from(scope)) >= 0 && compareValues(left(scope), to(scope)) <= 0;
    }
    const compare = comparisons[this.#take()];
    if (!compare) throw this.#problem();
    const right = this.#operand();
    return (scope) => {
      const [a, b] = [left(scope), right(scope)];
      return a !== undefined && b !== undefined && compare(a, b);
    };
  }

  #call(name: string): Test {
    this.#take();
    this.#expect('(');
    const path = this.#path();
    const readValue: Reader = (scope) => read(scope.item, path(scope));
    if (name.startsWith('attribute')) {
      this.#expect(')');
      return (scope) => (readValue(scope) !== undefined) === (name === 'attribute_exists');
    }
    this.#expect(',');
    const part = this.#operand();
    this.#expect(')');
    if (name === 'begins_with')
      return (scope) => (readValue(scope) as string | undefined)?.startsWith(part(scope) as string) ?? false;
    return (scope) =>
      (readValue(scope) as { includes(part: unknown): boolean } | undefined)?.includes(part(scope)) ?? false;
  }

  #operand(): Reader {
    const [token = ''] = this.#tokens;
    if (token.startsWith(':')) {
      this.#take();
      return ({ values }) => values[token];
    }
    if (token === 'if_not_exists' || token === 'list_append') {
      this.#take();
      this.#expect('(');
      const first = this.#operand();
      this.#expect(',');
      const second = this.#operand();
      this.#expect(')');
      if (token === 'if_not_exists') return (scope) => first(scope) ?? second(scope);
      return (scope) => [...(first(scope) as unknown[]), ...(second(scope) as unknown[])];
    }
    const path = this.#path();
    return (scope) => read(scope.item, path(scope));
  }

  #path(): (scope: Scope) => string[] {
    const parts = [this.#take()];
    while (this.#skip('.')) parts.push(this.#take());
    return ({ names }) => parts.map((part) => (part.startsWith('#') ? names[part]! : part));
  }

  #take(): string {
    const token = this.#tokens.shift();
    if (token === undefined) throw this.#problem();
    return token;
  }

  #skip(token: string): boolean {
    if (this.#tokens[0]?.toUpperCase() !== token) return false;
    this.#tokens.shift();
    return true;
  }

  #expect(token: string): void {
    if (!this.#skip(token)) throw this.#problem();
  }

  #problem(): Error {
    return new Error(`The table in memory cannot read the expression ${this.#text}`);
  }
}

function read(item: Item | undefined, path: readonly string[]): Value {
  return path.reduce<any>((value, name) => value?.[name], item);
}

function write(item: Item, path: readonly string[], value: Value): void {
  const parent = read(item, path.slice(0, -1)) as Item;
  if (value === undefined) Reflect.deleteProperty(parent, path.at(-1)!);
  else parent[path.at(-1)!] = value;
}
