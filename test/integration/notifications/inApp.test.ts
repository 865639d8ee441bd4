import { beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { worker } from '../../../functions/workers/fanOutEvents.ts';
import type { OccurredEvent } from '../../../lib/notifications/audience.ts';
import { fanOutInApp } from '../../../lib/notifications/inAppFanOut.ts';
import { NotificationWriter } from '../../../lib/notifications/notifications.ts';
import { Table } from '../../../lib/table/table.ts';
import { workerCapabilities } from '../../../lib/workers/capabilities.ts';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda, occurredEvents } from '../../support/content.ts';
import { TABLE_NAME } from '../../support/engine.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { sdkDocumentClient } from '../../support/leanClient.ts';
import { roleOf } from '../../support/permissions.ts';
import { times } from '../../support/times.ts';
import { newUser } from '../../support/userTokens.ts';

const { engine, customer } = acmeWorld({ documents: ['nda'] });
const runAsFanOut = roleOf('fanOutEvents', workerCapabilities(worker));
let fanOut: (event: OccurredEvent) => Promise<unknown>;
beforeAll(() => {
  const table = new Table(sdkDocumentClient(engine.client), TABLE_NAME);
  const open = fanOutInApp({
    table,
    clock: Date.now,
    notifications: new NotificationWriter(table),
  });
  fanOut = (event) => runAsFanOut(() => open().consume(event));
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
        commentData: [{ commentText: 'Look', from: ada, triggerNotification: true, ...comment }],
        ...more,
      },
    ],
  });
const reply = (annotationId: string, comment: object) =>
  customer.ok('/v2/commentannotations/comments/add', {
    ...nda,
    annotationId,
    commentData: [{ commentText: 'Yes', from: { userId: 'grace' }, triggerNotification: true, ...comment }],
  });
const inbox = (userId: string): Promise<any[]> =>
  customer.ok('/v2/notifications/get', { organizationId: 'acme', userId, order: 'asc' });
/** Returns the headlines of the notifications of each user. */
const headlines = (...userIds: string[]) =>
  Promise.all(
    userIds.map(async (userId) =>
      (await inbox(userId)).map(({ displayHeadlineMessageTemplate }) => displayHeadlineMessageTemplate),
    ),
  );
const [COMMENTED, REPLIED] = ['{actionUser} commented', '{actionUser} replied'];
const setTriggers = (triggers: object) =>
  customer.ok('/v2/workspace/notificationconfig/update', { notificationServiceConfig: { triggers } });
interface Visibility {
  type: 'public' | 'organizationPrivate' | 'restricted';
  userIds?: string[];
}
const red = { context: { access: { team: 'red' } } };
const document = { type: 'document', id: 'nda', organizationId: 'acme' } as const;
/** Takes the access context `red` away from grace, who had it. */
const takeFromGrace = () =>
  customer.ok('/v2/auth/permissions/remove', { userId: 'grace', permissions: { resources: [document] } });

describe('the in-app notification of a comment event', () => {
  test('contains source, mentioned and assigned users, and ids, text and location of the thread', async () => {
    await thread('t', { location: { id: 'l1' }, context: { access: {} } }, mention('grace'));
    await fanOutAll();
    expect(await inbox('grace')).toMatchObject([
      {
        id: expect.stringMatching(/^ntf_[A-Za-z0-9]{27}$/),
        notificationSource: 'comment',
        notificationSourceData: { annotationId: 't', commentId: 1, commentText: 'Look', location: { id: 'l1' } },
        actionUser: ada,
        displayHeadlineMessageTemplate: COMMENTED,
        displayHeadlineMessageTemplateData: { actionUser: ada },
        displayBodyMessage: 'Look',
        metadata: { apiKey: customer.apiKey, ...nda },
        notifyUsers: { '9f528ceb410182ebd9d490172948f11f': true },
        notifyUsersByUserId: { '15e5c87b18c1289d45bb4a72961b58e8': true },
        notifyAll: false,
        locationId: 'l1',
      },
    ]);
    expect([await inbox('ada'), await inbox('lin')]).toEqual([[], []]);
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
    expect(await headlines('ada', 'lin', 'grace')).toEqual([[REPLIED], [COMMENTED, REPLIED], []]);
  });

  test('is hidden from users without the access context that its comment got later', async () => {
    await customer.grant('lin', { ...document, ...red });
    await thread('t', {}, mention('grace', 'lin'));
    await reply('t', { from: ada, ...mention('grace', 'lin') });
    await fanOutAll();
    const comment = { ...nda, annotationId: 't', commentIds: [2] };
    await customer.ok('/v2/commentannotations/comments/update', { ...comment, updatedData: red });
    expect(await headlines('grace', 'lin')).toEqual([[COMMENTED], [COMMENTED, REPLIED]]);
  });
});

