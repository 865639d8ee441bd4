import { describe, expect, test } from '@jest/globals';
import type { AttemptOutcome } from '../../../lib/webhooks/rules/outcome.ts';
import { type Adversity, type Choose, World, worldTiming } from '../../support/deliveryWorld.ts';

const attempts = worldTiming.schedule.length;

/** `good` takes everything, `late` what is sent the second time, `dead` nothing. */
const outcome = (endpointId: string, attempt: number): AttemptOutcome =>
  endpointId === 'good' || (endpointId === 'late' && attempt > 1) ? 'delivered' : 'failed';

const none: Adversity = { crashes: 0, duplicates: 0, losses: 0 };

async function lived(
  choose: Choose,
  adversity: Adversity,
  { deletes = [] as string[], endpoints = ['good', 'late', 'dead'] } = {},
): Promise<World> {
  const world = new World({ endpoints, outcome, choose, adversity, deletes });
  await world.run();
  return world;
}

/** What must hold when nothing can happen any more, whatever happened before. */
function expectNothingLost(world: World, ends: Record<string, string | RegExp>): void {
  const ended = Object.entries(ends).map(([endpointId, expected]) => {
    const row = world.rows.get(endpointId)!;
    return [endpointId, new RegExp(expected).test(row.status) ? expected : row.status, 'dueAt' in row];
  });
  const tooOften = [...world.sends].filter(([, times]) => !(times <= 1 + world.crashes));
  // One comparison for all: it is made for thousands of worlds.
  expect([world.fannedOut, ended, tooOften, world.tooLate]).toEqual([
    true,
    Object.entries(ends).map(([endpointId, expected]) => [endpointId, expected, false]),
    [],
    0,
  ]);
}

const allEnds = { good: 'DELIVERED', late: 'DELIVERED', dead: 'EXHAUSTED' };

/** The first of what is possible: no adversity, one thing after the other. */
const first: Choose = () => 0;

/** What happens first, but for the adversity of this kind at this step. */
function but(adversities: readonly { kind: string; step: number }[]): Choose {
  let step = 0;
  return (_count, kinds) => {
    const now = adversities.filter((one) => one.step === step);
    step++;
    for (const { kind } of now) {
      const index = kinds.indexOf(kind);
      if (index >= 0) return index;
    }
    return 0;
  };
}

/** By chance; what is adverse seldom. */
function byChance(seed: number): Choose {
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

describe('deliveries, their messages and those who work on them', () => {
  test('without adversity each attempt is made once', async () => {
    const world = await lived(first, none);
    expectNothingLost(world, allEnds);
    expect(Object.fromEntries(world.sends)).toEqual({
      'good/1': 1,
      'late/1': 1,
      'late/2': 1,
      'dead/1': 1,
      'dead/2': 1,
      'dead/3': 1,
    });
    expect(world.log).toHaveLength(6);
    expect(world.exhaustedEvents).toBe(1);
    expect(world.errors).toEqual([]);
  });

  test.each(['crash', 'stall', 'duplicate', 'lose'])(
    'deliveries 2.15 point 2: a %s at any step loses nothing',
    async (kind) => {
      const { steps } = await lived(first, none);
      let happened = 0;
      for (let step = 0; step < steps; step++) {
        const world = await lived(but([{ kind, step }]), { crashes: 1, duplicates: 1, losses: 1 });
        expectNothingLost(world, allEnds);
        expect(world.rows.get('dead')?.attempts).toBe(attempts);
        expect(world.exhaustedEvents).toBe(1);
        if (world.steps !== steps) happened++;
      }
      expect(happened).toBeGreaterThan(3);
    },
  );

  test('deliveries 2.15 point 2: two crashes at any two steps lose nothing', async () => {
    const { steps } = await lived(first, none, { endpoints: ['late'] });
    for (let one = 0; one < steps; one++) {
      for (let other = one + 1; other < steps + 12; other++) {
        const world = await lived(
          but([
            { kind: 'crash', step: one },
            { kind: 'crash', step: other },
          ]),
          { crashes: 2, duplicates: 0, losses: 0 },
          { endpoints: ['late'] },
        );
        expectNothingLost(world, { late: 'DELIVERED' });
      }
    }
  });

  test('deliveries 2.15 point 2: a crash at any step and a lost or repeated message at any other lose nothing', async () => {
    const { steps } = await lived(first, none, { endpoints: ['late'] });
    for (const kind of ['lose', 'duplicate']) {
      for (let one = 0; one < steps; one++) {
        for (let other = 0; other < steps + 12; other++) {
          const world = await lived(
            but([
              { kind: 'crash', step: one },
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

  test('deliveries 2.15 point 2: whatever happens in whatever order, each delivery ends, and an attempt is sent once more per crash at most', async () => {
    for (let seed = 0; seed < 1_500; seed++) {
      const world = await lived(byChance(seed), { crashes: seed % 5, duplicates: seed % 4, losses: seed % 3 });
      expectNothingLost(world, allEnds);
      expect(world.exhaustedEvents).toBe(1);
    }
  });

  test('deliveries 2.8: attempts that are asked for at any time come on top, and change nothing about how it ends', async () => {
    for (let seed = 0; seed < 800; seed++) {
      const world = await lived(byChance(seed), {
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

  test('deliveries 2.5: who ends before the next message is sent is not waited for until the sweeper comes: a message that is late sends it', async () => {
    const { steps } = await lived(first, none, { endpoints: ['late'] });
    const ends: number[] = [];
    for (let step = 0; step < steps; step++) {
      const world = await lived(but([{ kind: 'crash', step }]), { ...none, crashes: 1 }, { endpoints: ['late'] });
      ends.push(world.now - world.rows.get('late')!.createdAt);
    }
    // A crash costs the time for which its message is hidden; the sweeper would come after five minutes.
    expect(Math.max(...ends)).toBeLessThan(200_000);
  });

  test('deliveries 2.5: an endpoint that is deleted at any time gets nothing from then on, and its deliveries end', async () => {
    for (let seed = 0; seed < 500; seed++) {
      const world = await lived(
        byChance(seed),
        { crashes: seed % 3, duplicates: seed % 3, losses: 0 },
        { deletes: ['dead', 'good'] },
      );
      expect(world.fannedOut).toBe(true);
      expect(world.tooLate).toBe(0);
      for (const row of world.rows.values())
        expect(row).toMatchObject({
          status: row.endpointId === 'late' ? 'DELIVERED' : expect.stringMatching(/CANCELLED|EXHAUSTED|DELIVERED/),
        });
    }
  });
});
