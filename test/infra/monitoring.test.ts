import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build/build.ts';
import { registeredWorkers } from '../../infra/build/registry.ts';
import { ALARM as SMOKE_ALARM } from '../../infra/commands/smoke/alarm.ts';
import { pascal } from '../../infra/constructs/names.ts';
import { queueNames } from '../../infra/constructs/queues.ts';
import { alarmText } from '../../infra/monitoring/alarms.ts';
import { byWeight, workersByWeight } from '../../infra/monitoring/impacts.ts';
import { endpointId, familyOf, pathInFamily } from '../../lib/app/endpoint.ts';
import { deliveryMetrics } from '../../lib/observability/deliveryMetrics.ts';
import { faultsMetric } from '../../lib/observability/faults.ts';
import * as logMessages from '../../lib/observability/logMessages.ts';
import { limitedClasses } from '../../lib/observability/rateLimited.ts';
import { type QueueDeclaration, queues } from '../../lib/workers/queues.ts';
import { times } from '../support/times.ts';
import { type Assembly, assemblyOf, functionsOf, type Resource, resources, type Template } from './assembly.ts';
import { greedy, ownFunctions, registered } from './endpoints.ts';
import { workers } from './workers.ts';

const endpoints = [...registered, greedy];
const impactLine = ({ name, impact }: (typeof workers)[number]) => `${name}: ${impact}`;
const functions = [...ownFunctions, greedy];
const COMPOSITE = 'AWS::CloudWatch::CompositeAlarm';
/** The workers that read the table's stream. */
const behind = workers.filter(({ on }) => 'inserts' in on || 'changes' in on).map(({ name }) => name);
let assembly: Assembly;
let alarms: [id: string, resource: Resource][];
let composites: [id: string, resource: Resource][];
/** The root stack of a deployment with other settings, and without `alarmEmail`. */
let otherRoot: Template;
let otherAlarms: [id: string, resource: Resource][];
beforeAll(() => {
  assembly = assemblyOf(endpoints, { alarmEmail: 'ops@example.com', serviceName: 'acme' });
  alarms = resources(assembly.root, 'AWS::CloudWatch::Alarm');
  composites = resources(assembly.root, COMPOSITE);
  otherRoot = assemblyOf(
    registered,
    {
      runbookBaseUrl: 'https://git.example.com/team/backend/blob/main/',
      accountConcurrency: 50,
      mailFrom: 'app@example.com',
      live: 'on',
      heartbeat: 'on',
    },
    { workers: registeredWorkers() },
  ).root;
  otherAlarms = resources(otherRoot, 'AWS::CloudWatch::Alarm');
});

/** Returns the ids of the alarms in the rule of a composite alarm. */
function childrenOf({ Properties: { AlarmRule } }: Resource): string[] {
  return [...JSON.stringify(AlarmRule).matchAll(/"Fn::GetAtt":\["(\w+)","Arn"\]/g)].map(([, id = '']) => id);
}

/** Returns the properties of the alarm with this id. The hash that the CDK appends to ids is ignored. */
function alarm(id: string): Resource['Properties'] {
  const [alarm, ...more] = alarms.filter(([name]) => name.slice(0, -8) === id);
  if (!alarm || more.length > 0) throw new Error(`${id}: not exactly one alarm`);
  return alarm[1].Properties;
}

