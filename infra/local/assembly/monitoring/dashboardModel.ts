import { UnsupportedDefinition } from '../scanner.ts';
import type { Resource } from '../template.ts';
import { metricStatistic, requireSupported, serviceQuery } from './definitions.ts';
import { type Expression, type MetricId, type MetricStatistic, readExpression } from './expression.ts';
import { isQuery, type Query } from './query.ts';

export interface RowModel {
  /** In Markdown. */
  readonly title: string;
  readonly graphs: readonly GraphModel[];
}

export interface GraphModel {
  readonly title: string;
  /** In columns, of which the dashboard has 24. */
  readonly width: number;
  readonly series: readonly SeriesModel[];
}

export interface SeriesModel {
  readonly source: Expression | Query;
  /** `${LABEL}` in it stands for the group of the query. */
  readonly label: string;
}

export const LABEL = '${LABEL}';

interface Widget {
  readonly type: string;
  readonly width: number;
  readonly properties: {
    readonly markdown?: string;
    readonly title?: string;
    readonly view?: string;
    readonly metrics?: readonly (readonly unknown[])[];
  };
}

interface Options {
  readonly id?: string;
  readonly label?: string;
  readonly visible?: boolean;
  readonly stat?: string;
  readonly expression?: string;
}

/** The local run ignores the properties after `metrics`. */
const supportedProperties = [
  'markdown',
  'title',
  'view',
  'metrics',
  'background',
  'region',
  'yAxis',
  'legend',
  'stacked',
  'period',
  'setPeriodToTimeRange',
  'liveData',
];
const supportedOptions = ['id', 'label', 'visible', 'stat', 'expression', 'period', 'color', 'yAxis'];

/**
 * A text widget begins a row. `serviceName` replaces the value of the dimension `service`. Throws UnsupportedDefinition
 * for a widget that the local run does not support.
 */
export function rowsOf({ properties }: Resource, serviceName?: string): RowModel[] {
  const { widgets } = JSON.parse(String(properties.DashboardBody)) as { widgets: readonly Widget[] };
  const rows: { title: string; graphs: GraphModel[] }[] = [];
  for (const widget of widgets) {
    const { title = '', markdown = '' } = widget.properties;
    requireSupported(widget.properties, supportedProperties, `the widget "${title || markdown}"`);
    if (widget.type === 'text') rows.push({ title: markdown, graphs: [] });
    else {
      const graph = withTitle(title, () => graphOf(widget, title, serviceName));
      const row = rows.at(-1);
      if (row) row.graphs.push(graph);
      else rows.push({ title: '', graphs: [graph] });
    }
  }
  return rows;
}

function withTitle<T>(title: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnsupportedDefinition)
      throw new UnsupportedDefinition(`the widget "${title}": ${error.message}`);
    throw error;
  }
}

function graphOf(
  { type, width, properties: { view, metrics = [] } }: Widget,
  title: string,
  serviceName: string | undefined,
): GraphModel {
  if (type !== 'metric' || view !== 'timeSeries') throw new UnsupportedDefinition(`${type} shown as ${String(view)}`);
  const lines = metrics.map((line) => lineOf(line, serviceName));
  const byId = new Map(
    lines.map(({ options, source }) => [options.id, source?.kind === 'metric' ? source : undefined]),
  );
  const series = lines
    .filter(({ options }) => options.visible !== false)
    .map(({ source, options }): SeriesModel => ({
      source: source ?? readExpression(options.expression ?? '', (id) => byId.get(id)),
      label: labelOf(options.label, source?.kind === 'metric' ? source.metric : undefined, options.expression),
    }));
  return { title, width, series };
}

/**
 * A line is either a metric (namespace, name, dimensions) or an expression, which is in the options at the end of the
 * line. Metric math has no source yet, because it can refer to later lines.
 */
function lineOf(
  line: readonly unknown[],
  serviceName: string | undefined,
): { source: MetricStatistic | Query | undefined; options: Options } {
  const last = line.at(-1);
  const options = (typeof last === 'object' && last !== null ? last : {}) as Options;
  requireSupported(options, supportedOptions, JSON.stringify(line));
  const words = typeof last === 'object' ? line.slice(0, -1) : line;
  if (options.expression !== undefined && words.length === 0)
    return { source: isQuery(options.expression) ? serviceQuery(options.expression, serviceName) : undefined, options };
  const [namespace, name, ...dimensions] = words.map(String);
  // Dots, which in CloudWatch stand for values of the previous line, are not supported. The CDK writes none.
  if (
    namespace === undefined ||
    name === undefined ||
    dimensions.length % 2 > 0 ||
    words.some((word) => /^\.+$/.test(String(word)))
  )
    throw new UnsupportedDefinition(JSON.stringify(line));
  const pairs = dimensions.flatMap((dimension, index) =>
    index % 2 === 0 ? [[dimension, dimensions[index + 1] ?? ''] as const] : [],
  );
  return {
    source: metricStatistic({ namespace, name, dimensions: Object.fromEntries(pairs) }, options.stat, serviceName),
    options,
  };
}

function labelOf(label: string | undefined, metric: MetricId | undefined, expression: string | undefined): string {
  if (label === undefined) return metric?.name ?? (expression?.startsWith('SELECT') ? LABEL : String(expression));
  if (label.replaceAll(LABEL, '').includes('${')) throw new UnsupportedDefinition(`the label "${label}"`);
  return metric ? label.replaceAll(LABEL, metric.name) : label;
}
