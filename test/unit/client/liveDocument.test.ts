import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { LiveDocument } from '../../../lib/client/liveDocument.ts';
import { createUserClient, type UserClient } from '../../../lib/client/userClient.ts';
import { FakeLive } from '../../support/fakeLive.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };
const tokenOf = (sub: string, exp = Date.now() / 1000 + 3_600) =>
  `h.${Buffer.from(JSON.stringify({ sub, exp })).toString('base64url')}.s`;

let service: FakeLive;
let opened: LiveDocument[];
beforeEach(() => {
  jest.useFakeTimers({ now: 1_800_000_000_000 });
  service = new FakeLive();
  opened = [];
});
afterEach(async () => {
  const closing = Promise.all(opened.map((live) => live.close()));
  await jest.advanceTimersByTimeAsync(1_000);
  await closing;
  jest.useRealTimers();
});

function clientOf(userId: string, token = async () => tokenOf(userId)): UserClient {
  return createUserClient({ baseUrl: 'https://api.test', token, fetch: service.fetch, WebSocket: service.WebSocket });
}

/** Opens the document and records everything that the client shows. */
function open(userId = 'ada', client = clientOf(userId)) {
  const live = client.live(nda);
  opened.push(live);
  const events: string[] = [];
  live.on('status', (status) => events.push(status));
  live.on('reload', () => events.push('reload'));
  live.on('hint', ({ type }) => events.push(type));
  return { live, events };
}
const wait = (milliseconds = 100) => jest.advanceTimersByTimeAsync(milliseconds);
const longWait = () => wait(90_000);

describe('a live document', () => {
  test('connects, asks the application to read the content once, and then shows hints', async () => {
    service.hint({ type: 'comment.add', ids: { commentId: 1 } });
    const { live, events } = open();
    await wait();
    expect(events).toEqual(['reload', 'live']);
    service.hint({ type: 'comment.update', ids: { commentId: 1 } });
    service.hint({ type: 'comment_annotation.update' });
    expect(events.slice(2)).toEqual(['comment.update', 'comment_annotation.update']);
    expect(live.status).toBe('live');
  });

  test('reads events as one text, and as the list with one text that AWS documents', async () => {
    const { events } = open();
    await wait();
    for (const sendsLists of [false, true]) {
      service.sendsLists = sendsLists;
      service.hint({ type: `a.${sendsLists}` });
    }
    expect(events.slice(2)).toEqual(['a.false', 'a.true']);
  });

  test('reports a hint by its family', async () => {
    const { live } = open();
    const comments: string[] = [];
    const off = live.on('comment', ({ type }) => comments.push(type));
    await wait();
    for (const type of ['comment.add', 'reaction.add', 'comment_annotation.add']) service.hint({ type });
    off();
    service.hint({ type: 'comment.add' });
    expect(comments).toEqual(['comment.add', 'comment_annotation.add']);
  });

  test('reports a thread that the user can no longer see, and no thread of another document', async () => {
    const { live, events } = open();
    const comments: object[] = [];
    live.on('comment', ({ type, ids }) => comments.push({ type, ids }));
    await wait();
    const hidden = { annotationId: 'a', documentId: 'nda' };
    service.push(service.channels.user, { type: 'comment_annotation.hide', at: 1, ids: hidden });
    service.push(service.channels.user, { type: 'comment.add', at: 2, ids: { ...hidden, documentId: 'other' } });
    service.push(service.channels.user, { type: 'notification.add', at: 3, ids: { documentId: 'other' } });
    expect(comments).toEqual([{ type: 'comment_annotation.hide', ids: hidden }]);
    expect(events.slice(2)).toEqual(['comment_annotation.hide', 'notification.add']);
  });

  test('shows the missed changes after a disconnection, once and in order, without a reload', async () => {
    const { events } = open();
    await wait();
    service.hint({ type: 'a.1' });
    service.disconnect();
    service.hint({ type: 'a.2' });
    service.hint({ type: 'a.3' });
    await longWait();
    service.hint({ type: 'a.4' });
    expect(events.slice(2)).toEqual(['a.1', 'offline', 'connecting', 'a.2', 'a.3', 'live', 'a.4']);
  });

  test('fills a gap of lost pushes before it shows the next hint', async () => {
    const { events } = open();
    await wait();
    service.losesPushes = true;
    service.hint({ type: 'a.1' });
    service.losesPushes = false;
    service.hint({ type: 'a.2' });
    expect(events.slice(2)).toEqual([]);
    await wait();
    expect(events.slice(2)).toEqual(['a.1', 'a.2']);
  });

  test('asks for a reload when the log no longer has the missed changes', async () => {
    const { events } = open();
    await wait();
    service.disconnect();
    for (let n = 0; n < 5; n++) service.hint({ type: 'a.1' });
    service.oldest = 4;
    await longWait();
    service.hint({ type: 'a.2' });
    expect(events.slice(2)).toEqual(['offline', 'connecting', 'reload', 'live', 'a.2']);
  });

  test('ends its connection when the browser goes offline, and connects when it is online again', async () => {
    const browser = new EventTarget();
    Object.assign(globalThis, {
      addEventListener: browser.addEventListener.bind(browser),
      removeEventListener: browser.removeEventListener.bind(browser),
    });
    try {
      const { live, events } = open();
      await wait();
      service.isDown = true;
      browser.dispatchEvent(new Event('offline'));
      await wait();
      expect(events.slice(2)).toEqual(['offline']);
      await wait(30_000);
      service.isDown = false;
      browser.dispatchEvent(new Event('online'));
      await wait(10_000);
      expect(live.status).toBe('live');
    } finally {
      Reflect.deleteProperty(globalThis, 'addEventListener');
      Reflect.deleteProperty(globalThis, 'removeEventListener');
    }
  });

  test('reconnects with growing pauses while the service is down', async () => {
    service.isDown = true;
    const { live, events } = open();
    await wait(600_000);
    expect(live.status).not.toBe('live');
    // Each connection sends its first call up to four times.
    expect(events.filter((status) => status === 'connecting').length).toBeLessThan(60);
    service.isDown = false;
    await longWait();
    expect(live.status).toBe('live');
  });

  test('connects to the new channels after a revocation, if the user still has access', async () => {
    const { live, events } = open();
    await wait();
    service.revoke();
    await longWait();
    service.hint({ type: 'a.1' });
    expect([live.status, events.at(-1)]).toEqual(['live', 'a.1']);
  });

  test('ends when the user may no longer open the document', async () => {
    const { live, events } = open();
    await wait();
    service.isDenied = true;
    service.revoke();
    await longWait();
    expect([live.status, events.at(-1)]).toEqual(['denied', 'denied']);
    const calls = service.calls.length;
    await wait(600_000);
    expect(service.calls.length).toBe(calls);
  });

  test('renews the token of the connection before it expires, without a new connection', async () => {
    const { events } = open();
    await wait();
    await wait(40 * 60_000);
    const connects = service.calls.filter(({ path }) => path === '/v2/live/connect');
    expect(connects).toHaveLength(3);
    expect(events).toEqual(['reload', 'live']);
  });

  test('ends a connection that stays silent', async () => {
    const { events } = open();
    await wait();
    service.isSilent = true;
    await wait(301_000);
    expect(events.slice(2, 4)).toEqual(['offline', 'connecting']);
  });

  test('is shared by all calls for one document and closes with the last one', async () => {
    const client = clientOf('ada');
    const [first, second] = [client.live(nda), client.live(nda)];
    expect(first).toBe(second);
    await wait();
    expect(service.sockets.size).toBe(1);
    await first.close();
    expect(service.sockets.size).toBe(1);
    await second.close();
    expect(service.sockets.size).toBe(0);
    const third = client.live(nda);
    opened.push(third);
    expect(third).not.toBe(first);
    await wait();
  });
});