/** Returns the anchors of a page. The heading `## API faults` has the anchor `api-faults`. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('createMonitoring', () => {
  test('creates one alarm per family that counts each endpoint, one for the API and one for the table', () => {
    expect([...assembly.families.keys()].map((family) => alarm(`${pascal(family)}Faults`).Metrics)).toEqual(
      [...assembly.families.keys()].map((family) => [
        expect.objectContaining({
          Expression: `SELECT SUM(FrequentFaults) FROM SCHEMA("CollaborationBackend", service, family, endpoint) WHERE service = 'acme' AND family = '${family}' GROUP BY endpoint ORDER BY SUM() DESC`,
          Period: 300,
          ReturnData: true,
        }),
      ]),
    );
    expect(alarm('ApiFaults').Metrics).toEqual([
      expect.objectContaining({ Expression: 'FILL(faults, 0) * (FILL(faults, 0) >= 0.01 * FILL(answers, 0))' }),
      ...[
        ['faults', '5xx'],
        ['answers', 'Count'],
      ].map(([Id, MetricName]) => ({
        Id,
        MetricStat: {
          Metric: { Namespace: 'AWS/ApiGateway', MetricName, Dimensions: [{ Name: 'ApiId', Value: { Ref: 'Api' } }] },
          Period: 300,
          Stat: 'Sum',
        },
        ReturnData: false,
      })),
    ]);
    expect(alarm('TableThrottled')).toMatchObject({ Threshold: 50, EvaluationPeriods: 2 });
    expect(alarm('IndexThrottled')).toMatchObject({
      Threshold: 50,
      EvaluationPeriods: 2,
      Metrics: [
        {
          Expression: {
            'Fn::Join': [
              '',
              [
                'SELECT SUM(WriteThrottleEvents) FROM SCHEMA("AWS/DynamoDB", TableName, GlobalSecondaryIndexName) WHERE TableName = \'',
                { Ref: 'Table' },
                "' GROUP BY GlobalSecondaryIndexName ORDER BY SUM() DESC",
              ],
            ],
          },
        },
      ],
    });
  });

  test('sets fault alarms to five faults in five minutes, and to OK without data', () => {
    for (const id of [
      ...[...assembly.families.keys()].map((family) => `${pascal(family)}Faults`),
      'ApiFaults',
      'WorkersFail',
      'WorkersCrash',
    ]) {
      expect(alarm(id)).toMatchObject({
        EvaluationPeriods: 1,
        Threshold: 5,
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        TreatMissingData: 'notBreaching',
      });
    }
  });

  test('sends a notice when an alarm becomes active and when it is OK, itself or through one composite alarm', () => {
    const [[topic]] = resources(assembly.root, 'AWS::SNS::Topic') as [[string, Resource]];
    const acting = [...composites, ...alarms].filter(([, { Properties }]) => Properties.AlarmActions);
    const through = acting.flatMap(([id, { Type, ...resource }]) =>
      Type === COMPOSITE ? childrenOf({ Type, ...resource }) : [id],
    );
    expect(through.sort()).toEqual(alarms.map(([id]) => id).sort());
    for (const [, { Properties }] of acting) {
      expect(Properties.AlarmActions).toEqual([{ Ref: topic }]);
      expect(Properties.OKActions).toEqual([{ Ref: topic }]);
    }
    expect(resources(assembly.root, 'AWS::SNS::Subscription')[0]?.[1].Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@example.com',
      TopicArn: { Ref: topic },
    });
  });

  test('lets CloudWatch publish to the topic of the alarms', () => {
    const [[, policy]] = resources(assembly.root, 'AWS::SNS::TopicPolicy') as [[string, Resource]];
    expect(policy.Properties.PolicyDocument.Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
      }),
    );
  });

  test('describes what is broken, the impact, the threshold, the first step and the severity', () => {
    for (const [family] of assembly.families) {
      const [, alarm] = alarms.find(([id]) => id.startsWith(`${pascal(family)}Faults`))!;
      const impacts = functions.filter(({ path }) => familyOf(path) === family).map(({ impact }) => impact);
      const text = alarm.Properties.AlarmDescription as string;
      const listedImpacts = impacts.filter((impact) => text.includes(impact));
      expect(listedImpacts.length).toBeGreaterThan(0);
      if (listedImpacts.length < impacts.length) expect(text).toMatch(/^- and \d+ more$/m);
      expect(text).toMatch(
        new RegExp(
          `^First step: open saved query "CollaborationBackend/faults of ${pascal(family)}" in Logs Insights. It shows which endpoint fails.$`,
          'm',
        ),
      );
    }
    for (const [, { Properties }] of alarms) {
      expect(Properties.AlarmDescription).toMatch(
        /^[A-Z].*\.\nImpact(: .+|, one or more of:(\n- .+)+)\nThreshold: .+\.\nFirst step: .+[.?]\nRunbook: \S+\nSeverity: (high, act now|low, act on the next working day)$/,
      );
      expect(Properties.AlarmDescription.length).toBeLessThanOrEqual(1024);
    }
  });

  test('links every alarm to an existing section of the runbook', () => {
    const anchors = anchorsOf(readFileSync(join(projectDir, 'infra/RUNBOOK.md'), 'utf8'));
    for (const [, { Properties }] of [...alarms, ...otherAlarms]) {
      const [, anchor] = /infra\/RUNBOOK\.md#(\S+)/.exec(Properties.AlarmDescription) ?? [];
      expect(anchors).toContain(anchor);
    }
    const [[, dashboard]] = resources(otherRoot, 'AWS::CloudWatch::Dashboard') as [[string, Resource]];
    const links = [...JSON.stringify(dashboard).matchAll(/infra\/RUNBOOK\.md#([\w-]+)/g)];
    expect(links.length).toBeGreaterThan(5);
    for (const [, anchor] of links) expect(anchors).toContain(anchor);
  });

  test('links to an absolute address if runbookBaseUrl is set', () => {
    expect(otherAlarms).not.toEqual([]);
    for (const [, { Properties }] of otherAlarms) {
      expect(Properties.AlarmDescription).toMatch(
        /^Runbook: https:\/\/git\.example\.com\/team\/backend\/blob\/main\/infra\/RUNBOOK\.md#[a-z-]+$/m,
      );
    }
  });

  test('creates no topic without alarmEmail', () => {
    expect(resources(otherRoot, 'AWS::SNS::Topic')).toEqual([]);
    for (const [, { Properties }] of [...otherAlarms, ...resources(otherRoot, COMPOSITE)])
      expect([Properties.AlarmActions, Properties.OKActions]).toEqual([undefined, undefined]);
  });

  test.each([
    ['instead of', {}, []],
    ['in addition to', { alarmEmail: 'ops@example.com' }, [{ Ref: expect.stringMatching(/^Alarms/) }]],
  ])('sends the same notices to alarmTopicArn, %s alarmEmail', (_how, settings, topics) => {
    const alarmTopicArn = 'arn:aws:sns:eu-west-1:123456789012:alarms';
    const { root } = assemblyOf([greedy], { ...settings, alarmTopicArn }, { workers: [] });
    const all = [...resources(root, 'AWS::CloudWatch::Alarm'), ...resources(root, COMPOSITE)];
    const acting = all.filter(([, { Properties }]) => Properties.AlarmActions);
    expect(acting.map(([id]) => id)).toContain('TableCause');
    for (const [, { Properties }] of acting) {
      expect(Properties.AlarmActions).toEqual([...topics, alarmTopicArn]);
      expect(Properties.OKActions).toEqual([...topics, alarmTopicArn]);
    }
  });
});

describe('composite alarms', () => {
  const composite = (id: string): Resource => {
    const [found] = composites.filter(([name]) => name === id);
    if (!found) throw new Error(`There is no composite alarm ${id}`);
    return found[1];
  };
  const names = (ids: readonly string[]) => ids.map((id) => id.replace(/[0-9A-F]{8}$/, ''));
  /** Returns the alarms that suppress a composite alarm. */
  const suppressorsOf = ({ Properties: { ActionsSuppressor } }: Resource): string[] => {
    const [id] = ActionsSuppressor?.['Fn::GetAtt'] ?? [];
    if (id === undefined) return [];
    const { AlarmActions } = composite(id).Properties;
    return AlarmActions ? [id] : names(childrenOf(composite(id)));
  };

  test.each([
    ['TableCause', ['TableFails'], []],
    ['ThrottledTable', ['TableThrottled', 'IndexThrottled'], ['TableCause']],
    ['GatewayCause', ['ApiFaults'], ['TableCause', 'families']],
    ['MailCause', ['MailFails', 'MailLate'], ['TableCause']],
    ['ModelCause', ['ModelFails', 'EmbedLate'], ['TableCause']],
    [
      'QueuesCause',
      [
        ...['QueuesFail', 'WorkersFail', 'WorkersCrash', 'DeliverLate', 'JobsLate', 'SweepLate'],
        ...['DeliveriesOverdue', 'FanOutLate', ...behind.map((name) => `${pascal(name)}Behind`)],
      ],
      ['TableCause'],
    ],
    [
      'DeadLettersFilled',
      [...queueNames.map((name) => `${pascal(name)}DeadLettersFilled`), 'StreamDeadLettersFilled'],
      ['TableCause', 'QueuesCause'],
    ],
    ['FirstAttemptLateNotice', ['FirstAttemptLate'], ['TableCause', 'QueuesCause']],
  ])('%s is active while one of its alarms is, and waits for its causes', (id, children, causes) => {
    const families = [...assembly.families.keys()].map((family) => `${pascal(family)}Faults`);
    expect(names(childrenOf(composite(id))).sort()).toEqual([...children].sort());
    expect(suppressorsOf(composite(id)).sort()).toEqual(
      causes.flatMap((cause) => (cause === 'families' ? families : [cause])).sort(),
    );
    expect(composite(id).Properties).toMatchObject(
      causes.length > 0 ? { ActionsSuppressorWaitPeriod: 120, ActionsSuppressorExtensionPeriod: 600 } : {},
    );
  });

  test('of families are suppressed by the causes of what their endpoints use', () => {
    const causes = Object.fromEntries(
      composites
        .filter(([id]) => /^V\d\w+Notice$/.test(id))
        .map(([id, resource]) => [id.replace(/Notice$/, ''), suppressorsOf(resource).sort()]),
    );
    const others = Object.entries(causes).filter(([, suppressors]) => suppressors.join() !== 'TableCause');
    expect(Object.keys(causes).length).toBeGreaterThan(15);
    expect(Object.fromEntries(others)).toEqual({
      V2Agents: ['ModelCause', 'TableCause'],
      V2Everything: ['MailCause', 'ModelCause', 'TableCause'],
      V2Memory: ['ModelCause', 'TableCause'],
      V2Workspace: ['MailCause', 'TableCause'],
    });
    // The alarm of a family without any cause sends its own notices.
    expect(alarm('ReferenceFaults').AlarmActions).toBeDefined();
  });

  test('describe what is broken, their alarms and the first step, and link to a section of the runbook', () => {
    const anchors = anchorsOf(readFileSync(join(projectDir, 'infra/RUNBOOK.md'), 'utf8'));
    for (const [id, resource] of composites) {
      const { AlarmActions, AlarmDescription, AlarmRule } = resource.Properties;
      expect([id, AlarmDescription.length <= 1024, JSON.stringify(AlarmRule).length <= 10_240]).toEqual([
        id,
        true,
        true,
      ]);
      if (!AlarmActions) continue;
      expect(AlarmDescription).toMatch(
        /^[A-Z].*\.\nImpact(: .+|, one or more of:(\n- .+)+)\nAlarms: (\w+, )*\w+\nThreshold: one of its alarms is active\..*\nFirst step: .+[.?]\nRunbook: \S+\nSeverity: (high, act now|low, act on the next working day)$/,
      );
      for (const child of names(childrenOf(resource))) expect(AlarmDescription).toContain(child);
      expect(anchors).toContain(/infra\/RUNBOOK\.md#(\S+)/.exec(AlarmDescription)?.[1]);
    }
  });

  test('suppress no other alarm for a metric of DynamoDB, whose alarm can stay active without data', () => {
    for (const [id] of composites.filter(([, { Properties }]) => Properties.ActionsSuppressor)) {
      const sources = suppressorsOf(composite(id)).flatMap((name) =>
        alarms.some(([alarmId]) => alarmId.startsWith(name)) ? [name] : names(childrenOf(composite(name))),
      );
      for (const source of sources) expect(JSON.stringify(alarm(source))).not.toContain('AWS/DynamoDB');
    }
  });

  test('have at most 100 alarms in a rule, which CloudWatch allows', () => {
    for (const [id, resource] of composites) expect([id, childrenOf(resource).length <= 100]).toEqual([id, true]);
  });

  test('leave out the cause of a model if no model is called', () => {
    const { root } = assemblyOf([greedy], { embeddingModel: 'lexical' });
    const ids = resources(root).map(([id]) => id);
    expect(ids.filter((id) => /^Model|EmbedLate/.test(id))).toEqual([expect.stringMatching(/^EmbedLate/)]);
    const [[, queues]] = resources(root, COMPOSITE).filter(([id]) => id === 'QueuesCause') as [[string, Resource]];
    expect(names(childrenOf(queues))).toContain('EmbedLate');
  });
});

