import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Stack } from 'aws-cdk-lib/core';
import { endpointId } from '../../lib/app/endpoint.ts';
import type { Dependency } from '../../lib/observability/dependencies.ts';
import { faultsMetric } from '../../lib/observability/faults.ts';
import { pascal } from '../constructs/names.ts';
import { familyQueries, gatewayQueries, openQuery, workerQueries } from '../constructs/savedQueries.ts';
import type { AlarmDeclaration, AlarmText, CompositeName, MonitoringProps } from './alarms.ts';
import { createAlarms, usesModels } from './composites.ts';
import { createDashboard } from './dashboard.ts';
import { heartbeatAlarms } from './heartbeatAlarms.ts';
import { byWeight, workersByWeight } from './impacts.ts';
import { liveAlarms } from './liveAlarms.ts';
import {
  accountConcurrency,
  allFunctions,
  apiFaults,
  dependencyFaults,
  familyFaults,
  indexThrottles,
  mailReputation,
  refusedDollars,
  tableThrottles,
} from './metrics.ts';
import { deliveryAlarms, queueAlarms, workerAlarms } from './workerAlarms.ts';

/** In five minutes: faults of one endpoint, or 5xx answers of the API. */
const FAULTS = 5;
/** Throttled reads and writes in five minutes. A growing table throttles some calls, which the SDK retries. */
const THROTTLES = 50;
const THROTTLED_PERIODS = 2;
const REFUSED_DOLLARS = 1;
/** Throttled runs in five minutes. A sudden load can throttle a few. */
const THROTTLED_RUNS = 5;
/** A share of the account's concurrency limit. */
const CONCURRENCY_SHARE = 0.8;
/**
 * AWS reviews an account from these shares. It may stop the account's mail from 0.1 for bounces, and from 0.005 for
 * complaints.
 */
const REVIEWED = { BounceRate: 0.05, ComplaintRate: 0.001 } as const;

export function createMonitoring(stack: Stack, props: MonitoringProps): void {
  const { alarmEmail, alarmTopicArn } = props.settings;
  const topics = [
    ...(alarmEmail === undefined ? [] : [mailTopic(stack, alarmEmail)]),
    ...(alarmTopicArn === undefined ? [] : [alarmTopicArn]),
  ];
  const groups = [
    apiAlarms,
    dependencyAlarms,
    queueAlarms,
    workerAlarms,
    deliveryAlarms,
    liveAlarms,
    heartbeatAlarms,
    accountAlarms,
  ];
  const declarations = groups.flatMap((alarmsOf) => alarmsOf(props, stack.stackName));
  createAlarms(stack, declarations, topics, props);
  createDashboard(stack, props);
}

