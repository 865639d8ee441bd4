import { describe, expect, test } from '@jest/globals';
import type { Notification } from '../../../lib/notifications/rules.ts';
import { isUnread, unreadCounts } from '../../../lib/notifications/unreadCounts.ts';
import { times } from '../../support/times.ts';

const ids = (count: number, from = 0) => times(count, (n) => `n${from + n}`);

describe('unreadCounts', () => {
  test.each([
    ['nothing', [], [], [0, 0, false]],
    ['a notification of both lists once', ids(3), ids(3, 2), [3, 5, false]],
    ['99 exactly', ids(99), [], [99, 99, false]],
    ['99 in both lists together', ids(40), ids(59, 40), [40, 99, false]],
    ['more than 99 in both lists together', ids(40), ids(60, 40), [40, 99, true]],
    ['more than 99 of the user', ids(100), [], [99, 99, true]],
    ['more than 99 for everybody, of which two name the user', ids(2), ids(100), [2, 99, true]],
  ])('counts %s', (_title, own, everybody, [forYou, all, more]) => {
    const lists = [own, everybody].map((list) => ({ ids: list, isComplete: true })) as [never, never];
    expect(unreadCounts(...lists)).toEqual({ unread: { forYou, all }, more });
  });

  test.each([
    [true, false],
    [false, true],
  ])('has more if a list was not read to its end', (...complete) => {
    const [own, everybody] = complete.map((isComplete) => ({ ids: ids(1), isComplete })) as [never, never];
    expect(unreadCounts(own, everybody)).toEqual({ unread: { forYou: 1, all: 1 }, more: true });
  });
});

test.each([
  ['unread without readers', undefined, 'ada', true],
  ['unread if others have read it', ['lin'], 'ada', true],
  ['read by its reader', ['lin', 'grace'], 'ada', false],
  ['not unread for its actor', undefined, 'grace', false],
])('a notification is %s', (_title, readByUserIds, actor, unread) => {
  expect(isUnread({ readByUserIds, actionUser: { userId: actor } } as Notification, 'grace')).toBe(unread);
});