describe('queueAlarms', () => {
  const depthOf = (queue: string) => ({
    Namespace: 'AWS/SQS',
    MetricName: 'ApproximateNumberOfMessagesVisible',
    Statistic: 'Maximum',
    Period: 300,
    Threshold: 1,
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    TreatMissingData: 'notBreaching',
    Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [queue, 'QueueName'] } }],
  });

  test.each(queueNames)('becomes active at one dead letter of %s', (name) => {
    expect(alarm(`${pascal(name)}DeadLettersFilled`)).toMatchObject(depthOf(`${pascal(name)}DeadLetters`));
    expect(alarm(`${pascal(name)}DeadLettersFilled`).AlarmDescription).toContain(`Impact: ${queues[name].impact}`);
  });

  test('becomes active at one skipped batch of stream records', () => {
    expect(alarm('StreamDeadLettersFilled')).toMatchObject(depthOf('StreamDeadLetters'));
  });

  test.each(queueNames)('becomes active if a message of %s waits longer than its declaration allows', (name) => {
    const { lateAfterSeconds }: QueueDeclaration = queues[name];
    if (lateAfterSeconds === undefined) {
      expect(() => alarm(`${pascal(name)}Late`)).toThrow();
      return;
    }
    expect(alarm(`${pascal(name)}Late`)).toMatchObject({
      MetricName: 'ApproximateAgeOfOldestMessage',
      Threshold: lateAfterSeconds,
      Dimensions: [{ Value: { 'Fn::GetAtt': [`${pascal(name)}Queue`, 'QueueName'] } }],
      TreatMissingData: 'notBreaching',
    });
  });

  test('creates alarms on the waiting time of messages for all queues but deliverSlow', () => {
    expect(queueNames.filter((name) => !('lateAfterSeconds' in queues[name]))).toEqual(['deliverSlow']);
  });
});

