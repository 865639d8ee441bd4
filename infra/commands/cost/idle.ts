import { API_MEMORY_MB } from '../../constructs/memory.ts';
import { consumptionOfRequests, costOfCall, LAMBDA_LOG_BYTES } from '../../cost/calls.ts';
import { byteDollars, lambdaDollars, MILLION, MINUTES_PER_MONTH, prices, tableDollars } from '../../cost/prices.ts';

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

export interface CostLine {
  readonly item: string;
  readonly count: number;
  readonly dollars: number;
}

/** Lambda reads an idle queue with five parallel long polls of 20 s. */
const POLLS_PER_MINUTE = 15;
/** Assumed. A sweep makes 427 queries, 50 at a time. */
const SWEEP_MILLISECONDS = 300;
/** A query of an empty partition costs half a unit. A test asserts this value. */
export const SWEEP_UNITS_READ = 213.5;
const SWEEP_LOG_BYTES = 3_000;
const HEARTBEAT_MILLISECONDS = 100;
const HEARTBEAT_LOG_BYTES = 1_000;
/** Assumed. A ping ends before any middleware. */
const PING_MILLISECONDS = 2;

/** Returns the cost of a month without calls, by billed item. */
export function idleBill(templates: readonly Readonly<Record<string, Resource>>[]): CostLine[] {
  const all = templates.flatMap((resources) => Object.values(resources));
  const unknown = [...new Set(all.map(({ Type }) => Type).filter((type) => !billed.has(type) && !free.has(type)))];
  if (unknown.length > 0)
    throw new Error(`Unknown idle cost of ${unknown.join(', ')}. Add it to infra/commands/cost/idle.ts.`);
  const ofType = (type: string) => all.filter(({ Type }) => Type === type);
  const rules = ofType('AWS::Events::Rule');
  const runsOf = (selected: readonly Resource[]) =>
    selected.reduce((sum, { Properties }) => sum + runsPerMonth(String(Properties?.ScheduleExpression)), 0);
  const heartbeats = runsOf(rules.filter(startsHeartbeat));
  const sweeps = runsOf(rules.filter((rule) => !startsHeartbeat(rule)));
  const pings = runsOf(ofType('AWS::Scheduler::Schedule'));
  const polled = ofType('AWS::Lambda::EventSourceMapping').filter(
    ({ Properties }) => Properties?.ScalingConfig !== undefined,
  ).length;
  const watched = ofType('AWS::CloudWatch::Alarm').reduce((sum, alarm) => sum + metricsOf(alarm), 0);
  const line = (item: string, count: number, price: number): CostLine => ({ item, count, dollars: count * price });
  return [
    line('secrets', ofType('AWS::SecretsManager::Secret').length, prices.secret),
    line('metrics that alarms watch', watched, prices.alarmMetric),
    line('composite alarms', ofType('AWS::CloudWatch::CompositeAlarm').length, prices.compositeAlarm),
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
        byteDollars(sweeps * SWEEP_LOG_BYTES, prices.logGigabyte),
    },
    ...(heartbeats > 0 ? [heartbeatLine(heartbeats)] : []),
    ...(pings > 0 ? [pingLine(pings)] : []),
  ];
}

function pingLine(pings: number): CostLine {
  return {
    item: 'pings of warm functions',
    count: pings,
    dollars:
      (pings * prices.schedules) / MILLION +
      lambdaDollars(pings, PING_MILLISECONDS, API_MEMORY_MB) +
      byteDollars(pings * LAMBDA_LOG_BYTES, prices.logGigabyte),
  };
}

function startsHeartbeat({ Properties }: Resource): boolean {
  return JSON.stringify(Properties?.Targets ?? []).includes('"Heartbeat"');
}

/** Returns what the setting `heartbeat` adds to a month. */
export function heartbeatBill(): CostLine[] {
  return [
    heartbeatLine(MINUTES_PER_MONTH),
    { item: 'secrets', count: 1, dollars: prices.secret },
    { item: 'metrics that alarms watch', count: 3, dollars: 3 * prices.alarmMetric },
  ];
}

function heartbeatLine(heartbeats: number): CostLine {
  const consumption = consumptionOfRequests([]);
  const calls = ['/v2/organizations/update one', '/v2/organizations/get by id'].map((name) => {
    const consumed = consumption.get(name);
    if (!consumed) throw new Error(`requests.ts has no request "${name}".`);
    return costOfCall(name, consumed).total / MILLION;
  });
  return {
    item: 'heartbeats with their calls',
    count: heartbeats,
    dollars:
      heartbeats * calls.reduce((sum, price) => sum + price, 0) +
      lambdaDollars(heartbeats, HEARTBEAT_MILLISECONDS) +
      byteDollars(heartbeats * HEARTBEAT_LOG_BYTES, prices.logGigabyte),
  };
}

const billed = new Set([
  'AWS::SecretsManager::Secret',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::CompositeAlarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Events::Rule',
  'AWS::Scheduler::Schedule',
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
  'AWS::DynamoDB::GlobalTable',
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
 * CloudWatch bills an alarm for each metric of its expression. A Metrics Insights query matches none while nothing
 * fails; here it counts as one.
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

export function totalOf(lines: readonly CostLine[]): number {
  return lines.reduce((sum, { dollars }) => sum + dollars, 0);
}
