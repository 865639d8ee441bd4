import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Activity, eraseFromActivity } from '../../../lib/activities/rules.ts';
import type { Comment } from '../../../lib/comments/rules/comments.ts';
import {
  eraseFromComment,
  eraseFromThread,
  isCommentOf,
  isThreadOf,
  removeFromComment,
  removeFromThread,
} from '../../../lib/comments/rules/removedUsers.ts';
import type { Thread } from '../../../lib/comments/rules/threads.ts';
import type { RemovedUsers } from '../../../lib/content/rules/removedUsers.ts';
import {
  eraseFromNotification,
  type Notification,
  quotedComment,
  removeFromNotification,
} from '../../../lib/notifications/rules.ts';
import { eraseFromReaction, type Reaction, removeReactors } from '../../../lib/reactions/rules.ts';
import { eraseFromRecording, isRecordingOf, type Recording } from '../../../lib/recordings/rules.ts';
import { cpuMilliseconds } from '../../support/cpu.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

const UNTIL = 1_000;
const removed: RemovedUsers = { userIds: new Set(['ada']), removedAt: UNTIL };
const ada = {
  userId: 'ada',
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  photoUrl: 'https://example.com/ada.png',
  color: 'red',
};
const grace = { userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' };
const json = JSON.stringify;
const naming = { owner: ada, list: [{ userId: 'ada', name: 'Ada Lovelace', role: 'lead' }, grace] };
const bareNaming = json({ owner: { userId: 'ada' }, list: [{ userId: 'ada', role: 'lead' }, grace] });

const thread: Thread = {
  annotationId: 't',
  documentId: 'nda',
  type: 'comment',
  sourceType: 'rest-api',
  from: grace,
  status: json({ id: 'OPEN' }),
  participants: json([['grace', 1, 0]]),
  commentCount: 1,
  lastCommentId: 1,
  first: { commentId: 1, createdAt: 1 },
  last: { commentId: 1, userId: 'grace' },
  createdAt: 1,
  lastUpdated: 1,
};
const comment: Comment = {
  annotationId: 't',
  threadCreatedAt: 1,
  commentId: 1,
  from: grace,
  commentText: 'Hello',
  isEdited: false,
  createdAt: 1,
  lastUpdated: 1,
};
const notification: Notification = {
  id: 'n',
  notificationSource: 'custom',
  actionUser: grace,
  notifyAll: false,
  notifyUsers: [{ userId: 'ada', emailHash: 'x' }, { userId: 'max' }],
  documentId: 'nda',
  createdAt: 1,
};
const activity: Activity = {
  id: 'a',
  featureType: 'comment',
  actionType: 'comment.add',
  actionUser: grace,
  documentId: 'nda',
  createdAt: 1,
};
const recording: Recording = {
  annotationId: 'r',
  recordingType: 'audio',
  mode: 'floating',
  from: grace,
  documentId: 'nda',
  latestVersion: 1,
  createdAt: 1,
  lastUpdated: 1,
};

test.each([
  ['isThreadOf', isThreadOf],
  ['isCommentOf', isCommentOf],
  ['isRecordingOf', isRecordingOf],
])('%s accepts what a removed user made before the removal', (_name, isOf) => {
  expect(isOf({ from: ada, createdAt: UNTIL }, removed)).toBe(true);
  expect(isOf({ from: ada, createdAt: UNTIL + 1 }, removed)).toBe(false);
  expect(isOf({ from: grace, createdAt: 1 }, removed)).toBe(false);
});

describe('rules for threads', () => {
  test('removeFromThread keeps only the id of the assignee and ends subscriptions', () => {
    const before = {
      ...thread,
      assignedTo: ada,
      subscribedUsers: json([ada, grace]),
      unsubscribedUsers: json([ada]),
      resolvedByUserId: 'ada',
    };
    expect(removeFromThread(before, removed)).toEqual({
      ...before,
      assignedTo: { userId: 'ada' },
      subscribedUsers: json([grace]),
      unsubscribedUsers: '[]',
    });
  });

  test('eraseFromThread removes assignment, subscription, visibility and status users', () => {
    const before: Thread = {
      ...thread,
      assignedTo: ada,
      subscribedUsers: json([ada, grace]),
      resolvedByUserId: 'ada',
      statusUpdatedByUserId: 'ada',
      visibility: { type: 'restricted', userIds: ['ada', 'max'] },
      metadata: json(naming),
      customList: json([ada]),
      pageInfo: json(naming),
      progress: json(naming),
      actions: json([ada]),
      status: json({ id: 'OPEN', reviewer: ada }),
      location: json({ id: 'page-1', ...naming }),
      locationKey: 'page-1',
    };
    expect(eraseFromThread(before, removed)).toEqual({
      ...thread,
      status: json({ id: 'OPEN', reviewer: { userId: 'ada' } }),
      location: json({ id: 'page-1', ...JSON.parse(bareNaming) }),
      locationKey: 'page-1',
      subscribedUsers: json([grace]),
      visibility: { type: 'restricted', userIds: ['max'] },
      metadata: bareNaming,
      customList: json([{ userId: 'ada' }]),
      pageInfo: bareNaming,
      progress: bareNaming,
      actions: json([{ userId: 'ada' }]),
    });
  });

  test('return the same object when nothing changes', () => {
    const others = { ...thread, metadata: json({ owner: grace }), assignedTo: grace };
    const later = { ...thread, assignedTo: ada, createdAt: UNTIL + 1 };
    for (const thread of [others, later])
      expect([removeFromThread(thread, removed), eraseFromThread(thread, removed)]).toEqual([thread, thread]);
    expect([
      removeFromThread(others, removed) === others,
      eraseFromThread(others, removed) === others,
      eraseFromThread(later, removed) === later,
    ]).toEqual([true, true, true]);
  });
});

describe('rules for comments', () => {
  test('removeFromComment keeps only the id of the author', () => {
    expect(removeFromComment({ ...comment, from: ada }, removed)).toEqual({ ...comment, from: { userId: 'ada' } });
    expect(removeFromComment({ ...comment, from: ada, createdAt: UNTIL + 1 }, removed).from).toEqual(ada);
  });

  test('eraseFromComment keeps only the ids of mentioned and addressed users', () => {
    const before = {
      ...comment,
      to: json([ada, grace]),
      taggedUserContacts: json([
        { text: '@Ada', userId: 'ada', contact: ada },
        { text: '@Grace', contact: grace },
        { text: '@Ada', contact: ada },
      ]),
      metadata: json(naming),
      agent: json(naming),
      progress: json(naming),
      actions: json([ada]),
    };
    expect(eraseFromComment(before, removed)).toEqual({
      ...comment,
      to: json([{ userId: 'ada' }, grace]),
      metadata: bareNaming,
      agent: bareNaming,
      progress: bareNaming,
      actions: json([{ userId: 'ada' }]),
      taggedUserContacts: json([
        { userId: 'ada', contact: { userId: 'ada' } },
        { text: '@Grace', contact: grace },
        { contact: { userId: 'ada' } },
      ]),
    });
    expect(eraseFromComment({ ...before, createdAt: UNTIL + 1 }, removed)).toMatchObject({ to: before.to });
  });

  test('eraseFromComment reads 100 KB of quotes for 500 users in less than 50 ms of CPU', () => {
    const users = { userIds: new Set(times(500, String)), removedAt: UNTIL };
    const before = { ...comment, metadata: json({ list: times(33_000, () => '') }) };
    expect(cpuMilliseconds(() => eraseFromComment(before, users), { limit: 50 })).toBeLessThan(50);
  });
});

test('removeReactors removes users and returns undefined without users', () => {
  const reaction: Reaction = {
    annotationId: 'r',
    icon: 'heart',
    documentId: 'nda',
    createdAt: 1,
    lastUpdated: 9,
    fromUsers: [
      { from: ada, lastUpdated: 1 },
      { from: grace, lastUpdated: 2 },
    ],
  };
  expect(removeReactors(reaction, removed)).toEqual({ ...reaction, fromUsers: [{ from: grace, lastUpdated: 2 }] });
  expect(removeReactors({ ...reaction, fromUsers: [{ from: ada, lastUpdated: UNTIL }] }, removed)).toBeUndefined();
  const later = { ...reaction, fromUsers: [{ from: ada, lastUpdated: UNTIL + 1 }] };
  expect(removeReactors(later, removed)).toBe(later);
});

test('eraseFromReaction also removes profiles from the location', () => {
  const reaction: Reaction = {
    annotationId: 'r',
    icon: 'heart',
    location: json(naming),
    documentId: 'nda',
    createdAt: 1,
    lastUpdated: 9,
    fromUsers: [{ from: grace, lastUpdated: 2 }],
  };
  expect(eraseFromReaction(reaction, removed)).toEqual({ ...reaction, location: bareNaming });
  expect(eraseFromReaction({ ...reaction, fromUsers: [{ from: ada, lastUpdated: 1 }] }, removed)).toBeUndefined();
  const later = { ...reaction, createdAt: UNTIL + 1 };
  expect(eraseFromReaction(later, removed)).toBe(later);
});

test('eraseFromRecording removes profiles from the recordings of others', () => {
  expect(eraseFromRecording({ ...recording, transcription: json(naming) }, removed)).toEqual({
    ...recording,
    transcription: bareNaming,
  });
  expect(eraseFromRecording(recording, removed)).toBe(recording);
});

describe('rules for notifications', () => {
  test('removeFromNotification removes recipients and returns undefined without recipients', () => {
    expect(removeFromNotification(notification, removed)).toEqual({
      ...notification,
      notifyUsers: [{ userId: 'max' }],
    });
    const alone = { ...notification, notifyUsers: [{ userId: 'ada' }] };
    expect(removeFromNotification(alone, removed)).toBeUndefined();
    expect(removeFromNotification({ ...alone, notifyAll: true }, removed)).toEqual({
      ...alone,
      notifyAll: true,
      notifyUsers: [],
    });
    expect(removeFromNotification({ ...alone, createdAt: UNTIL + 1 }, removed)).toEqual({
      ...alone,
      createdAt: UNTIL + 1,
    });
  });

  test('removeFromNotification keeps the id of the actor, and eraseFromNotification returns undefined', () => {
    const caused = { ...notification, actionUser: ada };
    expect(removeFromNotification(caused, removed)).toMatchObject({ actionUser: { userId: 'ada' } });
    expect(removeFromNotification(caused, removed)?.actionUser).toEqual({ userId: 'ada' });
    expect(eraseFromNotification(caused, removed)).toBeUndefined();
  });

  test('eraseFromNotification removes readers, profiles, author and quote', () => {
    const before: Notification = {
      ...notification,
      readByUserIds: ['ada'],
      displayHeadlineMessageTemplateData: json({ recipientUser: ada }),
      displayBodyMessage: 'Said by Ada',
      thread: {
        annotationId: 't',
        createdAt: 1,
        authorId: 'ada',
        visibility: { type: 'restricted', userIds: ['ada'] },
      },
      notificationSourceData: json({ annotationId: 't', commentId: 3, commentText: 'Said by Ada' }),
    };
    expect(quotedComment(before)).toEqual({ annotationId: 't', threadCreatedAt: 1, commentId: 3 });
    expect(eraseFromNotification(before, removed, true)).toEqual({
      ...notification,
      notifyUsers: [{ userId: 'max' }],
      displayHeadlineMessageTemplateData: json({ recipientUser: { userId: 'ada' } }),
      displayBodyMessage: '',
      thread: { annotationId: 't', createdAt: 1, authorId: '', visibility: { type: 'restricted', userIds: [] } },
      notificationSourceData: json({ annotationId: 't', commentId: 3 }),
    });
    expect(eraseFromNotification(before, removed)).toMatchObject({ displayBodyMessage: 'Said by Ada' });
    expect(quotedComment(eraseFromNotification(before, removed, true) as Notification)).toBeUndefined();
  });
});

describe('rules for activities', () => {
  test('eraseFromActivity returns undefined for an erased actor', () => {
    expect(eraseFromActivity({ ...activity, actionUser: ada }, removed)).toBeUndefined();
    expect(eraseFromActivity(activity, removed)).toBe(activity);
  });

  test('eraseFromActivity keeps activities of other users without profiles', () => {
    const before = {
      ...activity,
      entityData: json({ from: grace, assignedTo: ada }),
      changes: json({ assignedTo: { from: 'ada', to: 'max' } }),
      displayMessageTemplateData: json({ actionUser: 'Grace', user: ada }),
    };
    expect(eraseFromActivity(before, removed)).toEqual({
      ...before,
      entityData: json({ from: grace, assignedTo: { userId: 'ada' } }),
      displayMessageTemplateData: json({ actionUser: 'Grace', user: { userId: 'ada' } }),
    });
  });

  test('eraseFromActivity removes snapshots of erased users with their changes', () => {
    const before = {
      ...activity,
      entityData: json({ from: ada, status: 'x' }),
      entityTargetData: json({ from: ada, commentText: 'by Ada' }),
      changes: json({ commentText: { from: 'by Ada', to: 'by Grace' } }),
    };
    expect(eraseFromActivity(before, removed)).toEqual(activity);
  });
});

/** Generates a value that a customer can store, with users at any depth. */
const own = fc.letrec((tie) => ({
  user: fc.record(
    { userId: fc.constantFrom('ada', 'grace', 'ada2'), name: fc.string(), email: fc.string(), role: fc.string() },
    { requiredKeys: ['userId'] },
  ),
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.integer(),
    fc.constant(null),
    tie('user'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'name', 'userId')), tie('value'), { maxKeys: 3 }),
  ),
})).value;

testProperty(
  'eraseFromComment removes personal fields beside an erased userId at any depth, and nothing else',
  [own],
  (value) => {
    const before = { ...comment, metadata: json({ value }) };
    const after = eraseFromComment(before, removed);
    const expected = JSON.parse(before.metadata, (_key, part) => {
      if (part?.userId !== 'ada' || !Object.hasOwn(part, 'userId')) return part;
      const { name: _name, email: _email, ...rest } = part;
      return rest;
    });
    expect(JSON.parse(after.metadata!)).toEqual(expected);
    expect(eraseFromComment(after, removed)).toBe(after);
    if (!before.metadata.includes('"ada"')) expect(after).toBe(before);
  },
  { numRuns: 500 },
);
