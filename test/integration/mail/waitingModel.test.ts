import { expect } from '@jest/globals';
import fc from 'fast-check';
import { WaitingEntryEntity } from '../../../lib/mail/waiting/entryStore.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { startEngine } from '../../support/engine.ts';
import { clearTable } from '../../support/items.ts';
import { MailWorld } from '../../support/mailWorld.ts';
import { testAsyncProperty } from '../../support/testProperty.ts';

// Random people comment, view, read, delete and change settings, while the time passes. A model
// (test/support/mailModel.ts) says which activities each address must have got after each step, in which mail and when.
// A failure prints a seed and a path. Set both in `replay` to repeat it.
const replay: { seed?: number; path?: string } = {};
const RUNS = 12;
/** After this time no new sequence starts, and fast-check stops simplifying a failing one. */
const LIMIT_MILLISECONDS = 8_000;

const engine = forAllTests(() => startEngine({ table: 'memory' }));

const user = fc.constantFrom('ada', 'ada', 'bob', 'grace', 'grace-2');
const document = fc.constantFrom('nda', 'nda', 'plan');
const thread = fc.constantFrom('t0', 't0', 't1');
const seconds = (...values: readonly number[]) => fc.constantFrom(...values);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const window = maybe(
  fc.record({ seconds: seconds(60, 600, 1_200, 7_200), max: maybe(fc.integer({ min: 2, max: 5 })) }),
);

function kind<const N extends string, A extends object>(
  weight: number,
  name: N,
  args: { [K in keyof A]: fc.Arbitrary<A[K]> },
) {
  return { weight, arbitrary: fc.record(args).map((values) => ({ do: name, ...values })) };
}

const configure = kind(4, 'configure', { delay: maybe(seconds(60, 900, 5_400)), document: window, user: window });
const step = fc.oneof(
  kind(12, 'comment', {
    from: user,
    document,
    thread,
    to: fc.subarray(['ada', 'bob', 'grace', 'grace-2']),
    threads: fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 14, 33),
  }),
  kind(4, 'view', { user, document, thread, ago: seconds(0, 0, 300) }),
  kind(2, 'read', { user, document }),
  configure,
  kind(1, 'level', { user, level: fc.constantFrom('ALL' as const, 'MINE' as const, 'NONE' as const) }),
  kind(1, 'deleteComment', { document, thread }),
  kind(1, 'deleteThread', { document, thread }),
  kind(1, 'deleteDocument', { document }),
  kind(1, 'removeUser', { user }),
  kind(1, 'addUser', { user }),
  kind(8, 'pass', { seconds: seconds(1, 59, 300, 900, 3_600) }),
);
const limit = fc.integer({ min: 0, max: 4 });
const limits = kind(1, 'limits', { recipient: limit, writer: limit });
const stepsOf = <S>(one: fc.Arbitrary<S>) =>
  fc
    .tuple(configure.arbitrary, fc.array(one, { minLength: 5, maxLength: 40, size: 'max' }))
    .map(([first, others]) => [first, ...others]);

const parameters = { numRuns: RUNS, limitMilliseconds: LIMIT_MILLISECONDS, ...replay };

testAsyncProperty(
  'each activity is mailed at the time and in the mail that the model says, or is not sent for a reason of the model',
  [stepsOf(step)],
  async (all) => {
    await clearTable(engine);
    const world = await MailWorld.create(engine);
    for (const one of all) {
      await world.do(one);
      await world.expectMailsOfModel();
      await world.expectEachActivityInOneState();
    }
    await world.do({ do: 'pass', seconds: 4 * 60 * 60 });
    await world.expectMailsOfModel();
    await world.expectEachActivityInOneState();
    expect(await world.storedOf(WaitingEntryEntity.type)).toEqual([]);
  },
  parameters,
);

testAsyncProperty(
  'with limits, each activity is mailed once or is not sent for a reason, and no address gets more mails than allowed',
  [limits.arbitrary, stepsOf(fc.oneof({ weight: 30, arbitrary: step }, limits))],
  async (initial, all) => {
    await clearTable(engine);
    const world = await MailWorld.create(engine);
    await world.do(initial);
    for (const one of all) {
      await world.do(one);
      await world.expectEachActivityInOneState();
    }
    await world.do({ do: 'pass', seconds: 48 * 60 * 60 });
    await world.expectEachActivityInOneState();
    expect(await world.storedOf(WaitingEntryEntity.type)).toEqual([]);
    world.expectLimits();
  },
  parameters,
);
