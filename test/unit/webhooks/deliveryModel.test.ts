import { describe, expect, test } from '@jest/globals';
import type { AttemptOutcome } from '../../../lib/webhooks/rules/loggedAttempt.ts';
import { type Choose, DeliveryWorld, type Faults, worldTiming } from '../../support/deliveryWorld.ts';

const attempts = worldTiming.schedule.length;

/**
 * Returns the outcome of an attempt. The endpoint `good` accepts every attempt. `late` rejects only the first one.
 * `dead` rejects all.
 */
const outcome = (endpointId: string, attempt: number): AttemptOutcome =>
  endpointId === 'good' || (endpointId === 'late' && attempt > 1) ? 'delivered' : 'failed';

const none: Faults = { crashes: 0, duplicates: 0, losses: 0 };

async function runWorld(
  choose: Choose,
  faults: Faults,
  { deletes = [] as string[], endpoints = ['good', 'late', 'dead'], hasAudience = false } = {},
): Promise<DeliveryWorld> {
  const world = new DeliveryWorld({ endpoints, outcome, choose, faults, deletes, hasAudience });
  await world.run();
  return world;
}

/** Expects that all deliveries have their given ends and that no work is left. Only a fault may repeat an attempt. */
function expectNothingLost(world: DeliveryWorld, ends: Record<string, string | RegExp>): void {
  const ended = Object.entries(ends).map(([endpointId, expected]) => {
    const row = world.rows.get(endpointId)!;
    return [endpointId, new RegExp(expected).test(row.status) ? expected : row.status, 'dueAt' in row];
  });
  const tooOften = [...world.sends].filter(
    ([name, times]) => !(times <= 1 + world.crashes + (name.endsWith('/1') ? world.repeatedMessages : 0)),
  );
  // All conditions are checked in one comparison. That is faster, because this function runs thousands of times.
  expect([world.fannedOut, world.groups.size, ended, tooOften, world.lateSends]).toEqual([
    true,
    0,
    Object.entries(ends).map(([endpointId, expected]) => [endpointId, expected, false]),
    [],
    0,
  ]);
}

const allEnds = { good: 'DELIVERED', late: 'DELIVERED', dead: 'EXHAUSTED' };

/** Always chooses the first possibility. No fault occurs then. */
const first: Choose = () => 0;

/**
 * Returns a function that chooses each given fault at its step. At all other steps, it chooses the first possibility.
 */
function withFaults(faults: readonly { kind: string; step: number }[]): Choose {
  let step = 0;
  return (_count, kinds) => {
    const now = faults.filter((fault) => fault.step === step);
    step++;
    for (const { kind } of now) {
      const index = kinds.indexOf(kind);
      if (index >= 0) return index;
    }
    return 0;
  };
}

/** Returns a function that chooses at random, and a fault only rarely. */
function atRandom(seed: number): Choose {
  let state = seed + 1;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return (count, kinds) => {
    const usual = kinds.flatMap((kind, index) =>
      ['crash', 'stall', 'duplicate', 'lose', 'delete', 'resend'].includes(kind) ? [] : [index],
    );
    if (usual.length > 0 && (usual.length === count || random() < 0.85))
      return usual[Math.floor(random() * usual.length)]!;
    return Math.floor(random() * count);
  };
}

