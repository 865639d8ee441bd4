import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { startDns } from '../support/dnsServer.ts';
import { RemoteReceiver, type RemoteWebhook } from '../support/remoteReceiver.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { times } from '../support/times.ts';
import { paths } from '../support/webhooks.ts';
import { clockAhead, mailsOnce, startSystem, type System, until } from './system.ts';

const ADVANCED = '/v2/workspace/advancedwebhook';
const nda = { organizationId: 'acme', documentId: 'nda' };
const person = (userId: string, name: string) => ({ userId, name, email: `${userId}@example.com` });
const [ada, bob, grace] = [person('ada', 'Ada'), person('bob', 'Bob'), person('grace', 'Grace')];

const timing = {
  SCHEDULE_SECONDS: '10',
  WEBHOOK_RETRY_SCHEDULE: '0,1,1',
  MAIL_RETRY_SCHEDULE: '0,1',
  DUE_MARGIN_SECONDS: '60',
  RECONCILE_AFTER_SECONDS: '60',
};
const ATTEMPTS = 3;

/** A public host name that resolves to a private address. No other names exist. */
const NAME = 'hooks.example.com';

/** Returns code with which all threads of the system look up customers' host names on this server. */
const preloadUsingDns = (server: string) => `
  import dns from 'node:dns/promises';
  import { syncBuiltinESMExports } from 'node:module';
  const { Resolver } = dns;
  dns.Resolver = class extends Resolver {
    constructor(options) {
      super(options);
      this.setServers(['${server}']);
    }
  };
  syncBuiltinESMExports();
`;

