import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { registeredEndpoints } from '../../../infra/build/registry.ts';
import { deliveryConsumption, deliveryCost } from '../../../infra/commands/cost/deliveries.ts';
import { liveBill } from '../../../infra/commands/cost/live.ts';
import { callMix, costsOfMix } from '../../../infra/commands/load/mix.ts';
import { defaultWorkload, simulatedComponents, simulatedLoads } from '../../../infra/commands/simulate.ts';
import { componentsOf, fullAt } from '../../../infra/commands/simulate/components.ts';
import { quotas } from '../../../infra/commands/simulate/quotas.ts';
import {
  batchSize,
  concurrencyAt,
  credentialReadShare,
  deliveryInBatches,
  dollarsPerMillion,
  dollarsPerMonth,
  eventBatchSize,
  eventInBatches,
  keysAboveLimits,
  partitionUse,
  pushDollarsPerMonth,
  replicaDollarsPerMonth,
  type Workload,
  zipfShares,
} from '../../../infra/commands/simulate/rules.ts';
import { costsOfCalls, withIdempotencyKey } from '../../../infra/cost/calls.ts';
import { prices } from '../../../infra/cost/prices.ts';
import { queues } from '../../../lib/workers/queues.ts';
import { testProperty } from '../../support/testProperty.ts';

const workload = defaultWorkload();
const costs = new Map(costsOfCalls(registeredEndpoints()).map((cost) => [cost.name, cost]));
/** Returns the sum of one cost of the listed calls, by their weight. */
const listed = (unit: 'total' | 'written') =>
  callMix.reduce((sum, { path, cost, weight }) => sum + (weight / 20) * costs.get(`${path} ${cost}`)![unit], 0);
/** The workload with only a thousand API keys, so that property tests run fast. */
const small: Workload = { ...workload, tenantShares: zipfShares(1_000) };
const components = componentsOf(small);
const named = (name: string, all = components) => {
  const component = all.find((candidate) => candidate.name === name);
  if (!component) throw new Error(`There is no component ${name}`);
  return component;
};
const load = fc.double({ min: 0, max: 1e6, noNaN: true });
const ordered = fc.tuple(load, load).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);

describe('costsOfMix', () => {
  test('has shares with the sum 1', () => {
    const shares = costsOfMix(registeredEndpoints()).map(({ share }) => share);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
  });

  test('equals npm run cost, plus two table writes of an Idempotency-Key for each write', () => {
    const endpoints = registeredEndpoints();
    const costs = new Map(costsOfCalls(endpoints).map((cost) => [cost.name, cost]));
    const mix = costsOfMix(endpoints);
    expect(mix.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['read', 'write']));
    for (const { kind, cost } of mix) {
      const listed = costs.get(cost.name);
      if (!listed) throw new Error(`npm run cost does not list ${cost.name}`);
      if (kind === 'read') expect(cost).toEqual(listed);
      else expect(cost).toMatchObject({ written: listed.written + 2, milliseconds: listed.milliseconds + 10 });
    }
  });

  test('throws for a call that npm run cost does not list', () => {
    expect(() => costsOfMix(registeredEndpoints(), new Map())).toThrow(
      'npm run cost has no "/v2/commentannotations/get a page"',
    );
  });
});

describe('quotas', () => {
  test.each(Object.entries(quotas))('%s has a positive limit and a page of AWS', (_name, { limit, source }) => {
    expect(limit).toBeGreaterThan(0);
    expect(source).toMatch(/^https:\/\/docs\.aws\.amazon\.com\/.+\.html$/);
  });
});

describe('zipfShares', () => {
  testProperty(
    'fall from member to member, and have the sum 1',
    [fc.integer({ min: 1, max: 5_000 })],
    (count) => {
      const shares = zipfShares(count);
      expect(shares).toHaveLength(count);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
      const errors = shares.map((share, index) => Math.abs(share / shares[0]! - 1 / (index + 1)));
      expect(Math.max(...errors)).toBeLessThan(5e-10);
    },
    { numRuns: 20 },
  );

  test('give the largest of a million members 7 % of the load', () => {
    const shares = zipfShares(1_000_000);
    expect(shares[0]).toBeCloseTo(0.0695, 4);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
  });
});

test('batches have one message at few, ten at many, and the number per poll (of events: of each of four shards) in between', () => {
  expect([0, 10, 16, 100, 10_000].map((rate) => Math.round(batchSize(rate)))).toEqual([1, 1, 1, 6, 10]);
  expect([0, 16, 80, 160, 10_000].map((rate) => eventBatchSize(rate))).toEqual([1, 1, 5, 10, 10]);
});

describe('the consumption in batches', () => {
  const { alone, inTens, eventAlone, event } = deliveryConsumption;
  test.each([
    { what: 'deliveries', inBatches: deliveryInBatches, one: alone, ten: inTens },
    { what: 'events', inBatches: eventInBatches, one: eventAlone, ten: event },
  ])('of $what equals the measured consumption in batches of one and of ten', ({ inBatches, one, ten }) => {
    for (const [size, { consumed }] of [[1, one] as const, [10, ten] as const])
      for (const [name, value] of Object.entries(inBatches(size)))
        expect([name, value]).toEqual([name, expect.closeTo(consumed[name as keyof typeof consumed], 9)]);
    expect(inBatches(2).read).toBeLessThan(inBatches(1).read);
    expect(inBatches(2).read).toBeGreaterThan(inBatches(10).read);
  });
});

