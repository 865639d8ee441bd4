/** What CloudWatch would make of an alarm of the template: as much of statistics, expressions and queries as the alarms use. Anything else throws. */
import type { Resource } from './assembly.ts';

type Dimensions = Readonly<Record<string, string>>;
interface Series {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Dimensions;
  /** What was measured, by period. */
  readonly values: Map<number, number[]>;
}

/** Metrics as CloudWatch keeps them; periods are numbered. */
export class MetricStore {
  readonly series: Series[] = [];

  add(namespace: string, name: string, dimensions: Dimensions, period: number, ...values: number[]): void {
    let found = this.series.find((each) => each.namespace === namespace && each.name === name && same(each.dimensions, dimensions));
    if (!found) this.series.push((found = { namespace, name, dimensions, values: new Map() }));
    found.values.set(period, [...(found.values.get(period) ?? []), ...values]);
  }

  /** Takes the metrics of a log line in the embedded metric format, as CloudWatch does; other lines have none. */
  addLine(line: Record<string, any>, period: number): void {
    for (const { Namespace, Dimensions, Metrics } of line._aws?.CloudWatchMetrics ?? []) {
      for (const names of Dimensions as string[][]) {
        const dimensions = Object.fromEntries(names.map((name) => [name, String(line[name])]));
        for (const { Name } of Metrics) this.add(Namespace, Name, dimensions, period, ...[line[Name]].flat());
      }
    }
  }
}

const same = (a: Dimensions, b: Dimensions) => Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([name, value]) => b[name] === value);

/** The dimensions in an alarm; what only CloudFormation knows stands for itself, as JSON. */
export function dimensionsOf(given: { Name: string; Value: unknown }[] = []): Dimensions {
  return Object.fromEntries(given.map(({ Name, Value }) => [Name, typeof Value === 'string' ? Value : JSON.stringify(Value)]));
}

/** A number for each series that there is in a period, under the name of what it is grouped by, or ''. */
type Result = ReadonlyMap<string, number>;

/** The contributors that ring after a period: [''] for an alarm of one series, [] when it does not ring. */
export function ringing({ Properties }: Resource, store: MetricStore, period: number): string[] {
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, Threshold, ComparisonOperator, TreatMissingData } = Properties;
  if (DatapointsToAlarm !== EvaluationPeriods) throw new Error('M of N is not known here');
  const breaches = (value: number) => {
    if (ComparisonOperator === 'GreaterThanOrEqualToThreshold') return value >= Threshold;
    if (ComparisonOperator === 'LessThanThreshold') return value < Threshold;
    throw new Error(`${ComparisonOperator} is not known here`);
  };
  if (!['breaching', 'notBreaching'].includes(TreatMissingData)) throw new Error(`${TreatMissingData} is not known here`);
  const results = Array.from({ length: EvaluationPeriods }, (_each, n) => valueOf(Properties, store, period - n));
  const contributors = new Set(results.flatMap((result) => [...result.keys()]));
  if (contributors.size === 0) contributors.add('');
  return [...contributors].filter((name) => results.every((result) => {
    const value = result.get(name);
    return value === undefined ? TreatMissingData === 'breaching' : breaches(value);
  }));
}

function valueOf(properties: Resource['Properties'], store: MetricStore, period: number): Result {
  if (properties.Metrics === undefined) return single(statistic(store, properties, properties.Statistic ?? properties.ExtendedStatistic, period));
  const parts = properties.Metrics as { Id: string; Expression?: string; ReturnData?: boolean; Period?: number; MetricStat?: { Metric: Record<string, any>; Stat: string; Period: number } }[];
  const [returned, ...more] = parts.filter(({ ReturnData }) => ReturnData !== false);
  if (!returned?.Expression || more.length > 0) throw new Error('An alarm is on exactly one expression');
  if (returned.Expression.startsWith('SELECT')) {
    if (returned.Period !== 300) throw new Error('A query needs its period');
    return select(store, returned.Expression, period);
  }
  return single(evaluate(returned.Expression, (id) => {
    const stat = parts.find((part) => part.Id === id)?.MetricStat;
    if (!stat) throw new Error(`${id} is nothing in ${returned.Expression}`);
    return statistic(store, stat.Metric, stat.Stat, period);
  }));
}

