import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { LiveDocument } from '../../../lib/client/liveDocument.ts';
import { clientOf, FakeLive, inBrowser } from '../../support/fakeLive.ts';
import { times } from '../../support/times.ts';

const nda = { organizationId: 'acme', documentId: 'nda' };
const tokenOf = (sub: string, exp = Date.now() / 1000 + 3_600) =>
  `h.${Buffer.from(JSON.stringify({ sub, exp })).toString('base64url')}.s`;

let service: FakeLive;
let documents: LiveDocument[];
beforeEach(() => {
  jest.useFakeTimers({ now: 1_800_000_000_000 });
  service = new FakeLive();
  documents = [];
});
afterEach(async () => {
  const closing = Promise.all(documents.map((live) => live.close()));
  await jest.advanceTimersByTimeAsync(1_000);
  await closing;
  jest.useRealTimers();
});

const clientOfUser = (userId: string, token = async () => tokenOf(userId)) => clientOf(service, token);

/** Opens the document and records all events of the client. */
function open(userId = 'ada', client = clientOfUser(userId)) {
  const live = client.live(nda);
  documents.push(live);
  const events: string[] = [];
  live.on('status', (status) => events.push(status));
  live.on('reload', () => events.push('reload'));
  live.on('hint', ({ type }) => events.push(type));
  return { live, events };
}
/** Opens the document and waits until it is live. */
async function opened(...args: Parameters<typeof open>): Promise<ReturnType<typeof open>> {
  const document = open(...args);
  await wait();
  return document;
}
/** Loses this hint, and shows the gap by the next one. */
function losePush(type: string): void {
  service.losesPushes = true;
  service.hint({ type });
  service.losesPushes = false;
}
function goDown(): void {
  service.isDown = true;
  service.disconnect();
}
/** Waits for the end of a call while time passes. */
async function ended(call: Promise<unknown>, milliseconds?: number): Promise<void> {
  await wait(milliseconds);
  await call;
}
const graceNow = () => ({
  userId: 'grace',
  status: 'online',
  changedAt: Date.now(),
  leaseEndsAt: Date.now() + 60_000,
});
const callsOf = (path: string) => service.calls.filter((call) => call.path === path);
const wait = (milliseconds = 100) => jest.advanceTimersByTimeAsync(milliseconds);
const longWait = () => wait(90_000);

