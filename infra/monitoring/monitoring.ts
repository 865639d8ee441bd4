import type { Stack } from 'aws-cdk-lib';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { type AlarmDeclaration, createAlarm, type MonitoringProps } from './alarms.ts';
import { runbooks } from './alarmText.ts';
import { createDashboard } from './dashboard.ts';
import { apiMetric, faultsOf, tableThrottles } from './metrics.ts';
import { pascal } from '../constructs/names.ts';
import { familyQueries, gatewayQueries, queryName } from './savedQueries.ts';
import { deliveryAlarms, queueAlarms, workerAlarms } from './workerAlarms.ts';

/** How many failed requests within five minutes wake someone. */
const THRESHOLD = 5;
/** A table that grows refuses some for a moment, and the SDK repeats them. */
const THROTTLES = 50;
const PERIODS_OF_THROTTLING = 2;

/** The alarms, whom they notify, and the dashboard: all of it derived from the registries. */
export function createMonitoring(stack: Stack, props: MonitoringProps): void {
  const {
    settings: { alarmEmail, runbookBaseUrl },
  } = props;
  const { stackName } = stack;
  const notify = alarmEmail === undefined ? undefined : notifier(stack, alarmEmail);
  for (const declaration of [
    ...apiAlarms(props, stackName),
    ...queueAlarms(props, stackName),
    ...workerAlarms(props, stackName),
    ...deliveryAlarms(props, stackName),
  ]) {
    const alarm = createAlarm(stack, declaration, runbookBaseUrl);
    if (notify) alarm.addAlarmAction(notify);
  }
  createDashboard(stack, props);
}

function apiAlarms(
  { families, api, table, settings: { serviceName } }: MonitoringProps,
  stackName: string,
): AlarmDeclaration[] {
  return [
    ...families.map(({ family, functions }): AlarmDeclaration => ({
      id: `${pascal(family)}Faults`,
      metric: faultsOf(family, serviceName),
      threshold: THRESHOLD,
      text: {
        happens: `An endpoint of /${family} answered 500 or above at least ${THRESHOLD} times in 5 minutes. The alarm's contributors name it.`,
        severity: 'high',
        runbook: runbooks.faults,
        query: queryName(stackName, familyQueries.faults, family),
        impacts: functions.map(({ endpoint }) => endpoint.impact),
      },
    })),
    // A function that cannot start, runs out of time or is throttled reports nothing itself; the gateway sees its 5xx.
    {
      id: 'ApiFaults',
      metric: apiMetric(api, '5xx', 'Sum'),
      threshold: THRESHOLD,
      text: {
        happens: `The API answered 5xx at least ${THRESHOLD} times in 5 minutes. If no family's alarm rings with this one, functions crash, run out of time or are throttled, or many endpoints fail a little.`,
        severity: 'high',
        runbook: runbooks.apiFaults,
        query: queryName(stackName, gatewayQueries.errors),
        impacts: ['requests fail, whichever endpoint they are for'],
      },
    },
    {
      id: 'TableThrottled',
      metric: tableThrottles(table),
      threshold: THROTTLES,
      periods: PERIODS_OF_THROTTLING,
      text: {
        happens: `The table refused at least ${THROTTLES} reads and writes in 5 minutes, for ${PERIODS_OF_THROTTLING * 5} minutes. The SDK repeats them, which is slow, and gives up in the end.`,
        severity: 'high',
        runbook: runbooks.throttledTable,
        impacts: ['requests are slow or answer UNAVAILABLE, deliveries come late'],
      },
    },
  ];
}

function notifier(stack: Stack, email: string): SnsAction {
  const topic = new Topic(stack, 'Alarms', { enforceSSL: true });
  // A policy of its own, such as the one that enforces TLS, replaces the one by which SNS lets this account's alarms publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    }),
  );
  topic.addSubscription(new EmailSubscription(email));
  return new SnsAction(topic);
}
