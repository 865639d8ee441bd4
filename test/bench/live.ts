/**
 * Measures the push service of `npm start`. Takes less than three minutes.
 *
 * - the time from a keystroke until another client shows it
 * - the time from a call's answer to the hint about its change
 * - 1,000 connections
 */
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket, WebSocketServer } from 'ws';
import * as Y from 'yjs';
import { registeredEndpoints } from '../../infra/build/registry.ts';
import { totalOf } from '../../infra/commands/cost/idle.ts';
import { liveBill, workday } from '../../infra/commands/cost/live.ts';
import { costsOfCalls } from '../../infra/cost/calls.ts';
import { EditorProvider } from '../../lib/client/editorProvider.ts';
import { EventSocket, type SocketConstructor } from '../../lib/client/eventSocket.ts';
import { createUserClient } from '../../lib/client/userClient.ts';
import { startSystem, temporaryDir } from '../e2e/system.ts';
import { slowdownNow } from '../support/cpu.ts';
import { times } from '../support/times.ts';
import { callEngine, engineOf } from './engine.ts';
import { cpuTime, memoryBytes } from './processUsage.ts';
import { printTable, quantile, quantiles, ratio, reached, type Row } from './report.ts';

const organizationId = 'bench';
const KEYSTROKES = 80;
const WARM_UP = 10;
const COMMENTS = 50;
const CONNECTIONS = Number(process.env.CONNECTIONS ?? 1_000);
const DOCUMENTS = Number(process.env.DOCUMENTS ?? 50);
const USERS = CONNECTIONS / DOCUMENTS;
const EDITS_PER_SECOND = 5;
const SECONDS = Number(process.env.SECONDS ?? 30);
const CONNECTED_AT_ONCE = 16;
/** The maximum time after the last edit until all clients have the same content. */
const PATIENCE_MILLISECONDS = 40_000;

const dataDir = await temporaryDir();
// All calls use one API key. With the usual limits, the bench would measure the limits of this key.
const env = {
  WRITES_PER_SECOND_PER_KEY: '100000',
  READS_PER_SECOND_PER_KEY: '100000',
  EXPENSIVE_CALLS_PER_SECOND_PER_KEY: '100000',
};
const system = await startSystem({ dataDir, env });
const closings: (() => unknown)[] = [];
const rows: Row[] = [];
const slowdown = slowdownNow();
try {
  await prepare();
  await measureKeystrokes();
  await measureHints();
  await measureConnections();
  const cost = totalOf(liveBill(workday, costsOfCalls(registeredEndpoints())));
  rows.push(['1,000 users for 8 hours in groups of 5, dollars', cost.toFixed(0), '', 'npm run cost -- --live']);
  printTable(
    `The push service through npm start. This machine is now ${slowdown.toFixed(1)} times slower than the reference machine`,
    ['what', 'ours', 'goal', 'beside'],
    rows,
  );
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  for (const close of closings) close();
  await system.stop();
  await rm(dataDir, { recursive: true, force: true });
}
// Timers of closed clients must not keep the process alive.
process.exit();

function documentName(index: number) {
  return { organizationId, documentId: `doc-${index}` };
}

async function prepare(): Promise<void> {
  const documents = times(DOCUMENTS, (index) => ({ documentId: `doc-${index}` }));
  await system.ok('/v2/organizations/documents/add', { organizationId, createOrganization: true, documents });
  for (const { documentId } of documents)
    await system.ok('/v2/crdt/add', { organizationId, documentId, editorId: 'text', type: 'text', data: '' });
}

async function tokenOf(userId: string): Promise<string> {
  const userProperties = { name: userId, email: `${userId}@example.com` };
  return (await system.ok('/v2/auth/generate_token', { userId, userProperties, permissions: { resources: [] } })).token;
}

function clientOf(userId: string) {
  const token = tokenOf(userId);
  return createUserClient({ baseUrl: system.baseUrl, token: () => token });
}