describe('a live document', () => {
  test('connects, asks the application to read the content once, and then shows hints', async () => {
    service.hint({ type: 'comment.add', ids: { commentId: 1 } });
    const { live, events } = await opened();
    expect(events).toEqual(['reload', 'live']);
    service.hint({ type: 'comment.update', ids: { commentId: 1 } });
    service.hint({ type: 'comment_annotation.update' });
    expect(events.slice(2)).toEqual(['comment.update', 'comment_annotation.update']);
    expect(live.status).toBe('live');
  });

  test('counts the version of an empty hint among missed changes, and does not show the hint', async () => {
    const { events } = await opened();
    goDown();
    service.hint({ type: 'hidden' });
    service.hint({ type: 'comment.add' });
    service.isDown = false;
    await wait(60_000);
    service.hint({ type: 'comment.update' });
    expect(events.filter((event) => /hid|comment|reload/.test(event))).toEqual([
      'reload',
      'comment.add',
      'comment.update',
    ]);
  });

  test('reports threads that are seen within a moment in one request of at most 30', async () => {
    const VIEWS = '/v2/commentannotations/views/add';
    const idsSent = () => callsOf(VIEWS).map(({ data }) => data.annotationIds);
    const { live } = await opened();
    const ids = times(30, (index) => `t${index}`);
    const seen = ['hidden', ...ids, 't29'].map((id) => live.thread(id).seen());
    await wait(50);
    expect(idsSent()).toEqual([['hidden', ...ids.slice(0, 29)]]);
    await wait();
    expect(idsSent().slice(1)).toEqual([['t29']]);
    expect(callsOf(VIEWS)[0]!.data).toMatchObject({ ...nda, userId: 'ada' });
    expect((await Promise.all(seen)).map(({ success }) => success)).toEqual([false, ...times(31, () => true)]);
    service.refusals.set(VIEWS, 'NOT_FOUND');
    const refused = expect(live.thread('t').seen()).rejects.toMatchObject({ status: 'NOT_FOUND' });
    await wait(200);
    await refused;
    service.refusals.clear();
    const last = live.thread('t').seen();
    await ended(live.close());
    expect(await last).toEqual({ success: true });
  });

  test('accepts an event as one text, and as a list with one text', async () => {
    const { events } = await opened();
    for (const sendsLists of [false, true]) {
      service.sendsLists = sendsLists;
      service.hint({ type: `a.${sendsLists}` });
    }
    expect(events.slice(2)).toEqual(['a.false', 'a.true']);
  });

  test('passes to a listener only the hints of its family', async () => {
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

  test('asks the application to read the content again after the access of the user changed', async () => {
    const { events } = await opened();
    service.push(service.channels.user, { type: 'access.update', at: 1, ids: {} });
    await wait(10_900);
    service.push(service.channels.user, { type: 'access.update', at: 2, ids: {} });
    await wait(10_900);
    expect(events.slice(2)).toEqual(['access.update', 'access.update']);
    await wait();
    expect(events.slice(4)).toEqual(['reload']);
  });

  test('reads the missed changes after a reconnect, also if an earlier read is still running', async () => {
    const { live } = await opened();
    // The answers to the next three calls, which read a gap, take 10 s.
    let trips = 0;
    service.latency = () => (++trips > 3 && trips <= 6 ? 10_000 : 5);
    losePush('a.1');
    service.hint({ type: 'a.2' });
    await wait();
    service.disconnect();
    const grace = graceNow();
    service.users.set('grace', grace);
    await wait(12_000);
    expect([live.status, live.presence.users()]).toEqual(['live', [grace]]);
  });

  test('stays connected if a read fails that an earlier connection started', async () => {
    const { live, events } = await opened();
    service.latency = () => 20_000;
    service.refusals.set('/v2/presence/get', 'NOT_FOUND');
    losePush('comment.add');
    service.hint({ type: 'comment.update' });
    await wait(1);
    service.latency = () => 5;
    service.disconnect();
    await wait(20_001);
    service.refusals.clear();
    await wait(5_000);
    expect(live.status).toBe('live');
    expect(events.filter((event) => event === 'offline')).toHaveLength(1);
  });

  test('asks for a reload when the log no longer has the missed changes', async () => {
    const { events } = await opened();
    service.disconnect();
    for (let n = 0; n < 5; n++) service.hint({ type: 'a.1' });
    service.oldest = 4;
    await longWait();
    service.hint({ type: 'a.2' });
    expect(events.slice(2)).toEqual(['offline', 'connecting', 'reload', 'live', 'a.2']);
  });

  test('reads the newest version and not the whole log, at the start and before a reload', async () => {
    const calls = () => callsOf('/v2/live/changes').length;
    const fillLog = () => times(5_000, () => service.hint({ type: 'comment.add', ids: {} }));
    fillLog();
    const { events } = await opened();
    expect([calls(), events]).toEqual([1, ['reload', 'live']]);
    service.disconnect();
    fillLog();
    service.oldest = service.log.length - 4_000;
    await longWait();
    expect([calls(), events.slice(2)]).toEqual([3, ['offline', 'connecting', 'reload', 'live']]);
    service.hint({ type: 'comment.update', ids: {} });
    await wait();
    expect(events.at(-1)).toBe('comment.update');
  });

  test('shows no user and no live state of a deleted document when it asks for a reload of the one added again', async () => {
    const { live } = open();
    const seen: unknown[] = [];
    const see = () => seen.push([live.state('old')?.data, live.state('kept')?.data, live.presence.users().length]);
    live.on('reload', see);
    await wait();
    for (const id of ['old', 'kept']) await ended(live.broadcast(id, { id }));
    const grace = graceNow();
    service.push(service.channels.document, { type: 'presence.update', at: Date.now(), user: grace });
    see();
    service.disconnect();
    service.states.delete('old');
    service.hint({ type: 'a.1' });
    service.oldest = 2;
    await longWait();
    expect(seen.slice(1)).toEqual([
      [{ id: 'old' }, { id: 'kept' }, 1],
      [undefined, { id: 'kept' }, 0],
    ]);
  });

  test.each([
    ['drops', 'with', 2],
    ['keeps', 'without', 1],
  ])(
    '%s its live states after a read %s a gap if a page token is refused, because the document was added again',
    async (verb, _, oldest) => {
      const { live } = await opened();
      await ended(live.broadcast('clause', { n: 4 }));
      service.disconnect();
      service.refusals.set('/v2/livestate/get', 'INVALID_ARGUMENT');
      service.hint({ type: 'a.1' });
      service.oldest = oldest;
      await longWait();
      expect(live.state('clause')?.data).toEqual(verb === 'keeps' ? { n: 4 } : undefined);
    },
  );

  test('has the live states of all pages', async () => {
    service.statesPerPage = 2;
    for (const liveStateDataId of ['a', 'b', 'c', 'd', 'e'])
      service.states.set(liveStateDataId, { liveStateDataId, data: {}, at: Date.now() });
    const { live } = await opened();
    expect(['a', 'b', 'c', 'd', 'e'].filter((id) => live.state(id) === undefined)).toEqual([]);
  });

  test('asks for a reload after the next connect if the read of the users fails', async () => {
    const { live, events } = await opened();
    service.disconnect();
    service.hint({ type: 'a.1' });
    service.oldest = 2;
    service.refusals.set('/v2/presence/get', 'UNAVAILABLE');
    await longWait();
    expect(live.status).not.toBe('live');
    service.refusals.clear();
    await longWait();
    expect(events.slice(-2)).toEqual(['reload', 'live']);
  });

  test('asks for a reload after more than two hours, because hints of the user have expired', async () => {
    const { events } = await opened();
    goDown();
    await wait(2 * 60 * 60_000 + 60_000);
    service.isDown = false;
    await longWait();
    expect(events.slice(-3)).toEqual(['connecting', 'reload', 'live']);
  });

  test('asks for one reload if an answer cannot have all missed hints of the user', async () => {
    const { events } = await opened();
    service.disconnect();
    for (let n = 0; n < 501; n++) service.hintForUser({ type: `user.${n}` });
    await longWait();
    expect(events.at(-2)).toBe('reload');
    service.hintForUser({ type: 'user.501' });
    await wait(400_000);
    expect(events.filter((each) => each === 'reload')).toHaveLength(2);
    expect(events.at(-1)).toBe('user.501');
  });

  test('ends its connection when the browser goes offline, and connects when it is online again', async () => {
    await inBrowser(async (window) => {
      const { live, events } = await opened();
      service.isDown = true;
      window.dispatchEvent(new Event('offline'));
      await wait();
      expect(events[2]).toBe('offline');
      await wait(30_000);
      service.isDown = false;
      window.dispatchEvent(new Event('online'));
      await wait(10_000);
      expect(live.status).toBe('live');
    });
  });

  test('stays closed when it is closed at any moment of its start', async () => {
    for (let milliseconds = 0; milliseconds < 50; milliseconds++) {
      const live = clientOfUser('ada').live(nda);
      await wait(milliseconds);
      await ended(live.close(), 10_000);
      expect([milliseconds, live.status, service.sockets.size]).toEqual([milliseconds, 'closed', 0]);
    }
  });

  describe('while the service is down', () => {
    test.each([
      ['double up to 30 s', 0.999_999, [1, 2, 4, 8, 16, 30, 30, 30]],
      ['are random, so that clients do not connect at the same time', 0.1, [0.1, 0.2, 0.4, 0.8, 1.6, 3, 3, 3]],
    ])('connects after pauses that %s', async (_what, random, seconds) => {
      const mock = jest.spyOn(Math, 'random').mockReturnValue(random);
      try {
        const { live } = open();
        const pauses: number[] = [];
        let offlineAt = 0;
        live.on('status', (status) => {
          if (status === 'offline') offlineAt = Date.now();
          else if (status === 'connecting') pauses.push((Date.now() - offlineAt) / 1_000);
        });
        await wait();
        goDown();
        await wait(300_000);
        service.isDown = false;
        await longWait();
        expect(live.status).toBe('live');
        expect(pauses.slice(0, 8)).toEqual(seconds.map((pause) => expect.closeTo(pause, 2)));
        expect(Math.max(...pauses)).toBeLessThanOrEqual(30);
      } finally {
        mock.mockRestore();
      }
    });
  });

  test('reads all missed changes with one call after an outage of ten minutes, without a reload', async () => {
    const { events } = await opened();
    const expected: string[] = [];
    const publish = (hint: () => void, type: string) => {
      hint();
      expected.push(type);
    };
    for (let n = 0; n < 5; n++) publish(() => service.hint({ type: `a.${n}` }), `a.${n}`);
    goDown();
    for (let minute = 0; minute < 10; minute++) {
      publish(() => service.hint({ type: `b.${minute}` }), `b.${minute}`);
      await wait(60_000);
    }
    const reads = callsOf('/v2/live/changes').length;
    service.isDown = false;
    await wait(40_000);
    publish(() => service.hint({ type: 'c.1' }), 'c.1');
    expect(events.slice(2).filter((each) => /^[a-z]\.\d+$/.test(each))).toEqual(expected);
    expect(events.filter((each) => each === 'reload')).toHaveLength(1);
    expect(callsOf('/v2/live/changes').slice(reads)).toMatchObject([{ data: { ...nda, after: 5 } }]);
  });

  test('connects to the new channels after a revocation, if the user still has access', async () => {
    const { live, events } = await opened();
    service.revoke();
    await longWait();
    service.hint({ type: 'a.1' });
    expect([live.status, events.at(-1)]).toEqual(['live', 'a.1']);
  });

  test('stays open when another user publishes system.revoked to the awareness channel', async () => {
    const { live, events } = open();
    const published: object[] = [];
    live.on('awareness', (event) => published.push(event));
    await wait();
    for (const type of ['system.revoked', 'cursor']) service.push(service.channels.awareness, { type });
    await wait();
    expect(events).toEqual(['reload', 'live']);
    expect(published).toEqual([{ type: 'cursor' }]);
  });

  test.each([
    ['ends', 'contract', 'migrated', [{ newDocumentId: 'contract' }]],
    ['connects again, if it has the new id already,', nda.documentId, 'live', []],
  ])('%s when the document gets another id', async (_behaviour, newDocumentId, status, expected) => {
    const { live } = open();
    const migrated: object[] = [];
    live.on('migrated', (event) => migrated.push(event));
    await wait();
    service.push(service.channels.document, { type: 'system.migrated', newDocumentId });
    await longWait();
    expect([live.status, migrated]).toEqual([status, expected]);
  });

  test('ends when the user may no longer open the document', async () => {
    const { live, events } = await opened();
    service.isDenied = true;
    service.revoke();
    await longWait();
    expect([live.status, events.at(-1)]).toEqual(['denied', 'denied']);
    const calls = service.calls.length;
    await wait(600_000);
    expect(service.calls.length).toBe(calls);
  });

  test('is opened again by a later call while another use of the ended connection is open', async () => {
    const client = clientOfUser('ada');
    const { live: denied } = open('ada', client);
    service.isDenied = true;
    await wait();
    expect(denied.status).toBe('denied');
    service.isDenied = false;
    const { live } = await opened('ada', client);
    expect(live.status).toBe('live');
    await denied.close();
    expect(client.live(nda)).toBe(live);
    await live.close();
    expect(live.status).toBe('live');
  });

  test.each([
    ['is right', 0, 3],
    ['is an hour slow', 60, 3],
    ['is an hour fast', -60, 40],
  ])(
    'renews the token of the connection in time when the clock %s, without a new connection',
    async (_, lead, count) => {
      service.clockLead = lead * 60_000;
      const { events } = await opened();
      await wait(40 * 60_000);
      expect(callsOf('/v2/live/connect')).toHaveLength(count);
      expect(events).toEqual(['reload', 'live']);
    },
  );

  test('ends a connection that stays silent', async () => {
    const { events } = await opened();
    service.isSilent = true;
    await wait(301_000);
    expect(events.slice(2, 4)).toEqual(['offline', 'connecting']);
  });

  test('ends its connection at once when it is closed, before the service answers that the presence has ended', async () => {
    const { live, events } = open();
    live.presence.set();
    await wait();
    service.latency = () => 5_000;
    const closing = live.close();
    expect([live.status, service.sockets.size, events.at(-1)]).toEqual(['closed', 0, 'closed']);
    await wait(20_000);
    await closing;
    expect(service.users.size).toBe(0);
  });

  test('is shared by all calls for one document and closes with the last one', async () => {
    const client = clientOfUser('ada');
    const [first, second] = [client.live(nda), client.live(nda)];
    expect(first).toBe(second);
    await wait();
    expect(service.sockets.size).toBe(1);
    await first.close();
    expect(service.sockets.size).toBe(1);
    await second.close();
    expect(service.sockets.size).toBe(0);
    const third = client.live(nda);
    documents.push(third);
    expect(third).not.toBe(first);
    await wait();
  });

  test('sends reload, presence and live states to a listener that is added to an open connection', async () => {
    const client = clientOfUser('ada');
    const { live, events } = open('ada', client);
    live.presence.set();
    await wait();
    await ended(live.broadcast('clause', { n: 1 }));
    const second = client.live(nda);
    documents.push(second);
    const seen: unknown[] = [];
    second.on('reload', () => seen.push('reload'));
    second.on('presence', (users) => seen.push(users.map(({ userId }) => userId)));
    second.on('livestate', ({ data }) => seen.push(data));
    second.on('reload', () => seen.push('removed'))();
    await wait();
    expect(seen).toEqual(['reload', ['ada'], { n: 1 }]);
    expect(events).toEqual(['reload', 'live']);
  });
});

describe('presence', () => {
  test('lists the users in the order of their ids', async () => {
    const { live } = await opened();
    for (const userId of ['grace', 'ada', 'lin'])
      service.push(service.channels.document, {
        type: 'presence.update',
        at: 1,
        user: { userId, status: 'online', leaseEndsAt: 2, changedAt: 1 },
      });
    expect(live.presence.users().map(({ userId }) => userId)).toEqual(['ada', 'grace', 'lin']);
  });

  test('ends when the user leaves while a renewal is on its way', async () => {
    const { live } = await opened();
    service.latency = () => 50;
    live.presence.set();
    await wait(10);
    service.latency = () => 5;
    await ended(live.presence.leave(), 1_000);
    expect([...service.users.keys()]).toEqual([]);
  });

  test('stays when the application shows the user again before a renewal is answered', async () => {
    const { live } = await opened();
    live.presence.set();
    const leaving = live.presence.leave();
    live.presence.set();
    await wait(1_000);
    await leaving;
    expect([...service.users.keys()]).toEqual(['ada']);
    expect(callsOf('/v2/presence/delete')).toEqual([]);
  });

  test('is sent again if a renewal with an older status reaches the service after a newer one', async () => {
    const { live } = await opened();
    service.latency = () => 300;
    live.presence.set({ status: 'online' });
    await wait(10);
    service.latency = () => 5;
    live.presence.set({ status: 'away' });
    await wait(1_000);
    expect(callsOf('/v2/presence/add').map(({ data }) => data.users[0].status)).toEqual(['away', 'online', 'away']);
    expect(service.users.get('ada')?.status).toBe('away');
  });

  test('is renewed well before its lease of 30 s ends, and again after a disconnection', async () => {
    const { live } = await opened();
    live.presence.set();
    const count = () => service.calls.filter(({ path }) => path === '/v2/presence/add').length;
    await wait(60_000);
    expect(count()).toBeGreaterThanOrEqual(6);
    service.disconnect();
    service.users.clear();
    await longWait();
    expect([...service.users.keys()]).toEqual(['ada']);
  });

  test('is away in a hidden tab, with a lease of two minutes, because browsers slow the timers of the tab down', async () => {
    const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
    Object.assign(globalThis, { document: page });
    try {
      const { live } = await opened();
      live.presence.set();
      for (const visibilityState of ['hidden', 'visible']) {
        await wait(1_000);
        page.visibilityState = visibilityState;
        page.dispatchEvent(new Event('visibilitychange'));
      }
      await wait();
      const sent = callsOf('/v2/presence/add').map(({ data: { users } }) => users[0]);
      expect(sent).toEqual([
        { userId: 'ada', status: 'online', leaseSeconds: 30 },
        { userId: 'ada', status: 'away', leaseSeconds: 120 },
        { userId: 'ada', status: 'online', leaseSeconds: 30 },
      ]);
    } finally {
      Reflect.deleteProperty(globalThis, 'document');
    }
  });

  test('stays online while one of two tabs is away', async () => {
    const [first, second, grace] = [open(), open(), open('grace')];
    await wait();
    first.live.presence.set({ status: 'online' });
    await wait();
    second.live.presence.set({ status: 'away' });
    await wait(2_000);
    const seen: string[] = [];
    grace.live.on('presence', (users) => seen.push(users.map(({ status }) => status).join()));
    await wait(60_000);
    expect(new Set(seen)).toEqual(new Set(['online']));
    await ended(first.live.close(), 2_000);
    expect(grace.live.presence.users()).toMatchObject([{ userId: 'ada', status: 'away' }]);
    seen.length = 0;
    await wait(60_000);
    expect(new Set(seen)).toEqual(new Set(['away']));
  });

  test('ends at once when the user leaves the page, with a keepalive call, unless the page did not show the user', async () => {
    await inBrowser(async (window) => {
      await opened('grace');
      const { live } = await opened();
      live.presence.set();
      await wait();
      window.dispatchEvent(new Event('pagehide'));
      await wait(60_000);
      expect(callsOf('/v2/presence/delete')).toMatchObject([{ data: { userIds: ['ada'] }, keepalive: true }]);
      expect([...service.users.keys()]).toEqual([]);
      // For example, the user goes back to the page, and the browser shows it from its cache.
      window.dispatchEvent(new Event('pageshow'));
      await wait();
      expect([...service.users.keys()]).toEqual(['ada']);
      expect(callsOf('/v2/presence/add').every(({ keepalive }) => !keepalive)).toBe(true);
    });
  });

  test('is sent again when another tab of the user ended it', async () => {
    const { live } = await opened();
    live.presence.set();
    await wait();
    service.users.clear();
    service.push(service.channels.document, { type: 'presence.remove', at: Date.now() + 1, userId: 'ada' });
    await wait(2_000);
    expect([...service.users.keys()]).toEqual(['ada']);
  });
});

test('a live state is shown to other users at once and read after a disconnection, and no older one replaces it', async () => {
  const [ada, grace] = [open('ada'), open('grace')];
  const seen: unknown[] = [];
  grace.live.on('livestate', ({ data }) => seen.push(data));
  await wait();
  await ended(ada.live.broadcast('clause', { n: 1 }));
  const state = { liveStateDataId: 'clause', data: { n: 2 }, at: Date.now() };
  service.push(service.channels.document, { type: 'livestate.update', ...state, at: 1 });
  service.disconnect();
  service.states.set('clause', state);
  await longWait();
  expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
});

describe('the token of a user', () => {
  test('is requested once more when several calls are denied together', async () => {
    let tokens = 0;
    const client = clientOfUser('ada', async () => tokenOf(`user-${++tokens}`));
    service.isDenied = true;
    let delay = 0;
    service.latency = () => (delay += 7);
    const calls = times(5, (n) => client.v2.crdt.updates.get({ ...nda, editorId: `${n}` }));
    const outcomes = Promise.allSettled(calls);
    await wait(1_000);
    expect((await outcomes).map(({ status }) => status)).toEqual(times(5, () => 'rejected'));
    expect(tokens).toBe(2);
  });

  test('is kept until a minute before it expires', async () => {
    let tokens = 0;
    const client = clientOfUser('ada', async () => {
      tokens += 1;
      return tokenOf('ada', Date.now() / 1000 + 600);
    });
    const read = () => ended(client.v2.crdt.updates.get({ ...nda, editorId: 'a' }));
    await read();
    await wait(500_000);
    await read();
    expect(tokens).toBe(1);
    await wait(60_000);
    await read();
    expect(tokens).toBe(2);
  });
});

type Step =
  | { readonly kind: 'hint' | 'hint of the user' | 'broadcast' | 'disconnect' }
  | { readonly kind: 'lose pushes' | 'deliver pushes' | 'lose answers' | 'answer' | 'silence' | 'sound' }
  | { readonly kind: 'outage'; readonly milliseconds: number; readonly hints: number }
  | { readonly kind: 'wait'; readonly milliseconds: number };

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('hint', 'hint of the user', 'broadcast') }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constantFrom(
          ...(['disconnect', 'lose pushes', 'deliver pushes', 'lose answers', 'answer', 'silence', 'sound'] as const),
        ),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('outage' as const),
        milliseconds: fc.integer({ min: 1_000, max: 600_000 }),
        hints: fc.nat({ max: 5 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.integer({ min: 1, max: 5_000 }) }),
    },
  ),
  { maxLength: 40 },
) as fc.Arbitrary<Step[]>;

