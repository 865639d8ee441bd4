import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  advanceCollection,
  canFillWindow,
  CollectionState,
  fillsWindow,
  holdUntil,
  joiningEntries,
  latestEndOf,
  type Waiting,
  type WaitingEntry,
  waitingOf,
  wakeTimeOf,
} from '../../../lib/mail/waiting/rules.ts';
import { testProperty } from '../../support/testProperty.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const T = Date.UTC(2026, 0, 15);
const START = CollectionState.parse({});

const minutes = (length: number, maxEntries = 50) => ({ milliseconds: length * MINUTE, maxEntries });
let nextId = 0;
function entry(
  documentKey: string,
  createdAt: number,
  waiting: Partial<Waiting> & { delay?: number } = {},
): WaitingEntry {
  const { delay = 0, ...rest } = waiting;
  const id = `n${nextId++}`;
  return { mailId: id, eventId: id, documentKey, createdAt, joinsAt: createdAt + delay, ...rest };
}
const ids = (groups: readonly (readonly WaitingEntry[])[]) => groups.map((group) => group.map(({ mailId }) => mailId));

describe('what an activity waits for', () => {
  const config = (notificationServiceConfig: object, useNotificationService = true) =>
    waitingOf({ useNotificationService, notificationServiceConfig }, T);
  const delayConfig = { isEnabled: true, delaySeconds: 60 };
  const document = { isEnabled: true, batchWindowSeconds: 300, maxActivities: 5 };

  test.each<[string, object, Waiting | undefined]>([
    ['nothing without settings', {}, undefined],
    ['nothing with a delay that is off', { delayConfig: { ...delayConfig, isEnabled: false } }, undefined],
    ['nothing with a delay without a length', { delayConfig: { isEnabled: true } }, undefined],
    ['nothing with a window without a length', { batchConfig: { user: { isEnabled: true } } }, undefined],
    ['its delay', { delayConfig }, { joinsAt: T + MINUTE }],
    ['the window of its document', { batchConfig: { document } }, { joinsAt: T, document: minutes(5, 5) }],
    [
      'the window of its user, which only its time closes by default',
      { batchConfig: { user: { isEnabled: true, batchWindowSeconds: 60 } } },
      { joinsAt: T, user: { milliseconds: MINUTE } },
    ],
    [
      'a window after its delay',
      { delayConfig, batchConfig: { document } },
      { joinsAt: T + MINUTE, document: minutes(5, 5) },
    ],
  ])('%s', (_name, settings, expected) => {
    expect(config(settings)).toEqual(expected);
  });

  test('nothing while the notification service is off', () => {
    expect(config({ delayConfig }, false)).toBeUndefined();
  });

  test('the end of the hour instead of its window above a limit', () => {
    expect(holdUntil(undefined, T)).toEqual({ joinsAt: T, isHeld: true });
    expect(holdUntil({ joinsAt: T + MINUTE, user: minutes(1) }, T)).toEqual({ joinsAt: T + MINUTE, isHeld: true });
  });
});

test.each<[string, Partial<Waiting> & { delay?: number }, number, number]>([
  ['after the delay', { delay: MINUTE, user: minutes(5) }, MINUTE, 6 * MINUTE],
  ['when the shorter window closes', { user: minutes(5), document: minutes(2) }, 2 * MINUTE, 5 * MINUTE],
  ['at the end of the hour', { delay: MINUTE, isHeld: true }, MINUTE, MINUTE],
])('an entry needs its job %s', (_name, waiting, wakeAt, endsAt) => {
  const added = entry('a', T, waiting);
  expect([wakeTimeOf(added) - T, latestEndOf(added) - T]).toEqual([wakeAt, endsAt]);
});

