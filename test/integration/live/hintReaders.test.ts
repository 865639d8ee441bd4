import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ChangedItem } from '../../../lib/app/worker.ts';
import { GrantEntity } from '../../../lib/directory/users.ts';
import { type HintType, liveHints } from '../../../lib/kinds/liveHints.ts';
import { exampleRecording } from '../../../lib/recordings/example.ts';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { restartFunctions } from '../../support/functionHandlers.ts';
import { livePublisher } from '../../support/livePublisher.ts';
import { newUser, type TestUser } from '../../support/userTokens.ts';

const threads = '/v2/commentannotations';
const resource = { type: 'document', id: 'nda', organizationId: 'acme' };
const legal = { access: { team: 'legal' } };
const notification = {
  ...nda,
  actionUser: { userId: 'ada' },
  displayHeadlineMessageTemplate: 'x',
  displayBodyMessage: 'x',
};

interface HeardHint {
  readonly type: HintType | 'hidden';
  readonly ids?: Readonly<Record<string, string | number>>;
}

const world = acmeWorld({ table: 'memory', documents: ['nda'] });
const { customer, itemsOf } = world;
const live = livePublisher(world);
const { publish, changeOf, changesOf } = live;
let users: Record<'ada' | 'lea' | 'bob' | 'carol' | 'dan' | 'tim', TestUser>;
beforeEach(async () => {
  await customer.setAccess('restricted', ['nda']);
  await customer.ok('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true } });
  await customer.addUsers(['ada', 'lea', 'bob', 'carol', 'dan', 'eve'].map((userId) => ({ userId })));
  for (const userId of ['ada', 'bob', 'carol', 'eve']) await customer.grant(userId, resource);
  // Dan loses the grant that Lea keeps. Tim has the access by his token only. Eve does not connect.
  for (const userId of ['lea', 'dan']) await customer.grant(userId, { ...resource, context: legal });
  users = {
    ada: await newUser(customer, 'ada'),
    lea: await newUser(customer, 'lea'),
    bob: await newUser(customer, 'bob'),
    carol: await newUser(customer, 'carol'),
    dan: await newUser(customer, 'dan'),
    tim: await newUser(customer, 'tim', [resource]),
  };
  for (const user of Object.values(users)) await user.ok('/v2/live/connect', nda);
});

/** Adds records with every way of hiding. */
async function addContent(): Promise<void> {
  const from = { userId: 'ada' };
  const commentData = [
    { commentText: 'x', from },
    { commentText: 'x', from, context: legal },
    { commentText: 'x', from },
  ];
  const ways = {
    open: {},
    restricted: { visibility: { type: 'restricted', userIds: ['carol', 'tim'] } },
    context: { context: legal },
  };
  await customer.untyped(`${threads}/add`, {
    ...nda,
    commentAnnotations: Object.entries(ways).map(([annotationId, way]) => ({ annotationId, commentData, ...way })),
  });
  const comments = Object.keys(ways).flatMap((thread) => [1, 2].map((commentId) => ({ thread, commentId })));
  await customer.addReactions([
    { annotationId: 'document', icon: '👍', from },
    ...comments.map(({ thread, commentId }) => ({
      annotationId: `${thread}-${commentId}`,
      icon: '👍',
      from,
      commentAnnotationId: thread,
      commentId,
    })),
  ]);
  const fields = { featureType: 'comment', actionType: 'x', actionUser: from };
  await customer.untyped('/v2/activities/add', {
    ...nda,
    activities: [
      { ...fields, id: 'custom', featureType: 'custom', targetEntityId: 'restricted', displayMessageTemplate: 'x' },
      { ...fields, id: 'deleted', targetEntityId: 'unknown' },
      {
        ...fields,
        id: 'recorded',
        targetEntityId: 'open',
        entityTargetData: { commentId: 1, context: { accessFields: ['team:legal'] } },
      },
      ...Object.keys(ways).map((thread) => ({ ...fields, id: thread, targetEntityId: thread })),
      ...comments.map(({ thread, commentId }) => ({
        ...fields,
        id: `${thread}-${commentId}`,
        targetEntityId: thread,
        targetSubEntityId: String(commentId),
      })),
    ],
  });
  const named = ['bob', 'lea', 'carol', 'dan', 'eve'].map((userId) => ({ userId }));
  const about = (annotationId: string, commentId: number) => ({
    notificationSource: 'comment',
    notificationSourceData: { annotationId, commentId },
  });
  const notifications: Record<string, object> = {
    plain: {},
    context: { context: legal },
    ...Object.fromEntries(
      comments.map(({ thread, commentId }) => [`${thread}-${commentId}`, about(thread, commentId)]),
    ),
  };
  for (const [id, rules] of Object.entries(notifications))
    for (const notifyAll of [true, false])
      await customer.ok('/v2/notifications/add', {
        ...notification,
        notificationId: `${id}-${notifyAll ? 'all' : 'named'}`,
        notifyUsers: notifyAll ? [] : named,
        notifyAll,
        ...rules,
      });
}

/** Takes Dan's access away. The document gets other channels. */
async function removeDan(): Promise<void> {
  await customer.untyped('/v2/auth/permissions/remove', { userId: 'dan', permissions: { resources: [resource] } });
  await publish(await changesOf('insert', 'AccessRemoval'));
  live.clear();
  restartFunctions();
}

/** Returns what a user can read with the user token: the records, and the document itself. */
async function readable(user: TestUser): Promise<Set<string>> {
  const own = await user.call('/v2/notifications/get', { organizationId: 'acme', userId: user.userId });
  const notifications = own.status === 200 ? (own.body.result.data as { id: string }[]) : [];
  const records = new Set(notifications.map(({ id }) => `notification ${id}`));
  const { status, body } = await user.call(`${threads}/get`, nda);
  if (status !== 200) return records;
  records.add('document');
  for (const { annotationId } of body.result.data) {
    records.add(`thread ${annotationId}`);
    for (const comment of await user.ok(`${threads}/comments/get`, { ...nda, annotationId })) {
      records.add(`comment ${annotationId} ${comment.commentId}`);
      for (const reaction of comment.reactionAnnotations) records.add(`reaction ${reaction.annotationId}`);
    }
  }
  for (const { id } of await user.ok('/v2/activities/get', nda)) records.add(`activity ${id}`);
  return records;
}

const readableByAll = async () =>
  new Map(await Promise.all(Object.values(users).map(async (user) => [user.userId, await readable(user)] as const)));

/** Returns the record that a hint names, as `readable` does. */
function recordOf({ type, ids = {} }: HeardHint): string {
  if (liveHints.announced[type] === 'user') return 'user';
  const { annotationId, commentId, reactionId, activityId, notificationId } = ids;
  switch (String(type.split('.')[0])) {
    case 'comment_annotation':
      return `thread ${annotationId}`;
    case 'comment':
      return `comment ${annotationId} ${commentId}`;
    case 'reaction':
      // No endpoint returns reactions on the document to users.
      return annotationId === undefined ? 'document' : `reaction ${reactionId}`;
    case 'activity':
      return `activity ${activityId}`;
    case 'notification':
      return `notification ${notificationId}`;
    default:
      return 'document';
  }
}

/** Returns the hints that were pushed to a user. Dan listens to the channel from before his loss of access. */
async function pushedTo({ userId }: TestUser): Promise<HeardHint[]> {
  const [channel] = await itemsOf('LiveChannel');
  const ofDocument = live.channelOf(userId === 'dan' ? 1 : Number(channel!.epoch));
  return [ofDocument, live.userChannel(userId)].flatMap((name) => live.eventsOn(name)) as HeardHint[];
}

/** Returns the hints that a user gets from `/v2/live/changes`, without the empty ones. */
async function missedBy(user: TestUser): Promise<HeardHint[]> {
  const { status, body } = await user.call('/v2/live/changes', { ...nda, after: 0 });
  if (status !== 200) return [];
  const { hints, userHints } = body.result.data as Record<'hints' | 'userHints', HeardHint[]>;
  return [...hints, ...userHints].filter(({ type }) => type !== 'hidden');
}

const update = (commentIds: number[], updatedData: object) =>
  customer.ok(`${threads}/comments/update`, { ...nda, annotationId: 'open', commentIds, updatedData });

/** For each type of hint: makes changes of all records whose hints have this type. */
const changesWith: Readonly<Record<HintType, () => Promise<ChangedItem[]>>> = {
  'comment_annotation.add': () => changesOf('insert', 'Thread'),
  'comment_annotation.update': () => changesOf('modify', 'Thread'),
  async 'comment_annotation.delete'() {
    await customer.ok(`${threads}/delete`, { ...nda, annotationIds: ['open', 'restricted', 'context'] });
    return changesOf('insert', 'DeletedThread');
  },
  async 'comment_annotation.hide'() {
    const visibility = { type: 'restricted', userIds: ['carol'] };
    await customer.untyped(`${threads}/update`, { ...nda, annotationIds: ['open'], updatedData: { visibility } });
    return changesOf('insert', 'ThreadAccessChange');
  },
  async 'comment_annotation.view'() {
    await customer.ok(`${threads}/views/add`, { ...nda, annotationIds: ['open'], userId: 'bob' });
    return changesOf('insert', 'ThreadViews');
  },
  'comment.add': () => changesOf('insert', 'Comment'),
  'comment.update': () => changesOf('modify', 'Comment'),
  async 'comment.delete'() {
    const stored = await itemsOf('Comment');
    for (const annotationId of ['open', 'restricted', 'context'])
      await customer.ok(`${threads}/comments/delete`, { ...nda, annotationId, commentIds: [1, 2] });
    return stored.filter(({ commentId }) => commentId < 3).map((item) => changeOf('remove', item));
  },
  async 'comment.hide'() {
    await update([1], { context: legal });
    return changesOf('insert', 'ThreadAccessChange');
  },
  'reaction.add': () => changesOf('insert', 'Reaction'),
  'reaction.update': () => changesOf('modify', 'Reaction'),
  async 'recording.add'() {
    await customer.addRecordings([exampleRecording]);
    return changesOf('insert', 'Recording');
  },
  'recording.update': async () => (await changesWith['recording.add']()).map((each) => ({ ...each, change: 'modify' })),
  'recording.delete': async () =>
    (await changesWith['recording.add']()).map((each) => ({ ...each, change: 'remove', item: undefined })),
  'activity.add': () => changesOf('insert', 'Activity'),
  'activity.update': () => changesOf('modify', 'Activity'),
  'notification.add': () => changesOf('insert', 'Notification'),
  'notification.update': () => changesOf('modify', 'Notification'),
  async 'notification.delete'() {
    const stored = await changesOf('remove', 'Notification');
    await customer.ok('/v2/notifications/delete', nda);
    return stored;
  },
  async 'access.update'() {
    const { documentKey: internalId, ...scope } = live.document();
    return [changeOf('modify', GrantEntity.key({ ...scope, userId: 'bob', resourceType: 'document', internalId }))];
  },
  async 'editor.add'() {
    await customer.ok('/v2/crdt/add', { ...nda, editorId: 'summary', type: 'text', data: 'hello' });
    return changesOf('insert', 'Editor');
  },
  'editor.delete': async () =>
    (await changesWith['editor.add']()).map((each) => ({ ...each, change: 'remove', item: undefined })),
  async 'editor.restore'() {
    await changesWith['editor.add']();
    const [{ editorId }] = (await itemsOf('Editor')) as [any];
    const { versionId } = await customer.ok('/v2/crdt/versions/add', { ...nda, editorId, name: 'One' });
    await customer.ok('/v2/crdt/update', { ...nda, editorId, type: 'text', data: 'Two' });
    await customer.ok('/v2/crdt/versions/restore', { ...nda, editorId, versionId });
    return (await changesOf('insert', 'EditorVersion')).filter(({ item }) => item?.restoredVersionId);
  },
  async 'crdt.update'() {
    await changesWith['editor.add']();
    return [await live.editOf()];
  },
};

describe('a hint', () => {
  test.each(Object.keys(liveHints.announced) as HintType[])(
    '%s goes exactly to users who may read what it announces',
    async (type) => {
      await addContent();
      const before = await readableByAll();
      await removeDan();
      await publish(await changesWith[type]());
      const after = await readableByAll();
      const isFormer = ['former', 'formerNotification'].includes(liveHints.announced[type]!);
      const isAboutUser = liveHints.announced[type] === 'user';
      const all = new Set([...before.values()].flatMap((records) => [...records]));
      let [heardBySome, missedBySome] = [false, false];
      for (const user of Object.values(users)) {
        const [can, could] = [after.get(user.userId)!, before.get(user.userId)!];
        if (isAboutUser && user.userId === 'bob') can.add('user');
        const pushed = (await pushedTo(user)).filter((hint) => hint.type === type).map(recordOf);
        const missed = (await missedBy(user)).filter((hint) => hint.type === type).map(recordOf);
        const allowed = isFormer ? could.difference(can) : can;
        for (const record of [...pushed, ...missed])
          expect([user.userId, record, allowed.has(record)]).toEqual([user.userId, record, true]);
        expect([user.userId, new Set(missed)]).toEqual([
          user.userId,
          user.userId === 'dan' ? new Set() : new Set(pushed),
        ]);
        heardBySome ||= pushed.length > 0;
        const kind = isAboutUser ? 'user' : type.split('.')[0]!.replace('comment_annotation', 'thread');
        const ofKind = (records: ReadonlySet<string>) => [...records].filter((record) => record.startsWith(`${kind} `));
        missedBySome ||= ofKind(all).some((record) => !allowed.has(record) && !pushed.includes(record));
        // Dan hears nothing after his loss of access.
        if (user.userId === 'dan') continue;
        // The publisher does not know the access context of a token.
        const isHeard = (record: string) => user.userId !== 'tim' || /^thread (open|restricted)/.test(record);
        const whole = ['document'].filter((record) => record === recordOf({ type }) && allowed.has(record));
        const expected = [...ofKind(allowed).filter(isHeard), ...whole];
        expect([user.userId, pushed]).toEqual([user.userId, expect.arrayContaining(expected)]);
      }
      expect([heardBySome, live.eventsOn(live.userChannel('eve'))]).toEqual([true, []]);
      if (
        ['thread', 'comment', 'reaction', 'activity', 'notification'].includes(liveHints.announced[type]!) ||
        isFormer
      )
        expect(missedBySome).toBe(true);
    },
  );

  test('about a removed reaction is the update of its comment, for those who may read the comment', async () => {
    await addContent();
    const removed = await changesOf('remove', 'Reaction');
    await customer.ok('/v2/reactions/delete', { ...nda, annotationIds: ['open-1', 'restricted-1', 'context-2'] });
    await publish([...removed, ...(await changesOf('modify', 'Comment'))]);
    expect(live.published.filter(({ event }) => event.type.startsWith('reaction'))).toEqual([]);
    const heard = async (user: TestUser) => (await pushedTo(user)).map(recordOf);
    expect(await heard(users.bob)).toEqual(['comment open 1', 'comment open 3']);
    expect(await heard(users.carol)).toEqual(expect.arrayContaining(['comment open 1', 'comment restricted 1']));
    expect(await heard(users.lea)).toEqual(expect.arrayContaining(['comment open 2', 'comment context 2']));
  });

  test('about a record that was hidden later is empty in the answer of changes, and keeps its version', async () => {
    await addContent();
    await publish([...(await changesOf('insert', 'Thread')), ...(await changesOf('insert', 'Comment'))]);
    const { bob, carol } = users;
    const read = async (user: TestUser) => (await user.ok('/v2/live/changes', { ...nda, after: 0 })).hints as any[];
    const versions = (hints: any[]) => hints.map(({ version }) => version as number);
    const before = await read(bob);
    expect(before.map(recordOf)).toEqual(['thread open', 'comment open 1', 'comment open 3']);
    await update([3], { context: legal });
    expect((await read(bob)).map(({ type }) => type)).toEqual(['comment_annotation.add', 'comment.add', 'hidden']);
    const visibility = { type: 'restricted', userIds: ['carol'] };
    await customer.untyped(`${threads}/update`, { ...nda, annotationIds: ['open'], updatedData: { visibility } });
    const after = await read(bob);
    expect(after).toEqual(before.map(({ at, version }) => ({ type: 'hidden', at, version })));
    expect([versions(await read(carol)), versions(after)]).toEqual([versions(before), versions(before)]);
  });

  test('of a user is empty in the answer of changes after the user lost the record, and for another document', async () => {
    await customer.addDocuments(['other']);
    await addContent();
    await publish([...(await changesOf('insert', 'Thread')), ...(await changesOf('insert', 'Notification'))]);
    const missed = async (documentId = 'nda') =>
      (await users.carol.ok('/v2/live/changes', { ...nda, documentId, after: 0 })).userHints as any[];
    const restricted = { type: 'comment_annotation.add', ids: { annotationId: 'restricted', documentId: 'nda' } };
    const about = { type: 'notification.add', ids: { notificationId: 'restricted-1-named', documentId: 'nda' } };
    const plain = { type: 'notification.add', ids: { notificationId: 'plain-named', documentId: 'nda' } };
    const all = [restricted, about, plain].map((hint) => expect.objectContaining(hint));
    const before = await missed();
    expect(before).toEqual(expect.arrayContaining(all));
    await customer.grant('carol', { ...resource, id: 'other' });
    restartFunctions();
    const elsewhere = await missed('other');
    expect(elsewhere).toEqual(expect.arrayContaining(all.slice(1)));
    expect(JSON.stringify(elsewhere)).not.toContain('annotationId');
    const visibility = { type: 'restricted', userIds: [] };
    await customer.untyped(`${threads}/update`, { ...nda, annotationIds: ['restricted'], updatedData: { visibility } });
    const after = await missed();
    expect(after).toHaveLength(before.length);
    expect(after.filter(({ type }) => type !== 'hidden').map(recordOf)).toContain('notification plain-named');
    expect(JSON.stringify(after)).not.toContain('restricted');
  });
});

test('the channel of a user is not the one of an erased user with the same id, who gets no hint after the session has ended', async () => {
  const connect = async (user: TestUser) => (await user.ok('/v2/live/connect', nda)).channels.user as string;
  const hintsOf = async (notificationId: string) => {
    const notifyUsers = [{ userId: 'bob' }];
    await customer.ok('/v2/notifications/add', { ...notification, notificationId, notifyUsers, notifyAll: false });
    live.clear();
    await publish((await changesOf('insert', 'Notification')).filter(({ item }) => item!.id === notificationId));
    return live.published;
  };
  const notify = async (notificationId: string) => {
    const hints = await hintsOf(notificationId);
    expect(hints).toMatchObject([{ event: { type: 'notification.add' } }]);
    return hints[0]!.channel;
  };
  const former = await connect(users.bob);
  const heardBefore = await notify('former');
  expect(heardBefore).toBe(live.userChannel('bob'));
  const erased = (await itemsOf('User')).find(({ userId }) => userId === 'bob')!;
  await customer.ok('/v2/users/data/delete', { userIds: ['bob'] });
  expect(await hintsOf('between')).toEqual([]);
  await customer.addUsers([{ userId: 'bob' }]);
  await customer.grant('bob', resource);
  restartFunctions();
  const bob = await newUser(customer, 'bob');
  // The publisher has not ended the session of the erased user yet.
  expect(await notify('new')).not.toBe(heardBefore);
  await publish([changeOf('remove', erased)]);
  const sessions = (await itemsOf('DocumentSession')).filter(({ userId }) => userId === 'bob');
  expect(sessions).toEqual([expect.objectContaining({ endedAt: expect.any(Number) })]);
  expect(await connect(bob)).not.toBe(former);
  const { userHints } = await bob.ok('/v2/live/changes', { ...nda, after: 0 });
  expect(userHints.map(recordOf).sort()).toEqual(['notification new', 'user']);
});
