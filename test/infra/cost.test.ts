import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build/build.ts';
import { registeredEndpoints, registeredWorkers } from '../../infra/build/registry.ts';
import { costOptions, costReport, deployedResources } from '../../infra/commands/cost.ts';
import { deliveryConsumption, deliveryCost, deliveryDollars } from '../../infra/commands/cost/deliveries.ts';
import { floodBill } from '../../infra/commands/cost/flood.ts';
import { heartbeatBill, idleBill, totalOf } from '../../infra/commands/cost/idle.ts';
import { liveBill, workday } from '../../infra/commands/cost/live.ts';
import { mailConsumption, mailCost } from '../../infra/commands/cost/mails.ts';
import { metricBill } from '../../infra/commands/cost/metrics.ts';
import { versionCosts } from '../../infra/commands/cost/versions.ts';
import { watchingBill, widgetCosts } from '../../infra/commands/cost/watching.ts';
import {
  consumptionOfRequests,
  costOfCall,
  costsOfCalls,
  refusedCall,
  startCost,
  startMilliseconds,
} from '../../infra/cost/calls.ts';
import { prices } from '../../infra/cost/prices.ts';
import { deliveryMetrics } from '../../lib/observability/deliveryMetrics.ts';
import { limitedClasses } from '../../lib/observability/rateLimited.ts';
import { queues } from '../../lib/workers/queues.ts';

// The CDK records a stack trace for each resource. Jest raises the limit to 100 frames, which makes that slow.
Error.stackTraceLimit = 10;

/** The resources with the default settings, with the push service, and with the heartbeat. */
const [byDefault, withLive, withHeartbeat] = await Promise.all([
  deployedResources(),
  deployedResources({ live: 'on' }),
  deployedResources({ heartbeat: 'on' }),
]);

const linesOf = (bill: ReturnType<typeof idleBill>) => new Map(bill.map((line) => [line.item, line]));

