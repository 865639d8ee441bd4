import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { toBase64 } from 'lib0/buffer';
import { Awareness, encodeAwarenessUpdate } from 'y-protocols/awareness';
import * as Y from 'yjs';
import { EditorProvider, type EditorProviderEvents } from '../../../lib/client/editorProvider.ts';
import type { ErrorStatus } from '../../../lib/shared/errors.ts';
import { clientOf, type Connection, FakeLive, inBrowser } from '../../support/fakeLive.ts';

const name = { organizationId: 'acme', documentId: 'nda', editorId: 'summary' };

let service: FakeLive;
let providers: EditorProvider[];
beforeEach(() => {
  jest.useFakeTimers({ now: 1_800_000_000_000 });
  service = new FakeLive();
  providers = [];
});
afterEach(async () => {
  await closeAll();
  jest.restoreAllMocks();
  jest.useRealTimers();
});

async function closeAll(): Promise<void> {
  const closing = Promise.all(providers.splice(0).map((provider) => provider.destroy()));
  await jest.advanceTimersByTimeAsync(60_000);
  await closing;
}

const connections = new Map<EditorProvider, Connection>();

function open(doc = new Y.Doc(), editorKey?: string): EditorProvider {
  const connection = service.connection();
  const client = clientOf(connection);
  const provider = new EditorProvider(doc, { ...name, client, editorKey });
  connections.set(provider, connection);
  providers.push(provider);
  return provider;
}

/** Opens a provider and waits for its first read. */
async function opened(...args: Parameters<typeof open>): Promise<EditorProvider> {
  const provider = open(...args);
  await wait();
  return provider;
}

async function openBoth(): Promise<[EditorProvider, EditorProvider]> {
  return [open(), await opened()];
}

/** A document with what another one has, as a browser stores it. */
function copyOf(doc = service.editor): Y.Doc {
  const copy = new Y.Doc();
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc));
  return copy;
}

/** Returns a list that gets the values of an event. */
function valuesOf<N extends keyof EditorProviderEvents>(provider: EditorProvider, name: N): EditorProviderEvents[N][] {
  const values: EditorProviderEvents[N][] = [];
  provider.on(name, (value) => values.push(value));
  return values;
}

/** Returns a list that gets the statuses of the provider's rejections. */
function rejectionsOf(provider: EditorProvider): string[] {
  const statuses: string[] = [];
  provider.on('rejected', ({ status }) => statuses.push(status));
  return statuses;
}

/** Ends the connections, and waits while the service is down. */
async function goDown(milliseconds = 60_000): Promise<void> {
  service.isDown = true;
  service.disconnect();
  await wait(milliseconds);
}

async function comeUp(milliseconds = 120_000): Promise<void> {
  service.isDown = false;
  await wait(milliseconds);
}

/** Cuts a client's connection. Nothing that the client sends from now on arrives. */
function kill(provider: EditorProvider): void {
  connections.get(provider)?.cut();
}

const wait = (milliseconds = 400) => jest.advanceTimersByTimeAsync(milliseconds);
const textOf = (doc: Y.Doc) => doc.getText('content').toJSON();
const write = (doc: Y.Doc, text: string, at = 0) => doc.getText('content').insert(at, text);
const reads = () => service.calls.filter(({ path }) => path === '/v2/crdt/updates/get');
const pushes = () => service.calls.filter(({ path }) => path === '/v2/crdt/updates/push');