describe('workerAlarms', () => {
  test('creates one alarm on failures that workers count, and one on crashed runs', () => {
    expect(alarm('WorkersFail').Metrics).toEqual([
      expect.objectContaining({
        Expression:
          'SELECT SUM(FrequentFaults) FROM SCHEMA("CollaborationBackend", service, worker) WHERE service = \'acme\' GROUP BY worker ORDER BY SUM() DESC',
        Period: 300,
      }),
    ]);
    const { Metrics } = alarm('WorkersCrash');
    expect(Metrics[0].Expression).toBe(`MAX([${workers.map(({ name }) => `FILL(${name}, 0)`).join(', ')}])`);
    for (const { Id, MetricStat } of Metrics.slice(1)) {
      expect([Id, MetricStat]).toEqual([
        Id,
        expect.objectContaining({
          Metric: expect.objectContaining({ Namespace: 'AWS/Lambda', MetricName: 'Errors' }),
          Stat: 'Sum',
          Period: 300,
        }),
      ]);
    }
    for (const id of ['WorkersFail', 'WorkersCrash']) {
      const listedWorkers = workers.filter(({ name, impact }) =>
        alarm(id).AlarmDescription.includes(`- ${name}: ${impact}`),
      );
      expect(listedWorkers.length).toBeGreaterThan(2);
    }
    expect(alarm('WorkersFail').AlarmDescription).toContain(
      'First step: open saved query "CollaborationBackend/faults of Workers" in Logs Insights. It shows which worker fails.',
    );
  });

  test('names the query of the authorizer too if there is one', () => {
    const [, resource] = otherAlarms.find(([id]) => id.startsWith('WorkersFail'))!;
    expect(resource.Properties.AlarmDescription).toContain(
      'It shows which worker fails. If it has no rows, open saved query "CollaborationBackend/faults of Workers Live" in Logs Insights.',
    );
  });

  test('lists the impacts of workers by weight: first those that read the stream, last those of timers', () => {
    const [first = '', ...more] = (alarm('WorkersFail').AlarmDescription as string)
      .split('\n')
      .filter((line) => line.startsWith('- '));
    expect(first).toBe(`- ${impactLine(workers.find(({ on }) => 'inserts' in on)!)}`);
    const others = workers.filter(({ on }) => 'queue' in on).map((worker) => `- ${impactLine(worker)}`);
    expect(more.filter((line) => others.includes(line)).slice(0, 2)).toEqual([
      expect.stringMatching(/^- deliverWebhook: /),
      expect.stringMatching(/^- deliverWebhookSlow: /),
    ]);
    expect(workersByWeight(workers).findIndex(({ on }) => 'every' in on)).toBe(
      workers.length - workers.filter(({ on }) => 'every' in on).length,
    );
  });

  test('has the impact of each worker in the metadata of the alarm, and that of each endpoint in those of families', () => {
    const metadata = (id: string) =>
      (alarms.find(([name]) => name.slice(0, -8) === id)![1] as { Metadata?: Record<string, unknown> }).Metadata;
    expect(metadata('WorkersFail')).toEqual({
      Impacts: Object.fromEntries(workers.map(({ name, impact }) => [name, impact])),
    });
    for (const family of assembly.families.keys()) {
      const own = functions.filter(({ path }) => familyOf(path) === family);
      expect(metadata(`${pascal(family)}Faults`)).toEqual({
        Impacts: Object.fromEntries(own.map(({ path, impact }) => [endpointId(path), impact])),
      });
    }
  });

  test('creates one alarm on the first invocation that Lambda stops as a recursive loop', () => {
    expect(alarm('RecursiveLoopsStopped')).toMatchObject({
      Threshold: 1,
      EvaluationPeriods: 1,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      TreatMissingData: 'notBreaching',
      Metrics: [
        {
          Expression:
            'SELECT SUM(RecursiveInvocationsDropped) FROM SCHEMA("AWS/Lambda", FunctionName) GROUP BY FunctionName ORDER BY SUM() DESC',
          Period: 300,
        },
      ],
    });
  });

  test('creates two crash alarms for eleven workers, because an expression takes ten metrics', () => {
    const many = times(11, (n) => ({
      ...workers.find(({ on }) => 'every' in on)!,
      name: `tick${n}`,
    }));
    const { root } = assemblyOf([greedy], {}, { workers: many });
    const counts = resources(root, 'AWS::CloudWatch::Alarm')
      .filter(([id]) => id.startsWith('WorkersCrash'))
      .map(([, { Properties }]) => Properties.Metrics.filter(({ MetricStat }: any) => MetricStat).length);
    expect(counts).toEqual([10, 1]);
  });

  test.each(workers.filter(({ on }) => 'every' in on))(
    'becomes active if $name does not run for 15 minutes, and without data',
    ({ name }) => {
      expect(alarm(`${pascal(name)}Stopped`)).toMatchObject({
        Namespace: 'AWS/Lambda',
        MetricName: 'Invocations',
        Statistic: 'Sum',
        Threshold: 1,
        ComparisonOperator: 'LessThanThreshold',
        Period: 300,
        EvaluationPeriods: 3,
        TreatMissingData: 'breaching',
      });
    },
  );

  test.each(workers.filter(({ on }) => 'inserts' in on))(
    'becomes active if $name is five minutes behind the stream',
    ({ name }) => {
      expect(alarm(`${pascal(name)}Behind`)).toMatchObject({
        Namespace: 'AWS/Lambda',
        MetricName: 'IteratorAge',
        Statistic: 'Maximum',
        Threshold: 300_000,
        TreatMissingData: 'notBreaching',
      });
    },
  );

  test('watches the function of every worker', () => {
    const functionNames = alarms.flatMap(
      ([, { Properties }]) => JSON.stringify(Properties).match(/"Name":"FunctionName","Value":(.*?)\}\]/g) ?? [],
    );
    expect(new Set(functionNames).size).toBe(workers.length);
  });
});

