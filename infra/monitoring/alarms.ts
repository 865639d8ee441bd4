import type { CfnApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Alarm, type CfnAlarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnGlobalTable } from 'aws-cdk-lib/aws-dynamodb';
import type { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import type { Stack } from 'aws-cdk-lib/core';
import type { Routed } from '../../lib/app/page.ts';
import type { Worker } from '../../lib/app/worker.ts';
import type { LambdaFunction } from '../constructs/lambdaFunction.ts';
import type { Queues } from '../constructs/queues.ts';
import type { Settings } from '../settings/settings.ts';
import { IMPACTS } from './alarmMetadata.ts';

/** The longest description of an alarm that CloudWatch accepts, in characters. */
const MAX_DESCRIPTION_LENGTH = 1024;

const severities = {
  /** For faults that already affect customers. */
  high: 'high, act now',
  /** For faults that lose no data, and whose effects do not get worse until the next working day. */
  low: 'low, act on the next working day',
} as const;

/** The parts of an alarm's description, in the order of the description. */
export interface AlarmText {
  /** What is broken, as a sentence. */
  readonly broken: string;
  /** Each text says who is affected and how, without a full stop. Those that weigh most come first. */
  readonly impacts: readonly string[];
  /** The value at which the alarm becomes active, in words. */
  readonly threshold: string;
  readonly firstStep: string;
  /** The anchor of a section in infra/RUNBOOK.md. A test asserts that the section exists. */
  readonly runbook: string;
  readonly severity: keyof typeof severities;
  /** The alarms that make this alarm active, by id. Only composite alarms have some. */
  readonly children?: readonly string[];
}

export type CompositeName =
  'TableCause' | 'QueuesCause' | 'GatewayCause' | 'MailCause' | 'ModelCause' | 'ThrottledTable' | 'DeadLettersFilled';

/**
 * Which alarm sends the notices of an alarm: a composite alarm, the composite alarm of a family, or a composite alarm of its own that
 * is suppressed while a cause is active. Without this, the alarm sends them itself.
 */
export type Notices =
  { readonly through: CompositeName } | { readonly family: string } | { readonly follows: readonly CompositeName[] };

/** An alarm that becomes active when its metric is `threshold` or higher in `periods` consecutive periods. */
export interface AlarmDeclaration {
  readonly id: string;
  readonly metric: IMetric;
  readonly threshold: number;
  /** The number of consecutive periods. The default is 1. */
  readonly periods?: number;
  /** If set, the alarm becomes active when the metric is below the threshold, and also when it has no data. */
  readonly isActiveBelow?: true;
  /** If set, the alarm keeps its state without data. For a metric that AWS writes from time to time only. */
  readonly keepsState?: true;
  readonly notices?: Notices;
  /** The impact of each function of the alarm, by its name in the groups of the metric. The local dashboard shows that of the function that fails. */
  readonly impactOf?: Readonly<Record<string, string>>;
  readonly text: AlarmText;
}

/** The resources that alarms and the dashboard watch. */
export interface MonitoringProps {
  readonly families: readonly {
    readonly family: string;
    readonly functions: readonly { readonly endpoint: Routed; readonly construct: LambdaFunction }[];
  }[];
  /** The workers with their functions. */
  readonly workers: readonly { readonly worker: Worker; readonly construct: LambdaFunction }[];
  readonly api: CfnApi;
  readonly table: CfnGlobalTable;
  readonly queues: Queues;
  readonly streamDeadLetters: CfnQueue;
  readonly settings: Settings;
}

/** Creates a CloudWatch alarm from its declaration. */
export function createAlarm(stack: Stack, declaration: AlarmDeclaration, runbookBaseUrl: string | undefined): Alarm {
  const { id, metric, threshold, periods = 1, isActiveBelow, keepsState, impactOf, text } = declaration;
  const stateWithoutData = isActiveBelow ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING;
  const alarm = new Alarm(stack, id, {
    metric,
    threshold,
    evaluationPeriods: periods,
    ...(isActiveBelow && { comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD }),
    // For metrics of AWS/DynamoDB, CloudWatch ignores missing data whatever this says. The runbook names the consequence.
    treatMissingData: keepsState ? TreatMissingData.IGNORE : stateWithoutData,
    alarmDescription: alarmText(text, runbookBaseUrl),
  });
  if (impactOf) (alarm.node.defaultChild as CfnAlarm).addMetadata(IMPACTS, impactOf);
  return alarm;
}

/** Returns the URL of a section of the runbook. Without `runbookBaseUrl`, returns its path in the repository. */
export function runbookLink(section: string, runbookBaseUrl: string | undefined): string {
  const path = `infra/RUNBOOK.md#${section}`;
  return runbookBaseUrl === undefined ? path : `${runbookBaseUrl.replace(/\/$/, '')}/${path}`;
}

/**
 * Returns an alarm's description. Lists as many of the first impacts as fit into the longest description that CloudWatch accepts.
 */
export function alarmText(text: AlarmText, runbookBaseUrl: string | undefined): string {
  const furtherLines = [
    ...(text.children ? [`Alarms: ${text.children.join(', ')}`] : []),
    `Threshold: ${text.threshold}`,
    `First step: ${text.firstStep}`,
    `Runbook: ${runbookLink(text.runbook, runbookBaseUrl)}`,
    `Severity: ${severities[text.severity]}`,
  ];
  const impacts = [...new Set(text.impacts)];
  if (impacts.length === 1) return [text.broken, `Impact: ${impacts[0]}`, ...furtherLines].join('\n');
  const withImpacts = (count: number) =>
    [
      text.broken,
      'Impact, one or more of:',
      ...impacts.slice(0, count).map((impact) => `- ${impact}`),
      ...(count < impacts.length ? [`- and ${impacts.length - count} more`] : []),
      ...furtherLines,
    ].join('\n');
  let count = impacts.length;
  while (count > 0 && withImpacts(count).length > MAX_DESCRIPTION_LENGTH) count--;
  return withImpacts(count);
}