describe('a window', () => {
  const at = (minute: number) => T + minute * MINUTE;
  const both = { document: minutes(10), user: minutes(30) };

  test('of a document sends the entries of the document when it closes, and the others keep their times', () => {
    const [a, b, a2] = [entry('a', at(0), both), entry('b', at(5), both), entry('a', at(9), both)];
    const first = advanceCollection(START, [a, b, a2], at(10));
    expect(ids(first.groups)).toEqual([[a.mailId, a2.mailId]]);
    expect(first.wakeAt).toBe(at(15));
    const second = advanceCollection(first.state, [b], at(15));
    expect(ids(second.groups)).toEqual([[b.mailId]]);
    expect(second.wakeAt).toBeUndefined();
    expect(second.state).toMatchObject({ user: undefined, documents: {} });
  });

  test('of the user sends all entries when it closes, also of documents whose window is open', () => {
    const [a, b] = [entry('a', at(0), { user: minutes(30) }), entry('b', at(25), both)];
    expect(advanceCollection(START, [a, b], at(29))).toMatchObject({ groups: [], wakeAt: at(30) });
    expect(ids(advanceCollection(START, [a, b], at(30)).groups)).toEqual([[a.mailId, b.mailId]]);
  });

  test('of the user keeps the time of its first entry after a document has sent that', () => {
    const [a, b] = [entry('a', at(0), both), entry('b', at(9), { user: minutes(30) })];
    const first = advanceCollection(START, [a, b], at(10));
    expect(ids(first.groups)).toEqual([[a.mailId]]);
    expect(first.wakeAt).toBe(at(30));
  });

  test('keeps its times when the settings change', () => {
    const [early, late] = [entry('a', at(0), { document: minutes(10) }), entry('a', at(1), { document: minutes(1) })];
    expect(advanceCollection(START, [early, late], at(5))).toMatchObject({ groups: [], wakeAt: at(10) });
  });

  test.each<[string, Partial<Waiting>, string[], boolean]>([
    ['document', { document: minutes(60, 3) }, ['a', 'a', 'a'], true],
    ['document', { document: minutes(60, 3) }, ['a', 'a', 'b'], false],
    ['user', { user: minutes(60, 3) }, ['a', 'b', 'c'], true],
    ['user', { user: minutes(60, 4) }, ['a', 'b', 'c'], false],
  ])('of a %s closes early when it is full', (_scope, waiting, documents, isFull) => {
    const entries = documents.map((key, index) => entry(key, at(index), waiting));
    const last = entries.at(-1) as WaitingEntry;
    expect(fillsWindow(entries, last)).toBe(isFull);
    expect(advanceCollection(START, entries, at(3)).groups.flat()).toHaveLength(isFull ? 3 : 0);
  });

  test.each<[string, Partial<Waiting>, Partial<Waiting>]>([
    ['larger', { user: minutes(60, 2) }, { user: minutes(60, 50) }],
    ['no', { user: minutes(60, 2) }, { document: minutes(60) }],
  ])('is filled by an entry with a %s number', (_which, first, second) => {
    const [early, late] = [entry('a', at(0), first), entry('a', at(1), second)];
    expect(fillsWindow([early, late], late)).toBe(true);
    expect(advanceCollection(START, [early, late], at(2)).groups.flat()).toHaveLength(2);
  });

  test('can be filled by an entry that joins at once, and by no other', () => {
    const waitings = [{ user: minutes(5) }, { delay: MINUTE, user: minutes(5) }, { isHeld: true }, {}];
    expect(waitings.map((waiting) => canFillWindow(entry('a', T, waiting)))).toEqual([true, false, false, false]);
  });

  test('opens when the delay ends', () => {
    const delayed = entry('a', at(0), { delay: MINUTE, user: minutes(5) });
    expect(advanceCollection(START, [delayed], at(0))).toMatchObject({ groups: [], wakeAt: at(1) });
    expect(joiningEntries(START, [delayed], at(0))).toEqual([]);
    expect(joiningEntries(START, [delayed], at(1))).toEqual([delayed]);
    const joined = advanceCollection(START, [delayed], at(1));
    expect(joined).toMatchObject({ groups: [], wakeAt: at(6) });
    expect(joiningEntries(joined.state, [delayed], at(6))).toEqual([]);
  });
});

