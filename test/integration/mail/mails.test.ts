import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MailEntity } from '../../../lib/mail/mailStore.ts';
import { acmeWorld, forEachTest } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { storedItem } from '../../support/items.ts';
import { MailSystem, person, threadWriters } from '../../support/mailSystem.ts';
import { type Receiver, startHttp } from '../../support/receivers.ts';
import { times } from '../../support/times.ts';
import { newUser } from '../../support/userTokens.ts';

const MINUTE = 60_000;

const { engine, customer } = acmeWorld({ table: 'memory', documents: [{ documentId: 'nda', documentName: 'NDA' }] });
const system = forEachTest(() => new MailSystem(engine, customer));

const [ada, bob, grace, linus] = ['ada', 'bob', 'grace', 'linus'].map(person) as [any, any, any, any];
const addUsers = (...users: object[]) => customer.addUsers(users, nda);
const configure = (config: object) => customer.ok('/v2/workspace/emailconfig/update', config);
const { addThread, reply } = threadWriters(customer, 'Too <long>?');
const settings = (userId: string, email: string, documentIds?: string[]) =>
  customer.untyped('/v2/notifications/config/set', {
    organizationId: nda.organizationId,
    userIds: [userId],
    config: { email },
    documentIds,
  });

/** A mail to the owner. */
const notice = {
  kind: 'endpointFailure',
  endpointId: 'ep_1',
  url: 'https://hooks.example.com/in',
  stage: 'disabled',
  failingSince: Date.UTC(2026, 0, 10),
} as const;

beforeEach(async () => {
  await addUsers(ada, bob, grace, linus);
  await configure({ useEmailService: true });
});

