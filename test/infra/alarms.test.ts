import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as z from 'zod';
import { worker as heartbeatWorker } from '../../functions/workers/heartbeat.ts';
import { pascal } from '../../infra/constructs/names.ts';
import { queueNames } from '../../infra/constructs/queues.ts';
import { refusedCall } from '../../infra/cost/calls.ts';
import { prices } from '../../infra/cost/prices.ts';
import { loadAssembly } from '../../infra/local/assembly/cloudAssembly.ts';
import type { AlarmModel } from '../../infra/local/assembly/monitoring/alarmModel.ts';
import { type MetricId, metricsOf } from '../../infra/local/assembly/monitoring/expression.ts';
import { type MonitoringModel, monitoringOf } from '../../infra/local/assembly/monitoring/monitoringModel.ts';
import type { Resource } from '../../infra/local/assembly/template.ts';
import { alarmState } from '../../infra/local/metrics/alarmState.ts';
import { dashboardSnapshot } from '../../infra/local/metrics/dashboardSnapshot.ts';
import { Measurements } from '../../infra/local/metrics/measurements.ts';
import { MetricStore } from '../../infra/local/metrics/metricStore.ts';
import { indexNames } from '../../lib/app/capability.ts';
import { defineEndpoint, endpointId, familyOf } from '../../lib/app/endpoint.ts';
import { defineWorker, workerId } from '../../lib/app/worker.ts';
import type { Heartbeat } from '../../lib/heartbeat/heartbeat.ts';
import { toLambda } from '../../lib/http/lambda.ts';
import { ChannelPublisher } from '../../lib/live/channelPublisher.ts';
import { type CountedMetric, deliveryMetrics, type RecordedMetric } from '../../lib/observability/deliveryMetrics.ts';
import { dependencies, noteOutage, watchClient } from '../../lib/observability/dependencies.ts';
import { countDependencyFaults, countFault, countWorkerFaults, faultsMetric } from '../../lib/observability/faults.ts';
import { InvocationMeasures } from '../../lib/observability/measures.ts';
import { countRateLimited, limitedClasses } from '../../lib/observability/rateLimited.ts';
import { toWorkerLambda } from '../../lib/workers/lambda.ts';
import { type QueueDeclaration, queues } from '../../lib/workers/queues.ts';
import { DeliverySystem, MINUTE, SECOND } from '../support/deliveries.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { WebhookReceiver } from '../support/hooks.ts';
import { post } from '../support/requests.ts';
import { withStillClock } from '../support/stillClock.ts';
import { times } from '../support/times.ts';
import { newWebhookCustomer, paths } from '../support/webhooks.ts';
import { lambdaContext, silentLog } from '../support/workers.ts';
import { synthesised } from './assembly.ts';
import { registered } from './endpoints.ts';
import { metricIdsOf } from './metricIds.ts';
import { optionalWorkers, workers as defaultWorkers } from './workers.ts';

const serviceName = 'acme';
/** The workers of a deployment that has the settings `live` and `heartbeat`. */
const workers = [...defaultWorkers, ...optionalWorkers];
/** The start of the first period of each test, in epoch milliseconds. */
const START = Date.UTC(2026, 0, 1);
let families: string[];
let resources: readonly Resource[];
let monitoring: MonitoringModel;
let alarms: Map<string, AlarmModel>;
let lines: Record<string, any>[];
/** The ids of all alarms that a test has activated. At the end, none may be missing. */
const activated = new Set<string>();
beforeAll(() => {
  process.env.POWERTOOLS_DEV = 'true';
  process.env.POWERTOOLS_METRICS_DISABLED = 'false';
  const { outdir, backend } = synthesised(
    registered,
    {
      serviceName,
      mailFrom: 'app@example.com',
      alarmEmail: 'ops@example.com',
      live: 'on',
      heartbeat: 'on',
      accountConcurrency: 50,
    },
    { workers },
  );
  families = backend.families.map(({ family }) => family);
  ({ resources } = loadAssembly(outdir, { api: 'http://127.0.0.1:3000', aws: 'http://127.0.0.1:4000' }));
  monitoring = monitoringOf(resourcesOf('AWS::CloudWatch::Dashboard'), [
    ...resourcesOf('AWS::CloudWatch::Alarm'),
    ...resourcesOf('AWS::CloudWatch::CompositeAlarm'),
  ]);
  alarms = new Map(monitoring.alarms.map((each) => [each.name, each]));
});
beforeEach(() => {
  lines = [];
  for (const method of ['info', 'warn', 'error', 'log'] as const)
    jest
      .spyOn(console, method)
      .mockImplementation((text: unknown) => void lines.push(JSON.parse(String(text)) as Record<string, any>));
});
afterEach(() => {
  jest.restoreAllMocks();
});

