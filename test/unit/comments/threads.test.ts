import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { changeComment, newComments, replaceCommentUsers } from '../../../lib/comments/rules/commentChanges.ts';
import { NewComment, NewComments } from '../../../lib/comments/rules/commentRequests.ts';
import { toCommentResponse } from '../../../lib/comments/rules/commentResponses.ts';
import { type Comment, commentMentions, usersOfComment } from '../../../lib/comments/rules/comments.ts';
import { isTerminal, resolveStatus } from '../../../lib/comments/rules/statuses.ts';
import {
  addComments,
  changeComments,
  changeThread,
  newThread,
  type Refused,
  removeComments,
} from '../../../lib/comments/rules/threadChanges.ts';
import { matchesFilters, type ThreadFilters } from '../../../lib/comments/rules/threadFilters.ts';
import { NewThread, ThreadChange } from '../../../lib/comments/rules/threadRequests.ts';
import { toThreadResponse } from '../../../lib/comments/rules/threadResponses.ts';
import { involvedUserIds, mentionedUserIds, type Thread } from '../../../lib/comments/rules/threads.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

const NOW = 1_000_000;
const LATER = NOW + 1;
const names = { apiKey: 'key', organization: { organizationId: 'acme' }, document: { documentId: 'nda' } };
const scope = { annotationId: 'a', documentId: 'nda', now: NOW };
const inThread = { annotationId: 'a', threadCreatedAt: NOW, createdAt: NOW, now: NOW };
const from = { userId: 'ada' };

/** Returns a thread in the form that requests have. By default it has one comment of Ada. */
function sent(changes: object = {}) {
  return NewThread.parse({ commentData: [{ commentText: 'hi', from }], ...changes });
}

function done<T extends object>(outcome: T): Exclude<T, Refused> {
  if ('refused' in outcome) throw new Error(String(outcome.refused));
  return outcome as Exclude<T, Refused>;
}

const make = (changes: object = {}) => done(newThread(sent(changes), scope));
const change = (thread: Thread, changes: object, actorId?: string) =>
  done(changeThread(thread, ThreadChange.parse(changes), { actorId, now: LATER }));
const status = (thread: Thread) => JSON.parse(thread.status) as object;
const issues = (schema: typeof NewThread | typeof NewComment | typeof NewComments, data: unknown) =>
  schema.safeParse(data).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);

describe('newThread', () => {
  test('is open and has the author of its first comment, with comment ids from 1', () => {
    const { thread, comments } = make({
      commentData: [
        { commentText: 'hi', from: { userId: 'ada', name: 'Ada' } },
        { commentHtml: '<b>ho</b>', from: { userId: 'bob' } },
      ],
    });
    expect(thread).toMatchObject({
      from: { userId: 'ada', name: 'Ada' },
      commentCount: 2,
      lastCommentId: 2,
      type: 'comment',
      sourceType: 'rest-api',
      createdAt: NOW,
      lastUpdated: NOW,
    });
    expect(status(thread)).toEqual({ id: 'OPEN', name: 'Open', type: 'default' });
    expect(comments.map(({ commentId }) => commentId)).toEqual([1, 2]);
  });

  test('keeps imported times and applies them to comments without times', () => {
    const { thread, comments } = make({
      createdAt: 5,
      commentData: [
        { commentText: 'x', from },
        { commentText: 'y', from, createdAt: 7, lastUpdated: '1970-01-01T00:00:00.009Z' },
      ],
    });
    expect(thread).toMatchObject({ createdAt: 5, lastUpdated: 5, first: { commentId: 1, createdAt: 5 } });
    expect(comments).toMatchObject([
      { createdAt: 5, lastUpdated: 5, threadCreatedAt: 5 },
      { createdAt: 7, lastUpdated: 9, threadCreatedAt: 5 },
    ]);
  });

  test('continues after the comment ids of the caller', () => {
    expect(
      make({
        commentData: [
          { commentText: 'x', from },
          { commentText: 'x', from, commentId: 7 },
          { commentText: 'x', from },
        ],
      }).comments.map(({ commentId }) => commentId),
    ).toEqual([8, 7, 9]);
  });

  test('has type suggestion and status pending with a suggestion', () => {
    const type = 'suggestion';
    const sentThreads = [{ suggestion: { newText: 'a' } }, { type }, { type, suggestion: { status: 'accepted' } }, {}];
    expect(sentThreads.map(make).map(({ thread }) => [thread.type, thread.suggestion])).toEqual([
      [type, '{"newText":"a","status":"pending"}'],
      [type, '{"status":"pending"}'],
      [type, '{"status":"accepted"}'],
      ['comment', undefined],
    ]);
  });

  test('is resolved by its author with a terminal status', () => {
    expect(make({ status: 'RESOLVED' }).thread.resolvedByUserId).toBe('ada');
    expect(make({ status: 'OPEN' }).thread.resolvedByUserId).toBeUndefined();
  });

  test('stores the filterable fields of an agent', () => {
    const agent = {
      agentSource: 'external',
      agentId: 'lint',
      agentName: 'Lint',
      executionId: 'run-1',
      url: 'https://example.com',
      reason: { title: 't', description: 'd', severity: 'high', findingId: 'f', extra: 1 },
      mood: 'good',
    };
    const { thread, comments } = make({ commentData: [{ commentText: 'x', from: { userId: 'lint' }, agent }] });
    expect(thread).toMatchObject({
      sourceType: 'agent',
      agent: { agentId: 'lint', agentSource: 'external', executionId: 'run-1', url: 'https://example.com' },
    });
    expect(toCommentResponse(names, comments[0]!).agent).toEqual(agent);
  });

  test('rejects more than 256 KB of fields', () => {
    const large = { note: 'x'.repeat(60_000) };
    expect(
      issues(NewThread, {
        commentData: [{ commentText: 'x', from }],
        targetElement: large,
        metadata: large,
        suggestion: large,
        priority: { id: 'P', ...large },
        status: { id: 'S', ...large },
      }),
    ).toEqual([': must be at most 262144 bytes as JSON, comments aside']);
  });
});

