import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { changeComment, newComments } from '../../../lib/comments/rules/commentChanges.ts';
import { NewComment } from '../../../lib/comments/rules/commentRequests.ts';
import type { Comment } from '../../../lib/comments/rules/comments.ts';
import {
  lastSeenAt,
  mayBeUnread,
  unreadComments,
  viewPart,
  viewsAfter,
  withViews,
} from '../../../lib/comments/rules/readState.ts';
import { countParticipants, participantsOf } from '../../../lib/comments/rules/threads.ts';
import { testProperty } from '../../support/testProperty.ts';

/** A comment that a request at `now` adds. */
const added = (commentId: number, userId: string, now: number, changes: object = {}): Comment =>
  newComments([NewComment.parse({ commentId, commentText: 'hi', from: { userId }, ...changes })], 0, {
    annotationId: 'a',
    threadCreatedAt: 1,
    createdAt: now,
    now,
  })[0]!;
const headOf = (...comments: Comment[]) => ({ participants: countParticipants([], comments, []) });
const ids = (comments: readonly Comment[]) => comments.map(({ commentId }) => commentId);

describe('the read state of a thread', () => {
  const [first, reply, second] = [added(1, 'ada', 10), added(2, 'bob', 20), added(3, 'ada', 30)];
  const whole = headOf(first, reply, second);

  test.each([
    ['no view and no comment', 'cyd', undefined, [], -1],
    ['a view', 'cyd', 25, [], 25],
    ['an own comment before the view', 'bob', 25, [], 25],
    ['an own comment after the view', 'ada', 25, [], 30],
  ] as const)('lastSeenAt returns the later of view and own last comment: %s', (_what, userId, viewedAt, own, at) => {
    expect(lastSeenAt(whole, userId, viewedAt, own)).toBe(at);
  });

  test('lastSeenAt reads own comments if the head has no times', () => {
    const old = { participants: JSON.stringify([['ada', 2, 0]]) };
    expect(lastSeenAt(old, 'ada', undefined)).toBe(-1);
    expect(lastSeenAt(old, 'ada', undefined, [first, reply])).toBe(10);
  });

  test('a deletion of the own last comment keeps the time of a participant, and an edit keeps it too', () => {
    const edited = changeComment(second, { commentText: 'edited' }, 99) as Comment;
    const head = { participants: countParticipants(participantsOf(whole), [edited], [second]) };
    expect(lastSeenAt(head, 'ada', undefined)).toBe(30);
    expect(lastSeenAt({ participants: countParticipants(participantsOf(head), [], [edited]) }, 'ada', undefined)).toBe(
      30,
    );
  });

  test.each([
    ['never seen', 'cyd', -1, [1, 2, 3]],
    ['seen before the last comment', 'cyd', 20, [3]],
    ['own comments', 'ada', -1, [2]],
    ['all seen', 'cyd', 30, []],
  ] as const)(
    'unreadComments returns the comments of others that were added later: %s',
    (_what, userId, seenAt, left) => {
      expect(ids(unreadComments([second, reply, first], userId, seenAt))).toEqual(left);
    },
  );

  test("unreadComments uses the server's time of the addition, not the sent times or an edit", () => {
    const imported = added(4, 'ada', 50, { createdAt: 5, lastUpdated: 6 });
    const early = added(5, 'ada', 40, { createdAt: 1_000 });
    const edited = changeComment(first, { commentText: 'edited' }, 90) as Comment;
    expect(ids(unreadComments([edited, imported, early], 'cyd', 45))).toEqual([4]);
    expect(imported).toMatchObject({ createdAt: 5, addedAt: 50 });
    expect(first.addedAt).toBeUndefined();
  });

  test('a head whose participants have no times may be unread', () => {
    expect(mayBeUnread(headOf(first), 'bob', 10)).toBe(false);
    expect(mayBeUnread({ participants: JSON.stringify([['ada', 1, 0]]) }, 'bob', 10)).toBe(true);
    expect(mayBeUnread({ participants: JSON.stringify([['ada', 0, 1]]) }, 'bob', 10)).toBe(false);
  });

  testProperty(
    'mayBeUnread is true for each thread with an unread comment',
    [
      fc.array(
        fc.record({
          userId: fc.constantFrom('ada', 'bob'),
          now: fc.integer({ min: 1, max: 50 }),
          createdAt: fc.nat(99),
        }),
        {
          minLength: 1,
          maxLength: 6,
        },
      ),
      fc.integer({ min: -1, max: 60 }),
    ],
    (sent, seenAt) => {
      const comments = sent.map(({ userId, now, createdAt }, index) => added(index, userId, now, { createdAt }));
      const isUnread = unreadComments(comments, 'bob', seenAt).length > 0;
      return mayBeUnread(headOf(...comments), 'bob', seenAt) === isUnread;
    },
  );
});

describe('views', () => {
  const thread = (annotationNumber: number | undefined, lastUpdated: number, ...comments: Comment[]) => ({
    annotationNumber,
    lastUpdated,
    ...headOf(...comments),
  });

  test.each([
    ['the first view', {}, thread(1, 5), 0, { 1: 0 }],
    ['a view after a change', { 1: 10, 2: 20 }, thread(1, 11), 15, { 1: 15, 2: 20 }],
    ['a view after a comment with an old time', { 1: 10 }, thread(1, 5, added(1, 'ada', 11)), 15, { 1: 15 }],
  ])('withViews stores %s', (_what, stored, viewed, viewedAt, after) => {
    expect(withViews(stored, [viewed], viewedAt)).toEqual(after);
  });

  test.each([
    ['an older time', { 1: 10 }, thread(1, 99), 9],
    ['the same time', { 1: 10 }, thread(1, 99), 10],
    ['a thread without a change since the stored view', { 1: 10 }, thread(1, 10, added(1, 'ada', 10)), 15],
    [
      'an old thread whose participants have no times',
      { 1: 10 },
      { ...thread(1, 5), participants: JSON.stringify([['ada', 1, 0]]) },
      15,
    ],
    ['a thread without a number', {}, thread(undefined, 99), 15],
  ])('withViews returns the same object for %s', (_what, stored, viewed, viewedAt) => {
    expect(withViews(stored, [viewed], viewedAt)).toBe(stored);
  });

  test('an erasure keeps later views', () => {
    expect(viewsAfter({ 1: 10, 2: 11 }, 10)).toEqual({ 2: 11 });
  });

  test('an item has 32 threads', () => {
    expect([1, 31, 32, 63, 64].map(viewPart)).toEqual([0, 0, 1, 1, 2]);
  });
});