describe('presence', () => {
  test('is shown to other users, and ends when the document is closed', async () => {
    const [ada, grace] = [open('ada'), open('grace')];
    await wait();
    ada.live.presence.set({ name: 'Ada' });
    await wait();
    expect(grace.live.presence.users()).toMatchObject([{ userId: 'ada', status: 'online' }]);
    const closing = ada.live.close();
    await wait();
    await closing;
    expect(grace.live.presence.users()).toEqual([]);
  });

  test('is renewed well before its lease of 30 s ends, and again after a disconnection', async () => {
    const { live } = open();
    await wait();
    live.presence.set();
    const count = () => service.calls.filter(({ path }) => path === '/v2/presence/add').length;
    await wait(60_000);
    expect(count()).toBeGreaterThanOrEqual(6);
    service.disconnect();
    service.users.clear();
    await longWait();
    expect([...service.users.keys()]).toEqual(['ada']);
  });

  test('is sent again when another tab of the user ended it', async () => {
    const { live } = open();
    await wait();
    live.presence.set();
    await wait();
    service.users.clear();
    service.push(service.channels.document, { type: 'presence.remove', at: Date.now() + 1, userId: 'ada' });
    await wait(2_000);
    expect([...service.users.keys()]).toEqual(['ada']);
  });
});

describe('live state', () => {
  test('is shown to other users at once and read after a disconnection, and no older state replaces it', async () => {
    const [ada, grace] = [open('ada'), open('grace')];
    const seen: unknown[] = [];
    grace.live.on('livestate', ({ data }) => seen.push(data));
    await wait();
    const sending = ada.live.broadcast('clause', { n: 1 });
    await wait();
    await sending;
    service.push(service.channels.document, {
      type: 'livestate.update',
      liveStateDataId: 'clause',
      data: { n: 0 },
      at: 1,
    });
    expect(grace.live.state('clause')?.data).toEqual({ n: 1 });
    service.disconnect();
    service.states.set('clause', { liveStateDataId: 'clause', data: { n: 2 }, at: Date.now() });
    await longWait();
    expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

describe('the token of a user', () => {
  test('is requested once more when a call is denied', async () => {
    let tokens = 0;
    const client = clientOf('ada', async () => tokenOf(`user-${++tokens}`));
    service.isDenied = true;
    const call = (client as any).v2.crdt.updates.get({ ...nda, editorId: 'a' }) as Promise<unknown>;
    const outcome = expect(call).rejects.toMatchObject({ status: 'PERMISSION_DENIED' });
    await wait();
    await outcome;
    expect(tokens).toBe(2);
  });

  test('is kept until a minute before it expires', async () => {
    let tokens = 0;
    const client = clientOf('ada', async () => {
      tokens += 1;
      return tokenOf('ada', Date.now() / 1000 + 600);
    });
    const read = async () => {
      const call = (client as any).v2.crdt.updates.get({ ...nda, editorId: 'a' }) as Promise<unknown>;
      await wait();
      await call;
    };
    await read();
    await wait(500_000);
    await read();
    expect(tokens).toBe(1);
    await wait(60_000);
    await read();
    expect(tokens).toBe(2);
  });
});
