import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addReactionUsers,
  addReference,
  groupEntries,
  type NewReactionContext,
  type Reaction,
  type ReactionEntry,
  type ReactionOutcome,
  type ReactionReference,
  type ReactionRequest,
  toReactionResponse,
} from '../../../lib/reactions/rules.ts';
import { times } from '../../support/times.ts';

const ada = { userId: 'ada', name: 'Ada' };
const bob = { userId: 'bob' };
const eve = { userId: 'eve' };
const on = { annotationId: 'thread', commentId: 7 };
const scope = { documentId: 'document' };
const contextOnComment = { ...scope, on: { ...on, threadCreatedAt: 500 }, threadLocation: '{"id":"page-1"}' };
const NOW = 1_000;
const LATER = 2_000;

function entry(changes: Partial<ReactionEntry> = {}): ReactionEntry {
  return { annotationId: 'r', icon: '👍', from: ada, ...changes };
}

/** Groups entries into reactions. Expects that there is only one, and returns it. */
function reacting(...entries: ReactionEntry[]) {
  const reactions = groupEntries(entries);
  expect(reactions).toHaveLength(1);
  return reactions[0]!;
}

function done(outcome: ReactionOutcome) {
  if ('refused' in outcome) throw new Error(outcome.refused);
  return outcome;
}

/** Adds the users of a request to a reaction. */
const reactAll = (stored: Reaction | undefined, entries: ReactionRequest, context: NewReactionContext, now: number) =>
  addReactionUsers(stored, entries, entries.users, context, now);
const made = (...entries: ReactionEntry[]) => done(reactAll(undefined, reacting(...entries), scope, NOW)).reaction;
const onComment = (changes: object = {}) =>
  done(reactAll(undefined, reacting(entry({ on, ...changes })), contextOnComment, NOW)).reaction;
const userIds = ({ fromUsers }: Reaction) => fromUsers.map(({ from }) => from.userId);

describe('addReactionUsers', () => {
  test('stores users, time and document', () => {
    expect(made(entry())).toEqual({
      annotationId: 'r',
      icon: '👍',
      fromUsers: [{ from: ada, lastUpdated: NOW }],
      documentId: 'document',
      createdAt: NOW,
      lastUpdated: NOW,
    });
  });

  test('stores its own location with its key, or that of the thread without a key', () => {
    expect(onComment()).toMatchObject({
      on: contextOnComment.on,
      location: '{"id":"page-1"}',
      locationKey: undefined,
    });
    expect(onComment({ location: { id: 2, locationName: 'Page 2' } })).toMatchObject({
      location: '{"id":2,"locationName":"Page 2"}',
      locationKey: '2',
    });
  });

  test('adds another user at the end, and changes nothing for the same user', () => {
    const stored = made(entry());
    const { reaction, added } = done(reactAll(stored, reacting(entry({ from: bob })), scope, LATER));
    expect(reaction.fromUsers).toEqual([
      { from: ada, lastUpdated: NOW },
      { from: bob, lastUpdated: LATER },
    ]);
    expect(added).toEqual([bob]);
    expect(reactAll(stored, reacting(entry({ from: { ...ada, name: 'Ada Lovelace' } })), scope, LATER)).toEqual({
      reaction: stored,
      added: [],
    });
  });

  const ELSEWHERE = 'Reaction belongs to another comment or document.';
  test.each([
    ['another icon', made(entry()), { icon: '👎' }, 'Reaction has another icon.'],
    ['another comment of the thread', onComment(), { on: { ...on, commentId: 8 } }, ELSEWHERE],
    ['the same number in another thread', onComment(), { on: { ...on, annotationId: 'other' } }, ELSEWHERE],
    ['a comment for a reaction on the document', made(entry()), { on }, ELSEWHERE],
  ])('refuses %s', (_what, stored, changes, refused) => {
    expect(reactAll(stored, reacting(entry({ from: bob, ...changes })), contextOnComment, LATER)).toEqual({ refused });
  });

  test('accepts a request without a comment', () => {
    const { reaction } = done(reactAll(onComment(), reacting(entry({ from: bob })), scope, LATER));
    expect(reaction.on).toEqual(contextOnComment.on);
  });
});