describe('resolveStatus and changeThread', () => {
  test('accept a standard id or a status object', () => {
    expect(resolveStatus('IN_PROGRESS')).toEqual({ id: 'IN_PROGRESS', name: 'In Progress', type: 'ongoing' });
    expect(resolveStatus('MINE')).toEqual({ id: 'MINE' });
    expect(resolveStatus('constructor')).toEqual({ id: 'constructor' });
    expect(resolveStatus({ id: 'RESOLVED', color: 'red' })).toEqual({ id: 'RESOLVED', color: 'red' });
  });

  test.each([
    [{ id: 'RESOLVED' }, true],
    [{ id: 'DONE', type: 'terminal' }, true],
    [{ id: 'RESOLVED', type: 'ongoing' }, false],
    [{ id: 'OPEN' }, false],
    [{ id: 'DONE' }, false],
  ])('%j is terminal: %s', (status, expected) => {
    expect(isTerminal(status)).toBe(expected);
  });

  test('store the resolver with a terminal status and clear it with an open one', () => {
    const { thread } = make();
    const resolved = change(thread, { status: 'RESOLVED' }, 'eve');
    expect(resolved).toMatchObject({ resolvedByUserId: 'eve', statusUpdatedByUserId: 'eve', lastUpdated: LATER });
    expect(change(resolved, { status: { id: 'RESOLVED' } }, 'bob').statusUpdatedByUserId).toBe('eve');
    expect(change(thread, { status: 'RESOLVED', statusUpdatedByUserId: 'bob' }, 'eve').resolvedByUserId).toBe('bob');
    expect(
      change(thread, { status: 'RESOLVED', statusUpdatedByUserId: 'bob', resolvedByUserId: 'zoe' }, 'eve'),
    ).toMatchObject({ resolvedByUserId: 'zoe', statusUpdatedByUserId: 'bob' });
    expect(change(resolved, { status: { id: 'CLOSED', type: 'terminal' } }, 'bob')).toMatchObject({
      resolvedByUserId: 'eve',
      statusUpdatedByUserId: 'bob',
    });
    expect(change(resolved, { priority: 'P1' }, 'bob')).toMatchObject({
      resolvedByUserId: 'eve',
      statusUpdatedByUserId: 'eve',
    });
    const reopened = change(resolved, { status: 'OPEN' }, 'bob');
    expect(reopened.resolvedByUserId).toBeUndefined();
    expect(reopened.statusUpdatedByUserId).toBe('bob');
  });
});