describe('deliveryAlarms', () => {
  test.each([
    ['DeliveriesOverdue', 'OldestOverdueDeliveryAge', { Statistic: 'Maximum', Threshold: 600, EvaluationPeriods: 1 }],
    ['FanOutLate', 'FanOutLatency', { ExtendedStatistic: 'p99', Threshold: 30_000, EvaluationPeriods: 3 }],
    ['FirstAttemptLate', 'FirstAttemptLatency', { ExtendedStatistic: 'p99', Threshold: 5_000, EvaluationPeriods: 3 }],
  ])('%s watches %s', (id, MetricName, expected) => {
    expect(alarm(id)).toMatchObject({
      Namespace: faultsMetric.namespace,
      MetricName,
      Dimensions: [{ Name: 'service', Value: 'acme' }],
      Period: 300,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      TreatMissingData: 'notBreaching',
      ...expected,
    });
  });
});

describe('account alarms', () => {
  test('contain the alarm that npm run smoke sets', () => {
    expect(alarms.map(([id]) => id)).toContain(SMOKE_ALARM);
  });

  test('watches 80 % of the configured concurrency', () => {
    const [[, { Properties }]] = otherAlarms.filter(([id]) => id.startsWith('ConcurrencyHigh')) as [[string, Resource]];
    expect(Properties).toMatchObject({
      Namespace: 'AWS/Lambda',
      MetricName: 'ConcurrentExecutions',
      Statistic: 'Maximum',
      Threshold: 40,
    });
    expect(Properties.Dimensions).toBeUndefined();
  });

  test.each([
    ['MailBounces', 'Reputation.BounceRate', 0.05],
    ['MailComplaints', 'Reputation.ComplaintRate', 0.001],
  ])('%s exists only if the service sends mail', (id, MetricName, Threshold) => {
    expect(() => alarm(id)).toThrow();
    const [resource] = otherAlarms.filter(([name]) => name.startsWith(id));
    expect(resource?.[1].Properties).toMatchObject({
      Namespace: 'AWS/SES',
      MetricName,
      Threshold,
      TreatMissingData: 'ignore',
    });
  });
});