describe('an editor provider', () => {
  test('reads the editor at the start, then shows edits of other users at once', async () => {
    write(service.editor, 'Hello');
    const [ada, grace] = [open(), open()];
    const synced = valuesOf(ada, 'synced');
    await wait();
    expect([textOf(ada.doc), textOf(grace.doc), synced]).toEqual(['Hello', 'Hello', [true]]);
    write(grace.doc, ' Ada', 5);
    await wait();
    expect([textOf(ada.doc), textOf(service.editor)]).toEqual(['Hello Ada', 'Hello Ada']);
  });

  test('reads once when it is opened, and once after each reconnect', async () => {
    await opened();
    expect(reads()).toHaveLength(1);
    service.disconnect();
    await wait(5_000);
    expect(reads()).toHaveLength(2);
  });

  test('sends edits within 100 ms as one update, and sends no edit twice', async () => {
    const [ada, grace] = await openBoth();
    for (const letter of 'olleH') write(ada.doc, letter);
    await wait();
    expect(pushes()).toHaveLength(1);
    expect(textOf(grace.doc)).toBe('Hello');
    await wait(10_000);
    expect(pushes()).toHaveLength(1);
  });

  test('reports whether every edit is stored', async () => {
    const ada = open();
    const saved = valuesOf(ada, 'saved');
    await wait();
    write(ada.doc, 'A');
    write(ada.doc, 'B');
    expect([ada.saved, saved]).toEqual([false, [false]]);
    await wait();
    expect([ada.saved, saved]).toEqual([true, [false, true]]);
  });

  test('sends 6,000 edits after a call without an answer in less CPU time than typing them takes', async () => {
    const ada = await opened();
    const timeComparedWithTyping = async () => {
      service.latency = () => 30_000;
      write(ada.doc, 'x');
      await wait(200);
      const startedAt = process.threadCpuUsage();
      for (let index = 0; index < 6_000; index++) write(ada.doc, 'x', index);
      const typing = process.threadCpuUsage(startedAt).user;
      service.latency = () => 5;
      const typedAt = process.threadCpuUsage();
      await wait(120_000);
      return process.threadCpuUsage(typedAt).user / typing;
    };
    // A costly algorithm is costly each time. Garbage collection is not.
    const times = [await timeComparedWithTyping(), await timeComparedWithTyping(), await timeComparedWithTyping()];
    expect(Math.min(...times)).toBeLessThan(1);
    expect([textOf(service.editor).length, ada.saved]).toEqual([3 * 6_001, true]);
  });

  test('reports edits that the document had before the first read as unsaved until it has read or sent them', async () => {
    write(service.editor, 'Hello');
    const edited = new Y.Doc();
    write(edited, 'stored');
    service.isDown = true;
    const three = [open(), open(copyOf()), open(edited)];
    await wait(5_000);
    expect(three.map(({ saved }) => saved)).toEqual([true, false, false]);
    const events = three.map((provider) => valuesOf(provider, 'saved'));
    await comeUp();
    expect([three.map(({ saved }) => saved), events]).toEqual([
      [true, true, true],
      [[], [true], [true]],
    ]);
    expect([textOf(service.editor).length, pushes().length]).toEqual(['Hellostored'.length, 1]);
  });

  test('sends nothing if the document has only content and deletions that the service has', async () => {
    write(service.editor, 'Hello Ada');
    service.editor.getText('content').delete(5, 4);
    const stored = copyOf();
    service.editor.getText('content').delete(0, 1);
    for (const provider of [open(), open(stored)]) {
      await wait();
      expect([textOf(provider.doc), provider.saved]).toEqual(['ello', true]);
    }
    expect(pushes()).toEqual([]);
  });

  test('sends no edit before the edits that the document had before the first read', async () => {
    const stored = new Y.Doc();
    write(stored, 'stored');
    service.refusals.set('/v2/crdt/updates/get', 'UNAVAILABLE');
    const ada = open(stored);
    write(ada.doc, ' edit', 6);
    await wait(5_000);
    expect([pushes(), ada.saved]).toEqual([[], false]);
    service.refusals.clear();
    await wait(60_000);
    expect([textOf(service.editor), ada.saved, pushes().length]).toEqual(['stored edit', true, 1]);
  });

  test('keeps changes that Yjs makes itself until the first edit, so that viewers can follow', async () => {
    write(service.editor, 'Hello Ada');
    const ada = open();
    // Yjs removes formatting without effect only from a type that is known as a text.
    ada.doc.getText('content');
    await wait();
    const changes: ((text: Y.Text) => void)[] = [
      (text) => text.format(0, 5, { bold: true }),
      (text) => text.delete(0, 5),
    ];
    const updates = changes.map((change) => {
      const doc = copyOf();
      change(doc.getText('content'));
      return Y.encodeStateAsUpdate(doc, Y.encodeStateVector(service.editor));
    });
    for (const update of updates) {
      Y.applyUpdate(service.editor, update);
      service.hintEditor(update);
    }
    await wait();
    expect([textOf(ada.doc), pushes(), ada.saved]).toEqual([' Ada', [], true]);
    write(ada.doc, 'Hi');
    await wait();
    expect([textOf(service.editor), pushes().length]).toEqual(['Hi Ada', 1]);
    const { ds } = Y.decodeUpdate(Buffer.from(pushes()[0]?.data.update as string, 'base64'));
    expect([...ds.clients.values()]).toEqual([[expect.objectContaining({ clock: 0, len: 1 })]]);
  });

  test('sends text that the application inserts while it shows an edit of another user', async () => {
    const bot = open();
    const text = bot.doc.getText('content');
    text.observe(({ transaction }) => {
      if (!transaction.local) text.insert(text.length, ' answer');
    });
    await wait();
    write(open().doc, 'question');
    await wait(1_000);
    expect([textOf(service.editor), bot.saved]).toEqual(['question answer', true]);
  });

  test('goes on if the service refuses only deletions that the document had before the first read', async () => {
    write(service.editor, 'Hello');
    const stored = copyOf();
    stored.getText('content').delete(0, 1);
    service.refusals.set('/v2/crdt/updates/push', 'PERMISSION_DENIED');
    const ada = open(stored);
    const rejections = rejectionsOf(ada);
    await wait();
    write(service.editor, ' Ada', 5);
    service.hintEditor();
    await wait();
    expect([textOf(ada.doc), ada.synced, ada.saved, rejections]).toEqual(['ello Ada', true, false, []]);
    expect(pushes().length).toBeGreaterThan(0);
    write(ada.doc, 'edit');
    await wait();
    expect([ada.synced, ada.saved, rejections]).toEqual([false, false, ['PERMISSION_DENIED']]);
  });

  test.each([
    ['sends an edit', ['push']],
    ['reads a change and sends an edit', ['get', 'push']],
  ])('%s again after a failure, also if the other call succeeds or fails meanwhile', async (_what, failing) => {
    jest.spyOn(Math, 'random').mockReturnValue(0.9);
    const ada = await opened();
    for (const call of failing) service.refusals.set(`/v2/crdt/updates/${call}`, 'UNAVAILABLE');
    write(service.editor, 'large');
    write(ada.doc, 'A');
    if (failing.includes('get')) service.hintEditor();
    await wait(1_600);
    service.refusals.clear();
    if (!failing.includes('get')) service.hintEditor();
    await wait(60_000);
    expect([textOf(ada.doc), ada.saved]).toEqual([textOf(service.editor), true]);
    expect(textOf(ada.doc)).toHaveLength('large'.length + 'A'.length);
  });

  test('keeps the pauses between failing reads while other users go on editing', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.9);
    const ada = await opened();
    service.refusals.set('/v2/crdt/updates/get', 'UNAVAILABLE');
    write(service.editor, 'large');
    for (let second = 0; second < 60; second++) {
      service.hintEditor();
      await wait(1_000);
    }
    // Each read has four attempts.
    expect(reads().length).toBeLessThan(10 * 4);
    service.refusals.clear();
    await wait(30_000);
    expect(textOf(ada.doc)).toBe('large');
  });

  test('is not synced after a read that ends while the connection is down', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.9);
    const ada = await opened();
    service.latency = () => 1_000;
    write(service.editor, 'large');
    service.hintEditor();
    await wait(500);
    service.disconnect();
    await wait(2_000);
    expect([textOf(ada.doc), ada.synced]).toEqual(['large', false]);
    await wait(20_000);
    expect(ada.synced).toBe(true);
  });

  test('ignores changes of other editors', async () => {
    await opened();
    const reads = service.calls.length;
    service.hint({ type: 'crdt.update', editorId: 'other' });
    await wait();
    expect(service.calls).toHaveLength(reads);
  });

  test('sends the last edits at once when it is destroyed, before the cursor is hidden', async () => {
    const ada = await opened();
    write(ada.doc, 'last');
    const closing = ada.destroy();
    await wait(service.latency());
    expect(pushes()).toHaveLength(1);
    await wait();
    await closing;
    expect(textOf(service.editor)).toBe('last');
    expect(service.sockets.size).toBe(0);
  });
});