test('partitionUse adds the shares of reads and writes, because a partition serves a combination of both', () => {
  expect([0, 500].map((written) => partitionUse({ read: 1_500, written }))).toEqual([0.5, 1]);
});

describe('the components that componentsOf returns', () => {
  test.each(components.map((component) => [component.name, component] as const))(
    '%s is never used less at a higher load, and exactly up to its limit at the load that fullAt returns',
    (_name, component) => {
      const { use, limit } = component;
      fc.assert(fc.property(ordered, ([less, more]) => use(less) <= use(more) * (1 + 1e-9) + 1e-12));
      const full = fullAt(component);
      if (full === Infinity) expect(limit === undefined || use(1e9) <= limit).toBe(true);
      else expect(use(full) / limit!).toBeCloseTo(1, 6);
    },
  );

  test('have unique names and a remedy', () => {
    const names = components.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { name, remedy } of components) expect([name, remedy]).toEqual([name, expect.stringMatching(/\w+/)]);
  });

  test('are full at the quota of the gateway for all requests, and at its limit for those of the busiest route', () => {
    expect(fullAt(named('requests to API Gateway'))).toBeCloseTo(quotas.gatewayRequests.limit, 3);
    const routes = Map.groupBy(small.calls, ({ path }) => path).values();
    const shares = [...routes].map((calls) => calls.reduce((sum, { share }) => sum + share, 0));
    expect(fullAt(named('requests to the busiest route'))).toBeCloseTo(
      small.limits.requestsPerSecond / Math.max(...shares),
      3,
    );
  });

  test('are full at a higher load if their limit is higher', () => {
    const limits = { ...small.limits, requestsPerSecond: 5_000, deliverConcurrency: 1_000 };
    const raised = componentsOf({ ...small, limits });
    for (const name of ['requests to the busiest route', 'runs of the worker of webhooks'])
      expect(fullAt(named(name, raised))).toBeGreaterThan(fullAt(named(name)));
  });

  test('assume ten deliveries in 0.3 s for each run of the webhook worker, like the bench', () => {
    const comments = 3 / 20;
    const { batchSize: size, maxConcurrency } = queues.deliver;
    expect(fullAt(named('runs of the worker of webhooks')) * comments).toBeCloseTo((size * maxConcurrency) / 0.3, 3);
  });

  test('count the capacity units of calls with Idempotency-Keys, of an event and of a delivery', () => {
    const units = (name: string) => named(name).use(1);
    const mix = costsOfMix(registeredEndpoints());
    const { event, inTens } = deliveryConsumption;
    const written = ['the table', 'index gsi3', 'index gsi4'].reduce(
      (sum, name) => sum + units(`units written to ${name}`),
      0,
    );
    const calls = (unit: 'read' | 'written') => mix.reduce((sum, { share, cost }) => sum + share * cost[unit], 0);
    expect(written).toBeCloseTo(calls('written') + (3 / 20) * (event.consumed.written + inTens.consumed.written), 9);
    expect(units('units read of the table')).toBeCloseTo(
      calls('read') + 0.5 + (3 / 20) * (event.consumed.read + inTens.consumed.read),
      9,
    );
  });
});

describe('fullAt', () => {
  test('returns Infinity without a limit, or if the use never reaches the limit', () => {
    expect(fullAt({ limit: undefined, use: (rps) => rps })).toBe(Infinity);
    expect(fullAt({ limit: 5, use: () => 1 })).toBe(Infinity);
  });

  test('returns the load at which a use that rises in steps exceeds the limit', () => {
    expect(fullAt({ limit: 3, use: (rps) => Math.floor(rps / 10) })).toBeCloseTo(40, 6);
  });
});

describe('dollarsPerMillion', () => {
  test('adds up calls, events, deliveries and mails at the prices of npm run cost', () => {
    const { written } = withIdempotencyKey({ roundTrips: 0, read: 0, written: 0 });
    const { event, eventAlone, alone, inTens } = deliveryConsumption;
    // 5 of 20 calls are writes with an Idempotency-Key. The keys cost capacity units, and ten more milliseconds with a
    // gigabyte.
    const keys = (5 / 20) * (written * 0.625 + 0.01 * 13.3334);
    for (const [rate, ...batches] of [[10, eventAlone, alone] as const, [100_000, event, inTens] as const]) {
      const [perEvent, perDelivery] = batches.map(({ consumed }) => deliveryCost(consumed).total);
      expect(dollarsPerMillion(workload, rate)).toBeCloseTo(
        listed('total') + keys + (3 / 20) * (perEvent! + perDelivery! + 0.1 * prices.mails),
        9,
      );
    }
  });

  testProperty('does not rise with the load, while the monthly price does', [ordered], ([less, more]) => {
    expect(dollarsPerMillion(small, more)).toBeLessThanOrEqual(dollarsPerMillion(small, less) + 1e-9);
    expect(dollarsPerMonth(small, less)).toBeLessThanOrEqual(dollarsPerMonth(small, more) + 1e-9);
  });

  test('is the monthly price of one request per second, divided by 2.628 million requests', () => {
    expect(dollarsPerMonth(small, 1)).toBeCloseTo(2.628 * dollarsPerMillion(small, 1), 9);
  });
});

