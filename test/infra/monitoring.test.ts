import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { alarmText, RUNBOOK } from '../../infra/alarmText.ts';
import { projectDir } from '../../infra/build.ts';
import { pascal } from '../../infra/names.ts';
import { faultsMetric } from '../../lib/observability/faults.ts';
import { type Assembly, assemblyOf, type Resource, resources } from './assembly.ts';
import { greedy, registered } from './endpoints.ts';

const endpoints = [...registered, greedy];
let assembly: Assembly;
let alarms: [id: string, resource: Resource][];
beforeAll(() => {
  assembly = assemblyOf(endpoints, { alarmEmail: 'ops@example.com', serviceName: 'acme' });
  alarms = resources(assembly.root, 'AWS::CloudWatch::Alarm');
});

/** `runbook-faults` of `## Runbook: faults`, as the page shows it. */
function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase().replace(/[^\p{L}\p{N}\- ]/gu, '').replaceAll(' ', '-'));
}

describe('alarms', () => {
  test('there is one for each family and one for the API', () => {
    const families = alarms.filter(([, { Properties }]) => Properties.MetricName === faultsMetric.name).map(([, { Properties }]) => Properties);
    expect(alarms).toHaveLength(families.length + 1);
    expect(families.map(({ Namespace, Dimensions }) => [Namespace, Object.fromEntries(Dimensions.map(({ Name, Value }: any) => [Name, Value]))]))
      .toEqual([...assembly.families.keys()].map((family) => [faultsMetric.namespace, { service: 'acme', family }]));
    expect(alarms.at(-1)?.[1].Properties).toMatchObject({ Namespace: 'AWS/ApiGateway', MetricName: '5xx', Dimensions: [{ Name: 'ApiId', Value: { Ref: 'Api' } }] });
  });

  test('ring at five faults in five minutes, stay silent without data, and tell someone', () => {
    const [[topic]] = resources(assembly.root, 'AWS::SNS::Topic') as [[string, Resource]];
    for (const [, { Properties }] of alarms) {
      expect(Properties).toMatchObject({
        Statistic: 'Sum', Period: 300, EvaluationPeriods: 1, Threshold: 5, ComparisonOperator: 'GreaterThanOrEqualToThreshold', TreatMissingData: 'notBreaching',
        AlarmActions: [{ Ref: topic }],
      });
    }
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
      const shown = impacts.filter((impact) => text.includes(`- ${impact}`));
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
  });

  test('without an address notify nobody and need no topic', () => {
    const { root } = assemblyOf(registered);
    expect(resources(root, 'AWS::SNS::Topic')).toEqual([]);
    for (const [, { Properties }] of resources(root, 'AWS::CloudWatch::Alarm')) expect(Properties.AlarmActions).toBeUndefined();
  });
});

describe('the text of an alarm', () => {
  const impacts = Array.from({ length: 40 }, (_, index) => `customers cannot do the thing with number ${index}, which they need`);

  test('shows as many impacts as fit, and how many it leaves out', () => {
    const text = alarmText({ happens: 'It happens.', query: 'filter 1', impacts });
    expect(text.length).toBeLessThanOrEqual(1024);
    expect(text.length).toBeGreaterThan(900);
    const shown = impacts.filter((impact) => text.includes(impact)).length;
    expect(text).toContain(`- and ${40 - shown} more`);
    expect(text.split('\n').slice(0, 3)).toEqual(['It happens.', `Runbook: ${RUNBOOK}`, 'Logs Insights: filter 1']);
  });

  test('shows an impact once', () => {
    expect(alarmText({ happens: 'It happens.', impacts: ['a', 'a'] }).split('\n').slice(2)).toEqual(['Impact, depending on the endpoint:', '- a']);
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

  test('begins with the health of the API, ends with the table, and has a row for each family between', () => {
    const headings = widgets().flatMap(({ properties }) => properties.markdown ?? []);
    expect(headings[0]).toContain('Is it healthy?');
    expect(headings.slice(1)).toEqual([...[...assembly.families.keys()].map((family) => `**/${family}**`), '**Table**']);
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
