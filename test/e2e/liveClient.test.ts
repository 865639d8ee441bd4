import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import * as Y from 'yjs';
import { EditorProvider } from '../../lib/client/editorProvider.ts';
import type { LiveDocument } from '../../lib/client/liveDocument.ts';
import { createUserClient, type UserClient } from '../../lib/client/userClient.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';
import { startSystem, type System } from './system.ts';

const nda = { organizationId: 'live', documentId: 'nda' };
const editor = { ...nda, editorId: 'summary' };
/** A test waits this long before it reports missing data. */
const PATIENCE_MILLISECONDS = 30_000;
/** A test waits this long after an outage, because clients pause up to 30 s before they connect again. */
const OUTAGE_PATIENCE_MILLISECONDS = 90_000;
const KEY_MILLISECONDS = 50;
const COMMENT_MILLISECONDS = 300;

let system: System;
const closings: (() => Promise<void>)[] = [];
beforeAll(async () => {
  system = await startSystem({ dataDir });
  await system.ok('/v2/organizations/documents/add', {
    organizationId: 'live',
    createOrganization: true,
    documents: [{ documentId: 'nda' }],
  });
  const access = { organizationId: 'live', documentIds: ['nda'], accessType: 'restricted' };
  await system.ok('/v2/organizations/documents/access/update', access);
  await system.ok('/v2/crdt/add', { ...editor, type: 'text', data: 'Hello' });
});
afterAll(() => system.stop());
const dataDir = temporaryFolder();
afterEach(async () => {
  await Promise.all(closings.splice(0).map((close) => close()));
});

function clientOf(userId: string): UserClient {
  const resources = [{ type: 'document', id: 'nda', organizationId: 'live', accessRole: 'editor' }];
  const userProperties = { name: userId, email: `${userId}@example.com` };
  // Every call returns the same token. A new token would give a user back the access that the test removed.
  const issued = system.ok('/v2/auth/generate_token', { userId, userProperties, permissions: { resources } });
  return createUserClient({ baseUrl: system.baseUrl, token: async () => (await issued).token });
}

function open(userId: string): LiveDocument {
  const live = clientOf(userId).live(nda);
  closings.push(() => live.close());
  return live;
}

function edit(userId: string, name = editor): EditorProvider {
  const provider = new EditorProvider(new Y.Doc(), { ...name, client: clientOf(userId) });
  closings.push(() => provider.destroy());
  return provider;
}

/** Waits until a value is as expected. Returns the milliseconds that it took. */
async function until(what: string, isSo: () => boolean, patience = PATIENCE_MILLISECONDS): Promise<number> {
  const startedAt = Date.now();
  while (!isSo()) {
    if (Date.now() - startedAt > patience) throw new Error(`${what} did not happen`);
    await delay(20);
  }
  return Date.now() - startedAt;
}
async function storedText(): Promise<string> {
  const { update } = await system.ok('/v2/crdt/updates/get', editor);
  const doc = new Y.Doc();
  Y.applyUpdate(doc, Buffer.from(update as string, 'base64'));
  return doc.getText('content').toJSON();
}
const KEY = '#';
const countOf = (text: string, letter: string) => text.split(letter).length - 1;
const textOf = ({ doc }: EditorProvider) => doc.getText('content').toJSON();

test('users get the hints, presence and live state of other users', async () => {
  const [ada, grace] = [open('ada'), open('grace')];
  const comments: string[] = [];
  grace.on('comment', ({ type }) => comments.push(type));
  await until('the connections', () => ada.status === 'live' && grace.status === 'live');

  ada.presence.set({ status: 'away' });
  await until('the presence', () => grace.presence.users().some(({ userId }) => userId === 'ada'));
  expect(grace.presence.users()).toMatchObject([{ userId: 'ada', name: 'ada', status: 'away' }]);

  await ada.broadcast('clause', { n: 4 });
  await until('the live state', () => grace.state('clause') !== undefined);
  expect(grace.state('clause')?.data).toEqual({ n: 4 });

  const comment = { commentText: 'A comment', from: { userId: 'ada' } };
  await system.ok('/v2/commentannotations/add', { ...nda, commentAnnotations: [{ commentData: [comment] }] });
  await until('the hint', () => comments.includes('comment.add'));

  await ada.presence.leave();
  await until('the end of the presence', () => grace.presence.users().length === 0);
});

