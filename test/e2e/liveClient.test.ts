import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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
const REVOKED_MILLISECONDS = 60_000;
const KEY_MILLISECONDS = 50;
const COMMENT_MILLISECONDS = 300;

let system: System;
const closings: (() => Promise<void>)[] = [];
const issued: Promise<string>[] = [];
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
  const token = system
    .ok('/v2/auth/generate_token', { userId, userProperties, permissions: { resources } })
    .then((data): string => data.token);
  issued.push(token);
  return createUserClient({ baseUrl: system.baseUrl, token: () => token });
}

function open(userId: string): LiveDocument {
  const live = clientOf(userId).live(nda);
  closings.push(() => live.close());
  return live;
}

function edit(userId: string): EditorProvider {
  const provider = new EditorProvider(new Y.Doc(), { ...editor, client: clientOf(userId) });
  closings.push(() => provider.destroy());
  return provider;
}

/** Waits until a value is as expected. */
async function until(what: string, isSo: () => boolean, patience = PATIENCE_MILLISECONDS): Promise<void> {
  const startedAt = Date.now();
  while (!isSo()) {
    if (Date.now() - startedAt > patience) throw new Error(`${what} did not happen`);
    await delay(20);
  }
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

test('users who lose access or whose tokens are revoked are disconnected, others stay, and no token is logged', async () => {
  const [ada, grace] = [open('ada'), open('grace')];
  await until('the connections', () => ada.status === 'live' && grace.status === 'live');
  const hints: string[] = [];
  ada.on('hint', ({ type }) => hints.push(type));
  await system.ok('/v2/users/delete', { ...nda, userIds: ['grace'] });
  await until('the end', () => grace.status === 'denied', REVOKED_MILLISECONDS);
  await until('the new channels', () => ada.status === 'live');
  await system.ok('/v2/reactions/add', { ...nda, reactions: [{ icon: '👍', from: { userId: 'ada' } }] });
  await until('the hint', () => hints.includes('reaction.add'));

  const authorization = `Bearer ${await issued.at(-2)}`;
  const connection = await system.ok('/v2/live/connect', nda, { authorization });
  const { apiKey, workspaceId, workspaceAuthToken } = system.credentials;
  const workspace = { 'x-svc-workspace-id': workspaceId, 'x-svc-workspace-auth-token': workspaceAuthToken };
  await system.ok('/v2/workspace/authtoken/reset', { apiKey, revokeUserTokens: true }, workspace);
  // The client tries to connect until the application has a new token.
  await until('the end of all connections', () => ada.status !== 'live', REVOKED_MILLISECONDS);
  expect((await system.post('/v2/live/connect', nda, { authorization })).status).toBe(403);
  const logs = system.logs() + (await readFile(join(system.dataDir, 'functions.log'), 'utf8'));
  for (const token of [connection.token, ...(await Promise.all(issued))]) expect(logs).not.toContain(token);
});
