import { beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { OccurredEvent } from '../../../lib/notifications/audience.ts';
import { fanOutInApp } from '../../../lib/notifications/inAppFanOut.ts';
import { NotificationWriter } from '../../../lib/notifications/notifications.ts';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda, occurredEvents } from '../../support/content.ts';
import { deliveryRoles } from '../../support/deliveryRoles.ts';
import { TABLE_NAME } from '../../support/engine.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { sdkDocumentClient } from '../../support/leanClient.ts';
import { times } from '../../support/times.ts';
import { newUser } from '../../support/userTokens.ts';

const { engine, customer } = acmeWorld({ documents: ['nda'] });
let fanOut: (event: OccurredEvent) => Promise<unknown>;
beforeAll(() => {
  const table = new Table(sdkDocumentClient(engine.client), TABLE_NAME);
  const open = fanOutInApp({
    table,
    clock: Date.now,
    notifications: new NotificationWriter(table),
  });
  fanOut = (event) => deliveryRoles.fanOutEvents(() => open().consume(event));
});
beforeEach(async () => {
  await customer.addUsers(['ada', 'grace', 'lin'].map((userId) => ({ userId, email: `${userId}@example.com` })));
  await customer.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });
});

const ada = { userId: 'ada', name: 'Ada' };
const mention = (...userIds: string[]) => ({ taggedUserContacts: userIds.map((userId) => ({ userId })) });

const events = () => occurredEvents(engine, customer.apiKey);
async function fanOutAll(): Promise<void> {
  for (const event of await events()) await fanOut(event);
}
const thread = (annotationId: string, more: object = {}, comment: object = {}) =>
  customer.ok('/v2/commentannotations/add', {
    ...nda,
    commentAnnotations: [
      {
        annotationId,
        ...more,
        commentData: [{ commentText: 'Look', from: ada, triggerNotification: true, ...comment }],
      },
    ],
  });
const reply = (annotationId: string, comment: object) =>
  customer.ok('/v2/commentannotations/comments/add', {
    ...nda,
    annotationId,
    commentData: [{ commentText: 'Yes', from: { userId: 'grace' }, triggerNotification: true, ...comment }],
  });
const inbox = async (userId: string): Promise<any[]> =>
  customer.ok('/v2/notifications/get', { organizationId: 'acme', userId, order: 'asc' });
const headlines = async (userId: string) =>
  (await inbox(userId)).map(({ displayHeadlineMessageTemplate }) => displayHeadlineMessageTemplate);

