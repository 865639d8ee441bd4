import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type CommentVerb,
  type ContentChange,
  detectThreadChanges,
  type EventScope,
  toActivities,
  toEvents,
} from '../../../lib/comments/rules/commentEvents.ts';
import { changeThread, newThread } from '../../../lib/comments/rules/threadChanges.ts';
import { NewThread, ThreadChange } from '../../../lib/comments/rules/threadRequests.ts';
import type { Thread } from '../../../lib/comments/rules/threads.ts';
import { triggerTypes } from '../../../lib/events/rules/catalogue.ts';
import { commentVerbs } from '../../../lib/workspaces/rules/groupedTriggers.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

const NOW = 1_000_000;
const eventScope: EventScope = {
  names: {
    apiKey: 'key',
    organization: { organizationId: 'acme', organizationName: 'Acme', metadata: '{"plan":"pro"}' },
    document: { documentId: 'nda', documentName: 'NDA', folder: { folderId: 'contracts' } },
  },
  scope: { organizationKey: 'org_1', documentKey: 'doc_1' },
  now: NOW,
};
const ada = { userId: 'ada', name: 'Ada' };

function make(changes: object = {}) {
  const made = newThread(NewThread.parse({ commentData: [{ commentText: 'hi', from: ada }], ...changes }), {
    annotationId: 'a',
    documentId: 'nda',
    now: NOW,
  });
  if ('refused' in made) throw new Error(made.refused);
  return made;
}

function change(thread: Thread, changes: object): Thread {
  const changed = changeThread(thread, ThreadChange.parse(changes), { now: NOW + 1 });
  if ('refused' in changed) throw new Error(changed.refused);
  return changed;
}

const threadChange = (changes: Partial<ContentChange> = {}): ContentChange => ({
  verb: 'added',
  actor: ada,
  revision: 1,
  notify: true,
  log: true,
  thread: make().thread,
  ...changes,
});
const event = (changes: Partial<ContentChange> = {}) => {
  const [only, ...more] = toEvents([threadChange(changes)], eventScope);
  expect(more).toEqual([]);
  return only!;
};

describe('detectThreadChanges', () => {
  const changes: [string, object, CommentVerb[]][] = [
    ['its status', { status: 'RESOLVED' }, ['statusChanged']],
    ['its status to the same one', { status: 'OPEN' }, []],
    ['its status to the id of the same one', { status: { id: 'OPEN' } }, []],
    ['the type of its status', { status: { id: 'OPEN', type: 'terminal' } }, ['statusChanged']],
    ['its assignee', { assignedTo: { userId: 'bob' } }, ['assigned']],
    ['the name of its assignee', { assignedTo: { userId: 'zoe', name: 'Zoe' } }, []],
    ['its priority', { priority: { id: 'P1' } }, ['priorityChanged']],
    ['its priority to the same one', { priority: 'P0' }, []],
    ['the name of its priority', { priority: { id: 'P0', name: 'High' } }, []],
    ['its list', { customList: [{ id: 1 }] }, ['customListChanged']],
    ['its list to the same empty one', { customList: [] }, []],
    ['who sees it to the same users', { visibility: { type: 'public' } }, []],
    ['who sees it', { visibility: { type: 'restricted', userIds: [] } }, ['accessModeChanged']],
    ['its subscribers', { subscribedUsers: [{ userId: 'bob' }] }, ['subscribed']],
    ['its subscribers to fewer', { subscribedUsers: [] }, []],
    ['who unsubscribed', { unsubscribedUsers: [{ userId: 'bob' }] }, ['unsubscribed']],
    ['its suggestion to accepted', { suggestion: { status: 'accepted' } }, ['suggestionAccepted']],
    ['its suggestion to rejected', { suggestion: { status: 'rejected' } }, ['suggestionRejected']],
    ['the text of its suggestion', { suggestion: { newText: 'x' } }, []],
    [
      'its location and target',
      { location: { id: 2 }, targetElement: { a: 1 }, context: { access: { team: 'a' } }, metadata: { a: 1 } },
      [],
    ],
    [
      'several things',
      { suggestion: { status: 'accepted' }, status: 'IN_PROGRESS', assignedTo: { userId: 'bob' } },
      ['statusChanged', 'assigned', 'suggestionAccepted'],
    ],
  ];
  const { thread } = make({
    suggestion: {},
    assignedTo: { userId: 'zoe' },
    priority: 'P0',
    subscribedUsers: [{ userId: 'eve' }],
  });

  test.each(changes)('returns the verb for a change of %s', (_what, sent, verbs) => {
    expect(detectThreadChanges(thread, change(thread, sent)).map(({ verb }) => verb)).toEqual(verbs);
  });

  testProperty(
    'returns one change per changed field',
    [fc.subarray(changes.filter(([, , verbs]) => verbs.length === 1))],
    (chosenChanges) => {
      // If several changes set the same field, the last one is sent.
      const sent = Object.assign({}, ...chosenChanges.map(([, sentFields]) => sentFields)) as Record<string, unknown>;
      const expected = chosenChanges
        .filter(([, sentFields]) => Object.entries(sentFields).every(([field, value]) => sent[field] === value))
        .flatMap(([, , verbs]) => verbs);
      fc.pre(Object.keys(sent).length > 0);
      expect(new Set(detectThreadChanges(thread, change(thread, sent)).map(({ verb }) => verb))).toEqual(
        new Set(expected),
      );
    },
  );

  test('returns a change back to the old status', () => {
    const there = change(thread, { status: 'RESOLVED' });
    expect(detectThreadChanges(there, change(there, { status: 'OPEN' }))).toEqual([
      {
        verb: 'statusChanged',
        from: { id: 'RESOLVED', name: 'Resolved', type: 'terminal' },
        to: { id: 'OPEN', name: 'Open', type: 'default' },
      },
    ]);
  });
});