describe('alarmText', () => {
  const text = {
    broken: 'The door is open.',
    threshold: 'one open door.',
    firstStep: 'close it.',
    runbook: 'here',
    severity: 'high',
  } as const;
  const impacts = times(40, (index) => `customers cannot do the thing with number ${index}, which they need`);

  test('lists as many impacts as fit into 1,024 characters, and counts the others', () => {
    const lines = alarmText({ ...text, impacts }, undefined).split('\n');
    expect(lines.join('\n').length).toBeLessThanOrEqual(1024);
    expect(lines.join('\n').length).toBeGreaterThan(900);
    const impactCount = impacts.filter((impact) => lines.includes(`- ${impact}`)).length;
    expect(lines).toEqual([
      'The door is open.',
      'Impact, one or more of:',
      ...impacts.slice(0, impactCount).map((impact) => `- ${impact}`),
      `- and ${40 - impactCount} more`,
      'Threshold: one open door.',
      'First step: close it.',
      'Runbook: infra/RUNBOOK.md#here',
      'Severity: high, act now',
    ]);
  });

  test('lists equal impacts once, and writes a single impact without a list', () => {
    const impactLines = (...sentences: string[]) =>
      alarmText({ ...text, impacts: sentences }, undefined)
        .split('\n')
        .slice(1, -4);
    expect(impactLines('a', 'b', 'a')).toEqual(['Impact, one or more of:', '- a', '- b']);
    expect(impactLines('a', 'a')).toEqual(['Impact: a']);
  });
});

describe('byWeight', () => {
  test('puts endpoints that users call before those of servers, and of each those that read first', () => {
    const sorted = byWeight(functions);
    const weights = sorted.map((endpoint) => [
      endpoint.auth === 'none' || 'user' in endpoint,
      endpoint.kind === 'read',
    ]);
    const blocks = weights.filter((each, index) => JSON.stringify(each) !== JSON.stringify(weights[index - 1]));
    expect(blocks).toEqual([
      [true, true],
      [true, false],
      [false, true],
      [false, false],
    ]);
    expect(new Set(sorted)).toEqual(new Set(functions));
  });
});