describe('the mails of an event', () => {
  test('are sent to mentioned users, the author and participants, except the actor', async () => {
    await addThread();
    await reply();
    await system.deliver();
    expect(system.mailed.sort()).toEqual(['ada@example.com', 'grace@example.com', 'grace@example.com']);
    expect(system.mails.map(({ to, subject }) => `${to}: ${subject}`)).toEqual(
      expect.arrayContaining([
        'grace@example.com: Ada mentioned you in NDA',
        'ada@example.com: Bob replied to you in NDA',
      ]),
    );
    expect(system.measures.counted).toEqual(new Map([['MailsSent', 3]]));
  });

  test('are sent to the author of a comment at the address of the event if the author has no profile', async () => {
    await addThread({}, { triggerNotification: false, taggedUserContacts: [] });
    await reply({ from: person('eve'), triggerNotification: false });
    await customer.ok('/v2/reactions/add', {
      ...nda,
      reactions: [{ icon: '👍', from: bob, commentAnnotationId: 'thread', commentId: 2 }],
    });
    await system.deliver();
    expect(system.mails.map(({ to, subject }) => `${to}: ${subject}`).sort()).toEqual([
      'ada@example.com: Bob reacted with 👍 to a comment in NDA',
      'eve@example.com: Bob reacted with 👍 to your comment in NDA',
    ]);
  });

  test('are not sent to the address that a browser with a user token gives for another user', async () => {
    const context = { access: { region: 'eu' } };
    const resources = [{ type: 'document', id: 'nda', organizationId: nda.organizationId, context }];
    await customer.call('/v2/auth/permissions/add', { user: { userId: 'boss' }, permissions: { resources } });
    await addUsers({ userId: 'carl' });
    const eve = await newUser(customer, 'eve');
    const boss = { userId: 'boss', name: 'Boss', email: 'eve@elsewhere.example' };
    const people = { assignedTo: boss, subscribedUsers: [boss], unsubscribedUsers: [{ ...boss, userId: 'carl' }] };
    const mentions = { to: [boss], taggedUserContacts: [{ userId: 'boss', contact: boss }] };
    const update = (data: object) => eve.ok('/v2/commentannotations/update', { ...nda, ...data });
    for (const [annotationId, list] of [
      ['a', 'commentData'],
      ['b', 'comments'],
    ] as const) {
      const thread = { annotationId, ...people, [list]: [{ commentText: 'x', ...mentions }] };
      await eve.ok('/v2/commentannotations/add', { ...nda, commentAnnotations: [thread] });
      const call = { ...nda, annotationId };
      await eve.ok('/v2/commentannotations/comments/add', { ...call, [list]: [{ commentText: 'y', ...mentions }] });
      await eve.ok('/v2/commentannotations/comments/update', { ...call, updatedData: mentions });
      await update({ annotationIds: [annotationId], updatedData: { ...people, status: 'RESOLVED' } });
      const hidden = { commentText: 'Only for Europe.', from: ada, context, triggerNotification: true };
      await customer.ok('/v2/commentannotations/comments/add', { ...call, commentData: [hidden] });
    }
    await system.deliver();
    expect(system.mailed).toEqual([]);
    const threads = await eve.ok('/v2/commentannotations/get', nda);
    expect(JSON.stringify(threads)).not.toContain('elsewhere');
    expect(threads[0].assignedTo).toEqual({ userId: 'boss' });
  });

  test('have links that a user token wrote only to allowed domains of the API key', async () => {
    const eve = await newUser(customer, 'eve');
    const pageInfo = { url: 'https://evil.example/login' };
    const comment = (to: object) => ({
      commentText: 'Log in at https://evil.example/login or evil.example',
      to: [to],
      triggerNotification: true,
    });
    const commentAnnotations = [{ annotationId: 'a', pageInfo, commentData: [comment(grace)] }];
    await eve.ok('/v2/commentannotations/add', { ...nda, commentAnnotations });
    await system.deliver();
    expect(system.mailed).toEqual(['grace@example.com']);
    expect(JSON.stringify(system.mails)).not.toContain('evil.example');
    expect(system.mails[0]!.text).toContain('> Log in at [link removed] or evil. example');
    expect(system.mails[0]!.text).not.toContain('Open the document');
    await customer.ok('/v2/workspace/domains/add', { domains: ['evil.example'] });
    const reply = { ...nda, annotationId: 'a', commentData: [comment(linus)] };
    await eve.ok('/v2/commentannotations/comments/add', reply);
    await system.deliver();
    expect(system.mails.find(({ to }) => to === 'linus@example.com')!.text).toContain(
      'Open the document: https://evil.example/login',
    );
  });

  test('keep the links of what an API key changed after a user token', async () => {
    const eve = await newUser(customer, 'eve');
    const commentAnnotations = [
      { annotationId: 'a', pageInfo: { url: 'https://evil.example/' }, commentData: [{ commentText: 'evil.example' }] },
    ];
    await eve.ok('/v2/commentannotations/add', { ...nda, commentAnnotations });
    const pageInfo = { url: 'https://docs.example/nda' };
    const call = { ...nda, annotationIds: ['a'], actionUser: ada, triggerNotification: true };
    await customer.ok('/v2/commentannotations/update', { ...call, updatedData: { pageInfo, assignedTo: grace } });
    await system.deliver();
    const mail = system.mails.find(({ to }) => to === 'grace@example.com')!;
    expect(mail.text).toContain('Open the document: https://docs.example/nda');
  });

  test('quote the comment of a new thread that mentions the user, and name its author', async () => {
    const eve = person('eve');
    await addThread({
      commentData: [
        { commentText: 'First', from: ada, triggerNotification: true },
        { commentText: 'Second', from: bob, taggedUserContacts: [{ userId: 'eve', contact: eve }] },
        { commentText: 'Third', from: ada, to: [grace] },
      ],
    });
    await system.deliver();
    const summaries = system.mails.map(({ to, subject, text }) => [to, subject, /^> .*$/m.exec(text)?.[0]]);
    expect(summaries.sort()).toEqual([
      ['bob@example.com', 'Ada commented on NDA', '> First'],
      ['eve@example.com', 'Bob mentioned you in NDA', '> Second'],
      ['grace@example.com', 'Ada mentioned you in NDA', '> Third'],
    ]);
  });

  test('name the actor, the mention and the assignment of an event that is reduced to ids', async () => {
    const large = times(10, () => ({ commentText: 'x'.repeat(30_000), from: ada }));
    const mention = {
      commentText: 'Hello',
      from: { userId: 'ada' },
      taggedUserContacts: [{ userId: 'grace' }],
      triggerNotification: true,
    };
    await addThread({ assignedTo: { userId: 'linus' }, commentData: [mention, ...large] });
    await system.deliver();
    expect(system.mails.map(({ to, subject }) => `${to}: ${subject}`).sort()).toEqual([
      'grace@example.com: Ada mentioned you',
      'linus@example.com: Ada assigned you a comment',
    ]);
  });

  test("contain the escaped comment, the unsubscribe link and the customer's name", async () => {
    await configure({ emailServiceConfig: { fromCompany: 'Acme', fromEmail: 'notes@acme.example' } });
    await addThread();
    await system.deliver();
    const [mail] = system.mails;
    expect(mail).toMatchObject({ toName: 'Grace', sender: { name: 'Acme', address: 'notes@acme.example' } });
    expect(mail!.html).toContain('Too &#60;long&#62;?');
    expect(mail!.headers!['List-Unsubscribe']).toMatch(
      /^<https:\/\/api\.test\/v2\/notifications\/email\/unsubscribe\?token=1\.[\w-]+>$/,
    );
  });

  test('name the actor and the assignee by the stored profile if the request has only the user id', async () => {
    await addThread({}, { from: { userId: 'bob' } });
    await reply({ from: { userId: 'ada', name: 'Countess Lovelace' }, taggedUserContacts: [{ userId: 'grace' }] });
    const assigned = { updatedData: { assignedTo: { userId: 'bob' } }, actionUser: ada, triggerNotification: true };
    await customer.ok('/v2/commentannotations/update', { ...nda, annotationIds: ['thread'], ...assigned });
    await system.deliver();
    const subjects = system.mails.filter(({ to }) => to === grace.email).map(({ subject }) => subject);
    expect(subjects.sort()).toEqual([
      'Ada assigned a comment to Bob in NDA',
      'Bob mentioned you in NDA',
      'Countess Lovelace mentioned you in NDA',
    ]);
  });

  test('are sent only if the e-mail service and the trigger are on', async () => {
    await configure({ emailServiceConfig: { triggers: { 'comment_annotation.add': false } } });
    await addThread();
    await reply();
    await configure({ useEmailService: false });
    await system.fanOut();
    expect(await system.stored()).toEqual([]);
    await configure({ useEmailService: true });
    await system.fanOut();
    expect((await system.stored()).map(({ about }) => about.event)).toEqual(['comment.add', 'comment.add']);
  });

  test('use the address in the event for an unknown user, and are not sent to invalid addresses', async () => {
    await addUsers({ userId: 'nameless', email: 'call me' });
    await addThread(
      { subscribedUsers: [person('eve')] },
      {
        taggedUserContacts: [
          { contact: { userId: 'guest', name: 'Guest', email: 'guest@example.org' } },
          { userId: 'nameless' },
          { userId: 'stranger' },
        ],
      },
    );
    await system.deliver();
    expect(system.mailed.sort()).toEqual(['eve@example.com', 'guest@example.org']);
  });

  test('use the name and address in notifyUsers of a published event for an unknown user', async () => {
    await customer.ok('/v2/events/publish', {
      ...nda,
      event: 'huddle.create',
      actionUser: ada,
      data: { notifyUsers: [{ userId: 'guest', name: 'Guest', email: 'guest@example.org' }, 'nobody'] },
    });
    await system.deliver();
    expect(system.mails).toMatchObject([
      { to: 'guest@example.org', toName: 'Guest', subject: 'Ada started a huddle in NDA' },
    ]);
  });

  test("follow the user's level: ALL, MINE or NONE", async () => {
    await settings('grace', 'MINE');
    await settings('linus', 'MINE');
    await settings('bob', 'NONE');
    await settings('ada', 'NONE');
    await settings('ada', 'ALL', ['nda']);
    await addThread({ subscribedUsers: [linus] }, { taggedUserContacts: [{ userId: 'grace' }, { userId: 'bob' }] });
    await reply({ from: grace });
    await system.deliver();
    // Ada gets a mail by her setting ALL for this document. Linus does not: he only subscribed to the thread, and MINE
    // leaves out subscribers.
    expect(system.mailed.sort()).toEqual(['ada@example.com', 'grace@example.com']);
  });

  test('are stored without the address and the text', async () => {
    await addThread();
    await system.deliver();
    const [{ tenant, mailId }] = (await system.stored()) as [any];
    const item = await storedItem(engine, MailEntity.key({ tenant, mailId }));
    expect(JSON.stringify(item)).not.toMatch(/@example|long/);
    expect(item).not.toHaveProperty('gsi3pk');
    expect(item!.ttl).toBe(Math.floor(item!.createdAt / 1000) + 30 * 86_400);
  });
});

