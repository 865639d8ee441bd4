import { expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import * as Y from 'yjs';
import {
  encodeState,
  openDocument,
  stateVectorOf,
  updateSince,
  withoutKnownChanges,
} from '../../../lib/editors/rules/yjs/document.ts';
import { restoreState } from '../../../lib/editors/rules/yjs/restoreState.ts';
import { entriesOf, itemsOf, type Shared, valueOf } from '../../../lib/editors/rules/yjs/sharedTypes.ts';
import { findUpdateFault } from '../../../lib/editors/rules/yjs/updateFaults.ts';
import { type CrdtType, crdtTypes } from '../../../lib/editors/rules/yjs/values.ts';
import { cpuMilliseconds } from '../../support/cpu.ts';
import { times } from '../../support/times.ts';
import { edit, randomOf, roots } from '../../support/yjsEdits.ts';

/** All that editors show of a type: formatting marks count only by the characters that they format. */
function contentOf(value: unknown): unknown {
  if (!(value instanceof Y.AbstractType)) return value;
  const type = value as Shared;
  const marks = new Map<string, unknown>();
  const list: { content: unknown; marks: Record<string, unknown> }[] = [];
  for (const { content } of itemsOf(type)) {
    if (content instanceof Y.ContentFormat) {
      const { key, value: mark } = content as { key: string; value: unknown };
      if (mark === null) marks.delete(key);
      else marks.set(key, mark);
      continue;
    }
    const contents =
      content instanceof Y.ContentEmbed ? [{ embed: (content as { embed: unknown }).embed }] : content.getContent();
    for (const each of contents) list.push({ content: contentOf(each), marks: Object.fromEntries(marks) });
  }
  return {
    class: type._item ? type.constructor.name : 'root',
    name: (type as { nodeName?: unknown }).nodeName,
    entries: Object.fromEntries(entriesOf(type).map(([key, item]) => [key, contentOf(valueOf(item))])),
    list,
  };
}

const rootContent = (doc: Y.Doc) => contentOf(doc.get('content'));

interface AnyRoot {
  readonly length: number;
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  insert(at: number, content: unknown): void;
  delete(from: number | string, length?: number): void;
}

class Server {
  readonly type: CrdtType;
  doc = openDocument([]);

  constructor(type: CrdtType) {
    this.type = type;
  }

  push(update: Uint8Array, isOwn = false): void {
    const { doc } = this;
    const fault = findUpdateFault(doc, this.type, 'content', update, isOwn);
    // The UndoManager of Yjs can restore an element of a restored type with the same neighbour on both sides.
    fc.pre(isOwn || fault !== 'Update must put content only where a client of Yjs puts it.');
    expect(fault).toBeUndefined();
    this.doc = openDocument([encodeState(doc), withoutKnownChanges(doc, update)]);
  }

  restore(version: Uint8Array): void {
    const { update, fault } = restoreState(this.doc, 'content', version);
    expect(fault).toBeUndefined();
    if (update) this.push(update, true);
    expect(rootContent(this.doc)).toStrictEqual(rootContent(openDocument([version])));
  }
}

class Client {
  readonly doc = new Y.Doc();
  readonly root: Y.AbstractType<unknown>;
  readonly undoManager: Y.UndoManager;
  readonly #server: Server;
  readonly #unsent: Uint8Array[] = [];

  constructor(server: Server, id: number) {
    this.#server = server;
    this.doc.clientID = id;
    this.root = roots[server.type](this.doc);
    this.undoManager = new Y.UndoManager(this.root, { captureTimeout: 0 });
    this.doc.on('update', (update: Uint8Array, origin: unknown) => origin !== 'server' && this.#unsent.push(update));
  }

  send(): void {
    for (const update of this.#unsent.splice(0)) this.#server.push(update);
  }

  receive(): void {
    Y.applyUpdate(this.doc, updateSince(this.#server.doc, stateVectorOf(this.doc)), 'server');
  }
}

/** Three clients edit, undo and go offline. Their states are restored in any order. */
function simulate(type: CrdtType, steps: readonly number[]): void {
  const random = randomOf(steps.reduce((mixed, step) => Math.imul(mixed ^ step, 0x01000193), steps.length));
  const server = new Server(type);
  const clients = times(3, (index) => new Client(server, index + 1));
  const versions: Uint8Array[] = [encodeState(server.doc)];
  for (const step of steps) {
    const client = clients[(step + random(3)) % 3]!;
    const action = random(12);
    if (action < 6) client.doc.transact(() => edit(client.root, random));
    else if (action === 6) client.undoManager.undo();
    else if (action === 7) client.undoManager.redo();
    else if (action === 8) client.send();
    else if (action === 9) client.receive();
    else if (action === 10) versions.push(encodeState(server.doc));
    else server.restore(versions[random(versions.length)]!);
  }
  const [offline, online, editing] = clients as [Client, Client, Client];
  offline.send();
  online.send();
  online.receive();
  const version = versions[random(versions.length)]!;
  server.restore(version);
  for (const client of [offline, online]) {
    client.receive();
    expect(rootContent(client.doc)).toStrictEqual(rootContent(openDocument([version])));
  }
  editing.receive();
  editing.send();
  for (const client of clients) {
    client.receive();
    expect(rootContent(client.doc)).toStrictEqual(rootContent(server.doc));
  }
}

test.each(crdtTypes)(
  'every replica of a %s editor without unsent edits gets the value of the restored version',
  (type) => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 20, maxLength: 80 }), (steps) => simulate(type, steps)),
      { numRuns: 30 },
    );
  },
);