describe('toEvents', () => {
  test('returns an event for each verb of a change that notifies', () => {
    expect(toEvents([threadChange({ notify: false })], eventScope)).toEqual([]);
    const verbs = Object.keys(commentVerbs) as CommentVerb[];
    const eventTypes = verbs.flatMap((verb) =>
      toEvents([threadChange({ verb, from: { id: 'A' }, to: { id: 'B' } })], eventScope).map(
        (contentEvent) => contentEvent.event,
      ),
    );
    const triggered = triggerTypes.filter((type) => type.startsWith('comment'));
    expect(eventTypes.toSorted()).toEqual([...triggered, 'comment_annotation.access_mode_change'].toSorted());
  });

  test('returns actor, thread, comment and metadata', () => {
    const { thread, comments } = make({
      location: { id: 1 },
      commentData: [
        { commentText: 'hi', from: ada },
        { commentText: 'ho', from: { userId: 'bob' } },
      ],
    });
    const { payload, organizationId, documentId } = event({ thread, comment: comments[1] });
    expect({ organizationId, documentId, source: payload.source }).toEqual({
      organizationId: 'acme',
      documentId: 'nda',
      source: 'comment',
    });
    expect(payload.data).toMatchObject({
      actionUser: ada,
      commentAnnotation: {
        annotationId: 'a',
        commentCount: 2,
        hasMoreComments: true,
        comments: [{ commentId: 2, commentText: 'ho' }],
      },
      targetComment: { commentId: 2, commentText: 'ho' },
    });
    expect(payload.data.metadata).toEqual({
      apiKey: 'key',
      organization: { plan: 'pro', organizationId: 'acme', organizationName: 'Acme' },
      document: { documentId: 'nda', documentName: 'NDA' },
      folderId: 'contracts',
      locations: [{ id: 1 }],
    });
    for (const absent of ['oldStatus', 'newStatus', 'newPriority', 'visibility', 'truncated'])
      expect(payload.data).not.toHaveProperty(absent);
  });

  test('addresses mentioned users, assignee and author, and adds other participants and subscribers as following', () => {
    const { thread, comments } = make({
      assignedTo: { userId: 'zoe' },
      subscribedUsers: [{ userId: 'sub' }, { userId: 'out' }],
      unsubscribedUsers: [{ userId: 'out' }, { userId: 'bob' }],
      commentData: [
        { commentText: 'x', from: ada, to: [{ userId: 'old' }] },
        { commentText: 'y', from: { userId: 'bob' } },
        { commentText: 'z', from: { userId: 'eve' }, taggedUserContacts: [{ userId: 'new' }] },
      ],
    });
    expect(event({ thread, comment: comments[2], actor: { userId: 'eve' } }).payload.audience).toMatchObject({
      actorId: 'eve',
      addressed: ['new', 'zoe', 'ada'],
      following: ['old', 'eve', 'sub'],
    });
  });

  test('leaves out users who unsubscribed, unless it mentions them or assigns the thread to them', () => {
    const { thread, comments } = make({
      assignedTo: { userId: 'zoe' },
      unsubscribedUsers: [ada, { userId: 'zoe' }, { userId: 'bob' }],
      commentData: [
        { commentText: 'x', from: ada },
        { commentText: 'y', from: { userId: 'eve' }, to: [{ userId: 'bob' }] },
      ],
    });
    const [byAda, byEve] = comments;
    const reaction = {
      annotationId: 'r',
      type: 'reaction' as const,
      icon: 'up',
      fromUsers: [],
      createdAt: NOW,
      lastUpdated: NOW,
      metadata: { apiKey: 'key', organizationId: 'acme', documentId: 'nda' },
    };
    const addressed = (change: Partial<ContentChange>) =>
      event({ thread, actor: { userId: 'eve' }, ...change }).payload.audience?.addressed;
    expect(addressed({ verb: 'added', comment: byEve })).toEqual(['bob']);
    expect(addressed({ verb: 'statusChanged', from: { id: 'OPEN' }, to: { id: 'X' } })).toEqual([]);
    expect(addressed({ verb: 'assigned' })).toEqual(['zoe']);
    expect(addressed({ verb: 'newlyAdded', comment: byEve })).toEqual(['bob', 'zoe']);
    expect(addressed({ verb: 'reactionAdded', comment: byAda, reaction })).toEqual([]);
  });

  test('gives every change, comment, document and time a distinct cause', () => {
    const {
      thread,
      comments: [comment],
    } = make();
    const other = make({ commentData: [{ commentId: 2, commentText: 'x', from: ada }] }).comments[0];
    const causes = [
      toEvents([threadChange({ comment })], eventScope),
      toEvents([threadChange({ comment: other })], eventScope),
      toEvents([threadChange({})], eventScope),
      toEvents([threadChange({ revision: 2 })], eventScope),
      toEvents([threadChange()], { ...eventScope, now: NOW + 1 }),
      toEvents([threadChange()], { ...eventScope, scope: { organizationKey: 'org_1', documentKey: 'doc_2' } }),
      toEvents([threadChange({ thread: { ...thread, annotationId: 'b' } })], eventScope),
    ].map(([contentEvent]) => JSON.stringify(contentEvent!.cause));
    expect(new Set(causes).size).toBe(causes.length);
    expect(JSON.stringify(toEvents([threadChange({ comment })], eventScope)[0]!.cause)).toBe(causes[0]);
  });

  test('reduces an event above 256 KB to ids, and sets truncated to true', () => {
    const long = (index: number) => `${index}${'字'.repeat(500)}`;
    const commentData = times(49, () => ({
      commentText: 'x'.repeat(30_000),
      from: { userId: long(0), name: '字'.repeat(512) },
      to: [{ userId: 'bob', name: 'Bob' }],
      context: { access: { team: 'red' } },
    }));
    const { thread, comments } = make({
      commentData,
      subscribedUsers: times(50, (index) => ({ userId: long(index) })),
      visibility: { type: 'restricted', userIds: times(20, (index) => long(index)) },
      status: { id: 'S', note: 'x'.repeat(60_000) },
      assignedTo: { userId: 'zoe', name: 'Zoe' },
    });
    const { payload } = event({
      verb: 'statusChanged',
      thread,
      comments,
      comment: comments[0],
      from: { id: 'OPEN', note: 'x' },
      to: JSON.parse(thread.status),
    });
    expect(Buffer.byteLength(JSON.stringify(payload))).toBeLessThanOrEqual(256 * 1024);
    expect(payload.data).toMatchObject({
      truncated: true,
      actionUser: { userId: 'ada' },
      oldStatus: { id: 'OPEN' },
      newStatus: { id: 'S' },
      commentAnnotation: {
        annotationId: 'a',
        from: { userId: long(0) },
        assignedTo: { userId: 'zoe' },
        commentCount: 49,
        comments: comments.map(({ commentId }) => ({ commentId })),
      },
      targetComment: { commentId: 1, from: { userId: long(0) }, to: [{ userId: 'bob' }] },
      metadata: { apiKey: 'key', organization: { organizationId: 'acme' }, document: { documentId: 'nda' } },
      visibility: thread.visibility,
    });
    expect(payload.audience).toMatchObject({ addressed: ['bob', 'zoe', long(0)], accessFields: ['team:red'] });
  });

  test('notifies nobody of an event whose access contexts alone have more than 256 KB', () => {
    const context = (name: number) => ({ access: { [name]: times(200, (index) => `${index}`.padEnd(290, 'x')) } });
    const { thread, comments } = make({
      context: context(0),
      commentData: times(10, (index) => ({ commentText: 'x', from: ada, context: context(index) })),
    });
    const { payload } = event({ verb: 'deleted', isThreadDeletion: true, thread, comments });
    expect(Buffer.byteLength(JSON.stringify(payload))).toBeLessThanOrEqual(256 * 1024);
    expect(payload.data.truncated).toBe(true);
    expect(payload.audience).toEqual({
      actorId: 'ada',
      addressed: [],
      following: [],
      thread: expect.objectContaining({ annotationId: 'a', documentKey: 'doc_1', accessFields: undefined }),
    });
  });
});

