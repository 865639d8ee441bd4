import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { AddressedHint, ItemChange } from '../../../lib/content/rules/hints.ts';
import { liveHints } from '../../../lib/kinds/liveHints.ts';
import { documentOf, withoutRepetitions } from '../../../lib/live/rules/hints.ts';

const DOCUMENT = 'T#key_1#ORGANIZATION#org_1#DOCUMENT#doc_1';
const NOW = 1_767_225_600_000;

function written(type: string, change: 'insert' | 'modify', partition: string, item: object): ItemChange {
  return { change, key: { PK: `${DOCUMENT}#${partition}`, SK: 'x' }, item: { _t: type, ...item }, at: NOW };
}

function removed(partition: string, SK: string): ItemChange {
  return { change: 'remove', key: { PK: `${DOCUMENT}#${partition}`, SK }, item: undefined, at: NOW };
}

const onThread = { annotationId: 'a', threadCreatedAt: 5, commentId: 7 };

describe('hintOf', () => {
  test('names the record, and addresses the users who may read it', () => {
    const change = written('Reaction', 'insert', 'REACTIONS', { annotationId: 'r', on: onThread });
    expect(liveHints.hintOf(change)).toEqual({
      hint: { type: 'reaction.add', at: NOW, ids: { annotationId: 'a', commentId: 7, reactionId: 'r' } },
      audience: { kind: 'record' },
    });
  });

  const forAll = { id: 'n', documentId: 'nda', createdAt: 5, notifyUsers: [{ userId: 'ada' }], notifyAll: true, _r: 1 };
  const read = { ...forAll, readByUserIds: ['ada', 'bob'], _r: 2 };
  test.each<[string, object | undefined, object, string[], boolean]>([
    ['a new notification to all who may see it', undefined, forAll, ['ada'], true],
    ['a mark to its readers', forAll, read, ['ada', 'bob'], false],
    ['a further mark to the further reader', { ...read, readByUserIds: ['bob'] }, read, ['ada'], false],
    ['a mark with another change to all', forAll, { ...read, displayBodyMessage: 'y' }, ['ada'], true],
    ['any other change to all', { ...forAll, createdAt: 4 }, read, ['ada'], true],
  ])('addresses %s', (_title, before, item, userIds, isForOthers) => {
    const change = written('Notification', before ? 'modify' : 'insert', 'NOTIFICATIONS', item);
    const images = before && { before: () => before as Record<string, unknown> };
    expect(liveHints.hintOf({ ...change, ...images })?.audience).toEqual({
      kind: 'users',
      userIds,
      createdAt: 5,
      isForOthers,
    });
  });

  test.each<[string, ItemChange]>([
    ['the removal of a reaction, whose comment changes too', removed('REACTIONS', 'time#r')],
    ['the removal of an activity', removed('ACTIVITIES', 'time#x')],
    ['the expiry of a tombstone', removed('DELETED_THREADS', 'x')],
    ['the compaction of an editor', removed('EDITORS', 'e#LOG#0000000000000001')],
    ['the removal of a thread, which its tombstone reports', removed('THREADS', 'time#a#ANNOTATION')],
    [
      'a change of a notification that nobody notices',
      { ...written('Notification', 'modify', 'NOTIFICATIONS', read), before: () => read },
    ],
    ['a change of another entity', written('Mail', 'insert', 'MAIL', {})],
  ])('returns nothing for %s', (_what, change) => {
    expect(liveHints.hintOf(change)).toBeUndefined();
  });

  test('contains no text of the item, whatever the item contains', () => {
    const secret = 'top-secret-text';
    fc.assert(
      fc.property(
        fc.constantFrom('Thread', 'Comment', 'Reaction', 'Recording', 'Activity', 'Notification', 'Editor'),
        fc.constantFrom('insert' as const, 'modify' as const),
        (type, change) => {
          const texts = { commentText: secret, from: { userId: 'u', name: secret }, changes: secret, context: secret };
          const item = {
            id: 'i',
            editorId: 'e',
            documentId: 'd',
            notifyUsers: [{ userId: 'u' }],
            ...onThread,
            ...texts,
          };
          expect(JSON.stringify(liveHints.hintOf(written(type, change, 'X', item)) ?? {})).not.toContain(secret);
        },
      ),
    );
  });
});

describe('documentOf', () => {
  test('returns the keys of the document in a partition key', () => {
    expect(documentOf(`${DOCUMENT}#THREADS`)).toEqual({
      tenant: 'key_1',
      organizationKey: 'org_1',
      documentKey: 'doc_1',
    });
  });

  test.each([
    'T#key_1#ORGANIZATION#org_1#DOCUMENTS',
    'T#key_1#USER#ada',
    'S#RATE#x',
    'T#key_1#ORGANIZATION#o#DOCUMENT',
  ])('returns undefined for %s', (PK) => {
    expect(documentOf(PK)).toBeUndefined();
  });
});

describe('withoutRepetitions', () => {
  const hint = (type: AddressedHint['hint']['type'], id: string, time = NOW) => ({
    hint: { type, at: time, ids: { id } },
  });

  test('keeps the last of several equal hints, and no update of a record that was added before', () => {
    const [added, updated, other] = [
      hint('comment.add', 'a'),
      hint('comment.update', 'a'),
      hint('comment.update', 'b'),
    ];
    const later = hint('comment.update', 'b', NOW + 1);
    expect(withoutRepetitions([added, updated, other, later])).toEqual([added, later]);
  });

  test('keeps a deletion after an addition', () => {
    const hints = [hint('comment.add', 'a'), hint('comment.delete', 'a')];
    expect(withoutRepetitions(hints)).toEqual(hints);
  });

  test('keeps at least one hint about every changed item, in the order of the changes', () => {
    const types = fc.constantFrom('comment.add' as const, 'comment.update' as const, 'comment.delete' as const);
    fc.assert(
      fc.property(fc.array(fc.tuple(types, fc.constantFrom('a', 'b', 'c'))), (changes) => {
        const hints = changes.map(([type, id], index) => hint(type, id, NOW + index));
        const remainingHints = withoutRepetitions(hints);
        expect(new Set(remainingHints.map((each) => each.hint.ids.id))).toEqual(
          new Set(hints.map((each) => each.hint.ids.id)),
        );
        expect(remainingHints.map((each) => each.hint.at)).toEqual(
          remainingHints.map((each) => each.hint.at).toSorted((a, b) => a - b),
        );
      }),
    );
  });
});
