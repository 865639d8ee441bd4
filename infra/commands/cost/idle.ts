/** The cost of a month without calls, from the templates of a deployment. */
import { lambdaDollars, MILLION, MINUTES_PER_MONTH, prices, tableDollars } from './prices.ts';

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

export interface CostLine {
  /** The name of the billed item. */
  readonly item: string;
  readonly count: number;
  readonly dollars: number;
}

/** Lambda polls an idle queue with five parallel long polls of 20 s. */
const POLLS_PER_MINUTE = 15;
/** The assumed duration of a sweep that finds no work. It makes 427 queries, 50 at a time. */
const SWEEP_MILLISECONDS = 300;
/** The read units of a sweep that finds no work. A query of an empty partition costs half a unit. A test measures this figure. */
export const SWEEP_UNITS_READ = 213.5;
const SWEEP_LOG_BYTES = 3_000;

/**
 * Returns the cost of a month without calls, by billed item. The types in `free` cost nothing without calls and data. Throws for
 * a type of resource that is in neither set.
 */
export function idleBill(templates: readonly Readonly<Record<string, Resource>>[]): CostLine[] {
  const all = templates.flatMap((resources) => Object.values(resources));
  const unknown = [...new Set(all.map(({ Type }) => Type).filter((type) => !billed.has(type) && !free.has(type)))];
  if (unknown.length > 0)
    throw new Error(`Unknown idle cost of ${unknown.join(', ')}. Add it to infra/commands/cost/idle.ts.`);
  const ofType = (type: string) => all.filter(({ Type }) => Type === type);
  const sweeps = ofType('AWS::Events::Rule')
    .map(({ Properties }) => runsPerMonth(String(Properties?.ScheduleExpression)))
    .reduce((sum, count) => sum + count, 0);
  const polled = ofType('AWS::Lambda::EventSourceMapping').filter(
    ({ Properties }) => Properties?.ScalingConfig !== undefined,
  ).length;
  const watched = ofType('AWS::CloudWatch::Alarm').reduce((sum, alarm) => sum + metricsOf(alarm), 0);
  const line = (item: string, count: number, price: number): CostLine => ({ item, count, dollars: count * price });
  return [
    line('secrets', ofType('AWS::SecretsManager::Secret').length, prices.secret),
    line('metrics that alarms watch', watched, prices.alarmMetric),
    line('dashboards', ofType('AWS::CloudWatch::Dashboard').length, prices.dashboard),
    {
      item: 'queues that Lambda polls',
      count: polled,
      dollars: (polled * POLLS_PER_MINUTE * MINUTES_PER_MONTH * prices.queueRequests) / MILLION,
    },
    {
      item: 'runs of the sweep with their reads and logs',
      count: sweeps,
      dollars:
        lambdaDollars(sweeps, SWEEP_MILLISECONDS) +
        tableDollars({ read: sweeps * SWEEP_UNITS_READ, written: 0 }) +
        ((sweeps * SWEEP_LOG_BYTES) / 2 ** 30) * prices.logGigabyte,
    },
  ];
}

const billed = new Set([
  'AWS::SecretsManager::Secret',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Events::Rule',
]);
const free = new Set([
  'AWS::ApiGatewayV2::Api',
  'AWS::ApiGatewayV2::ApiMapping',
  'AWS::ApiGatewayV2::DomainName',
  'AWS::ApiGatewayV2::Integration',
  'AWS::ApiGatewayV2::Route',
  'AWS::ApiGatewayV2::Stage',
  'AWS::AppSync::Api',
  'AWS::AppSync::ChannelNamespace',
  'AWS::CDK::Metadata',
  'AWS::CloudFormation::Stack',
  'AWS::DynamoDB::Table',
  'AWS::IAM::Role',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Function',
  'AWS::Lambda::Permission',
  'AWS::Logs::LogGroup',
  'AWS::Logs::QueryDefinition',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::Queue',
  'AWS::SQS::QueuePolicy',
]);

/**
 * Returns the number of metrics for which an alarm is billed: each metric of its expression. A query is billed for each metric
 * that it finds. Without failures it finds none, but here it counts as one.
 */
function metricsOf({ Properties = {} }: Resource): number {
  const parts = (Properties.Metrics ?? []) as readonly { readonly MetricStat?: unknown }[];
  return Math.max(1, parts.filter(({ MetricStat }) => MetricStat !== undefined).length);
}

function runsPerMonth(expression: string): number {
  const [, minutes = ''] = /^rate\((\d+) minutes?\)$/.exec(expression) ?? [];
  if (minutes === '') throw new Error(`Unknown schedule ${expression}. Add it to infra/commands/cost/idle.ts.`);
  return MINUTES_PER_MONTH / Number(minutes);
}

/** Returns the sum of the lines in dollars. */
export function totalOf(lines: readonly CostLine[]): number {
  return lines.reduce((sum, { dollars }) => sum + dollars, 0);
}
