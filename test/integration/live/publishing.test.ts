import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ChangedItem } from '../../../lib/app/worker.ts';
import { ChannelPublisher } from '../../../lib/live/channelPublisher.ts';
import { LiveStore } from '../../../lib/live/liveStore.ts';
import { publishChanges } from '../../../lib/live/publishChanges.ts';
import { ChannelNames } from '../../../lib/live/rules/channels.ts';
import type { DocumentKeys } from '../../../lib/live/rules/hints.ts';
import { Table } from '../../../lib/table/table.ts';
import { addDocument, itemsOf, nda } from '../../support/content.ts';
import { everyFault, Invocation, Trial } from '../../support/crashes.ts';
import { type Customer, handlerOf, newCustomer, restartFunctions } from '../../support/customer.ts';
import { type Engine, startEngine, TABLE_NAME } from '../../support/engine.ts';
import { asDocumentClient, type Command } from '../../support/leanClient.ts';
import { post } from '../../support/requests.ts';
import { recordingMeasures } from '../../support/workers.ts';

const names = new ChannelNames(Buffer.alloc(32, 7));
const STREAM = '2026-01-01T00:00:00.000';
const MAX_RUNS = 12;

/** An event that the simulated push service accepted. */
interface Published {
  readonly channel: string;
  readonly event: Record<string, any>;
}

let engine: Engine;
let customer: Customer;
let published: Published[];
let document: DocumentKeys;
let sequence: number;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());
beforeEach(async () => {
  restartFunctions();
  customer = await newCustomer();
  await addDocument(customer);
  await customer.ok('/v2/users/add', {
    organizationId: nda.organizationId,
    users: ['ada', 'bob', 'eve'].map((userId) => ({ userId, name: userId, email: `${userId}@example.com` })),
  });
  const [stored] = await itemsOf(engine, customer, 'Document');
  const [, tenant = '', , organizationKey = ''] = String(stored!.PK).split('#');
  document = { tenant, organizationKey, documentKey: stored!.internalId as string };
  published = [];
  sequence = 0;
});

async function connect(userId: string) {
  const { token } = await customer.ok('/v2/auth/generate_token', {
    userId,
    userProperties: { name: userId, email: `${userId}@example.com` },
    permissions: { resources: [] },
  });
  return post(await handlerOf('/v2/live/connect'), { authorization: `Bearer ${token}` }, nda);
}

/** Opens the ports of the publisher in a simulated process. Each call through them can have a fault. */
function portsOf(invocation: Invocation) {
  const send = (command: Command) => invocation.call(command.constructor.name, () => engine.lean.send(command));
  const publish = (channel: string, events: readonly string[]) =>
    invocation.call('Publish', () => {
      published.push(...events.map((event) => ({ channel, event: JSON.parse(event) })));
      return Promise.resolve();
    });
  return {
    store: new LiveStore(new Table(asDocumentClient({ send }), TABLE_NAME)),
    keys: { names: () => Promise.resolve(names) },
    publisher: new ChannelPublisher({ publish }, () => Promise.resolve()),
  };
}

const call = () => ({
  clock: Date.now,
  log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  measures: recordingMeasures(),
});