describe('before the first read, an editor provider', () => {
  test.each([
    ['destroyed', (provider: EditorProvider) => void provider.destroy()],
    [
      'left with the page',
      (_provider: EditorProvider, window: EventTarget) => window.dispatchEvent(new Event('pagehide')),
    ],
  ])('sends nothing when it is %s', async (_how, leave) => {
    await inBrowser(async (window) => {
      write(service.editor, 'Important old text');
      const emptied = copyOf();
      emptied.getText('content').delete(0, emptied.getText('content').length);
      service.refusals.set('/v2/crdt/updates/get', 'UNAVAILABLE');
      const both = [open(), open(emptied)];
      await wait(2_000);
      for (const provider of both) {
        write(provider.doc, 'x');
        leave(provider, window);
      }
      await wait(60_000);
      expect([pushes(), both.map(({ saved }) => saved)]).toEqual([[], [false, false]]);
    });
  });

  test('does not change the document after it was destroyed', async () => {
    write(service.editor, 'Important old text');
    service.latency = () => 1_000;
    const ada = open();
    while (reads().length === 0) await wait(100);
    expect(textOf(ada.doc)).toBe('');
    const destroyed = ada.destroy();
    await wait(60_000);
    await destroyed;
    expect([textOf(ada.doc), pushes()]).toEqual(['', []]);
  });
});

