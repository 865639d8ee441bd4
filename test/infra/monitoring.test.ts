import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { alarmText, runbooks } from '../../infra/monitoring/alarmText.ts';
import { projectDir } from '../../infra/build/build.ts';
import { pascal } from '../../infra/constructs/names.ts';
import { queueNames } from '../../infra/constructs/queues.ts';
import { queues, type QueueDeclaration } from '../../lib/workers/queues.ts';
import { familyOf, pathInFamily } from '../../lib/app/endpoint.ts';
import { deliveryMetrics } from '../../lib/observability/deliveryMetrics.ts';
import { faultsMetric } from '../../lib/observability/faults.ts';
import { type Assembly, assemblyOf, functionsOf, type Resource, resources, type Template } from './assembly.ts';
import { greedy, ownFunctions, registered } from './endpoints.ts';
import { workers } from './workers.ts';

const endpoints = [...registered, greedy];
const functions = [...ownFunctions, greedy];
let assembly: Assembly;
let alarms: [id: string, resource: Resource][];
beforeAll(() => {
  assembly = assemblyOf(endpoints, { alarmEmail: 'ops@example.com', serviceName: 'acme' });
  alarms = resources(assembly.root, 'AWS::CloudWatch::Alarm');
});

/** An alarm by its id, without the hash that CDK adds. */
function alarm(id: string): Resource['Properties'] {
  const [found, ...more] = alarms.filter(([name]) => name.slice(0, -8) === id);
  if (!found || more.length > 0) throw new Error(`${id}: not exactly one alarm`);
  return found[1].Properties;
}

