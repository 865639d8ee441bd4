/** Before running a query, the operator replaces texts such as `<apiKey>` in it. */
import { CfnQueryDefinition, type LogGroup } from 'aws-cdk-lib/aws-logs';
import { Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import * as logMessages from '../../lib/observability/logMessages.ts';
import { pascal } from './names.ts';

const MAX_QUERIED_LOG_GROUPS = 50;

interface Query {
  readonly name: string;
  readonly text: readonly string[];
}

function messageIs(...messages: readonly string[]): string {
  const [first] = messages;
  return messages.length === 1
    ? `filter message = "${first}"`
    : `filter message in [${messages.map((message) => `"${message}"`).join(', ')}]`;
}

export const familyQueries = {
  faults: {
    name: 'faults of',
    text: [
      `${messageIs(logMessages.requestCompleted)} and status >= 500`,
      'stats count(*) as faults by endpoint, errorStatus, tenant',
      'sort faults desc',
    ],
  },
  ofApiKey: {
    name: 'an API key in',
    text: [
      'fields @timestamp, endpoint, status, errorStatus, durationMs, requestId',
      `${messageIs(logMessages.requestCompleted)} and tenant = "<apiKey>"`,
      'sort @timestamp desc',
      'limit 1000',
    ],
  },
  refused: {
    name: 'refused calls by API key in',
    text: [
      `${messageIs(logMessages.requestCompleted)} and ispresent(limitedClass)`,
      'stats count(*) as refused, min(@timestamp) as first, max(@timestamp) as last by tenant, limitedClass, endpoint, limitedUser',
      'sort refused desc',
    ],
  },
  messagesNotSent: {
    name: 'messages not sent in',
    text: [
      'fields @timestamp, endpoint, messages, error.name, error.message, requestId',
      messageIs(logMessages.queueMessagesNotSent),
      'sort @timestamp desc',
      'limit 1000',
    ],
  },
  ofRequest: {
    name: 'a request in',
    text: [
      'fields @timestamp, level, endpoint, message, status, errorStatus, tenant, durationMs, error.name, error.message',
      'filter requestId = "<x-request-id>"',
      'sort @timestamp asc',
    ],
  },
} as const satisfies Readonly<Record<string, Query>>;

export const workerQueries = {
  faults: {
    name: 'faults of Workers',
    text: [
      messageIs(
        logMessages.workerRunFailed,
        logMessages.queueMessageFailed,
        logMessages.streamRecordFailed,
        logMessages.sweepFailed,
        logMessages.heartbeatFailed,
        logMessages.livePublishFailed,
      ),
      'stats count(*) as faults by worker, error.name, error.message',
      'sort faults desc',
    ],
  },
  ofEndpoint: {
    name: 'failed deliveries of an endpoint',
    text: [
      `${messageIs(logMessages.webhookAttemptFailed)} and endpointId = "<endpointId>"`,
      'stats count(*) as attempts, min(@timestamp) as first, max(@timestamp) as last by outcome, responseStatus, reason',
      'sort attempts desc',
    ],
  },
  ofWebhook: {
    name: 'why a webhook does not arrive',
    text: [
      'fields @timestamp, worker, message, eventId, endpointId, attempt, outcome, responseStatus, reason, error.message',
      'filter eventId = "<messageId>" or endpointId = "<endpointId>"',
      'sort @timestamp asc',
      'limit 1000',
    ],
  },
  mails: {
    name: 'mails not sent',
    text: [
      messageIs(
        logMessages.mailFailed,
        logMessages.mailAttemptFailed,
        logMessages.mailSkipped,
        logMessages.mailProviderPaused,
      ),
      'stats count(*) as mails, min(@timestamp) as first, max(@timestamp) as last by message, status, outcome, reason, kind, tenant',
      'sort mails desc',
    ],
  },
  messagesNotSent: {
    name: 'messages not sent in Workers',
    text: [
      'fields @timestamp, worker, message, eventId, messages, error.name, error.message',
      messageIs(logMessages.queueMessagesNotSent, logMessages.eventFanOutFailed),
      'sort @timestamp desc',
      'limit 1000',
    ],
  },
} as const satisfies Readonly<Record<string, Query>>;

/** The access log also has requests that functions could not answer. */
export const gatewayQueries = {
  errors: {
    name: 'errors by endpoint',
    text: [
      'filter status >= 400',
      'stats count(*) as errors, count_distinct(requestId) as requests by route, status, integrationStatus',
      'sort errors desc',
    ],
  },
  refused: {
    name: 'refused calls by source',
    text: [
      'filter status >= 400 and status < 500',
      'stats count(*) as refused, min(@timestamp) as first, max(@timestamp) as last by sourceIp, route, status',
      'sort refused desc',
    ],
  },
  slowest: {
    name: 'slowest endpoints',
    text: [
      'stats count(*) as requests, pct(latencyMs, 50) as p50, pct(latencyMs, 99) as p99, max(latencyMs) as slowest by route',
      'sort p99 desc',
    ],
  },
  ofRequest: {
    name: 'a request by its id',
    text: [
      'fields time, sourceIp, route, path, status, latencyMs, integrationStatus, integrationError',
      'filter requestId = "<x-request-id>"',
    ],
  },
} as const satisfies Readonly<Record<string, Query>>;

const queryText = ({ text }: Query) => text.join(' | ');

/** Returns for example `CollaborationBackend/faults of V2Users`. */
function queryName(stackName: string, { name }: Query, family?: string): string {
  return [`${stackName}/${name}`, ...(family === undefined ? [] : [pascal(family)])].join(' ');
}

export function openQuery(stackName: string, query: Query, family?: string): string {
  return `open saved query "${queryName(stackName, query, family)}" in Logs Insights.`;
}

/** A query of Logs Insights can search at most 50 log groups. With more, it searches the first 50. */
export function saveQueries(
  scope: Construct,
  queries: Readonly<Record<string, Query>>,
  logGroups: readonly LogGroup[],
  family?: string,
): void {
  const { stackName } = rootOf(Stack.of(scope));
  for (const [id, query] of Object.entries(queries)) {
    new CfnQueryDefinition(scope, `${pascal(id)}Query`, {
      name: queryName(stackName, query, family),
      queryString: queryText(query),
      logGroupNames: logGroups.slice(0, MAX_QUERIED_LOG_GROUPS).map(({ logGroupName }) => logGroupName),
    });
  }
}

function rootOf(stack: Stack): Stack {
  return stack.nestedStackParent ? rootOf(stack.nestedStackParent) : stack;
}
