import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LiveStateView, PresenceView, VersionOrder } from '../../../lib/client/liveView.ts';
import type { LiveStateResponse } from '../../../lib/liveState/rules.ts';
import type { PresenceMessage } from '../../../lib/presence/rules.ts';
import { times } from '../../support/times.ts';

const present = (userId: string, changedAt: number, status: 'online' | 'away' = 'online') => ({
  userId,
  status,
  leaseEndsAt: changedAt + 30_000,
  changedAt,
});
const update = (userId: string, at: number, status?: 'away'): PresenceMessage => ({
  type: 'presence.update',
  at,
  user: present(userId, at, status),
});
const remove = (userId: string, at: number): PresenceMessage => ({ type: 'presence.remove', at, userId });
const idsOf = (view: PresenceView) => view.users.map(({ userId }) => userId);

describe('the view of presence', () => {
  test('shows users in the order of their ids, and no user who has left', () => {
    const view = new PresenceView();
    for (const message of [update('grace', 1), update('ada', 2), remove('grace', 3)]) view.apply(message);
    expect(idsOf(view)).toEqual(['ada']);
  });

  test('shows the newest state of each user for any order and repetition of messages', () => {
    const messages = [
      update('ada', 1),
      update('ada', 2, 'away'),
      remove('ada', 3),
      update('ada', 4),
      update('grace', 1),
    ];
    fc.assert(
      fc.property(fc.shuffledSubarray([...messages, ...messages], { minLength: 10 }), (shuffled) => {
        const view = new PresenceView();
        for (const message of shuffled) view.apply(message);
        expect(view.users).toMatchObject([
          { userId: 'ada', changedAt: 4 },
          { userId: 'grace', changedAt: 1 },
        ]);
      }),
    );
  });

  test('removes users who are missing in a read, except users whose message arrived during the read', () => {
    const view = new PresenceView();
    view.apply(update('left', 1));
    view.beginRead();
    view.apply(update('joined', 2));
    view.applyRead([present('ada', 1)]);
    expect(idsOf(view)).toEqual(['ada', 'joined']);
  });

  test('does not restore a user from a read that is older than the removal', () => {
    const view = new PresenceView();
    view.beginRead();
    view.apply(remove('ada', 5));
    view.applyRead([present('ada', 4)]);
    expect(idsOf(view)).toEqual([]);
  });
});

describe('the view of live states', () => {
  test('never replaces a state by an older or equal state', () => {
    const view = new LiveStateView();
    expect(view.apply({ liveStateDataId: 'a', data: { n: 2 }, at: 2 })).toMatchObject({ data: { n: 2 } });
    expect(view.apply({ liveStateDataId: 'a', data: { n: 1 }, at: 1 })).toBeUndefined();
    expect(view.apply({ liveStateDataId: 'a', data: { n: 2 }, at: 2 })).toBeUndefined();
    expect(view.get('a')).toEqual({ liveStateDataId: 'a', data: { n: 2 }, at: 2 });
    expect(view.get('b')).toBeUndefined();
  });

  test('removes states that are missing in a read, except states whose message arrived during the read', () => {
    const view = new LiveStateView();
    const [deleted, added, kept] = ['deleted', 'added', 'kept'].map((liveStateDataId) => ({
      liveStateDataId,
      data: {},
      at: 1,
    })) as [LiveStateResponse, LiveStateResponse, LiveStateResponse];
    for (const state of [deleted, kept]) view.apply(state);
    view.beginRead();
    view.apply(added);
    const read = { ...kept, liveStateDataId: 'read' };
    expect(view.applyRead([kept, read])).toEqual([read]);
    expect(view.all).toEqual([kept, added, read]);
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