const resourcesOf = (type: string) => resources.filter((each) => each.type === type);

function alarm(id: string): AlarmModel {
  const model = alarms.get(id);
  if (!model) throw new Error(`There is no alarm ${id}, only ${[...alarms.keys()].join(', ')}`);
  return model;
}

/**
 * Returns which contributors of an alarm (the combinations of its dimensions) exceed the threshold after these
 * periods. Each period is a list of values, which are spread over the period.
 */
function contributorsAfter(
  id: string,
  periods: Periods,
  measure: (store: MetricStore, value: number) => void,
): readonly string[] {
  const periodLength = alarm(id).periodSeconds * SECOND;
  let now = START;
  const store = new MetricStore(() => now);
  for (const [period, values] of periods.entries()) {
    for (const [index, value] of values.entries()) {
      now = START + (period + index / values.length) * periodLength;
      measure(store, value);
    }
  }
  const { contributors } = alarmState(alarm(id), store, START + periods.length * periodLength - 1);
  if (contributors.length > 0) activated.add(id);
  return contributors;
}

/** Returns each AWS metric of an alarm once. */
function metricsOfAlarm(id: string): MetricId[] {
  const { source } = alarm(id);
  if (source.kind === 'query') throw new Error(`${id} is on a query`);
  const metrics = metricsOf(source).map(({ metric }) => metric);
  return [...new Map(metrics.map((metric) => [JSON.stringify(metric), metric])).values()];
}

/** Returns a function that writes values to the only metric of an alarm, or to the only one for which `is` holds. */
function metricOf(id: string, is: (metric: MetricId) => boolean = () => true) {
  const [metric, ...more] = metricsOfAlarm(id).filter(is);
  if (!metric || more.length > 0) throw new Error(`${id} is not on one such metric`);
  return (store: MetricStore, value: number) => store.add(metric, value);
}

/** Returns whether a metric is that of the function of a worker. */
function isOfWorker(name: string) {
  const { ref } = resourcesOf('AWS::Lambda::Function').find(
    ({ properties }) => (properties.Code as { ZipFile?: string }).ZipFile === workerId(name),
  )!;
  return ({ dimensions }: MetricId) => dimensions.FunctionName === ref;
}

type Periods = readonly (readonly number[])[];

/** Expects that an alarm on one metric stays OK with the values of `ok`, and becomes active with those of `active`. */
function expectThreshold(id: string, ok: Periods, active: Periods): void {
  expect(contributorsAfter(id, ok, metricOf(id))).toEqual([]);
  expect(contributorsAfter(id, active, metricOf(id))).toEqual(['']);
}

/** Returns the contributors that exceed the threshold of an alarm if each of `periods` has all logged lines. */
function contributorsAfterLines(id: string, periods = 1): readonly string[] {
  return contributorsAfter(
    id,
    times(periods, () => [0]),
    (store) => {
      for (const line of lines) store.addLine(line);
    },
  );
}

/** Returns the impacts that active alarms show on the local dashboard after the logged lines. */
function impactsAfterLines(): Record<string, readonly string[]> {
  const store = new MetricStore(() => START);
  for (const line of lines) store.addLine(line);
  const { alarms: states } = dashboardSnapshot(monitoring, store, { now: START, minutes: 15 });
  return Object.fromEntries(
    states.filter(({ impacts }) => impacts.length > 0).map(({ name, impacts }) => [name, impacts]),
  );
}

const impactOf = (name: string) => `${name}: ${workers.find((each) => each.name === name)!.impact}`;

/** Returns the handler of an endpoint that does what `run` does. */
const handlerOf = (path: string, run: () => Promise<Record<string, never>>) =>
  toLambda(
    defineEndpoint(
      {
        path: path as `/v2/${string}`,
        summary: 'Fails',
        auth: 'none',
        kind: 'read',
        input: z.object({}),
        output: z.object({}),
        message: 'Done',
        errors: [],
        uses: {},
        impact: 'none',
        example: { data: {}, result: {} },
      },
      run,
    ),
    { SERVICE_NAME: serviceName },
  );

/** Returns the handler of a worker that does what `run` does. */
const workerOf = (name: string, run: () => Promise<void>) =>
  toWorkerLambda(
    defineWorker({ name, summary: 'Runs', on: { every: 'minute' }, uses: {}, impact: 'none', timeoutSeconds: 30 }, run),
    { SERVICE_NAME: serviceName },
  );

