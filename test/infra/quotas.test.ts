import { beforeAll, describe, expect, test } from '@jest/globals';
import { deliveryMetrics } from '../../lib/observability/deliveryMetrics.ts';
import { dependencyMetric, faultsMetric } from '../../lib/observability/faults.ts';
import { rateLimitedMetric } from '../../lib/observability/rateLimited.ts';
import { type Assembly, assemblyOf, functionsOf, isReference, resources } from './assembly.ts';
import { certificateArn, domainName, greedy, registered } from './endpoints.ts';

/** The AWS quotas that a deployment can exceed. AWS raises only one of them on request: the number of routes. */
const quotas = {
  environmentBytes: 4_096,
  policyCharacters: 10_240,
  templateBytes: 1_000_000,
  descriptionCharacters: 1_024,
  routes: 300,
  lambdaTimeoutSeconds: 900,
};

/**
 * The AWS metrics that alarms and the dashboard read, by namespace. A misspelt metric has no data, so its alarm would
 * never be active.
 */
const awsMetrics: Readonly<Record<string, readonly string[]>> = {
  'AWS/ApiGateway': ['4xx', '5xx', 'Count', 'DataProcessed', 'IntegrationLatency', 'Latency'],
  'AWS/DynamoDB': [
    'AccountProvisionedReadCapacityUtilization',
    'ConditionalCheckFailedRequests',
    'ConsumedReadCapacityUnits',
    'ConsumedWriteCapacityUnits',
    'ReadThrottleEvents',
    'SuccessfulRequestLatency',
    'SystemErrors',
    'TransactionConflict',
    'WriteThrottleEvents',
  ],
  'AWS/Events': ['FailedInvocations', 'Invocations', 'MatchedEvents'],
  'AWS/Lambda': [
    'AsyncEventsDropped',
    'ConcurrentExecutions',
    'DeadLetterErrors',
    'Duration',
    'Errors',
    'Invocations',
    'IteratorAge',
    'RecursiveInvocationsDropped',
    'Throttles',
  ],
  'AWS/SES': ['Bounce', 'Complaint', 'Delivery', 'Reject', 'Reputation.BounceRate', 'Reputation.ComplaintRate', 'Send'],
  'AWS/SQS': [
    'ApproximateAgeOfOldestMessage',
    'ApproximateNumberOfMessagesNotVisible',
    'ApproximateNumberOfMessagesVisible',
    'NumberOfMessagesDeleted',
    'NumberOfMessagesReceived',
    'NumberOfMessagesSent',
  ],
};
const ownMetrics = [
  ...Object.keys(deliveryMetrics),
  faultsMetric.name,
  faultsMetric.frequentName,
  rateLimitedMetric.name,
  dependencyMetric.name,
];

let assembly: Assembly;
beforeAll(() => {
  const settings = { alarmEmail: 'ops@example.com', mailFrom: 'no-reply@example.com', domainName, certificateArn };
  assembly = assemblyOf([...registered, greedy], settings);
});
const ofType = (type: string) => resources(assembly.templates, type);

/**
 * Returns the size of a value in bytes. A reference counts as 100 bytes, because its value is known only in a
 * deployment.
 */
function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value, (_key, node) => (isReference(node) ? 'x'.repeat(100) : node)));
}