test('an editor provider refuses a document of another copy of yjs, and names the remedy', () => {
  const other = createRequire(import.meta.url)('yjs') as typeof Y;
  expect(() => open(new other.Doc())).toThrow(/two copies of yjs.*\.tgz.*resolve\.dedupe: \['yjs'\]/s);
  expect(service.calls).toEqual([]);
});

describe('whenSynced', () => {
  test('resolves when the document has what the service has', async () => {
    write(service.editor, 'Hello');
    const ada = open();
    let text: string | undefined;
    void ada.whenSynced.then(() => (text = textOf(ada.doc)));
    await wait(1);
    expect(text).toBeUndefined();
    await wait();
    expect(text).toBe('Hello');
  });

  test.each([
    ['the service denies the connection', 'PERMISSION_DENIED', () => (service.isDenied = true)],
    [
      'the service denies the read',
      'PERMISSION_DENIED',
      () => service.refusals.set('/v2/crdt/updates/get', 'PERMISSION_DENIED'),
    ],
    ['the editor does not exist', 'NOT_FOUND', () => service.deleteEditor()],
  ])('rejects if %s', async (_what, status, arrange) => {
    arrange();
    const ada = open();
    const rejection = expect(ada.whenSynced).rejects.toMatchObject({ name: 'ServiceError', status });
    await wait(5_000);
    await rejection;
  });

  test('rejects with an AbortError if the provider is destroyed before the first read', async () => {
    const ada = open();
    const rejection = expect(ada.whenSynced).rejects.toMatchObject({ name: 'AbortError' });
    void ada.destroy();
    await wait();
    await rejection;
  });

  test('causes no unhandled rejection if nobody uses it', async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', listen);
    service.isDenied = true;
    open();
    await wait(5_000);
    await setImmediate();
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
  });
});