test('the end of a presence lease is pushed to other users within 15 s', async () => {
  const grace = open('grace');
  await until('the connection', () => grace.status === 'live');
  await system.ok('/v2/presence/add', { ...nda, users: [{ userId: 'bot', leaseSeconds: 5 }] });
  await until('the presence', () => grace.presence.users().length === 1);
  const took = await until('the end of the presence', () => grace.presence.users().length === 0);
  // The end is pushed 5.5 s after the presence was added. The other seconds are for a slow machine.
  expect(took).toBeLessThan(20_000);
});

test('the editors of two users converge, and show the cursor of the other user', async () => {
  const [ada, grace] = [edit('ada'), edit('grace')];
  await until('the first read', () => ada.synced && grace.synced);
  expect([textOf(ada), textOf(grace)]).toEqual(['Hello', 'Hello']);
  ada.awareness.setLocalStateField('user', { name: 'Ada' });
  for (let n = 0; n < 20; n++) {
    ada.doc.getText('content').insert(0, 'a');
    grace.doc.getText('content').insert(grace.doc.getText('content').length, 'g');
    await delay(10);
  }
  await until(
    'the same text',
    () => ada.saved && grace.saved && textOf(ada) === textOf(grace) && textOf(ada).length === 45,
  );
  await until('the cursor', () => grace.awareness.getStates().has(ada.doc.clientID));
  const later = edit('ada');
  await until('the read of a later editor', () => later.synced);
  expect(textOf(later)).toBe(textOf(ada));
});

test('an editor that is deleted and added again while users edit it is not mixed with the deleted editor', async () => {
  const draft = { ...nda, editorId: 'draft' };
  await system.ok('/v2/crdt/add', { ...draft, type: 'text', data: 'old' });
  const [ada, grace] = [edit('ada', draft), edit('grace', draft)];
  const rejected: string[] = [];
  for (const provider of [ada, grace]) provider.on('rejected', ({ status }) => rejected.push(status));
  await until('the first read', () => ada.synced && grace.synced);
  await system.ok('/v2/crdt/delete', { ...nda, editorIds: ['draft'] });
  ada.doc.getText('content').insert(0, 'late ');
  await system.ok('/v2/crdt/add', { ...draft, type: 'text', data: 'new' });
  await until('the events', () => rejected.length === 2);
  expect([rejected, textOf(ada), textOf(grace)]).toEqual([['NOT_FOUND', 'NOT_FOUND'], 'late old', 'old']);
  expect([ada.saved, grace.saved]).toEqual([false, true]);
  const later = edit('grace', draft);
  await until('the read of the new editor', () => later.synced);
  expect(textOf(later)).toBe('new');
});

interface ThreadId {
  readonly annotationId: string;
}

/** Two users edit and a customer's server adds comments until `stop` is called. */
class Workload {
  readonly editors = [edit('ada'), edit('grace')] as const;
  readonly reader = open('grace');
  /**
   * `acknowledged` has the ids of the comment threads whose addition was confirmed. `shown` has the ids of those for
   * which the reader got a hint.
   */
  readonly acknowledged: string[] = [];
  readonly shown: string[] = [];
  typed = 0;
  reloads = 0;
  readonly #name: string;
  #work: Promise<unknown> | undefined;
  #isRunning = true;

  constructor(name: string) {
    this.#name = name;
    this.reader.on(
      'hint',
      ({ type, ids }) => type === 'comment_annotation.add' && this.shown.push(String(ids?.annotationId)),
    );
    this.reader.on('reload', () => (this.reloads += 1));
  }

  /** Waits until all clients are connected, and starts the work. The reader then gets no hints of earlier changes. */
  async start(): Promise<void> {
    await until('the first read', () => this.reader.status === 'live' && this.editors.every(({ synced }) => synced));
    this.#work = Promise.all([...this.editors.map((editor) => this.#type(editor)), this.#comment()]);
  }

