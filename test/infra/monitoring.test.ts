import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { alarmText, runbooks } from '../../infra/alarmText.ts';
import { projectDir } from '../../infra/build.ts';
import { pascal } from '../../infra/names.ts';
import { queueNames } from '../../infra/queues.ts';
import { queues, type QueueDeclaration } from '../../lib/queues.ts';
import { deliveryMetrics } from '../../lib/observability/deliveryMetrics.ts';
import { faultsMetric } from '../../lib/observability/faults.ts';
import { type Assembly, assemblyOf, type Resource, resources } from './assembly.ts';
import { greedy, registered } from './endpoints.ts';
import { workers } from './workers.ts';

const endpoints = [...registered, greedy];
let assembly: Assembly;
let alarms: [id: string, resource: Resource][];
/** The alarms of the API's families and of the API itself, which have five faults in five minutes in common. */
let apiAlarms: [id: string, resource: Resource][];
beforeAll(() => {
  assembly = assemblyOf(endpoints, { alarmEmail: 'ops@example.com', serviceName: 'acme' });
  alarms = resources(assembly.root, 'AWS::CloudWatch::Alarm');
  apiAlarms = alarms.filter(([, { Properties }]) => Properties.MetricName === faultsMetric.name || Properties.Namespace === 'AWS/ApiGateway');
});

/** An alarm by its id, without the hash that CDK adds. */
function alarm(id: string): Resource['Properties'] {
  const [found, ...more] = alarms.filter(([name]) => name.slice(0, -8) === id);
  if (!found || more.length > 0) throw new Error(`${id}: not exactly one alarm`);
  return found[1].Properties;
}