/** Rows of an alarm on a 99th percentile that is late in three periods. */
const lateRows = (seconds: number) =>
  [
    [`${seconds - 1} s for three periods`, (seconds - 1) * SECOND, 3, []],
    [`${seconds} s for two periods`, seconds * SECOND, 2, []],
    [`${seconds} s for three periods`, seconds * SECOND, 3, ['']],
  ] as const;

describe('alarms on faults', () => {
  /** The paths that belong to no other family form the family of the root. */
  const pathIn = (family: string, name: string) =>
    familyOf(`/${name}`) === family ? `/${name}` : `/${family}/${name}`;
  const failing = (path: string) =>
    handlerOf(path, async () => {
      throw new Error('broken');
    });

  test('a family alarm becomes active at five faults of one endpoint, and names it', async () => {
    for (const family of families) {
      const id = `${pascal(family)}Faults`;
      lines = [];
      for (const name of ['worst', 'bad']) {
        const handler = failing(pathIn(family, name));
        for (let i = 0; i < 4; i++) expect((await post(handler, {}, {})).status).toBe(500);
      }
      expect(contributorsAfterLines(id)).toEqual([]);
      await post(failing(pathIn(family, 'worst')), {}, {});
      expect(contributorsAfterLines(id)).toEqual([endpointId(pathIn(family, 'worst'))]);
    }
    // The logged lines belong to the last family, so the alarm of the first one stays OK.
    expect(contributorsAfterLines(`${pascal(families[0]!)}Faults`)).toEqual([]);
  });

  test('a family alarm and the notice of the family have the impact of the endpoint that fails', async () => {
    const { path, impact } = registered.find((each) => familyOf(each.path) === 'v2/users' && each.kind === 'write')!;
    for (let i = 0; i < 5; i++) await post(failing(path), {}, {});
    const impacts = [`${endpointId(path)}: ${impact}`];
    expect(impactsAfterLines()).toMatchObject({ V2UsersFaults: impacts, V2UsersNotice: impacts });
  });

  test('a family alarm stays OK if less than 1 % of the calls fail', async () => {
    const path = pathIn(families[0]!, 'rare');
    let calls = 0;
    const handler = handlerOf(path, async () => {
      if (++calls % 101 === 0) throw new Error('broken');
      return {};
    });
    await withStillClock(async () => {
      for (let i = 0; i < 606; i++) await post(handler, {}, {});
    });
    expect(contributorsAfterLines(`${pascal(families[0]!)}Faults`)).toEqual([]);
  });

  test('the worker alarm becomes active at five faults of one worker, and names it', async () => {
    const failingWorker = (name: string) => workerOf(name, () => Promise.reject(new Error('broken')));
    for (const { name } of workers) {
      lines = [];
      for (let i = 0; i < 4; i++) await expect(failingWorker(name)({}, lambdaContext())).rejects.toThrow('broken');
      expect(contributorsAfterLines('WorkersFail')).toEqual([]);
      await expect(failingWorker(name)({}, lambdaContext())).rejects.toThrow('broken');
      expect(contributorsAfterLines('WorkersFail')).toEqual([name]);
      expect(impactsAfterLines()).toEqual({
        WorkersFail: [impactOf(name)],
        QueuesCause: [impactOf(name)],
      });
    }
  });
});

