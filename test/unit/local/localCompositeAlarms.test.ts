import { describe, expect, test } from '@jest/globals';
import { COMPOSITE_ALARM, monitoringOf } from '../../../infra/local/assembly/monitoring/monitoringModel.ts';
import { dashboardSnapshot } from '../../../infra/local/metrics/dashboardSnapshot.ts';
import { MetricStore } from '../../../infra/local/metrics/metricStore.ts';
import { StartError } from '../../../infra/local/startError.ts';

const START = Date.UTC(2026, 0, 1);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const arn = (name: string) => `arn:aws:cloudwatch:us-east-1:000000000000:Root-${name}`;
const topic = 'arn:aws:sns:us-east-1:000000000000:Root-Alarms';

const resource = (type: string, name: string, properties: Record<string, unknown>) => ({
  path: name,
  type,
  ref: `Root-${name}`,
  arn: arn(name),
  properties,
});
/** Returns an alarm on the sum of a metric with the same name, which is active while the sum of five minutes is positive. */
const metricAlarm = (name: string, properties: Record<string, unknown> = {}) =>
  resource('AWS::CloudWatch::Alarm', name, {
    Namespace: 'Own',
    MetricName: name,
    Statistic: 'Sum',
    Period: 300,
    EvaluationPeriods: 1,
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    Threshold: 1,
    TreatMissingData: 'notBreaching',
    ...properties,
  });
const composite = (name: string, AlarmRule: string, properties: Record<string, unknown> = {}) =>
  resource(COMPOSITE_ALARM, name, { AlarmRule, AlarmDescription: `${name} described`, ...properties });

/** Returns the alarms by name at a time after the start. `measured` are values of metrics at times after the start, in ms. */
function alarmsAt(
  at: number,
  resources: Parameters<typeof monitoringOf>[1],
  measured: readonly (readonly [name: string, at: number])[],
) {
  let now = START;
  const store = new MetricStore(() => now);
  for (const [name, time] of measured) {
    now = START + time;
    store.add({ namespace: 'Own', name, dimensions: {} }, 1);
  }
  const { alarms } = dashboardSnapshot(monitoringOf([], resources), store, { now: START + at, minutes: 15 });
  return Object.fromEntries(alarms.map((alarm) => [alarm.name, alarm]));
}

describe('a composite alarm', () => {
  const [a, b] = [metricAlarm('A'), metricAlarm('B')];
  const isActive = (rule: string, ...active: ('A' | 'B')[]) =>
    alarmsAt(
      MINUTE,
      [a, b, composite('Both', rule)],
      active.map((name) => [name, 0] as const),
    )['Both']!.active;

  test.each([
    [`ALARM("${arn('A')}")`, [false, true, false, true]],
    ['ALARM(Root-A)', undefined],
    ['ALARM("Root-A") OR ALARM("Root-B")', [false, true, true, true]],
    ['ALARM("Root-A") AND ALARM("Root-B")', [false, false, false, true]],
    ['ALARM("Root-A") AND NOT ALARM("Root-B")', [false, true, false, false]],
    ['OK("Root-A") OR ALARM("Root-A") AND ALARM("Root-B")', [true, false, true, true]],
    ['(OK("Root-A") OR ALARM("Root-A")) AND ALARM("Root-B")', [false, false, true, true]],
    ['TRUE', [true, true, true, true]],
    ['NOT TRUE OR FALSE', [false, false, false, false]],
  ])('evaluates the rule %s over the states of other alarms', (rule, expected) => {
    const states = () => [isActive(rule), isActive(rule, 'A'), isActive(rule, 'B'), isActive(rule, 'A', 'B')];
    if (expected) expect(states()).toEqual(expected);
    else expect(states).toThrow(StartError);
  });

  test('names its active alarms, sends notices if it has actions, and has no value', () => {
    const both = composite('Both', 'ALARM("Root-A") OR ALARM("Root-B")', { AlarmActions: [topic] });
    expect(alarmsAt(MINUTE, [a, b, both], [['B', 0]])).toMatchObject({
      Both: {
        active: true,
        contributors: ['B'],
        notifies: true,
        suppressedBy: null,
        value: null,
        threshold: null,
        description: 'Both described',
      },
      A: { active: false, notifies: false },
      B: { active: true, notifies: false, value: 1 },
    });
  });

  describe('with a suppressor', () => {
    const suppressed = composite('Suppressed', 'ALARM("Root-A")', {
      AlarmActions: [topic],
      ActionsSuppressor: arn('B'),
      ActionsSuppressorWaitPeriod: 120,
      ActionsSuppressorExtensionPeriod: 600,
    });
    const at = (time: number, ...measured: Parameters<typeof alarmsAt>[2]) =>
      alarmsAt(time, [a, b, suppressed], measured)['Suppressed'];

    test('waits for the suppressor before it sends a notice', () => {
      expect(at(119 * SECOND, ['A', 0])).toMatchObject({ active: true, suppressedBy: 'waits for B' });
      expect(at(125 * SECOND, ['A', 0])).toMatchObject({ active: true, suppressedBy: null });
    });

    test('sends no notice while the suppressor is active', () => {
      expect(at(200 * SECOND, ['A', 0], ['B', 100 * SECOND])).toMatchObject({ active: true, suppressedBy: 'B' });
    });

    test('sends no notice in the extension period, and one afterwards', () => {
      // The suppressor is active until five minutes after its last value.
      const measured = [
        ['B', 0],
        ['A', 6 * MINUTE],
        ['A', 11 * MINUTE],
        ['A', 15 * MINUTE],
      ] as const;
      expect(at(14 * MINUTE, ...measured)).toMatchObject({ active: true, suppressedBy: 'shortly after B' });
      expect(at(16 * MINUTE, ...measured)).toMatchObject({ active: true, suppressedBy: null });
    });
  });

  test.each([
    ['an unknown function', 'ANY("Root-A")', '"ANY" is not a known function'],
    ['a state that no local alarm has', 'INSUFFICIENT_DATA("Root-A")', '"INSUFFICIENT_DATA" is not a known function'],
    ['an alarm that the template does not have', 'ALARM("Root-C")', 'the unknown alarm "Root-C"'],
    ['an open parenthesis', '(ALARM("Root-A")', ') is missing at the end'],
    ['two rules', 'TRUE TRUE', '"TRUE" is left over'],
  ])('is refused with %s, and named', (_what, rule, problem) => {
    const read = () => monitoringOf([], [a, composite('Both', rule)]);
    expect(read).toThrow(StartError);
    expect(read).toThrow(problem);
    expect(read).toThrow(/^The composite alarm Both has a definition that the local run does not support: /);
  });

  test('is refused with a property that the local run does not support', () => {
    expect(() => monitoringOf([], [composite('Both', 'TRUE', { Colour: 'red' })])).toThrow(
      '"Colour" of a composite alarm',
    );
  });
});

test('an alarm with disabled actions sends no notices', () => {
  const alarms = [
    metricAlarm('A', { AlarmActions: [topic] }),
    metricAlarm('B', { AlarmActions: [topic], ActionsEnabled: false }),
    metricAlarm('C', { AlarmActions: [] }),
  ];
  const sending = Object.values(alarmsAt(MINUTE, alarms, [])).filter(({ notifies }) => notifies);
  expect(sending.map(({ name }) => name)).toEqual(['A']);
});
