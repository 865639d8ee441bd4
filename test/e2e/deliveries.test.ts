import { constants, createDecipheriv, privateDecrypt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { startDns } from '../support/dnsServer.ts';
import { RemoteReceiver, type RemoteWebhook } from '../support/remoteReceiver.ts';
import { bodyOf, pemOf, rsaKeyPair } from '../support/rsaKeys.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { times } from '../support/times.ts';
import { paths } from '../support/webhooks.ts';
import { clockAhead, mailsOnce, startSystem, type System, until } from './system.ts';

const ADVANCED = '/v2/workspace/advancedwebhook';
const nda = { organizationId: 'acme', documentId: 'nda' };
const person = (userId: string, name: string) => ({ userId, name, email: `${userId}@example.com` });
const [ada, bob, eve, grace, linus] = [
  person('ada', 'Ada'),
  person('bob', 'Bob'),
  person('eve', 'Eve'),
  person('grace', 'Grace'),
  person('linus', 'Linus'),
];

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
    const call = (path: string, data: unknown) => system.post(path, data, headers);
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
    await ok('/v2/users/add', { ...nda, users: [ada, bob, eve, grace, linus] });
    return {
      apiKey,
      ok,
      call,
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
  /** Returns the signature that a webhook should have. Any time is accepted. */
  const signed = ({ headers, body }: RemoteWebhook, secret: string) => ({
    by: new Webhook(secret).sign(
      headers['webhook-id'] as string,
      new Date(Number(headers['webhook-timestamp']) * 1000),
      body,
    ),
    webhookId: JSON.parse(body).webhookId,
  });
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

    await workspace.ok('/v2/commentannotations/comments/add', {
      ...nda,
      annotationId: 'clause-4',
      commentData: [{ commentText: 'One, then.', from: grace, triggerNotification: true }],
    });
    const { body: replied } = await only('comment.add');
    expect(replied.data).toMatchObject({
      actionUser: grace,
      commentAnnotation: { annotationId: 'clause-4' },
      targetComment: { commentText: 'One, then.', from: grace },
      metadata,
    });

    await workspace.comment('clause-5', { visibility: { type: 'restricted', userIds: ['bob'] } }, []);
    await workspace.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['clause-5'],
      updatedData: { status: 'RESOLVED' },
      actionUser: bob,
      triggerNotification: true,
    });
    const { body: resolved } = await only('comment_annotation.status_change');
    expect(resolved.data).toMatchObject({
      actionUser: bob,
      metadata,
      oldStatus: { id: 'OPEN' },
      newStatus: { id: 'RESOLVED' },
      visibility: { type: 'restricted', userIds: ['bob'] },
    });

    await workspace.ok('/v2/recordings/add', {
      ...nda,
      recordings: [
        {
          annotationId: 'walk',
          recordingType: 'screen',
          from: ada,
          attachments: [
            { name: 'walk.webm', url: 'https://files.example.com/walk.webm', mimeType: 'video/webm', size: 9 },
          ],
        },
      ],
    });
    const asset = expect.objectContaining({
      version: 1,
      url: 'https://files.example.com/walk.webm',
      mimeType: 'video/webm',
      fileName: 'walk.webm',
      fileSizeInBytes: 9,
      fileFormat: 'webm',
    });
    const { body: recorded } = await only('recorder.done');
    expect([recorded.source, recorded.data]).toEqual([
      'recorder',
      expect.objectContaining({
        actionUser: ada,
        metadata: expect.objectContaining(metadata),
        recorderId: 'walk',
        from: ada,
        assets: [asset],
        assetsAllVersions: [asset],
      }),
    ]);

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
    const crdtData = {
      id: 'editor-1',
      data: 'text',
      lastUpdatedBy: 'ada',
      sessionId: null,
      lastUpdate: '2026-01-01T00:00:00.000Z',
    };
    await workspace.publish('crdt.update_data', { actionUser: ada, data: { crdtData } });
    expect((await only('crdt.update_data')).body).toMatchObject({
      actionType: 'updateData',
      source: 'crdt',
      data: { actionUser: ada, metadata, crdtData },
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
      'comment.add',
      'comment.reaction_add',
      'comment_annotation.add',
      'comment_annotation.add',
      'comment_annotation.status_change',
      'crdt.update_data',
      'huddle.create',
      'recorder.done',
    ]);
    expect(receiver.at('/advanced/disabled')).toEqual([]);
  });

  test('encoding, encryption and data protection apply from the next delivery, and both secrets verify during a rotation', async () => {
    const workspace = await newWorkspace('wrapped');
    await workspace.ok(paths.updateConfig, { isEnabled: true, encodeData: true });
    const endpointId = await workspace.endpoint('/wrapped', { filterTypes: ['huddle.join'] });
    const old = await workspace.secretOf(endpointId);
    let received = 0;
    const next = async () => {
      await workspace.publish('huddle.join', { actionUser: ada });
      return (await receiver.waitForWebhooks('/wrapped', ++received)).at(-1)!;
    };

    const { encodedPayload } = verified(await next(), old);
    expect(JSON.parse(Buffer.from(encodedPayload, 'base64').toString())).toMatchObject({
      event: 'huddle.join',
      data: { actionUser: ada },
    });

    const { publicKey, privateKey } = rsaKeyPair();
    await workspace.ok(paths.updateConfig, {
      encryptData: true,
      publicKey: bodyOf(pemOf(publicKey, 'spki')),
      enableDataProtection: true,
    });
    const { encryptedData, encryptedKey, iv } = verified(await next(), old);
    const key = privateDecrypt(
      { key: privateKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
      Buffer.from(encryptedKey, 'base64'),
    );
    const decipher = createDecipheriv('aes-256-cbc', key, Buffer.from(iv, 'base64'));
    const plain = JSON.parse(Buffer.concat([decipher.update(encryptedData, 'base64'), decipher.final()]).toString());
    expect(plain).toMatchObject({
      event: 'huddle.join',
      data: { actionUser: { userId: 'ada' }, metadata: { document: { documentId: 'nda' } } },
    });
    expect(JSON.stringify(plain)).not.toMatch(/Ada|ada@example\.com|NDA/);

    const { secret: fresh } = await workspace.ok(paths.rotate, { endpointId, overlapSeconds: 60 });
    const both = await next();
    expect(verified(both, fresh)).toEqual(verified(both, old));
    await workspace.ok(paths.rotate, { endpointId, overlapSeconds: 0 });
    const newest = await next();
    verified(newest, await workspace.secretOf(endpointId));
    expect(() => verified(newest, old)).toThrow();
  });

  test('a basic webhook has the V1 payload, with a raw token or with processed names and recipients', async () => {
    const workspace = await newWorkspace('basic');
    await workspace.ok(paths.updateBasic, {
      useWebhookService: true,
      webhookServiceConfig: {
        authToken: 'token-1',
        rawNotificationUrl: receiver.url('/basic/raw'),
        processedNotificationUrl: receiver.url('/basic/processed'),
        triggers: { 'comment.add': false },
      },
    });
    await workspace.comment('clause-4');
    const [raw, processed] = await Promise.all(
      ['/basic/raw', '/basic/processed'].map(async (path) => (await receiver.waitForWebhooks(path))[0]!),
    );
    expect(raw!.headers).toMatchObject({
      authorization: 'Basic token-1',
      'content-type': 'application/json',
      'webhook-id': idOf(processed!),
      'webhook-timestamp': expect.stringMatching(/^\d+$/),
    });
    const [body, more] = [JSON.parse(raw!.body), JSON.parse(processed!.body)];
    const v1 = {
      webhookId: idOf(raw!),
      actionType: 'newlyAdded',
      notificationSource: 'comment',
      actionUser: ada,
      assigned: false,
      accessDeniedUsers: [],
      commentAnnotation: expect.objectContaining({ annotationId: 'clause-4' }),
      metadata: expect.objectContaining({
        apiKey: workspace.apiKey,
        clientDocumentId: 'nda',
        documentId: 'nda',
        documentName: 'NDA',
        clientOrganizationId: 'acme',
        organizationId: 'acme',
      }),
    };
    expect(body).toMatchObject(v1);
    expect(body).not.toHaveProperty('recipients');
    expect(more).toMatchObject({ ...v1, recipients: [grace] });

    // The receiver gets only the next event. This shows that the trigger of this event is off.
    await workspace.ok('/v2/commentannotations/comments/add', {
      ...nda,
      annotationId: 'clause-4',
      commentData: [{ commentText: 'One.', from: grace, triggerNotification: true }],
    });
    await workspace.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['clause-4'],
      updatedData: { assignedTo: bob },
      actionUser: ada,
      triggerNotification: true,
    });
    const hooks = await receiver.waitForWebhooks('/basic/raw', 2);
    expect(
      hooks.map((hook) => JSON.parse(hook.body)).map(({ actionType, assigned }) => [actionType, assigned]),
    ).toEqual([
      ['newlyAdded', false],
      ['assigned', true],
    ]);
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

  test('an endpoint gets no webhook after its deletion was answered', async () => {
    const workspace = await newWorkspace('deleted');
    await workspace.ok(paths.updateConfig, { isEnabled: true });
    // Loads the function of `delete` before the test needs it. Otherwise the next attempt, one second later, could be
    // faster than the deletion.
    await workspace.ok(paths.delete, { endpointId: await workspace.endpoint('/other') });
    await receiver.setBehaviour('/deleted', { status: 500 });
    const endpointId = await workspace.endpoint('/deleted');
    const messageId = await workspace.publish('huddle.create');
    await receiver.waitForWebhooks('/deleted');
    expect(await workspace.ok(paths.delete, { endpointId })).toEqual({ endpointId, deleted: true });
    const before = receiver.at('/deleted').length;
    // The message fails at the time of its next attempt, without an attempt.
    await workspace.message(messageId, endpointId, 'failed');
    expect(receiver.at('/deleted')).toHaveLength(before);
    expect(before).toBeLessThan(ATTEMPTS);
  });

  test('a rate limit spreads deliveries over time and uses up no attempt', async () => {
    const workspace = await newWorkspace('limited');
    await workspace.ok(paths.updateConfig, { isEnabled: true });
    const endpointId = await workspace.endpoint('/limited', { rateLimit: 5 });
    const published = await Promise.all(times(10, () => workspace.publish('step.completed')));
    const hooks = await receiver.waitForWebhooks('/limited', 10);
    expect(hooks.map(idOf).sort()).toEqual(published.sort());
    const begun: number[] = [];
    for (const id of published) {
      expect((await workspace.message(id, endpointId, 'delivered')).attempts).toBe(1);
      const [attempt] = await workspace.attempts(id, endpointId);
      begun.push(Date.parse(attempt.at));
    }
    // The ten slots are 210 ms apart. An attempt begins at most 50 ms after its slot, on a slow machine too.
    expect(Math.max(...begun) - Math.min(...begun)).toBeGreaterThanOrEqual(1_800);
  });

  test('an attempt fails and reaches no server after a redirect or a private address', async () => {
    const workspace = await newWorkspace('inward');
    await workspace.ok(paths.updateConfig, { isEnabled: true });
    for (const url of [
      'http://10.1.2.3/',
      'http://169.254.169.254/',
      'http://[::ffff:169.254.169.254]/',
      'http://0xa9fea9fe/',
    ]) {
      expect(await workspace.call(paths.create, { url })).toMatchObject({
        status: 400,
        body: { error: { status: 'INVALID_ARGUMENT' } },
      });
    }
    await receiver.setBehaviour('/redirecting', {
      status: 302,
      headers: { location: 'http://169.254.169.254/latest/meta-data/' },
      timesEach: 1,
    });
    await receiver.setBehaviour('/redirecting/here', {
      status: 307,
      headers: { location: receiver.url('/redirected') },
      timesEach: 1,
    });
    const [away, here] = [await workspace.endpoint('/redirecting'), await workspace.endpoint('/redirecting/here')];
    const { id: inward } = await workspace.ok(paths.create, { url: `http://${NAME}/` });
    const messageId = await workspace.publish('huddle.create');

    for (const endpointId of [away, here])
      expect((await workspace.message(messageId, endpointId, 'delivered')).attempts).toBe(2);
    expect((await workspace.message(messageId, inward, 'failed')).attempts).toBe(ATTEMPTS);
    const resultsAt = async (endpointId: string) =>
      (await workspace.attempts(messageId, endpointId)).map(({ outcome, responseStatus }) => [outcome, responseStatus]);
    expect(await resultsAt(away)).toEqual([
      ['failed', 302],
      ['delivered', 200],
    ]);
    expect(await resultsAt(here)).toEqual([
      ['failed', 307],
      ['delivered', 200],
    ]);
    expect(await resultsAt(inward)).toEqual(times(ATTEMPTS, () => ['refused', null]));
    expect(dns.queries).toContain(`A ${NAME}`);
    expect(receiver.at('/redirected')).toEqual([]);
  });

  test('a mention is mailed unless the user has unsubscribed or has no access, and is shown in the app', async () => {
    const workspace = await newWorkspace('mailing');
    await workspace.ok('/v2/workspace/emailconfig/update', {
      useEmailService: true,
      emailServiceConfig: { fromCompany: 'Acme' },
    });
    await workspace.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });
    await workspace.ok('/v2/notifications/config/set', {
      organizationId: 'acme',
      userIds: ['linus'],
      config: { email: 'NONE' },
    });

    await workspace.comment('clause-4', {}, [grace, linus]);
    const [mail = ''] = await mails(1);
    expect(mail).toMatch(
      /^From: "Acme" <no-reply@example\.com>\r\nTo: grace@example\.com\r\nSubject: Ada mentioned you in NDA\r\n/,
    );
    expect(mail).toContain('\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n');
    const [, text = '', html = ''] = mail.split(/\r\nContent-Type: text\/\w+; charset=UTF-8\r\n/);
    expect(text).toContain('> Two years is too long.');
    expect(html).toContain('Two years is too long.');

    const listed = await until(
      () => workspace.ok('/v2/notifications/get', { organizationId: 'acme', userId: 'linus' }),
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

    await workspace.comment('clause-6', { visibility: { type: 'restricted', userIds: ['bob'] } }, [bob, eve]);
    await mails(3);
    await workspace.comment('clause-7', {}, [grace, linus, eve]);
    const all = await mails(4);
    expect(all.map((each) => /\r\nTo: (\w+)@/.exec(each)![1])).toEqual(['grace', 'grace', 'bob', 'eve']);
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
        expect(signed(hook, secrets.get(path)!)).toEqual({
          by: hook.headers['webhook-signature'],
          webhookId: idOf(hook),
        });
    }
  });

  /** Waits until there are `count` mails. Returns all mails in the order of their times. */
  const mails = (count: number) => mailsOnce(dataDir, ({ length }) => length >= count);
});