describe('a thread that only some users may see', () => {
  const eu = { context: { access: { region: 'eu' } } };
  const allow = (userId: string, ...regions: string[]) =>
    customer.ok('/v2/auth/permissions/add', {
      user: { userId },
      permissions: {
        resources: [
          {
            type: 'document',
            id: nda.documentId,
            organizationId: nda.organizationId,
            context: { access: { region: regions } },
          },
        ],
      },
    });
  const mentionsGraceAndBob = { taggedUserContacts: [{ userId: 'grace' }, { userId: 'bob' }] };

  const forBob = { visibility: { type: 'restricted' as const, userIds: ['bob'] } };
  const update = (updatedData: typeof eu | typeof forBob) =>
    customer.ok('/v2/commentannotations/update', { ...nda, annotationIds: ['thread'], updatedData });

  test.each<[what: string, thread: object, comment: object]>([
    ['may see the private thread', forBob, {}],
    ['have the access context of the thread', eu, {}],
    ['have the access context of the comment', {}, eu],
  ])('is mailed only to users who %s', async (_what, ofThread, ofComment) => {
    await allow('bob', 'us', 'eu');
    await allow('grace', 'us');
    await addThread(ofThread, { ...mentionsGraceAndBob, ...ofComment });
    await system.deliver();
    expect(system.mailed).toEqual(['bob@example.com']);
    expect(await system.states()).toEqual({ bob: 'SENT' });
  });

  test.each<[what: string, change: () => Promise<unknown>]>([
    ['the thread became private', () => update(forBob)],
    ['the thread got a context that the user lacks', () => update(eu)],
    [
      'the comment got a context that the user lacks',
      () =>
        customer.ok('/v2/commentannotations/comments/update', {
          ...nda,
          annotationId: 'thread',
          commentIds: [1],
          updatedData: eu,
        }),
    ],
    [
      'the user lost access to the document',
      async () => {
        await customer.setAccess('restricted', ['nda']);
        await customer.ok('/v2/auth/permissions/remove', {
          userId: 'grace',
          permissions: { resources: [{ type: 'document', id: nda.documentId, organizationId: nda.organizationId }] },
        });
      },
    ],
  ])('is not mailed if, before the mail is sent, %s', async (_what, change) => {
    await allow('bob', 'eu');
    await addThread({}, mentionsGraceAndBob);
    await system.fanOut();
    await change();
    await system.processQueue();
    expect(system.mailed).toEqual(['bob@example.com']);
    expect(await system.states()).toEqual({ bob: 'SENT', grace: 'SKIPPED' });
  });

  test('is not mailed if, before the mail is sent, a later comment of the new thread got a context', async () => {
    await allow('bob', 'eu');
    const commentData = [
      { commentText: 'Hello', from: ada },
      { commentText: 'Secret', from: ada, triggerNotification: true, ...mentionsGraceAndBob },
    ];
    await addThread({ commentData });
    await system.fanOut();
    const comment = { ...nda, annotationId: 'thread', commentIds: [2] };
    await customer.ok('/v2/commentannotations/comments/update', { ...comment, updatedData: eu });
    await system.processQueue();
    expect(await system.states()).toEqual({ bob: 'SENT', grace: 'SKIPPED' });
  });

  const publish = (context: object) =>
    customer.ok('/v2/events/publish', {
      ...nda,
      event: 'comment.add',
      actionUser: ada,
      data: {
        commentAnnotation: { annotationId: 'elsewhere', context },
        targetComment: { commentText: 'Secret', from: ada, to: [{ userId: 'grace' }, { userId: 'bob' }] },
      },
    });

  test('is not mailed for a published event with a context that the user lacks', async () => {
    await allow('bob', 'eu');
    await publish(eu.context);
    // Nobody has an invalid context.
    await publish({ access: { isSecret: true } });
    await system.deliver();
    expect(system.mailed).toEqual(['bob@example.com']);
  });
});