describe('idleBill', () => {
  test('is below 29 dollars a month, without free tiers and with every alarm', () => {
    const bill = idleBill(byDefault);
    const lines = linesOf(bill);
    expect(lines.get('secrets')).toMatchObject({ count: 3, dollars: expect.closeTo(1.2) });
    expect(lines.get('dashboards')).toMatchObject({ count: 1, dollars: 3 });
    const consumed = registeredWorkers().filter(({ on }) => 'queue' in on).length;
    expect(consumed).toBe(Object.keys(queues).length);
    expect(lines.get('queues that Lambda polls')!.count).toBe(consumed);
    expect(lines.get('runs of the sweep with their reads and logs')!.count).toBe(43_800);
    expect(lines.get('metrics that alarms watch')!.count).toBeGreaterThan(30);
    expect(totalOf(bill)).toBeGreaterThan(5);
    expect(lines.get('composite alarms')!.dollars).toBe(0.5 * lines.get('composite alarms')!.count);
    expect(totalOf(bill) - lines.get('composite alarms')!.dollars).toBeLessThan(13.5);
    expect(totalOf(bill)).toBeLessThan(29);
  });

  test('grows only by the cost of alarms and of a key if the push service is on', () => {
    const [off, on] = [idleBill(byDefault), idleBill(withLive)];
    const alarms = (bill: typeof off) =>
      totalOf(bill.filter(({ item }) => ['metrics that alarms watch', 'composite alarms'].includes(item)));
    expect(totalOf(on) - totalOf(off)).toBeCloseTo(alarms(on) - alarms(off) + 0.4, 6);
    expect(totalOf(on) - totalOf(off)).toBeLessThan(3);
  });

  test('counts each metric of an alarm, and a Metrics Insights query as one metric', () => {
    const watched = (...Metrics: object[]) =>
      idleBill([{ Alarm: { Type: 'AWS::CloudWatch::Alarm', Properties: Metrics.length > 0 ? { Metrics } : {} } }]).find(
        ({ item }) => item === 'metrics that alarms watch',
      )!.count;
    expect(watched()).toBe(1);
    expect(watched({ Expression: 'a + b' }, { MetricStat: {} }, { MetricStat: {} })).toBe(2);
    expect(watched({ Expression: 'SELECT SUM(a)' })).toBe(1);
  });

  test('counts polls of queues and runs of schedules', () => {
    const dollars = (Type: string, Properties: object) =>
      totalOf(idleBill([{ It: { Type, Properties: Properties as Record<string, unknown> } }]));
    // Lambda polls a queue five times in parallel, for 20 s each. In a month of 730 hours these are 657,000 requests.
    expect(dollars('AWS::Lambda::EventSourceMapping', { ScalingConfig: {} })).toBeCloseTo(0.2628, 4);
    expect(dollars('AWS::Lambda::EventSourceMapping', { StartingPosition: 'TRIM_HORIZON' })).toBe(0);
    expect(dollars('AWS::Events::Rule', { ScheduleExpression: 'rate(2 minutes)' })).toBeCloseTo(
      dollars('AWS::Events::Rule', { ScheduleExpression: 'rate(1 minute)' }) / 2,
      6,
    );
  });

  test('adds the API calls of the heartbeat to the rule that starts it', () => {
    const rule = (id: string) => ({
      Type: 'AWS::Events::Rule',
      Properties: { ScheduleExpression: 'rate(1 minute)', Targets: [{ Arn: { 'Fn::GetAtt': [id, 'Arn'] } }] },
    });
    const lines = linesOf(idleBill([{ One: rule('Sweep'), Two: rule('Heartbeat') }]));
    expect(lines.get('runs of the sweep with their reads and logs')!.count).toBe(43_800);
    expect(lines.get('heartbeats with their calls')!.count).toBe(43_800);
    // Each heartbeat makes two calls. The gateway alone costs one dollar per million calls.
    expect(lines.get('heartbeats with their calls')!.dollars).toBeGreaterThan(2 * 0.0438);
  });

  test('counts pings of warm functions, which cost less than two cents a month for each function', () => {
    const ping = { Type: 'AWS::Scheduler::Schedule', Properties: { ScheduleExpression: 'rate(5 minutes)' } };
    const line = idleBill([{ Ping: ping }]).find(({ item }) => item === 'pings of warm functions')!;
    expect(line.count).toBe(8_760);
    expect(line.dollars).toBeGreaterThan(0.01);
    expect(line.dollars).toBeLessThan(0.02);
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
  test('has a row for each known request, and one or more for every endpoint', () => {
    const costs = costsOfCalls(registeredEndpoints());
    expect(costs.map(({ name }) => name).sort()).toEqual(
      [...consumptionOfRequests(registeredEndpoints()).keys()].sort(),
    );
    // Twins have no rows. A twin runs in the function of its endpoint, at the same cost.
    for (const { path } of registeredEndpoints().filter(({ twinOf }) => twinOf === undefined))
      expect(costs.filter(({ name }) => name.startsWith(`${path} `)).length).toBeGreaterThan(0);
  });

  test('adds up gateway, function, table, messages and logs', () => {
    const cost = costOfCall('/v2/things/add one', { roundTrips: 2, read: 1.5, written: 4 }, { sends: true });
    // With a gigabyte, 1.5 ms of a whole core take 2.6 ms, and two round trips take 10 ms. The call reads two units, of which half a unit is for the credentials, and
    // writes four units.
    expect(cost).toMatchObject({ milliseconds: expect.closeTo(12.5913, 4), gateway: 1, queue: 0.4 });
    expect(cost.lambda).toBeCloseTo(0.2 + 0.0125913 * 13.3334, 4);
    expect(cost.table).toBeCloseTo(2 * 0.125 + 4 * 0.625, 6);
    // The function and the gateway write 900 bytes, and Lambda itself writes 300 bytes.
    expect(cost.logs).toBeCloseTo((1_200e6 / 2 ** 30) * 0.5, 6);
    // One call in a hundred starts an instance.
    expect(cost.starts).toBeCloseTo(startCost(0.01), 9);
    expect(cost.vectors).toBe(0);
    expect(
      costOfCall('/v2/things/add one', { roundTrips: 2, read: 1.5, written: 4 }, { memoryMb: 512 }).lambda,
    ).toBeCloseTo(0.2 + 0.0151826 * 0.5 * 13.3334, 4);
  });

  test('adds the vectors that a request writes or searches', () => {
    const costs = new Map(costsOfCalls(registeredEndpoints()).map((cost) => [cost.name, cost]));
    const [add, search] = ['/v2/memory/judgments/add one', '/v2/memory/search a document'].map((name) =>
      costs.get(name)!,
    );
    expect(add!.vectors).toBeCloseTo((2_440e6 / 2 ** 30) * 0.52, 6);
    expect(search!.vectors).toBeCloseTo((39_000e6 / 2 ** 30) * 0.002, 6);
    const { total, gateway, lambda, starts, table, queue, logs, dataOut, vectors } = add!;
    expect(total).toBeCloseTo(gateway + lambda + starts + table + queue + logs + dataOut + vectors, 9);
  });

  test('bills the bytes of an answer that leave AWS, with its headers', () => {
    const consumed = { roundTrips: 1, read: 1, written: 0 };
    const dataOut = (answerBytes: number) => costOfCall('/v2/things/get one', consumed, { answerBytes }).dataOut;
    expect(dataOut(400)).toBeCloseTo((1_000e6 / 2 ** 30) * 0.09, 6);
    expect(dataOut(0)).toBeCloseTo((600e6 / 2 ** 30) * 0.09, 6);
    const costs = costsOfCalls(registeredEndpoints());
    for (const { dataOut: dollars } of costs) expect(dollars).toBeGreaterThan(dataOut(0));
  });

  test('bills the start of an instance for every call, if calls are rare', () => {
    expect(startCost(1)).toBeCloseTo((startMilliseconds(1_024) / 1000) * 13.3334, 6);
  });

  test('takes less CPU time for a start with more memory, up to a whole core', () => {
    const [half, one, core, more] = [512, 1_024, 1_769, 3_008].map(startMilliseconds) as [
      number,
      number,
      number,
      number,
    ];
    expect(half - core).toBeGreaterThan(one - core);
    expect(one).toBeGreaterThan(core);
    expect(more).toBe(core);
  });
});

test('versionCosts prices a version and a restore by the size of the text', () => {
  expect(versionCosts().map(([, dollars]) => Math.round(dollars))).toEqual([9, 15, 126, 260, 963, 1983]);
});

describe('deliveryCost', () => {
  const consumed = { calls: 7, read: 7, written: 7, sqs: 0.3, postingRuns: 0.1, otherRuns: 0, posts: 1 };

  test('adds up the cost of table, queue and functions for a delivery', () => {
    // For ten messages: three SQS requests, and 300 ms with half a gigabyte.
    expect(deliveryDollars(consumed)).toBeCloseTo(
      7 * prices.tableWritten + 7 * prices.tableRead + 0.12 + 0.02 + 0.2,
      2,
    );
    const others = deliveryDollars({ ...consumed, otherRuns: 1 }) - deliveryDollars(consumed);
    expect(others).toBeCloseTo(0.2 + 0.03 * 0.5 * 13.3334, 6);
  });

  test('adds the cost of logs and of data that leaves AWS', () => {
    const cost = deliveryCost(consumed);
    expect(cost.logs).toBeCloseTo(((0.1 * 950e6) / 2 ** 30) * 0.5, 6);
    expect(cost.dataOut).toBeCloseTo((3_000e6 / 2 ** 30) * 0.09, 6);
    expect(cost.total).toBeCloseTo(deliveryDollars(consumed) + cost.logs + cost.dataOut, 9);
    expect(deliveryCost({ ...consumed, posts: 0 }).dataOut).toBe(0);
  });

  test('is higher in batches of one, for events and for deliveries', () => {
    const total = (name: keyof typeof deliveryConsumption) => deliveryCost(deliveryConsumption[name].consumed).total;
    expect(total('eventAlone')).toBeGreaterThan(total('event'));
    expect(total('alone')).toBeGreaterThan(2 * total('inTens'));
  });
});

describe('mailCost', () => {
  const { alone, unlimited, burst } = mailConsumption;
  const [mailedAlone, mailedTogether] = [unlimited, burst].map(({ consumed }) => mailCost(consumed)) as [
    ReturnType<typeof mailCost>,
    ReturnType<typeof mailCost>,
  ];

  test('adds the mail of Amazon SES to table, queue, functions and logs', () => {
    const { mails, ...consumed } = alone.consumed;
    const { total } = deliveryCost(consumed);
    expect(mailCost(alone.consumed)).toMatchObject({ ses: 100 * mails, total: expect.closeTo(100 + total, 9) });
  });

  test('of an activity in a burst is at most a fifth of one that is mailed alone without limits, and lower also without SES', () => {
    expect(mailedTogether.total).toBeLessThanOrEqual(mailedAlone.total / 5);
    const own = ({ total, ses }: ReturnType<typeof mailCost>) => total - ses;
    expect(own(mailedTogether)).toBeLessThan(0.8 * own(mailedAlone));
  });

  test('equals the cost on the page for operators', () => {
    const page = readFileSync(join(projectDir, 'infra/README.md'), 'utf8');
    for (const { total, ses } of Object.values(mailConsumption).map(({ consumed }) => mailCost(consumed)))
      expect(page).toContain(`| ${total.toFixed(2)} | ${(total - ses).toFixed(2)} |`);
  });
});

test('a view of a thread costs at most two write units', () => {
  const { written } = consumptionOfRequests(registeredEndpoints()).get('/v2/commentannotations/views/add one')!;
  expect(written).toBeLessThanOrEqual(2);
});

describe('heartbeatBill', () => {
  test('is below a dollar a month, and equals the cost difference between deployments with and without it', () => {
    expect(totalOf(heartbeatBill())).toBeLessThan(1);
    expect(totalOf(idleBill(withHeartbeat)) - totalOf(idleBill(byDefault))).toBeCloseTo(totalOf(heartbeatBill()), 9);
  });
});

describe('metricBill', () => {
  test('counts each metric of the service once, and two metrics of each failing endpoint', () => {
    const lines = metricBill(3);
    const failing = lines.find(({ item }) => item === 'metrics of faults of 3 endpoints')!;
    expect(failing).toMatchObject({ count: 6, dollars: expect.closeTo(6 * 0.3) });
    const others = lines.filter((line) => line !== failing).reduce((sum, { count }) => sum + count, 0);
    expect(others).toBe(Object.keys(deliveryMetrics).length + limitedClasses.length);
  });
});

describe('the cost of watching the dashboard', () => {
  const dashboard = (...widgets: object[]) => [
    {
      Dashboard: {
        Type: 'AWS::CloudWatch::Dashboard',
        Properties: { DashboardBody: { 'Fn::Join': ['', [JSON.stringify({ widgets }).slice(0, -1), '}']] } },
      },
    },
  ];
  const graph = (title: string, ...metrics: unknown[][]) => ({ type: 'metric', properties: { title, metrics } });

  test('is at most a cent a refresh for each widget', () => {
    const costs = widgetCosts(withLive);
    expect(costs.length).toBeGreaterThan(50);
    for (const { title, dollars } of costs) expect([title, dollars <= 0.01]).toEqual([title, true]);
    expect(watchingBill(withLive).dollars).toBeLessThan(1);
  });

  test('counts the metrics of each graph, and a query as the metrics of the largest graph', () => {
    const [names, query] = [graph('a', ['N', 'one'], ['N', 'two'], ['N', 'three']), [{ expression: 'SELECT SUM(x)' }]];
    const costs = widgetCosts(
      dashboard({ type: 'text', properties: {} }, names, graph('b', query, [{ expression: 'm' }])),
    );
    expect(costs).toEqual([
      { title: 'a', metrics: 3, dollars: 3e-5 },
      { title: 'b', metrics: 3, dollars: 3e-5 },
    ]);
    expect(watchingBill(dashboard(names))).toMatchObject({ count: 60, dollars: expect.closeTo(60 * 3e-5) });
  });

  test('throws for a widget that searches logs', () => {
    expect(() => widgetCosts(dashboard({ type: 'log', properties: { title: 'Calls' } }))).toThrow(
      'The widget "Calls" of type log costs more at a larger load.',
    );
  });
});

describe('floodBill', () => {
  test('prices an hour of refused calls of one route and of the whole account', () => {
    // The gateway, and a function of 15 ms with half a gigabyte that reads one and a half units.
    expect(refusedCall.total).toBeGreaterThan(1 + 0.2 + 0.015 * 0.5 * 13.3334 + 1.5 * 0.125);
    expect(refusedCall.total).toBeLessThan(2.5);
    const dollars = (perSecond: number) => (perSecond * 3_600 * refusedCall.total) / 1e6;
    expect(floodBill({ requestsPerSecond: 100 }).map((line) => [line.count, line.dollars])).toEqual([
      [100, dollars(100)],
      [2_500, dollars(2_500)],
      [10_000, dollars(10_000)],
    ]);
  });

  test('equals the ceilings on the page for operators', () => {
    const page = readFileSync(join(projectDir, 'infra/README.md'), 'utf8');
    for (const { count, dollars } of floodBill({ requestsPerSecond: 2_000 }))
      expect(page).toContain(`| ${count.toLocaleString('en-US')} | ${dollars.toFixed(2)} |`);
  });
});

describe('costOptions', () => {
  test('accepts --live, and refuses an unknown option', () => {
    expect([costOptions([]), costOptions(['--live'])]).toEqual([{ live: false }, { live: true }]);
    expect(() => costOptions(['--vectors'])).toThrow('--vectors');
  });
});

describe('costReport', () => {
  test('lists every request, and the gigabytes and dollars of vectors', () => {
    const report = costReport([]);
    for (const name of consumptionOfRequests(registeredEndpoints()).keys()) expect(report).toContain(`\n${name} `);
    expect(report).toMatch(/^ +written +searched +dollars$/m);
    expect(report).toMatch(/^\/v2\/memory\/judgments\/add one with content +4\.54 +0\.00 +2\.36$/m);
    for (const { label } of Object.values(mailConsumption)) expect(report).toContain(`  ${label}\n`);
    expect(report).not.toMatch(/NaN|undefined/);
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

  test('charges only connections and client calls for users who never write', () => {
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

  test('equals the cost on the page for operators', () => {
    const page = readFileSync(join(projectDir, 'infra/README.md'), 'utf8');
    const bill = liveBill(workday, calls);
    expect(page).toContain(`cost $${totalOf(bill).toFixed(0)}`);
    expect(page).toContain(`$${(totalOf(bill) / workday.users / workday.hours).toFixed(3)} per user and hour`);
    const section = page.slice(page.indexOf('**Connected users.**'));
    const rows = [...section.matchAll(/^\| .+ \| (\d+\.\d\d) \| \d+ % \|$/gm)].map(([, dollars]) => Number(dollars));
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.reduce((sum, dollars) => sum + dollars, 0)).toBeCloseTo(totalOf(bill), 1);
  });
});