describe('the delivery model', () => {
  test('makes each attempt once when no fault occurs', async () => {
    const world = await runWorld(first, none);
    expectNothingLost(world, allEnds);
    expect(Object.fromEntries(world.sends)).toEqual({
      'good/1': 1,
      'late/1': 1,
      'late/2': 1,
      'dead/1': 1,
      'dead/2': 1,
      'dead/3': 1,
    });
    // The first attempt of `good` is not in the log, because it is stored in the delivery.
    expect(world.log).toHaveLength(5);
    expect(world.rows.get('good')).toMatchObject({ first: { outcome: 'delivered' } });
    expect(world.exhaustedEvents).toBe(1);
    expect(world.errors).toEqual([]);
  });

  test.each(
    ['crash', 'stall', 'duplicate', 'lose'].flatMap((kind) => [
      [kind, 'in the outbox', false] as const,
      [kind, 'in a stored group', true] as const,
    ]),
  )('loses nothing after a %s at any step of an event %s', async (kind, _where, hasAudience) => {
    const { steps } = await runWorld(first, none, { hasAudience });
    let affectedSteps = 0;
    for (let step = 0; step < steps; step++) {
      const world = await runWorld(
        withFaults([{ kind, step }]),
        { crashes: 1, duplicates: 1, losses: 1 },
        { hasAudience },
      );
      expectNothingLost(world, allEnds);
      expect(world.rows.get('dead')?.attempts).toBe(attempts);
      expect(world.exhaustedEvents).toBe(1);
      if (world.steps !== steps) affectedSteps++;
    }
    expect(affectedSteps).toBeGreaterThan(3);
  });

  test('loses nothing after two crashes at any two steps', async () => {
    const { steps } = await runWorld(first, none, { endpoints: ['late'] });
    for (let firstStep = 0; firstStep < steps; firstStep++) {
      for (let other = firstStep + 1; other < steps + 12; other++) {
        const world = await runWorld(
          withFaults([
            { kind: 'crash', step: firstStep },
            { kind: 'crash', step: other },
          ]),
          { crashes: 2, duplicates: 0, losses: 0 },
          { endpoints: ['late'] },
        );
        expectNothingLost(world, { late: 'DELIVERED' });
      }
    }
  });

  test('loses nothing after a crash at any step and a lost or repeated message at any other', async () => {
    const { steps } = await runWorld(first, none, { endpoints: ['late'] });
    for (const kind of ['lose', 'duplicate']) {
      for (let firstStep = 0; firstStep < steps; firstStep++) {
        for (let other = 0; other < steps + 12; other++) {
          const world = await runWorld(
            withFaults([
              { kind: 'crash', step: firstStep },
              { kind, step: other },
            ]),
            { crashes: 1, duplicates: 1, losses: 1 },
            { endpoints: ['late'] },
          );
          expectNothingLost(world, { late: 'DELIVERED' });
        }
      }
    }
  });

  test('ends each delivery after random faults, and repeats an attempt at most once per fault', async () => {
    for (let seed = 0; seed < 500; seed++) {
      const world = await runWorld(
        atRandom(seed),
        { crashes: seed % 5, duplicates: seed % 4, losses: seed % 3 },
        { hasAudience: seed % 7 < 3 },
      );
      expectNothingLost(world, allEnds);
      expect(world.exhaustedEvents).toBe(1);
    }
  });

  test('makes resends at any time in addition to the schedule, without a change of the final state', async () => {
    for (let seed = 0; seed < 300; seed++) {
      const world = await runWorld(atRandom(seed), {
        crashes: seed % 3,
        duplicates: seed % 2,
        losses: seed % 2,
        resends: 1 + (seed % 3),
      });
      expectNothingLost(world, allEnds);
      expect(world.exhaustedEvents).toBe(1);
      expect(world.rows.get('dead')!.attempts).toBeGreaterThanOrEqual(attempts);
      expect(world.rows.get('dead')!.attempts).toBeLessThanOrEqual(attempts + 1 + (seed % 3));
    }
  });

  test('sends the next message after a crash by the redelivered message, before the sweep runs', async () => {
    const { steps } = await runWorld(first, none, { endpoints: ['late'] });
    const ends: number[] = [];
    for (let step = 0; step < steps; step++) {
      const world = await runWorld(
        withFaults([{ kind: 'crash', step }]),
        { ...none, crashes: 1 },
        { endpoints: ['late'] },
      );
      ends.push(world.now - world.rows.get('late')!.createdAt);
    }
    // SQS delivers the message again when its visibility timeout is over. The sweep would need five minutes.
    expect(Math.max(...ends)).toBeLessThan(200_000);
  });

  test('sends nothing to an endpoint that was deleted at any time, and ends its deliveries', async () => {
    for (let seed = 0; seed < 500; seed++) {
      const world = await runWorld(
        atRandom(seed),
        { crashes: seed % 3, duplicates: seed % 3, losses: 0 },
        { deletes: ['dead', 'good'] },
      );
      expect(world.fannedOut).toBe(true);
      expect(world.lateSends).toBe(0);
      for (const row of world.rows.values())
        expect(row).toMatchObject({
          status: row.endpointId === 'late' ? 'DELIVERED' : expect.stringMatching(/CANCELLED|EXHAUSTED|DELIVERED/),
        });
    }
  });
});