describe('saveQueries', () => {
  const queriesOf = (template: Template) =>
    new Map(
      resources(template, 'AWS::Logs::QueryDefinition').map(([, { Properties }]) => [
        Properties.Name as string,
        Properties,
      ]),
    );
  const logGroupsOf = (template: Template) =>
    functionsOf(template).map(([, { Properties }]) => Properties.LoggingConfig.LogGroup);

  test('saves queries over the logs of each family: by API key, by request, faults, refused calls and unsent messages', () => {
    for (const [family, template] of assembly.families) {
      const queries = queriesOf(template);
      expect([...queries.keys()].sort()).toEqual(
        ['a request in', 'an API key in', 'faults of', 'messages not sent in', 'refused calls by API key in'].map(
          (name) => `CollaborationBackend/${name} ${pascal(family)}`,
        ),
      );
      for (const { LogGroupNames } of queries.values()) expect(LogGroupNames).toEqual(logGroupsOf(template));
      expect(queries.get(`CollaborationBackend/an API key in ${pascal(family)}`)!.QueryString).toContain(
        'tenant = "<apiKey>"',
      );
      expect(queries.get(`CollaborationBackend/a request in ${pascal(family)}`)!.QueryString).toContain(
        'requestId = "<x-request-id>"',
      );
    }
  });

  test("saves queries over the gateway's log, by fields that it has: errors, slowest endpoints, one request", () => {
    const queries = queriesOf(assembly.root);
    expect([...queries.keys()].sort()).toEqual(
      ['a request by its id', 'errors by endpoint', 'refused calls by source', 'slowest endpoints'].map(
        (name) => `CollaborationBackend/${name}`,
      ),
    );
    const [[, stage]] = resources(assembly.root, 'AWS::ApiGatewayV2::Stage') as [[string, Resource]];
    const written = Object.keys(JSON.parse(stage.Properties.AccessLogSettings.Format));
    for (const { QueryString, LogGroupNames } of queries.values()) {
      expect(LogGroupNames).toEqual([{ Ref: expect.stringMatching(/^AccessLogs/) }]);
      const named = (QueryString as string).match(
        /\b(requestId|sourceIp|route|path|status|latencyMs|integrationStatus|integrationError|time)\b/g,
      )!;
      expect(written).toEqual(expect.arrayContaining(named));
    }
    expect(queries.get('CollaborationBackend/a request by its id')!.QueryString).toMatch(/^fields .*\bsourceIp\b/);
    expect(queries.get('CollaborationBackend/slowest endpoints')!.QueryString).toBe(
      'stats count(*) as requests, pct(latencyMs, 50) as p50, pct(latencyMs, 99) as p99, max(latencyMs) as slowest by route | sort p99 desc',
    );
  });

  test('saves queries that filter by messages of the log catalogue only', () => {
    const texts = assembly.templates.flatMap((template) =>
      [...queriesOf(template).values()].map(({ QueryString }) => QueryString as string),
    );
    const filters = texts.flatMap((text) => text.match(/message (=|in) (\[.*?\]|".*?")/g) ?? []);
    const messages = filters.flatMap((filter) => [...filter.matchAll(/"(.*?)"/g)].map(([, message]) => message!));
    expect(Object.values(logMessages)).toEqual(expect.arrayContaining(messages));
    expect(messages).toEqual(
      expect.arrayContaining([
        logMessages.requestCompleted,
        logMessages.queueMessageFailed,
        logMessages.webhookAttemptFailed,
        logMessages.mailAttemptFailed,
        logMessages.queueMessagesNotSent,
      ]),
    );
  });

  test('saves every query that the text of an alarm names', () => {
    const names = new Set(assembly.templates.flatMap((template) => [...queriesOf(template).keys()]));
    const named = alarms.flatMap(([, { Properties }]) =>
      [...(Properties.AlarmDescription as string).matchAll(/saved query "(.*?)"/g)].map(([, name]) => name!),
    );
    expect(named.length).toBeGreaterThan(assembly.families.size);
    expect([...names]).toEqual(expect.arrayContaining(named));
  });
});