describe('an editor provider whose document gets another id', () => {
  async function openMigrating(doc?: Y.Doc, editorKey?: string) {
    const provider = await opened(doc, editorKey);
    const events: unknown[] = rejectionsOf(provider);
    provider.on('migrated', (event) => events.push(event));
    service.isMigrating = true;
    write(provider.doc, 'typed');
    await wait(60_000);
    return { provider, events };
  }
  const refuse = (status: ErrorStatus) => {
    for (const path of ['/v2/crdt/updates/push', '/v2/crdt/updates/get']) service.refusals.set(path, status);
  };

  test.each(['NOT_FOUND', 'PERMISSION_DENIED'] as const)(
    'waits for the new id after %s, and another provider saves the edits of the meantime',
    async (status) => {
      const { provider, events } = await openMigrating();
      service.isMigrating = false;
      refuse(status);
      await wait(50_000);
      expect([events, provider.saved]).toEqual([[], false]);
      service.migrate('contract');
      await wait(120_000);
      expect([events, provider.saved, provider.synced]).toEqual([[{ newDocumentId: 'contract' }], false, false]);
      await provider.destroy();
      const next = open(provider.doc, provider.editorKey);
      await wait();
      expect([textOf(service.editor), next.saved, next.synced]).toEqual(['typed', true, true]);
    },
  );

  test('reports the refusal after a minute or two without the new id', async () => {
    const { provider, events } = await openMigrating();
    service.isMigrating = false;
    refuse('NOT_FOUND');
    await wait(120_000);
    expect([events, provider.saved]).toEqual([['NOT_FOUND'], false]);
  });

  test('reports a refusal at once after the migration has ended without a new id', async () => {
    const { provider, events } = await openMigrating();
    service.isMigrating = false;
    await wait(60_000);
    expect(provider.saved).toBe(true);
    refuse('NOT_FOUND');
    write(provider.doc, 'more');
    await wait(1_000);
    expect(events).toEqual(['NOT_FOUND']);
  });

  test('rejects whenSynced if the document gets the new id before the first read', async () => {
    service.refusals.set('/v2/crdt/updates/get', 'UNAVAILABLE');
    const provider = await opened();
    service.migrate('contract');
    await wait();
    await expect(provider.whenSynced).rejects.toMatchObject({ name: 'AbortError' });
    await wait(60_000);
    expect(provider.synced).toBe(false);
  });
});

