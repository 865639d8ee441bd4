import type { Stack } from 'aws-cdk-lib';
import type { CfnApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Alarm, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { alarmText, FAULTS_QUERY } from './alarmText.ts';
import { createDashboard } from './dashboard.ts';
import type { FamilyStack } from './familyStack.ts';
import { apiMetric, faultsOf } from './metrics.ts';
import { pascal } from './names.ts';
import type { Settings } from './settings.ts';

export interface MonitoringProps {
  readonly families: readonly FamilyStack[];
  readonly api: CfnApi;
  readonly table: CfnTable;
  readonly settings: Settings;
}

/** How many failed requests within five minutes wake someone. */
const THRESHOLD = 5;

/** The alarms, whom they notify, and the dashboard: all of it derived from the registry. */
export function createMonitoring(stack: Stack, { families, api, table, settings }: MonitoringProps): void {
  const { alarmEmail, serviceName } = settings;
  const notify = alarmEmail === undefined ? undefined : notifier(stack, alarmEmail);
  const createAlarm = (id: string, metric: IMetric, alarmDescription: string) => {
    const alarm = new Alarm(stack, id, { metric, threshold: THRESHOLD, evaluationPeriods: 1, treatMissingData: TreatMissingData.NOT_BREACHING, alarmDescription });
    if (notify) alarm.addAlarmAction(notify);
  };

  for (const { family, functions } of families) {
    createAlarm(`${pascal(family)}Faults`, faultsOf(family, serviceName), alarmText({
      happens: `Endpoints of /${family} answered 500 or above at least ${THRESHOLD} times in 5 minutes.`,
      query: FAULTS_QUERY,
      impacts: functions.map(({ endpoint }) => endpoint.impact),
    }));
  }
  // A function that cannot start, runs out of time or is throttled reports nothing itself; the gateway sees its 5xx.
  createAlarm('ApiFaults', apiMetric(api, '5xx', 'Sum'), alarmText({
    happens: `The API answered 5xx at least ${THRESHOLD} times in 5 minutes. If no family's alarm rings with this one, functions crash, run out of time or are throttled.`,
    impacts: ['requests fail, whichever endpoint they are for'],
  }));
  createDashboard(stack, { families, api, table, serviceName });
}

function notifier(stack: Stack, email: string): SnsAction {
  const topic = new Topic(stack, 'Alarms', { enforceSSL: true });
  // A policy of its own, such as the one that enforces TLS, replaces the one by which SNS lets this account's alarms publish.
  topic.addToResourcePolicy(new PolicyStatement({
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    actions: ['sns:Publish'],
    resources: [topic.topicArn],
    conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
  }));
  topic.addSubscription(new EmailSubscription(email));
  return new SnsAction(topic);
}