test('shows every hint once, in order, and no older state after random outages and lost messages', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.infiniteStream(fc.integer({ min: 1, max: 300 })), async (all, latencies) => {
      service = new FakeLive();
      const client = clientOfUser('ada');
      const { live, events } = open('ada', client);
      const states: number[] = [];
      live.on('livestate', ({ at }) => states.push(at));
      await wait();
      service.latency = () => latencies.next().value as number;
      let count = 0;
      for (const step of all) await run(step, () => ++count);
      Object.assign(service, { isDown: false, losesPushes: false, isSilent: false, crash: () => false });
      // The client reads every two minutes or so. That read notices a lost push if no later push shows the gap.
      await wait(400_000);
      const hints = events.filter((each) => each.startsWith('document.') || each.startsWith('user.'));
      const ofDocument = hints.filter((each) => each.startsWith('document.'));
      expect(ofDocument).toEqual(service.log.map(({ type }) => type as string));
      expect(hints.filter((each) => each.startsWith('user.')).sort()).toEqual(
        service.userLog.map(({ type }) => type as string).sort(),
      );
      expect(events.filter((each) => each === 'reload')).toHaveLength(1);
      expect(states).toEqual([...new Set(states)].sort((a, b) => a - b));
      expect(live.state('clause')).toEqual(service.states.get('clause'));
      expect(live.status).toBe('live');
      await ended(live.close(), 1_000);
    }),
    { numRuns: 60, seed: 20_261_123 },
  );
}, 120_000);