describe('replicaDollarsPerMonth', () => {
  test('pays every unit again that calls, events and deliveries write', () => {
    // 5 of 20 calls are writes with an Idempotency-Key, and 3 of 20 cause an event with a delivery.
    const { eventAlone, alone } = deliveryConsumption;
    const written =
      listed('written') + (5 / 20) * 2 + (3 / 20) * (eventAlone.consumed.written + alone.consumed.written);
    expect(replicaDollarsPerMonth(small, 1)).toBeCloseTo(2.628 * written * 0.625, 9);
  });
});

describe('pushDollarsPerMonth', () => {
  test('uses the prices of edits in npm run cost, for each write and five users', () => {
    const edits = { users: 5, hours: 1, usersPerDocument: 5, editsPerSecond: 1, cursorsPerSecond: 0 };
    const pushed = ['AppSync: edits that it receives', 'AppSync: edits that it sends', 'table: versions and hints'];
    const dollarsOfEdits = liveBill(edits, costsOfCalls(registeredEndpoints()))
      .filter(({ item }) => [...pushed, 'runs of publishLive'].includes(item))
      .reduce((sum, { dollars }) => sum + dollars, 0);
    // 5 of 20 calls are writes. A month has 2,628,000 seconds.
    expect(pushDollarsPerMonth(small, 1)).toBeCloseTo((dollarsOfEdits / (5 * 3_600)) * (5 / 20) * 2_628_000, 6);
  });
});

describe('keysAboveLimits', () => {
  const equal: Workload = { ...small, tenantShares: [0.5, 0.5] };

  test('returns how many keys exceed their rate limits, and the share of rejected requests', () => {
    // At 2,000 requests per second, each key sends 750 reads and 250 writes. Its limits are 500 reads and 200 writes.
    expect(keysAboveLimits(equal, 2_000)).toEqual({ keys: 2, rejected: expect.closeTo(600 / 2_000, 9) });
    expect(keysAboveLimits(equal, 1_000)).toEqual({ keys: 0, rejected: 0 });
    expect(keysAboveLimits(equal, 0)).toEqual({ keys: 0, rejected: 0 });
  });

  testProperty('returns a larger share of rejected requests for a larger load', [ordered], ([less, more]) => {
    expect(keysAboveLimits(small, less).rejected).toBeLessThanOrEqual(keysAboveLimits(small, more).rejected + 1e-9);
  });
});

describe('credentialReadShare', () => {
  test('is 1 if keys call less often than cached credentials expire, and small for busy keys', () => {
    expect(credentialReadShare(small, 0)).toBe(1);
    expect(credentialReadShare({ ...small, tenantShares: zipfShares(100_000) }, 0.001)).toBeCloseTo(1, 2);
    expect(credentialReadShare({ ...small, tenantShares: [1] }, 1_000)).toBeLessThan(0.01);
  });
});

describe('concurrencyAt', () => {
  test('adds up rate times duration for requests and for worker runs', () => {
    const milliseconds = small.calls.reduce((sum, { share, cost }) => sum + share * cost.milliseconds, 0);
    const events = 100_000 * (3 / 20);
    // Runs per event: a tenth of a stream run (30 ms), a tenth of a delivery run (300 ms) and a hundredth of a mail
    // run (300 ms).
    const workers = events * (0.1 * 0.03 + 0.1 * 0.3 + 0.01 * 0.3);
    expect(concurrencyAt(small, 100_000)).toBeCloseTo(100 * milliseconds + workers, 6);
  });
});

describe('the tables of npm run simulate', () => {
  test('name the busiest route as the first full component, only at 100,000 requests per second', () => {
    const rows = new Map(simulatedLoads(workload).map(([name = '', ...cells]) => [name, cells]));
    expect(rows.get('Requests per second')).toEqual(['10', '1,000', '100,000']);
    expect(rows.get('full first')).toEqual(['nothing', 'nothing', 'requests to the busiest route']);
  });

  test('list each component by the load that fills it, and jumps at the end', () => {
    const [head = [], ...rows] = simulatedComponents(small);
    expect(rows).toHaveLength(components.length);
    expect(new Set(rows.map(({ length }) => length))).toEqual(new Set([head.length]));
    const isJump = rows.map(([name]) => name!.endsWith('after a jump'));
    expect(isJump).toEqual(isJump.toSorted((a, b) => Number(a) - Number(b)));
    const full = rows
      .filter((_row, index) => !isJump[index])
      .map((row) => (/^[\d,]+$/.test(row[5]!) ? Number(row[5]!.replaceAll(',', '')) : Infinity));
    expect(full).toEqual(full.toSorted((a, b) => (a === b ? 0 : a - b)));
  });
});
