import { beforeEach, describe, expect, test } from '@jest/globals';
import { editConsumption } from '../../../infra/commands/cost/live.ts';
import type { ChangedItem } from '../../../lib/app/worker.ts';
import { ApiKeyEntity } from '../../../lib/http/entities.ts';
import { liveHints } from '../../../lib/kinds/liveHints.ts';
import { ChannelPublisher } from '../../../lib/live/channelPublisher.ts';
import { DocumentSessionEntity, UserSessionEntity } from '../../../lib/live/entities.ts';
import { liveStores } from '../../../lib/live/livePorts.ts';
import { publishChanges, publishChangesCapability } from '../../../lib/live/publishChanges.ts';
import { ChannelNames } from '../../../lib/live/rules/channels.ts';
import type { DocumentKeys } from '../../../lib/live/rules/hints.ts';
import { SessionStore } from '../../../lib/live/sessionStore.ts';
import { liveSessionSweep, SessionSweeper } from '../../../lib/live/sweepSessions.ts';
import { Table, upsert } from '../../../lib/table/table.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { everyFault, Invocation, Trial } from '../../support/crashes.ts';
import type { Customer } from '../../support/customer.ts';
import { TABLE_NAME } from '../../support/engine.ts';
import { handlerOf, restartFunctions } from '../../support/functionHandlers.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { asDocumentClient, type Command } from '../../support/leanClient.ts';
import { requirePermission, roleOf } from '../../support/permissions.ts';
import { post } from '../../support/requests.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';
import { newUser, type TestUser } from '../../support/userTokens.ts';
import { recordingMeasures, silentLog } from '../../support/workers.ts';

const runPublisher = roleOf('publishLive', [publishChangesCapability]);
const runSweep = roleOf('sweep', [liveSessionSweep]);
const names = new ChannelNames(Buffer.alloc(32, 7));
const STREAM = '2026-01-01T00:00:00.000';
const MAX_RUNS = 12;

/** An event that the simulated push service received. */
interface Published {
  readonly channel: string;
  readonly event: Record<string, any>;
}

const { engine, customer, itemsOf } = acmeWorld({ table: 'memory', documents: ['nda'] });
let published: Published[];
let document: DocumentKeys;
let sequence: number;
/** The internal ids of users, by user id. */
let userKeys: ReadonlyMap<string, string>;
async function readUserKeys(): Promise<void> {
  const users = await itemsOf('User');
  userKeys = new Map(users.map(({ userId, internalId }) => [userId as string, internalId as string]));
}
beforeEach(async () => {
  restartFunctions();
  await customer.addUsers(
    ['ada', 'bob', 'eve'].map((userId) => ({ userId, name: userId, email: `${userId}@example.com` })),
  );
  await readUserKeys();
  const [stored] = await itemsOf('Document');
  const [, tenant = '', , organizationKey = ''] = String(stored!.PK).split('#');
  document = { tenant, organizationKey, documentKey: stored!.internalId as string };
  published = [];
  sequence = 0;
});

/** Creates a user token with grants of these resources, and connects with it. */
async function connect(userId: string, resources: object[] = []) {
  const user = await newUser(customer, userId, resources);
  await readUserKeys();
  return user.call('/v2/live/connect', nda);
}

/** Opens the ports of the publisher in a simulated process. Each call through the ports can have a fault. */
function portsOf(invocation: Invocation) {
  const send = (command: Command) => invocation.call(command.constructor.name, () => engine.lean.send(command));
  const publish = (channel: string, events: readonly string[]) =>
    invocation.call('Publish', () => {
      requirePermission({ service: 'AppSync Events', operation: 'Publish', input: { channel } });
      published.push(...events.map((event) => ({ channel, event: JSON.parse(event) })));
      return Promise.resolve();
    });
  return {
    ...liveStores(new Table(asDocumentClient({ send }), TABLE_NAME)),
    keys: { names: () => Promise.resolve(names) },
    publisher: new ChannelPublisher({ publish }, () => Promise.resolve()),
    hints: liveHints,
  };
}

const call = (now: number | undefined) => ({
  clock: now === undefined ? Date.now : () => now,
  log: silentLog,
  measures: recordingMeasures(),
});

/**
 * Runs the publisher until no record of the batch fails, as Lambda does. `now` is the time of the publisher's clock.
 * By default it is the real time.
 */
async function publish(changes: readonly ChangedItem[], trial?: Trial, now?: number): Promise<void> {
  let remaining = changes;
  for (let runs = 0; remaining.length > 0; runs++) {
    if (runs === MAX_RUNS) throw new Error(`The batch failed ${runs} times`);
    const invocation = new Invocation(trial);
    const failed = await Promise.race([
      runPublisher(() => publishChanges(portsOf(invocation), remaining, call(now))),
      invocation.crashed,
    ]).catch(() => remaining.map(({ id }) => id));
    const first = remaining.findIndex(({ id }) => failed.includes(id));
    remaining = first < 0 ? [] : remaining.slice(first);
  }
}

function changeOf(change: ChangedItem['change'], item: Record<string, unknown>): ChangedItem {
  const { PK, SK } = item as { PK: string; SK: string };
  const id = String(++sequence);
  return { id, stream: STREAM, change, key: { PK, SK }, item: change === 'remove' ? undefined : item, at: Date.now() };
}

/** Returns the stored items of these types as stream records of insertions, type by type. */
async function insertionsOf(...types: string[]): Promise<ChangedItem[]> {
  const items = await Promise.all(types.map((type) => itemsOf(type)));
  return items.flat().map((item) => changeOf('insert', item));
}

async function addThread(annotationId: string, fields: object = {}): Promise<void> {
  await customer.ok('/v2/commentannotations/add', {
    ...nda,
    commentAnnotations: [
      { annotationId, commentData: [{ commentText: 'secret', from: { userId: 'ada' } }], ...fields },
    ],
  });
}

