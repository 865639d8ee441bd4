import { MILLION, prices } from '../../cost/prices.ts';
import type { CostLine } from './idle.ts';

interface Widget {
  readonly type: string;
  readonly properties: { readonly title?: string; readonly metrics?: readonly (readonly unknown[])[] };
}

export interface WidgetCost {
  readonly title: string;
  readonly metrics: number;
  readonly dollars: number;
}

const REFRESHES_PER_HOUR = 60;

/**
 * Returns an estimate for a refresh of each graph: CloudWatch bills GetMetricData by the metric, and may not bill its
 * own console. A query counts as many metrics as the largest graph has.
 */
export function widgetCosts(templates: readonly Readonly<Record<string, Resource>>[]): WidgetCost[] {
  const widgets = templates
    .flatMap((resources) => Object.values(resources))
    .filter(({ Type }) => Type === 'AWS::CloudWatch::Dashboard')
    .flatMap(widgetsOf)
    .filter(({ type }) => type !== 'text');
  const logs = widgets.find(({ type }) => type !== 'metric');
  if (logs) throw new Error(`The widget "${logs.properties.title}" of type ${logs.type} costs more at a larger load.`);
  const largest = Math.max(0, ...widgets.map(({ properties: { metrics = [] } }) => metrics.length));
  return widgets.map(({ properties: { title = '', metrics = [] } }) => {
    const count = metrics.reduce((sum, line) => sum + metricsOf(line, largest), 0);
    return { title, metrics: count, dollars: (count * prices.metricsRead) / MILLION };
  });
}

export function watchingBill(templates: readonly Readonly<Record<string, Resource>>[]): CostLine {
  const refresh = widgetCosts(templates).reduce((sum, { dollars }) => sum + dollars, 0);
  return { item: 'refreshes of the dashboard', count: REFRESHES_PER_HOUR, dollars: REFRESHES_PER_HOUR * refresh };
}

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

function widgetsOf({ Properties = {} }: Resource): readonly Widget[] {
  const body = Properties.DashboardBody as string | { readonly 'Fn::Join': readonly [string, readonly unknown[]] };
  const parts = typeof body === 'string' ? [body] : body['Fn::Join'][1];
  const text = parts.map((part) => (typeof part === 'string' ? part : 'name')).join('');
  return (JSON.parse(text) as { readonly widgets: readonly Widget[] }).widgets;
}

function metricsOf(line: readonly unknown[], ofQuery: number): number {
  const [first] = line;
  if (typeof first === 'string') return 1;
  const { expression = '' } = first as { readonly expression?: string };
  return expression.startsWith('SELECT') ? ofQuery : 0;
}
