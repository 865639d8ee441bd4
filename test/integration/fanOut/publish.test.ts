import { beforeEach, describe, expect, test } from '@jest/globals';
import { nda } from '../../support/content.ts';
import { addThreads, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';
import { outcome, paths } from '../../support/webhooks.ts';
import { webhookWorld } from '../../support/webhookWorld.ts';

const PUBLISH = '/v2/events/publish';
const ada = { userId: 'ada', name: 'Ada' };

const { customer, itemsOf, useNewCustomer, hooks, system, createEndpoint } = webhookWorld();
let tenant: string;

beforeEach(async () => {
  tenant = customer.apiKey;
  await customer.addOrganizations([{ organizationId: 'acme', organizationName: 'Acme', plan: 'gold' }]);
  await customer.addDocuments([{ documentId: 'nda', documentName: 'NDA' }]);
});

const publish = async (data: object): Promise<string> =>
  (await customer.ok(PUBLISH, { organizationId: 'acme', event: 'huddle.create', ...data })).eventId;
const events = () => itemsOf('Event');
const addUsers = (userIds: readonly string[], scope?: object) =>
  customer.addUsers(
    userIds.map((userId) => ({ userId, name: userId, email: `${userId}@example.com` })),
    scope,
  );
const inboxOf = (userId: string) => customer.ok('/v2/notifications/get', { organizationId: 'acme', userId });
const mailedUsers = async () => (await itemsOf('Mail')).map(({ about }) => about.userId).sort();

/** Fans out a published event and delivers it. */
async function deliver(...eventIds: string[]): Promise<any[]> {
  expect(await system.fanOut(...eventIds)).toEqual([]);
  await system.drain();
  return hooks.received.map(({ body }) => JSON.parse(body));
}

describe('POST /v2/events/publish', () => {
  test('delivers the sent data with actionUser and metadata of the service', async () => {
    await createEndpoint('/a');
    const eventId = await publish({
      ...nda,
      actionUser: ada,
      data: { huddleId: 'h', metadata: { room: 4, apiKey: 'forged' }, actionUser: 'forged' },
    });
    expect(await deliver(eventId)).toEqual([
      {
        event: 'huddle.create',
        actionType: 'create',
        source: 'huddle',
        webhookId: eventId,
        timestamp: expect.any(String),
        data: {
          huddleId: 'h',
          actionUser: ada,
          metadata: {
            room: 4,
            apiKey: tenant,
            organization: { organizationId: 'acme', organizationName: 'Acme', plan: 'gold' },
            document: { documentId: 'nda', documentName: 'NDA' },
          },
        },
      },
    ]);
    expect(hooks.received[0]?.headers['webhook-id']).toBe(eventId);
  });

  test.each([
    ['comment.update', 'comment'],
    ['comment_annotation.add', 'comment'],
    ['huddle.join', 'huddle'],
    ['crdt.update_data', 'crdt'],
    ['recorder.done', 'recorder'],
    ['step.awaiting-approval', 'workflow'],
  ])('publishes %s with the source %s and without a document', async (event, source) => {
    await createEndpoint('/a');
    const [{ data, ...body }] = (await deliver(await publish({ event }))) as [any];
    expect([body.event, body.source, data.metadata.document]).toEqual([event, source, undefined]);
  });

  test('delivers the event only to endpoints without channels or with a matching channel', async () => {
    await createEndpoint('/sales', { channels: ['sales'] });
    await createEndpoint('/all');
    await deliver(await publish({ channels: ['sales', 'emea'] }), await publish({}));
    expect(hooks.received.map(({ path }) => path).sort()).toEqual(['/all', '/all', '/sales']);
  });

  test('delivers the event to advanced and basic webhooks, by mail and in the app', async () => {
    await createEndpoint('/a');
    await customer.ok(paths.updateBasic, {
      useWebhookService: true,
      webhookServiceConfig: {
        rawNotificationUrl: hooks.url('/raw'),
        processedNotificationUrl: hooks.url('/processed'),
      },
    });
    await customer.ok('/v2/workspace/emailconfig/update', { useEmailService: true });
    await customer.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });
    await addUsers(['ada', 'grace', 'lin'], nda);
    await addThreads(customer, ['t']);
    const eventId = await publish({
      ...nda,
      event: 'comment.add',
      actionUser: ada,
      data: {
        commentAnnotation: { annotationId: 't', assignedTo: { userId: 'lin' } },
        targetComment: {
          commentId: 1,
          commentText: 'Look',
          taggedUserContacts: [{ userId: 'grace' }, { userId: 'ada' }],
        },
      },
    });
    await deliver(eventId);
    expect(hooks.received.map(({ path }) => path).sort()).toEqual(['/a', '/processed', '/raw']);
    expect(await mailedUsers()).toEqual(['grace', 'lin']);
    expect(system.mails).toHaveLength(2);
    const inboxes = await Promise.all(['ada', 'grace', 'lin'].map(inboxOf));
    expect(inboxes.map(({ length }) => length)).toEqual([0, 1, 1]);
  });

  test('sends no mail to the actor, also if only the data names the actor', async () => {
    await customer.ok('/v2/workspace/emailconfig/update', { useEmailService: true });
    await addUsers(['ada', 'grace']);
    await deliver(
      await publish({ data: { actionUser: ada, notifyUsers: [{ userId: 'ada' }, { userId: 'grace' }] } }),
      await publish({
        actionUser: ada,
        data: { actionUser: { userId: 'grace' }, notifyUsers: [{ userId: 'ada' }, { userId: 'grace' }] },
      }),
    );
    expect(await mailedUsers()).toEqual(['grace', 'grace']);
  });

  test('creates no deleted notification again if Lambda repeats the event after its fan-out', async () => {
    await customer.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });
    await customer.addUsers(['grace'], nda);
    const eventId = await publish({ ...nda, actionUser: ada, data: { notifyUsers: [{ userId: 'grace' }] } });
    await deliver(eventId);
    const [{ id }] = await inboxOf('grace');
    await customer.ok('/v2/notifications/delete', { organizationId: 'acme', notificationIds: [id] });
    await deliver(eventId);
    expect(await inboxOf('grace')).toEqual([]);
  });

  test('reads null in the fields of an actor in the data like missing fields', async () => {
    await createEndpoint('/a');
    await customer.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });
    await addUsers(['ada', 'grace'], nda);
    const actionUser = { userId: 'ada', name: null, email: null, photoUrl: null };
    const data = { actionUser, notifyUsers: [{ userId: 'grace' }] };
    const [body] = await deliver(await publish({ ...nda, event: 'huddle.create', data }));
    const completed = { userId: 'ada', name: 'ada', email: 'ada@example.com' };
    expect(body.data.actionUser).toEqual({ ...completed, photoUrl: null });
    expect(await inboxOf('grace')).toMatchObject([{ actionUser: completed }]);
  });

  test('creates no notification of a comment event that names no thread', async () => {
    await customer.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });
    await addUsers(['grace'], nda);
    const data = { notifyUsers: [{ userId: 'grace' }] };
    await deliver(await publish({ ...nda, event: 'comment.add', actionUser: ada, data }));
    expect(await inboxOf('grace')).toEqual([]);
  });

  test('sends no mail to users who may not read the private thread that the payload names', async () => {
    await customer.ok('/v2/workspace/emailconfig/update', { useEmailService: true });
    await addUsers(['grace', 'lin'], nda);
    await addThreads(customer, [thread('t', { visibility: { type: 'restricted', userIds: ['grace'] } })]);
    await deliver(
      await publish({
        ...nda,
        event: 'comment.add',
        actionUser: ada,
        data: {
          commentAnnotation: { annotationId: 't' },
          notifyUsers: [{ userId: 'lin' }, { userId: 'grace' }, 7, { userId: 8 }],
        },
      }),
    );
    expect(await mailedUsers()).toEqual(['grace']);
  });
});

