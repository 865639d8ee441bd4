import { beforeAll, describe, expect, test } from '@jest/globals';
import { pascal } from '../../infra/constructs/names.ts';
import { queueNames } from '../../infra/constructs/queues.ts';
import { type FromInserts, type Worker, workerId } from '../../lib/app/worker.ts';
import { workerCapabilities } from '../../lib/workers/capabilities.ts';
import { queues } from '../../lib/workers/queues.ts';
import { times } from '../support/times.ts';
import {
  type Assembly,
  assemblyOf,
  functionOf,
  functionsOf,
  functionsWithRoleOf,
  pairsOf,
  type Resource,
  resources,
  roleOf,
  statementsOf,
  type Template,
} from './assembly.ts';
import { greedy, registered } from './endpoints.ts';
import { arnOf, complete, expectedEnvironment, grantedPairs, joined, logPairs } from './expected.ts';
import { fakeWorkers, workers } from './workers.ts';

let assembly: Assembly;
let template: Template;
beforeAll(() => {
  assembly = assemblyOf(registered, complete);
  template = assembly.workers!;
});

const streamArn = { 'Fn::GetAtt': ['Table', 'StreamArn'] };

/** Returns the properties of a function's only event source mapping. */
function mappingOf(id: string): Record<string, any> {
  const [mapping, ...more] = resources(template, 'AWS::Lambda::EventSourceMapping').filter(
    ([, { Properties }]) => Properties.FunctionName.Ref === id,
  );
  if (!mapping || more.length > 0) throw new Error(`${id}: not exactly one event source mapping`);
  return mapping[1].Properties;
}

/** Returns the permissions that Lambda needs to read the source of a worker. */
function readingPairs({ on }: Worker): string[] {
  if ('queue' in on) {
    return pairsOf([
      {
        Resource: arnOf(`${pascal(on.queue)}Queue`),
        Action: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ChangeMessageVisibility'],
      },
    ]);
  }
  if (!('inserts' in on)) return [];
  return pairsOf([
    // The permission covers every stream of the table, because restoring the table creates a new stream.
    {
      Resource: joined(arnOf('Table'), '/stream/*'),
      Action: ['dynamodb:GetRecords', 'dynamodb:GetShardIterator', 'dynamodb:DescribeStream', 'dynamodb:ListStreams'],
    },
    { Resource: arnOf('StreamDeadLetters'), Action: 'sqs:SendMessage' },
  ]);
}

describe.each(workers.map((worker) => [worker.name, worker] as const))('the worker %s', (name, worker) => {
  const find = (): [id: string, resource: Resource] => functionOf(template, workerId(name));

  test('has its own function with a readable name in the workers stack', () => {
    expect(find()[0]).toBe(pascal(name));
    expect(find()[1].Properties).toMatchObject({
      Description: worker.summary,
      MemorySize: 512,
      Timeout: worker.timeoutSeconds,
    });
  });

  test('has exactly the environment variables of its capabilities', () => {
    expect(find()[1].Properties.Environment.Variables).toEqual(expectedEnvironment(workerCapabilities(worker)));
  });

  test('has exactly the permissions of its capabilities, its source and its log', () => {
    const [, resource] = find();
    const expected = [
      ...logPairs(resource.Properties.LoggingConfig.LogGroup.Ref),
      ...grantedPairs(workerCapabilities(worker)),
      ...readingPairs(worker),
    ];
    expect(pairsOf(statementsOf(roleOf(template, resource)))).toEqual([...new Set(expected)].sort());
  });

  test('has its own role', () => {
    const [id, resource] = find();
    expect(functionsWithRoleOf(template, resource)).toEqual([id]);
  });

  test('is called only by the queue, stream or schedule that it declares', () => {
    const [id] = find();
    const mappings = resources(template, 'AWS::Lambda::EventSourceMapping')
      .filter(([, { Properties }]) => Properties.FunctionName.Ref === id)
      .map(([, { Properties }]) => Properties.EventSourceArn);
    const rules = resources(template, 'AWS::Events::Rule').filter(([, { Properties }]) =>
      JSON.stringify(Properties.Targets).includes(JSON.stringify(arnOf(id))),
    );
    expect(mappings).toEqual(
      'queue' in worker.on ? [arnOf(`${pascal(worker.on.queue)}Queue`)] : 'inserts' in worker.on ? [streamArn] : [],
    );
    expect(rules).toHaveLength('every' in worker.on ? 1 : 0);
  });
});

