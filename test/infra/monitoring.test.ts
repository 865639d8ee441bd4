import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build/build.ts';
import { slugOf } from '../../infra/build/docs/markup.ts';
import { registeredWorkers } from '../../infra/build/registry.ts';
import { ALARM as SMOKE_ALARM } from '../../infra/commands/smoke/alarm.ts';
import { pascal } from '../../infra/constructs/names.ts';
import { queueNames } from '../../infra/constructs/queues.ts';
import { alarmText } from '../../infra/monitoring/alarms.ts';
import { byWeight, workersByWeight } from '../../infra/monitoring/impacts.ts';
import { familyOf, pathInFamily } from '../../lib/app/endpoint.ts';
import { deliveryMetrics } from '../../lib/observability/deliveryMetrics.ts';
import { faultsMetric } from '../../lib/observability/faults.ts';
import * as logMessages from '../../lib/observability/logMessages.ts';
import { limitedClasses } from '../../lib/observability/rateLimited.ts';
import { queues } from '../../lib/workers/queues.ts';
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

const names = (ids: readonly string[]) => ids.map((id) => id.replace(/[0-9A-F]{8}$/, ''));

/** Returns the properties of the alarm with this id. The hash that the CDK appends to ids is ignored. */
function alarm(id: string): Resource['Properties'] {
  const [alarm, ...more] = alarms.filter(([name]) => name.slice(0, -8) === id);
  if (!alarm || more.length > 0) throw new Error(`${id}: not exactly one alarm`);
  return alarm[1].Properties;
}