describe('eventId of POST /v2/events/publish', () => {
  test('is accepted again with other contents, but only the first contents are delivered', async () => {
    await createEndpoint('/a');
    await publish({ eventId: 'huddle-1', data: { n: 1 } });
    const repeated = await Promise.all(
      [2, 3, 4].map((n) =>
        publish({ eventId: 'huddle-1', event: n === 4 ? 'huddle.join' : 'huddle.create', data: { n } }),
      ),
    );
    expect(repeated).toEqual(['huddle-1', 'huddle-1', 'huddle-1']);
    expect(await events()).toHaveLength(1);
    expect((await deliver('huddle-1', 'huddle-1')).map(({ event, data }) => [event, data.n])).toEqual([
      ['huddle.create', 1],
    ]);
    await publish({ eventId: 'huddle-1' });
    await deliver('huddle-1');
    expect(hooks.received).toHaveLength(1);
    expect(
      (await customer.ok('/v2/workspace/advancedwebhook/attempts/get', { messageId: 'huddle-1' })).attempts,
    ).toHaveLength(1);
  });

  test.each(['of a huddle/4', '__proto__ ', 'ключ', 'a.b', 'msg_mine', 'x'.repeat(65)])(
    'is replaced by a generated id if it is not allowed in a header or begins with msg_: %s',
    async (eventId) => {
      const ids = [await publish({ eventId }), await publish({ eventId, event: 'huddle.join' })];
      expect(ids).toEqual([ids[0], ids[0]]);
      expect(ids[0]).toMatch(/^msg_[A-Za-z0-9]{27}$/);
      expect(await events()).toHaveLength(1);
    },
  );

  test('is unique per tenant. Without it, each call with another Idempotency-Key creates an event', async () => {
    await publish({ eventId: 'e' });
    const [first, two] = [await publish({}), await publish({})];
    expect(first).not.toBe(two);
    const keyed = await Promise.all(
      [1, 2].map(() =>
        customer.call(PUBLISH, { event: 'huddle.join', organizationId: 'acme' }, { 'idempotency-key': 'k' }),
      ),
    );
    expect(keyed.some(({ status }) => status === 200)).toBe(true);
    expect(await events()).toHaveLength(4);
    await useNewCustomer();
    tenant = customer.apiKey;
    await customer.addOrganizations(['acme']);
    await publish({ eventId: 'e' });
    expect(await events()).toHaveLength(1);
  });
});