/** Runs the publisher for a batch until no record fails, as Lambda does. */
async function publish(changes: readonly ChangedItem[], trial?: Trial): Promise<void> {
  let remaining = changes;
  for (let runs = 0; remaining.length > 0; runs++) {
    if (runs === MAX_RUNS) throw new Error(`The batch failed ${runs} times`);
    const invocation = new Invocation(trial);
    const failed = await Promise.race([
      publishChanges(portsOf(invocation), remaining, call()),
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

/** Returns the stored items of these types as insertions, in the order of their types. */
async function insertionsOf(...types: string[]): Promise<ChangedItem[]> {
  const items = await Promise.all(types.map((type) => itemsOf(engine, customer, type)));
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
  const items = await itemsOf(engine, customer, 'LiveHints');
  return items
    .toSorted((a, b) => a.version - b.version)
    .flatMap(({ hints }) => JSON.parse(hints as string) as { version: number; type: string; position: string }[]);
}

const channelOf = (epoch = 1) => names.ofDocument({ ...document, epoch }).document;
const userChannel = (userId: string) => names.ofUser({ tenant: document.tenant, userId });
const eventsOn = (channel: string) => published.filter((each) => each.channel === channel).map(({ event }) => event);

describe('the publisher', () => {
  test('records each change under one version and publishes it in order, whatever call crashes or fails', async () => {
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
      expect([trial.injected, recorded.map(({ version }) => version)]).toEqual([
        [expect.anything()],
        Array.from({ length: expected }, (_each, index) => index + 1),
      ]);
      expect(new Set(recorded.map(({ position }) => position)).size).toBe(expected);
      const versions = eventsOn(channelOf()).map(({ version }) => version as number);
      expect([...new Set(versions)]).toEqual([expected - 1, expected]);
    }
  });

  test('keeps versions without a gap when several runs record changes of one document', async () => {
    await addThread('a');
    await connect('ada');
    const [thread] = await itemsOf(engine, customer, 'Thread');
    // Lambda processes different partitions at the same time.
    const batches = Array.from({ length: 6 }, (_each, index) => [
      changeOf('modify', { ...thread, PK: `${String(thread!.PK)}${'X'.repeat(index)}` }),
    ]);
    await Promise.all(batches.map((batch) => publish(batch)));
    expect((await recordedHints()).map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('pushes the whole update of an editor, and records it without the update', async () => {
    await connect('ada');
    await customer.ok('/v2/crdt/add', { ...nda, editorId: 'summary', type: 'text', data: 'hello' });
    const [update] = await insertionsOf('EditorUpdate');
    const packed = Buffer.from(update!.item!.packed as Uint8Array).toString('base64');
    await publish([{ ...update!, item: { ...update!.item, packed } }]);
    expect(eventsOn(channelOf())).toEqual([
      expect.objectContaining({ type: 'crdt.update', editorId: 'summary', version: 1, update: expect.any(String) }),
    ]);
    expect(await recordedHints()).toEqual([expect.not.objectContaining({ update: expect.anything() })]);
  });

  test('publishes and records no text of comments', async () => {
    await connect('ada');
    await addThread('a');
    await publish(await insertionsOf('Thread', 'Comment'));
    expect(eventsOn(channelOf()).map(({ type }) => type)).toEqual(['comment_annotation.add', 'comment.add']);
    expect(JSON.stringify([published, await itemsOf(engine, customer, 'LiveHints')])).not.toContain('secret');
  });

  test('publishes hints about a private thread to connected users who may see it, and to nobody else', async () => {
    for (const userId of ['ada', 'bob', 'eve']) await connect(userId);
    await addThread('private', { visibility: { type: 'restricted', userIds: ['bob'] } });
    await publish(await insertionsOf('Thread', 'Comment'));
    expect(eventsOn(channelOf())).toEqual([]);
    for (const userId of ['ada', 'bob'])
      expect(eventsOn(userChannel(userId)).map(({ type }) => type)).toEqual(['comment_annotation.add', 'comment.add']);
    expect(eventsOn(userChannel('eve'))).toEqual([]);
    expect(await recordedHints()).toEqual([]);
  });

  test('publishes the deletion of a private thread to the users who could see it', async () => {
    for (const userId of ['bob', 'eve']) await connect(userId);
    await addThread('private', { visibility: { type: 'restricted', userIds: ['bob'] } });
    await customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: ['private'] });
    await publish(await insertionsOf('DeletedThread'));
    expect(published.map(({ channel, event }) => [channel, event.type])).toEqual([
      [userChannel('bob'), 'comment_annotation.delete'],
    ]);
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

  test('records nothing for a document without a connected user', async () => {
    await addThread('a');
    await publish(await insertionsOf('Thread'));
    expect([published, await recordedHints()]).toEqual([[], []]);
  });

  test('processes a restored table, whose stream starts its numbers again', async () => {
    await connect('ada');
    await addThread('a');
    const [thread] = await insertionsOf('Thread');
    await publish([{ ...thread!, id: '1000' }]);
    await publish([{ ...thread!, id: '1', stream: 'another' }]);
    expect((await recordedHints()).map(({ version }) => version)).toEqual([1, 2]);
  });
});

describe('a user who loses access', () => {
  async function restrict(): Promise<ChangedItem[]> {
    await customer.ok('/v2/organizations/documents/access/update', {
      organizationId: nda.organizationId,
      documentIds: [nda.documentId],
      accessType: 'restricted',
    });
    const [stored] = await itemsOf(engine, customer, 'Document');
    return [changeOf('modify', stored!)];
  }

  test('leaves the channels: the document gets new channels, and the old channels end with system.revoked', async () => {
    await connect('ada');
    await addThread('a');
    await publish(await insertionsOf('Thread'));
    await publish(await restrict());
    expect(eventsOn(channelOf(1)).map(({ type }) => type)).toEqual(['comment_annotation.add', 'system.revoked']);
    expect(eventsOn(names.ofDocument({ ...document, epoch: 1 }).awareness)).toEqual([{ type: 'system.revoked' }]);
    const [thread] = await itemsOf(engine, customer, 'Thread');
    await publish([changeOf('modify', thread!)]);
    expect(eventsOn(channelOf(1)).at(-1)).toEqual({ type: 'system.revoked' });
    expect(eventsOn(channelOf(2)).map(({ type, version }) => [type, version])).toEqual([
      ['comment_annotation.update', 2],
    ]);
    restartFunctions();
    expect((await connect('ada')).status).toBe(403);
  });

  test('loses access whatever call crashes or fails, and other users keep access', async () => {
    await connect('ada');
    await connect('bob');
    const calls = new Trial();
    await publish(await restrict(), calls);
    const faults = everyFault(calls.calls);
    expect(faults.length).toBeGreaterThan(10);
    for (const fault of faults) {
      // Each fault has a new document, so that every run begins with open sessions.
      const documentId = `doc-${fault.kind}-${fault.occurrence}-${fault.failure}-${fault.when}`;
      await customer.ok('/v2/organizations/documents/add', {
        organizationId: nda.organizationId,
        documents: [{ documentId }],
      });
      const stored = (await itemsOf(engine, customer, 'Document')).find((item) => item.documentId === documentId)!;
      const keys = { ...document, documentKey: stored.internalId as string };
      const store = new LiveStore(new Table(asDocumentClient(engine.lean), TABLE_NAME));
      const ids = { organizationId: nda.organizationId, documentId };
      await store.connect(keys, ids, { userId: 'ada', hasStoredAccess: true }, Date.now());
      await customer.ok('/v2/organizations/documents/access/update', {
        organizationId: nda.organizationId,
        documentIds: [documentId],
        accessType: 'restricted',
      });
      const changed = (await itemsOf(engine, customer, 'Document')).find((item) => item.documentId === documentId)!;
      published = [];
      const trial = new Trial(fault);
      await publish([changeOf('modify', changed)], trial);
      const old = names.ofDocument({ ...keys, epoch: 1 });
      expect([trial.injected, eventsOn(old.document).at(-1), eventsOn(old.awareness).at(-1)]).toEqual([
        [expect.anything()],
        { type: 'system.revoked' },
        { type: 'system.revoked' },
      ]);
      expect(await store.sessions(keys)).toEqual([]);
    }
  });

  test('keeps the channels when a document changes without a loss of access', async () => {
    await connect('ada');
    const [stored] = await itemsOf(engine, customer, 'Document');
    await publish([changeOf('modify', stored!)]);
    expect(published).toEqual([]);
  });
});