describe('changeThread', () => {
  test('replaces a suggestion but keeps its status', () => {
    const { thread } = make({ suggestion: { newText: 'a', note: 'b' } });
    const accepted = change(thread, { suggestion: { status: 'accepted' } });
    expect(accepted.suggestion).toBe('{"status":"accepted"}');
    expect(change(accepted, { suggestion: { newText: 'c' } }).suggestion).toBe('{"newText":"c","status":"accepted"}');
  });

  test('updates the location with its key, and rejects an empty change', () => {
    const location = { id: 'x', page: 2 };
    const changed = change(make({ location: { id: 1 } }).thread, { location });
    expect(changed).toMatchObject({ location: JSON.stringify(location), locationKey: 'x' });
    expect(ThreadChange.safeParse({ status: null, unknown: 1 }).success).toBe(false);
  });

  test('rejects a change that makes a thread too large', () => {
    const large = { note: 'x'.repeat(65_000) };
    const { thread } = make({
      metadata: large,
      targetElement: large,
      suggestion: large,
      priority: { id: 'P', ...large },
    });
    expect(changeThread(thread, ThreadChange.parse({ status: { id: 'S', ...large } }), { now: LATER })).toEqual({
      refused: 'Annotation would be too large.',
    });
  });
});

describe('rules of comments', () => {
  const comment = (changes: object = {}): Comment =>
    newComments([NewComment.parse({ commentText: 'hi', from, ...changes })], 0, inThread)[0]!;

  const empty = ['commentText: must be given, or commentHtml, an attachment or isCommentResolverUsed'];
  test.each([
    [{}, empty],
    [{ commentText: '', commentHtml: '' }, empty],
    [{ attachments: [] }, empty],
    [{ isCommentResolverUsed: false }, empty],
    [{ commentText: 'x' }, undefined],
    [{ commentHtml: '<i>x</i>' }, undefined],
    [{ attachments: [{ attachmentId: 1 }] }, undefined],
    [{ isCommentResolverUsed: true }, undefined],
  ])('require a text, an attachment or a resolver: %j has the issues %j', (content, expected) => {
    expect(issues(NewComment, { from, ...content })).toEqual(expected);
  });

  test.each([
    [
      'an external agent without a name',
      { agent: { agentSource: 'external', agentId: 'a', reason: { title: 't', description: 'd', severity: 'low' } } },
      'agent.agentName: is required for external agents',
    ],
    [
      'somebody tagged without an id',
      { taggedUserContacts: [{ text: '@x' }] },
      'taggedUserContacts.0.userId: must be given, here or in contact',
    ],
    [
      'more than 50 users',
      { taggedUserContacts: times(50, (index) => ({ userId: `u${index}` })) },
      'taggedUserContacts: must not involve more than 50 users, together with from and to',
    ],
    [
      'more than 256 KB',
      { attachments: times(5, () => ({ note: 'x'.repeat(60_000) })) },
      ': must be at most 262144 bytes as JSON',
    ],
  ])('reject %s', (_what, changes, message) => {
    expect(issues(NewComment, { commentText: 'x', from, ...changes })?.join()).toContain(message);
  });

  test('reject a repeated id in a call', () => {
    const repeatedComment = { commentText: 'x', from, commentId: 1 };
    expect(issues(NewComments, [repeatedComment, repeatedComment])).toEqual(['1.commentId: is given twice']);
  });

  test('commentMentions returns tagged and addressed users once', () => {
    const mentioningComment = comment({
      taggedUserContacts: [{ userId: 'bob' }, { contact: { userId: 'eve', name: 'Eve' } }, { userId: 'bob' }],
      to: [{ userId: 'eve' }, { userId: 'zoe' }],
    });
    expect(commentMentions(mentioningComment)).toEqual(['bob', 'eve', 'zoe']);
    expect(usersOfComment(comment({ to: [{ userId: 'ada' }, { userId: 'bob' }] }))).toEqual([
      { userId: 'ada', made: true },
      { userId: 'bob', made: false },
    ]);
  });

  test('changeComment marks a comment as edited, keeps other fields and rejects an empty comment', () => {
    const before = { ...comment({ commentHtml: '<i>hi</i>' }), reactions: [{ id: 'r', createdAt: 1 }] };
    expect(changeComment(before, { commentText: 'ho' }, LATER)).toMatchObject({
      commentText: 'ho',
      commentHtml: '<i>hi</i>',
      reactions: before.reactions,
      isEdited: true,
      lastUpdated: LATER,
      createdAt: NOW,
    });
    expect(changeComment(comment(), { commentText: '' }, LATER)).toEqual({ refused: 'Comment would be empty.' });
  });

  test('toCommentResponse keeps attachments, context and metadata, and replaces reserved metadata', () => {
    const attachments = JSON.parse('[{"attachmentId":1,"__proto__":{"x":1}}]');
    const response = toCommentResponse(
      names,
      comment({
        attachments,
        metadata: { mine: 1, apiKey: 'no' },
        context: { access: { team: ['b', 'a'], level: 2 } },
      }),
    );
    expect(response).toEqual({
      commentId: 1,
      type: 'text',
      status: 'added',
      commentText: 'hi',
      from: { userId: 'ada' },
      attachments,
      isEdited: false,
      reactionAnnotationIds: [],
      createdAt: NOW,
      lastUpdated: '1970-01-01T00:16:40.000Z',
      context: { access: { team: ['b', 'a'], level: 2 }, accessFields: ['level:2', 'team:a', 'team:b'] },
      metadata: { mine: 1, apiKey: 'key', organizationId: 'acme', documentId: 'nda' },
    });
    expect(Object.keys(response.attachments![0]!)).toEqual(['attachmentId', '__proto__']);
  });

  test('replaceCommentUsers replaces a user everywhere in a comment', () => {
    const before = comment({
      from: { userId: 'bob' },
      to: [{ userId: 'bob' }, { userId: 'eve' }],
      taggedUserContacts: [{ userId: 'bob', text: '@bob' }, { contact: { userId: 'bob' } }, { userId: 'eve' }],
    });
    const bobby = { userId: 'bobby', name: 'Bobby' };
    const after = replaceCommentUsers(before, (userId) => (userId === 'bob' ? bobby : undefined));
    expect(toCommentResponse(names, after)).toMatchObject({
      from: bobby,
      to: [bobby, { userId: 'eve' }],
      taggedUserContacts: [{ userId: 'bobby', text: '@bob' }, { contact: bobby }, { userId: 'eve' }],
    });
    expect(replaceCommentUsers(before, () => undefined)).toBe(before);
  });
});

