import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as z from 'zod';
import { pascal } from '../../infra/names.ts';
import { queueNames } from '../../infra/queues.ts';
import { defineEndpoint, endpointId, familyOf } from '../../lib/endpoint.ts';
import { toLambda } from '../../lib/http/lambda.ts';
import type { RecordedMetric } from '../../lib/observability/deliveryMetrics.ts';
import { InvocationMeasures } from '../../lib/observability/measures.ts';
import { type QueueDeclaration, queues } from '../../lib/queues.ts';
import { toWorkerLambda } from '../../lib/sqs/lambda.ts';
import { defineWorker } from '../../lib/worker.ts';
import { DeliverySystem, MINUTE, SECOND } from '../support/deliveries.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { Hooks } from '../support/hooks.ts';
import { post } from '../support/requests.ts';
import { newWebhookCustomer, paths } from '../support/webhooks.ts';
import { lambdaContext } from '../support/workers.ts';
import { dimensionsOf, MetricStore, ringing } from './alarmState.ts';
import { type Assembly, assemblyOf, type Resource, resources } from './assembly.ts';
import { registered } from './endpoints.ts';
import { workers } from './workers.ts';

const serviceName = 'acme';
let assembly: Assembly;
let alarms: Map<string, Resource>;
let lines: Record<string, any>[];
/** The alarms that a test has made ring. */
const rang = new Set<string>();
beforeAll(() => {
  process.env.POWERTOOLS_DEV = 'true';
  process.env.POWERTOOLS_METRICS_DISABLED = 'false';
  assembly = assemblyOf(registered, { serviceName });
  // Without the hash that CDK adds.
  alarms = new Map(resources(assembly.root, 'AWS::CloudWatch::Alarm').map(([id, resource]) => [id.slice(0, -8), resource]));
});
beforeEach(() => {
  lines = [];
  for (const method of ['info', 'warn', 'error', 'log'] as const) jest.spyOn(console, method).mockImplementation((text: unknown) => void lines.push(JSON.parse(String(text)) as Record<string, any>));
});
afterEach(() => { jest.restoreAllMocks(); });

function alarm(id: string): Resource {
  const found = alarms.get(id);
  if (!found) throw new Error(`There is no alarm ${id}, only ${[...alarms.keys()].join(', ')}`);
  return found;
}

/** Who rings when these metrics are there, one list of values for each period. */
function ringingWith(id: string, periods: readonly (readonly number[])[], fill: (store: MetricStore, values: readonly number[], period: number) => void): string[] {
  const store = new MetricStore();
  periods.forEach((values, period) => { if (values.length > 0) fill(store, values, period); });
  const found = ringing(alarm(id), store, periods.length - 1);
  if (found.length > 0) rang.add(id);
  return found;
}

/** Gives data to the metric of an alarm that is on one metric of AWS. */
function ownMetric(id: string) {
  const { Namespace, MetricName, Dimensions } = alarm(id).Properties;
  return (store: MetricStore, values: readonly number[], period: number) => store.add(Namespace, MetricName, dimensionsOf(Dimensions), period, ...values);
}

/** Gives data to one of the metrics of an expression. */
function partOf(id: string, part: string) {
  const { Metric } = alarm(id).Properties.Metrics.find(({ Id }: { Id: string }) => Id === part).MetricStat;
  return (store: MetricStore, values: readonly number[], period: number) => store.add(Metric.Namespace, Metric.MetricName, dimensionsOf(Metric.Dimensions), period, ...values);
}

/** Who rings after the lines that were logged, all of them in each of so many periods. */
function ringingAfterLines(id: string, periods = 1): string[] {
  return ringingWith(id, Array.from({ length: periods }, () => [0]), (store, _values, period) => { for (const line of lines) store.addLine(line, period); });
}

