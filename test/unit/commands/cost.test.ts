import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { costOfCall, costsOfCalls, pinnedCapacity } from '../../../infra/commands/cost/calls.ts';
import { deliveryDollars } from '../../../infra/commands/cost/deliveries.ts';
import { idleBill, totalOf } from '../../../infra/commands/cost/idle.ts';
import { liveBill, workday } from '../../../infra/commands/cost/live.ts';
import { prices } from '../../../infra/commands/cost/prices.ts';
import { deployedResources } from '../../../infra/commands/cost.ts';
import { projectDir } from '../../../infra/build/build.ts';
import { registeredEndpoints, registeredWorkers } from '../../../infra/build/registry.ts';
import { queues } from '../../../lib/workers/queues.ts';

describe('idleBill', () => {
  test('is below 12 dollars a month, without free tiers and with every alarm', async () => {
    const bill = idleBill(await deployedResources());
    const lines = new Map(bill.map(({ item, count, dollars }) => [item, { count, dollars }]));
    expect(lines.get('secrets')).toEqual({ count: 2, dollars: 0.8 });
    expect(lines.get('dashboards')).toEqual({ count: 1, dollars: 3 });
    const consumed = registeredWorkers().filter(({ on }) => 'queue' in on).length;
    expect(consumed).toBe(Object.keys(queues).length);
    expect(lines.get('queues that Lambda polls')!.count).toBe(consumed);
    expect(lines.get('runs of the sweep with their reads and logs')!.count).toBe(43_800);
    expect(lines.get('metrics that alarms watch')!.count).toBeGreaterThan(30);
    expect(totalOf(bill)).toBeGreaterThan(5);
    expect(totalOf(bill)).toBeLessThan(12);
  });

  test('costs with the push service only its alarms more', async () => {
    const [off, on] = [idleBill(await deployedResources()), idleBill(await deployedResources({ live: true }))];
    const alarms = (bill: typeof off) => bill.find(({ item }) => item === 'metrics that alarms watch')!.dollars;
    expect(totalOf(on) - totalOf(off)).toBeCloseTo(alarms(on) - alarms(off), 6);
    expect(totalOf(on)).toBeLessThan(13);
  });

  test('counts an alarm by its metrics, and a query as one', () => {
    const watched = (...Metrics: object[]) =>
      idleBill([{ Alarm: { Type: 'AWS::CloudWatch::Alarm', Properties: Metrics.length > 0 ? { Metrics } : {} } }]).find(
        ({ item }) => item === 'metrics that alarms watch',
      )!.count;
    expect(watched()).toBe(1);
    expect(watched({ Expression: 'a + b' }, { MetricStat: {} }, { MetricStat: {} })).toBe(2);
    expect(watched({ Expression: 'SELECT SUM(a)' })).toBe(1);
  });

  test('counts polls and runs of schedules', () => {
    const dollars = (Type: string, Properties: object) =>
      totalOf(idleBill([{ It: { Type, Properties: Properties as Record<string, unknown> } }]));
    // Five parallel long polls of 20 s send 657,000 requests in 730 hours.
    expect(dollars('AWS::Lambda::EventSourceMapping', { ScalingConfig: {} })).toBeCloseTo(0.2628, 4);
    expect(dollars('AWS::Lambda::EventSourceMapping', { StartingPosition: 'TRIM_HORIZON' })).toBe(0);
    expect(dollars('AWS::Events::Rule', { ScheduleExpression: 'rate(2 minutes)' })).toBeCloseTo(
      dollars('AWS::Events::Rule', { ScheduleExpression: 'rate(1 minute)' }) / 2,
      6,
    );
  });

  test('throws for an unknown type of resource', () => {
    expect(() => idleBill([{ Box: { Type: 'AWS::EC2::Instance' } }])).toThrow(
      'Unknown idle cost of AWS::EC2::Instance',
    );
    expect(() =>
      idleBill([{ Rule: { Type: 'AWS::Events::Rule', Properties: { ScheduleExpression: 'cron(0 3 * * ? *)' } } }]),
    ).toThrow('Unknown schedule cron(0 3 * * ? *)');
  });
});

