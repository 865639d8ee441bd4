import { beforeEach, describe, expect, test } from '@jest/globals';
import { ChatUserEntity } from '../../../lib/chat/chatStore.ts';
import { timeouts } from '../../../lib/webhooks/transport/failures.ts';
import { acmeWorld, forEachTest, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { MailSystem, person, threadWriters } from '../../support/mailSystem.ts';
import { CHANNEL_URL, TestSlack } from '../../support/slack.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';
import { newUser } from '../../support/userTokens.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const { engine, customer } = acmeWorld({ table: 'memory', documents: [{ documentId: 'nda', documentName: 'NDA' }] });
const folder = temporaryFolder();
const system = forEachTest(() => {
  const mailSystem = new MailSystem(engine, customer);
  const slack = new TestSlack(folder);
  slack.clear();
  return Object.assign(mailSystem, { slack });
});

const [ada, bob, grace] = ['ada', 'bob', 'grace'].map(person) as [any, any, any];
const configure = (chatServiceConfig: object, useChatService = true) =>
  customer.ok('/v2/workspace/chatconfig/update', { useChatService, chatServiceConfig });
const { addThread, reply } = threadWriters(customer, 'Is <this> right?');
const update = (updatedData: object) =>
  customer.ok('/v2/commentannotations/update', {
    ...nda,
    annotationIds: ['thread'],
    triggerNotification: true,
    actionUser: bob,
    updatedData,
  });
const level = (userId: string, slack: string) =>
  customer.untyped('/v2/notifications/config/set', { organizationId: 'acme', userIds: [userId], config: { slack } });
const sent = () => system.slack.messages.map(({ to, channelWebhook, text }) => [to ?? channelWebhook, text]);
const recipients = () => sent().map(([to]) => to);

beforeEach(async () => {
  await customer.addUsers([ada, bob, grace], nda);
});

describe('direct messages', () => {
  beforeEach(() => configure({ botToken: 'xoxb-works' }));

  test('reach addressed users, and all who follow only with the level ALL', async () => {
    await level('bob', 'ALL');
    await addThread();
    await reply({ from: bob });
    await reply({ from: grace });
    await system.deliver();
    expect(sent()).toEqual(
      expect.arrayContaining([
        ['grace@example.com', '*Ada mentioned you*\nNDA\n> Is &lt;this&gt; right?'],
        ['ada@example.com', '*Bob replied to you*\nNDA\n> Yes.'],
        ['ada@example.com', '*Grace replied to you*\nNDA\n> Yes.'],
        ['bob@example.com', '*Grace replied*\nNDA\n> Yes.'],
      ]),
    );
    expect(sent()).toHaveLength(4);
    expect(system.measures.counted).toEqual(new Map([['ChatMessagesSent', 4]]));
  });

  test.each<[string, () => Promise<unknown>]>([
    ['with the level NONE', () => level('grace', 'NONE')],
    ['while chat is off', () => configure({}, false)],
    ['while the trigger is off', () => configure({ triggers: { 'comment_annotation.add': false } })],
    ['without a bot token', () => configure({ botToken: '' })],
    ['with the address of the writer', () => customer.addUsers([{ ...grace, email: 'ADA@example.com' }], nda)],
  ])('do not reach a user %s, also if that is so only at the time of sending', async (_what, change) => {
    await addThread();
    await system.fanOut();
    await change();
    await system.processQueue();
    await addThread({ annotationId: 'second' });
    await system.deliver();
    expect(recipients()).toEqual([]);
  });

  test('are sent once if an event is consumed twice or a message is repeated', async () => {
    await addThread();
    await system.fanOut();
    const [message] = system.queue;
    await system.deliver();
    await system.processMessage(message!.body as never);
    expect(recipients()).toEqual(['grace@example.com']);
  });

  test('look a user up once, and again after another address or token', async () => {
    await addThread();
    await system.deliver();
    await addThread({ annotationId: 'b' });
    await system.deliver();
    expect(system.slack.calls.filter((call) => call === 'users.lookupByEmail')).toHaveLength(1);
    await customer.addUsers([{ ...grace, email: 'hopper@example.com' }], nda);
    await addThread({ annotationId: 'c' });
    await system.deliver();
    await configure({ botToken: 'xoxb-other' });
    await addThread({ annotationId: 'd' });
    await system.deliver();
    expect(system.slack.calls.filter((call) => call === 'users.lookupByEmail')).toHaveLength(3);
    expect(recipients()).toEqual([
      ...Array<string>(2).fill('grace@example.com'),
      ...Array<string>(2).fill('hopper@example.com'),
    ]);
    const stored = await table.get(ChatUserEntity, { tenant: customer.apiKey, userId: 'grace' });
    expect(JSON.stringify(stored)).not.toContain('hopper');
  });

  test('look a user up again after Slack did not find the channel', async () => {
    await addThread();
    await system.deliver();
    system.slack.results.push({
      responseStatus: 200,
      responseBody: Buffer.from('{"ok":false,"error":"channel_not_found"}'),
    });
    await addThread({ annotationId: 'b' });
    await system.deliver();
    await addThread({ annotationId: 'c' });
    await system.deliver();
    expect(system.slack.calls.filter((call) => call === 'users.lookupByEmail')).toHaveLength(2);
    expect((await system.stored()).map(({ status }) => status).sort()).toEqual(['FAILED', 'SENT', 'SENT']);
    expect(system.mails).toEqual([]);
  });

  test('are skipped for a user who is not in Slack, who is looked up again after a day', async () => {
    await customer.addUsers([{ ...grace, email: 'nobody@example.com' }], nda);
    await addThread();
    await system.deliver();
    await addThread({ annotationId: 'b' });
    await system.deliver();
    expect(await system.states()).toEqual({ grace: 'SKIPPED' });
    expect(system.skipped).toContain('nobody in Slack has the e-mail address of the user');
    expect(system.slack.calls).toEqual(['users.lookupByEmail']);
    system.now += 24 * HOUR + 1;
    await addThread({ annotationId: 'c' });
    await system.deliver();
    expect(system.slack.calls).toEqual(['users.lookupByEmail', 'users.lookupByEmail']);
    expect(system.measures.counted).toEqual(new Map());
  });

  test('have links that a user token wrote only to allowed domains', async () => {
    const eve = await newUser(customer, 'eve');
    const comment = { commentText: 'See https://evil.example/x', to: [grace], triggerNotification: true };
    await eve.ok('/v2/commentannotations/add', {
      ...nda,
      commentAnnotations: [{ annotationId: 'a', pageInfo: { url: 'https://evil.example/' }, commentData: [comment] }],
    });
    await system.deliver();
    expect(recipients()).toEqual(['grace@example.com']);
    expect(JSON.stringify(sent())).not.toContain('evil.example');
  });

  test('wait for the end of a delay, and several become one digest', async () => {
    const delayConfig = { isEnabled: true, delaySeconds: 600 };
    const user = { isEnabled: true, batchWindowSeconds: 60, maxActivities: 50 };
    await customer.ok('/v2/workspace/notificationconfig/update', {
      useNotificationService: true,
      notificationServiceConfig: { delayConfig, batchConfig: { user } },
    });
    system.now = Date.now();
    await addThread();
    await addThread({ annotationId: 'b' }, { commentText: 'Second' });
    await system.deliver();
    expect(sent()).toEqual([]);
    for (const minutes of [10.1, 1.1, 1]) {
      system.now += minutes * MINUTE;
      await system.runJobs();
      await system.processQueue();
    }
    expect(recipients()).toEqual(['grace@example.com']);
    const [[, text]] = sent() as [[string, string]];
    expect(text).toContain('*Ada mentioned you 2 times*');
    expect(text).toMatch(/> Is &lt;this&gt; right\?[^]*> Second/);
  });
});

describe('failures of Slack', () => {
  test('a dead token pauses direct messages, and tells the owner once per revision of the configuration', async () => {
    await configure({ botToken: 'xoxb-dead', channelWebhookUrl: CHANNEL_URL });
    await addThread();
    await system.deliver();
    await addThread({ annotationId: 'b' });
    await system.deliver();
    expect(system.mails.map(({ subject }) => subject)).toEqual([
      'Direct messages to your users in Slack cannot be sent',
    ]);
    expect(system.mails[0]!.text).toContain('Slack answered invalid_auth');
    expect(system.measures.counted.get('ChatMessagesFailed')).toBe(1);
    expect(recipients()).toEqual(['/services/T1/B1/channel', '/services/T1/B1/channel']);

    system.now += HOUR + 1;
    await addThread({ annotationId: 'c' });
    await system.deliver();
    expect(system.measures.counted.get('ChatMessagesFailed')).toBe(2);
    expect(system.mails).toHaveLength(1);

    await configure({ triggers: { 'comment.update': false } });
    await addThread({ annotationId: 'd' });
    await system.deliver();
    expect(system.mails).toHaveLength(2);
    await configure({ botToken: 'xoxb-works' });
    await addThread({ annotationId: 'e' });
    await system.deliver();
    expect(recipients().filter((to) => to === 'grace@example.com')).toHaveLength(1);
  });

  test('a deleted webhook pauses posts only, and tells the owner', async () => {
    await configure({ botToken: 'xoxb-works', channelWebhookUrl: 'https://hooks.slack.com/services/dead' });
    await addThread();
    await system.deliver();
    await addThread({ annotationId: 'b' });
    await system.deliver();
    expect(system.mails.map(({ subject }) => subject)).toEqual(['Posts in your Slack channel cannot be sent']);
    expect(recipients()).toEqual(['grace@example.com', 'grace@example.com']);
  });

  test.each([
    ['a limit keeps Retry-After', { responseStatus: 429, retryAfterSeconds: 300 }, 300, 0],
    ['an outage takes the schedule of mails', { responseStatus: 503 }, 60, 1],
    ['a refused connection takes the schedule of mails', { error: 'connection refused' }, 60, 1],
  ])('%s', async (_what, failure, seconds, failed) => {
    await configure({ botToken: 'xoxb-works' });
    await addThread();
    await system.fanOut();
    system.slack.results.push(failure);
    await system.processQueue();
    const [mail] = await system.stored();
    expect(mail!.status).toBe('READY');
    expect(mail!.nextAt! - system.now).toBeGreaterThanOrEqual(seconds * 1_000 * 0.7);
    expect(mail!.nextAt! - system.now).toBeLessThanOrEqual(seconds * 1_000 * 1.3);
    expect(system.measures.counted.get('ChatAttemptsFailed') ?? 0).toBe(failed);
    system.now = mail!.nextAt!;
    await system.processMessage({ tenant: customer.apiKey, mailId: mail!.mailId });
    expect(recipients()).toEqual(['grace@example.com']);
  });

  test('a message that may have arrived is not sent again', async () => {
    await configure({ botToken: 'xoxb-works' });
    await addThread();
    await system.deliver();
    system.slack.results.push({ outcome: 'timeout', error: timeouts.waiting.error });
    await addThread({ annotationId: 'b' });
    await system.deliver();
    system.now += 30 * HOUR;
    await system.sweep();
    await system.processQueue();
    expect((await system.stored()).map(({ status }) => status).sort()).toEqual(['SENT', 'UNKNOWN']);
    expect(recipients()).toEqual(['grace@example.com']);
  });
});

describe('posts in the channel', () => {
  beforeEach(() => configure({ channelWebhookUrl: CHANNEL_URL }));

  test('have the text of a public thread, and come without a delay', async () => {
    const delayConfig = { isEnabled: true, delaySeconds: 600 };
    await customer.ok('/v2/workspace/notificationconfig/update', {
      useNotificationService: true,
      notificationServiceConfig: { delayConfig },
    });
    await addThread({ pageInfo: { url: 'https://app.example/nda' } });
    await reply();
    await system.deliver();
    expect(sent()).toEqual([
      [
        '/services/T1/B1/channel',
        '*Ada commented*\nNDA\n> Is &lt;this&gt; right?\n<https://app.example/nda|Open the document>',
      ],
      ['/services/T1/B1/channel', '*Bob replied*\nNDA\n> Yes.\n<https://app.example/nda|Open the document>'],
    ]);
  });

  test.each<[string, object, object]>([
    ['a private thread', { visibilityConfig: { type: 'restricted', userIds: ['grace'] } }, {}],
    ['a thread of an organization', { visibilityConfig: { type: 'organizationPrivate' } }, {}],
    ['a thread with an access context', { context: { access: { region: 'eu' } } }, {}],
    ['a comment with an access context', {}, { context: { access: { region: 'eu' } } }],
  ])('do not come of %s', async (_what, thread, comment) => {
    await addThread(thread, comment);
    await system.deliver();
    expect(sent()).toEqual([]);
  });

  test('do not come of a thread that turns private, or is deleted, before the post', async () => {
    await addThread();
    await system.fanOut();
    await customer.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['thread'],
      updatedData: { visibilityConfig: { type: 'restricted', userIds: ['grace'] } },
    });
    await addThread({ annotationId: 'gone' });
    await system.fanOut();
    await customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: ['gone'] });
    await system.processQueue();
    expect(sent()).toEqual([]);
    expect((await system.stored()).map(({ status }) => status)).toEqual(['SKIPPED', 'SKIPPED']);
  });

  test('do not come of an event whose trigger is turned off before the post', async () => {
    await addThread();
    await system.fanOut();
    await configure({ triggers: { 'comment_annotation.add': false } });
    await system.processQueue();
    expect([sent(), (await system.stored()).map(({ status }) => status)]).toEqual([[], ['SKIPPED']]);
  });

  test.each(['restricted', 'organizationPrivate'])(
    'of a document that is %s have only the fact and the link',
    async (accessType) => {
      await customer.untyped('/v2/organizations/documents/update', {
        organizationId: 'acme',
        documents: [{ documentId: 'nda', documentName: 'Secret plan', accessType }],
      });
      await addThread({ pageInfo: { url: 'https://app.example/nda' } });
      await update({ status: { id: 'X', name: 'Secret status', type: 'ongoing' } });
      await update({ priority: { id: 'P', name: 'Secret priority' } });
      await update({ assignedTo: grace });
      await customer.addReactions([
        { annotationId: 'r', icon: '👍', from: bob, commentAnnotationId: 'thread', commentId: 1 },
      ]);
      await system.deliver();
      const facts = [
        'Ada commented',
        'Bob changed the status of a comment',
        'Bob changed the priority of a comment',
        'Bob assigned a comment to somebody',
        'Bob reacted to a comment',
      ];
      const rest = '_In a document with restricted access_\n<https://app.example/nda|Open the document>';
      expect(sent().map(([, text]) => text)).toEqual(facts.map((fact) => `*${fact}*\n${rest}`));
    },
  );

  test('do not come of published comments whose thread the service does not have', async () => {
    const data = { commentAnnotation: { comments: [{ commentText: 'Private?', from: ada }] } };
    await customer.ok('/v2/events/publish', { ...nda, event: 'comment.add', data });
    await system.deliver();
    expect(sent()).toEqual([]);
  });
});