async function run(step: Step, nextNumber: () => number): Promise<void> {
  switch (step.kind) {
    case 'hint':
      return void service.hint({ type: `document.${nextNumber()}` });
    case 'hint of the user':
      return void service.hintForUser({ type: `user.${nextNumber()}` });
    case 'broadcast': {
      const state = { liveStateDataId: 'clause', data: { n: nextNumber() }, at: Date.now() };
      service.states.set('clause', state);
      // The service gives every broadcast of an id another time.
      service.push(service.channels.document, { type: 'livestate.update', ...state });
      return void (await wait(1));
    }
    case 'outage':
      goDown();
      for (let n = 0; n < step.hints; n++) service.hint({ type: `document.${nextNumber()}` });
      await wait(step.milliseconds);
      service.isDown = false;
      return;
    case 'wait':
      return void (await wait(step.milliseconds));
    case 'disconnect':
      return void service.disconnect();
    case 'lose answers': {
      let number = 0;
      service.crash = () => number++ % 2 === 0;
      return;
    }
    case 'answer':
      service.crash = () => false;
      return;
    case 'lose pushes':
    case 'deliver pushes':
      service.losesPushes = step.kind === 'lose pushes';
      return;
    case 'silence':
    case 'sound':
      service.isSilent = step.kind === 'silence';
  }
}