describe('alarms on dependencies', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const table = watchClient('table', { send: () => Promise.reject(refused) });
  test.each([
    ['TableFails', 'table'],
    ['QueuesFail', 'queues'],
    ['ModelFails', 'model'],
    ['LoginLinksFail', 'mail'],
  ] as const)('%s becomes active at five requests or runs in which the %s fails', async (id, dependency) => {
    const request = handlerOf('/v2/things/call', async () => {
      noteOutage(dependency);
      throw refused;
    });
    const run = workerOf('sweep', async () => {
      // The failure of the call does not make the run fail.
      noteOutage(dependency);
    });
    for (let i = 0; i < 3; i++) await post(request, {}, {});
    await run({}, lambdaContext());
    expect(contributorsAfterLines(id)).toEqual([]);
    await run({}, lambdaContext());
    expect(contributorsAfterLines(id)).toEqual(['']);
    for (const other of ['TableFails', 'QueuesFail', 'ModelFails', 'LoginLinksFail'].filter((each) => each !== id))
      expect(contributorsAfterLines(other)).toEqual([]);
  });

  /** The other family has only files. */
  const familiesWithTable = () => families.filter((family) => family !== 'reference');

  /** Returns the alarms that send notices at each minute, if everything was measured in the first minutes. */
  async function noticesAfter(fail: () => Promise<unknown>, measure: (store: MetricStore) => void = () => {}) {
    for (const family of familiesWithTable()) {
      const request = handlerOf(`/${family}/call`, async () => {
        await fail();
        return {};
      });
      for (let i = 0; i < 5; i++) await post(request, {}, {});
    }
    for (const { name } of workers) {
      const run = workerOf(name, async () => void (await fail()));
      for (let i = 0; i < 5; i++) await run({}, lambdaContext()).catch(() => {});
    }
    let now = START;
    const store = new MetricStore(() => now);
    for (const line of lines) store.addLine(line);
    measure(store);
    return times(40, (minute) => {
      // The timers continue to start their workers in an outage.
      now = START + minute * MINUTE;
      for (const { name } of workers.filter(({ on }) => 'every' in on))
        store.add(metricsOfAlarm(`${pascal(name)}Stopped`)[0]!, 1);
      const { alarms: states } = dashboardSnapshot(monitoring, store, { now, minutes: 60 });
      const active = states.filter((each) => each.active);
      return {
        active: active.map(({ name }) => name),
        notices: active.filter((each) => each.notifies && each.suppressedBy === null).map(({ name }) => name),
      };
    });
  }

  test('an outage of the table sends one notice, and one when it is over, although many alarms are active', async () => {
    const minutes = await noticesAfter(
      () => table.send(),
      (store) => {
        for (const { name } of workers.filter(({ on }) => 'inserts' in on || 'changes' in on))
          metricOf(`${pascal(name)}Behind`)(store, 10 * MINUTE);
        for (const id of ['HeartbeatFails', 'LiveAuthorizerFails', 'DeliveriesOverdue', 'DeliverLate', 'MailLate'])
          metricOf(id)(store, 10 * MINUTE);
        for (const name of ['5xx', 'Count']) metricOf('ApiFaults', (metric) => metric.name === name)(store, 100);
        metricOf('DeliverDeadLettersFilled')(store, 1);
      },
    );
    const metricAlarms = minutes[1]!.active.filter((name) => alarms.has(name));
    expect(metricAlarms.length).toBeGreaterThanOrEqual(families.length + 9);
    expect(minutes[1]!.notices).toEqual(['TableCause']);
    const over = minutes.findIndex(({ notices }) => notices.length === 0);
    expect(over).toBe(5);
    for (const [minute, { notices }] of minutes.entries())
      expect([minute, notices]).toEqual([minute, minute < over ? ['TableCause'] : []]);
  });

  test('faults without a cause send a notice for each family after two minutes', async () => {
    const minutes = await noticesAfter(async () => {
      throw new Error('broken');
    });
    const notices = familiesWithTable().map((family) => `${pascal(family)}Notice`);
    expect(minutes[1]!.notices.filter((name) => notices.includes(name))).toEqual([]);
    expect(minutes[3]!.notices.sort()).toEqual([...notices, 'QueuesCause'].sort());
  });
});