describe('a queue', () => {
  test.each(queueNames)(
    "%s has a dead-letter queue, and a visibility timeout of six times the worker's timeout",
    (name) => {
      const consumer = workers.find(({ on }) => 'queue' in on && on.queue === name)!;
      expect(assembly.root.Resources[`${pascal(name)}Queue`]).toMatchObject({
        Type: 'AWS::SQS::Queue',
        Properties: {
          VisibilityTimeout: 6 * consumer.timeoutSeconds,
          MessageRetentionPeriod: 1_209_600,
          SqsManagedSseEnabled: true,
          RedrivePolicy: { deadLetterTargetArn: arnOf(`${pascal(name)}DeadLetters`), maxReceiveCount: 5 },
        },
      });
      expect(assembly.root.Resources[`${pascal(name)}DeadLetters`]).toMatchObject({
        Type: 'AWS::SQS::Queue',
        Properties: { MessageRetentionPeriod: 1_209_600, SqsManagedSseEnabled: true },
      });
    },
  );

  test('is a standard queue in the root stack', () => {
    const everywhere = resources(assembly.templates, 'AWS::SQS::Queue');
    expect(everywhere).toHaveLength(2 * queueNames.length + 1);
    expect(resources(assembly.root, 'AWS::SQS::Queue')).toHaveLength(everywhere.length);
    for (const [, { Properties }] of everywhere) expect(Properties.FifoQueue).toBeUndefined();
  });

  test('refuses connections without TLS', () => {
    const policies = resources(assembly.root, 'AWS::SQS::QueuePolicy').map(([, { Properties }]) => Properties);
    expect(policies.map(({ Queues }) => Queues)).toEqual(
      resources(assembly.root, 'AWS::SQS::Queue').map(([Ref]) => [{ Ref }]),
    );
    for (const {
      Queues: [{ Ref }],
      PolicyDocument,
    } of policies) {
      expect(PolicyDocument.Statement).toEqual([
        {
          Effect: 'Deny',
          Principal: '*',
          Action: 'sqs:*',
          Resource: arnOf(Ref),
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        },
      ]);
    }
  });

  test('is created even if no worker consumes it', () => {
    const { root, workers: stack } = assemblyOf([greedy], {}, { workers: [] });
    expect(stack).toBeUndefined();
    for (const name of queueNames)
      expect(root.Resources[`${pascal(name)}Queue`]?.Properties.VisibilityTimeout).toBe(180);
  });

  test('is refused if two workers consume it', () => {
    const [first] = fakeWorkers as [Worker];
    expect(() => assemblyOf([greedy], {}, { workers: [first, { ...first, name: 'another' }] })).toThrow(
      "consumeDeliver and another would receive each other's messages from the queue deliver",
    );
  });
});

describe('the source of a worker', () => {
  test.each(workers.filter(({ on }) => 'queue' in on))(
    '$name gets batches, reports failed messages, and has a concurrency limit on its mapping',
    ({ name, on }) => {
      const { batchSize, maxConcurrency } = queues[(on as { queue: keyof typeof queues }).queue];
      expect(mappingOf(pascal(name))).toMatchObject({
        BatchSize: batchSize,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: maxConcurrency },
      });
      expect(maxConcurrency).toBeGreaterThanOrEqual(2);
      expect(maxConcurrency).toBeLessThanOrEqual(1_000);
    },
  );

  test.each(workers.filter(({ on }) => 'inserts' in on))(
    '$name reads inserted items from the oldest record on, and a failing record does not block others',
    ({ name, on }) => {
      const { FilterCriteria, ...mapping } = mappingOf(pascal(name));
      expect(FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern))).toEqual([
        { eventName: ['INSERT'], dynamodb: { NewImage: { _t: { S: (on as FromInserts).inserts } } } },
      ]);
      expect(mapping).toMatchObject({
        StartingPosition: 'TRIM_HORIZON',
        BatchSize: 100,
        ParallelizationFactor: 2,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        BisectBatchOnFunctionError: true,
        MaximumRetryAttempts: 20,
        MaximumRecordAgeInSeconds: 21_600,
        DestinationConfig: { OnFailure: { Destination: arnOf('StreamDeadLetters') } },
      });
    },
  );

  test.each(workers.filter(({ on }) => 'every' in on))('$name runs every minute, without retries', ({ name }) => {
    const [rule] = resources(template, 'AWS::Events::Rule')
      .map(([, { Properties }]) => Properties)
      .filter(({ Targets }) => JSON.stringify(Targets).includes(JSON.stringify(arnOf(pascal(name)))));
    expect(rule).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      Targets: [{ Arn: arnOf(pascal(name)), RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } }],
    });
    const invocations = resources(template, 'AWS::Lambda::EventInvokeConfig').filter(
      ([, { Properties }]) => Properties.FunctionName.Ref === pascal(name),
    );
    expect(invocations.map(([, { Properties }]) => Properties)).toEqual([
      expect.objectContaining({ Qualifier: '$LATEST', MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 }),
    ]);
  });

  test('is refused if more than two workers read the stream', () => {
    const follow = fakeWorkers.find(({ on }) => 'inserts' in on)!;
    const readers = (count: number) => times(count, (n) => ({ ...follow, name: `${follow.name}${n}` }));
    expect(functionsOf(assemblyOf([greedy], {}, { workers: readers(2) }).workers!)).toHaveLength(2);
    expect(() => assemblyOf([greedy], {}, { workers: readers(3) })).toThrow(
      "More than 2 workers read the table's stream",
    );
  });
});

describe('saveQueries', () => {
  test('saves queries over the logs of all workers, also for all messages of faults', () => {
    const queries = new Map(
      resources(template, 'AWS::Logs::QueryDefinition').map(([, { Properties }]) => [
        Properties.Name as string,
        Properties,
      ]),
    );
    for (const { LogGroupNames } of queries.values())
      expect(LogGroupNames).toEqual(
        functionsOf(template).map(([, { Properties }]) => Properties.LoggingConfig.LogGroup),
      );
    expect(queries.get('CollaborationBackend/faults of Workers')!.QueryString).toMatch(
      /message in \["worker run failed", "queue message failed", "stream record failed", "sweep failed", "heartbeat failed", "live publish failed"\].* by worker,/,
    );
  });
});