  /**
   * Ends the work. Checks that both editors have all edits, and that the reader got exactly one hint for each thread.
   */
  async stop(): Promise<void> {
    this.#isRunning = false;
    await this.#work;
    await until(
      'the same text',
      () =>
        this.editors.every((editor) => editor.saved && editor.synced) && new Set(this.editors.map(textOf)).size === 1,
      OUTAGE_PATIENCE_MILLISECONDS,
    );
    // A call that failed may still have added its thread.
    const threads = (await system.ok('/v2/commentannotations/get', nda)) as ThreadId[];
    const ids = threads.map(({ annotationId }) => annotationId).filter((id) => id.startsWith(`${this.#name}-`));
    await until('the hints', () => this.shown.length >= ids.length, OUTAGE_PATIENCE_MILLISECONDS);
    expect(this.shown.toSorted()).toEqual(ids.toSorted());
    expect(ids).toEqual(expect.arrayContaining(this.acknowledged));
  }

  async #type({ doc }: EditorProvider): Promise<void> {
    const text = doc.getText('content');
    while (this.#isRunning) {
      text.insert(this.typed % (text.length + 1), KEY);
      this.typed += 1;
      await delay(KEY_MILLISECONDS);
    }
  }

  async #comment(): Promise<void> {
    for (let n = 0; this.#isRunning; n++) {
      const annotationId = `${this.#name}-${n}`;
      const commentData = [{ commentText: 'A comment', from: { userId: 'ada' } }];
      await system
        .ok('/v2/commentannotations/add', { ...nda, commentAnnotations: [{ annotationId, commentData }] })
        .then(
          () => this.acknowledged.push(annotationId),
          () => undefined,
        );
      await delay(COMMENT_MILLISECONDS);
    }
  }
}

async function turnLive(running: boolean): Promise<void> {
  const response = await fetch(`${system.baseUrl}/_local/parts/live`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ running }),
  });
  expect(response.status).toBe(200);
}

test.each([
  [
    'push service',
    async (during: () => Promise<void>) => {
      await turnLive(false);
      await during();
      await turnLive(true);
    },
  ],
  [
    'whole system',
    async (during: () => Promise<void>) => {
      await system.kill();
      await during();
      system = await startSystem({ dataDir, env: { PORT: new URL(system.baseUrl).port } });
    },
  ],
])(
  'the editors converge, and each hint is shown once, when the %s stops while users work and returns',
  async (name, fail) => {
    const before = await storedText();
    const work = new Workload(name.replace(' ', '-'));
    await work.start();
    await until('some hints', () => work.shown.length >= 3);
    await fail(async () => {
      await until('the loss of the connection', () => work.reader.status !== 'live');
      await delay(1_000);
    });
    await until('the connection', () => work.reader.status === 'live', OUTAGE_PATIENCE_MILLISECONDS);
    await until('more hints', () => work.shown.length >= 6, OUTAGE_PATIENCE_MILLISECONDS);
    await work.stop();
    const text = textOf(work.editors[0]);
    expect(await storedText()).toBe(text);
    expect(countOf(text, KEY)).toBe(countOf(before, KEY) + work.typed);
    expect(work.reloads).toBe(1);
  },
);

test('a client of a deleted organization connects to the organization that is added again under its id', async () => {
  const organizationId = 'passing';
  const add = () =>
    system.ok('/v2/organizations/documents/add', {
      organizationId,
      createOrganization: true,
      documents: [{ documentId: 'nda' }],
    });
  await add();
  const live = clientOf('ada').live({ organizationId, documentId: 'nda' });
  closings.push(() => live.close());
  await until('the connection', () => live.status === 'live');
  await system.ok('/v2/organizations/delete', { organizationIds: [organizationId] });
  await add();
  await until('the end of the connection', () => live.status !== 'live');
  await until('the new connection', () => live.status === 'live');
  await system.ok('/v2/livestate/broadcast', {
    organizationId,
    documentId: 'nda',
    liveStateDataId: 'clause',
    data: {},
  });
  await until('the live state of the new document', () => live.state('clause') !== undefined);
});

test('a user who loses access is disconnected, and others stay', async () => {
  const [ada, grace] = [open('ada'), open('grace')];
  await until('the connections', () => ada.status === 'live' && grace.status === 'live');
  await system.ok('/v2/users/delete', { ...nda, userIds: ['grace'] });
  const hints: string[] = [];
  ada.on('hint', ({ type }) => hints.push(type));
  await until('the end', () => grace.status === 'denied', 60_000);
  await until('the new channels', () => ada.status === 'live');
  await system.ok('/v2/reactions/add', { ...nda, reactions: [{ icon: '👍', from: { userId: 'ada' } }] });
  await until('the hint', () => hints.includes('reaction.add'));
});
