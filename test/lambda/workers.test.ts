import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { registeredWorkers } from '../../infra/build/registry.ts';
import type { StreamRecord } from '../../infra/local/streams/streamReader.ts';
import { heartbeatFailed } from '../../lib/observability/logMessages.ts';
import { sweptWork } from '../../lib/workers/sweep.ts';
import { forAllTests } from '../support/acmeWorld.ts';
import { LambdaCustomer } from './customer.ts';
import { authorizerEvent, queueEvent, streamEvent, timerEvent } from './events.ts';
import { startLambdaSystem } from './system.ts';

const system = forAllTests(startLambdaSystem);
const receiver = forAllTests(startReceiver);
const live = forAllTests(createWorld);
const called = new Set<string>();

async function startReceiver() {
  const received: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      received.push(JSON.parse(body).event);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, received, stop: () => void server.close() };
}

/** Creates a customer with a webhook endpoint, a user with a live connection, and content that makes work for all workers. */
async function createWorld() {
  const one = new LambdaCustomer(system, 'plain');
  await one.use(await one.ok('/v2/workspace/create', { ownerEmail: 'owner@example.com' }));
  const mail = { type: 'default', fromCompany: 'Acme' };
  await one.ok('/v2/workspace/emailconfig/update', { useEmailService: true, emailServiceConfig: mail });
  await one.ok('/v2/workspace/notificationconfig/update', { useNotificationService: true });
  await one.ok('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true });
  await one.ok('/v2/workspace/advancedwebhook/endpoints/create', { url: receiver.url });
  const scope = { organizationId: 'acme', documentId: 'nda' };
  await one.createDocuments();
  await one.createUserToken(['nda', 'msa']);
  const connection = await one.ok('/v2/live/connect', scope);
  await one.ok('/v2/live/connect', { ...scope, documentId: 'msa' });
  const [ada, grace] = [
    { userId: 'ada', name: 'Ada' },
    { userId: 'grace', name: 'Grace', email: 'grace@example.com' },
  ];
  await one.ok('/v2/users/add', { organizationId: 'acme', users: [ada, grace] });
  const comment = {
    commentText: 'Please look',
    from: ada,
    taggedUserContacts: [{ userId: 'grace', text: '@Grace' }],
    triggerNotification: true,
  };
  await one.ok('/v2/commentannotations/add', {
    ...scope,
    commentAnnotations: [{ annotationId: 'clause', commentData: [comment] }],
  });
  await one.ok('/v2/commentannotations/add', {
    ...scope,
    documentId: 'msa',
    commentAnnotations: [{ annotationId: 'other', commentData: [comment] }],
  });
  return { customer: one, connection };
}

function workerCalled(name: string) {
  called.add(name);
  return system.functionOfWorker(name);
}

/** Returns all records of the stream that a worker's filter lets through. */
async function recordsFor(name: string): Promise<StreamRecord[]> {
  const { model, reader, shared } = system.streams.find(
    (stream) => stream.model.function === system.functionOfWorker(name),
  )!;
  const records: StreamRecord[] = [];
  for (;;) {
    shared.expire();
    const read = await reader.next();
    if (read.length === 0) return records;
    records.push(...read.map(({ record }) => record).filter((record) => model.filter(record)));
  }
}

/** Passes records to a worker and returns the sequence numbers of those that failed. */
async function passRecords(name: string, records: readonly object[]): Promise<string[]> {
  const fn = workerCalled(name);
  const { model } = system.streams.find((stream) => stream.model.function === fn)!;
  const { batchItemFailures } = await system.invoke(fn, streamEvent(model.arn, records));
  return batchItemFailures.map(({ itemIdentifier }: { itemIdentifier: string }) => itemIdentifier);
}

const POISON = '{ not JSON';

/**
 * Passes messages to a worker, and one that it cannot read: by default the messages that wait in its queue. Returns how many it
 * could read.
 */
async function passMessages(name: string, waiting = waitingMessages(name)): Promise<number> {
  const fn = workerCalled(name);
  const { queue, batchSize } = sourceOf(name);
  const bodies = [...waiting, POISON];
  for (let first = 0; first < bodies.length; first += batchSize) {
    const batch = bodies.slice(first, first + batchSize);
    const event = queueEvent(queue.arn, batch);
    const unread = event.Records.filter((_, index) => batch[index] === POISON);
    expect(await system.invoke(fn, event)).toEqual({
      batchItemFailures: unread.map(({ messageId }) => ({ itemIdentifier: messageId })),
    });
  }
  return waiting.length;
}

function sourceOf(name: string) {
  return system.model.queueSources.find((source) => source.function === system.functionOfWorker(name))!;
}

function waitingMessages(name: string): string[] {
  return system.queues.receive(sourceOf(name).queue.name, 100).map(({ body }) => body);
}

describe('a worker under the runtime client', () => {
  // The tests are in the order in which work moves through the workers.
  test('authorizeLive decides about an event of AppSync', async () => {
    const fn = workerCalled('authorizeLive');
    const { token, channels } = live.connection;
    const decide = (...event: Parameters<typeof authorizerEvent>) => system.invoke(fn, authorizerEvent(...event));
    const answers = [
      await decide(token, 'EVENT_CONNECT', null),
      await decide(token, 'EVENT_SUBSCRIBE', channels.document),
      await decide(token, 'EVENT_SUBSCRIBE', '/live/other/document'),
      await decide('no token', 'EVENT_CONNECT', null),
    ];
    expect(answers).toEqual([true, true, false, false].map((isAuthorized) => ({ isAuthorized, ttlOverride: 0 })));
  });

  test('publishLive returns the records of a document that it could not publish', async () => {
    const records = await recordsFor('publishLive');
    const { internalId } = records.map(itemOf).find(({ _t, documentId }) => _t === 'Document' && documentId === 'msa')!;
    const ofDocument = records.filter((record) => itemOf(record).annotationId === 'other').map(sequenceOf);
    system.refusesWrite = (request) => request.includes(internalId);
    const failed = await passRecords('publishLive', records);
    system.refusesWrite = () => false;
    expect(ofDocument).toHaveLength(2);
    expect(failed).toEqual(ofDocument);
    expect(await passRecords('publishLive', records)).toEqual([]);
  });

  test('fanOutEvents returns the record of an event that it could not fan out', async () => {
    const records = await recordsFor('fanOutEvents');
    const [first, second] = records as [StreamRecord, StreamRecord];
    system.refusesWrite = (request) => request.includes(itemOf(second).eventId);
    const failed = await passRecords('fanOutEvents', [first, second]);
    system.refusesWrite = () => false;
    expect(failed).toEqual([sequenceOf(second)]);
    expect(await passRecords('fanOutEvents', [second])).toEqual([]);
  });

  test('deliverWebhook posts the events, and returns a message that it cannot read', async () => {
    const messages = waitingMessages('deliverWebhook');
    expect(await passMessages('deliverWebhook', messages)).toBeGreaterThanOrEqual(2);
    expect(receiver.received).toEqual(['comment_annotation.add', 'comment_annotation.add']);
    // The attempts have ended, so they are not made again.
    await passMessages('deliverWebhookSlow', messages);
    expect(receiver.received).toHaveLength(2);
  });

  test('sendEmail sends the mails, and returns a message that it cannot read', async () => {
    expect(await passMessages('sendEmail')).toBeGreaterThan(0);
    expect((await readdir(system.outboxDir)).filter((file) => file.endsWith('.eml')).length).toBeGreaterThan(0);
  });

  test('runJobs erases a user, and returns a message that it cannot read', async () => {
    await live.customer.ok('/v2/users/data/delete', {
      userIds: ['grace'],
      organizationIds: ['acme'],
    });
    expect(await passMessages('runJobs')).toBe(1);
    const users = await live.customer.ok('/v2/users/get', { organizationId: 'acme' });
    expect(JSON.stringify(users)).not.toContain('grace@example.com');
  });

  // Only a change of the embedding model starts such a job.
  test('embedJudgments ignores a job that has ended, and returns a message that it cannot read', async () => {
    await passMessages('embedJudgments', [JSON.stringify({ tenant: 'none', jobId: 'none' })]);
  });

  test('sweep takes an event of its schedule, and sweepShard a message of each kind of work', async () => {
    const [rule] = system.model.schedules.filter((schedule) => schedule.function === workerCalled('sweep'));
    expect(await system.invoke(rule!.function, timerEvent(rule!.arn))).toBeNull();
    const messages = sweptWork.map((work) => JSON.stringify({ work, shard: 0 }));
    expect(await passMessages('sweepShard', [...waitingMessages('sweepShard'), ...messages])).toBeGreaterThan(3);
  });

  test('heartbeat writes and reads through the public URL', async () => {
    const [rule] = system.model.schedules.filter((schedule) => schedule.function === workerCalled('heartbeat'));
    const secret = system.secrets.find(({ arn }) => arn === rule!.function.environment.HEARTBEAT_SECRET_ARN)!;
    const { 'x-svc-api-key': apiKey, 'x-svc-auth-token': authToken } = live.customer.key;
    secret.value = JSON.stringify({ apiKey, authToken });
    expect(await system.invoke(rule!.function, timerEvent(rule!.arn))).toBeNull();
    expect(await system.logOf(rule!.function)).not.toContain(heartbeatFailed);
    const organizations = await live.customer.ok('/v2/organizations/get', {});
    expect(organizations.map(({ id }: { id: string }) => id)).toContain('heartbeat');
  });

  test('every worker has been called', () => {
    expect([...called].sort()).toEqual(
      registeredWorkers()
        .map(({ name }) => name)
        .sort(),
    );
  });
});

function sequenceOf({ dynamodb }: StreamRecord): string {
  return dynamodb.SequenceNumber;
}

/** Returns the item that a record has stored. */
function itemOf({ dynamodb }: StreamRecord): Record<string, any> {
  return unmarshall((dynamodb as any).NewImage ?? {});
}