describe('an editor provider whose editor was deleted', () => {
  /** Opens a provider. Returns it with the statuses of its `rejected` events. */
  async function openWatched(doc?: Y.Doc, editorKey?: string) {
    const provider = open(doc, editorKey);
    const rejected = rejectionsOf(provider);
    await wait();
    return { provider, rejected };
  }

  test('shows no text of an editor that was added under the same id, and sends it no edits', async () => {
    write(service.editor, 'old ');
    const { provider, rejected } = await openWatched();
    service.deleteEditor();
    service.addEditor('new');
    write(provider.doc, 'late ');
    await wait(60_000);
    expect([textOf(provider.doc), textOf(service.editor)]).toEqual(['late old ', 'new']);
    expect([rejected, provider.saved]).toEqual([['NOT_FOUND'], false]);
  });

  test('sends no edits of an interrupted connection to an editor that was added under the same id meanwhile', async () => {
    const { provider, rejected } = await openWatched();
    write(provider.doc, 'saved');
    await wait();
    await goDown();
    write(provider.doc, 'unsaved ');
    service.deleteEditor();
    service.addEditor('new');
    service.oldest = service.log.length + 1;
    await comeUp();
    expect([textOf(provider.doc), textOf(service.editor)]).toEqual(['unsaved saved', 'new']);
    expect([rejected, provider.saved]).toEqual([['NOT_FOUND'], false]);
  });

  test('stops and reports NOT_FOUND at once, later edits as unsaved, and sends nothing after a new connection', async () => {
    const { provider, rejected } = await openWatched();
    service.deleteEditor();
    await wait();
    expect([rejected, provider.synced, provider.saved]).toEqual([['NOT_FOUND'], false, true]);
    const saved = valuesOf(provider, 'saved');
    write(provider.doc, 'A');
    expect([provider.saved, saved]).toEqual([false, [false]]);
    service.disconnect();
    await wait(120_000);
    expect([pushes(), provider.saved]).toEqual([[], false]);
  });

  test('rejects a stored Yjs document with the key of the deleted editor', async () => {
    write(service.editor, 'old');
    const { provider } = await openWatched();
    const { editorKey } = provider;
    await closeAll();
    expect(editorKey).toBe('edt_0');
    service.deleteEditor();
    service.addEditor('new');
    const stored = await openWatched(provider.doc, editorKey);
    expect([textOf(provider.doc), textOf(service.editor), stored.rejected]).toEqual(['old', 'new', ['NOT_FOUND']]);
    const fresh = await openWatched();
    expect([textOf(fresh.provider.doc), fresh.rejected]).toEqual(['new', []]);
  });

  test('ignores a late message about the earlier editor', async () => {
    const late = new Y.Doc();
    write(late, 'late');
    service.deleteEditor();
    service.addEditor('new');
    const { provider } = await openWatched();
    const update = Buffer.from(Y.encodeStateAsUpdate(late)).toString('base64');
    service.hint({ type: 'crdt.update', editorId: 'summary', editorKey: 'edt_0', update });
    await wait();
    expect([textOf(provider.doc), provider.synced]).toEqual(['new', true]);
  });
});

test('destroying an editor provider twice keeps the live document of the application open', async () => {
  const client = clientOf(service.connection());
  const live = client.live(name);
  const provider = new EditorProvider(new Y.Doc(), { ...name, client });
  await wait();
  const destroying = Promise.all([provider.destroy(), provider.destroy()]);
  await wait();
  await destroying;
  expect(live.status).toBe('live');
  await live.close();
});

test('an edit that the user made just before leaving the page is sent with a call that the browser finishes', async () => {
  await inBrowser(async (window) => {
    const { doc } = await opened();
    write(doc, 'last');
    window.dispatchEvent(new Event('pagehide'));
    await wait(20);
    expect(pushes()).toMatchObject([{ keepalive: true }]);
    expect(textOf(service.editor)).toBe('last');
    // The browser can show the page again. Then the edit is sent again, which changes nothing.
    window.dispatchEvent(new Event('pageshow'));
    await wait();
    expect([textOf(service.editor), textOf(doc)]).toEqual(['last', 'last']);
    window.dispatchEvent(new Event('pagehide'));
    await wait(20);
    expect(pushes()).toHaveLength(2);
  });
});