describe('POST /v2/events/publish with an invalid request', () => {
  test.each([
    [{ event: 'comment.addd' }, 'event must be an event type that can be published'],
    [{ event: 'message.attempt.exhausted' }, 'event must be'],
    [{ event: 'endpoint.disabled' }, 'event must be'],
    [{ organizationId: 'none' }, 'organizationId: the organization does not exist'],
    [
      { event: 'comment.add', data: { notifyUsers: times(51, (i) => ({ userId: `u${i}` })) } },
      'data must not name more than 50 users',
    ],
  ])('rejects %j and names the field', async (data, message) => {
    expect(await outcome(customer, PUBLISH, { event: 'huddle.create', organizationId: 'acme', ...data })).toEqual([
      'INVALID_ARGUMENT',
      expect.stringMatching(`^${message}`),
    ]);
    expect(await events()).toEqual([]);
  });

  test('returns NOT_FOUND for an unknown document', async () => {
    expect(
      (await outcome(customer, PUBLISH, { event: 'huddle.create', organizationId: 'acme', documentId: 'none' }))[0],
    ).toBe('NOT_FOUND');
  });

  test('accepts a key __proto__ in data', async () => {
    await createEndpoint('/a');
    await deliver(await publish({ data: JSON.parse('{"__proto__":{"x":1}}') }));
    expect(hooks.received[0]?.body).toContain('"__proto__":{"x":1}');
  });
});