describe('alarms on deliveries', () => {
  let engine: Engine;
  let hooks: WebhookReceiver;
  let tenant: string;
  let system: DeliverySystem;
  beforeAll(async () => {
    engine = await startEngine();
    hooks = await new WebhookReceiver().start();
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

  /** Writes the recorded values of a metric to the log, as a function does at the end of an invocation. */
  function flush(name: RecordedMetric): void {
    lines = [];
    const measures = new InvocationMeasures();
    for (const value of system.measures.recorded.get(name) ?? []) measures.record(name, value);
    measures.flush(serviceName);
  }

  test.each([
    ['9 minutes', 9 * MINUTE, []],
    ['10 minutes', 10 * MINUTE, ['']],
  ])('DeliveriesOverdue becomes active if a delivery is ten minutes overdue: %s', async (_text, late, expected) => {
    await system.publish();
    // The first run of the sweep stores the first attempts of the event. The second run finds that they have not
    // ended.
    for (const wait of [4 * MINUTE, late - 4 * MINUTE]) {
      system.now += wait;
      await system.sweep();
    }
    flush('OldestOverdueDeliveryAge');
    expect(contributorsAfterLines('DeliveriesOverdue')).toEqual(expected);
  });

  test('a healthy system writes no gauge metric, because a metric costs money', async () => {
    await system.sweep();
    flush('OldestOverdueDeliveryAge');
    flush('CircuitBreakersOpen');
    expect(lines).toEqual([]);
  });

  test('a failed attempt is logged without the response body, and a successful one is not logged', async () => {
    const logged: [string, object][] = [];
    Object.assign(system.call.log, { info: (message: string, keys: object) => void logged.push([message, keys]) });
    hooks.answer('/a', (_hook, nth) => ({ status: nth === 1 ? 503 : 200, body: 'a secret of theirs' }));
    const eventId = await system.publish();
    await system.processNextMessage();
    const { endpointId } = system.retryQueue.messages[0]!.body;
    expect(logged).toEqual([
      [
        'webhook attempt failed',
        {
          tenant,
          eventId,
          endpointId,
          attempt: 1,
          outcome: 'failed',
          responseStatus: 503,
          reason: 'status 503',
          durationMs: expect.any(Number),
        },
      ],
    ]);
    await system.processNextMessage();
    expect(system.measures.counted.get('WebhookAttemptsDelivered')).toBe(1);
    expect(logged).toHaveLength(1);
  });

  test.each(lateRows(30))(
    'FanOutLate becomes active if events are fanned out 30 s late in three periods: %s',
    async (_text, late, periods, expected) => {
      const eventId = await system.emit();
      system.now += late;
      await system.fanOut(eventId);
      flush('FanOutLatency');
      expect(contributorsAfterLines('FanOutLate', periods)).toEqual(expected);
    },
  );

  test.each(lateRows(5))(
    'FirstAttemptLate becomes active if first attempts are 5 s late in three periods: %s',
    async (_text, late, periods, expected) => {
      await system.publish();
      system.now += late;
      await system.processMessage(system.firstQueue.messages[0]!.body, { isFirstQueue: true });
      flush('FirstAttemptLatency');
      expect(lines).toHaveLength(1);
      expect(contributorsAfterLines('FirstAttemptLate', periods)).toEqual(expected);
    },
  );
});

test.each([
  ['MailFails', 'MailAttemptsFailed', 'MailsSent'],
  ['ChatFails', 'ChatAttemptsFailed', 'ChatMessagesSent'],
] as const)(
  '%s becomes active at five failed attempts that are at least 1 %% of all attempts',
  (alarm, failures, successes) => {
    const after = (failed: number, sent: number) => {
      lines = [];
      const measures = new InvocationMeasures();
      for (let i = 0; i < failed; i++) measures.count(failures);
      for (let i = 0; i < sent; i++) measures.count(successes);
      measures.flush(serviceName);
      return contributorsAfterLines(alarm);
    };
    expect(after(4, 0)).toEqual([]);
    expect(after(5, 0)).toEqual(['']);
    expect(after(5, 495)).toEqual(['']);
    expect(after(5, 496)).toEqual([]);
  },
);

describe('alarms on live pushes', () => {
  test.each([
    [4, []],
    [5, ['']],
  ])(
    'LivePublishesFail becomes active at five publishes that failed after all tries: %i',
    async (failing, expected) => {
      const measures = new InvocationMeasures();
      const events = { publish: () => Promise.reject(new Error('The Event API answered 500')) };
      const publisher = new ChannelPublisher(events, () => Promise.resolve());
      for (let i = 0; i < failing; i++)
        await publisher.publish('/live/a', [{ i }], { clock: () => START, log: silentLog, measures });
      measures.flush(serviceName);
      expect(contributorsAfterLines('LivePublishesFail')).toEqual(expected);
    },
  );

  test.each(lateRows(5))(
    'LivePushesLate becomes active if pushes take 5 s in three periods: %s',
    (_text, late, periods, expected) => {
      const measures = new InvocationMeasures();
      measures.record('LivePushLatency', late);
      measures.flush(serviceName);
      expect(contributorsAfterLines('LivePushesLate', periods)).toEqual(expected);
    },
  );

  test('LivePublisherStopped becomes active if users connect in four periods in which publishLive does not run', () => {
    const invocations = (name: string) => metricOf('LivePublisherStopped', isOfWorker(name));
    const [connect, publish] = [invocations('authorizeLive'), invocations('publishLive')];
    const both = (store: MetricStore, connections: number) => {
      connect(store, connections);
      publish(store, 1);
    };
    expect(contributorsAfter('LivePublisherStopped', [[2], [2], [2], [2]], both)).toEqual([]);
    expect(contributorsAfter('LivePublisherStopped', [[2], [2], [2], [2]], publish)).toEqual([]);
    expect(contributorsAfter('LivePublisherStopped', [[2], [], [2], [2]], connect)).toEqual([]);
    expect(contributorsAfter('LivePublisherStopped', [[2], [1], [2], [2]], connect)).toEqual(['']);
  });

  test('LiveAuthorizerFails becomes active at five failed runs of the authorizer', () => {
    expectThreshold('LiveAuthorizerFails', [[1, 3]], [[2, 3]]);
  });
});

describe('the alarm on heartbeats', () => {
  const failing = { check: () => Promise.reject(new Error('/v2/organizations/update: INTERNAL: broken')) };
  const working = { check: () => Promise.resolve() };
  /** Runs the worker once for each heartbeat. */
  const run = async (...checks: { check: () => Promise<void> }[]) => {
    for (const check of checks) {
      const handler = toWorkerLambda(
        {
          ...heartbeatWorker,
          uses: { heartbeat: { grants: [], env: [], open: () => check as Pick<Heartbeat, 'check'> as Heartbeat } },
        },
        { SERVICE_NAME: serviceName },
      );
      await handler({}, lambdaContext());
    }
  };

  test('becomes active at three failures in five minutes, and the alarms of workers stay OK', async () => {
    await run(failing, working, failing);
    expect(contributorsAfterLines('HeartbeatFails')).toEqual([]);
    await run(failing, failing, failing);
    expect(contributorsAfterLines('HeartbeatFails')).toEqual(['']);
    expect(contributorsAfterLines('WorkersFail')).toEqual([]);
  });

  test('has no metric while heartbeats succeed, because a metric costs money', async () => {
    await run(working);
    expect(lines.filter((line) => 'HeartbeatsFailed' in line)).toEqual([]);
  });
});

describe('alarms on metrics of AWS', () => {
  /** Adds values to an alarm's metrics, by the names of the metrics. */
  const addTo = (id: string, store: MetricStore, values: Readonly<Record<string, number>>) => {
    for (const [name, value] of Object.entries(values)) metricOf(id, (metric) => metric.name === name)(store, value);
  };

  test.each([
    ['four 5xx answers of four', 4, 4, []],
    ['five of five', 5, 5, ['']],
    ['five of 500', 5, 500, ['']],
    ['five of 501', 5, 501, []],
    ['ten of 1,000', 10, 1_000, ['']],
  ])(
    'the API alarm becomes active at five faults that are at least 1 %% of the calls: %s',
    (_text, faults, answers, expected) => {
      const measure = (store: MetricStore) => addTo('ApiFaults', store, { '5xx': faults, Count: answers });
      expect(contributorsAfter('ApiFaults', [[0]], measure)).toEqual(expected);
      expect(contributorsAfter('ApiFaults', [[0], []], measure)).toEqual([]);
    },
  );

  test('the alarm on refused calls becomes active when those of an hour cost a dollar', () => {
    const calls = Math.ceil(1_000_000 / refusedCall.total);
    expect(alarm('RefusedCallsCost')).toMatchObject({ periodSeconds: 3_600 });
    expectThreshold('RefusedCallsCost', [[calls - 100]], [[calls / 2, calls / 2 + 100]]);
  });

  test('the table alarm becomes active at fifty throttled reads and writes in two consecutive periods', () => {
    const parts = ['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) =>
      metricOf('TableThrottled', (metric) => metric.name === name),
    );
    for (const part of parts) {
      expect(contributorsAfter('TableThrottled', [[49], [49]], part)).toEqual([]);
      expect(contributorsAfter('TableThrottled', [[], [50]], part)).toEqual([]);
      expect(contributorsAfter('TableThrottled', [[20, 30], [50]], part)).toEqual(['']);
    }
    const both = (store: MetricStore, value: number) => {
      for (const part of parts) part(store, value);
    };
    expect(contributorsAfter('TableThrottled', [[25], [25]], both)).toEqual(['']);
  });

  test('the index alarm becomes active at fifty throttled writes to one index in two periods, and names it', () => {
    const TableName = resourcesOf('AWS::DynamoDB::GlobalTable')[0]!.ref;
    const throttle = (GlobalSecondaryIndexName: string) => (store: MetricStore, value: number) => {
      store.add(
        { namespace: 'AWS/DynamoDB', name: 'WriteThrottleEvents', dimensions: { TableName, GlobalSecondaryIndexName } },
        value,
      );
    };
    for (const index of indexNames) {
      expect(contributorsAfter('IndexThrottled', [[49], [50]], throttle(index))).toEqual([]);
      expect(contributorsAfter('IndexThrottled', [[20, 30], [50]], throttle(index))).toEqual([index]);
    }
    const spread = (store: MetricStore, value: number) => {
      for (const index of indexNames) throttle(index)(store, value);
    };
    expect(contributorsAfter('IndexThrottled', [[49], [49]], spread)).toEqual([]);
  });

  test('the concurrency alarm becomes active at 80 % of the concurrency limit in the settings', () => {
    expectThreshold('ConcurrencyHigh', [[10, 39, 5]], [[10, 40, 5]]);
  });

  test('the alarm on throttled functions becomes active at five throttled runs in the AWS account', () => {
    expectThreshold('FunctionsThrottled', [[1, 3]], [[2, 3]]);
  });

  test.each([
    ['MailBounces', 0.049, 0.05],
    ['MailComplaints', 0.0009, 0.001],
  ])('%s becomes active at the rate at which AWS reviews the sender account', (id, below, at) => {
    expectThreshold(id, [[below]], [[at]]);
  });

  test.each([...queueNames.map((name) => `${pascal(name)}DeadLettersFilled`), 'StreamDeadLettersFilled'])(
    '%s becomes active at the first dead letter',
    (id) => {
      expectThreshold(id, [[0, 0]], [[0, 1, 0]]);
    },
  );

  test.each(queueNames.filter((name) => 'lateAfterSeconds' in queues[name]))(
    'the alarm of queue %s becomes active if a message waits longer than the queue allows',
    (name) => {
      const { lateAfterSeconds = 0 }: QueueDeclaration = queues[name];
      expectThreshold(`${pascal(name)}Late`, [[lateAfterSeconds - 1, lateAfterSeconds - 1]], [[3, lateAfterSeconds]]);
    },
  );

  test.each(workers.map(({ name }) => name))(
    'the crash alarm of workers becomes active at five crashed runs of %s',
    (name) => {
      const ofWorker = isOfWorker(name);
      const id = [...alarms.keys()].find(
        (each) => each.startsWith('WorkersCrash') && metricsOfAlarm(each).some(ofWorker),
      )!;
      expect(contributorsAfter(id, [[1, 3]], metricOf(id, ofWorker))).toEqual([]);
      expect(contributorsAfter(id, [[2, 3]], metricOf(id, ofWorker))).toEqual(['']);
      expect(contributorsAfter(id, [[]], metricOf(id, ofWorker))).toEqual([]);
    },
  );

  test('the alarm on recursive loops becomes active at the first stopped invocation, and names the function', () => {
    const stop = (store: MetricStore, repeats: number) =>
      store.add(
        { namespace: 'AWS/Lambda', name: 'RecursiveInvocationsDropped', dimensions: { FunctionName: 'RunJobs' } },
        repeats,
      );
    expect(contributorsAfter('RecursiveLoopsStopped', [[0]], stop)).toEqual([]);
    expect(contributorsAfter('RecursiveLoopsStopped', [[], [1]], stop)).toEqual(['RunJobs']);
  });

  test.each(workers.filter(({ on }) => 'inserts' in on || 'changes' in on).map(({ name }) => name))(
    'the alarm of %s becomes active when the worker is five minutes behind the stream',
    (name) => {
      expectThreshold(`${pascal(name)}Behind`, [[5 * MINUTE - 1, 5 * MINUTE - 1]], [[20, 5 * MINUTE]]);
    },
  );

  test.each(workers.filter(({ on }) => 'every' in on).map(({ name }) => name))(
    'the alarm of %s becomes active after three periods without a run',
    (name) => {
      expectThreshold(`${pascal(name)}Stopped`, [[5], [], []], [[5], [], [], []]);
    },
  );
});

describe('the local dashboard', () => {
  const widgets = () =>
    resourcesOf('AWS::CloudWatch::Dashboard').flatMap(
      ({ properties }) =>
        JSON.parse(String(properties.DashboardBody)).widgets as { type: string; properties: Record<string, any> }[],
    );
  const graphsOf = (store: MetricStore, now: number) =>
    dashboardSnapshot(monitoring, store, { now, minutes: 15 }).rows.flatMap(({ graphs }) => graphs);
  /** Adds the dimensions that a query does not fix. */
  const whole = (metric: MetricId): MetricId => {
    if (metric.name !== faultsMetric.name && metric.name !== faultsMetric.frequentName) return metric;
    return {
      ...metric,
      dimensions: {
        ...('family' in metric.dimensions ? { endpoint: 'any' } : { worker: 'any' }),
        ...metric.dimensions,
      },
    };
  };

  test('has the rows, graphs and lines of the template once everything was measured, and no line before', () => {
    const store = new MetricStore(() => START);
    const ofType = (wanted: string) =>
      widgets().flatMap(({ type, properties }) => (type === wanted ? [properties] : []));
    const empty = dashboardSnapshot(monitoring, store, { now: START, minutes: 60 }).rows;
    expect(empty.map(({ title }) => title)).toEqual(ofType('text').map(({ markdown }) => markdown));
    expect(empty.flatMap(({ graphs }) => graphs).filter(({ series }) => series.length > 0)).toEqual([]);
    for (const metric of metricIdsOf(monitoring)) store.add(whole(metric), 1);
    const drawn = graphsOf(store, START).map(({ title, series }) => [
      title,
      series.filter(({ values }) => typeof values.at(-1) === 'number').length,
    ]);
    expect(drawn).toEqual(
      ofType('metric').map(({ title, metrics }) => [
        title,
        (metrics as any[][]).filter((line) => line.at(-1).visible !== false).length,
      ]),
    );
  });

  test('computes the cost of requests and the success rate of attempts', () => {
    const store = new MetricStore(() => START);
    const metrics = metricIdsOf(monitoring);
    const add = (value: number, name: string, is = (_dimensions: MetricId['dimensions']) => true) =>
      store.add(
        metrics.find((metric) => metric.name === name && is(metric.dimensions))!,
        value,
      );
    const valueOf = (title: string) =>
      Object.fromEntries(
        graphsOf(store, START)
          .find((graph) => graph.title === title)!
          .series.map(({ label, values }) => [label, values.at(-1)]),
      );
    add(3, 'WebhookAttemptsDelivered');
    expect(valueOf('Attempt success rate, %')).toEqual({ delivered: 100 });
    add(1, 'WebhookAttemptsTimedOut');
    expect(valueOf('Attempt success rate, %')).toEqual({ delivered: 75 });
    add(2, 'Count');
    add(1, 'ConsumedReadCapacityUnits');
    add(3, 'ConsumedReadCapacityUnits', ({ GlobalSecondaryIndexName }) => GlobalSecondaryIndexName === 'gsi2');
    add(6, 'ConsumedWriteCapacityUnits');
    const isOfAllFunctions = ({ FunctionName }: MetricId['dimensions']) => FunctionName === undefined;
    add(5, 'Invocations', isOfAllFunctions);
    add(100, 'Duration', isOfAllFunctions);
    const table = (prices.tableRead * 4 + prices.tableWritten * 6) / 2;
    const functions = (prices.lambdaGigabyteSecond * 1_000_000 * 0.1 + prices.lambdaRuns * 5) / 2;
    expect(valueOf('Dollars per million requests')).toEqual({
      table: expect.closeTo(table, 3),
      functions: expect.closeTo(functions, 3),
      all: expect.closeTo(prices.httpRequests + table + functions, 3),
    });
  });

  test('measures every metric of graphs and alarms, except throttling, stopped loops and the account limits', () => {
    const store = new MetricStore(() => START);
    const measurements = new Measurements(store, resourcesOf('AWS::ApiGatewayV2::Api')[0]!.ref);
    measurements.recordRequest(503, 1);
    for (const { ref } of resourcesOf('AWS::Lambda::Function')) {
      measurements.recordRun(ref, 1, true);
      measurements.recordIteratorAge(ref, 1);
    }
    for (const { arn } of resourcesOf('AWS::SQS::Queue'))
      measurements.recordQueueLevel(arn.split(':').at(-1)!, { visible: 1, inFlight: 1, oldestSeconds: 1 });
    const units = { CapacityUnits: 1 };
    for (const { ref } of resources.filter(({ type }) => type.startsWith('AWS::DynamoDB::'))) {
      for (const kind of ['Read', 'Write'] as const)
        measurements.recordCapacity(kind, {
          TableName: ref,
          ...units,
          Table: units,
          GlobalSecondaryIndexes: Object.fromEntries(indexNames.map((name) => [name, units])),
        });
    }
    const own = new InvocationMeasures();
    for (const [name, { kind }] of Object.entries(deliveryMetrics))
      if (kind === 'sum') own.count(name as CountedMetric);
      else own.record(name as RecordedMetric, 1);
    own.flush(serviceName);
    for (const limitedClass of limitedClasses) countRateLimited(serviceName, limitedClass);
    for (const family of families) countFault(serviceName, family, 'any', true);
    for (const { name } of [...workers, { name: 'any' }]) countWorkerFaults(serviceName, name, 1, true);
    countDependencyFaults(serviceName, dependencies);
    for (const line of lines) measurements.recordLine(line);
    // In a search, the metric's name can appear in the id of any function.
    const unmeasured = metricIdsOf(monitoring).filter(
      (metric) =>
        !store.find(whole(metric)) &&
        !(Object.keys(metric.dimensions).length === 0 && store.named(metric.namespace, metric.name).length > 0),
    );
    expect([...new Set(unmeasured.map(({ name }) => name))].sort()).toEqual([
      'ConcurrentExecutions',
      'ReadThrottleEvents',
      'RecursiveInvocationsDropped',
      'Reputation.BounceRate',
      'Reputation.ComplaintRate',
      'Throttles',
      'WriteThrottleEvents',
    ]);
  });
});

test('every alarm becomes active in a test of this file', () => {
  expect([...activated].sort()).toEqual([...alarms.keys()].sort());
});
