import { describe, expect, test } from '@jest/globals';
import {
  decideCommentAddition,
  decideCommentDeletion,
  decideCommentUpdate,
  decideUserReplacement,
  NOT_FOUND,
} from '../../../lib/comments/rules/decideComments.ts';
import {
  decideReactionAddition,
  decideReactionDeletion,
  REACTION_BUSY,
} from '../../../lib/comments/rules/decideReactions.ts';
import { decideThreadAddition, decideThreadUpdate } from '../../../lib/comments/rules/decideThread.ts';
import { decideUserRemoval } from '../../../lib/comments/rules/removedUsers.ts';
import type { Decided, ExistingThread } from '../../../lib/comments/rules/threadParts.ts';
import { NewThread } from '../../../lib/comments/rules/threadRequests.ts';
import { groupEntries } from '../../../lib/reactions/rules.ts';

const NOW = 1_000_000;
const LATER = NOW + 1;
const options = { notify: true, log: false, now: LATER };
const all = {};

/** Returns a stored thread with one comment per author, all assigned to Zoe. Nothing in it can be changed. */
function stored(...authors: string[]): ExistingThread {
  const commentData = authors.map((userId) => ({ commentText: 'hi', from: { userId } }));
  const sent = NewThread.parse({ commentData, assignedTo: { userId: 'zoe' } });
  const added = decideThreadAddition(sent, { annotationId: 'a', documentId: 'nda', now: NOW, byUser: false });
  if ('refused' in added) throw new Error(added.refused);
  const { thread, comments } = added.after;
  const revised = <T extends object>(value: T) => Object.freeze({ ...value, _r: NOW });
  return Object.freeze({ thread: revised(thread!), comments: Object.freeze(comments.map(revised)), reactions: [] });
}

function react(before: ExistingThread, userId: string, commentId = 1, annotationId = 'r') {
  const on = { annotationId: 'a', commentId };
  const [request] = groupEntries([{ annotationId, icon: '+', from: { userId }, on }]);
  const names = { apiKey: 'key', organizationId: 'acme', documentId: 'nda' };
  const step = { ...request!, user: { userId } };
  return decideReactionAddition(before, [step], { names, isReadable: () => true, now: LATER });
}

describe('decisions about comments', () => {
  test('add comments after the last id, and an event for each that notifies', () => {
    const sent = [
      { from: { userId: 'bob' }, commentText: 'one', triggerNotification: true },
      { from: { userId: 'bob' }, commentText: 'two' },
    ];
    const decided = decideCommentAddition(stored('ada'), sent, { now: LATER, byUser: false });
    expect(decided).toMatchObject({
      result: [2, 3],
      after: { thread: { commentCount: 3, lastUpdated: LATER } },
      events: [
        { verb: 'added', notify: true },
        { verb: 'added', notify: false },
      ],
    });
  });

  test('change only selected comments. An unchanged comment is the same object', () => {
    const before = stored('ada', 'bob');
    const { result, after, events } = decideCommentUpdate(before, [1, 2, 9], {
      selection: { userIds: ['bob'] },
      change: { commentText: 'new' },
      options,
    });
    expect(result).toEqual([NOT_FOUND, undefined, NOT_FOUND]);
    expect([after.comments[0] === before.comments[0], after.comments[1]?.commentText]).toEqual([true, 'new']);
    expect(events).toMatchObject([{ verb: 'updated', revision: NOW + 1, from: 'hi', to: 'new' }]);
  });

  test('move the first and the last place to remaining comments', () => {
    const { after, events } = decideCommentDeletion(stored('ada', 'bob', 'cleo'), [1, 3], all, options);
    expect(events).toMatchObject(Array(2).fill({ verb: 'deleted', revision: NOW }));
    expect(after.thread).toMatchObject({
      commentCount: 1,
      first: { commentId: 2 },
      last: { commentId: 2, userId: 'bob' },
    });
  });

  test('delete a thread with its last comment, in one event', () => {
    const { after, events, result } = decideCommentDeletion(stored('ada', 'bob'), [1, 2], all, options);
    expect([after.thread, after.comments, result]).toEqual([undefined, [], [undefined, undefined]]);
    expect(events).toMatchObject([{ verb: 'deleted', isThreadDeletion: true, revision: NOW }]);
  });

  test('replace the author and the assignee of a thread only with its first comment', () => {
    const replacement = (userId: string) => (userId === 'zoe' ? { userId: 'zora' } : undefined);
    const { comments, ...before } = stored('ada', 'bob');
    const replaced = (parts: ExistingThread) => decideUserReplacement(parts, [2], replacement, LATER).after.thread;
    expect(replaced({ ...before, comments })).toMatchObject({ assignedTo: { userId: 'zora' }, lastUpdated: LATER });
    expect(replaced({ ...before, comments: comments.slice(1) })).toBe(before.thread);
  });
});

test('a change of a thread has an event of the next revision, and one that changes nothing the same parts and no event', () => {
  const before = stored('ada');
  const { events } = decideThreadUpdate(before, { status: 'DONE' }, options) as Decided<undefined>;
  expect(events).toMatchObject([{ verb: 'statusChanged', revision: NOW + 1 }]);
  expect(decideThreadUpdate(before, { status: 'OPEN' }, options)).toEqual({
    after: before,
    events: [],
    result: undefined,
  });
});

describe('decisions about reactions', () => {
  test('store the reference in the comment, and delete it with the last user', () => {
    const added = react(stored('ada'), 'fan');
    expect(added.after.comments[0]?.reactions).toEqual([{ id: 'r', createdAt: LATER }]);
    expect(added.events).toMatchObject([{ verb: 'reactionAdded', actor: { userId: 'fan' } }]);
    const names = { apiKey: 'key', organizationId: 'acme', documentId: 'nda' };
    const deleted = decideReactionDeletion(added.after as ExistingThread, [{ annotationId: 'r' }], {
      names,
      actor: undefined,
      now: LATER,
    });
    expect([deleted.after.reactions, deleted.after.comments[0]?.reactions]).toEqual([[], []]);
    expect(deleted.events).toMatchObject([{ verb: 'reactionDeleted', actor: { userId: 'fan' } }]);
  });

  test('change nothing for a user who has reacted already', () => {
    const once = react(stored('ada'), 'fan').after as ExistingThread;
    expect(react(once, 'fan')).toEqual({ after: once, events: [], result: [undefined] });
  });

  test('refuse a comment of a thread that the transaction does not write', () => {
    const { thread, ...parts } = stored('ada');
    expect(react({ ...parts, thread: { ...thread, annotationId: 'b' } }, 'fan').result).toEqual([REACTION_BUSY]);
  });
});

describe('the removal of a user', () => {
  const users = { userIds: new Set(['bob', 'zoe']), removedAt: LATER };

  test('keeps the comment and the time of the thread', () => {
    const before = stored('ada', 'bob');
    const after = decideUserRemoval(before, 2, users, 'remove');
    expect([after.comments.length, after.thread?.lastUpdated, after.thread?.assignedTo]).toEqual([
      2,
      NOW,
      { userId: 'zoe' },
    ]);
  });

  test('deletes the comment and the assignment if the user is erased', () => {
    const after = decideUserRemoval(stored('ada', 'bob'), 2, users, 'erase');
    expect([after.comments.length, after.thread?.commentCount, after.thread?.assignedTo]).toEqual([1, 1, undefined]);
  });
});