describe('createMonitoring', () => {
  test('watches each metric of AWS of its queue or worker, and takes missing data as the metric needs', () => {
    const watched = otherAlarms.flatMap(([id, { Properties }]) => {
      const { Namespace, MetricName, Dimensions, TreatMissingData } = Properties;
      const [, source, worker] =
        /"Fn::GetAtt":\["(\w+)","(?:Outputs\.\w+?(?:Workers|Live)(\w+)Function)?/.exec(JSON.stringify(Dimensions)) ??
        [];
      const missing = TreatMissingData === 'notBreaching' ? '' : ` ${TreatMissingData}`;
      if (!Namespace?.startsWith('AWS/')) return missing === '' ? [] : [[id, missing]];
      return [[id.slice(0, -8), `${Namespace} ${MetricName} ${worker ?? source ?? 'of all'}${missing}`]];
    });
    expect(Object.fromEntries(watched)).toEqual({
      DeliverDeadLettersFilled: 'AWS/SQS ApproximateNumberOfMessagesVisible DeliverDeadLetters',
      DeliverSlowDeadLettersFilled: 'AWS/SQS ApproximateNumberOfMessagesVisible DeliverSlowDeadLetters',
      EmbedDeadLettersFilled: 'AWS/SQS ApproximateNumberOfMessagesVisible EmbedDeadLetters',
      JobsDeadLettersFilled: 'AWS/SQS ApproximateNumberOfMessagesVisible JobsDeadLetters',
      MailDeadLettersFilled: 'AWS/SQS ApproximateNumberOfMessagesVisible MailDeadLetters',
      StreamDeadLettersFilled: 'AWS/SQS ApproximateNumberOfMessagesVisible StreamDeadLetters',
      SweepDeadLettersFilled: 'AWS/SQS ApproximateNumberOfMessagesVisible SweepDeadLetters',
      DeliverLate: 'AWS/SQS ApproximateAgeOfOldestMessage DeliverQueue',
      EmbedLate: 'AWS/SQS ApproximateAgeOfOldestMessage EmbedQueue',
      JobsLate: 'AWS/SQS ApproximateAgeOfOldestMessage JobsQueue',
      MailLate: 'AWS/SQS ApproximateAgeOfOldestMessage MailQueue',
      SweepLate: 'AWS/SQS ApproximateAgeOfOldestMessage SweepQueue',
      FanOutEventsBehind: 'AWS/Lambda IteratorAge FanOutEvents',
      PublishLiveBehind: 'AWS/Lambda IteratorAge PublishLive',
      HeartbeatStopped: 'AWS/Lambda Invocations Heartbeat breaching',
      SweepStopped: 'AWS/Lambda Invocations Sweep breaching',
      LiveAuthorizerFails: 'AWS/Lambda Errors AuthorizeLive',
      ConcurrencyHigh: 'AWS/Lambda ConcurrentExecutions of all',
      FunctionsThrottled: 'AWS/Lambda Throttles of all',
      MailBounces: 'AWS/SES Reputation.BounceRate of all ignore',
      MailComplaints: 'AWS/SES Reputation.ComplaintRate of all ignore',
    });
    // Without a sender address, there are no mails that can bounce.
    const ids = alarms.map(([id]) => id);
    expect(ids.filter((id) => /^Mail(Bounces|Complaints)/.test(id))).toEqual([]);
    expect(ids).toContain(SMOKE_ALARM);
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

  test('describes what is broken, the impact, the threshold, the first step, the runbook and the severity', () => {
    const text =
      /^[A-Z].*\.\nImpact(: .+|, one or more of:(\n- .+)+)\n(Alarms: (\w+, )*\w+\n)?Threshold: .+\nFirst step: .+[.?]\nRunbook: (\S+)\nSeverity: (high, act now|low, act on the next working day)$/;
    const acting = composites.filter(([, { Properties }]) => Properties.AlarmActions);
    for (const [, { Properties }] of [...alarms, ...acting]) expect(Properties.AlarmDescription).toMatch(text);
    for (const [id, resource] of composites) {
      const { AlarmActions, AlarmDescription, AlarmRule } = resource.Properties;
      const children = childrenOf(resource);
      expect([
        id,
        AlarmDescription.length <= 1024,
        JSON.stringify(AlarmRule).length <= 10_240,
        children.length <= 100,
      ]).toEqual([id, true, true, true]);
      if (AlarmActions) for (const child of names(children)) expect(AlarmDescription).toContain(child);
    }
    for (const family of assembly.families.keys()) {
      const { AlarmDescription } = alarm(`${pascal(family)}Faults`);
      expect(AlarmDescription).toContain(
        byWeight(functions.filter(({ path }) => familyOf(path) === family))[0]!.impact,
      );
      expect(AlarmDescription).toContain(
        `\nFirst step: open saved query "CollaborationBackend/faults of ${pascal(family)}" in Logs Insights. It shows which endpoint fails.\n`,
      );
    }
    for (const name of queueNames)
      expect(alarm(`${pascal(name)}DeadLettersFilled`).AlarmDescription).toContain(`Impact: ${queues[name].impact}`);
    const workersFail =
      'open saved query "CollaborationBackend/faults of Workers" in Logs Insights. It shows which worker fails.';
    expect(alarm('WorkersFail').AlarmDescription).toContain(`First step: ${workersFail}\n`);
    for (const [id, { Properties }] of otherAlarms) {
      expect(text.exec(Properties.AlarmDescription)![5]).toMatch(
        /^https:\/\/git\.example\.com\/team\/backend\/blob\/main\/infra\/RUNBOOK\.md#[a-z-]+$/,
      );
      if (id.startsWith('WorkersFail'))
        expect(Properties.AlarmDescription).toContain(
          `${workersFail} If it has no rows, open saved query "CollaborationBackend/faults of Workers Live" in Logs Insights.`,
        );
    }
  });

  test('links the dashboard to sections of the runbook', () => {
    const runbook = readFileSync(join(projectDir, 'infra/RUNBOOK.md'), 'utf8');
    const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugOf(heading));
    const dashboard = JSON.stringify(resources(otherRoot, 'AWS::CloudWatch::Dashboard'));
    const links = [...dashboard.matchAll(/infra\/RUNBOOK\.md#([\w-]+)/g)].map(([, anchor]) => anchor);
    expect(links.length).toBeGreaterThan(5);
    expect(anchors).toEqual(expect.arrayContaining(links));
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

  test('suppress no other alarm for a metric of DynamoDB, whose alarm can stay active without data', () => {
    for (const [id] of composites.filter(([, { Properties }]) => Properties.ActionsSuppressor)) {
      const sources = suppressorsOf(composite(id)).flatMap((name) =>
        alarms.some(([alarmId]) => alarmId.startsWith(name)) ? [name] : names(childrenOf(composite(name))),
      );
      for (const source of sources) expect(JSON.stringify(alarm(source))).not.toContain('AWS/DynamoDB');
    }
  });

  test('leave out the cause of a model if no model is called', () => {
    const { root } = assemblyOf([greedy], { embeddingModel: 'lexical' });
    const ids = resources(root).map(([id]) => id);
    expect(ids.filter((id) => /^Model|EmbedLate/.test(id))).toEqual([expect.stringMatching(/^EmbedLate/)]);
    const [[, queues]] = resources(root, COMPOSITE).filter(([id]) => id === 'QueuesCause') as [[string, Resource]];
    expect(names(childrenOf(queues))).toContain('EmbedLate');
  });
});

describe('workerAlarms', () => {
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
});
