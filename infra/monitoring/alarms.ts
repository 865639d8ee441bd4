import type { Stack } from 'aws-cdk-lib';
import type { CfnApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import type { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import type { Queues } from '../constructs/queues.ts';
import type { FamilyStack } from '../stacks/family.ts';
import { alarmText, type AlarmText } from './alarmText.ts';
import type { Settings } from '../stacks/settings.ts';
import type { WorkersStack } from '../stacks/workers.ts';

export interface MonitoringProps {
  readonly families: readonly FamilyStack[];
  readonly workers: WorkersStack['functions'];
  readonly api: CfnApi;
  readonly table: CfnTable;
  readonly queues: Queues;
  readonly streamDeadLetters: CfnQueue;
  readonly settings: Settings;
}

/** An alarm that rings as soon as, or when for so many periods of the metric, the metric is at `threshold` or above. */
export interface AlarmDeclaration {
  readonly id: string;
  readonly metric: IMetric;
  readonly threshold: number;
  readonly periods?: number;
  /** Rings below the threshold instead, and also when there is no data at all. */
  readonly whenMissing?: true;
  readonly text: AlarmText;
}

/** Creates an alarm as declared; one without data rings only with `whenMissing`. */
export function createAlarm(
  stack: Stack,
  { id, metric, threshold, periods = 1, whenMissing, text }: AlarmDeclaration,
  runbookBaseUrl: string | undefined,
): Alarm {
  return new Alarm(stack, id, {
    metric,
    threshold,
    evaluationPeriods: periods,
    ...(whenMissing && { comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD }),
    treatMissingData: whenMissing ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    alarmDescription: alarmText(text, runbookBaseUrl),
  });
}
