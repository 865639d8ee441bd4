import { describe, expect, test } from '@jest/globals';
import { workOfChanges, workOfComments, workOfThreads } from '../../../lib/comments/rules/work.ts';
import { times } from '../../support/times.ts';

const from = { userId: 'ada' };
const mentions = { taggedUserContacts: times(3, (n) => ({ userId: `user-${n}` })), to: [{ userId: 'grace' }] };

describe('the work of comments', () => {
  test('of threads is their items, comments and mentions, and an event for each thread with a notification', () => {
    const thread = (triggerNotification: boolean) => ({
      commentData: [{ from, ...mentions, triggerNotification }, { from }],
    });
    expect(workOfThreads([thread(true), thread(false)])).toEqual({ items: 2 * (4 + 6 + 2), events: 1 });
  });

  test('of new comments has an event for each comment with a notification', () => {
    const comments = [{ from, ...mentions, triggerNotification: true }, { from }];
    expect(workOfComments(comments)).toEqual({ items: 4 + 6 + 2, events: 1 });
  });

  test('of changes multiplies the mentions by the selected records, and counts 500 records without ids', () => {
    expect(workOfChanges({ ids: [1, 2], change: mentions, triggerNotification: true })).toEqual({
      items: 2 * 6,
      events: 2,
    });
    expect(workOfChanges({ ids: undefined })).toEqual({ items: 1_000, events: 0 });
  });
});