// All tests share one system, because a start takes a second. Each test has its own workspace. The last test kills and restarts
// the system.
describe('deliveries in npm start', () => {
  let receiver: RemoteReceiver;
  let dns: Awaited<ReturnType<typeof startDns>>;
  let system: System;

  beforeAll(async () => {
    dns = await startDns((name) => (name === NAME ? ['10.1.2.3'] : 'NXDOMAIN'));
    receiver = await RemoteReceiver.start();
    system = await startSystem({ dataDir, env: timing, preload: preloadUsingDns(dns.resolver.getServers()[0]!) });
  });

  afterAll(async () => {
    await Promise.all([system.stop(), receiver.stop()]);
    dns.stop();
  });
  const dataDir = temporaryFolder();

  /** Creates a workspace, with a document in a folder, and users who may see the document. */
  async function newWorkspace(name: string) {
    const { id, authToken, apiKeyList } = await system.ok(
      '/v2/workspace/create',
      { ownerEmail: `${name}@example.com` },
      {},
    );
    const [apiKey = ''] = Object.keys(apiKeyList);
    const { authTokens } = await system.ok(
      '/v2/workspace/authtokens/get',
      { apiKey },
      { 'x-svc-workspace-id': id, 'x-svc-workspace-auth-token': authToken },
    );
    const headers = { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authTokens[0].token as string };
    const ok = (path: string, data: unknown) => system.ok(path, data, headers);

    await ok('/v2/organizations/folders/add', {
      organizationId: 'acme',
      createOrganization: true,
      folders: [{ folderId: 'contracts', accessType: 'public' }],
    });
    await ok('/v2/organizations/documents/add', {
      organizationId: 'acme',
      folderId: 'contracts',
      documents: [{ documentId: 'nda', documentName: 'NDA' }],
    });
    await ok('/v2/users/add', { ...nda, users: [ada, bob, grace] });
    return {
      apiKey,
      ok,
      /** Creates a webhook endpoint with the receiver's URL of a path. */
      endpoint: async (path: string, fields: object = {}): Promise<string> =>
        (await ok(paths.create, { url: receiver.url(path), ...fields })).id,
      secretOf: async (endpointId: string): Promise<string> => (await ok(paths.getSecret, { endpointId })).secret,
      comment: (annotationId: string, fields: object = {}, tagged: { userId: string }[] = [grace]) =>
        ok('/v2/commentannotations/add', {
          ...nda,
          commentAnnotations: [
            {
              annotationId,
              ...fields,
              commentData: [
                {
                  commentText: 'Two years is too long.',
                  from: ada,
                  taggedUserContacts: tagged.map(({ userId }) => ({ userId, text: `@${userId}` })),
                  triggerNotification: true,
                },
              ],
            },
          ],
        }),
      publish: async (event: string, fields: object = {}): Promise<string> =>
        (await ok('/v2/events/publish', { ...nda, event, ...fields })).eventId,
      /** Waits until the message to an endpoint has a status. Returns the message. */
      async message(
        id: string,
        endpointId: string,
        status: string,
      ): Promise<{ status: string; attempts: number; nextAttemptAt: string | null }> {
        const read = async () => {
          const { messages } = await ok(`${ADVANCED}/messages/get`, { endpointId, limit: 250 });
          return messages.find((message: { id: string }) => message.id === id)?.deliveries[0];
        };
        return until(read, (message) => message?.status === status);
      },
      attempts: async (messageId: string, endpointId: string): Promise<any[]> =>
        (await ok(`${ADVANCED}/attempts/get`, { messageId, endpointId })).attempts,
    };
  }

  const idOf = ({ headers }: RemoteWebhook) => headers['webhook-id'] as string;
  const eventOf = ({ body }: RemoteWebhook): string => JSON.parse(body).event;
  /** Checks the signature of a webhook. Returns its payload. */
  const verified = (hook: RemoteWebhook, secret: string): any =>
    new Webhook(secret).verify(hook.body, hook.headers as Record<string, string>);

  test('an advanced webhook has full data and a valid signature, and reaches only matching endpoints', async () => {
    const workspace = await newWorkspace('advanced');
    await workspace.ok(paths.updateConfig, { isEnabled: true });
    const all = await workspace.endpoint('/advanced/all', {
      uid: 'all',
      description: 'Everything',
      metadata: { team: 'legal' },
    });
    await workspace.endpoint('/advanced/status', { filterTypes: ['comment_annotation.status_change'] });
    await workspace.endpoint('/advanced/legal', { channels: ['legal', 'sales'] });
    await workspace.endpoint('/advanced/disabled', { disabled: true });
    const secret = await workspace.secretOf(all);
    const only = async (event: string) => {
      const [hook] = await receiver.waitForWebhooks('/advanced/all', 1, (each) => eventOf(each) === event);
      return { hook: hook!, body: verified(hook!, secret) };
    };
    const metadata = {
      apiKey: workspace.apiKey,
      folderId: 'contracts',
      document: { documentId: 'nda', documentName: 'NDA' },
      organization: { organizationId: 'acme' },
    };

    const location = { id: 'page-2', locationName: 'Page 2' };
    await workspace.comment('clause-4', { location, priority: 'P1' });
    const added = await only('comment_annotation.add');
    expect(added.body).toEqual({
      event: 'comment_annotation.add',
      actionType: 'add',
      source: 'comment',
      webhookId: idOf(added.hook),
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      usersDocumentNotificationsConfig: { grace: { inbox: 'ALL', email: 'ALL' } },
      data: {
        actionUser: ada,
        commentAnnotation: expect.objectContaining({
          annotationId: 'clause-4',
          location,
          priority: 'P1',
          from: ada,
          status: expect.objectContaining({ id: 'OPEN' }),
          comments: [
            expect.objectContaining({
              commentText: 'Two years is too long.',
              from: ada,
              taggedUserContacts: [expect.objectContaining({ userId: 'grace' })],
            }),
          ],
        }),
        targetComment: expect.objectContaining({ commentId: 1, commentText: 'Two years is too long.', from: ada }),
        metadata: { ...metadata, locations: [location] },
      },
    });

    // Integration tests check the data of each type of event.
    await workspace.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['clause-4'],
      updatedData: { status: 'RESOLVED' },
      actionUser: bob,
      triggerNotification: true,
    });
    const { body: resolved } = await only('comment_annotation.status_change');
    expect(resolved.data).toMatchObject({ actionUser: bob, oldStatus: { id: 'OPEN' }, newStatus: { id: 'RESOLVED' } });

    const eventId = await workspace.publish('huddle.create', {
      actionUser: ada,
      channels: ['legal'],
      data: { room: 'blue' },
      eventId: 'huddle-1',
    });
    const { hook, body: huddle } = await only('huddle.create');
    expect(idOf(hook)).toBe(eventId);
    expect(huddle).toMatchObject({
      actionType: 'create',
      source: 'huddle',
      data: { actionUser: ada, metadata, room: 'blue' },
    });

    const { messageId } = await workspace.ok(`${ADVANCED}/endpoints/test`, {
      endpointId: all,
      event: 'comment.reaction_add',
    });
    const tried = await only('comment.reaction_add');
    expect([idOf(tried.hook), tried.body.webhookId]).toEqual([messageId, messageId]);

    expect((await receiver.waitForWebhooks('/advanced/status')).map(eventOf)).toEqual([
      'comment_annotation.status_change',
    ]);
    expect((await receiver.waitForWebhooks('/advanced/legal')).map(eventOf)).toEqual(['huddle.create']);
    expect(receiver.at('/advanced/all').map(eventOf).sort()).toEqual([
      'comment.reaction_add',
      'comment_annotation.add',
      'comment_annotation.status_change',
      'huddle.create',
    ]);
    expect(receiver.at('/advanced/disabled')).toEqual([]);
  });

  test('a failing delivery is retried until it is exhausted and reported. Resend and recover then deliver it', async () => {
    const workspace = await newWorkspace('failing');
    await workspace.ok(paths.updateConfig, { isEnabled: true });
    const since = Date.now() - 1_000;
    await receiver.setBehaviour('/failing', { status: 503, body: 'Down for <maintenance>' });
    const failing = await workspace.endpoint('/failing', { filterTypes: ['huddle.create'] });
    await workspace.endpoint('/watching', { filterTypes: ['message.attempt.exhausted'] });
    const messages = [await workspace.publish('huddle.create'), await workspace.publish('huddle.create')] as const;

    const received = await receiver.waitForWebhooks('/watching', 2);
    expect(received.map((hook) => JSON.parse(hook.body).data)).toEqual(
      expect.arrayContaining(
        messages.map((messageId) =>
          expect.objectContaining({
            messageId,
            endpointId: failing,
            event: 'huddle.create',
            attempts: ATTEMPTS,
            lastAttempt: expect.objectContaining({ outcome: 'failed', responseStatus: 503 }),
          }),
        ),
      ),
    );
    expect(receiver.at('/failing').map(idOf).sort()).toEqual(
      messages.flatMap((id) => times(ATTEMPTS, () => id)).sort(),
    );
    expect(await workspace.message(messages[0], failing, 'failed')).toEqual({
      endpointId: failing,
      status: 'failed',
      attempts: ATTEMPTS,
      nextAttemptAt: null,
    });
    const attempts = await workspace.attempts(messages[0], failing);
    expect(
      attempts.map(({ attempt, outcome, responseStatus, responseBody }) => [
        attempt,
        outcome,
        responseStatus,
        responseBody,
      ]),
    ).toEqual([1, 2, 3].map((attempt) => [attempt, 'failed', 503, 'Down for <maintenance>']));
    expect(Date.parse(attempts[1].at) - Date.parse(attempts[0].at)).toBeGreaterThanOrEqual(1_000);

    await receiver.setBehaviour('/failing', { status: 204 });
    const delivered = (id: string) =>
      receiver.waitForWebhooks('/failing', 1, (hook) => hook.answeredStatus === 204 && idOf(hook) === id);
    await workspace.ok(`${ADVANCED}/messages/resend`, { messageId: messages[0], endpointId: failing });
    await delivered(messages[0]);
    await workspace.message(messages[0], failing, 'delivered');
    expect(await workspace.ok(`${ADVANCED}/endpoints/recover`, { endpointId: failing, since })).toEqual({
      messages: 1,
    });
    await delivered(messages[1]);
    expect((await workspace.message(messages[1], failing, 'delivered')).attempts).toBe(ATTEMPTS + 1);
    expect((await workspace.attempts(messages[1], failing)).at(-1)).toMatchObject({
      attempt: ATTEMPTS + 1,
      outcome: 'delivered',
      responseStatus: 204,
    });
  });

  test('an attempt fails and reaches no server after a redirect or a private address', async () => {
    const workspace = await newWorkspace('inward');
    await workspace.ok(paths.updateConfig, { isEnabled: true });
    const location = receiver.url('/redirected');
    await receiver.setBehaviour('/redirecting', { status: 307, headers: { location }, timesEach: 1 });
    const redirecting = await workspace.endpoint('/redirecting');
    const { id: inward } = await workspace.ok(paths.create, { url: `http://${NAME}/` });
    const messageId = await workspace.publish('huddle.create');

    const resultsAt = async (endpointId: string) =>
      (await workspace.attempts(messageId, endpointId)).map(({ outcome, responseStatus }) => [outcome, responseStatus]);
    await workspace.message(messageId, redirecting, 'delivered');
    expect(await resultsAt(redirecting)).toEqual([
      ['failed', 307],
      ['delivered', 200],
    ]);
    await workspace.message(messageId, inward, 'failed');
    expect(await resultsAt(inward)).toEqual(times(ATTEMPTS, () => ['refused', null]));
    expect(dns.queries).toContain(`A ${NAME}`);
    expect(receiver.at('/redirected')).toEqual([]);
  });

  test('a mention is mailed unless the user has unsubscribed, and is shown in the app', async () => {
    const workspace = await newWorkspace('mailing');
    await workspace.ok('/v2/workspace/emailconfig/update', {
      useEmailService: true,
      emailServiceConfig: { fromCompany: 'Acme' },
    });
    await workspace.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });

    await workspace.comment('clause-4', {}, [grace]);
    const [mail = ''] = await mails(1);
    expect(mail).toMatch(
      /^From: "Acme" <no-reply@example\.com>\r\nTo: grace@example\.com\r\nSubject: Ada mentioned you in NDA\r\n/,
    );
    expect(mail).toContain('\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n');
    const [, text = '', html = ''] = mail.split(/\r\nContent-Type: text\/\w+; charset=UTF-8\r\n/);
    expect(text).toContain('> Two years is too long.');
    expect(html).toContain('Two years is too long.');

    const listed = await until(
      () => workspace.ok('/v2/notifications/get', { organizationId: 'acme', userId: 'grace' }),
      (entries: any[]) => entries.length > 0,
    );
    expect(listed).toEqual([
      expect.objectContaining({
        notificationSource: 'comment',
        actionUser: ada,
        displayBodyMessage: 'Two years is too long.',
        notificationSourceData: expect.objectContaining({ annotationId: 'clause-4' }),
      }),
    ]);

    const [, link = ''] = /\r\nList-Unsubscribe: <([^>]+)>\r\n/.exec(mail) ?? [];
    expect(link.startsWith(`${system.baseUrl}/v2/notifications/email/unsubscribe?token=`)).toBe(true);
    // The GET is what a link scanner sends, and the POST is what a mail program sends.
    expect((await fetch(link)).status).toBe(200);
    await workspace.comment('clause-5', {}, [grace]);
    await mails(2);
    expect(
      (await fetch(link, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) })).status,
    ).toBe(200);

    await workspace.comment('clause-6', {}, [grace, bob]);
    const all = await mails(3);
    expect(all.map((each) => /\r\nTo: (\w+)@/.exec(each)![1])).toEqual(['grace', 'grace', 'bob']);
  });

  test('no function failed or made a call that its role forbids', async () => {
    expect(system.logs()).not.toContain('AccessDenied');
    const log = await readFile(join(dataDir, 'functions.log'), 'utf8');
    expect(log.split('\n').filter((line) => line.includes('"level":"ERROR"'))).toEqual([]);
  });

  test('loses no acknowledged data when the system is killed, and repeated deliveries have the same id', async () => {
    const workspace = await newWorkspace('killed');
    await workspace.ok(paths.updateConfig, { isEnabled: true });
    const [hanging, failing] = ['/killed/hanging', '/killed/failing'] as const;
    await receiver.setBehaviour(hanging, { hangs: true });
    await receiver.setBehaviour(failing, { status: 500 });
    const secrets = new Map<string, string>();
    for (const path of [hanging, failing]) secrets.set(path, await workspace.secretOf(await workspace.endpoint(path)));
    const acknowledged: string[] = [];
    let killed: Promise<void> | undefined;
    const publish = async () => {
      for (;;) {
        acknowledged.push(await workspace.publish('execution.completed'));
        if (acknowledged.length >= 20 && [hanging, failing].every((path) => receiver.at(path).length > 0))
          killed ??= system.kill();
      }
    };
    const publishers = await Promise.allSettled([publish(), publish(), publish()]);
    expect(publishers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await killed;
    const attempted = [hanging, failing].map((path) => receiver.at(path).map(idOf));
    for (const path of [hanging, failing]) await receiver.setBehaviour(path, { status: 200 });

    // A claim of a delivery lasts one minute, and a received message is hidden for three. The clock is four minutes
    // ahead, as if the machine had been off for longer.
    system = await startSystem({ dataDir, env: timing, preload: clockAhead(240) });
    for (const [index, path] of [hanging, failing].entries()) {
      const delivered = () =>
        new Set(
          receiver
            .at(path)
            .filter(({ answeredStatus }) => answeredStatus === 200)
            .map(idOf),
        );
      const missing = () => [...acknowledged, ...attempted[index]!].filter((id) => !delivered().has(id));
      await receiver.waitUntil(
        () => missing().length === 0,
        () => `${missing().length} of ${acknowledged.length} are missing at ${path}`,
      );
      // A publisher's last request may have been stored before its acknowledgement arrived.
      expect(delivered().size - new Set(acknowledged).size).toBeLessThanOrEqual(publishers.length);
      for (const hook of receiver.at(path))
        expect(verified(hook, secrets.get(path)!)).toMatchObject({ webhookId: idOf(hook) });
    }
  });

  /** Waits until there are `count` mails. Returns all mails in the order of their times. */
  const mails = (count: number) => mailsOnce(dataDir, ({ length }) => length >= count);
});