describe('faults', () => {
  /** One family is of what lies beneath no other. */
  const pathIn = (family: string, name: string) => (familyOf(`/${name}`) === family ? `/${name}` : `/${family}/${name}`);
  const failing = (path: string) => toLambda(defineEndpoint({
    path: path as `/v2/${string}`, summary: 'Fails', auth: 'none', kind: 'read', input: z.object({}), output: z.object({}), message: 'Done', errors: [], uses: {}, impact: 'none', example: { data: {}, result: {} },
  }, async () => { throw new Error('broken'); }), { SERVICE_NAME: serviceName });

  test('design 11: five of one endpoint ring the alarm of its family, which names it, and of no other', async () => {
    for (const family of assembly.families.keys()) {
      const id = `${pascal(family)}Faults`;
      lines = [];
      for (const name of ['worst', 'bad']) {
        const handler = failing(pathIn(family, name));
        for (let i = 0; i < 4; i++) expect((await post(handler, {}, {})).status).toBe(500);
      }
      expect(ringingAfterLines(id)).toEqual([]);
      await post(failing(pathIn(family, 'worst')), {}, {});
      expect(ringingAfterLines(id)).toEqual([endpointId(pathIn(family, 'worst'))]);
    }
    // The lines of the last family.
    expect(ringingAfterLines(`${pascal([...assembly.families.keys()][0]!)}Faults`)).toEqual([]);
  });

  test('design 11: five of workers ring, and name the worker', async () => {
    const failingWorker = (name: string) => toWorkerLambda(defineWorker({ name, summary: 'Fails', on: { every: 'minute' }, uses: {}, impact: 'none', timeoutSeconds: 30 }, async () => { throw new Error('broken'); }), { SERVICE_NAME: serviceName });
    for (const { name } of workers) {
      lines = [];
      for (let i = 0; i < 4; i++) await expect(failingWorker(name)({}, lambdaContext())).rejects.toThrow('broken');
      expect(ringingAfterLines('WorkersFail')).toEqual([]);
      await expect(failingWorker(name)({}, lambdaContext())).rejects.toThrow('broken');
      expect(ringingAfterLines('WorkersFail')).toEqual([name]);
    }
  });
});

describe('deliveries', () => {
  let engine: Engine;
  let hooks: Hooks;
  let tenant: string;
  let system: DeliverySystem;
  beforeAll(async () => {
    engine = await startEngine();
    hooks = await new Hooks().start();
    process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
  });
  afterAll(async () => {
    await hooks.stop();
    await engine.stop();
  });
  beforeEach(async () => {
    const customer = await newWebhookCustomer();
    tenant = customer.apiKey;
    system = new DeliverySystem(tenant);
    await customer.ok(paths.create, { url: hooks.url('/a') });
    lines = [];
  });

  /** Logs what the system has measured of a metric, as the end of an invocation does. */
  function flush(name: RecordedMetric): void {
    lines = [];
    const measures = new InvocationMeasures();
    for (const value of system.measures.recorded.get(name) ?? []) measures.record(name, value);
    measures.flush(serviceName);
  }

  test.each([['9 minutes', 9 * MINUTE, []], ['10 minutes', 10 * MINUTE, ['']]])('design 11: a delivery that is overdue by %s', async (_text, late, expected) => {
    await system.publish(tenant);
    system.now += late;
    await system.sweep();
    flush('OldestOverdue');
    expect(ringingAfterLines('DeliveriesOverdue')).toEqual(expected);
  });

  test('a healthy system writes no gauge, which would cost money all month', async () => {
    await system.sweep();
    expect(system.measures.recorded.get('OldestOverdue')).toEqual([0]);
    flush('OldestOverdue');
    expect(lines).toEqual([]);
  });

  test('design 11: an attempt that fails leaves the line that the saved queries look for, without what the receiver said; one that succeeds leaves none', async () => {
    const logged: [string, object][] = [];
    Object.assign(system.call.log, { info: (message: string, keys: object) => void logged.push([message, keys]) });
    hooks.answer('/a', (_hook, nth) => ({ status: nth === 1 ? 503 : 200, body: 'a secret of theirs' }));
    const eventId = await system.publish(tenant);
    await system.workOnNext();
    const { endpointId } = system.slow.messages[0]!.body;
    expect(logged).toEqual([['attempt failed', { tenant, eventId, endpointId, attempt: 1, outcome: 'failed', responseStatus: 503, reason: 'status 503', durationMs: expect.any(Number) }]]);
    await system.workOnNext();
    expect(system.measures.counted.get('AttemptsDelivered')).toBe(1);
    expect(logged).toHaveLength(1);
  });

  test.each([['29 s', 29 * SECOND, []], ['30 s', 30 * SECOND, ['']]])('design 11: an event that is fanned out after %s', async (_text, late, expected) => {
    const eventId = await system.emit(tenant);
    system.now += late;
    await system.fanOut(tenant, eventId);
    flush('FanOutLag');
    expect(ringingAfterLines('FanOutLate')).toEqual(expected);
  });

  test.each([['4 s for three periods', 4 * SECOND, 3, []], ['5 s for two periods', 5 * SECOND, 2, []], ['5 s for three periods', 5 * SECOND, 3, ['']]])('design 11: first attempts after %s', async (_text, late, periods, expected) => {
    await system.publish(tenant);
    system.now += late;
    await system.work(system.live.messages[0]!.body, { live: true });
    flush('CommitToFirstAttempt');
    expect(lines).toHaveLength(1);
    expect(ringingAfterLines('FirstAttemptLate', periods)).toEqual(expected);
  });
});