function apiAlarms(
  { families, api, table, settings: { serviceName } }: MonitoringProps,
  stackName: string,
): AlarmDeclaration[] {
  return [
    ...families.map(({ family, functions }): AlarmDeclaration => ({
      id: `${pascal(family)}Faults`,
      metric: familyFaults(faultsMetric.frequentName, family, serviceName),
      threshold: FAULTS,
      notices: { family },
      impactOf: Object.fromEntries(functions.map(({ endpoint: { path, impact } }) => [endpointId(path), impact])),
      text: {
        broken: `An endpoint of /${family} answers with status 500 or above. CloudWatch names it under "contributors in alarm".`,
        impacts: byWeight(functions.map(({ endpoint }) => endpoint)).map(({ impact }) => impact),
        threshold: `at least ${FAULTS} such answers of one endpoint in 5 minutes, only from function instances in which at least 1 % of the calls fail.`,
        firstStep: `${openQuery(stackName, familyQueries.faults, family)} It shows which endpoint fails.`,
        runbook: 'faults',
        severity: 'high',
      },
    })),
    // The gateway also counts the answers of functions that write no metric, such as functions that cannot start.
    {
      id: 'ApiFaults',
      metric: apiFaults(api),
      threshold: FAULTS,
      notices: { through: 'GatewayCause' },
      text: {
        broken: 'The API answers with status 5xx.',
        impacts: ['requests of customers fail, possibly on every endpoint'],
        threshold: `at least ${FAULTS} such answers of all endpoints in 5 minutes, and at least 1 % of all answers.`,
        firstStep: `${openQuery(stackName, gatewayQueries.errors)} If no alarm of an API family is active, functions crash, time out or are throttled, or many endpoints have a few faults.`,
        runbook: 'api-faults',
        severity: 'high',
      },
    },
    {
      id: 'RefusedCallsCost',
      metric: refusedDollars(api),
      threshold: REFUSED_DOLLARS,
      text: {
        broken: 'Somebody sends many calls that the API refuses.',
        impacts: ['each refused call costs money, and a flood can use up the requests per second of all customers'],
        threshold: `answers with status 4xx in an hour that cost ${REFUSED_DOLLARS} dollar or more.`,
        firstStep: openQuery(stackName, gatewayQueries.refused),
        runbook: 'refused-calls',
        severity: 'high',
      },
    },
    {
      id: 'TableThrottled',
      metric: tableThrottles(table),
      threshold: THROTTLES,
      periods: THROTTLED_PERIODS,
      notices: { through: 'ThrottledTable' },
      text: {
        broken: 'The table throttles reads or writes.',
        impacts: ['requests of customers are slow or answer UNAVAILABLE, and webhooks are late'],
        threshold: `at least ${THROTTLES} throttled reads and writes in 5 minutes, ${THROTTLED_PERIODS} times in a row.`,
        firstStep: 'look at row "Table" of the dashboard. Are reads or writes throttled?',
        runbook: 'throttled-table',
        severity: 'high',
      },
    },
    // An index with a hot key can throttle while the table has capacity. DynamoDB then also throttles writes to the
    // table that change this index.
    {
      id: 'IndexThrottled',
      metric: indexThrottles(table),
      threshold: THROTTLES,
      periods: THROTTLED_PERIODS,
      notices: { through: 'ThrottledTable' },
      text: {
        broken: 'An index of the table throttles writes. CloudWatch names it under "contributors in alarm".',
        impacts: ['requests of customers are slow or answer UNAVAILABLE, and webhooks are late'],
        threshold: `at least ${THROTTLES} throttled writes to one index in 5 minutes, ${THROTTLED_PERIODS} times in a row.`,
        firstStep: 'look at row "Table" of the dashboard. Which index has many write units?',
        runbook: 'throttled-table',
        severity: 'high',
      },
    },
  ];
}

const DEPENDENCY_FAULTS = 5;

/** These alarms find an outage in which AWS itself writes no metric. */
function dependencyAlarms(
  { settings: { serviceName, mailFrom, ...settings } }: MonitoringProps,
  stackName: string,
): AlarmDeclaration[] {
  const alarm = (
    id: string,
    dependency: Dependency,
    through: CompositeName,
    { impact, ...text }: Pick<AlarmText, 'broken' | 'firstStep' | 'runbook'> & { readonly impact: string },
  ): AlarmDeclaration => ({
    id,
    metric: dependencyFaults(dependency, serviceName),
    threshold: DEPENDENCY_FAULTS,
    notices: { through },
    text: {
      ...text,
      impacts: [impact],
      threshold: `at least ${DEPENDENCY_FAULTS} requests or runs of workers in 5 minutes in which a call failed after all tries, only from function instances in which at least 1 % of them fail.`,
      severity: 'high',
    },
  });
  return [
    alarm('TableFails', 'table', 'TableCause', {
      broken: 'The table does not answer calls, or throttles them.',
      impact: 'requests of customers answer UNAVAILABLE, and webhooks and mails wait',
      firstStep: 'look at row "Table" of the dashboard, and for DynamoDB in the AWS Health Dashboard.',
      runbook: 'table-outage',
    }),
    alarm('QueuesFail', 'queues', 'QueuesCause', {
      broken: 'Amazon SQS does not accept messages of the service.',
      impact: 'webhooks, mails and jobs are late. No work is lost',
      firstStep: openQuery(stackName, workerQueries.messagesNotSent),
      runbook: 'queue-outage',
    }),
    ...(usesModels(settings)
      ? [
          alarm('ModelFails', 'model', 'ModelCause', {
            broken: 'Amazon Bedrock does not answer, or throttles the calls of a model.',
            impact:
              'searches in judgments and questions about files answer UNAVAILABLE, and new judgments are found late',
            firstStep: 'look at row "/v2/memory" of the dashboard. Do calls fail?',
            runbook: 'model-outage',
          }),
        ]
      : []),
    ...(mailFrom === undefined
      ? []
      : [
          alarm('LoginLinksFail', 'mail', 'MailCause', {
            broken: 'Amazon SES does not accept the mails with login links.',
            impact: 'owners cannot log in to their workspaces',
            firstStep: openQuery(stackName, familyQueries.faults, 'v2/workspace'),
            runbook: 'failing-mail',
          }),
        ]),
  ];
}

