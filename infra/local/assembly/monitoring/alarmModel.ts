import { IMPACTS } from '../../../monitoring/alarmMetadata.ts';
import { UnsupportedDefinition } from '../scanner.ts';
import type { Resource } from '../template.ts';
import { alarmName, notifies } from './compositeModel.ts';
import { expressionOrQuery, metricStatistic, requireSupported } from './definitions.ts';
import type { Expression, MetricStatistic } from './expression.ts';
import type { Query } from './query.ts';

export interface AlarmModel {
  readonly name: string;
  readonly description: string;
  readonly source: Expression | Query;
  readonly periodSeconds: number;
  /** The consecutive periods in which the comparison must hold. A query with groups compares each group on its own. */
  readonly periods: number;
  readonly comparison: Comparison;
  readonly threshold: number;
  readonly missingData: MissingData;
  /** False if the alarm itself sends no notices. A composite alarm may send them instead. */
  readonly notifies: boolean;
  /** By function, which is the group of the query. */
  readonly impacts?: Readonly<Record<string, string>>;
}

/** Whether the comparison holds in a period without data. With `ignore`, the alarm keeps its state. */
export type MissingData = (typeof missingDataKinds)[number];

const missingDataKinds = ['breaching', 'notBreaching', 'ignore'] as const;

export type Comparison = keyof typeof comparisons;

export const comparisons = {
  GreaterThanOrEqualToThreshold: (value: number, threshold: number) => value >= threshold,
  GreaterThanThreshold: (value: number, threshold: number) => value > threshold,
  LessThanOrEqualToThreshold: (value: number, threshold: number) => value <= threshold,
  LessThanThreshold: (value: number, threshold: number) => value < threshold,
} as const;

/**
 * The local run sends no notices. It reads `ActionsEnabled` and `AlarmActions` to show which alarms would send them.
 */
const supportedProperties = [
  'AlarmDescription',
  'ComparisonOperator',
  'DatapointsToAlarm',
  'Dimensions',
  'EvaluationPeriods',
  'ExtendedStatistic',
  'MetricName',
  'Metrics',
  'Namespace',
  'Period',
  'Statistic',
  'Threshold',
  'TreatMissingData',
  'Unit',
  'ActionsEnabled',
  'AlarmActions',
  'AlarmName',
  'InsufficientDataActions',
  'OKActions',
  'Tags',
];

interface RawMetric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[];
}

interface RawPart {
  readonly Id: string;
  readonly Label?: string;
  readonly Expression?: string;
  readonly Period?: number;
  readonly ReturnData?: boolean;
  readonly MetricStat?: { readonly Metric: RawMetric; readonly Period: number; readonly Stat: string };
}

/**
 * `serviceName` replaces the value of the dimension `service`. Throws UnsupportedDefinition for an alarm that the local
 * run does not support.
 */
export function alarmOf(resource: Resource, serviceName?: string): AlarmModel {
  const { properties } = resource;
  requireSupported(properties, supportedProperties, 'an alarm');
  const {
    EvaluationPeriods,
    DatapointsToAlarm = EvaluationPeriods,
    ComparisonOperator,
    TreatMissingData,
    Threshold,
    AlarmDescription = '',
  } = properties;
  if (DatapointsToAlarm !== EvaluationPeriods)
    throw new UnsupportedDefinition('DatapointsToAlarm other than EvaluationPeriods');
  if (!isComparison(ComparisonOperator))
    throw new UnsupportedDefinition(`the comparison ${String(ComparisonOperator)}`);
  const missingData = missingDataKinds.find((kind) => kind === TreatMissingData);
  if (!missingData) throw new UnsupportedDefinition(`the treatment of missing data "${String(TreatMissingData)}"`);
  return {
    name: alarmName(resource),
    description: String(AlarmDescription),
    ...(properties.Metrics === undefined
      ? singleMetric(properties, serviceName)
      : mathOf(properties.Metrics as RawPart[], serviceName)),
    periods: Number(EvaluationPeriods),
    comparison: ComparisonOperator,
    threshold: Number(Threshold),
    missingData,
    notifies: notifies(properties),
    ...(resource.metadata?.[IMPACTS] !== undefined && {
      impacts: resource.metadata[IMPACTS] as Readonly<Record<string, string>>,
    }),
  };
}

function isComparison(name: unknown): name is Comparison {
  return Object.hasOwn(comparisons, String(name));
}

function singleMetric(
  properties: Resource['properties'],
  serviceName: string | undefined,
): Pick<AlarmModel, 'source' | 'periodSeconds'> {
  const { Statistic, ExtendedStatistic = Statistic, Period } = properties;
  return {
    source: statisticOf(properties as unknown as RawMetric, ExtendedStatistic, serviceName),
    periodSeconds: Number(Period),
  };
}

function statisticOf(
  { Namespace, MetricName, Dimensions = [] }: RawMetric,
  statistic: unknown,
  serviceName: string | undefined,
): MetricStatistic {
  return metricStatistic(
    {
      namespace: Namespace,
      name: MetricName,
      dimensions: Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value])),
    },
    statistic,
    serviceName,
  );
}

function mathOf(
  parts: readonly RawPart[],
  serviceName: string | undefined,
): Pick<AlarmModel, 'source' | 'periodSeconds'> {
  for (const part of parts)
    requireSupported(part, ['Id', 'Label', 'Expression', 'Period', 'ReturnData', 'MetricStat'], 'a metric of an alarm');
  const [returned, ...more] = parts.filter(({ ReturnData }) => ReturnData !== false);
  if (!returned?.Expression || more.length > 0)
    throw new UnsupportedDefinition('an alarm on metrics that does not return exactly one expression');
  const byId = new Map(parts.map((part) => [part.Id, part.MetricStat]));
  const source = expressionOrQuery(
    returned.Expression,
    (id) => {
      const metricStat = byId.get(id);
      return metricStat && statisticOf(metricStat.Metric, metricStat.Stat, serviceName);
    },
    serviceName,
  );
  const [period, ...others] = new Set(
    [returned.Period, ...parts.map(({ MetricStat }) => MetricStat?.Period)].filter((each) => each !== undefined),
  );
  if (period === undefined || others.length > 0)
    throw new UnsupportedDefinition(`an expression without exactly one period: ${returned.Expression}`);
  return { source, periodSeconds: period };
}