describe('a mail that a worker is about to send', () => {
  const deleteSecondComment = () =>
    customer.ok('/v2/commentannotations/comments/delete', { ...nda, annotationId: 'thread', commentIds: [2] });

  test.each<[what: string, change: () => Promise<unknown>]>([
    ['the service was turned off', () => configure({ useEmailService: false })],
    [
      'the trigger was turned off',
      () => configure({ emailServiceConfig: { triggers: { 'comment_annotation.add': false } } }),
    ],
    ['the user wants no more mail', () => settings('grace', 'NONE')],
    [
      'the thread was deleted',
      () => customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: ['thread'] }),
    ],
  ])('is skipped if %s', async (_what, change) => {
    await addThread();
    await system.fanOut();
    const [message] = system.queue;
    await change();
    await system.processQueue();
    await system.processMessage(message!.body as never);
    expect(system.mails).toEqual([]);
    expect(await system.states()).toEqual({ grace: 'SKIPPED' });
  });

  test('is skipped if its comment was deleted', async () => {
    await addThread({}, { triggerNotification: false });
    await reply();
    await system.fanOut();
    await deleteSecondComment();
    await system.processQueue();
    expect(system.mails).toEqual([]);
    expect(await system.states()).toEqual({ ada: 'SKIPPED', grace: 'SKIPPED' });
  });

  test('is skipped if one of the comments of the new thread was deleted', async () => {
    const mention = { commentText: 'Secret', from: ada, triggerNotification: true, to: [{ userId: 'grace' }] };
    await addThread({ commentData: [{ commentText: 'Hello', from: ada }, mention] });
    await system.fanOut();
    await deleteSecondComment();
    await system.processQueue();
    expect(await system.states()).toEqual({ grace: 'SKIPPED' });
  });

  const reactTo = (from: object) =>
    customer.addReactions([{ annotationId: 'r', icon: '👍', from, commentAnnotationId: 'thread', commentId: 1 }]);
  const takeBack = () => customer.ok('/v2/reactions/delete', { ...nda, annotationIds: ['r'], actionUser: bob });
  test.each<[what: string, change: () => Promise<unknown>, state: string]>([
    ['is skipped if its reaction was taken back', takeBack, 'SKIPPED'],
    [
      'is skipped if only the same reaction of others is left',
      async () => (await takeBack(), reactTo(linus)),
      'SKIPPED',
    ],
    ['is skipped if the user reacted again later', async () => (await takeBack(), reactTo(bob)), 'SKIPPED'],
    ['is sent if others made the same reaction too', () => reactTo(linus), 'SENT'],
  ])('%s', async (_what, change, state) => {
    await addThread({}, { taggedUserContacts: [], triggerNotification: false });
    await reactTo(bob);
    await system.fanOut();
    await change();
    await system.processQueue();
    expect(await system.states()).toEqual({ ada: state });
  });

  test('is skipped with a log line if the operator has not set mailFrom, also to the owner', async () => {
    await addThread();
    system.ses = undefined;
    await system.notifyOwner(customer.apiKey, notice, [1]);
    await system.deliver();
    expect(system.skipped).toEqual(Array(2).fill('the operator has not set mailFrom'));
    expect(await system.states()).toEqual({ grace: 'SKIPPED', endpointFailure: 'SKIPPED' });
  });
});

