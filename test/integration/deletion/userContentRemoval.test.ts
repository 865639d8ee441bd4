import { isDeepStrictEqual } from 'node:util';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { addInvolvement, type Involvement } from '../../../lib/content/involvements.ts';
import { removeFromRecords } from '../../../lib/deletion/userWalk.ts';
import type { OrganizationScope } from '../../../lib/directory/organizationScope.ts';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { TABLE_NAME } from '../../support/engine.ts';
import { itemsOfTenant } from '../../support/items.ts';
import { asDocumentClient, type Command } from '../../support/leanClient.ts';
import { nextMillisecond } from '../../support/nextMillisecond.ts';
import { storedDocumentScope, storedOrganizationScope } from '../../support/storedScope.ts';
import { times } from '../../support/times.ts';
import { ada, createUserRecords, grace, max, nameOf, namesOf, saidToGrace } from '../../support/userTraces.ts';

type Item = Record<string, any>;

const { engine, customer, itemsOf, emitted, involvements } = acmeWorld({ table: 'memory' });

let scope: OrganizationScope;
let until: number;
beforeEach(async () => {
  await createUserRecords(customer, 'acme');
  scope = await storedOrganizationScope(customer);
  until = Date.now();
});

async function dump(): Promise<Map<string, Item>> {
  const own = await itemsOfTenant(engine, customer.apiKey);
  return new Map(own.map(({ _r, _w, ...item }) => [`${item.PK} ${item.SK}`, item]));
}

const purgeUser = (more: object = {}, on: Table = table) =>
  removeFromRecords({ table: on, scope, mode: 'remove', ...more }, ada.userId, until, undefined, {
    clock: Date.now,
    deadline: Infinity,
  });