describe('the in-app notification of a comment event', () => {
  test('contains source, mentioned and assigned users, and ids, text and location of the thread', async () => {
    await thread('t', { location: { id: 'l1' }, context: { access: {} } }, mention('grace'));
    await fanOutAll();
    const [notification] = await inbox('grace');
    expect(notification).toMatchObject({
      id: expect.stringMatching(/^ntf_[A-Za-z0-9]{27}$/),
      notificationSource: 'comment',
      notificationSourceData: { annotationId: 't', commentId: 1, commentText: 'Look', location: { id: 'l1' } },
      actionUser: ada,
      displayHeadlineMessageTemplate: '{actionUser} commented',
      displayHeadlineMessageTemplateData: { actionUser: ada },
      displayBodyMessage: 'Look',
      metadata: { apiKey: customer.apiKey, ...nda },
      notifyUsers: { '9f528ceb410182ebd9d490172948f11f': true },
      notifyUsersByUserId: { '15e5c87b18c1289d45bb4a72961b58e8': true },
      notifyAll: false,
      locationId: 'l1',
    });
    expect(await inbox('ada')).toEqual([]);
    expect(await inbox('lin')).toEqual([]);
  });

  test('contains the stored profile of an actor whom the request names by id only', async () => {
    await thread('t', {}, { ...mention('grace'), from: { userId: 'lin' } });
    await fanOutAll();
    const actionUser = { userId: 'lin', email: 'lin@example.com' };
    expect(await inbox('grace')).toMatchObject([{ actionUser, displayHeadlineMessageTemplateData: { actionUser } }]);
  });

  test('has links that a user token wrote only to allowed domains of the API key', async () => {
    const lin = await newUser(customer, 'lin');
    const commentText = 'See https://evil.example/x';
    const location = { id: 'page.2', url: 'https://evil.example/x' };
    const commentData = [{ commentText, ...mention('grace'), triggerNotification: true }];
    await lin.ok('/v2/commentannotations/add', {
      ...nda,
      commentAnnotations: [{ annotationId: 't', location, commentData }],
    });
    await fanOutAll();
    const [notification] = await inbox('grace');
    expect(notification).toMatchObject({
      displayBodyMessage: 'See [link removed]',
      notificationSourceData: { commentText: 'See [link removed]', location: { id: 'page.2' } },
      locationId: 'page.2',
    });
    expect(JSON.stringify(notification)).not.toContain('evil.example');
  });

  test('is created once, and keeps its readers if the event is processed again', async () => {
    await thread('t', {}, mention('grace'));
    await fanOutAll();
    const [{ id }] = await inbox('grace');
    await customer.ok('/v2/notifications/update', {
      organizationId: 'acme',
      notifications: [{ id, readByUserIds: ['grace'] }],
    });
    await Promise.all([fanOutAll(), fanOutAll()]);
    expect(await inbox('grace')).toMatchObject([{ id, readByUserIds: ['grace'] }]);
  });

  test('is for the author and participants if the event is a reply', async () => {
    await thread('t', {}, mention('lin'));
    await reply('t', {});
    await fanOutAll();
    expect(await headlines('ada')).toEqual(['{actionUser} replied']);
    expect(await headlines('lin')).toEqual(['{actionUser} commented', '{actionUser} replied']);
    expect(await headlines('grace')).toEqual([]);
  });

  test('is divided into notifications for at most 50 recipients each', async () => {
    const users = times(70, (i) => `u${i}`);
    await thread('t', {}, mention(...users.slice(0, 25)));
    for (const mentionedUsers of [users.slice(25, 50), users.slice(50)])
      await reply('t', { triggerNotification: false, ...mention(...mentionedUsers) });
    await reply('t', {});
    const event = (await events()).at(-1)!;
    await fanOut(event);
    const notifications: any[] = await customer.ok('/v2/notifications/get', nda);
    expect(notifications.map(({ notifyUsersByUserId }) => Object.keys(notifyUsersByUserId).length).sort()).toEqual([
      21, 50,
    ]);
    expect(new Set(notifications.flatMap(({ notifyUsersByUserId }) => Object.keys(notifyUsersByUserId))).size).toBe(71);
  });

  test('is hidden from users without the access context that its comment got later', async () => {
    const context = { access: { team: 'red' } };
    await customer.grant('lin', { type: 'document', id: 'nda', organizationId: 'acme', context });
    await thread('t', {}, mention('grace', 'lin'));
    await reply('t', { from: ada, ...mention('grace', 'lin') });
    await fanOutAll();
    const comment = { ...nda, annotationId: 't', commentIds: [2] };
    await customer.ok('/v2/commentannotations/comments/update', { ...comment, updatedData: { context } });
    expect([await headlines('grace'), await headlines('lin')]).toEqual([
      ['{actionUser} commented'],
      ['{actionUser} commented', '{actionUser} replied'],
    ]);
  });

  test('is hidden from users who lose the access context of a comment in an event above 256 KB', async () => {
    const resources = [{ type: 'document', id: 'nda', organizationId: 'acme' }];
    const context = { access: { team: 'red' } };
    await customer.untyped('/v2/auth/permissions/add', {
      user: { userId: 'grace' },
      permissions: { resources: resources.map((resource) => ({ ...resource, context })) },
    });
    const comment = { commentText: 'Look', from: ada, triggerNotification: true, context, ...mention('grace') };
    const large = times(10, () => ({ commentText: 'x'.repeat(30_000), from: ada }));
    await customer.ok('/v2/commentannotations/add', {
      ...nda,
      commentAnnotations: [{ annotationId: 't', commentData: [comment, ...large] }],
    });
    await fanOutAll();
    expect(await inbox('grace')).toHaveLength(1);
    await customer.untyped('/v2/auth/permissions/remove', { userId: 'grace', permissions: { resources } });
    expect(await inbox('grace')).toEqual([]);
  });
});

