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

/** The limit of CloudWatch, in characters. */
const MAX_DESCRIPTION_LENGTH = 1024;

const severities = {
  high: 'high, act now',
  /** For faults that lose no data, and whose effects do not get worse until the next working day. */
  low: 'low, act on the next working day',
} as const;

export interface AlarmText {
  readonly broken: string;
  /** Who is affected and how, without a full stop. The most important ones come first. */
  readonly impacts: readonly string[];
  readonly threshold: string;
  readonly firstStep: string;
  /** The anchor of a section in infra/RUNBOOK.md. A test asserts that the section exists. */
  readonly runbook: string;
  readonly severity: keyof typeof severities;
  /** The ids of the alarms that make a composite alarm active. */
  readonly children?: readonly string[];
}

export type CompositeName =
  'TableCause' | 'QueuesCause' | 'GatewayCause' | 'MailCause' | 'ModelCause' | 'ThrottledTable' | 'DeadLettersFilled';

/**
 * The composite alarm that sends the notices: a declared one, that of a family, or the alarm's own, which follows from
 * causes. Without a composite alarm, the alarm itself sends them.
 */
export type Notices =
  { readonly through: CompositeName } | { readonly family: string } | { readonly follows: readonly CompositeName[] };

/** By default, the alarm becomes active when its metric is `threshold` or higher in `periods` consecutive periods. */
export interface AlarmDeclaration {
  readonly id: string;
  readonly metric: IMetric;
  readonly threshold: number;
  readonly periods?: number;
  /** Active when the metric is below the threshold, and also when it has no data. */
  readonly isActiveBelow?: true;
  /** For a metric that AWS writes from time to time only: without data, the alarm keeps its state. */
  readonly keepsState?: true;
  readonly notices?: Notices;
  /**
   * The key is the function's name in the groups of the metric. The local dashboard shows the impact of the function
   * that fails.
   */
  readonly impactOf?: Readonly<Record<string, string>>;
  readonly text: AlarmText;
}

export interface MonitoringProps {
  readonly families: readonly {
    readonly family: string;
    readonly functions: readonly { readonly endpoint: Routed; readonly construct: LambdaFunction }[];
  }[];
  readonly workers: readonly { readonly worker: Worker; readonly construct: LambdaFunction }[];
  readonly api: CfnApi;
  readonly table: CfnGlobalTable;
  readonly queues: Queues;
  readonly streamDeadLetters: CfnQueue;
  readonly settings: Settings;
}

export function createAlarm(stack: Stack, declaration: AlarmDeclaration, runbookBaseUrl: string | undefined): Alarm {
  const { id, metric, threshold, periods = 1, isActiveBelow, keepsState, impactOf, text } = declaration;
  const stateWithoutData = isActiveBelow ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING;
  const alarm = new Alarm(stack, id, {
    metric,
    threshold,
    evaluationPeriods: periods,
    ...(isActiveBelow && { comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD }),
    // For metrics of AWS/DynamoDB, CloudWatch ignores missing data whatever `treatMissingData` says.
    treatMissingData: keepsState ? TreatMissingData.IGNORE : stateWithoutData,
    alarmDescription: alarmText(text, runbookBaseUrl),
  });
  if (impactOf) (alarm.node.defaultChild as CfnAlarm).addMetadata(IMPACTS, impactOf);
  return alarm;
}

export function runbookLink(section: string, runbookBaseUrl: string | undefined): string {
  const path = `infra/RUNBOOK.md#${section}`;
  return runbookBaseUrl === undefined ? path : `${runbookBaseUrl.replace(/\/$/, '')}/${path}`;
}

/** Lists as many of the first impacts as fit into a description. */
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