describe('createDashboard', () => {
  interface Widget {
    readonly type: string;
    readonly properties: { markdown?: string; title?: string; query?: string; metrics?: unknown[][] };
  }

  function widgets(): Widget[] {
    const [[, { Properties }]] = resources(assembly.root, 'AWS::CloudWatch::Dashboard') as [[string, Resource]];
    const parts = Properties.DashboardBody['Fn::Join'][1] as unknown[];
    return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : 'token')).join('')).widgets;
  }

  /** Returns the metrics of each graph in a row, by the title of the graph. */
  function row(heading: string): Map<string, unknown[][]> {
    const all = widgets();
    const first = all.findIndex(({ properties }) => properties.markdown?.startsWith(heading)) + 1;
    const next = all.findIndex(({ properties }, index) => index >= first && properties.markdown !== undefined);
    return new Map(
      all.slice(first, next < 0 ? undefined : next).map(({ properties }) => [properties.title!, properties.metrics!]),
    );
  }

  /** Returns the names of the metrics in some graphs that the service itself writes. */
  const ownMetrics = (graphs: Iterable<unknown[][]>) =>
    [...graphs]
      .flat()
      .filter(([namespace]) => namespace === faultsMetric.namespace)
      .map(([, name]) => name as string);

  test('has a row each for health, families, rate limits, deliveries, queues, mail, the table and cost', () => {
    const headings = widgets().flatMap(({ properties }) => properties.markdown?.split('**')[1] ?? []);
    expect(headings).toEqual([
      'Health',
      ...[...assembly.families.keys()].map((family) => `/${family}`),
      'Rate-limited calls',
      'Deliveries',
      'Queues and workers',
      'E-mail',
      'Table',
      'Cost',
    ]);
  });

  test('shows rate-limited calls by class from a metric, and no widget searches logs', () => {
    expect([...row('**Rate-limited calls').values()]).toEqual([
      limitedClasses.map((limitedClass) => [
        'CollaborationBackend',
        'RateLimitedCalls',
        'limitedClass',
        limitedClass,
        'service',
        'acme',
        { label: limitedClass, stat: 'Sum' },
      ]),
    ]);
    expect(new Set(widgets().map(({ type }) => type))).toEqual(new Set(['text', 'metric']));
  });

  test('shows due deliveries, overdue deliveries and dead letters in the health row', () => {
    const health = row('**Health');
    expect([...health.keys()]).toEqual([
      'Requests',
      '4xx, 5xx',
      'Latency, ms',
      'Deliveries due and overdue',
      'Oldest overdue delivery, s',
      'Dead letters',
    ]);
    expect(ownMetrics(health.values())).toEqual(['DeliveriesDue', 'DeliveriesOverdue', 'OldestOverdueDeliveryAge']);
    expect(health.get('Dead letters')).toHaveLength(queueNames.length + 1);
  });

  test('shows every metric of deliveries and mail in its row, durations as percentiles', () => {
    for (const heading of ['Deliveries', 'E-mail'] as const) {
      const graphMetrics = ownMetrics(
        [...row(`**${heading}`)].filter(([title]) => !title.includes('%')).map(([, metrics]) => metrics),
      );
      const declared = Object.entries(deliveryMetrics)
        .filter(([, { row: own }]) => own === heading)
        .flatMap(([name, { kind }]) => (kind === 'spread' ? [name, name] : [name]));
      expect(graphMetrics.sort()).toEqual(declared.sort());
    }
    expect(
      row('**Deliveries')
        .get('Latency after commit, ms')!
        .map((metric) => (metric.at(-1) as { label: string }).label),
    ).toEqual(['first attempt p50', 'first attempt p99', 'fan-out p50', 'fan-out p99']);
  });

  test('shows the success rate of webhook attempts', () => {
    expect(row('**Deliveries').get('Attempt success rate, %')![0]![0]).toMatchObject({
      expression:
        '100 * FILL(delivered, 0) / (FILL(delivered, 0) + FILL(failed, 0) + FILL(timedOut, 0) + FILL(refused, 0))',
    });
  });

  test('shows every queue and every worker', () => {
    const graphs = row('**Queues and workers');
    const labels = (title: string) =>
      graphs.get(title)!.flatMap((metric) => (metric.at(-1) as { label?: string }).label ?? []);
    for (const title of ['Messages waiting', 'Messages in flight', 'Age of the oldest message, s'])
      expect(labels(title)).toEqual(queueNames);
    for (const title of ['Runs', 'Failures', 'Duration p99, ms'])
      expect(labels(title)).toEqual(expect.arrayContaining(workers.map(({ name }) => name)));
    expect(labels('Stream lag, ms')).toEqual(workers.filter(({ on }) => 'inserts' in on).map(({ name }) => name));
  });

  test('shows every endpoint in the row of its family', () => {
    const all = widgets();
    for (const family of assembly.families.keys()) {
      const row = all.findIndex(({ properties }) => properties.markdown === `**/${family}**`);
      const expected = functions
        .filter(({ path }) => familyOf(path) === family)
        .map(({ path }) => pathInFamily(path))
        .sort();
      for (const { properties } of [all[row + 1]!, all[row + 3]!, all[row + 4]!]) {
        expect(properties.metrics!.map((metric) => (metric.at(-1) as { label: string }).label).sort()).toEqual(
          expected,
        );
      }
      expect(all[row + 2]!.properties.metrics).toEqual([
        [expect.objectContaining({ expression: expect.stringContaining(`family = '${family}' GROUP BY endpoint`) })],
      ]);
    }
  });

  test('has at most one query of Metrics Insights in each graph, because CloudWatch accepts only one per request', () => {
    for (const { properties } of widgets()) {
      const queries = (properties.metrics ?? [])
        .flat()
        .filter((metric) => String((metric as { expression?: string }).expression).startsWith('SELECT'));
      expect([properties.title, queries.length <= 1]).toEqual([properties.title, true]);
    }
  });

  test('shows the cost of a million requests at list prices: table, indexes, function time and gateway', () => {
    const expressions = row('**Cost')
      .get('Dollars per million requests')!
      .flat()
      .filter((metric) => typeof metric === 'object' && 'expression' in metric!) as Record<string, string>[];
    const [table, functions, all] = ['table', 'functions', 'all'].map((label) =>
      expressions.find((each) => each.label === label),
    );
    expect(table!.expression).toBe(
      '(0.125 * (FILL(read0, 0) + FILL(read1, 0) + FILL(read2, 0) + FILL(read3, 0) + FILL(read4, 0)) + 0.625 * (FILL(write0, 0) + FILL(write1, 0) + FILL(write2, 0) + FILL(write3, 0) + FILL(write4, 0))) / requests',
    );
    // The first factor is the price of a million runs of one millisecond each, with 1,024 MB.
    expect(functions!.expression).toBe('(0.0133334 * duration + 0.2 * runs) / requests');
    const metrics = row('**Cost').get('Dollars per million requests')!;
    expect(metrics.filter(([namespace]) => namespace === 'AWS/Lambda')).toEqual([
      ['AWS/Lambda', 'Duration', expect.objectContaining({ stat: 'Sum', id: 'duration' })],
      ['AWS/Lambda', 'Invocations', expect.objectContaining({ stat: 'Sum', id: 'runs' })],
    ]);
    expect(all!.expression).toBe(`1 + ${table!.expression} + ${functions!.expression}`);
  });
});