describe('the in-app notification of a change of who sees a thread', () => {
  const setVisibility = async (visibility: object, more: object = {}) => {
    const updatedData = { visibility };
    const change = { annotationIds: ['t'], updatedData, actionUser: ada, triggerNotification: true, ...more };
    await customer.untyped('/v2/commentannotations/update', { ...nda, ...change });
    await fanOutAll();
  };
  const restricted = { type: 'restricted', userIds: ['lin'] };
  const changed = '{actionUser} changed who can see a comment';

  test('is for participants who may see the thread after the change, and for users who may newly see it', async () => {
    await thread('t', { visibility: { type: 'restricted', userIds: ['grace'] } }, mention('grace'));
    await setVisibility(restricted);
    expect([await headlines('lin'), await headlines('grace'), await headlines('ada')]).toEqual([[changed], [], []]);
    await setVisibility({ type: 'public' });
    // `fanOutAll` consumes the first event again, and now grace may see the thread.
    expect(await headlines('grace')).toEqual(['{actionUser} commented', changed]);
    expect((await inbox('grace'))[1]).toMatchObject({
      notificationSourceData: { annotationId: 't' },
      actionUser: ada,
      displayBodyMessage: '',
    });
  });

  test('needs the trigger accessModeChanged, triggerNotification and another visibility', async () => {
    await thread('t', {}, mention('lin'));
    await setVisibility(restricted, { triggerNotification: false });
    await setVisibility(restricted);
    await customer.ok('/v2/workspace/notificationconfig/update', {
      notificationServiceConfig: { triggers: { comment: { accessModeChanged: false } } },
    });
    await setVisibility({ type: 'public' });
    expect(await headlines('lin')).toEqual(['{actionUser} commented']);
  });

  test('comes from an event that no list of messages has', async () => {
    await thread('t', {}, mention('lin'));
    await setVisibility(restricted);
    await customer.ok('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true });
    const messages = await customer.ok('/v2/workspace/advancedwebhook/messages/get', {});
    expect(messages.messages.map(({ event }: any) => event)).toEqual(['comment_annotation.add']);
  });
});

describe('the in-app notification of a published huddle event', () => {
  const huddle = (more: object = {}) =>
    customer.ok('/v2/events/publish', {
      ...nda,
      event: 'huddle.create',
      actionUser: ada,
      data: { room: 'blue', notifyUsers: [{ userId: 'grace' }] },
      ...more,
    });

  test("contains source, named users and the publisher's data", async () => {
    await huddle();
    await huddle({ event: 'huddle.join' });
    await fanOutAll();
    const notifications = await inbox('grace');
    expect(notifications).toMatchObject([
      {
        notificationSource: 'huddle',
        notificationSourceData: { room: 'blue' },
        actionUser: ada,
        displayHeadlineMessageTemplate: '{actionUser} started a huddle',
        displayHeadlineMessageTemplateData: { actionUser: ada },
        displayBodyMessage: '',
        metadata: { apiKey: customer.apiKey, ...nda },
        notifyUsersByUserId: { '15e5c87b18c1289d45bb4a72961b58e8': true },
        notifyAll: false,
      },
      { displayHeadlineMessageTemplate: '{actionUser} joined a huddle' },
    ]);
    expect(notifications[0].notificationSourceData).toEqual({ room: 'blue' });
    expect(await inbox('lin')).toEqual([]);
  });

  test('is for mentioned and assigned users too, if the event has no notifyUsers', async () => {
    await huddle({ data: { targetComment: { to: [{ userId: 'grace' }] } } });
    await huddle({ data: { commentAnnotation: { assignedTo: { userId: 'lin' } } } });
    await fanOutAll();
    expect(await headlines('grace')).toEqual(['{actionUser} started a huddle']);
    expect(await headlines('lin')).toEqual(['{actionUser} started a huddle']);
  });

  const deleteDocument = () =>
    customer.ok('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['nda'] });
  test.each<[string, () => Promise<unknown>]>([
    ['a document that was added later', async () => (await deleteDocument(), customer.addDocuments(['nda']))],
    [
      'a document that got the id later',
      async () => {
        await deleteDocument();
        const ids = { organizationId: 'acme', documentId: 'older', newDocumentId: 'nda' };
        const { migrationId } = await customer.ok('/v2/organizations/documents/migrate', ids);
        await new JobRunner(Date.now()).finish({ tenant: customer.apiKey, jobId: migrationId });
      },
    ],
    [
      'an organization that was added later',
      async () => {
        await customer.ok('/v2/organizations/delete', { organizationIds: ['acme'] });
        await customer.addDocuments(['nda']);
      },
    ],
  ])('is not created in %s with the id of the event', async (_what, replaceDocument) => {
    await customer.addDocuments(['older']);
    await huddle();
    await replaceDocument();
    await customer.addUsers(['ada', 'grace']);
    await fanOutAll();
    expect(await inbox('grace')).toEqual([]);
  });

  test('is created after one read of the organization, the document and its new id', async () => {
    await huddle();
    const get = jest.spyOn(Table.prototype, 'get');
    await fanOutAll();
    const types = get.mock.calls.map(([{ type }]) => type);
    get.mockRestore();
    expect(types.sort()).toEqual(['Document', 'Organization', 'RenamedDocument']);
    expect(await inbox('grace')).toHaveLength(1);
  });

  test('is hidden from users who lose the access context of the comments in the event', async () => {
    const resources = [{ type: 'document', id: 'nda', organizationId: 'acme' }];
    const context = { access: { team: 'red' } };
    await customer.grant('grace', ...resources.map((resource) => ({ ...resource, context })));
    await huddle({ data: { targetComment: { commentText: 'Red', context }, notifyUsers: [{ userId: 'grace' }] } });
    await fanOutAll();
    expect(await inbox('grace')).toHaveLength(1);
    await customer.untyped('/v2/auth/permissions/remove', { userId: 'grace', permissions: { resources } });
    expect(await inbox('grace')).toEqual([]);
  });

  test('is not created without a document, without access to it, or if its trigger is off', async () => {
    await huddle({ documentId: undefined });
    await customer.ok('/v2/workspace/notificationconfig/update', {
      notificationServiceConfig: { triggers: { huddle: { join: false } } },
    });
    await huddle({ event: 'huddle.join' });
    await fanOutAll();
    expect(await inbox('grace')).toEqual([]);
    await customer.setAccess('restricted', ['nda']);
    await huddle();
    await fanOutAll();
    expect(await customer.ok('/v2/notifications/get', nda)).toEqual([]);
  });
});

describe('a comment event creates no in-app notification', () => {
  test('if the notification service is off or no trigger is on', async () => {
    await customer.ok('/v2/workspace/notificationconfig/update', {
      notificationServiceConfig: { triggers: { comment: { newlyAdded: false } } },
    });
    await thread('t', {}, mention('grace'));
    await reply('t', { from: { userId: 'lin' } });
    await fanOutAll();
    expect(await headlines('grace')).toEqual(['{actionUser} replied']);
    await customer.ok('/v2/workspace/notificationconfig/update', { useNotificationService: false });
    await reply('t', { from: { userId: 'lin' }, commentText: 'more' });
    await fanOutAll();
    expect(await inbox('grace')).toHaveLength(1);
  });

  test('for users at level NONE, or at MINE for events about others. The level of the document comes first', async () => {
    const set = (userIds: string[], inboxLevel: string, documentIds?: string[]) =>
      customer.untyped('/v2/notifications/config/set', {
        organizationId: 'acme',
        userIds,
        documentIds,
        config: { inbox: inboxLevel },
      });
    await thread('t', {}, mention('grace', 'lin'));
    await set(['grace'], 'MINE');
    await set(['lin'], 'ALL');
    await set(['lin'], 'NONE', ['nda']);
    await reply('t', { from: ada });
    await reply('t', { from: ada, ...mention('grace', 'lin') });
    for (const event of (await events()).slice(1)) await fanOut(event);
    expect(await inbox('grace')).toHaveLength(1);
    expect(await inbox('lin')).toEqual([]);
  });

  test('for users without access to the current thread or the document', async () => {
    await thread('secret', { visibility: { type: 'restricted', userIds: ['grace', 'lin'] } }, mention('grace', 'lin'));
    await customer.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['secret'],
      updatedData: { visibility: { type: 'restricted', userIds: ['lin'] } },
    });
    await fanOutAll();
    await customer.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['secret'],
      updatedData: { visibility: { type: 'public' } },
    });
    expect([await inbox('grace'), (await inbox('lin')).length]).toEqual([[], 1]);

    await customer.setAccess('restricted', ['nda']);
    await thread('open', {}, mention('grace', 'lin'));
    await customer.addUsers(['lin'], nda);
    for (const event of (await events()).slice(1)) await fanOut(event);
    expect([await inbox('grace'), (await inbox('lin')).length]).toEqual([[], 2]);
  });

  test('for users without the access context of thread and comment', async () => {
    const context = (region: string) => ({ context: { access: { region } } });
    await customer.grant('grace', { type: 'organization', id: 'acme', context: { access: { region: ['eu', 'us'] } } });
    await customer.grant('lin', { type: 'organization', id: 'acme', context: { access: { region: 'eu' } } });
    await thread('t', context('eu'), mention('grace', 'lin'));
    await reply('t', { from: ada, ...context('us'), ...mention('grace', 'lin') });
    await fanOutAll();
    const notifications: any[] = await customer.ok('/v2/notifications/get', { ...nda, order: 'asc' });
    const all = notifications.map(({ context: { accessFields }, notifyUsersByUserId }) => [
      accessFields,
      Object.keys(notifyUsersByUserId).length,
    ]);
    expect(all).toEqual([
      [['region:eu'], 2],
      [['region:eu', 'region:us'], 1],
    ]);
    expect([await headlines('grace'), await headlines('lin')]).toEqual([
      ['{actionUser} commented', '{actionUser} replied'],
      ['{actionUser} commented'],
    ]);
  });

  test('for users outside the organization whose members may read the thread', async () => {
    await thread('members', { visibility: { type: 'organizationPrivate' } }, mention('grace', 'stranger'));
    await fanOutAll();
    expect([(await inbox('grace')).length, await inbox('stranger')]).toEqual([1, []]);
  });

  test('about a deleted thread, except for the deletion of a comment', async () => {
    await thread('t', {}, mention('grace', 'stranger'));
    const [added] = await events();
    await customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: ['t'] });
    await fanOut(added!);
    expect(await inbox('grace')).toEqual([]);
    await fanOut({ ...added!, eventId: 'deleted', event: 'comment.delete' });
    expect(await headlines('grace')).toEqual(['{actionUser} deleted a comment']);
    expect(await headlines('stranger')).toEqual(['{actionUser} deleted a comment']);
    expect(JSON.stringify(await inbox('grace'))).not.toContain('Look');
  });

  test('if the published event has no thread, or is a huddle without an actor', async () => {
    const audience = { addressed: ['grace'], following: [] };
    for (const payload of [
      { source: 'comment', data: {} },
      { source: 'comment', data: {}, audience },
      { source: 'huddle', data: {}, audience },
    ] as const) {
      await fanOut({
        tenant: customer.apiKey,
        eventId: 'e',
        event: payload.source === 'huddle' ? 'huddle.create' : 'comment.add',
        ...nda,
        createdAt: Date.now(),
        payload,
      });
    }
    expect(await inbox('grace')).toEqual([]);
  });
});
