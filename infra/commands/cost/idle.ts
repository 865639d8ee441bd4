/** The cost of a month without calls, from the templates of a deployment. */
import { lambdaDollars, MILLION, MINUTES_PER_MONTH, prices, tableDollars } from './prices.ts';

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

export interface CostLine {
  readonly what: string;
  readonly count: number;
  readonly dollars: number;
}

/** Lambda polls an idle queue with five long polls of 20 s in parallel. */
const POLLS_PER_MINUTE = 15;
/**
 * Assumed duration of a sweep that finds nothing: three or four round trips to DynamoDB, each for all shards in
 * parallel.
 */
const TICK_MILLISECONDS = 200;
/**
 * Units read by such a sweep. The local engine measures 25.5 for deliveries, events and jobs; the rest is for mails.
 */
const TICK_UNITS_READ = 40;
const TICK_LOG_BYTES = 3_000;

/**
 * Returns the lines of the idle bill. Some resources cost nothing while idle: functions, the HTTP API, roles, an empty
 * on-demand table and its backups, empty log groups, unwritten metrics, the stream, saved queries and topics. Throws
 * for an unknown type of resource.
 */
export function idleBill(templates: readonly Readonly<Record<string, Resource>>[]): CostLine[] {
  const all = templates.flatMap((resources) => Object.values(resources));
  const unknown = [...new Set(all.map(({ Type }) => Type).filter((type) => !billed.has(type) && !free.has(type)))];
  if (unknown.length > 0)
    throw new Error(`Unknown idle cost of ${unknown.join(', ')}. Add it to infra/commands/cost/idle.ts.`);
  const of = (type: string) => all.filter(({ Type }) => Type === type);
  const ticks = of('AWS::Events::Rule')
    .map(({ Properties }) => ticksPerMonth(String(Properties?.ScheduleExpression)))
    .reduce((sum, count) => sum + count, 0);
  const polled = of('AWS::Lambda::EventSourceMapping').filter(
    ({ Properties }) => Properties?.ScalingConfig !== undefined,
  ).length;
  const watched = of('AWS::CloudWatch::Alarm').reduce((sum, alarm) => sum + metricsOf(alarm), 0);
  const per = (what: string, count: number, price: number): CostLine => ({ what, count, dollars: count * price });
  return [
    per('secrets', of('AWS::SecretsManager::Secret').length, prices.secret),
    per('metrics that alarms watch', watched, prices.alarmMetric),
    per('dashboards', of('AWS::CloudWatch::Dashboard').length, prices.dashboard),
    {
      what: 'queues that Lambda polls',
      count: polled,
      dollars: (polled * POLLS_PER_MINUTE * MINUTES_PER_MONTH * prices.queueRequests) / MILLION,
    },
    {
      what: 'ticks: runs, reads and logs',
      count: ticks,
      dollars:
        lambdaDollars(ticks, TICK_MILLISECONDS) +
        tableDollars({ read: ticks * TICK_UNITS_READ, written: 0 }) +
        ((ticks * TICK_LOG_BYTES) / 2 ** 30) * prices.logGigabyte,
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
 * Returns the number of metrics for which an alarm is billed: each metric of its expression. A query is billed for the
 * metrics that it finds. While nothing fails it finds none, but it counts as one here.
 */
function metricsOf({ Properties = {} }: Resource): number {
  const parts = (Properties.Metrics ?? []) as readonly { readonly MetricStat?: unknown }[];
  return Math.max(1, parts.filter(({ MetricStat }) => MetricStat !== undefined).length);
}

function ticksPerMonth(expression: string): number {
  const [, minutes = ''] = /^rate\((\d+) minutes?\)$/.exec(expression) ?? [];
  if (minutes === '') throw new Error(`Unknown schedule ${expression}. Add it to infra/commands/cost/idle.ts.`);
  return MINUTES_PER_MONTH / Number(minutes);
}

export function totalOf(lines: readonly CostLine[]): number {
  return lines.reduce((sum, { dollars }) => sum + dollars, 0);
}
