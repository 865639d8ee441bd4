import type { Aggregate, Command, Comparison, Condition, Literal, LogLine } from '../assembly/queries/readQuery.ts';

/** A cell without a value is null. `@timestamp`, its minimum and its maximum are in ISO 8601. */
export interface Result {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export type Cell = string | number | null;
type Row = ReadonlyMap<string, Cell>;

const DEFAULT_LIMIT = 10_000;

const compare: Readonly<Record<Comparison, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

/**
 * Runs a query over log lines, oldest first. The result begins with the newest lines unless the query sorts or
 * aggregates.
 */
export function runQuery(commands: readonly Command[], lines: readonly LogLine[]): Result {
  const fields = commands.findLast((command) => command.kind === 'fields')?.fields ?? ['@timestamp'];
  const stats = commands.find((command) => command.kind === 'stats');
  const columns = stats ? [...stats.by, ...stats.aggregates.map(({ as }) => as)] : [...fields];
  const conditions = commands.flatMap((command) => (command.kind === 'filter' ? [command.condition] : []));
  const found = lines.filter((line) => conditions.every((condition) => holds(condition, line)));
  let rows: Row[] = stats
    ? groups(found, stats.aggregates, stats.by)
    : found.map((line) => new Map(columns.map((name) => [name, cellOf(line, name)]))).reverse();
  let limit = DEFAULT_LIMIT;
  for (const command of commands) {
    if (command.kind === 'sort') rows = sorted(rows, command.field, command.direction);
    if (command.kind === 'limit') limit = command.count;
  }
  const times = new Set(['@timestamp', ...(stats?.aggregates.filter(isTime).map(({ as }) => as) ?? [])]);
  const shown = (row: Row, name: string) => {
    const cell = row.get(name) ?? null;
    return times.has(name) && typeof cell === 'number' ? new Date(cell).toISOString() : cell;
  };
  return { columns, rows: rows.slice(0, limit).map((row) => columns.map((name) => shown(row, name))) };
}

function isTime({ name, field }: Aggregate): boolean {
  return field === '@timestamp' && (name === 'min' || name === 'max');
}

/** As in Logs Insights, a comparison of a missing field does not hold. */
function holds(condition: Condition, line: LogLine): boolean {
  switch (condition.kind) {
    case 'all':
      return condition.of.every((each) => holds(each, line));
    case 'any':
      return condition.of.some((each) => holds(each, line));
    case 'isPresent':
      return cellOf(line, condition.field) !== null;
    case 'in':
      return condition.values.some((value) => isOrdered(cellOf(line, condition.field), '=', value));
    case 'compare':
      return isOrdered(cellOf(line, condition.field), condition.operator, condition.value);
  }
}

/** A text such as `200` counts as a number, because the access log has all values as texts. */
function isOrdered(cell: Cell, operator: Comparison, value: Literal): boolean {
  if (cell === null) return false;
  const [number, other] = [numberOf(cell), numberOf(value)];
  if (number !== undefined && other !== undefined) return compare[operator](number - other);
  if (operator !== '=' && operator !== '!=') return false;
  return compare[operator](String(cell) === String(value) ? 0 : 1);
}

function cellOf(line: LogLine, name: string): Cell {
  let value: unknown = line;
  for (const part of [name in line ? name : name.split('.')].flat()) {
    if (typeof value !== 'object' || value === null) return null;
    value = (value as Record<string, unknown>)[part];
  }
  if (value === undefined || value === null) return null;
  return typeof value === 'string' || typeof value === 'number' ? value : JSON.stringify(value);
}

function numberOf(cell: Cell): number | undefined {
  const number = typeof cell === 'string' && cell.trim() === '' ? NaN : Number(cell ?? NaN);
  return Number.isNaN(number) ? undefined : number;
}

function groups(lines: readonly LogLine[], aggregates: readonly Aggregate[], by: readonly string[]): Row[] {
  const linesByKey = Map.groupBy(lines, (line) => JSON.stringify(by.map((name) => cellOf(line, name))));
  return [...linesByKey].map(([key, ofGroup]) => {
    const cells = JSON.parse(key) as Cell[];
    return new Map<string, Cell>([
      ...by.map((name, index) => [name, cells[index] ?? null] as const),
      ...aggregates.map((aggregate) => [aggregate.as, aggregateOf(aggregate, ofGroup)] as const),
    ]);
  });
}

function aggregateOf({ name, field, percent = 0 }: Aggregate, lines: readonly LogLine[]): Cell {
  if (name === 'count' && field === '*') return lines.length;
  const cells = lines.map((line) => cellOf(line, field)).filter((cell) => cell !== null);
  if (name === 'count') return cells.length;
  if (name === 'count_distinct') return new Set(cells.map(String)).size;
  const numbers = cells
    .map(numberOf)
    .filter((value) => value !== undefined)
    .sort((a, b) => a - b);
  if (name === 'min') return numbers[0] ?? null;
  if (name === 'max') return numbers.at(-1) ?? null;
  return numbers[Math.max(0, Math.ceil((percent / 100) * numbers.length) - 1)] ?? null;
}

function sorted(rows: readonly Row[], name: string, direction: 'asc' | 'desc'): Row[] {
  return rows.toSorted((a, b) => {
    const [one, other] = [a.get(name) ?? null, b.get(name) ?? null];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    const [first, second] = [numberOf(one), numberOf(other)];
    const order =
      first !== undefined && second !== undefined ? first - second : String(one).localeCompare(String(other), 'en');
    return direction === 'asc' ? order : -order;
  });
}