const single = (value: number | undefined): Result => new Map(value === undefined ? [] : [['', value]]);

function statistic(store: MetricStore, { Namespace, MetricName, Dimensions }: Record<string, any>, name: string, period: number): number | undefined {
  const found = store.series.find((each) => each.namespace === Namespace && each.name === MetricName && same(each.dimensions, dimensionsOf(Dimensions)));
  const values = found?.values.get(period) ?? [];
  if (values.length === 0) return undefined;
  if (name === 'Sum') return values.reduce((sum, value) => sum + value, 0);
  if (name === 'Maximum') return Math.max(...values);
  const [, percent] = /^p(\d+)$/.exec(name) ?? [];
  if (percent === undefined) throw new Error(`The statistic ${name} is not known here`);
  return values.toSorted((a, b) => a - b)[Math.ceil((Number(percent) / 100) * values.length) - 1];
}

function select(store: MetricStore, query: string, period: number): Result {
  const [, metric, namespace, schema = '', where = '', group = ''] = /^SELECT SUM\((\w+)\) FROM SCHEMA\("([\w/]+)", ([\w, ]+)\) WHERE (.+) GROUP BY (\w+) ORDER BY SUM\(\) DESC$/.exec(query) ?? [];
  if (metric === undefined) throw new Error(`${query} is not known here`);
  const names = schema.split(', ').sort().join();
  const conditions = where.split(' AND ').map((condition) => /^(\w+) = '([^']*)'$/.exec(condition)?.slice(1) as [string, string]);
  const sums = new Map<string, number>();
  for (const { namespace: own, name, dimensions, values } of store.series) {
    const matches = own === namespace && name === metric && Object.keys(dimensions).sort().join() === names && conditions.every(([key, value]) => dimensions[key] === value);
    const measured = values.get(period);
    if (matches && measured) sums.set(dimensions[group]!, (sums.get(dimensions[group]!) ?? 0) + measured.reduce((sum, value) => sum + value, 0));
  }
  return new Map([...sums].sort(([, a], [, b]) => b - a));
}

/** `MAX([a, b])`, `FILL(a, 0)`, sums, numbers and ids; undefined is missing data. */
function evaluate(expression: string, of: (id: string) => number | undefined): number | undefined {
  const tokens = expression.match(/\w+|[()[\],+]/g) ?? [];
  const take = (expected?: string) => {
    const token = tokens.shift();
    if (token === undefined || (expected !== undefined && token !== expected)) throw new Error(`${expression}: ${expected ?? 'more'} is missing`);
    return token;
  };
  const list = (): (number | undefined)[] => {
    const values = [sum()];
    while (tokens[0] === ',') values.push((take(), sum()));
    return values;
  };
  const term = (): number | undefined => {
    const token = take();
    if (/^\d+$/.test(token)) return Number(token);
    if (tokens[0] !== '(') return of(token);
    take('(');
    let value: number | undefined;
    if (token === 'MAX') {
      take('[');
      value = Math.max(...list().map((each) => { if (each === undefined) throw new Error('MAX of missing data: fill it'); return each; }));
      take(']');
    } else if (token === 'FILL') {
      const [first, fill] = list();
      value = first ?? fill;
    } else throw new Error(`${token} is not known here`);
    take(')');
    return value;
  };
  const sum = (): number | undefined => {
    let value = term();
    while (tokens[0] === '+') {
      take();
      const next = term();
      value = value === undefined || next === undefined ? undefined : value + next;
    }
    return value;
  };
  const result = sum();
  if (tokens.length > 0) throw new Error(`${expression}: ${tokens.join(' ')} is left over`);
  return result;
}