async function recordedHints(): Promise<{ version: number; type: string; position: string }[]> {
  const items = await itemsOf('LiveHints');
  return items
    .toSorted((a, b) => a.version - b.version)
    .flatMap(({ hints }) => JSON.parse(hints as string) as { version: number; type: string; position: string }[]);
}

/** Returns the versions of the recorded hints, counted from 1. */
async function recordedVersions(): Promise<number[]> {
  const hints = await recordedHints();
  return hints.map(({ version }) => version - (hints[0]?.version ?? 0) + 1);
}

const channelOf = (epoch = 1) => names.ofDocument({ ...document, epoch }).document;
const userChannel = (userId: string, tokenRevocations = 0) =>
  names.ofUser({ tenant: document.tenant, userKey: userKeys.get(userId) ?? '', tokenRevocations });
const eventsOn = (channel: string) => published.filter((each) => each.channel === channel).map(({ event }) => event);

describe('the publisher', () => {
  test('publishes presences and live states without e-mail addresses', async () => {
    await connect('bob', [{ type: 'organization', id: 'acme' }]);
    const ada = { userId: 'ada', name: 'Ada', email: 'ada@example.com' };
    await customer.ok('/v2/presence/add', { ...nda, users: [ada] });
    await customer.ok('/v2/livestate/broadcast', { ...nda, liveStateDataId: 's', data: { by: ada } });
    await publish(await insertionsOf('Presence', 'LiveState'));
    expect(published.map(({ event }) => event)).toMatchObject([
      { type: 'presence.update', user: { userId: 'ada', name: 'Ada' } },
      { type: 'livestate.update', data: { by: { userId: 'ada', name: 'Ada' } } },
    ]);
    expect(JSON.stringify(published)).not.toContain('@example.com');
  });

  test('records each change under one version and publishes in order if any database call crashes or fails', () =>
    withStillClock(async () => {
      await addThread('a');
      await addThread('b');
      await connect('ada');
      const calls = new Trial();
      await publish(await insertionsOf('Thread'), calls);
      let expected = 2;
      for (const fault of everyFault(calls.calls)) {
        published = [];
        const changes = await insertionsOf('Thread');
        const trial = new Trial(fault);
        await publish(changes, trial);
        expected += changes.length;
        const recorded = await recordedHints();
        expect([trial.injected, await recordedVersions()]).toEqual([
          [expect.anything()],
          times(expected, (index) => index + 1),
        ]);
        expect(new Set(recorded.map(({ position }) => position)).size).toBe(expected);
        const versions = eventsOn(channelOf()).map(({ version }) => version as number);
        expect([...new Set(versions)]).toEqual(recorded.slice(-2).map(({ version }) => version));
      }
    }));

  test('gives versions without gaps if several runs record changes of one document', async () => {
    await addThread('a');
    await connect('ada');
    const [thread] = await itemsOf('Thread');
    // Lambda processes different partitions of the stream in parallel.
    const batches = times(6, (index) => [
      changeOf('modify', { ...thread, PK: `${String(thread!.PK)}${'X'.repeat(index)}` }),
    ]);
    await Promise.all(batches.map((batch) => publish(batch)));
    expect(await recordedVersions()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('publishes an editor update with its content, and records it without the content', async () => {
    await connect('ada');
    await customer.ok('/v2/crdt/add', { ...nda, editorId: 'summary', type: 'text', data: 'hello' });
    const { editorKey } = await customer.ok('/v2/crdt/updates/get', { ...nda, editorId: 'summary' });
    const [update] = await insertionsOf('EditorUpdate');
    const packed = Buffer.from(update!.item!.packed as Uint8Array).toString('base64');
    await publish([{ ...update!, item: { ...update!.item, packed } }]);
    const hint = { type: 'crdt.update', editorId: 'summary', editorKey, version: expect.any(Number) };
    expect(eventsOn(channelOf())).toEqual([expect.objectContaining({ ...hint, update: expect.any(String) })]);
    expect(await recordedHints()).toEqual([expect.not.objectContaining({ update: expect.anything() })]);
    expect(await recordedHints()).toEqual([expect.objectContaining(hint)]);
  });

  test('makes as many table calls for an edit as npm run cost calculates', () =>
    withStillClock(async () => {
      await connect('ada');
      await customer.ok('/v2/crdt/add', { ...nda, editorId: 'summary', type: 'text', data: 'hello' });
      const [update] = await insertionsOf('EditorUpdate');
      const packed = Buffer.from(update!.item!.packed as Uint8Array).toString('base64');
      const trial = new Trial();
      await publish([{ ...update!, item: { ...update!.item, packed } }], trial);
      expect(trial.calls).toEqual(['BatchGetCommand', 'BatchGetCommand', 'TransactWriteCommand', 'Publish']);
      expect(editConsumption.calls).toBe(trial.calls.length - 1);
      // The transaction writes two items of up to 1 kB. In a transaction, each costs two units.
      const written = await Promise.all(['LiveChannel', 'LiveHints'].map((type) => itemsOf(type)));
      for (const item of written.flat()) expect(JSON.stringify(item).length).toBeLessThan(1_024);
      expect(editConsumption).toMatchObject({ read: 2, written: 2 * written.flat().length });
    }));

  test('publishes and records no comment text', async () => {
    await connect('ada');
    await addThread('a');
    await publish(await insertionsOf('Thread', 'Comment'));
    expect(eventsOn(channelOf()).map(({ type }) => type)).toEqual(['comment_annotation.add', 'comment.add']);
    expect(JSON.stringify([published, await itemsOf('LiveHints')])).not.toContain('secret');
  });

  test('publishes hints about a private thread only to connected users who may read it', async () => {
    for (const userId of ['ada', 'bob', 'eve']) await connect(userId);
    await addThread('private', { visibility: { type: 'restricted', userIds: ['bob'] } });
    await publish(await insertionsOf('Thread', 'Comment'));
    expect(eventsOn(channelOf())).toEqual([]);
    for (const userId of ['ada', 'bob'])
      expect(eventsOn(userChannel(userId)).map(({ type }) => type)).toEqual(['comment_annotation.add', 'comment.add']);
    expect(eventsOn(userChannel('eve'))).toEqual([]);
    expect(await recordedHints()).toEqual([]);
  });

  test('publishes hints about a private thread to users who have access by their token only', async () => {
    await customer.setAccess('restricted', ['nda']);
    for (const userId of ['bob', 'eve'])
      await connect(userId, [{ type: 'document', id: 'nda', organizationId: 'acme' }]);
    await addThread('private', { visibility: { type: 'restricted', userIds: ['bob'] } });
    await publish(await insertionsOf('Thread'));
    expect(published.map(({ channel, event }) => [channel, event.type])).toEqual([
      [userChannel('bob'), 'comment_annotation.add'],
    ]);
  });

  test('publishes hints about activities only to connected users who may read their threads', async () => {
    await customer.ok('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true } });
    for (const userId of ['bob', 'eve']) await connect(userId);
    await addThread('open');
    await addThread('private', { visibility: { type: 'restricted', userIds: ['bob'] } });
    const actionUser = { userId: 'ada' };
    for (const targetEntityId of ['open', 'private', 'unknown'])
      await customer.ok('/v2/activities/add', {
        ...nda,
        activities: [{ id: targetEntityId, featureType: 'comment', actionType: 'x', actionUser, targetEntityId }],
      });
    await publish(await insertionsOf('Activity'));
    expect(published.map(({ channel, event }) => [channel, event.ids.activityId])).toEqual([
      [channelOf(), 'open'],
      [userChannel('bob'), 'private'],
    ]);
  });

  test('publishes the deletion of a private thread to the users who could read it', async () => {
    for (const userId of ['bob', 'eve']) await connect(userId);
    await addThread('private', { visibility: { type: 'restricted', userIds: ['bob'] } });
    await customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: ['private'] });
    await publish(await insertionsOf('DeletedThread'));
    expect(published.map(({ channel, event }) => [channel, event.type])).toEqual([
      [userChannel('bob'), 'comment_annotation.delete'],
    ]);
  });

  test('publishes a hint to hide a thread only to users who may no longer read it', async () => {
    for (const userId of ['ada', 'bob', 'eve', 'dan']) await connect(userId);
    const show = async (...userIds: string[]) =>
      customer.ok('/v2/commentannotations/update', {
        ...nda,
        annotationIds: ['private'],
        updatedData: { visibility: { type: 'restricted', userIds } },
      });
    await addThread('private', { visibility: { type: 'restricted', userIds: ['bob', 'eve'] } });
    await show('bob');
    await publish(await insertionsOf('ThreadAccessChange'));
    expect(published).toEqual([
      {
        channel: userChannel('eve'),
        event: {
          type: 'comment_annotation.hide',
          id: expect.any(String),
          at: expect.any(Number),
          ids: { annotationId: 'private', documentId: nda.documentId },
        },
      },
    ]);
  });

  test('publishes different hints for two changes of a private comment in the same second', () =>
    withStillClock(async () => {
      await addThread('private', { visibility: { type: 'restricted', userIds: ['bob'] } });
      const bob = await newUser(customer, 'bob');
      await bob.ok('/v2/live/connect', nda);
      const [comment] = await itemsOf('Comment');
      for (let n = 0; n < 2; n++) await publish([changeOf('modify', comment!)]);
      const pushed = eventsOn(userChannel('bob'));
      expect(new Set(pushed.map((hint) => JSON.stringify(hint))).size).toBe(2);
      const { userHints } = await bob.ok('/v2/live/changes', { ...nda, after: 0 });
      expect(userHints).toEqual(pushed);
    }));

  test('publishes a hint to hide a thread to each user who lost access in one of several changes', async () => {
    for (const userId of ['ada', 'bob', 'eve', 'dan']) await connect(userId);
    await addThread('private');
    for (const userIds of [['bob', 'eve'], ['eve']])
      await customer.ok('/v2/commentannotations/update', {
        ...nda,
        annotationIds: ['private'],
        updatedData: { visibility: { type: 'restricted', userIds } },
      });
    await publish(await insertionsOf('ThreadAccessChange'));
    expect([...new Set(published.map(({ channel }) => channel))].sort()).toEqual(
      [userChannel('bob'), userChannel('dan')].sort(),
    );
  });

  test('publishes no hint to hide a thread that all users may read again', async () => {
    for (const userId of ['ada', 'eve']) await connect(userId);
    await addThread('private');
    for (const visibility of [{ type: 'restricted', userIds: [] }, { type: 'public' }])
      await customer.untyped('/v2/commentannotations/update', {
        ...nda,
        annotationIds: ['private'],
        updatedData: { visibility },
      });
    const changes = await insertionsOf('ThreadAccessChange');
    expect(changes).toHaveLength(1);
    await publish(changes);
    expect(published).toEqual([]);
  });

  test('publishes notifications to connected recipients only', async () => {
    await connect('bob');
    await customer.ok('/v2/notifications/add', {
      ...nda,
      actionUser: { userId: 'ada' },
      displayHeadlineMessageTemplate: 'secret',
      displayBodyMessage: 'secret',
      notifyUsers: [{ userId: 'bob' }, { userId: 'eve' }],
    });
    await publish(await insertionsOf('Notification'));
    expect(published.map(({ channel, event }) => [channel, event.type])).toEqual([
      [userChannel('bob'), 'notification.add'],
    ]);
    expect(JSON.stringify(published)).not.toContain('secret');
  });

  test('publishes views to the user alone, once for a batch, and only if the user is connected', async () => {
    for (const userId of ['ada', 'bob']) await connect(userId);
    const annotationIds = times(40, (index) => `t${index}`);
    for (const annotationId of annotationIds) await addThread(annotationId);
    for (const ids of [annotationIds.slice(0, 20), annotationIds.slice(20)])
      for (const userId of ['bob', 'eve'])
        await customer.ok('/v2/commentannotations/views/add', { ...nda, annotationIds: ids, userId });
    await publish(await insertionsOf('ThreadViews'));
    expect(published.map(({ channel, event: { type, ids } }) => [channel, type, ids])).toEqual([
      [userChannel('bob'), 'comment_annotation.view', { documentId: 'nda' }],
    ]);
  });

  test('publishes a notification for everybody to the users who have its document open and may see it', async () => {
    for (const userId of ['ada', 'bob', 'eve']) await connect(userId);
    await addThread('private', { visibility: { type: 'restricted', userIds: ['bob'] } });
    const texts = { displayHeadlineMessageTemplate: 'secret', displayBodyMessage: 'secret' };
    for (const [notificationId, fields] of Object.entries({
      named: { notifyUsers: [{ userId: 'bob' }], notifyAll: false },
      all: { notifyUsers: [{ userId: 'bob' }] },
      private: { notifyUsers: [], notificationSource: 'comment', notificationSourceData: { annotationId: 'private' } },
      context: { notifyUsers: [], context: { access: { team: 'legal' } } },
    }))
      await customer.ok('/v2/notifications/add', {
        ...nda,
        notificationId,
        actionUser: { userId: 'ada' },
        ...texts,
        ...fields,
      });
    await publish(await insertionsOf('Notification'));
    const byUser = Map.groupBy(published, ({ channel }) => channel);
    const idsOf = (userId: string) =>
      (byUser.get(userChannel(userId)) ?? []).map(({ event }) => event.ids.notificationId).sort();
    expect([idsOf('ada'), idsOf('bob'), idsOf('eve')]).toEqual([
      ['all', 'private'],
      ['all', 'named', 'private'],
      ['all'],
    ]);
    expect(published.every(({ event }) => event.type === 'notification.add')).toBe(true);
  });

  describe('a change of a notification', () => {
    const notify = (notificationId: string, more: object = {}) =>
      customer.ok('/v2/notifications/add', {
        ...nda,
        notificationId,
        actionUser: { userId: 'ada' },
        displayHeadlineMessageTemplate: 'x',
        displayBodyMessage: 'x',
        notifyUsers: [{ userId: 'bob' }],
        ...more,
      });
    /** Returns the change of each notification by `act`, as the stream has it. */
    const changesBy = async (act: () => Promise<unknown>): Promise<ChangedItem[]> => {
      const before = await itemsOf('Notification');
      await act();
      const after = await itemsOf('Notification');
      return before.flatMap((old) => {
        const stored = after.find(({ SK }) => SK === old.SK);
        const change = changeOf(stored ? 'modify' : 'remove', stored ?? old);
        return stored?._r === old._r ? [] : [{ ...change, before: () => old }];
      });
    };
    const change = (fields: object) => () =>
      customer.ok('/v2/notifications/update', { organizationId: 'acme', notifications: [{ id: 'n', ...fields }] });
    const heard = () => published.map(({ channel, event }) => [channel, event.type, event.ids]).sort();
    const ids = { notificationId: 'n', documentId: 'nda' };

    test.each([
      ['a text goes to all who may see it', { displayBodyMessage: 'y' }, {}, ['ada', 'bob', 'eve']],
      [
        'a text goes to named users only, if it is for them',
        { displayBodyMessage: 'y' },
        { notifyAll: false },
        ['bob'],
      ],
      [
        'a text and readers goes to all',
        { readByUserIds: ['bob'], displayBodyMessage: 'y' },
        {},
        ['ada', 'bob', 'eve'],
      ],
      ['a named reader goes to this reader', { readByUserIds: ['bob'] }, {}, ['bob']],
      ['an unnamed reader goes to this reader', { readByUserIds: ['eve'] }, {}, ['eve']],
      ['a reader who may not see it goes to nobody', { readByUserIds: ['eve'] }, { notifyAll: false }, []],
    ])('of %s', async (_title, fields, more, readers) => {
      for (const userId of ['ada', 'bob', 'eve']) await connect(userId);
      await notify('n', more);
      await publish(await changesBy(change(fields)));
      expect(heard()).toEqual(readers.map((userId) => [userChannel(userId), 'notification.update', ids]).sort());
    });

    test('to read goes to a reader whose access is in the user token only', async () => {
      await customer.setAccess('restricted', ['nda']);
      await connect('eve', [{ type: 'document', id: 'nda', organizationId: 'acme' }]);
      await notify('n');
      await publish(await changesBy(change({ readByUserIds: ['eve'] })));
      expect(heard()).toEqual([[userChannel('eve'), 'notification.update', ids]]);
    });

    test('to read goes to a reader who has another document open', async () => {
      await connect('eve');
      await customer.addDocuments(['offer']);
      await notify('n', { documentId: 'offer' });
      await publish(await changesBy(change({ readByUserIds: ['eve'] })));
      expect(heard()).toEqual([[userChannel('eve'), 'notification.update', { ...ids, documentId: 'offer' }]]);
    });

    test('to read has one hint without ids if more than 20 change at once', async () => {
      await connect('bob');
      for (const id of times(21, (n) => `n${n}`)) await notify(id);
      const markAll = { organizationId: 'acme', userId: 'bob', markAllAsRead: true };
      await publish(await changesBy(() => customer.untyped('/v2/notifications/update', markAll)));
      expect(heard()).toEqual([[userChannel('bob'), 'notification.update', {}]]);
      const user = await newUser(customer, 'bob');
      const { userHints } = await user.ok('/v2/live/changes', { ...nda, after: 0 });
      expect(userHints).toMatchObject([{ type: 'notification.update', ids: {} }]);
    });

    test('by the deletion of its document has a hint without ids for named users who are connected elsewhere', async () => {
      await connect('bob');
      await customer.addDocuments(['offer']);
      await notify('n', { documentId: 'offer' });
      const [item] = await itemsOf('Notification');
      await customer.ok('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['offer'] });
      await publish([{ ...changeOf('remove', item!), before: () => item }]);
      expect(heard()).toEqual([[userChannel('bob'), 'notification.delete', {}]]);
      const { userHints } = await (await newUser(customer, 'bob')).ok('/v2/live/changes', { ...nda, after: 0 });
      expect(userHints).toMatchObject([{ type: 'notification.delete', ids: {} }]);
    });
  });

  test('records nothing for a document without a connected user', async () => {
    await addThread('a');
    await publish(await insertionsOf('Thread'));
    expect([published, await recordedHints()]).toEqual([[], []]);
  });

  test('records changes of a restored table, whose stream numbers begin again', async () => {
    await connect('ada');
    await addThread('a');
    const [thread] = await insertionsOf('Thread');
    await publish([{ ...thread!, id: '1000' }]);
    await publish([{ ...thread!, id: '1', stream: 'another' }]);
    expect(await recordedVersions()).toEqual([1, 2]);
  });
});

test('a document that is added again has larger versions, so that clients of the deleted document read it again', async () => {
  const ada = await newUser(customer, 'ada');
  const addAndPublish = async (annotationId: string) => {
    await ada.ok('/v2/live/connect', nda);
    await addThread(annotationId);
    await publish((await insertionsOf('Thread')).filter(({ item }) => item?.annotationId === annotationId));
  };
  await addAndPublish('old');
  const { version } = await ada.ok('/v2/live/changes', { ...nda, after: 0 });
  await customer.ok('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['nda'] });
  await customer.addDocuments(['nda']);
  await addAndPublish('new');
  const changes = await ada.ok('/v2/live/changes', { ...nda, after: version });
  expect(changes.complete).toBe(false);
  expect(changes.version).toBeGreaterThan(version as number);
});

test('the changes after the largest possible version are incomplete', async () => {
  const ada = await newUser(customer, 'ada');
  await ada.ok('/v2/live/connect', nda);
  const changes = await ada.ok('/v2/live/changes', { ...nda, after: Number.MAX_SAFE_INTEGER });
  expect(changes).toMatchObject({ hints: [], complete: false, hasMore: false });
});

describe('a user who loses access', () => {
  async function restrict(): Promise<ChangedItem[]> {
    await customer.setAccess('restricted', ['nda']);
    const [stored] = await itemsOf('Document');
    return [changeOf('modify', stored!)];
  }

  test('gets system.revoked on the old channels, and other users get new channels', async () => {
    await connect('ada');
    await addThread('a');
    await publish(await insertionsOf('Thread'));
    await publish(await restrict());
    const [added, ...later] = eventsOn(channelOf(1));
    expect([added?.type, ...later.map(({ type }) => type)]).toEqual(['comment_annotation.add', 'system.revoked']);
    expect(eventsOn(names.ofDocument({ ...document, epoch: 1 }).awareness)).toEqual([{ type: 'system.revoked' }]);
    const [thread] = await itemsOf('Thread');
    await publish([changeOf('modify', thread!)]);
    expect(eventsOn(channelOf(1)).at(-1)).toEqual({ type: 'system.revoked' });
    expect(eventsOn(channelOf(2)).map(({ type, version }) => [type, version])).toEqual([
      ['comment_annotation.update', Number(added?.version) + 1],
    ]);
    restartFunctions();
    expect((await connect('ada')).status).toBe(403);
  });

  test('gets system.revoked when the user is erased, even if the user is added again at once', async () => {
    await connect('ada');
    await customer.ok('/v2/users/data/delete', { userIds: ['ada'] });
    const erased = (await itemsOf('User')).find(({ userId }) => userId === 'ada')!;
    await customer.addUsers([{ userId: 'ada' }]);
    await publish([changeOf('modify', erased)]);
    expect(eventsOn(channelOf(1))).toEqual([{ type: 'system.revoked' }]);
  });

  test('gets system.revoked also with sessions in more than 500 documents', async () => {
    await connect('ada');
    const session = { ...document, userId: 'ada', expiresAt: Date.now() };
    for (const number of times(500, (index) => index))
      await table.write([upsert(UserSessionEntity, { ...session, documentKey: `a${number}` })]);
    await customer.ok('/v2/users/data/delete', { userIds: ['ada'] });
    await publish(((await itemsOf('User')) as any[]).map((user) => changeOf('modify', user)));
    expect(eventsOn(channelOf(1))).toEqual([{ type: 'system.revoked' }]);
  });

  test('gets system.revoked when the user is erased, even if the new user connects before', async () => {
    await connect('ada');
    await customer.ok('/v2/users/data/delete', { userIds: ['ada'] });
    await customer.addUsers([{ userId: 'ada' }]);
    expect((await connect('ada')).status).toBe(409);
    const [marked] = await itemsOf('DocumentSession');
    await publish([changeOf('modify', marked!)], undefined, Date.now() - 2_000);
    expect(eventsOn(channelOf(1))).toEqual([{ type: 'system.revoked' }]);
    expect((await connect('ada')).status).toBe(200);
  });

  test('gets system.revoked when the organization is deleted, even if another one is added under its id', async () => {
    await connect('ada');
    await customer.ok('/v2/organizations/delete', { organizationIds: [nda.organizationId] });
    await customer.addDocuments(['nda']);
    await publish(await insertionsOf('Job'));
    expect(eventsOn(channelOf(1))).toEqual([{ type: 'system.revoked' }]);
  });

  test('loses access even if any database call crashes or fails, and other users keep access', async () => {
    await connect('ada');
    await connect('bob');
    const calls = new Trial();
    await publish(await restrict(), calls);
    const faults = everyFault(calls.calls);
    expect(faults.length).toBeGreaterThan(10);
    for (const fault of faults) {
      // Each fault gets its own document, so that no earlier run has ended the sessions.
      const documentId = `doc-${fault.kind}-${fault.occurrence}-${fault.failure}-${fault.when}`;
      await customer.addDocuments([documentId]);
      const stored = (await itemsOf('Document')).find((item) => item.documentId === documentId)!;
      const keys = { ...document, documentKey: stored.internalId as string };
      const sessionStore = new SessionStore(table);
      const ids = { organizationId: nda.organizationId, documentId };
      await sessionStore.connect(keys, ids, { userId: 'ada', tokenRevocations: 0, hasStoredAccess: true }, Date.now());
      await customer.setAccess('restricted', [documentId]);
      const changed = (await itemsOf('Document')).find((item) => item.documentId === documentId)!;
      published = [];
      const trial = new Trial(fault);
      await publish([changeOf('modify', changed)], trial);
      const old = names.ofDocument({ ...keys, epoch: 1 });
      expect([trial.injected, eventsOn(old.document).at(-1), eventsOn(old.awareness).at(-1)]).toEqual([
        [expect.anything()],
        { type: 'system.revoked' },
        { type: 'system.revoked' },
      ]);
      expect(await sessionStore.sessions(keys)).toEqual([]);
    }
  });

  test('makes the publisher wait once for running publishes, even if access to 20 documents ends', async () => {
    const sessionStore = new SessionStore(table);
    const documents = times(20, (index) => ({ ...document, documentKey: `doc_${index}` }));
    const session = { userId: 'ada', tokenRevocations: 0, hasStoredAccess: true };
    for (const keys of documents)
      await sessionStore.connect(keys, { ...nda, documentId: keys.documentKey }, session, Date.now());
    await customer.ok('/v2/organizations/access/disablestate/update', {
      organizationIds: [nda.organizationId],
      disabled: true,
    });
    const [organization] = await itemsOf('Organization');
    const pauses: number[] = [];
    const events = { publish: async () => Promise.resolve() };
    const publisher = new ChannelPublisher(events, (milliseconds) => Promise.resolve(pauses.push(milliseconds)));
    const failed = await runPublisher(() =>
      publishChanges({ ...portsOf(new Invocation()), publisher }, [changeOf('modify', organization!)], call(undefined)),
    );
    expect(failed).toEqual([]);
    for (const keys of documents) expect(await sessionStore.sessions(keys)).toEqual([]);
    expect(pauses.filter((milliseconds) => milliseconds > 1_000)).toHaveLength(1);
  });

  test('gets the hint access.update if only the access context shrinks. Other users do not', async () => {
    const READ = '/v2/commentannotations/get';
    const grant = (region: string[]) =>
      customer.grant('ada', { type: 'document', id: 'nda', organizationId: 'acme', context: { access: { region } } });
    await grant(['eu', 'us']);
    for (const userId of ['ada', 'bob']) expect((await connect(userId)).status).toBe(200);
    await addThread('us', { context: { access: { region: 'us' } } });
    restartFunctions();
    expect(await (await newUser(customer, 'ada', [])).ok(READ, nda)).toHaveLength(1);
    await grant(['eu']);
    const changed = (await itemsOf('Grant')).filter(({ resourceType }) => resourceType === 'document');
    await publish(changed.map((item) => changeOf('modify', item)));
    expect(published).toEqual([
      {
        channel: userChannel('ada'),
        event: { type: 'access.update', id: expect.any(String), at: expect.any(Number), ids: {} },
      },
    ]);
    restartFunctions();
    expect(await (await newUser(customer, 'ada', [])).ok(READ, nda)).toEqual([]);
    // Later hints about the thread do not reach the user.
    published = [];
    await publish(await insertionsOf('Thread'));
    expect(published).toEqual([]);
  });

  test('keeps the channels when a document changes without a loss of access', async () => {
    await connect('ada');
    const [stored] = await itemsOf('Document');
    await publish([changeOf('modify', stored!)]);
    expect(published).toEqual([]);
  });
});

describe('access that expires', () => {
  let inAnHour: number;
  const DAY = 24 * 3_600_000;
  const named = { type: 'document', id: 'nda', organizationId: 'acme' };
  const resource = { ...named, accessRole: 'viewer' };
  const grant = (userId: string, expiresAt: number) => customer.grant(userId, { ...resource, expiresAt });
  const sessionOf = async (userId: string) =>
    (await itemsOf('DocumentSession')).find((session) => session.userId === userId)!;
  const sweep = async (now: number) =>
    runSweep(() =>
      new SessionSweeper(table).markExpired({
        clock: () => now,
        deadline: now + 55_000,
      }),
    );
  /** Runs the sweep, and then the publisher for the items that the sweep wrote. */
  const expire = async (userId: string, now: number) => {
    await sweep(now);
    await publish([changeOf('modify', await sessionOf(userId))], undefined, now);
  };
  const typesOn = (epoch: number) => eventsOn(channelOf(epoch)).map(({ type }) => type);
  beforeEach(async () => {
    inAnHour = Math.floor(Date.now() / 1000) + 3_600;
    await customer.setAccess('restricted', ['nda']);
    restartFunctions();
  });

  test('ends the session when the stored grant expires', async () => {
    await grant('ada', inAnHour);
    expect((await connect('ada')).status).toBe(200);
    await expire('ada', inAnHour * 1_000 - 1);
    expect(published).toEqual([]);
    await expire('ada', inAnHour * 1_000);
    expect(typesOn(1)).toEqual(['system.revoked']);
    expect(await sessionOf('ada')).toHaveProperty('endedAt');
  });

  test('ends the session when the grant of the user token expires', async () => {
    expect((await connect('ada', [{ ...resource, expiresAt: inAnHour }])).status).toBe(200);
    await expire('ada', inAnHour * 1_000);
    expect(typesOn(1)).toEqual(['system.revoked']);
  });

  test('ends the session when the user token expires, if the user has no other access', async () => {
    await connect('ada', [resource]);
    const { accessEndsAt } = await sessionOf('ada');
    expect(accessEndsAt).toBeGreaterThan(Date.now() + 47 * 3_600_000);
    expect(accessEndsAt).toBeLessThanOrEqual(Date.now() + 48 * 3_600_000);
  });

  test('ends the session at the later time if the grant was extended', async () => {
    await grant('ada', inAnHour);
    await connect('ada');
    await grant('ada', inAnHour + 60);
    await expire('ada', inAnHour * 1_000);
    expect(published).toEqual([]);
    expect(await sessionOf('ada')).toMatchObject({ accessEndsAt: (inAnHour + 60) * 1_000 });
    expect(await sessionOf('ada')).not.toHaveProperty('hasExpired');
    await expire('ada', (inAnHour + 60) * 1_000);
    expect(typesOn(1)).toEqual(['system.revoked']);
  });

  test('ends the session at the earlier time if the grant was shortened', async () => {
    await grant('ada', inAnHour);
    await connect('ada');
    await grant('ada', inAnHour - 60);
    const [changed] = await itemsOf('Grant').then((grants) =>
      grants.filter(({ resourceType }) => resourceType === 'document'),
    );
    await publish([changeOf('modify', changed!)]);
    expect(await sessionOf('ada')).toMatchObject({ accessEndsAt: (inAnHour - 60) * 1_000 });
  });

  test('is returned by the sweep shortly before, so that the sweep waits for it', async () => {
    await grant('ada', inAnHour);
    await connect('ada');
    expect(await sweep(inAnHour * 1_000 - 30_000)).toBe(inAnHour * 1_000);
    expect(await sweep(inAnHour * 1_000 - 60_000)).toBeUndefined();
  });

  test('sets no end of the session for a user whose access does not expire', async () => {
    await customer.grant('ada', resource);
    await connect('ada', [{ ...resource, expiresAt: inAnHour }]);
    expect(await sessionOf('ada')).not.toHaveProperty('accessEndsAt');
    expect(await sessionOf('ada')).toMatchObject({ hasStoredAccess: true });
  });

  test('keeps the session of a user token if another document or grant of the user changes', async () => {
    await connect('ada', [resource]);
    const { PK } = await sessionOf('ada');
    const userKey = `${String(PK).split('#', 4).join('#')}#USER#ada`;
    await publish([
      changeOf('modify', { PK: userKey, SK: 'GRANT#document#other', _t: 'Grant' }),
      changeOf('insert', { PK: userKey, SK: 'GRANT_REMOVED#grant#other', _t: 'AccessRemoval', internalId: 'other' }),
    ]);
    expect(typesOn(1)).toEqual([]);
    const removal = { SK: `GRANT_REMOVED#grant#${document.documentKey}`, internalId: document.documentKey };
    await publish([changeOf('insert', { PK: userKey, _t: 'AccessRemoval', ...removal })]);
    expect(typesOn(1)).toEqual(['system.revoked']);
  });

  test('ends the session of a user token if the document leaves the folder that the token names', async () => {
    const { organizationId } = nda;
    await customer.addFolders([
      { folderId: 'contracts', accessType: 'restricted' },
      { folderId: 'old', parentFolderId: 'contracts' },
      { folderId: 'other', accessType: 'restricted' },
    ]);
    const move = async (folderId: string) => {
      await customer.ok('/v2/organizations/documents/move', { organizationId, documentIds: ['nda'], folderId });
      return changeOf('modify', (await itemsOf('Document'))[0]!);
    };
    await move('contracts');
    await connect('ada', [{ type: 'folder', id: 'contracts', organizationId, accessRole: 'viewer' }]);
    expect(await sessionOf('ada')).toMatchObject({ hasStoredAccess: false });
    await publish([await move('old')]);
    expect(typesOn(1)).toEqual([]);
    await publish([await move('other')]);
    expect(typesOn(1)).toEqual(['system.revoked']);
  });

  test('lets the user connect again with another grant of the user token, and not with the removed one', async () => {
    const { organizationId } = nda;
    await customer.addFolders([{ folderId: 'contracts', accessType: 'restricted' }]);
    await customer.ok('/v2/organizations/documents/move', {
      organizationId,
      documentIds: ['nda'],
      folderId: 'contracts',
    });
    const folder = { type: 'folder', id: 'contracts', organizationId, accessRole: 'viewer' };
    const [ada, bob] = [await newUser(customer, 'ada', [resource, folder]), await newUser(customer, 'bob', [resource])];
    const statuses = async () =>
      Promise.all([ada, bob].map(async (user) => (await user.call('/v2/live/connect', nda)).status));
    expect(await statuses()).toEqual([200, 200]);
    for (const userId of ['ada', 'bob'])
      await customer.untyped('/v2/auth/permissions/remove', { userId, permissions: { resources: [named] } });
    await publish(await insertionsOf('AccessRemoval'), undefined, Date.now() - 2_000);
    expect(typesOn(1)).toEqual(['system.revoked']);
    expect(await statuses()).toEqual([200, 403]);
  });

  test('ends the session of a user token if the organization is disabled', async () => {
    await connect('ada', [resource]);
    await customer.ok('/v2/organizations/access/disablestate/update', {
      organizationIds: [nda.organizationId],
      disabled: true,
    });
    const [organization] = await itemsOf('Organization');
    await publish([changeOf('modify', organization!)]);
    expect(typesOn(1)).toEqual(['system.revoked']);
  });

  test('lets a user return whose expired session DynamoDB has not deleted yet', async () => {
    await grant('ada', inAnHour);
    await connect('ada');
    const key = { ...document, userId: 'ada' };
    const session = (await table.get(DocumentSessionEntity, key))!;
    const expired = { ...key, ...session, expiresAt: Math.floor(Date.now() / 1000) };
    // Each connect has raised the revision.
    await table.write([upsert(DocumentSessionEntity, expired, 3)]);
    expect((await connect('ada')).status).toBe(200);
    expect((await sessionOf('ada')).ttl).toBeGreaterThan(Date.now() / 1000);
  });

  test('ends the session of a client that has sent nothing for hours', async () => {
    await grant('ada', inAnHour);
    await connect('ada');
    await customer.untyped('/v2/auth/permissions/remove', { userId: 'ada', permissions: { resources: [named] } });
    const PK = `${String((await sessionOf('ada')).PK)
      .split('#', 4)
      .join('#')}#USER#ada`;
    const removed = { PK, SK: `GRANT#document#${document.documentKey}` };
    await publish([changeOf('remove', removed)], undefined, Date.now() + DAY);
    expect(typesOn(1)).toEqual(['system.revoked']);
  });
});

describe('revoked user tokens', () => {
  const member = { type: 'organization', id: nda.organizationId };
  /** Revokes all user tokens. Returns the customer with the new auth token. */
  async function revoke(): Promise<Customer> {
    const { body } = await post(handlerOf('/v2/workspace/authtoken/reset'), customer.workspaceHeaders, {
      apiKey: customer.apiKey,
      revokeUserTokens: true,
    });
    const token = { 'x-svc-auth-token': body.result.data.newAuthToken.token as string };
    const send: Customer['call'] = async (path, data) => customer.call(path, data, token);
    const untyped: Customer['untyped'] = async (path, data) => (await send(path, data)).body.result.data;
    return { ...customer, call: send, ok: untyped, untyped };
  }
  const connectWith = async (user: TestUser) => user.call('/v2/live/connect', nda);
  const sessionsAsChanges = async () =>
    (await itemsOf('DocumentSession')).map((session) => changeOf('modify', session));
  const apiKeyAsChange = async () => {
    const apiKey = await table.get(ApiKeyEntity, customer);
    return changeOf('modify', { PK: `T#${customer.apiKey}`, SK: 'KEY', _t: 'ApiKey', ...apiKey });
  };
  /** Publishes the change of the API key, and then the changes of the sessions that it marked. */
  async function publishRevocation(trial?: Trial): Promise<void> {
    await publish([await apiKeyAsChange()], trial);
    await publish(await sessionsAsChanges(), trial);
  }

  test('end the sessions of all users, even of users with stored access', async () => {
    for (const userId of ['ada', 'bob']) expect((await connect(userId, [member])).status).toBe(200);
    await revoke();
    await publishRevocation();
    expect(eventsOn(channelOf(1))).toEqual([{ type: 'system.revoked' }]);
    for (const session of await itemsOf('DocumentSession')) expect(session).toHaveProperty('endedAt');
  });

  test('end the sessions even if any database call crashes or fails', async () => {
    const calls = new Trial();
    let revoked = customer;
    const connectAgain = async () =>
      expect((await connectWith(await newUser(revoked, 'ada', [member]))).status).toBe(200);
    await connectAgain();
    revoked = await revoke();
    await publishRevocation(calls);
    const faults = everyFault(calls.calls);
    expect(faults.length).toBeGreaterThan(10);
    for (const [index, fault] of faults.entries()) {
      await connectAgain();
      revoked = await revoke();
      published = [];
      const trial = new Trial(fault);
      await publishRevocation(trial);
      expect([trial.injected, eventsOn(channelOf(index + 2)).at(-1)]).toEqual([
        [expect.anything()],
        { type: 'system.revoked' },
      ]);
      for (const session of await itemsOf('DocumentSession')) expect(session).toHaveProperty('endedAt');
    }
  });

  test('do not end the session of a user who has connected with a newer token', async () => {
    const revoked = await revoke();
    restartFunctions();
    expect((await connectWith(await newUser(revoked, 'ada', [member]))).status).toBe(200);
    await publishRevocation();
    expect(published).toEqual([]);
    expect((await itemsOf('DocumentSession'))[0]).not.toHaveProperty('hasExpired');
  });

  test('are rejected by connect at once, and newer tokens connect to other channels', async () => {
    const old = await newUser(customer, 'ada', [member]);
    const { channels } = (await connectWith(old)).body.result.data;
    const revoked = await revoke();
    expect((await connectWith(old)).status).toBe(403);
    await publishRevocation();
    const renewed = (await connectWith(await newUser(revoked, 'ada', [member]))).body.result.data;
    expect(renewed.channels.document).not.toBe(channels.document);
    expect(renewed.channels.user).not.toBe(channels.user);
  });

  test('are rejected by the authorizer, because the session from before the revocation is hidden', async () => {
    const sessionStore = new SessionStore(table);
    await connect('ada', [member]);
    expect(await sessionStore.session(document, 'ada', Date.now())).toBeDefined();
    await revoke();
    expect(await sessionStore.session(document, 'ada', Date.now())).toBeUndefined();
  });

  test('receive no hints for their user, who receives them with a newer token', async () => {
    await connect('bob', [member]);
    const revoked = await revoke();
    await publishRevocation();
    await connectWith(await newUser(revoked, 'bob', [member]));
    await revoked.call('/v2/notifications/add', {
      ...nda,
      actionUser: { userId: 'ada' },
      displayHeadlineMessageTemplate: 'x',
      displayBodyMessage: 'x',
      notifyUsers: [{ userId: 'bob' }],
    });
    published = [];
    await publish(await insertionsOf('Notification'));
    expect(published.map(({ channel, event }) => [channel, event.type])).toEqual([
      [userChannel('bob', 1), 'notification.add'],
    ]);
  });

  test('end no session if the auth tokens are reset without a revocation', async () => {
    await connect('ada', [member]);
    await post(handlerOf('/v2/workspace/authtoken/reset'), customer.workspaceHeaders, {
      apiKey: customer.apiKey,
    });
    await publishRevocation();
    expect(published).toEqual([]);
  });
});

test('the channels of a document that got another id end with system.migrated', async () => {
  await connect('ada', [{ type: 'organization', id: 'acme' }]);
  const { migrationId } = await customer.ok('/v2/organizations/documents/migrate', {
    ...nda,
    newDocumentId: 'nda-2026',
  });
  await new JobRunner(Date.now()).finish({ tenant: customer.apiKey, jobId: migrationId });
  const [renamed] = await itemsOf('Document');
  const changes = [changeOf('modify', renamed!)];
  await publish(changes);
  const last = { type: 'system.migrated', newDocumentId: 'nda-2026' };
  const { document: channel, awareness } = names.ofDocument({ ...document, epoch: 1 });
  expect([eventsOn(channel), eventsOn(awareness)]).toEqual([[last], [last]]);
  published = [];
  await publish(changes);
  expect(published).toEqual([]);
  const { body } = await (
    await newUser(customer, 'ada', [])
  ).call('/v2/live/connect', { ...nda, documentId: 'nda-2026' });
  expect(body.result.data.channels.document).not.toBe(channel);
});