test.each(crdtTypes)('unsent edits of a %s editor survive a restore, and undo affects only them', (type) => {
  const server = new Server(type);
  const [writer, offline] = [new Client(server, 1), new Client(server, 2)];
  const random = randomOf(7);
  const editAndSend = () => {
    for (let count = 0; count < 30; count++) edit(writer.root, random);
    writer.send();
  };
  editAndSend();
  const version = encodeState(server.doc);
  editAndSend();
  offline.receive();
  const root = offline.root as unknown as AnyRoot;
  if (type === 'map') root.set('mine', 'token');
  else root.insert(0, type === 'array' ? ['token'] : type === 'xml' ? [new Y.XmlElement('token')] : 'token');
  server.restore(version);
  const restored = rootContent(server.doc);
  offline.send();
  for (const client of [offline, writer]) {
    client.receive();
    expect(JSON.stringify(client.root.toJSON()).match(/"?t"?,?"?o"?,?"?k"?,?"?e"?,?"?n/g)).toHaveLength(
      type === 'xml' ? 2 : 1,
    );
  }
  offline.undoManager.undo();
  offline.send();
  expect(rootContent(server.doc)).toStrictEqual(restored);
});

test.each(crdtTypes)(
  'a second restore of a %s editor writes nothing, and later ones keep what did not change',
  (type) => {
    const server = new Server(type);
    const client = new Client(server, 1);
    const root = client.root as unknown as AnyRoot;
    const filler = 'words '.repeat(500);
    if (type === 'map')
      root.set(
        'key',
        new Y.Map([
          ['long', filler],
          ['x', 1],
        ]),
      );
    else if (type === 'array') root.insert(0, [new Y.Map([['long', filler]]), 'x'] as never);
    else if (type === 'xml') root.insert(0, [new Y.XmlText(filler), new Y.XmlElement('p')] as never);
    else root.insert(0, filler);
    client.send();
    const version = encodeState(server.doc);
    if (type === 'map') root.delete('key');
    else root.delete(0, root.length);
    client.send();
    server.restore(version);
    expect(restoreState(server.doc, 'content', version)).toEqual({});
    client.receive();
    if (type === 'map') (root.get('key') as Y.Map<unknown>).set('x', 2);
    else
      root.insert(
        type === 'text' ? 30 : 1,
        type === 'array' ? ['new'] : type === 'xml' ? [new Y.XmlElement('new')] : 'new',
      );
    client.send();
    expect(restoreState(server.doc, 'content', version).update?.length).toBeLessThan(100);
    server.restore(version);
  },
);

test('a text with surrogate pairs and marks of the same client before and after the version comes back', () => {
  const server = new Server('text');
  const client = new Client(server, 1);
  const text = client.root as unknown as Y.Text;
  text.insert(0, '😀');
  client.send();
  const version = encodeState(server.doc);
  text.insert(2, '😁');
  text.format(0, 4, { bold: true });
  client.send();
  server.restore(version);
  client.receive();
  expect(text.toDelta()).toEqual([{ insert: '😀' }]);
});

test('a restore of 20,000 deleted items at the beginning of a type takes linear time', () => {
  const client = new Y.Doc();
  const text = new Y.XmlText();
  client.getXmlFragment('content').insert(0, [text]);
  client.transact(() => times(20_000, () => text.insert(0, 'ab')));
  const version = encodeState(client);
  client.getXmlFragment('content').delete(0, 1);
  const now = openDocument([encodeState(client)]);
  expect(cpuMilliseconds(() => restoreState(now, 'content', version), { limit: 1_500 })).toBeLessThan(1_500);
});

test('values that were inserted one by one come back in one item, because Yjs joins many in quadratic memory', () => {
  const client = new Y.Doc();
  for (let n = 0; n < 100; n++) client.getArray('content').insert(0, [n]);
  const version = encodeState(client);
  client.getArray('content').delete(0, 100);
  const now = openDocument([encodeState(client)]);
  const joined = jest.spyOn(Y.ContentAny.prototype, 'mergeWith');
  const { update } = restoreState(now, 'content', version);
  expect(joined.mock.calls.length).toBeLessThan(5);
  joined.mockRestore();
  Y.applyUpdate(now, update!);
  expect(now.getArray('content').toJSON()).toEqual(times(100, (n) => 99 - n));
});

test('a version that has another document inside is refused, and so is one above the limits of an editor', () => {
  const refusalOf = (fill: (map: Y.Map<unknown>) => void) => {
    const doc = new Y.Doc();
    const map = doc.getMap('content');
    fill(map);
    const version = encodeState(doc);
    map.clear();
    const now = openDocument([encodeState(doc)]);
    const before = encodeState(now);
    const { update, fault = update && findUpdateFault(now, 'map', 'content', update, true) } = restoreState(
      now,
      'content',
      version,
    );
    expect(encodeState(now)).toEqual(before);
    return fault;
  };
  expect(refusalOf((map) => map.set('inner', new Y.Doc()))).toBe(
    'Only the clients that wrote its content can rebuild it.',
  );
  expect(refusalOf((map) => map.set('long', 'x'.repeat(4_194_400)))).toMatch(/4194304/);
  expect(refusalOf((map) => map.set('short', 'x'))).toBeUndefined();
});