describe('a mail whose message the queue rejects', () => {
  test('does not fail the fan-out of its event, and one of two simultaneous sweeps sends its message', async () => {
    await addThread();
    system.isQueueDown = true;
    await system.fanOut();
    expect(await system.states()).toEqual({ grace: 'READY' });
    system.isQueueDown = false;
    await system.sweep();
    expect(system.queue).toEqual([]);
    system.now += 6 * MINUTE;
    await Promise.all([system.sweep(), system.sweep()]);
    expect(system.queue).toHaveLength(1);
    await system.processQueue();
    expect(await system.states()).toEqual({ grace: 'SENT' });
    system.now += 60 * MINUTE;
    await system.sweep();
    expect(system.queue).toEqual([]);
  });
});

describe('the sending of a mail after failures of workers and providers', () => {
  beforeEach(async () => {
    await addThread();
    await system.fanOut();
  });
  const [message, only] = [() => system.queue[0]!.body as never, async () => (await system.stored())[0]!];
  const key = async () => ({ tenant: customer.apiKey, mailId: (await only()).mailId });

  test('is not repeated if its worker ended while it sent the mail', async () => {
    system.results.push(() => {
      throw new Error('the function was ended');
    });
    await expect(system.processMessage(message())).rejects.toThrow('ended');
    expect((await only()).status).toBe('SENDING');
    await system.processMessage(message());
    expect((await only()).status).toBe('SENDING');
    system.now += 2 * MINUTE;
    await system.processMessage(message());
    await system.processMessage(message());
    expect((await only()).status).toBe('UNKNOWN');
    expect(system.mails).toHaveLength(1);
    expect(system.measures.counted).toEqual(new Map([['MailOutcomesUnknown', 1]]));
    expect(system.warnings).toEqual([
      {
        message: 'mail failed',
        ...(await key()),
        kind: 'event',
        status: 'UNKNOWN',
        reason: 'the worker ended while it was sending the mail',
      },
    ]);
  });

  test('happens once if several workers receive the same message', async () => {
    await Promise.all(times(8, () => system.processMessage(message())));
    expect(system.mails).toHaveLength(1);
  });

  test('is retried by a delayed message after a short pause, and by the sweep after a long pause', async () => {
    for (let i = 0; i < 6; i++) system.results.push({ outcome: 'failed', reason: '500', retry: true });
    const mail = await key();
    const startedAt = system.now;
    const attemptMinutes: number[] = [];
    system.queue.length = 0;
    await system.processMessage(mail);
    for (let stored = await system.store.get(mail); stored?.status === 'READY'; stored = await system.store.get(mail)) {
      const next = system.queue.shift();
      if (next) {
        expect(next.delaySeconds).toBeLessThanOrEqual(900);
        system.now += next.delaySeconds * 1_000;
        await system.processMessage(next.body as never);
        attemptMinutes.push(Math.round((system.now - startedAt) / MINUTE));
      } else {
        system.now = stored.dueAt! + 1;
        await system.sweep();
      }
    }
    expect(attemptMinutes).toEqual([1, 6, 36, 156, 516]);
    expect(await only()).toMatchObject({ status: 'FAILED', attempts: 6, reason: '500' });
    // The sixth attempt is the last one of the schedule, so no retry follows.
    expect(system.measures.counted).toEqual(
      new Map([
        ['MailAttemptsFailed', 5],
        ['MailsFailed', 1],
      ]),
    );
    expect(system.warnings).toMatchObject([
      ...[1, 2, 3, 4, 5, 6].map((attempt) => ({
        message: 'mail attempt failed',
        ...mail,
        kind: 'event',
        attempt,
        outcome: 'failed',
        reason: '500',
      })),
      { message: 'mail failed', ...mail, kind: 'event', status: 'FAILED', reason: '500' },
    ]);
  });

  test('is postponed without counting the attempt if the provider throttles', async () => {
    system.results.push({ outcome: 'throttled', reason: 'TooManyRequestsException' });
    const mail = await key();
    system.queue.length = 0;
    await system.processMessage(mail);
    expect(await only()).toMatchObject({ status: 'READY', attempts: 0 });
    expect(system.queue).toMatchObject([{ delaySeconds: 15, groupId: customer.apiKey }]);
    system.now += 15_000;
    await system.processMessage(mail);
    expect(await only()).toMatchObject({ status: 'SENT', attempts: 1 });
    expect(system.measures.counted).toEqual(new Map([['MailsSent', 1]]));
  });

  test('is postponed if the message arrives before the attempt is due', async () => {
    system.results.push({ outcome: 'failed', reason: '500', retry: true });
    const body = message();
    system.queue.length = 0;
    await system.processMessage(body);
    system.queue.length = 0;
    await system.processMessage(body);
    expect(system.mails).toHaveLength(1);
    expect(system.queue).toMatchObject([{ delaySeconds: 60 }]);
  });
});