describe('what AWS measures', () => {
  test('design 11: five answers of 5xx in one period ring, whoever gave them', () => {
    expect(ringingWith('ApiFaults', [[1, 1, 1, 1]], ownMetric('ApiFaults'))).toEqual([]);
    expect(ringingWith('ApiFaults', [[1, 1, 1, 1, 1], []], ownMetric('ApiFaults'))).toEqual([]);
    expect(ringingWith('ApiFaults', [[1, 1, 1, 1, 1]], ownMetric('ApiFaults'))).toEqual(['']);
  });

  test('design 11: fifty refusals of the table ring when they go on, reads and writes together', () => {
    for (const part of ['reads', 'writes']) {
      expect(ringingWith('TableThrottled', [[49], [49]], partOf('TableThrottled', part))).toEqual([]);
      expect(ringingWith('TableThrottled', [[], [50]], partOf('TableThrottled', part))).toEqual([]);
      expect(ringingWith('TableThrottled', [[20, 30], [50]], partOf('TableThrottled', part))).toEqual(['']);
    }
    const both = (store: MetricStore, values: readonly number[], period: number) => { for (const part of ['reads', 'writes']) partOf('TableThrottled', part)(store, values, period); };
    expect(ringingWith('TableThrottled', [[25], [25]], both)).toEqual(['']);
  });

  test.each([...queueNames.map((name) => `${pascal(name)}DeadLettersFilled`), 'StreamDeadLettersFilled'])('design 11: %s rings at the first message, and is silent at none', (id) => {
    expect(ringingWith(id, [[0, 0]], ownMetric(id))).toEqual([]);
    expect(ringingWith(id, [[0, 1, 0]], ownMetric(id))).toEqual(['']);
  });

  test.each(queueNames.filter((name) => 'lateAfterSeconds' in queues[name]))('design 11: a message of %s that waits rings', (name) => {
    const { lateAfterSeconds = 0 }: QueueDeclaration = queues[name];
    const id = `${pascal(name)}Late`;
    expect(ringingWith(id, [[lateAfterSeconds - 1, lateAfterSeconds - 1]], ownMetric(id))).toEqual([]);
    expect(ringingWith(id, [[3, lateAfterSeconds]], ownMetric(id))).toEqual(['']);
  });

  test.each(workers.map(({ name }) => name))('design 11: five runs of %s that break off ring', (name) => {
    const id = [...alarms.keys()].find((each) => each.startsWith('WorkersCrash') && JSON.stringify(alarm(each).Properties).includes(`"${name}"`))!;
    expect(ringingWith(id, [[1, 3]], partOf(id, name))).toEqual([]);
    expect(ringingWith(id, [[2, 3]], partOf(id, name))).toEqual(['']);
    expect(ringing(alarm(id), new MetricStore(), 0)).toEqual([]);
  });

  test.each(workers.filter(({ on }) => 'inserts' in on).map(({ name }) => name))('design 11: %s rings five minutes behind the stream', (name) => {
    const id = `${pascal(name)}Behind`;
    expect(ringingWith(id, [[5 * MINUTE - 1, 5 * MINUTE - 1]], ownMetric(id))).toEqual([]);
    expect(ringingWith(id, [[20, 5 * MINUTE]], ownMetric(id))).toEqual(['']);
  });

  test.each(workers.filter(({ on }) => 'every' in on).map(({ name }) => name))('design 11: %s rings when it has not ticked for three periods, and not after one tick in them', (name) => {
    const id = `${pascal(name)}Stopped`;
    expect(ringingWith(id, [[5], [], []], ownMetric(id))).toEqual([]);
    expect(ringingWith(id, [[5], [], [], []], ownMetric(id))).toEqual(['']);
  });
});

test('design 11: there is no alarm that was not made to ring', () => {
  expect([...rang].sort()).toEqual([...alarms.keys()].sort());
});