describe('counts of a thread', () => {
  const userIds = ['ada', 'bob', 'eve', '__proto__'];
  const user = fc.constantFrom(...userIds);
  const comment = fc
    .record({ from: user, tagged: fc.uniqueArray(user, { maxLength: 3 }), to: fc.uniqueArray(user, { maxLength: 2 }) })
    .map(({ from: userId, tagged, to }) =>
      NewComment.parse({
        commentText: 'x',
        from: { userId },
        taggedUserContacts: tagged.map((userId) => ({ userId })),
        to: to.map((userId) => ({ userId })),
      }),
    );
  const step = fc.oneof(
    fc.record({ add: fc.array(comment, { minLength: 1, maxLength: 3 }) }),
    fc.record({ change: comment, at: fc.nat() }),
    fc.record({ remove: fc.array(fc.nat(), { minLength: 1, maxLength: 3 }) }),
  );

  testProperty(
    'match its comments after any operations, and no id is used twice',
    [fc.array(comment, { minLength: 1, maxLength: 4 }), fc.array(step, { maxLength: 15 })],
    (first, steps) => {
      let { thread, comments } = done(newThread({ ...sent(), commentData: first }, scope));
      const sentIds = new Set(comments.map(({ commentId }) => commentId));
      for (const step of steps) {
        if ('add' in step) {
          const added = newComments(step.add, thread.lastCommentId, inThread);
          for (const { commentId } of added) expect(sentIds.has(commentId)).toBe(false);
          for (const { commentId } of added) sentIds.add(commentId);
          thread = done(addComments(thread, added, LATER));
          comments = [...comments, ...added];
        } else if ('change' in step) {
          const before = comments[step.at % comments.length]!;
          const { taggedUserContacts, to, from } = step.change;
          const after = done(changeComment(before, { taggedUserContacts, to, from }, LATER));
          thread = done(changeComments(thread, [before], [after], LATER));
          comments = comments.map((each) => (each === before ? after : each));
        } else {
          const deletedComments = [...new Set(step.remove.map((index) => comments[index % comments.length]!))];
          const remainingComments = comments.filter((each) => !deletedComments.includes(each));
          if (remainingComments.length === 0) continue;
          const isRemoved = (commentId: number) => deletedComments.some((each) => each.commentId === commentId);
          thread = removeComments(
            thread,
            deletedComments,
            {
              first: isRemoved(thread.first.commentId) ? remainingComments[0] : undefined,
              last: isRemoved(thread.last.commentId) ? remainingComments.at(-1) : undefined,
            },
            LATER,
          );
          comments = remainingComments;
        }
        const last = comments.at(-1)!;
        expect(thread.commentCount).toBe(comments.length);
        expect(thread.last).toEqual({ commentId: last.commentId, userId: last.from.userId });
        expect(comments.map(({ commentId }) => commentId)).toContain(thread.first.commentId);
        expect(mentionedUserIds(thread).toSorted()).toEqual([...new Set(comments.flatMap(commentMentions))].toSorted());
        expect(involvedUserIds(thread).toSorted()).toEqual(
          [...new Set(comments.flatMap((each) => usersOfComment(each).map(({ userId }) => userId)))].toSorted(),
        );
      }
    },
  );

  test('include the assignee among the participants', () => {
    expect(involvedUserIds(make({ assignedTo: { userId: 'zoe' } }).thread)).toEqual(['ada', 'zoe']);
  });

  test('addComments rejects a comment if the thread would involve too many users', () => {
    const { thread } = make();
    const long = (index: number) => `${String(index).padStart(4, '0')}${'字'.repeat(500)}`;
    const crowd = (first: number) => {
      const taggedUserContacts = times(30, (index) => ({ userId: long(first + index) }));
      return newComments([NewComment.parse({ commentText: 'x', from, taggedUserContacts })], 1, inThread);
    };
    const grown = done(addComments(thread, crowd(0), LATER));
    expect(addComments(grown, crowd(30), LATER)).toEqual({ refused: 'Annotation would involve too many users.' });
    expect(done(addComments(grown, crowd(0), LATER)).commentCount).toBe(3);
  });
});