describe('costsOfCalls', () => {
  test('covers every endpoint, from the capacity that tests pin', () => {
    const pinned = pinnedCapacity();
    const costs = costsOfCalls(registeredEndpoints(), pinned);
    expect(costs.map(({ name }) => name).sort()).toEqual([...pinned.keys()].sort());
    // A twin has the function of its endpoint, and the same cost.
    for (const { path } of registeredEndpoints().filter(({ twinOf }) => twinOf === undefined))
      expect(costs.filter(({ name }) => name.startsWith(`${path} `)).length).toBeGreaterThan(0);
  });

  test('reads the capacity from endpoint test files too', () => {
    const tests = (cost: string) => `describeEndpoint('/v2/a/b', {\n  cost: ${cost},\n});`;
    const line = "  '/v2/a/c one': [1, 2, 3.5, 4],\n";
    expect(
      pinnedCapacity(line, [tests('{ calls: 3, roundTrips: 2, readUnits: 1.5, writeUnits: 4 }')]).get('/v2/a/b one'),
    ).toEqual({ roundTrips: 2, read: 1.5, written: 4 });
    expect(() => pinnedCapacity(line, [tests('{}')])).toThrow('The tests of an endpoint have no path or no cost.');
  });

  test('adds up gateway, function, table, messages and logs', () => {
    const cost = costOfCall('/v2/things/add one', { roundTrips: 2, read: 1.5, written: 4 }, { sends: true });
    // The call takes 15 ms of half a gigabyte. It reads two units, including half a unit for credentials, and writes four.
    expect(cost).toMatchObject({ milliseconds: 15, gateway: 1, queue: 0.4 });
    expect(cost.lambda).toBeCloseTo(0.2 + 0.015 * 0.5 * 13.3334, 6);
    expect(cost.table).toBeCloseTo(2 * 0.125 + 4 * 0.625, 6);
    expect(cost.logs).toBeCloseTo((900e6 / 2 ** 30) * 0.5, 6);
    expect(cost.total).toBeCloseTo(cost.gateway + cost.lambda + cost.table + cost.queue + cost.logs, 9);
    expect(
      costOfCall('/v2/things/add one', { roundTrips: 2, read: 1.5, written: 4 }, { memoryMb: 1024 }).lambda,
    ).toBeCloseTo(0.2 + 0.015 * 13.3334, 6);
  });

  test('throws if a pinned line cannot be read', () => {
    expect(pinnedCapacity("  '/v2/a/b one': [1, 2, 3.5, 4],\n", [])).toEqual(
      new Map([['/v2/a/b one', { roundTrips: 2, read: 3.5, written: 4 }]]),
    );
    expect(() => pinnedCapacity("  '/v2/a/b one': [1, 2, 3, 4],\n  '/v2/a/c one': [1, 2, 3, MANY],\n")).toThrow(
      'pins 2 requests, of which 1 can be read',
    );
    expect(() => pinnedCapacity('')).toThrow('pins 0 requests');
  });
});

describe('deliveryDollars', () => {
  test('adds up table, queue and functions', () => {
    const consumed = { calls: 7, read: 7, written: 7, sqs: 0.3, postingRuns: 0.1, otherRuns: 0 };
    // Ten messages take three SQS requests and 300 ms of half a gigabyte.
    expect(deliveryDollars(consumed)).toBeCloseTo(
      7 * prices.tableWritten + 7 * prices.tableRead + 0.12 + 0.02 + 0.2,
      2,
    );
    const others = deliveryDollars({ ...consumed, otherRuns: 1 }) - deliveryDollars(consumed);
    expect(others).toBeCloseTo(0.2 + 0.03 * 0.5 * 13.3334, 6);
  });
});

describe('liveBill', () => {
  const calls = costsOfCalls(registeredEndpoints());
  const dollarsOf = (bill: ReturnType<typeof liveBill>, item: string) =>
    bill.find((line) => line.item === item)?.dollars;

  test('prices each event once as received and once per subscriber as sent', () => {
    const bill = liveBill(
      { users: 10, hours: 1, usersPerDocument: 4, editsPerSecond: 2, cursorsPerSecond: 0.5 },
      calls,
    );
    expect(dollarsOf(bill, 'AppSync: edits that it receives')).toBeCloseTo(0.072, 9);
    expect(dollarsOf(bill, 'AppSync: edits that it sends')).toBeCloseTo(4 * 0.072, 9);
    expect(dollarsOf(bill, 'AppSync: cursors that it sends')).toBeCloseTo(4 * 0.018, 9);
    expect(dollarsOf(bill, 'AppSync: minutes of connections')).toBeCloseTo(600 * 0.08e-6, 9);
    expect(dollarsOf(bill, 'table: versions and hints')).toBeCloseTo(0.072 * (2 * 0.125 + 4 * 0.625), 9);
    expect(dollarsOf(bill, 'calls of presence/add')).toBeCloseTo(
      (3_600 / 1e6) * calls.find(({ name }) => name === '/v2/presence/add one')!.total,
      9,
    );
  });

  test('costs users who only read no more than their connections and the calls of their clients', () => {
    const bill = liveBill({ ...workday, editsPerSecond: 0, cursorsPerSecond: 0 }, calls);
    expect(bill.filter(({ dollars }) => dollars > 0.01).map(({ item }) => item)).toEqual([
      'calls of presence/add',
      'calls of live/changes',
      'calls of presence/get',
      'calls of livestate/get',
      'calls of live/connect',
      'AppSync: minutes of connections',
    ]);
  });

  test('has the most expensive item first, and throws for a call without a cost', () => {
    const dollars = liveBill(workday, calls).map((line) => line.dollars);
    expect(dollars).toEqual(dollars.toSorted((a, b) => b - a));
    expect(() => liveBill(workday, [])).toThrow('The cost of /v2/crdt/updates/push one is unknown.');
  });

  test('costs what the page for operators says', () => {
    const page = readFileSync(join(projectDir, 'infra/README.md'), 'utf8');
    const bill = liveBill(workday, calls);
    expect(page).toContain(`cost $${totalOf(bill).toFixed(0)}`);
    expect(page).toContain(`$${(totalOf(bill) / workday.users / workday.hours).toFixed(3)} per user and hour`);
  });
});