describe('without windows', () => {
  test('each activity leaves alone at the end of its delay', () => {
    const entries = [entry('a', T, { delay: MINUTE }), entry('a', T + 1, { delay: MINUTE })];
    expect(ids(advanceCollection(START, entries, T + 2 * MINUTE).groups)).toEqual(
      entries.map(({ mailId }) => [mailId]),
    );
  });

  test('what is above a limit leaves as one group at the end of the hour', () => {
    const held = ['a', 'b'].map((key) => entry(key, T, { delay: 60 * MINUTE, isHeld: true }));
    expect(advanceCollection(START, held, T)).toMatchObject({ groups: [], wakeAt: T + 60 * MINUTE });
    expect(ids(advanceCollection(START, held, T + 60 * MINUTE).groups)).toEqual([held.map(({ mailId }) => mailId)]);
  });
});

test('a recipient who has got the mails of the hour gets everything that joined meanwhile as one group', () => {
  const paused = { ...START, pausedUntil: T + 60 * MINUTE };
  const entries = [entry('a', T), entry('b', T, { document: minutes(1) }), entry('c', T, { delay: 2 * 60 * MINUTE })];
  const waiting = advanceCollection(paused, entries, T + MINUTE);
  expect(waiting).toMatchObject({ groups: [], wakeAt: T + 60 * MINUTE });
  const ended = advanceCollection(waiting.state, entries, T + 60 * MINUTE);
  expect(ids(ended.groups)).toEqual([entries.slice(0, 2).map(({ mailId }) => mailId)]);
  expect(ended).toMatchObject({ wakeAt: T + 120 * MINUTE, state: { pausedUntil: undefined } });
});

const windowLength = fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined });
const someEntry = fc.record({
  documentKey: fc.constantFrom('a', 'b', 'c'),
  minute: fc.integer({ min: 0, max: 60 }),
  delay: fc.constantFrom(0, 0, 5),
  document: windowLength,
  user: windowLength,
  maxEntries: fc.integer({ min: 2, max: 6 }),
  isHeld: fc.boolean(),
});

testProperty(
  'every entry leaves once, not before it joins, and at the latest when the longest window would close',
  [fc.array(someEntry, { maxLength: 25 })],
  (specs) => {
    const entries = specs
      .map(({ documentKey, minute, delay, document, user, maxEntries, isHeld }) =>
        entry(documentKey, T + minute * MINUTE, {
          delay: delay * MINUTE,
          ...(isHeld
            ? { isHeld }
            : {
                document: document === undefined ? undefined : minutes(document, maxEntries),
                user: user === undefined ? undefined : minutes(user, maxEntries),
              }),
        }),
      )
      .toSorted((x, y) => x.createdAt - y.createdAt);
    const leftAt = new Map<WaitingEntry, number>();
    const [leftAgain, wrongWakes]: [WaitingEntry[], (number | undefined)[]] = [[], []];
    let state = START;
    for (let now = T; now <= T + 120 * MINUTE; now += MINUTE) {
      const waiting = entries.filter((one) => one.createdAt <= now && !leftAt.has(one));
      const advance = advanceCollection(state, waiting, now);
      state = advance.state;
      for (const left of advance.groups.flat()) {
        if (leftAt.has(left)) leftAgain.push(left);
        leftAt.set(left, now);
      }
      const isEmpty = waiting.every((one) => leftAt.has(one));
      const { wakeAt } = advance;
      if (isEmpty ? wakeAt !== undefined : wakeAt === undefined || wakeAt <= now) wrongWakes.push(wakeAt);
    }
    expect([leftAgain, wrongWakes]).toEqual([[], []]);
    const waits = entries.map((one) => (leftAt.get(one) ?? Infinity) - one.joinsAt);
    expect(waits.filter((wait, index) => wait < 0 || wait > (entries[index]!.isHeld ? 0 : 30 * MINUTE))).toEqual([]);
  },
);