async function openEditor(userId: string, document: number): Promise<EditorProvider> {
  const provider = new EditorProvider(new Y.Doc(), {
    client: clientOf(userId),
    ...documentName(document),
    editorId: 'text',
  });
  closings.push(() => provider.destroy());
  await until(`the editor of ${userId}`, () => provider.synced);
  return provider;
}

function textOf(doc: Y.Doc): Y.Text {
  return doc.getText('content');
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  const end = Date.now() + PATIENCE_MILLISECONDS;
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`${what} is not there after ${PATIENCE_MILLISECONDS / 1_000} s`);
    await delay(10);
  }
}

async function measureKeystrokes(): Promise<void> {
  const [ada, grace] = [await openEditor('ada', 0), await openEditor('grace', 0)];
  const echo = await startEcho();
  const engine = await engineOf(dataDir);
  const { TableNames } = await callEngine(engine, 'ListTables', {});
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let index = -WARM_UP; index < KEYSTROKES; index++) {
    const startedAt = performance.now();
    const seen = new Promise<void>((resolve) => grace.doc.once('update', () => resolve()));
    textOf(ada.doc).insert(0, 'x');
    await seen;
    const took = performance.now() - startedAt;
    const bareAt = performance.now();
    await echo.send('x');
    await callEngine(engine, 'PutItem', {
      TableName: TableNames[0],
      Item: { PK: { S: 'S#BENCH' }, SK: { S: String(index) } },
      ConditionExpression: 'attribute_not_exists(PK)',
    });
    if (index < 0) continue;
    ours.push(took);
    theirs.push(performance.now() - bareAt);
  }
  echo.stop();
  const p99 = quantile(ours, 0.99);
  rows.push(
    [
      'keystroke to the other client, p50 / p99 ms',
      quantiles(ours, 0),
      `250: ${reached(p99, 250)}`,
      quantiles(theirs, 0),
    ],
    ['ratio to a bare echo and a conditional write, p50', ratio(quantile(ours, 0.5), quantile(theirs, 0.5)), '', ''],
  );
}

async function measureHints(): Promise<void> {
  const live = clientOf('ada').live(documentName(1));
  closings.push(() => live.close());
  await until('the connection', () => live.status === 'live');
  const waits: number[] = [];
  for (let index = 0; index < COMMENTS; index++) {
    let hintAt = 0;
    const stop = live.on('comment', ({ type }) => {
      if (type === 'comment.add') hintAt ||= performance.now();
    });
    await addComment(1, `comment ${index}`);
    const answeredAt = performance.now();
    await until('the hint', () => hintAt > 0);
    stop();
    // A hint can arrive before the answer of the call that caused it.
    waits.push(Math.max(0, hintAt - answeredAt));
  }
  const p99 = quantile(waits, 0.99);
  rows.push(['answer of a call to its hint, p50 / p99 ms', quantiles(waits, 0), `500: ${reached(p99, 500)}`, '']);
}

async function addComment(document: number, commentText: string): Promise<void> {
  const commentAnnotations = [{ commentData: [{ commentText, from: { userId: 'ada' } }] }];
  await system.ok('/v2/commentannotations/add', { ...documentName(document), commentAnnotations });
}

/** A connection that only receives. It applies the pushed updates and counts missing versions. */
interface Listener {
  readonly doc: Y.Doc;
  readonly document: number;
  version: number | undefined;
  /** The number of versions that the connection got or missed. */
  versions: number;
  missing: number;
}