/** Returns all objects in a value at any depth. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const children = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? children : [value as Record<string, unknown>, ...children];
}

describe('the quotas of AWS', () => {
  test('for environment variables are kept by every function, even with long values for references', () => {
    for (const [id, { Properties }] of functionsOf(assembly.templates))
      expect([id, sizeOf(Properties.Environment?.Variables ?? {}) <= quotas.environmentBytes]).toEqual([id, true]);
  });

  test('for timeouts are kept by every function', () => {
    for (const [, { Properties }] of functionsOf(assembly.templates)) {
      expect(Properties.Timeout).toBeLessThanOrEqual(quotas.lambdaTimeoutSeconds);
      expect([128, 256, 512, 1_024, 1_769, 2_048, 3_008]).toContain(Properties.MemorySize);
    }
  });

  test('for inline policies are kept by every role', () => {
    const roles = ofType('AWS::IAM::Role');
    expect(roles.length).toBeGreaterThan(100);
    for (const [id, { Properties }] of roles) {
      const documents = (Properties.Policies ?? []) as { PolicyDocument: unknown }[];
      const characters = documents.reduce((sum, { PolicyDocument }) => sum + sizeOf(PolicyDocument), 0);
      expect([id, characters <= quotas.policyCharacters]).toEqual([id, true]);
    }
  });

  test('for templates are kept by every stack', () => {
    for (const template of assembly.templates)
      expect(Buffer.byteLength(JSON.stringify(template))).toBeLessThan(quotas.templateBytes);
  });

  test('for routes are kept by the API', () => {
    const routes = ofType('AWS::ApiGatewayV2::Route');
    expect(routes.length).toBeGreaterThan(100);
    expect(routes.length).toBeLessThanOrEqual(quotas.routes);
  });

  test('for alarm texts are kept, and no alarm has more than ten metrics', () => {
    for (const [id, { Properties }] of ofType('AWS::CloudWatch::Alarm')) {
      expect([id, String(Properties.AlarmDescription).length <= quotas.descriptionCharacters]).toEqual([id, true]);
      const metrics = ((Properties.Metrics ?? []) as object[]).filter((metric) => 'MetricStat' in metric);
      expect([id, metrics.length <= 10]).toEqual([id, true]);
    }
  });
});

describe('a queue that Lambda polls', () => {
  test('hides a received message for at least the timeout of its worker, as AWS requires', () => {
    const mappings = ofType('AWS::Lambda::EventSourceMapping').filter(([, { Properties }]) => Properties.ScalingConfig);
    expect(mappings.length).toBeGreaterThan(3);
    const resourceOf = new Map(resources(assembly.templates));
    for (const [id, { Properties }] of mappings) {
      const { Timeout } = resourceOf.get(Properties.FunctionName.Ref)!.Properties;
      const { VisibilityTimeout } = resourceOf.get(Properties.EventSourceArn['Fn::GetAtt'][0])!.Properties;
      expect([id, VisibilityTimeout >= Timeout]).toEqual([id, true]);
      expect(Properties.ScalingConfig.MaximumConcurrency).toBeGreaterThanOrEqual(2);
      expect(Properties.ScalingConfig.MaximumConcurrency).toBeLessThanOrEqual(1_000);
    }
  });

  test('keeps messages for at most 14 days', () => {
    for (const [, { Properties }] of ofType('AWS::SQS::Queue'))
      expect(Properties.MessageRetentionPeriod ?? 345_600).toBeLessThanOrEqual(1_209_600);
  });
});

describe('metrics', () => {
  test('of alarms are all written by AWS or by this service', () => {
    const simple = ofType('AWS::CloudWatch::Alarm')
      .flatMap(([, { Properties }]) => objectsIn(Properties))
      .filter(({ Namespace, MetricName }) => Namespace !== undefined && MetricName !== undefined)
      .map(({ Namespace, MetricName }) => [Namespace as string, MetricName as string] as const);
    const queried = ofType('AWS::CloudWatch::Alarm')
      .flatMap(([, { Properties }]) => objectsIn(Properties))
      .map(({ Expression }) => JSON.stringify(Expression ?? ''))
      .flatMap((text) => [...text.matchAll(/SELECT \w+\(\\?"?([\w.]+)\\?"?\) FROM SCHEMA\(\\?"([^"\\]+)/g)])
      .map(([, name = '', namespace = '']) => [namespace, name] as const);
    expect([simple.length > 20, queried.length > 10]).toEqual([true, true]);
    const unknown = [...simple, ...queried].filter(
      ([namespace, name]) => !(awsMetrics[namespace] ?? ownMetrics).includes(name),
    );
    expect(unknown).toEqual([]);
  });
});
