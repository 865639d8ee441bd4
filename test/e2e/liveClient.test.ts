import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import * as Y from 'yjs';
import { EditorProvider } from '../../lib/client/editorProvider.ts';
import type { LiveDocument } from '../../lib/client/liveDocument.ts';
import { createUserClient, type UserClient } from '../../lib/client/userClient.ts';
import { startSystem, type System } from './system.ts';

const nda = { organizationId: 'live', documentId: 'nda' };
const editor = { ...nda, editorId: 'summary' };
/** How long a test waits before it reports missing data. */
const PATIENCE_MILLISECONDS = 30_000;

let system: System;
const closings: (() => Promise<void>)[] = [];
beforeAll(async () => {
  system = await startSystem();
  await done('/v2/organizations/documents/add', {
    organizationId: 'live',
    createOrganization: true,
    documents: [{ documentId: 'nda' }],
  });
  const access = { organizationId: 'live', documentIds: ['nda'], accessType: 'restricted' };
  await done('/v2/organizations/documents/access/update', access);
  await done('/v2/crdt/add', { ...editor, type: 'text', data: 'Hello' });
});
afterAll(() => system.stop());
afterEach(async () => {
  await Promise.all(closings.splice(0).map((close) => close()));
});

async function done(path: string, data: object): Promise<any> {
  const { status, body } = await system.post(path, data);
  if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return body.result.data;
}

function clientOf(userId: string): UserClient {
  const resources = [{ type: 'document', id: 'nda', organizationId: 'live', accessRole: 'editor' }];
  const userProperties = { name: userId, email: `${userId}@example.com` };
  // A second token would give access again to a user who lost it.
  const issued = done('/v2/auth/generate_token', { userId, userProperties, permissions: { resources } });
  return createUserClient({ baseUrl: system.baseUrl, token: async () => (await issued).token });
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

/** Waits until a value is as expected. Returns the milliseconds that it took. */
async function until(what: string, isSo: () => boolean, patience = PATIENCE_MILLISECONDS): Promise<number> {
  const startedAt = Date.now();
  while (!isSo()) {
    if (Date.now() - startedAt > patience) throw new Error(`${what} did not happen`);
    await delay(20);
  }
  return Date.now() - startedAt;
}
const textOf = ({ doc }: EditorProvider) => doc.getText('content').toJSON();

test('users see the hints, presence and live state of other users', async () => {
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
  await done('/v2/commentannotations/add', { ...nda, commentAnnotations: [{ commentData: [comment] }] });
  await until('the hint', () => comments.includes('comment.add'));

  await ada.presence.leave();
  await until('the end of the presence', () => grace.presence.users().length === 0);
});

test('the end of a lease is pushed within 15 s', async () => {
  const grace = open('grace');
  await until('the connection', () => grace.status === 'live');
  await done('/v2/presence/add', { ...nda, users: [{ userId: 'bot', leaseSeconds: 5 }] });
  await until('the presence', () => grace.presence.users().length === 1);
  const took = await until('the end of the presence', () => grace.presence.users().length === 0);
  expect(took).toBeLessThan(20_000);
});

test('editors of two users become equal, and show the cursor of the other user', async () => {
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

test('a user who loses access is disconnected, and others stay', async () => {
  const [ada, grace] = [open('ada'), open('grace')];
  await until('the connections', () => ada.status === 'live' && grace.status === 'live');
  await done('/v2/users/delete', { ...nda, userIds: ['grace'] });
  const hints: string[] = [];
  ada.on('hint', ({ type }) => hints.push(type));
  await until('the end', () => grace.status === 'denied', 60_000);
  await until('the new channels', () => ada.status === 'live');
  await done('/v2/reactions/add', { ...nda, reactions: [{ icon: '👍', from: { userId: 'ada' } }] });
  await until('the hint', () => hints.includes('reaction.add'));
});