async function measureConnections(): Promise<void> {
  const tokens = await Promise.all(times(USERS, (user) => tokenOf(`user-${user}`)));
  const listeners: Listener[] = [];
  const connectedAt = performance.now();
  let next = 0;
  await Promise.all(
    times(CONNECTED_AT_ONCE, async () => {
      while (next < CONNECTIONS) {
        const index = next++;
        listeners.push(await listen(index % DOCUMENTS, tokens[Math.floor(index / DOCUMENTS)] ?? ''));
      }
    }),
  );
  const connecting = (performance.now() - connectedAt) / 1_000;
  const writers: EditorProvider[] = [];
  for (let document = 0; document < DOCUMENTS; document++)
    writers.push(await openEditor(`writer-${document}`, document));

  const cpu = cpuTime(system.pid);
  const startedAt = performance.now();
  let edits = 0;
  while (performance.now() - startedAt < SECONDS * 1_000) {
    for (const { doc } of writers) textOf(doc).insert(0, 'x');
    edits += writers.length;
    await delay(Math.max(0, startedAt + (edits / writers.length) * (1_000 / EDITS_PER_SECOND) - performance.now()));
  }
  const typed = (performance.now() - startedAt) / 1_000;
  const isEqual = ({ doc, document }: Listener) =>
    textOf(doc).length === textOf((writers[document] as EditorProvider).doc).length;
  const lastAt = performance.now();
  await until(
    'the same text at all clients',
    () => writers.every(({ saved }) => saved) && listeners.every(isEqual),
  ).catch(() => undefined);
  const settled = (performance.now() - lastAt) / 1_000;
  const now = cpuTime(system.pid);
  const used = now.main - cpu.main + now.engine - cpu.engine;
  const pushed = listeners.find(({ document }) => document === DOCUMENTS - 1)?.versions ?? 0;
  const sum = (read: (listener: Listener) => number) => listeners.reduce((total, each) => total + read(each), 0);
  rows.push(
    [`${CONNECTIONS} connections, seconds to connect`, connecting.toFixed(0), '', ''],
    [`edits typed in ${DOCUMENTS} documents, per second`, (edits / typed).toFixed(0), '250', ''],
    ['pushes per document and second', (pushed / typed).toFixed(1), '', `${EDITS_PER_SECOND} edits typed`],
    ['connections with another text at the end', String(sum((each) => (isEqual(each) ? 0 : 1))), '0', ''],
    ['versions that a connection missed', String(sum(({ missing }) => missing)), '0', ''],
    ['seconds from the last edit to the same text', settled.toFixed(1), '', ''],
    ['CPU of the system, share of one core', (used / 1_000 / (typed + settled)).toFixed(2), '', ''],
    ['memory of the system, MB', (memoryBytes(system.pid) / 2 ** 20).toFixed(0), '', ''],
  );
  for (const close of closings.splice(0)) close();
}

async function listen(document: number, token: string): Promise<Listener> {
  const {
    url,
    host,
    token: socketToken,
    channels,
  } = await system.ok('/v2/live/connect', documentName(document), {
    authorization: `Bearer ${token}`,
  });
  const listener: Listener = { doc: new Y.Doc(), document, version: undefined, versions: 0, missing: 0 };
  const socket = new EventSocket({
    url,
    host,
    token: socketToken,
    WebSocket: WebSocket as unknown as SocketConstructor,
    onEvent: (_channel, event) => receive(listener, event as { version?: number; update?: string }),
    onEnd: () => (listener.missing += 1),
  });
  closings.push(() => socket.close());
  await socket.open();
  await socket.subscribe(channels.document as string);
  const read = { ...documentName(document), editorId: 'text' };
  const { update } = await system.ok('/v2/crdt/updates/get', read, { authorization: `Bearer ${token}` });
  Y.applyUpdate(listener.doc, Buffer.from(update as string, 'base64'));
  return listener;
}

function receive(listener: Listener, { version, update }: { version?: number; update?: string }): void {
  if (version === undefined) return;
  const before = listener.version ?? version - 1;
  listener.missing += Math.max(0, version - before - 1);
  listener.versions += Math.max(0, version - before);
  listener.version = Math.max(version, before);
  if (update !== undefined) Y.applyUpdate(listener.doc, Buffer.from(update, 'base64'));
}

/** Starts a WebSocket server that answers each message with the same message. */
async function startEcho(): Promise<{ send: (text: string) => Promise<void>; stop: () => void }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket) => socket.on('message', (data: Buffer) => socket.send(data)));
  await new Promise((resolve) => server.once('listening', resolve));
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as { port: number }).port}`);
  await new Promise((resolve) => socket.once('open', resolve));
  return {
    send: async (text) => {
      const answered = new Promise((resolve) => socket.once('message', resolve));
      socket.send(text);
      await answered;
    },
    stop: () => {
      socket.close();
      server.close();
    },
  };
}