/** `runbook-faults` of `## Runbook: faults`, as the page shows it. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase().replace(/[^\p{L}\p{N}\- ]/gu, '').replaceAll(' ', '-'));
}

describe('alarms', () => {
  test('there is one for each family and one for the API', () => {
    const families = alarms.filter(([, { Properties }]) => Properties.MetricName === faultsMetric.name).map(([, { Properties }]) => Properties);
    expect(apiAlarms).toHaveLength(families.length + 1);
    expect(families.map(({ Namespace, Dimensions }) => [Namespace, Object.fromEntries(Dimensions.map(({ Name, Value }: any) => [Name, Value]))]))
      .toEqual([...assembly.families.keys()].map((family) => [faultsMetric.namespace, { service: 'acme', family }]));
    expect(apiAlarms.at(-1)?.[1].Properties).toMatchObject({ Namespace: 'AWS/ApiGateway', MetricName: '5xx', Dimensions: [{ Name: 'ApiId', Value: { Ref: 'Api' } }] });
  });

  test('ring at five faults in five minutes, stay silent without data', () => {
    for (const [, { Properties }] of apiAlarms) {
      expect(Properties).toMatchObject({
        Statistic: 'Sum', Period: 300, EvaluationPeriods: 1, Threshold: 5, ComparisonOperator: 'GreaterThanOrEqualToThreshold', TreatMissingData: 'notBreaching',
      });
    }
  });

  test('tell someone', () => {
    const [[topic]] = resources(assembly.root, 'AWS::SNS::Topic') as [[string, Resource]];
    for (const [, { Properties }] of alarms) expect(Properties.AlarmActions).toEqual([{ Ref: topic }]);
    expect(resources(assembly.root, 'AWS::SNS::Subscription')[0]?.[1].Properties).toMatchObject({ Protocol: 'email', Endpoint: 'ops@example.com', TopicArn: { Ref: topic } });
  });

  test('may be published to their topic', () => {
    const [[, policy]] = resources(assembly.root, 'AWS::SNS::TopicPolicy') as [[string, Resource]];
    expect(policy.Properties.PolicyDocument.Statement).toContainEqual(expect.objectContaining({
      Effect: 'Allow', Action: 'sns:Publish', Principal: { Service: 'cloudwatch.amazonaws.com' },
    }));
  });

  test('say what is broken for whom', () => {
    for (const [family] of assembly.families) {
      const [, alarm] = alarms.find(([id]) => id.startsWith(`${pascal(family)}Faults`))!;
      const impacts = endpoints.filter(({ path }) => path.startsWith(`/${family}/`)).map(({ impact }) => impact);
      const text = alarm.Properties.AlarmDescription as string;
      const shown = impacts.filter((impact) => text.includes(impact));
      expect(shown.length).toBeGreaterThan(0);
      if (shown.length < impacts.length) expect(text).toMatch(/- and \d+ more/);
    }
    for (const [, { Properties }] of alarms) {
      expect(Properties.AlarmDescription).toContain('\nImpact');
      expect(Properties.AlarmDescription.length).toBeLessThanOrEqual(1024);
    }
  });

  test('lead to a section of the README that exists', () => {
    const anchors = anchorsOf(readFileSync(join(projectDir, 'README.md'), 'utf8'));
    for (const [, { Properties }] of alarms) {
      const [, anchor] = /README\.md#(\S+)/.exec(Properties.AlarmDescription) ?? [];
      expect(anchors).toContain(anchor);
    }
    for (const runbook of Object.values(runbooks)) expect(anchors).toContain(runbook.split('#')[1]);
  });

  test('without an address notify nobody and need no topic', () => {
    const { root } = assemblyOf(registered);
    expect(resources(root, 'AWS::SNS::Topic')).toEqual([]);
    for (const [, { Properties }] of resources(root, 'AWS::CloudWatch::Alarm')) expect(Properties.AlarmActions).toBeUndefined();
  });
});

describe('the alarms of queues', () => {
  const depthOf = (queue: string) => ({
    Namespace: 'AWS/SQS', MetricName: 'ApproximateNumberOfMessagesVisible', Statistic: 'Maximum', Period: 300, Threshold: 1, ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    TreatMissingData: 'notBreaching', Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [queue, 'QueueName'] } }],
  });

  test.each(queueNames)('design 11: %s: one dead letter rings', (name) => {
    expect(alarm(`${pascal(name)}DeadLettersFilled`)).toMatchObject(depthOf(`${pascal(name)}DeadLetters`));
    expect(alarm(`${pascal(name)}DeadLettersFilled`).AlarmDescription).toContain(`Impact: ${queues[name].impact}`);
  });

  test('design 11: one record of the stream that was given up rings', () => {
    expect(alarm('StreamDeadLettersFilled')).toMatchObject(depthOf('StreamDeadLetters'));
  });

  test.each(queueNames)('design 11: %s: a message rings that waits for longer than its queue allows', (name) => {
    const { lateAfterSeconds }: QueueDeclaration = queues[name];
    if (lateAfterSeconds === undefined) return expect(() => alarm(`${pascal(name)}Late`)).toThrow();
    return expect(alarm(`${pascal(name)}Late`)).toMatchObject({
      MetricName: 'ApproximateAgeOfOldestMessage', Threshold: lateAfterSeconds, Dimensions: [{ Value: { 'Fn::GetAtt': [`${pascal(name)}Queue`, 'QueueName'] } }], TreatMissingData: 'notBreaching',
    });
  });

  test('are there for first attempts and mails, which must be quick', () => {
    expect(queueNames.filter((name) => 'lateAfterSeconds' in queues[name])).toEqual(['deliver', 'mail']);
  });
});

describe('the alarms of workers', () => {
  test.each(workers)('$name: five failures in five minutes ring, those that it counts and those that it cannot', ({ name, impact }) => {
    const { Metrics, ...rest } = alarm(`${pascal(name)}Fails`);
    expect(rest).toMatchObject({ Threshold: 5, EvaluationPeriods: 1, ComparisonOperator: 'GreaterThanOrEqualToThreshold', TreatMissingData: 'notBreaching' });
    expect(rest.AlarmDescription).toContain(`Impact: ${impact}`);
    expect(Metrics.map(({ Expression }: any) => Expression).filter(Boolean)).toEqual([`MAX([FILL(${name}Faults, 0), FILL(${name}Errors, 0)])`]);
    const [faults, errors] = ['Faults', 'Errors'].map((id) => Metrics.find(({ Id }: any) => Id === name + id).MetricStat);
    expect(faults).toMatchObject({
      Metric: { Namespace: faultsMetric.namespace, MetricName: faultsMetric.name, Dimensions: [{ Name: 'service', Value: 'acme' }, { Name: 'worker', Value: name }] }, Stat: 'Sum', Period: 300,
    });
    expect(errors).toMatchObject({ Metric: { Namespace: 'AWS/Lambda', MetricName: 'Errors' }, Stat: 'Sum', Period: 300 });
  });

  test.each(workers.filter(({ on }) => 'every' in on))('$name: no tick for 15 minutes rings, and so does no data', ({ name }) => {
    expect(alarm(`${pascal(name)}Stopped`)).toMatchObject({
      Namespace: 'AWS/Lambda', MetricName: 'Invocations', Statistic: 'Sum', Threshold: 1, ComparisonOperator: 'LessThanThreshold', Period: 300, EvaluationPeriods: 3, TreatMissingData: 'breaching',
    });
  });

  test.each(workers.filter(({ on }) => 'inserts' in on))('$name: five minutes behind the stream ring', ({ name }) => {
    expect(alarm(`${pascal(name)}Behind`)).toMatchObject({ Namespace: 'AWS/Lambda', MetricName: 'IteratorAge', Statistic: 'Maximum', Threshold: 300_000, TreatMissingData: 'notBreaching' });
  });

  test('are about the function of each worker', () => {
    const functionNames = alarms.flatMap(([, { Properties }]) => JSON.stringify(Properties).match(/"Name":"FunctionName","Value":(.*?)\}\]/g) ?? []);
    expect(new Set(functionNames).size).toBe(workers.length);
  });
});

describe('the alarms of deliveries', () => {
  test.each([
    ['DeliveriesOverdue', 'OldestOverdue', { Statistic: 'Maximum', Threshold: 600, EvaluationPeriods: 1 }],
    ['FanOutLate', 'FanOutLag', { ExtendedStatistic: 'p99', Threshold: 30_000, EvaluationPeriods: 1 }],
    ['FirstAttemptLate', 'CommitToFirstAttempt', { ExtendedStatistic: 'p99', Threshold: 5_000, EvaluationPeriods: 3 }],
  ])('design 11: %s watches %s', (id, MetricName, expected) => {
    expect(alarm(id)).toMatchObject({
      Namespace: faultsMetric.namespace, MetricName, Dimensions: [{ Name: 'service', Value: 'acme' }], Period: 300, ComparisonOperator: 'GreaterThanOrEqualToThreshold', TreatMissingData: 'notBreaching', ...expected,
    });
  });
});

describe('the text of an alarm', () => {
  const impacts = Array.from({ length: 40 }, (_, index) => `customers cannot do the thing with number ${index}, which they need`);

  test('shows as many impacts as fit, and how many it leaves out', () => {
    const text = alarmText({ happens: 'It happens.', runbook: 'README.md#here', query: 'filter 1', impacts });
    expect(text.length).toBeLessThanOrEqual(1024);
    expect(text.length).toBeGreaterThan(900);
    const shown = impacts.filter((impact) => text.includes(impact)).length;
    expect(text).toContain(`- and ${40 - shown} more`);
    expect(text.split('\n').slice(0, 3)).toEqual(['It happens.', 'Runbook: README.md#here', 'Logs Insights: filter 1']);
  });

  test('shows an impact once, and the only one without a list', () => {
    const impactsOf = (...given: string[]) => alarmText({ happens: 'It happens.', runbook: 'r', impacts: given }).split('\n').slice(2);
    expect(impactsOf('a', 'b', 'a')).toEqual(['Impact, depending on the endpoint:', '- a', '- b']);
    expect(impactsOf('a', 'a')).toEqual(['Impact: a']);
  });
});

describe('the saved queries', () => {
  test('search the logs of all functions of each family', () => {
    for (const template of assembly.families.values()) {
      const [[, query]] = resources(template, 'AWS::Logs::QueryDefinition') as [[string, Resource]];
      const logGroups = resources(template, 'AWS::Logs::LogGroup').map(([Ref]) => ({ Ref }));
      expect(query.Properties.LogGroupNames).toEqual(logGroups);
      expect(query.Properties.QueryString).toContain('by endpoint');
    }
  });
});

describe('the dashboard', () => {
  interface Widget {
    readonly type: string;
    readonly properties: { markdown?: string; title?: string; metrics?: unknown[][] };
  }

  function widgets(): Widget[] {
    const [[, { Properties }]] = resources(assembly.root, 'AWS::CloudWatch::Dashboard') as [[string, Resource]];
    const parts = Properties.DashboardBody['Fn::Join'][1] as unknown[];
    return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : 'token')).join('')).widgets;
  }

  /** The graphs of a row: title -> the metrics in it. */
  function row(heading: string): Map<string, unknown[][]> {
    const all = widgets();
    const first = all.findIndex(({ properties }) => properties.markdown?.startsWith(heading)) + 1;
    const next = all.findIndex(({ properties }, index) => index >= first && properties.markdown !== undefined);
    return new Map(all.slice(first, next < 0 ? undefined : next).map(({ properties }) => [properties.title!, properties.metrics!]));
  }

  /** The names of the service's own metrics in some graphs. */
  const ownMetrics = (graphs: Iterable<unknown[][]>) => [...graphs].flat().filter(([namespace]) => namespace === faultsMetric.namespace).map(([, name]) => name as string);

  test('design 11: begins with the health of it all, ends with the table, and has a row for each family, for deliveries, queues and mail between', () => {
    const headings = widgets().flatMap(({ properties }) => properties.markdown?.split('**')[1] ?? []);
    expect(headings).toEqual(['Is it healthy?', ...[...assembly.families.keys()].map((family) => `/${family}`), 'Deliveries', 'Queues and workers', 'E-mail', 'Table']);
  });

  test('design 11: shows at its top whether deliveries are due, overdue or dead', () => {
    const health = row('**Is it healthy?');
    expect([...health.keys()]).toEqual(['Requests', '4xx, 5xx', 'Latency, ms', 'Deliveries due and overdue', 'Oldest overdue delivery, s', 'Dead letters']);
    expect(ownMetrics(health.values())).toEqual(['DeliveriesDue', 'DeliveriesOverdue', 'OldestOverdue']);
    expect(health.get('Dead letters')).toHaveLength(queueNames.length + 1);
  });

  test('design 11: shows every metric of deliveries and mail in its row, durations by their percentiles', () => {
    for (const heading of ['Deliveries', 'E-mail'] as const) {
      const shown = ownMetrics([...row(`**${heading}`)].filter(([title]) => !title.includes('%')).map(([, metrics]) => metrics));
      const declared = Object.entries(deliveryMetrics).filter(([, { row: own }]) => own === heading).flatMap(([name, { kind }]) => (kind === 'spread' ? [name, name] : [name]));
      expect(shown.sort()).toEqual(declared.sort());
    }
    expect(row('**Deliveries').get('From commit on, ms')!.map((metric) => (metric.at(-1) as { label: string }).label))
      .toEqual(['first attempt p50', 'first attempt p99', 'fan-out p50', 'fan-out p99']);
  });

  test('shows what share of attempts succeeds', () => {
    expect(row('**Deliveries').get('Attempts that succeed, %')![0]![0]).toMatchObject({ expression: '100 * FILL(delivered, 0) / (FILL(delivered, 0) + FILL(failed, 0) + FILL(timedOut, 0) + FILL(refused, 0))' });
  });

  test('shows every queue and every worker', () => {
    const graphs = row('**Queues and workers');
    const labels = (title: string) => graphs.get(title)!.flatMap((metric) => (metric.at(-1) as { label?: string }).label ?? []);
    for (const title of ['Messages waiting', 'Messages being handled', 'Age of the oldest message, s']) expect(labels(title)).toEqual(queueNames);
    for (const title of ['Runs', 'Failures', 'Duration p99, ms']) expect(labels(title)).toEqual(expect.arrayContaining(workers.map(({ name }) => name)));
    expect(labels('Behind the stream, ms')).toEqual(workers.filter(({ on }) => 'inserts' in on).map(({ name }) => name));
  });

  test('shows every endpoint in the row of its family', () => {
    const all = widgets();
    for (const family of assembly.families.keys()) {
      const row = all.findIndex(({ properties }) => properties.markdown === `**/${family}**`);
      const expected = endpoints.filter(({ path }) => path.startsWith(`/${family}/`)).map(({ path }) => path.slice(family.length + 2)).sort();
      for (const { properties } of [all[row + 1]!, all[row + 3]!, all[row + 4]!]) {
        expect(properties.metrics!.map((metric) => (metric.at(-1) as { label: string }).label).sort()).toEqual(expected);
      }
      expect(all[row + 2]!.properties.metrics).toEqual([expect.arrayContaining([faultsMetric.namespace, faultsMetric.name, 'family', family])]);
    }
  });
});