describe('limits of reactions', () => {
  const crowd = (count: number, more: object = {}) =>
    times(count, (index) => entry({ from: { userId: `user-${index}`, ...more } }));

  test('reject more than 50 users', () => {
    const full = made(...crowd(50));
    expect(userIds(full)).toHaveLength(50);
    expect(reactAll(full, reacting(entry()), scope, LATER)).toEqual({ refused: 'Reaction can have at most 50 users.' });
    expect(reactAll(full, reacting(entry({ from: { userId: 'user-49' } })), scope, LATER)).toEqual({
      reaction: full,
      added: [],
    });
  });

  test('count all users of the call, so that all are added or none', () => {
    const all = reacting(...crowd(51));
    expect(addReactionUsers(undefined, all, all.users.slice(0, 5), scope, NOW)).toEqual({
      refused: 'Reaction can have at most 50 users.',
    });
    const fits = reacting(...crowd(50));
    const first = done(addReactionUsers(undefined, fits, fits.users.slice(0, 5), scope, NOW));
    expect(first.added).toEqual(fits.users.slice(0, 5));
    expect(first.reaction.fromUsers.map(({ from }) => from)).toEqual(first.added);
  });

  test('reject users that exceed the size of an item', () => {
    const photoUrl = '字'.repeat(2_048);
    const stored = made(...crowd(40, { photoUrl }));
    expect(reactAll(stored, reacting(...crowd(50, { photoUrl })), scope, LATER)).toEqual({
      refused: 'Reaction is too large.',
    });
  });

  test('limit a comment to 200 references to reactions with at most 64 KB', () => {
    const names = (count: number, id: (index: number) => string): ReactionReference[] =>
      times(count, (index) => ({ id: id(index), createdAt: 1 }));
    const reaction = made(entry());
    expect(addReference(names(199, String), reaction)).toHaveLength(200);
    expect(addReference(names(200, String), reaction)).toBeUndefined();
    const long = (index: number) => `${'字'.repeat(510)}${index}`;
    expect(addReference(names(41, long), reaction)).toHaveLength(42);
    expect(addReference(names(43, long), reaction)).toBeUndefined();
  });

  test('keep one reference if the comment already refers to the reaction', () => {
    const names = [{ id: 'r', createdAt: NOW }];
    expect(addReference(names, made(entry()))).toBe(names);
  });
});

describe('groupEntries', () => {
  test('returns the distinct users of entries with the same id', () => {
    expect(
      groupEntries([
        entry(),
        entry({ annotationId: 's' }),
        entry({ from: bob, on }),
        entry({ from: { userId: 'ada' } }),
      ]),
    ).toEqual([
      { annotationId: 'r', icon: '👍', users: [ada, bob], on, location: undefined, isConsistent: true },
      { annotationId: 's', icon: '👍', users: [ada], on: undefined, location: undefined, isConsistent: true },
    ]);
  });

  test.each([
    ['icons', entry({ icon: '👎', from: bob })],
    ['comments', entry({ from: bob, on: { ...on, commentId: 8 } })],
    ['threads', entry({ from: bob, on: { ...on, annotationId: 'other' } })],
  ])('refuses entries with the same id if their %s differ', (_what, other) => {
    expect(reactAll(undefined, reacting(entry({ on }), other), contextOnComment, NOW)).toEqual({
      refused: 'Reaction is given with several icons or comments.',
    });
  });
});

test('addReactionUsers stores each user once, in any order of additions', () => {
  const user = fc.constantFrom(ada, bob, eve, { userId: '__proto__' });
  fc.assert(
    fc.property(fc.array(fc.array(user, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 }), (calls) => {
      let stored: Reaction | undefined;
      let addedCount = 0;
      for (const [at, users] of calls.entries()) {
        const { reaction, added } = done(
          reactAll(stored, reacting(...users.map((from) => entry({ from }))), scope, at),
        );
        addedCount += added.length;
        expect(reaction.lastUpdated).toBe(added.length > 0 ? at : stored?.lastUpdated);
        stored = reaction;
      }
      const everybody = new Set(calls.flat().map(({ userId }) => userId));
      expect(userIds(stored!).toSorted()).toEqual([...everybody].toSorted());
      expect(addedCount).toBe(everybody.size);
      expect(stored!.createdAt).toBe(0);
    }),
  );
});

describe('toReactionResponse', () => {
  const names = { apiKey: 'key', organizationId: 'acme' };

  test('returns a reaction on the document', () => {
    expect(toReactionResponse(names, made(entry({ location: { locationName: 'Page', __proto__: null } })))).toEqual({
      annotationId: 'r',
      type: 'reaction',
      icon: '👍',
      fromUsers: [{ from: ada, lastUpdated: NOW }],
      location: { locationName: 'Page' },
      locationId: expect.stringMatching(/^[0-9a-f]{32}$/),
      createdAt: NOW,
      lastUpdated: NOW,
      metadata: { apiKey: 'key', organizationId: 'acme', documentId: 'document' },
    });
  });

  test('returns the ids of the comment and no internal key', () => {
    const response = toReactionResponse(names, onComment());
    expect(response).toMatchObject({
      commentAnnotationId: 'thread',
      commentId: 7,
      location: { id: 'page-1' },
      locationId: 'page-1',
    });
    expect(Object.keys(response)).not.toContain('on');
    expect(JSON.stringify(response)).not.toContain('threadCreatedAt');
  });
});