/** Other services in the account use up the same limits. */
function accountAlarms({
  workers,
  settings: { accountConcurrency: limit, mailFrom },
}: MonitoringProps): AlarmDeclaration[] {
  const concurrency: AlarmDeclaration = {
    id: 'ConcurrencyHigh',
    metric: accountConcurrency(),
    threshold: limit * CONCURRENCY_SHARE,
    text: {
      broken: 'The functions of this AWS account are near the limit of concurrent executions.',
      impacts: ['at the limit, requests of customers get status 503 and webhooks are late'],
      threshold: `${limit * CONCURRENCY_SHARE} executions at the same time, of ${limit} (setting accountConcurrency).`,
      firstStep: 'look at graph "Concurrent executions" of the dashboard. Which function runs often or long?',
      runbook: 'high-concurrency',
      severity: 'high',
    },
  };
  // Lambda's metrics of single functions would cost more than all other alarms, so this one watches the account.
  const throttles: AlarmDeclaration = {
    id: 'FunctionsThrottled',
    metric: allFunctions('Throttles'),
    threshold: THROTTLED_RUNS,
    text: {
      broken: 'Lambda throttles functions or workers of this AWS account.',
      impacts: [
        'requests of customers get status 503',
        ...workersByWeight(workers.map(({ worker }) => worker)).map(({ name, impact }) => `${name}: ${impact}`),
      ],
      threshold: `at least ${THROTTLED_RUNS} throttled runs of all functions of the account in 5 minutes.`,
      firstStep:
        'look at graphs "Concurrent executions" and "Throttled runs" of the dashboard. Which worker is throttled?',
      runbook: 'throttled-functions',
      severity: 'high',
    },
  };
  if (mailFrom === undefined) return [concurrency, throttles];
  return [
    concurrency,
    throttles,
    mailReputationAlarm('BounceRate', 'bounce'),
    mailReputationAlarm('ComplaintRate', 'are reported as spam'),
  ];
}

function mailReputationAlarm(name: keyof typeof REVIEWED, verb: string): AlarmDeclaration {
  return {
    id: name === 'BounceRate' ? 'MailBounces' : 'MailComplaints',
    metric: mailReputation(name),
    threshold: REVIEWED[name],
    keepsState: true,
    text: {
      broken: `Too many mails of this AWS account ${verb}.`,
      impacts: ['Amazon SES may stop sending the mails of all workspaces'],
      threshold: `${REVIEWED[name] * 100} % of the mails that AWS counts. At this share AWS reviews an account.`,
      firstStep: 'look at graph "Bounces and complaints, share" of the dashboard. Since when does the share rise?',
      runbook: 'mail-reputation',
      severity: 'high',
    },
  };
}

function mailTopic(stack: Stack, email: string): string {
  const topic = new Topic(stack, 'Alarms', { enforceSSL: true });
  // The policy that `enforceSSL` adds replaces the default policy of the topic, with which the alarms of this account
  // could publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': stack.account } },
    }),
  );
  topic.addSubscription(new EmailSubscription(email));
  return topic.topicArn;
}