describe('toActivities', () => {
  const activity = (changes: Partial<ContentChange>, enabled: (verb: CommentVerb) => boolean = () => true) =>
    toActivities([threadChange(changes)], eventScope, enabled);

  test('returns an activity only for a change that logs and an enabled verb', () => {
    expect(activity({ log: false })).toEqual([]);
    expect(activity({}, (verb) => verb !== 'added')).toEqual([]);
    expect(activity({}, (verb) => verb === 'added')).toHaveLength(1);
  });

  test('returns actor, thread, comment and changes', () => {
    const {
      thread,
      comments: [comment],
    } = make();
    expect(activity({ comment })).toMatchObject([
      {
        featureType: 'comment',
        actionType: 'comment.add',
        actionUser: ada,
        targetEntityId: 'a',
        targetSubEntityId: '1',
        changes: undefined,
        entityData: { annotationId: 'a', comments: [] },
        entityTargetData: { commentId: 1 },
        displayMessageTemplate: '{{actionUser}} added a comment',
        displayMessageTemplateData: { actionUser: 'Ada' },
      },
    ]);
    expect(activity({ verb: 'statusChanged', thread, from: { id: 'A' }, to: { id: 'B' } })).toMatchObject([
      {
        actionType: 'comment_annotation.status_change',
        changes: { status: { from: { id: 'A' }, to: { id: 'B' } } },
        targetSubEntityId: undefined,
      },
    ]);
  });

  test('distinguishes the deletion of a comment from the deletion of a thread', () => {
    const {
      comments: [comment],
    } = make();
    expect(
      [{ comment }, { comment, isThreadDeletion: true }, { isThreadDeletion: true }].map(
        (change) => activity({ verb: 'deleted', ...change })[0]!.actionType,
      ),
    ).toEqual(['comment.delete', 'comment_annotation.delete', 'comment_annotation.delete']);
  });
});