/** `api-faults` of `## API faults`, as the page shows it. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('alarms', () => {
  test('design 11: there is one for each family, which asks for its endpoints one by one, one for the API and one for the table', () => {
    expect([...assembly.families.keys()].map((family) => alarm(`${pascal(family)}Faults`).Metrics)).toEqual(
      [...assembly.families.keys()].map((family) => [
        expect.objectContaining({
          Expression: `SELECT SUM(Faults) FROM SCHEMA("CollaborationBackend", service, family, endpoint) WHERE service = 'acme' AND family = '${family}' GROUP BY endpoint ORDER BY SUM() DESC`,
          Period: 300,
          ReturnData: true,
        }),
      ]),
    );
    expect(alarm('ApiFaults')).toMatchObject({
      Namespace: 'AWS/ApiGateway',
      MetricName: '5xx',
      Statistic: 'Sum',
      Period: 300,
      Dimensions: [{ Name: 'ApiId', Value: { Ref: 'Api' } }],
    });
    expect(alarm('TableThrottled')).toMatchObject({ Threshold: 50, EvaluationPeriods: 2 });
  });

  test('ring at five faults in five minutes, stay silent without data', () => {
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

  test('tell someone', () => {
    const [[topic]] = resources(assembly.root, 'AWS::SNS::Topic') as [[string, Resource]];
    for (const [, { Properties }] of alarms) expect(Properties.AlarmActions).toEqual([{ Ref: topic }]);
    expect(resources(assembly.root, 'AWS::SNS::Subscription')[0]?.[1].Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@example.com',
      TopicArn: { Ref: topic },
    });
  });

  test('may be published to their topic', () => {
    const [[, policy]] = resources(assembly.root, 'AWS::SNS::TopicPolicy') as [[string, Resource]];
    expect(policy.Properties.PolicyDocument.Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
      }),
    );
  });

  test('say what is broken for whom', () => {
    for (const [family] of assembly.families) {
      const [, alarm] = alarms.find(([id]) => id.startsWith(`${pascal(family)}Faults`))!;
      const impacts = functions.filter(({ path }) => familyOf(path) === family).map(({ impact }) => impact);
      const text = alarm.Properties.AlarmDescription as string;
      const shown = impacts.filter((impact) => text.includes(impact));
      expect(shown.length).toBeGreaterThan(0);
      if (shown.length < impacts.length) expect(text).toMatch(/- and \d+ more/);
    }
    for (const [, { Properties }] of alarms) {
      expect(Properties.AlarmDescription).toContain('\nImpact');
      expect(Properties.AlarmDescription).toMatch(/^Severity: (high: look now|low: look on the next working day)$/m);
      expect(Properties.AlarmDescription.length).toBeLessThanOrEqual(1024);
    }
  });

  test('link to a section of the runbook that exists', () => {
    const anchors = anchorsOf(readFileSync(join(projectDir, 'infra/RUNBOOK.md'), 'utf8'));
    for (const [, { Properties }] of alarms) {
      const [, anchor] = /infra\/RUNBOOK\.md#(\S+)/.exec(Properties.AlarmDescription) ?? [];
      expect(anchors).toContain(anchor);
    }
    for (const runbook of Object.values(runbooks)) expect(anchors).toContain(runbook.split('#')[1]);
  });

  test('link to the address of the runbook when the setting names one', () => {
    const { root } = assemblyOf(registered, { runbookBaseUrl: 'https://git.example.com/team/backend/blob/main/' });
    for (const [, { Properties }] of resources(root, 'AWS::CloudWatch::Alarm')) {
      expect(Properties.AlarmDescription).toMatch(
        /^Runbook: https:\/\/git\.example\.com\/team\/backend\/blob\/main\/infra\/RUNBOOK\.md#[a-z-]+$/m,
      );
    }
  });

  test('without an address notify nobody and need no topic', () => {
    const { root } = assemblyOf(registered);
    expect(resources(root, 'AWS::SNS::Topic')).toEqual([]);
    for (const [, { Properties }] of resources(root, 'AWS::CloudWatch::Alarm'))
      expect(Properties.AlarmActions).toBeUndefined();
  });
});

describe('the alarms of queues', () => {
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
      MetricName: 'ApproximateAgeOfOldestMessage',
      Threshold: lateAfterSeconds,
      Dimensions: [{ Value: { 'Fn::GetAtt': [`${pascal(name)}Queue`, 'QueueName'] } }],
      TreatMissingData: 'notBreaching',
    });
  });

  test('are there for first attempts and mails, which must be quick', () => {
    expect(queueNames.filter((name) => 'lateAfterSeconds' in queues[name])).toEqual(['deliver', 'mail']);
  });
});

describe('the alarms of workers', () => {
  test('are one for what workers count themselves, and one for the runs in which they cannot', () => {
    expect(alarm('WorkersFail').Metrics).toEqual([
      expect.objectContaining({
        Expression:
          'SELECT SUM(Faults) FROM SCHEMA("CollaborationBackend", service, worker) WHERE service = \'acme\' GROUP BY worker ORDER BY SUM() DESC',
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
      const shown = workers.filter(({ name, impact }) => alarm(id).AlarmDescription.includes(`- ${name}: ${impact}`));
      expect(shown.length).toBeGreaterThan(2);
    }
  });

  test('are two where there are more than ten workers, as an expression takes no more metrics', () => {
    const many = Array.from({ length: 11 }, (_each, n) => ({
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
    '$name: no tick for 15 minutes rings, and so does no data',
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

  test.each(workers.filter(({ on }) => 'inserts' in on))('$name: five minutes behind the stream ring', ({ name }) => {
    expect(alarm(`${pascal(name)}Behind`)).toMatchObject({
      Namespace: 'AWS/Lambda',
      MetricName: 'IteratorAge',
      Statistic: 'Maximum',
      Threshold: 300_000,
      TreatMissingData: 'notBreaching',
    });
  });

  test('are about the function of each worker', () => {
    const functionNames = alarms.flatMap(
      ([, { Properties }]) => JSON.stringify(Properties).match(/"Name":"FunctionName","Value":(.*?)\}\]/g) ?? [],
    );
    expect(new Set(functionNames).size).toBe(workers.length);
  });
});

describe('the alarms of deliveries', () => {
  test.each([
    ['DeliveriesOverdue', 'OldestOverdue', { Statistic: 'Maximum', Threshold: 600, EvaluationPeriods: 1 }],
    ['FanOutLate', 'FanOutLag', { ExtendedStatistic: 'p99', Threshold: 30_000, EvaluationPeriods: 1 }],
    ['MailFails', 'MailAttemptsFailed', { Statistic: 'Sum', Threshold: 10, EvaluationPeriods: 1 }],
    ['FirstAttemptLate', 'CommitToFirstAttempt', { ExtendedStatistic: 'p99', Threshold: 5_000, EvaluationPeriods: 3 }],
  ])('design 11: %s watches %s', (id, MetricName, expected) => {
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

describe('the text of an alarm', () => {
  const impacts = Array.from(
    { length: 40 },
    (_, index) => `customers cannot do the thing with number ${index}, which they need`,
  );

  test('shows as many impacts as fit, and how many it leaves out', () => {
    const text = alarmText(
      { happens: 'It happens.', severity: 'high', runbook: 'infra/RUNBOOK.md#here', query: 'Stack/faults', impacts },
      undefined,
    );
    expect(text.length).toBeLessThanOrEqual(1024);
    expect(text.length).toBeGreaterThan(900);
    const shown = impacts.filter((impact) => text.includes(impact)).length;
    expect(text).toContain(`- and ${40 - shown} more`);
    expect(text.split('\n').slice(0, 4)).toEqual([
      'It happens.',
      'Severity: high: look now',
      'Runbook: infra/RUNBOOK.md#here',
      'Saved query: Stack/faults',
    ]);
  });

  test('shows an impact once, and the only one without a list', () => {
    const impactsOf = (...given: string[]) =>
      alarmText({ happens: 'It happens.', severity: 'low', runbook: 'r', impacts: given }, undefined)
        .split('\n')
        .slice(3);
    expect(impactsOf('a', 'b', 'a')).toEqual(['Impact, depending on which:', '- a', '- b']);
    expect(impactsOf('a', 'a')).toEqual(['Impact: a']);
  });
});

describe('the saved queries', () => {
  const queriesOf = (template: Template) =>
    new Map(
      resources(template, 'AWS::Logs::QueryDefinition').map(([, { Properties }]) => [
        Properties.Name as string,
        Properties,
      ]),
    );
  const logGroupsOf = (template: Template) =>
    functionsOf(template).map(([, { Properties }]) => Properties.LoggingConfig.LogGroup);

  test('design 11: of each family search the logs of all its functions: by API key, by request, and for faults', () => {
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

  test("design 11: of all endpoints search the gateway's log by fields that it has: errors, the slowest, one request", () => {
    const queries = queriesOf(assembly.root);
    expect([...queries.keys()].sort()).toEqual(
      ['a request by its id', 'errors by endpoint', 'slowest endpoints'].map((name) => `CollaborationBackend/${name}`),
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

  test('filter by messages that the code logs', () => {
    const sources = readdirSync(join(projectDir, 'lib'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(projectDir, 'lib', file), 'utf8'))
      .join('\n');
    const texts = assembly.templates.flatMap((template) =>
      [...queriesOf(template).values()].map(({ QueryString }) => QueryString as string),
    );
    const messages = new Set(
      texts.flatMap((text) =>
        [...text.matchAll(/message (?:=|in) (\[.*?\]|".*?")/g)].flatMap(([, named]) =>
          [...named!.matchAll(/"(.*?)"/g)].map(([, message]) => message!),
        ),
      ),
    );
    expect([...messages]).toEqual(
      expect.arrayContaining([
        'request',
        'failure',
        'attempt failed',
        'mail not sent',
        'messages not sent, left to the sweeper',
      ]),
    );
    for (const message of messages) expect(sources).toMatch(new RegExp(`\\.(info|warn|error)\\('${message}'`));
  });

  test('are those that alarms name', () => {
    const names = new Set(assembly.templates.flatMap((template) => [...queriesOf(template).keys()]));
    const named = alarms.flatMap(
      ([, { Properties }]) => /^Saved query: (.*)$/m.exec(Properties.AlarmDescription)?.[1] ?? [],
    );
    expect(named.length).toBeGreaterThan(assembly.families.size);
    expect([...names]).toEqual(expect.arrayContaining(named));
  });
});

describe('the dashboard', () => {
  interface Widget {
    readonly type: string;
    readonly properties: { markdown?: string; title?: string; query?: string; metrics?: unknown[][] };
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
    return new Map(
      all.slice(first, next < 0 ? undefined : next).map(({ properties }) => [properties.title!, properties.metrics!]),
    );
  }

  /** The names of the service's own metrics in some graphs. */
  const ownMetrics = (graphs: Iterable<unknown[][]>) =>
    [...graphs]
      .flat()
      .filter(([namespace]) => namespace === faultsMetric.namespace)
      .map(([, name]) => name as string);

  test('design 11: begins with the health of it all, ends with the table and what requests cost, and has a row for each family, for deliveries, queues and mail between', () => {
    const headings = widgets().flatMap(({ properties }) => properties.markdown?.split('**')[1] ?? []);
    expect(headings).toEqual([
      'Is it healthy?',
      ...[...assembly.families.keys()].map((family) => `/${family}`),
      'Refused calls by API key',
      'Deliveries',
      'Queues and workers',
      'E-mail',
      'Table',
      'Cost',
    ]);
  });

  test('shows the refused calls by API key of all functions whose calls are limited, 50 log groups in a query', () => {
    const queries = widgets()
      .filter(({ type }) => type === 'log')
      .map(({ properties }) => String(properties.query));
    const sources = queries.flatMap((query) => query.match(/SOURCE '[^']+'/g) ?? []);
    expect(sources).toHaveLength(ownFunctions.filter(({ auth }) => auth === 'apiKey').length);
    for (const query of queries) {
      expect(query.match(/SOURCE /g)!.length).toBeLessThanOrEqual(50);
      expect(query).toContain('filter message = "request" and ispresent(limitedClass)');
      expect(query).toContain('by tenant, limitedClass, endpoint');
    }
  });

  test('design 11: shows at its top whether deliveries are due, overdue or dead', () => {
    const health = row('**Is it healthy?');
    expect([...health.keys()]).toEqual([
      'Requests',
      '4xx, 5xx',
      'Latency, ms',
      'Deliveries due and overdue',
      'Oldest overdue delivery, s',
      'Dead letters',
    ]);
    expect(ownMetrics(health.values())).toEqual(['DeliveriesDue', 'DeliveriesOverdue', 'OldestOverdue']);
    expect(health.get('Dead letters')).toHaveLength(queueNames.length + 1);
  });

  test('design 11: shows every metric of deliveries and mail in its row, durations by their percentiles', () => {
    for (const heading of ['Deliveries', 'E-mail'] as const) {
      const shown = ownMetrics(
        [...row(`**${heading}`)].filter(([title]) => !title.includes('%')).map(([, metrics]) => metrics),
      );
      const declared = Object.entries(deliveryMetrics)
        .filter(([, { row: own }]) => own === heading)
        .flatMap(([name, { kind }]) => (kind === 'spread' ? [name, name] : [name]));
      expect(shown.sort()).toEqual(declared.sort());
    }
    expect(
      row('**Deliveries')
        .get('From commit on, ms')!
        .map((metric) => (metric.at(-1) as { label: string }).label),
    ).toEqual(['first attempt p50', 'first attempt p99', 'fan-out p50', 'fan-out p99']);
  });

  test('shows what share of attempts succeeds', () => {
    expect(row('**Deliveries').get('Attempts that succeed, %')![0]![0]).toMatchObject({
      expression:
        '100 * FILL(delivered, 0) / (FILL(delivered, 0) + FILL(failed, 0) + FILL(timedOut, 0) + FILL(refused, 0))',
    });
  });

  test('shows every queue and every worker', () => {
    const graphs = row('**Queues and workers');
    const labels = (title: string) =>
      graphs.get(title)!.flatMap((metric) => (metric.at(-1) as { label?: string }).label ?? []);
    for (const title of ['Messages waiting', 'Messages being handled', 'Age of the oldest message, s'])
      expect(labels(title)).toEqual(queueNames);
    for (const title of ['Runs', 'Failures', 'Duration p99, ms'])
      expect(labels(title)).toEqual(expect.arrayContaining(workers.map(({ name }) => name)));
    expect(labels('Behind the stream, ms')).toEqual(
      workers.filter(({ on }) => 'inserts' in on).map(({ name }) => name),
    );
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

  test('design 11: shows what a million requests cost: units of the table and its indexes, time of all functions, and the gateway, at the list prices', () => {
    const [table, functions, all] = row('**Cost')
      .get('Dollars per million requests')!
      .flat()
      .filter((metric) => typeof metric === 'object' && 'expression' in metric!) as { expression?: string }[];
    expect(table!.expression).toBe(
      '(0.125 * (FILL(read0, 0) + FILL(read1, 0) + FILL(read2, 0) + FILL(read3, 0) + FILL(read4, 0)) + 0.625 * (FILL(write0, 0) + FILL(write1, 0) + FILL(write2, 0) + FILL(write3, 0) + FILL(write4, 0))) / requests',
    );
    // 512 MB for a millisecond, a million times.
    expect(functions!.expression).toMatch(
      /^\(0\.0066667 \* SUM\(SEARCH\('\{AWS\/Lambda,FunctionName\} MetricName="Duration" FunctionName=CollaborationBackend', 'Sum', 300\)\) \+ 0\.2 \* SUM\(SEARCH\(.* MetricName="Invocations" /,
    );
    expect(all!.expression).toBe(`1 + ${table!.expression} + ${functions!.expression}`);
  });
});
