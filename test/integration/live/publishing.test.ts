import { beforeEach, describe, expect, test } from '@jest/globals';
import { editConsumption } from '../../../infra/commands/cost/live.ts';
import type { ChangedItem } from '../../../lib/app/worker.ts';
import { AccessRemovalEntity } from '../../../lib/directory/accessRemovals.ts';
import { GrantEntity } from '../../../lib/directory/users.ts';
import { ApiKeyEntity } from '../../../lib/http/entities.ts';
import { ChannelPublisher } from '../../../lib/live/channelPublisher.ts';
import { DocumentSessionEntity, UserSessionEntity } from '../../../lib/live/entities.ts';
import { SessionStore } from '../../../lib/live/sessionStore.ts';
import { liveSessionSweep, SessionSweeper } from '../../../lib/live/sweepSessions.ts';
import { upsert } from '../../../lib/table/table.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { everyFault, Trial } from '../../support/crashes.ts';
import type { Customer } from '../../support/customer.ts';
import { handlerOf, restartFunctions } from '../../support/functionHandlers.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { livePublisher } from '../../support/livePublisher.ts';
import { roleOf } from '../../support/permissions.ts';
import { post } from '../../support/requests.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';
import { newUser, type TestUser } from '../../support/userTokens.ts';

const notification = {
  ...nda,
  actionUser: { userId: 'ada' },
  displayHeadlineMessageTemplate: 'x',
  displayBodyMessage: 'x',
};
const runSweep = roleOf('sweep', [liveSessionSweep]);
const revokedEvent = { type: 'system.revoked' };

const world = acmeWorld({ table: 'memory', documents: ['nda'] });
const { customer, itemsOf } = world;
const live = livePublisher(world);
const { published, publish, changeOf, changesOf, connect, channelsOf, channelOf, userChannel, eventsOn } = live;
const sessionStore = new SessionStore(table);
beforeEach(async () => {
  await customer.addUsers(
    ['ada', 'bob', 'eve'].map((userId) => ({ userId, name: userId, email: `${userId}@example.com` })),
  );
});

async function addThread(annotationId: string, fields: object = {}): Promise<void> {
  await customer.ok('/v2/commentannotations/add', {
    ...nda,
    commentAnnotations: [{ annotationId, commentData: [{ commentText: 'x', from: { userId: 'ada' } }], ...fields }],
  });
}

const show = (updatedData: { visibility: { type: 'restricted'; userIds: string[] } | { type: 'public' } }) =>
  customer.untyped('/v2/commentannotations/update', { ...nda, annotationIds: ['private'], updatedData });
const onlyFor = (...userIds: string[]) => ({ visibility: { type: 'restricted' as const, userIds } });

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

const missedBy = async (userId: string) =>
  (await (await newUser(customer, userId)).ok('/v2/live/changes', { ...nda, after: 0 })).userHints;

const storedDocument = async (documentId: string = nda.documentId) =>
  (await itemsOf('Document')).find((item) => item.documentId === documentId)!;