describe('awareness', () => {
  test('is shown to other users, also to users who connect later, and ends with the provider', async () => {
    const ada = await opened();
    ada.awareness.setLocalStateField('user', { name: 'Ada' });
    await wait();
    const grace = await opened();
    expect(grace.awareness.getStates().get(ada.doc.clientID)).toEqual({ user: { name: 'Ada' } });
    ada.awareness.setLocalStateField('cursor', 3);
    await wait();
    expect(grace.awareness.getStates().get(ada.doc.clientID)).toMatchObject({ cursor: 3 });
    const destroyed = ada.destroy();
    await wait(5_000);
    await destroyed;
    expect([...grace.awareness.getStates().keys()]).toEqual([grace.doc.clientID]);
  });

  test('is read from valid updates only, because every user can publish to the channel', async () => {
    const [ada, grace] = await openBoth();
    for (const update of [5, '?', 'AQ==', 'AQEBAXs='])
      service.push(service.channels.awareness, { type: 'awareness.update', editorId: 'summary', update });
    ada.awareness.setLocalStateField('cursor', 1);
    await wait();
    expect(grace.awareness.getStates()).toEqual(
      new Map<number, object>([
        [grace.doc.clientID, {}],
        [ada.doc.clientID, { cursor: 1 }],
      ]),
    );
  });

  test('keeps the own state, whatever other clients publish for its client id', async () => {
    const [ada, grace] = await openBoth();
    ada.awareness.setLocalStateField('cursor', 1);
    await wait();
    const forged = new Awareness(new Y.Doc());
    forged.states.set(ada.doc.clientID, { cursor: 666 });
    forged.meta.set(ada.doc.clientID, { clock: 1_000, lastUpdated: 0 });
    forged.setLocalStateField('cursor', 7);
    const update = toBase64(encodeAwarenessUpdate(forged, [ada.doc.clientID, forged.clientID]));
    service.push(service.channels.awareness, { type: 'awareness.update', editorId: 'summary', update });
    await wait();
    expect(ada.awareness.getLocalState()).toEqual({ cursor: 1 });
    expect(ada.awareness.getStates().get(forged.clientID)).toEqual({ cursor: 7 });
    expect(grace.awareness.getStates().get(forged.clientID)).toEqual({ cursor: 7 });
    forged.destroy();
  });

  test('is published at most once a second for queries of other clients, and after the last query', async () => {
    const ada = open();
    await wait(2_000);
    let announced = 0;
    ada.awareness.on('update', () => announced++);
    for (let index = 0; index < 50; index++) {
      service.push(service.channels.awareness, { type: 'awareness.query', editorId: 'summary' });
      await wait(10);
    }
    expect(announced).toBe(1);
    await wait(2_500);
    expect(announced).toBe(2);
  });

  test('ends when the user leaves the page, and is shown again when the browser shows the page again', async () => {
    await inBrowser(async (window) => {
      const ada = await opened();
      ada.awareness.setLocalStateField('cursor', 1);
      const grace = await opened();
      // The event reaches both providers, because they are in one process. Only Ada is to leave, so Grace's state is
      // set again.
      const graceState = grace.awareness.getLocalState();
      window.dispatchEvent(new Event('pagehide'));
      grace.awareness.setLocalState(graceState);
      await wait();
      expect([...grace.awareness.getStates().keys()]).toEqual([grace.doc.clientID]);
      window.dispatchEvent(new Event('pageshow'));
      await wait();
      expect(grace.awareness.getStates().get(ada.doc.clientID)).toMatchObject({ cursor: 1 });
    });
  });

  test('ends for both sides when the service rejects the provider', async () => {
    const [ada, grace] = await openBoth();
    for (const { awareness } of [ada, grace]) awareness.setLocalStateField('cursor', 1);
    await wait();
    service.refusals.set('/v2/crdt/updates/push', 'PERMISSION_DENIED');
    write(ada.doc, 'A');
    await wait();
    for (const cursor of [2, 3]) {
      for (const { awareness } of [ada, grace]) awareness.setLocalStateField('cursor', cursor);
      service.disconnect();
      await wait(60_000);
    }
    expect([...ada.awareness.getStates().keys()]).toEqual([]);
    expect([...grace.awareness.getStates().keys()]).toEqual([grace.doc.clientID]);
  });

  test('hides other users while the connection is down, and shows them again afterwards', async () => {
    const [ada, grace] = await openBoth();
    ada.awareness.setLocalStateField('cursor', 1);
    await wait();
    expect(grace.awareness.getStates().size).toBe(2);
    await goDown(400);
    expect(grace.awareness.getStates().size).toBe(1);
    await comeUp();
    expect(grace.awareness.getStates().get(ada.doc.clientID)).toMatchObject({ cursor: 1 });
  });
});

