import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NewestValues, VersionOrder } from '../../../lib/client/liveView.ts';
import { times } from '../../support/times.ts';

interface Shown {
  readonly id: string;
  readonly at: number;
  readonly text?: string;
}
const newView = () =>
  new NewestValues<Shown>(
    ({ id }) => id,
    ({ at }) => at,
  );

describe('the newest values', () => {
  test('are the same for any order and repetition of messages', () => {
    const messages = [
      (view: NewestValues<Shown>) => view.set({ id: 'ada', at: 1 }),
      (view: NewestValues<Shown>) => view.set({ id: 'ada', at: 2, text: 'away' }),
      (view: NewestValues<Shown>) => view.remove('ada', 3),
      (view: NewestValues<Shown>) => view.set({ id: 'ada', at: 4 }),
      (view: NewestValues<Shown>) => view.set({ id: 'grace', at: 1 }),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray([...messages, ...messages], { minLength: 10 }), (shuffled) => {
        const view = newView();
        for (const apply of shuffled) apply(view);
        expect(view.all).toHaveLength(2);
        expect([view.get('ada'), view.get('grace')]).toEqual([
          { id: 'ada', at: 4 },
          { id: 'grace', at: 1 },
        ]);
      }),
    );
  });

  test('are not replaced by an older or equal value', () => {
    const view = newView();
    expect(view.set({ id: 'a', at: 2, text: 'new' })).toBe(true);
    expect(view.set({ id: 'a', at: 1, text: 'old' })).toBe(false);
    expect(view.set({ id: 'a', at: 2, text: 'new' })).toBe(false);
    expect(view.get('a')).toEqual({ id: 'a', at: 2, text: 'new' });
    expect(view.get('b')).toBeUndefined();
  });

  test('lose what is missing in a read, except values whose message arrived during the read', () => {
    const view = newView();
    const [removed, added, kept, read] = ['removed', 'added', 'kept', 'read'].map((id) => ({ id, at: 1 }));
    for (const value of [removed, kept]) view.set(value as Shown);
    view.beginRead();
    view.set(added as Shown);
    expect(view.applyRead([kept, read] as Shown[])).toEqual([read]);
    expect(view.all).toEqual([kept, added, read]);
  });

  test('take a value of a read with the same time, and report only newer ones', () => {
    const view = newView();
    view.set({ id: 'ada', at: 1, text: 'lease' });
    expect(view.applyRead([{ id: 'ada', at: 1, text: 'renewed lease' }])).toEqual([]);
    expect(view.get('ada')?.text).toBe('renewed lease');
  });

  test('are not shown after their removal, and do not return from a read that is older', () => {
    const view = newView();
    for (const id of ['grace', 'ada']) view.set({ id, at: 1 });
    view.beginRead();
    view.remove('ada', 5);
    expect([view.all, view.get('ada')]).toEqual([[{ id: 'grace', at: 1 }], undefined]);
    for (const at of [4, 5]) view.applyRead([{ id: 'ada', at }]);
    expect(view.get('ada')).toBeUndefined();
  });
});

describe('the order of versions', () => {
  test('shows each message once and in order, with catch-ups at random times', () => {
    const pushes = fc.array(fc.record({ version: fc.integer({ min: 1, max: 12 }), isRead: fc.boolean() }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(pushes, (events) => {
        const order = new VersionOrder<{ version: number }>();
        const versions: number[] = [];
        const show = (messages: readonly { version: number }[]) =>
          versions.push(...messages.map(({ version }) => version));
        show(order.restart(0));
        let newest = 0;
        for (const { version, isRead } of events) {
          newest = Math.max(newest, version);
          if (!isRead) show(order.take({ version }).messages);
          else {
            const log = times(newest, (index) => ({ version: index + 1 }));
            show(order.catchUp(log.slice(order.version), newest));
            expect(order.isWaiting).toBe(false);
          }
        }
        expect(versions).toEqual(times(versions.length, (index) => index + 1));
        expect(order.version).toBe(versions.length);
      }),
    );
  });

  test('shows the pushed copy of a message, because the copy in the log can have less content', () => {
    const order = new VersionOrder<{ version: number; update?: string }>();
    order.restart(0);
    expect(order.take({ version: 2, update: 'AAA=' })).toEqual({ messages: [], hasGap: true });
    expect(order.catchUp([{ version: 1 }, { version: 2 }], 2)).toEqual([
      { version: 1 },
      { version: 2, update: 'AAA=' },
    ]);
  });
});