describe('mails through SendGrid', () => {
  let provider: Receiver;
  let requests: any[];
  let status: number;
  beforeEach(async () => {
    [requests, status] = [[], 202];
    provider = await startHttp(
      (request, response) =>
        void (async () => {
          requests.push({ authorization: request.headers.authorization, ...((await json(request)) as object) });
          response.writeHead(status, { 'x-message-id': 'sg-1' }).end();
        })(),
    );
    system.sendGrid = provider.url;
    await configure({
      emailServiceConfig: { type: 'sendgrid', apiKey: 'SG.key', fromEmail: 'notes@acme.example', fromCompany: 'Acme' },
    });
  });
  afterEach(() => provider.stop());

  test("use the customer's key and address", async () => {
    await addThread();
    await system.deliver();
    expect(requests).toMatchObject([
      {
        authorization: 'Bearer SG.key',
        from: { email: 'notes@acme.example', name: 'Acme' },
        subject: 'Ada mentioned you in NDA',
      },
    ]);
    expect(await system.stored()).toMatchObject([{ status: 'SENT', messageId: 'sg-1' }]);
    expect(requests[0].custom_args).toEqual({ mailId: (await system.stored())[0]!.mailId });
    expect(system.mails).toEqual([]);
  });

  test("use the customer's templates, and the tag template for mentioned users", async () => {
    await configure({ emailServiceConfig: { commentTemplateId: 'd-comment', tagTemplateId: 'd-tag' } });
    await addThread({ subscribedUsers: [linus] });
    await system.deliver();
    expect(
      requests
        .map(
          ({
            template_id,
            personalizations: [
              {
                to: [{ email }],
                dynamic_template_data: data,
              },
            ],
          }) => [email, template_id, data.headline, data.recipientName],
        )
        .sort(),
    ).toEqual([
      ['grace@example.com', 'd-tag', 'Ada mentioned you', 'Grace'],
      ['linus@example.com', 'd-comment', 'Ada commented', 'Linus'],
    ]);
  });

  test('stop after the provider refused the credentials, and the owner gets one mail through SES', async () => {
    status = 401;
    await addThread({ subscribedUsers: [linus] });
    await system.deliver();
    expect(requests).toHaveLength(1);
    expect(await system.states()).toEqual({ grace: 'FAILED', linus: 'SKIPPED', providerFailure: 'SENT' });
    expect(system.mails).toMatchObject([
      { to: expect.stringMatching(/^owner-/), subject: 'Notification mails to your users cannot be sent' },
    ]);
    expect(system.mails[0]!.text).toContain('SendGrid answered 401');

    await reply();
    await system.deliver();
    expect([requests.length, system.mails.length, (await system.stored()).length]).toEqual([1, 1, 3]);

    system.now += 61 * MINUTE;
    await reply({ commentText: 'Again.' });
    await system.deliver();
    expect(requests.length).toBeGreaterThan(1);
    expect(system.mails).toHaveLength(1);
  });

  test('are sent again after any change of the configuration', async () => {
    status = 403;
    await addThread();
    await system.deliver();
    status = 202;
    await configure({ emailServiceConfig: { apiKey: 'SG.new' } });
    await reply();
    await system.deliver();
    expect(requests.slice(1)).toMatchObject([{ authorization: 'Bearer SG.new' }, { authorization: 'Bearer SG.new' }]);
    expect(Object.values(await system.states()).sort()).toContain('SENT');
  });

  test('are not sent without a sender address, and the owner gets a mail', async () => {
    await configure({ emailServiceConfig: { fromEmail: '' } });
    await addThread();
    await system.deliver();
    expect(requests).toEqual([]);
    expect(await system.states()).toEqual({ grace: 'SKIPPED', providerFailure: 'SENT' });
  });
});

describe('mails to the workspace owner', () => {
  test('go through SES independently of the e-mail configuration, once per notice', async () => {
    await configure({ useEmailService: false });
    await system.notifyOwner(customer.apiKey, notice, ['ep_1', 'disabled', 1]);
    await system.notifyOwner(customer.apiKey, notice, ['ep_1', 'disabled', 1]);
    await system.processQueue();
    expect(system.mails).toMatchObject([
      { to: expect.stringMatching(/^owner-.*@example\.com$/), subject: 'A webhook endpoint was disabled' },
    ]);
    await system.notifyOwner(customer.apiKey, notice, ['ep_1', 'disabled', 2]);
    await system.processQueue();
    expect(system.mails).toHaveLength(2);
  });
});