describe('removeFromRecords of a user who is removed from an organization', () => {
  test("removes the user's threads, recordings, reactions and involvements, and keeps comments in other threads", async () => {
    const [before, events] = [await dump(), await emitted()];
    expect(await purgeUser()).toBeUndefined();
    const after = await dump();
    const removed = [...before].flatMap(([key, item]) => (after.has(key) ? [] : [item]));
    const changed = [...after].flatMap(([key, item]) => (isDeepStrictEqual(before.get(key), item) ? [] : [item]));
    expect(namesOf(removed.filter(({ _t }) => !['Involvement', 'RecordId', 'Comment'].includes(_t)))).toEqual([
      'Notification toAda',
      'Reaction onDocument',
      'Reaction onlyAda',
      'Recording ofAda',
      'Thread byAda',
      'Thread long',
    ]);
    expect(new Set(removed.filter(({ _t }) => _t === 'Comment').map(({ annotationId }) => annotationId))).toEqual(
      new Set(['byAda', 'long']),
    );
    expect(removed.filter(({ _t }) => _t === 'RecordId')).toHaveLength(6);
    expect(namesOf(changed)).toEqual([
      'Comment byGrace 1',
      'Comment byGrace 2',
      'Comment offered 2',
      'DeletedThread byAda',
      'DeletedThread long',
      'Notification byAda',
      'Notification toAll',
      'Notification toBoth',
      'Reaction both',
      'Thread byGrace',
    ]);
    expect(await involvements(ada.userId)).toEqual([]);
    expect(await emitted()).toEqual(events);
    expect(await purgeUser()).toBeUndefined();
    expect(await dump()).toEqual(after);
  });

  test("keeps only the user's id as author, assignee and actor, removes subscriptions, and keeps mentions", async () => {
    await purgeUser();
    const [byGrace] = await customer.ok('/v2/commentannotations/get', { ...nda, annotationIds: ['byGrace'] });
    expect(byGrace.comments[1]).toMatchObject({ commentText: saidToGrace, reactionAnnotationIds: ['onAda'] });
    expect([byGrace.comments[1].from, byGrace.assignedTo, byGrace.subscribedUsers, byGrace.unsubscribedUsers]).toEqual([
      { userId: ada.userId },
      { userId: ada.userId },
      [grace],
      [],
    ]);
    expect(byGrace.comments[0]).toMatchObject({
      taggedUserContacts: [{ text: `@${ada.name}`, userId: ada.userId }],
      reactionAnnotationIds: ['both'],
    });
    expect([byGrace.commentCount, byGrace.involvedUserIds.sort()]).toEqual([3, [ada.userId, grace.userId, max.userId]]);
    const notifications: Item[] = await customer.ok('/v2/notifications/get', nda);
    expect(notifications.find(({ id }) => id === 'byAda')!.actionUser).toEqual({ userId: ada.userId });
    expect(Object.keys(notifications.find(({ id }) => id === 'toBoth')!.notifyUsersByUserId)).toHaveLength(1);
    expect(
      (await itemsOf('Reaction'))
        .find(({ annotationId }) => annotationId === 'both')!
        .fromUsers.map(({ from }: Item) => from.userId),
    ).toEqual([grace.userId]);
  });

  test('keeps content that was created after the removal, and content outside the given documents', async () => {
    const { documentKey } = await storedDocumentScope(customer, { ...nda, documentId: 'offer' });
    await purgeUser({ within: new Set([documentKey]) });
    const remainingInvolvements = await involvements(ada.userId);
    expect(remainingInvolvements.filter(([, id]) => id === 'offered')).toEqual([]);
    expect(remainingInvolvements.map(([, id]) => id)).toEqual(
      expect.arrayContaining(['byAda', 'byGrace', 'both', 'ofAda', 'toAda']),
    );
    nextMillisecond();
    await customer.ok('/v2/commentannotations/add', {
      ...nda,
      commentAnnotations: [{ annotationId: 'later', commentData: [{ commentText: 'later', from: ada }] }],
    });
    await customer.addRecordings([{ annotationId: 'later', recordingType: 'audio', from: ada }]);
    await customer.addReactions([
      { annotationId: 'both', icon: 'heart', from: max },
      { annotationId: 'ofGrace', icon: 'heart', from: ada },
    ]);
    await purgeUser();
    expect(await involvements(ada.userId)).toEqual([
      ['comment', 'later', 1, true],
      ['reaction', 'ofGrace', true],
      ['recording', 'later', true],
    ]);
    expect((await itemsOf('Reaction')).find(({ annotationId }) => annotationId === 'both')!.fromUsers).toHaveLength(2);
  });

  test('stops at its deadline, and the next call continues', async () => {
    // The user's involvements still exist, but their records do not.
    const added = times(250, (i): Involvement => ({
      userId: ada.userId,
      kind: 'comment',
      documentKey: 'gone',
      id: `gone-${i}`,
      createdAt: i,
      at: i,
      commentId: 1,
      made: false,
    }));
    await table.writeAll(added.map((involvement) => addInvolvement(scope, involvement)));
    const run = async (within?: ReadonlySet<string>): Promise<number> => {
      let after: string | undefined;
      for (let calls = 1; calls < 100; calls++) {
        // The deadline is over from the start, as after slow steps before this call. Each call still makes progress.
        const walk = { table, scope, mode: 'remove', within } as const;
        after = await removeFromRecords(walk, ada.userId, until, after, { clock: () => until + 1, deadline: until });
        if (after === undefined) return calls;
      }
      throw new Error('It gets no further');
    };
    const documents = new Set((await itemsOf('Document')).map(({ internalId }) => internalId as string));
    expect(await run(documents)).toBeGreaterThan(4);
    expect((await involvements(ada.userId)).map(([, id]) => id).toSorted()).toEqual(
      added.map(({ id }) => id).toSorted(),
    );
    expect(await run()).toBeGreaterThan(2);
    expect(await involvements(ada.userId)).toEqual([]);
  });

  test('keeps concurrent writes of other users', async () => {
    const seen: number[] = [];
    const met = new Map<string, number>();
    // Before each of the first two writes to a record, another user changes the record.
    const client = {
      send: async (command: Command) => {
        const items: Item[] = (command.input.TransactItems ?? [{ Put: command.input }]).flatMap(
          ({ Put }: Item) => Put?.Item ?? [],
        );
        const names = items
          .map(nameOf)
          .filter(
            (name) =>
              ['Thread byGrace', 'Comment byGrace 2', 'Notification toBoth', 'Reaction both'].includes(name) &&
              (met.get(name) ?? 0) < 2,
          );
        if (names.length > 0) {
          for (const name of names) met.set(name, (met.get(name) ?? 0) + 1);
          const n = seen.push(seen.length);
          await customer.ok('/v2/commentannotations/comments/update', {
            ...nda,
            annotationId: 'byGrace',
            commentIds: [2, 3],
            updatedData: { metadata: { [`round${n}`]: true } },
          });
          await customer.ok('/v2/commentannotations/comments/add', {
            ...nda,
            annotationId: 'byGrace',
            commentData: [{ commentText: `round${n}`, from: max }],
          });
          await customer.ok('/v2/notifications/update', {
            organizationId: 'acme',
            notifications: [{ id: 'toBoth', readByUserIds: [`reader${n}`] }],
          });
          await customer.addReactions([{ annotationId: 'both', icon: 'heart', from: { userId: `reactor${n}` } }]);
        }
        return engine.lean.send(command);
      },
    };
    await purgeUser({}, new Table(asDocumentClient(client), TABLE_NAME));
    expect([...met].toSorted()).toEqual([
      ['Comment byGrace 2', 2],
      ['Notification toBoth', 2],
      ['Reaction both', 2],
      ['Thread byGrace', 2],
    ]);
    const rounds = (prefix: string) => seen.map((n) => `${prefix}${n + 1}`);
    const { comments } = (await customer.ok('/v2/commentannotations/get', { ...nda, annotationIds: ['byGrace'] }))[0];
    expect(comments.slice(3).map(({ commentText }: Item) => commentText)).toEqual(rounds('round'));
    expect([comments[1].from, comments[1].metadata]).toEqual([
      { userId: ada.userId },
      expect.objectContaining({ [rounds('round').at(-1)!]: true }),
    ]);
    const notification = (await itemsOf('Notification')).find(({ id }) => id === 'toBoth')!;
    expect([notification.readByUserIds, notification.notifyUsers.map(({ userId }: Item) => userId)]).toEqual([
      [ada.userId, max.userId, ...rounds('reader')],
      [max.userId],
    ]);
    const reaction = (await itemsOf('Reaction')).find(({ annotationId }) => annotationId === 'both')!;
    expect(reaction.fromUsers.map(({ from }: Item) => from.userId)).toEqual([grace.userId, ...rounds('reactor')]);
    expect(await involvements(ada.userId)).toEqual([]);
  });

  test('keeps the involvement of a comment that addresses the user again during the removal', async () => {
    let isUpdated = false;
    // The requests run after the removal has read the involvements, and before it removes the first one.
    const client = {
      send: async (command: Command) => {
        const isWrite = command.input.TransactItems !== undefined || command.input.Item !== undefined;
        if (isWrite && !isUpdated) {
          isUpdated = true;
          for (const to of [[grace], [ada, grace]])
            await customer.ok('/v2/commentannotations/comments/update', {
              ...nda,
              annotationId: 'byGrace',
              commentIds: [3],
              updatedData: { to },
            });
        }
        return engine.lean.send(command);
      },
    };
    await purgeUser({}, new Table(asDocumentClient(client), TABLE_NAME));
    expect(isUpdated).toBe(true);
    expect(await involvements(ada.userId)).toEqual([['comment', 'byGrace', 3, false]]);
  });

  test("keeps another user's comment if a request deletes the user's comment while the thread is read", async () => {
    let isDeleted = false;
    // BatchGetItem reads its items one after another. The request deletes the comment after its read and before that of the thread.
    const client = {
      send: async (command: Command) => {
        const answer = await engine.lean.send(command);
        const items: Item[] = answer.Responses?.[TABLE_NAME] ?? [];
        const comment = items.find((item) => nameOf(item) === 'Comment offered 2');
        if (!comment || items.length !== 2 || isDeleted) return answer;
        isDeleted = true;
        await customer.ok('/v2/commentannotations/comments/delete', {
          ...nda,
          documentId: 'offer',
          annotationId: 'offered',
          commentIds: [2],
        });
        const later: Item[] = (await engine.lean.send(command)).Responses[TABLE_NAME];
        return { Responses: { [TABLE_NAME]: [...later, comment] } };
      },
    };
    await purgeUser({ mode: 'erase' }, new Table(asDocumentClient(client), TABLE_NAME));
    expect(isDeleted).toBe(true);
    const [thread] = await customer.ok('/v2/commentannotations/get', { ...nda, documentId: 'offer' });
    expect(thread?.comments.map(({ commentId }: Item) => commentId)).toEqual([1]);
    expect(await involvements(ada.userId)).toEqual([]);
  });
});