describe('the publisher', () => {
  test('publishes presences and live states without e-mail addresses', async () => {
    await connect('bob', [{ type: 'organization', id: 'acme' }]);
    const ada = { userId: 'ada', name: 'Ada', email: 'ada@example.com' };
    await customer.ok('/v2/presence/add', { ...nda, users: [ada] });
    await customer.ok('/v2/livestate/broadcast', { ...nda, liveStateDataId: 's', data: { by: ada } });
    await publish(await changesOf('insert', 'Presence', 'LiveState'));
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
      await publish(await changesOf('insert', 'Thread'), { trial: calls });
      let expected = 2;
      for (const fault of everyFault(calls.calls)) {
        live.clear();
        const changes = await changesOf('insert', 'Thread');
        const trial = new Trial(fault);
        await publish(changes, { trial });
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

  test('publishes an edit with its content, records it without, and makes as many table calls as npm run cost calculates', () =>
    withStillClock(async () => {
      await connect('ada');
      await customer.ok('/v2/crdt/add', { ...nda, editorId: 'summary', type: 'text', data: 'hello' });
      const { editorKey } = await customer.ok('/v2/crdt/updates/get', { ...nda, editorId: 'summary' });
      const trial = new Trial();
      await publish([await live.editOf()], { trial });
      const hint = { type: 'crdt.update', editorId: 'summary', editorKey, version: expect.any(Number) };
      expect(eventsOn(channelOf())).toEqual([expect.objectContaining({ ...hint, update: expect.any(String) })]);
      const recorded = await recordedHints();
      expect(recorded).toEqual([expect.objectContaining(hint)]);
      expect(recorded[0]).not.toHaveProperty('update');
      expect(trial.calls).toEqual(['BatchGetCommand', 'BatchGetCommand', 'TransactWriteCommand', 'Publish']);
      // The transaction writes two items of up to 1 kB. In a transaction, each costs two units.
      const written = await Promise.all(['LiveChannel', 'LiveHints'].map((type) => itemsOf(type)));
      for (const item of written.flat()) expect(JSON.stringify(item).length).toBeLessThan(1_024);
      expect(editConsumption).toMatchObject({
        calls: trial.calls.length - 1,
        read: 2,
        written: 2 * written.flat().length,
      });
    }));

  test('publishes different hints for two changes of a private comment in the same second', () =>
    withStillClock(async () => {
      await addThread('private', onlyFor('bob'));
      await connect('bob');
      const [comment] = await itemsOf('Comment');
      for (let n = 0; n < 2; n++) await publish([changeOf('modify', comment!)]);
      const pushed = eventsOn(userChannel('bob'));
      expect(new Set(pushed.map((hint) => JSON.stringify(hint))).size).toBe(2);
      expect(await missedBy('bob')).toEqual(pushed);
    }));

  test.each([
    ['to each user who lost access in one of several changes', [onlyFor('bob', 'eve'), onlyFor('eve')], ['bob', 'dan']],
    ['to nobody if all users may read it again', [onlyFor(), { visibility: { type: 'public' as const } }], []],
  ])('publishes a hint to hide a thread %s', async (_title, changes, readers) => {
    for (const userId of ['ada', 'bob', 'eve', 'dan']) await connect(userId);
    await addThread('private');
    for (const change of changes) await show(change);
    const hidden = await changesOf('insert', 'ThreadAccessChange');
    expect(hidden).not.toEqual([]);
    await publish(hidden);
    expect(new Set(published.map(({ channel }) => channel))).toEqual(
      new Set(readers.map((userId) => userChannel(userId))),
    );
  });

  test('publishes views to the user alone, once for a batch, and only if the user is connected', async () => {
    for (const userId of ['ada', 'bob']) await connect(userId);
    const annotationIds = times(21, (index) => `t${index}`);
    for (const annotationId of annotationIds) await addThread(annotationId);
    for (const ids of [annotationIds.slice(0, 20), annotationIds.slice(20)])
      for (const userId of ['bob', 'eve'])
        await customer.ok('/v2/commentannotations/views/add', { ...nda, annotationIds: ids, userId });
    await publish(await changesOf('insert', 'ThreadViews'));
    expect(published.map(({ channel, event: { type, ids } }) => [channel, type, ids])).toEqual([
      [userChannel('bob'), 'comment_annotation.view', { documentId: 'nda' }],
    ]);
  });

  describe('a change of a notification', () => {
    const notify = (notificationId: string, more: object = {}) =>
      customer.ok('/v2/notifications/add', {
        ...notification,
        notificationId,
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

    const onDocument = [{ type: 'document', id: 'nda', organizationId: 'acme' }];
    test.each<[string, { documentId?: string; notifyAll?: boolean }, object[], boolean]>([
      ['whom it does not name', {}, [], true],
      ['whose access is in the user token only', {}, onDocument, true],
      ['who has another document open', { documentId: 'offer' }, [], true],
      ['who may not see it, not at all', { notifyAll: false }, [], false],
    ])('to read goes to the reader alone %s', async (_title, more, resources, isHeard) => {
      await customer.addDocuments(['offer']);
      if (resources.length > 0) await customer.setAccess('restricted', ['nda']);
      await connect('ada');
      await connect('eve', resources);
      await notify('n', more);
      await publish(await changesBy(change({ readByUserIds: ['eve'] })));
      const read = [
        userChannel('eve'),
        'notification.update',
        { ...ids, ...(more.documentId && { documentId: more.documentId }) },
      ];
      expect(heard()).toEqual(isHeard ? [read] : []);
    });

    test('to read has one hint without ids if more than 20 change at once', async () => {
      await connect('bob');
      for (const id of times(21, (n) => `n${n}`)) await notify(id);
      const markAll = { organizationId: 'acme', userId: 'bob', markAllAsRead: true };
      await publish(await changesBy(() => customer.untyped('/v2/notifications/update', markAll)));
      expect(heard()).toEqual([[userChannel('bob'), 'notification.update', {}]]);
      expect(await missedBy('bob')).toMatchObject([{ type: 'notification.update', ids: {} }]);
    });

    test('by the deletion of its document has a hint without ids for named users who are connected elsewhere', async () => {
      await connect('bob');
      await customer.addDocuments(['offer']);
      await notify('n', { documentId: 'offer' });
      const [item] = await itemsOf('Notification');
      await customer.ok('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['offer'] });
      await publish([changeOf('remove', item!)]);
      expect(heard()).toEqual([[userChannel('bob'), 'notification.delete', {}]]);
      expect(await missedBy('bob')).toMatchObject([{ type: 'notification.delete', ids: {} }]);
    });
  });

  test('records nothing for a document without a connected user', async () => {
    await addThread('a');
    await publish(await changesOf('insert', 'Thread'));
    expect([published, await recordedHints()]).toEqual([[], []]);
  });

  test('records changes of a restored table, whose stream numbers begin again', async () => {
    await connect('ada');
    await addThread('a');
    const [thread] = await changesOf('insert', 'Thread');
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
    await publish((await changesOf('insert', 'Thread')).filter(({ item }) => item?.annotationId === annotationId));
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
  async function restrict(documentId?: string): Promise<ChangedItem[]> {
    await customer.setAccess('restricted', [documentId ?? nda.documentId]);
    return [changeOf('modify', await storedDocument(documentId))];
  }

  test('gets system.revoked on the old channels, and other users get new channels', async () => {
    await connect('ada');
    await addThread('a');
    await publish(await changesOf('insert', 'Thread'));
    await publish(await restrict());
    const [added, ...later] = eventsOn(channelOf(1));
    expect([added?.type, ...later]).toEqual(['comment_annotation.add', revokedEvent]);
    expect(eventsOn(channelsOf(1).awareness)).toEqual([revokedEvent]);
    await publish(await changesOf('modify', 'Thread'));
    expect(eventsOn(channelOf(1)).at(-1)).toEqual(revokedEvent);
    expect(eventsOn(channelOf(2)).map(({ type, version }) => [type, version])).toEqual([
      ['comment_annotation.update', Number(added?.version) + 1],
    ]);
    restartFunctions();
    expect((await connect('ada')).status).toBe(403);
  });

  test('gets system.revoked when the user is erased from more than 500 documents, even if the user is added again at once', async () => {
    await connect('ada');
    const session = { ...live.document(), userId: 'ada', expiresAt: Date.now() };
    for (const number of times(500, (index) => index))
      await table.write([upsert(UserSessionEntity, { ...session, documentKey: `a${number}` })]);
    await customer.ok('/v2/users/data/delete', { userIds: ['ada'] });
    const erased = await changesOf('modify', 'User');
    await customer.addUsers([{ userId: 'ada' }]);
    await publish(erased);
    expect(eventsOn(channelOf(1))).toEqual([revokedEvent]);
  });

  test('gets system.revoked when the user is erased, even if the new user connects before', async () => {
    await connect('ada');
    await customer.ok('/v2/users/data/delete', { userIds: ['ada'] });
    await customer.addUsers([{ userId: 'ada' }]);
    expect((await connect('ada')).status).toBe(409);
    await publish(await changesOf('modify', 'DocumentSession'), { now: Date.now() - 2_000 });
    expect(eventsOn(channelOf(1))).toEqual([revokedEvent]);
    expect((await connect('ada')).status).toBe(200);
  });

  test('gets system.revoked when the organization is deleted, even if another one is added under its id', async () => {
    await connect('ada');
    await customer.ok('/v2/organizations/delete', { organizationIds: [nda.organizationId] });
    await customer.addDocuments(['nda']);
    await publish(await changesOf('insert', 'Job'));
    expect(eventsOn(channelOf(1))).toEqual([revokedEvent]);
  });

  test('loses access even if any database call crashes or fails', async () => {
    await connect('ada');
    await connect('bob');
    const calls = new Trial();
    await publish(await restrict(), { trial: calls });
    const faults = everyFault(calls.calls);
    expect(faults.length).toBeGreaterThan(10);
    for (const fault of faults) {
      // Each fault gets its own document, so that no earlier run has ended the sessions.
      const documentId = `doc-${fault.kind}-${fault.occurrence}-${fault.failure}-${fault.when}`;
      await customer.addDocuments([documentId]);
      const keys = { ...live.document(), documentKey: (await storedDocument(documentId)).internalId as string };
      const ids = { organizationId: nda.organizationId, documentId };
      await sessionStore.connect(keys, ids, { userId: 'ada', tokenRevocations: 0, hasStoredAccess: true }, Date.now());
      live.clear();
      const trial = new Trial(fault);
      await publish(await restrict(documentId), { trial });
      const old = channelsOf(1, keys);
      expect([trial.injected, eventsOn(old.document).at(-1), eventsOn(old.awareness).at(-1)]).toEqual([
        [expect.anything()],
        revokedEvent,
        revokedEvent,
      ]);
      expect(await sessionStore.sessions(keys)).toEqual([]);
    }
  });

  test('makes the publisher wait once for running publishes, even if access to 20 documents ends', async () => {
    const documents = times(20, (index) => ({ ...live.document(), documentKey: `doc_${index}` }));
    for (const [index, keys] of documents.entries()) {
      const session = { userId: 'ada', tokenRevocations: 0, hasStoredAccess: index % 2 === 0 };
      await sessionStore.connect(keys, { ...nda, documentId: keys.documentKey }, session, Date.now());
    }
    await customer.ok('/v2/organizations/access/disablestate/update', { organizationIds: ['acme'], disabled: true });
    const pauses: number[] = [];
    const events = { publish: async () => Promise.resolve() };
    const publisher = new ChannelPublisher(events, (milliseconds) => Promise.resolve(pauses.push(milliseconds)));
    await publish(await changesOf('modify', 'Organization'), { publisher });
    for (const keys of documents) expect(await sessionStore.sessions(keys)).toEqual([]);
    expect(pauses.filter((milliseconds) => milliseconds > 1_000)).toHaveLength(1);
  });
});

describe('access that expires', () => {
  let inAnHour: number;
  const named = { type: 'document', id: 'nda', organizationId: 'acme' };
  const resource = { ...named, accessRole: 'viewer' };
  const { organizationId } = nda;
  const folder = { ...resource, type: 'folder', id: 'contracts' };
  const grant = (expiresAt: number) => customer.grant('ada', { ...resource, expiresAt });
  const move = async (folderId: string) => {
    await customer.ok('/v2/organizations/documents/move', { organizationId, documentIds: ['nda'], folderId });
    return changesOf('modify', 'Document');
  };
  const sessionOf = async (userId: string) =>
    (await itemsOf('DocumentSession')).find((session) => session.userId === userId)!;
  const sweep = async (now: number) =>
    runSweep(() => new SessionSweeper(table).markExpired({ clock: () => now, deadline: now + 55_000 }));
  /** Runs the sweep, and then the publisher for the items that the sweep wrote. Returns what Ada's channel gets. */
  const expire = async (now: number) => {
    await sweep(now);
    await publish(await changesOf('modify', 'DocumentSession'), { now });
    return eventsOn(channelOf(1));
  };
  beforeEach(async () => {
    inAnHour = Math.floor(Date.now() / 1000) + 3_600;
    await customer.setAccess('restricted', ['nda']);
    restartFunctions();
  });

  test('ends the session when the stored grant expires, for which the sweep waits', async () => {
    await grant(inAnHour);
    expect((await connect('ada')).status).toBe(200);
    expect(await sweep(inAnHour * 1_000 - 60_000)).toBeUndefined();
    expect(await sweep(inAnHour * 1_000 - 30_000)).toBe(inAnHour * 1_000);
    expect(await expire(inAnHour * 1_000 - 1)).toEqual([]);
    expect(await expire(inAnHour * 1_000)).toEqual([revokedEvent]);
    expect(await sessionOf('ada')).toHaveProperty('endedAt');
  });

  test('ends the session when the grant of the user token expires', async () => {
    expect((await connect('ada', [{ ...resource, expiresAt: inAnHour }])).status).toBe(200);
    expect(await expire(inAnHour * 1_000)).toEqual([revokedEvent]);
  });

  test('ends the session at the later time if the grant was extended', async () => {
    await grant(inAnHour);
    await connect('ada');
    await grant(inAnHour + 60);
    expect(await expire(inAnHour * 1_000)).toEqual([]);
    expect(await sessionOf('ada')).toMatchObject({ accessEndsAt: (inAnHour + 60) * 1_000 });
    expect(await sessionOf('ada')).not.toHaveProperty('hasExpired');
    expect(await expire((inAnHour + 60) * 1_000)).toEqual([revokedEvent]);
  });

  test('ends the session at the earlier time if the grant was shortened', async () => {
    await grant(inAnHour);
    await connect('ada');
    await grant(inAnHour - 60);
    await publish((await changesOf('modify', 'Grant')).filter(({ item }) => item!.resourceType === 'document'));
    expect(await sessionOf('ada')).toMatchObject({ accessEndsAt: (inAnHour - 60) * 1_000 });
  });

  test('keeps the session of a user token, which ends with the token, until its own grant is removed, even after hours', async () => {
    await connect('ada', [resource]);
    const { accessEndsAt } = await sessionOf('ada');
    expect(accessEndsAt).toBeGreaterThan(Date.now() + 47 * 3_600_000);
    expect(accessEndsAt).toBeLessThanOrEqual(Date.now() + 48 * 3_600_000);
    const user = { ...live.document(), userId: 'ada' };
    const removal = (internalId: string) =>
      changeOf('insert', {
        ...AccessRemovalEntity.key({ ...user, internalId, isRevocation: false }),
        _t: 'AccessRemoval',
        internalId,
      });
    const another = GrantEntity.key({ ...user, resourceType: 'document', internalId: 'other' });
    await publish([changeOf('modify', { ...another, _t: 'Grant' }), removal('other')]);
    expect(eventsOn(channelOf(1))).toEqual([]);
    await publish([removal(user.documentKey)], { now: Date.now() + 24 * 3_600_000 });
    expect(eventsOn(channelOf(1))).toEqual([revokedEvent]);
  });

  test('ends the session of a user token if the document leaves the folder that the token names', async () => {
    await customer.addFolders([
      { folderId: 'contracts', accessType: 'restricted' },
      { folderId: 'old', parentFolderId: 'contracts' },
      { folderId: 'other', accessType: 'restricted' },
    ]);
    await move('contracts');
    await connect('ada', [folder]);
    expect(await sessionOf('ada')).toMatchObject({ hasStoredAccess: false });
    await publish(await move('old'));
    expect(eventsOn(channelOf(1))).toEqual([]);
    await publish(await move('other'));
    expect(eventsOn(channelOf(1))).toEqual([revokedEvent]);
  });

  test('lets the user connect again with another grant of the user token, and not with the removed one', async () => {
    await customer.addFolders([{ folderId: 'contracts', accessType: 'restricted' }]);
    await move('contracts');
    const [ada, bob] = [await newUser(customer, 'ada', [resource, folder]), await newUser(customer, 'bob', [resource])];
    const statuses = async () =>
      Promise.all([ada, bob].map(async (user) => (await user.call('/v2/live/connect', nda)).status));
    expect(await statuses()).toEqual([200, 200]);
    for (const userId of ['ada', 'bob'])
      await customer.untyped('/v2/auth/permissions/remove', { userId, permissions: { resources: [named] } });
    await publish(await changesOf('insert', 'AccessRemoval'), { now: Date.now() - 2_000 });
    expect(eventsOn(channelOf(1))).toEqual([revokedEvent]);
    expect(await statuses()).toEqual([200, 403]);
  });

  test('lets a user return whose expired session DynamoDB has not deleted yet', async () => {
    await grant(inAnHour);
    await connect('ada');
    const key = { ...live.document(), userId: 'ada' };
    const session = (await table.get(DocumentSessionEntity, key))!;
    const expired = { ...key, ...session, expiresAt: Math.floor(Date.now() / 1000) };
    // Each connect has raised the revision.
    await table.write([upsert(DocumentSessionEntity, expired, 3)]);
    expect((await connect('ada')).status).toBe(200);
    expect((await sessionOf('ada')).ttl).toBeGreaterThan(Date.now() / 1000);
  });
});

describe('revoked user tokens', () => {
  const member = { type: 'organization', id: nda.organizationId };
  const reset = (revokeUserTokens: boolean) =>
    post(handlerOf('/v2/workspace/authtoken/reset'), customer.workspaceHeaders, {
      apiKey: customer.apiKey,
      ...(revokeUserTokens && { revokeUserTokens }),
    });
  /** Revokes all user tokens. Returns the customer with the new auth token. */
  async function revoke(): Promise<Customer> {
    const { body } = await reset(true);
    const token = { 'x-svc-auth-token': body.result.data.newAuthToken.token as string };
    const send: Customer['call'] = async (path, data) => customer.call(path, data, token);
    const untyped: Customer['untyped'] = async (path, data) => (await send(path, data)).body.result.data;
    return { ...customer, call: send, untyped, ok: untyped };
  }
  const connectWith = async (user: TestUser) => user.call('/v2/live/connect', nda);
  /** Publishes the change of the API key, and then the changes of the sessions that it marked. */
  async function publishRevocation(trial?: Trial): Promise<void> {
    const apiKey = (await table.get(ApiKeyEntity, customer))!;
    const options = trial ? { trial } : {};
    await publish([changeOf('modify', { ...ApiKeyEntity.key(customer), _t: 'ApiKey', ...apiKey })], options);
    await publish(await changesOf('modify', 'DocumentSession'), options);
  }

  test('end the sessions of all users, even of users with stored access, and even if any database call crashes or fails', async () => {
    const calls = new Trial();
    let revoked: Customer = customer;
    const connectAgain = async () => {
      for (const userId of ['ada', 'bob'])
        expect((await connectWith(await newUser(revoked, userId, [member]))).status).toBe(200);
      revoked = await revoke();
    };
    await connectAgain();
    await publishRevocation(calls);
    const faults = everyFault(calls.calls);
    expect(faults.length).toBeGreaterThan(10);
    for (const [index, fault] of faults.entries()) {
      await connectAgain();
      live.clear();
      const trial = new Trial(fault);
      await publishRevocation(trial);
      expect([trial.injected, eventsOn(channelOf(index + 2)).at(-1)]).toEqual([[expect.anything()], revokedEvent]);
      for (const session of await itemsOf('DocumentSession')) expect(session).toHaveProperty('endedAt');
    }
  });

  test('do not end the session of a user who has connected with a newer token, or after a reset without a revocation', async () => {
    const revoked = await revoke();
    restartFunctions();
    expect((await connectWith(await newUser(revoked, 'ada', [member]))).status).toBe(200);
    await reset(false);
    await publishRevocation();
    expect(published).toEqual([]);
    expect((await itemsOf('DocumentSession'))[0]).not.toHaveProperty('hasExpired');
  });

  test('are rejected by connect and the authorizer at once, and newer tokens connect to other channels with hints', async () => {
    const old = await newUser(customer, 'bob', [member]);
    const { channels } = (await connectWith(old)).body.result.data;
    const sessionOfBob = () => sessionStore.session(live.document(), 'bob', Date.now());
    expect(await sessionOfBob()).toBeDefined();
    const revoked = await revoke();
    expect(await sessionOfBob()).toBeUndefined();
    expect((await connectWith(old)).status).toBe(403);
    await publishRevocation();
    const renewed = (await connectWith(await newUser(revoked, 'bob', [member]))).body.result.data.channels;
    expect([renewed.document === channels.document, renewed.user === channels.user]).toEqual([false, false]);
    await revoked.ok('/v2/notifications/add', { ...notification, notifyUsers: [{ userId: 'bob' }] });
    live.clear();
    await publish(await changesOf('insert', 'Notification'));
    expect(published.map(({ channel, event }) => [channel, event.type])).toEqual([
      [userChannel('bob', 1), 'notification.add'],
    ]);
  });
});

test('the channels of a document that got another id end with system.migrated', async () => {
  await connect('ada', [{ type: 'organization', id: 'acme' }]);
  const { migrationId } = await customer.ok('/v2/organizations/documents/migrate', {
    ...nda,
    newDocumentId: 'nda-2026',
  });
  await new JobRunner(Date.now()).finish({ tenant: customer.apiKey, jobId: migrationId });
  const changes = await changesOf('modify', 'Document');
  await publish(changes);
  const last = { type: 'system.migrated', newDocumentId: 'nda-2026' };
  const { document: channel, awareness } = channelsOf(1);
  expect([eventsOn(channel), eventsOn(awareness)]).toEqual([[last], [last]]);
  live.clear();
  await publish(changes);
  expect(published).toEqual([]);
  const ada = await newUser(customer, 'ada', []);
  const { channels } = await ada.ok('/v2/live/connect', { ...nda, documentId: 'nda-2026' });
  expect(channels.document).not.toBe(channel);
});