type Step =
  | { kind: 'insert'; client: number; at: number; text: string }
  | { kind: 'delete'; client: number; at: number; length: number }
  | { kind: 'disconnect' | 'lose pushes' | 'deliver pushes' | 'lose answers' | 'answer' | 'expire changes' | 'replace' }
  | { kind: 'outage'; milliseconds: number }
  | { kind: 'reload' | 'crash'; client: number }
  | { kind: 'wait'; milliseconds: number };

const CLIENTS = 3;
const client = fc.nat({ max: CLIENTS - 1 });
const offset = fc.nat({ max: 40 });
const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('insert' as const),
        client,
        at: offset,
        text: fc.string({ minLength: 1, maxLength: 3 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('delete' as const),
        client,
        at: offset,
        length: fc.integer({ min: 1, max: 4 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.integer({ min: 1, max: 400 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('outage' as const),
        milliseconds: fc.integer({ min: 1, max: 600_000 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('reload' as const, 'crash'), client }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom(
          'disconnect' as const,
          'lose pushes',
          'deliver pushes',
          'lose answers',
          'answer',
          'expire changes',
          'replace',
        ),
      }),
    },
  ),
  { maxLength: 40 },
);

test('all replicas equal the stored state after random edits, disconnections, lost messages, reloads, crashes and replaced editors', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all: Step[]) => {
      service = new FakeLive();
      const providers: EditorProvider[] = [];
      for (let index = 0; index < CLIENTS; index++) openAs(providers, index);
      await wait();
      for (const step of all) await run(step, providers);
      service.isDown = false;
      service.losesPushes = false;
      service.crash = () => false;
      await wait(300_000);
      const stored = textOf(service.editor);
      for (const provider of providers) {
        expect(textOf(provider.doc)).toBe(stored);
        expect([provider.saved, provider.synced]).toEqual([true, true]);
        expect(Y.encodeStateVector(provider.doc)).toEqual(Y.encodeStateVector(service.editor));
      }
      await closeAll();
    }),
    { numRuns: 60, seed: 20_260_101 },
  );
}, 120_000);

/** Opens a provider. If its editor was deleted, opens a new one with a new Yjs document, as applications do. */
function openAs(providers: EditorProvider[], index: number, doc?: Y.Doc, editorKey?: string): void {
  const provider = open(doc, editorKey);
  providers[index] = provider;
  provider.on('rejected', () => {
    if (providers[index] === provider) openAs(providers, index);
  });
}

async function run(step: Step, providers: EditorProvider[]): Promise<void> {
  if (step.kind === 'insert' || step.kind === 'delete') {
    const text = providers[step.client]!.doc.getText('content');
    const position = Math.min(step.at, text.length);
    if (step.kind === 'insert') text.insert(position, step.text);
    else text.delete(position, Math.min(step.length, text.length - position));
  } else if (step.kind === 'wait') await wait(step.milliseconds);
  else if (step.kind === 'outage') {
    service.isDown = true;
    service.disconnect();
    await wait(step.milliseconds);
    service.isDown = false;
  } else if (step.kind === 'reload' || step.kind === 'crash') {
    // Simulates that a page is loaded again. After a reload, the browser still has the Yjs document with edits that
    // were not sent, and the key of its editor. After a crash, the document is empty.
    const provider = providers[step.client]!;
    kill(provider);
    if (step.kind === 'crash') openAs(providers, step.client);
    else {
      openAs(providers, step.client, copyOf(provider.doc), provider.editorKey);
    }
  } else if (step.kind === 'replace') {
    service.deleteEditor();
    service.addEditor('new');
  } else if (step.kind === 'disconnect') service.disconnect();
  else if (step.kind === 'lose pushes') service.losesPushes = true;
  else if (step.kind === 'deliver pushes') service.losesPushes = false;
  else if (step.kind === 'expire changes') service.oldest = service.log.length + 1;
  else {
    let number = 0;
    service.crash = step.kind === 'answer' ? () => false : () => number++ % 2 === 0;
  }
}