describe('the in-app notification of a change of who sees a thread', () => {
  const restrict = async (...userIds: string[]) => setVisibility({ type: 'restricted', userIds });
  const setVisibility = async (visibility: Visibility, more: object = {}) => {
    const change = { annotationIds: ['t'], updatedData: { visibility }, actionUser: ada, triggerNotification: true };
    await customer.ok('/v2/commentannotations/update', { ...nda, ...change, ...more });
    await fanOutAll();
  };
  const CHANGED = '{actionUser} changed who can see a comment';

  test('is for participants who may see the thread after the change, and for users who may newly see it', async () => {
    await thread('t', { visibility: { type: 'restricted', userIds: ['grace'] } }, mention('grace'));
    await restrict('lin');
    expect(await headlines('lin', 'grace', 'ada')).toEqual([[CHANGED], [], []]);
    await setVisibility({ type: 'public' });
    // `fanOutAll` consumes the first event again, and now grace may see the thread.
    expect(await inbox('grace')).toMatchObject([
      { displayHeadlineMessageTemplate: COMMENTED },
      {
        displayHeadlineMessageTemplate: CHANGED,
        notificationSourceData: { annotationId: 't' },
        actionUser: ada,
        displayBodyMessage: '',
      },
    ]);
  });

  test('needs the trigger accessModeChanged, triggerNotification and another visibility, and is no message', async () => {
    await thread('t', {}, mention('lin'));
    await setVisibility({ type: 'organizationPrivate' }, { triggerNotification: false });
    await setVisibility({ type: 'organizationPrivate' });
    await setTriggers({ comment: { accessModeChanged: false } });
    await setVisibility({ type: 'public' });
    expect(await headlines('lin')).toEqual([[COMMENTED]]);
    await customer.ok('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true });
    const { messages } = await customer.ok('/v2/workspace/advancedwebhook/messages/get', {});
    expect(messages.map(({ event }: any) => event)).toEqual(['comment_annotation.add']);
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
    expect(await headlines('grace', 'lin')).toEqual(times(2, () => ['{actionUser} started a huddle']));
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
    await customer.grant('grace', { ...document, ...red });
    await huddle({ data: { targetComment: { commentText: 'Red', ...red }, notifyUsers: [{ userId: 'grace' }] } });
    await fanOutAll();
    expect(await inbox('grace')).toHaveLength(1);
    await takeFromGrace();
    expect(await inbox('grace')).toEqual([]);
  });

  test('is not created without a document, without access to it, or if its trigger is off', async () => {
    await huddle({ documentId: undefined });
    await setTriggers({ huddle: { join: false } });
    await huddle({ event: 'huddle.join' });
    await customer.setAccess('restricted', ['nda']);
    await huddle();
    await fanOutAll();
    expect(await customer.ok('/v2/notifications/get', nda)).toEqual([]);
  });
});

describe('a comment event creates no in-app notification', () => {
  test('if the notification service is off', async () => {
    await customer.ok('/v2/workspace/notificationconfig/update', { useNotificationService: false });
    await thread('t', {}, mention('grace'));
    await fanOutAll();
    expect(await inbox('grace')).toEqual([]);
  });

  test('for users at level NONE, or at MINE for events about others. The level of the document comes first', async () => {
    const set = (userId: string, level: 'ALL' | 'MINE' | 'NONE', documentIds?: string[]) =>
      customer.ok('/v2/notifications/config/set', {
        organizationId: 'acme',
        userIds: [userId],
        documentIds,
        config: { inbox: level },
      });
    await thread('t', {}, mention('grace', 'lin'));
    await set('grace', 'MINE');
    await set('lin', 'ALL');
    await set('lin', 'NONE', ['nda']);
    await reply('t', { from: ada });
    await reply('t', { from: ada, ...mention('grace', 'lin') });
    for (const event of (await events()).slice(1)) await fanOut(event);
    expect(await inbox('grace')).toHaveLength(1);
    expect(await inbox('lin')).toEqual([]);
  });

  test('for users without access to the current thread or the document', async () => {
    const setVisibility = (visibility: Visibility) =>
      customer.ok('/v2/commentannotations/update', { ...nda, annotationIds: ['secret'], updatedData: { visibility } });
    await thread('secret', { visibility: { type: 'restricted', userIds: ['grace', 'lin'] } }, mention('grace', 'lin'));
    await setVisibility({ type: 'restricted', userIds: ['lin'] });
    await fanOutAll();
    await setVisibility({ type: 'public' });
    expect(await headlines('grace', 'lin')).toEqual([[], [COMMENTED]]);

    await customer.setAccess('restricted', ['nda']);
    await thread('open', {}, mention('grace', 'lin'));
    await customer.addUsers(['lin'], nda);
    for (const event of (await events()).slice(1)) await fanOut(event);
    expect(await headlines('grace', 'lin')).toEqual([[], [COMMENTED, COMMENTED]]);
  });

  test('for users without the access context of thread and comment', async () => {
    const context = (...region: string[]) => ({ context: { access: { region } } });
    await customer.grant('grace', { type: 'organization', id: 'acme', ...context('eu', 'us') });
    await customer.grant('lin', { type: 'organization', id: 'acme', ...context('eu') });
    await thread('t', context('eu'), mention('grace', 'lin'));
    await reply('t', { from: ada, ...context('us'), ...mention('grace', 'lin') });
    await fanOutAll();
    const notifications: any[] = await customer.ok('/v2/notifications/get', { ...nda, order: 'asc' });
    expect(notifications.map(({ context: { accessFields } }) => accessFields)).toEqual([
      ['region:eu'],
      ['region:eu', 'region:us'],
    ]);
    expect(notifications.map(({ notifyUsersByUserId }) => Object.keys(notifyUsersByUserId as object).length)).toEqual([
      2, 1,
    ]);
    expect(await headlines('grace', 'lin')).toEqual([[COMMENTED, REPLIED], [COMMENTED]]);
  });

  test('about a deleted thread, except for the deletion of a comment', async () => {
    await thread('t', {}, mention('grace', 'stranger'));
    const [added] = await events();
    await customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: ['t'] });
    await fanOut(added!);
    expect(await inbox('grace')).toEqual([]);
    await fanOut({ ...added!, eventId: 'deleted', event: 'comment.delete' });
    expect(await headlines('grace', 'stranger')).toEqual(times(2, () => ['{actionUser} deleted a comment']));
    expect(JSON.stringify(await inbox('grace'))).not.toContain('Look');
  });
});