// Each other filter and two together: contract/filters.test.ts.
describe('matchesFilters', () => {
  test.each<[ThreadFilters, ThreadFilters]>([
    [{ annotationIds: ['b', 'a'] }, { annotationIds: ['b'] }],
    [{ mentionedUserIds: ['bob'] }, { mentionedUserIds: ['ada', 'zoe'] }],
    [{ createdAfter: 100, createdBefore: 101 }, { createdBefore: 100 }],
    [{ createdAfter: 99 }, { createdAfter: 101 }],
    [{ agentComments: false }, { agentComments: true }],
  ])('accepts %j and rejects %j', (met, unmet) => {
    const commentData = [{ commentText: 'x', from, to: [{ userId: 'bob' }] }];
    const { thread } = make({ createdAt: 100, assignedTo: { userId: 'zoe' }, commentData });
    expect(matchesFilters(thread, met)).toBe(true);
    expect(matchesFilters(thread, unmet)).toBe(false);
  });

  test('rejects a thread without agent, location or resolver if a filter names one', () => {
    const plain = make().thread;
    for (const filters of [
      { locationIds: ['undefined'] },
      { resolvedBy: 'undefined' },
      { agentId: 'lint' },
      { agentUrls: ['x'] },
    ])
      expect(matchesFilters(plain, filters)).toBe(false);
  });
});

test('toThreadResponse returns every field as the caller sent it', () => {
  const own = JSON.parse('{"__proto__":{"a":1},"deep":[{"b":null}]}');
  const whole = {
    targetElement: own,
    priority: { id: 'P1', ...own },
    status: { id: 'MINE', ...own },
    suggestion: { status: 'pending', ...own },
    location: { id: 0, ...own },
    metadata: { ...own, documentId: 'mine' },
    customList: [own],
    commentType: 'chart',
    visibility: { type: 'restricted', userIds: ['bob'] },
    context: { access: { team: 'a' } },
    subscribedUsers: [{ userId: 'eve' }],
    unsubscribedUsers: [{ userId: 'bob' }],
    assignedTo: { userId: 'zoe' },
  };
  const { thread, comments } = make(whole);
  const response = toThreadResponse(names, { thread, comments, more: true });
  expect(response).toMatchObject({
    ...whole,
    locationId: '0',
    context: { access: { team: 'a' }, accessFields: ['team:a'] },
    hasMoreComments: true,
    commentCount: 1,
    metadata: { apiKey: 'key', organizationId: 'acme', documentId: 'nda', deep: own.deep },
  });
  for (const object of [
    response.targetElement,
    response.priority,
    response.status,
    response.suggestion,
    response.location,
    response.metadata,
    response.customList![0],
  ])
    expect(Object.keys(object as object)).toContain('__proto__');
});
