import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import * as Y from 'yjs';
import { purgeLeftover } from '../../../lib/comments/deleteThreads.ts';
import type { DocumentContext } from '../../../lib/content/documentScope.ts';
import { compactLog } from '../../../lib/editors/compaction.ts';
import { EditorDeleter, purgeEditors } from '../../../lib/editors/deleteEditors.ts';
import { type Changed, EditorLog } from '../../../lib/editors/editorLog.ts';
import { EditorReader } from '../../../lib/editors/editorReader.ts';
import { listEditorRecords } from '../../../lib/editors/editorRecords.ts';
import { type ClientState, findMissingUpdates } from '../../../lib/editors/editorUpdates.ts';
import { pushUpdate } from '../../../lib/editors/pushUpdate.ts';
import { openDocument } from '../../../lib/editors/rules/yjs/document.ts';
import { addEditor, type NewValue, updateEditor } from '../../../lib/editors/writeValue.ts';
import { Table } from '../../../lib/table/table.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { allFailures, type Failure, Invocation, Trial } from '../../support/crashes.ts';
import { startEngine, TABLE_NAME } from '../../support/engine.ts';
import { scan } from '../../support/items.ts';
import { asDocumentClient, type Command, type TableClient } from '../../support/leanClient.ts';
import { times } from '../../support/times.ts';

const START = Date.UTC(2026, 10, 20);
const MINUTE = 60_000;
const EDITOR = 'summary';

const engine = forAllTests(() => startEngine({ table: 'memory' }));
let client: TableClient;
let number = 0;
let context: DocumentContext;
beforeAll(() => {
  client = engine.lean;
});
beforeEach(() => {
  context = newContext();
});

function newContext(): DocumentContext {
  const internalId = `doc_${(number += 1)}`;
  const moments = { createdAt: START, lastUpdated: START, disabled: false };
  return {
    organization: { organizationId: 'acme', internalId: 'org_1', ...moments },
    document: { documentId: 'nda', internalId, accessType: 'public', ...moments },
    scope: { tenant: 'key_1', organizationKey: 'org_1', documentKey: internalId },
  };
}

/** Returns the table as a simulated process sees it. Its calls can fail. */
function tableOf(invocation = new Invocation()): Table {
  const send = (command: Command) =>
    invocation.call(command.constructor.name.replace(/Command$/, ''), () => client.send(command));
  return new Table(asDocumentClient({ send }), TABLE_NAME);
}
type Value = Pick<NewValue, 'type' | 'data'>;
const text = (data: string): Value => ({ type: 'text', data });
/** Returns the editor as a simulated process sees it. */
function editorOf(table = tableOf()) {
  const log = new EditorLog(table);
  return {
    add: (value: Value, now = START) => addEditor(log, context, { editorId: EDITOR, ...value }, { now }),
    replace: (value: Value, now = START) => updateEditor(log, context, { editorId: EDITOR, ...value }, { now }),
    push: (update: Uint8Array, now = START) => pushUpdate(log, context, { editorId: EDITOR, update }, { now }),
  };
}
const add = (data: string, now = START) => editorOf().add(text(data), now);
const compact = (now: number, table = tableOf()) => compactLog(table, context.scope, EDITOR, now);
const pull = (client: ClientState, reader = new EditorReader(tableOf())) =>
  findMissingUpdates(reader, context.scope, EDITOR, client);
async function valueOf() {
  const [record] = await listEditorRecords(new EditorReader(tableOf()), context.scope, { editorId: EDITOR });
  return record?.data;
}
/** Returns the items in which an attribute contains a text. */
const itemsWith = (attribute: string, value: string) =>
  scan(engine, {
    FilterExpression: 'contains(#a, :v)',
    ExpressionAttributeNames: { '#a': attribute },
    ExpressionAttributeValues: { ':v': value },
  });
/** Returns the items of the document's editors, by type. */
async function items(): Promise<Record<string, Record<string, any>[]>> {
  return {
    Editor: [],
    EditorUpdate: [],
    EditorPart: [],
    ...(Object.groupBy(await itemsWith('PK', `#${context.scope.documentKey}#`), ({ _t }) => _t) as Record<
      string,
      Record<string, any>[]
    >),
  };
}
/** Returns the document's jobs of one kind. */
const jobsOf = async (kind: string) =>
  (await itemsWith('data', `"${context.scope.documentKey}"`)).filter((job) => job.kind === kind);
/** Returns letters that hardly compress. Each `start` gives other letters. */
const letters = (count: number, start = 0) =>
  times(Math.ceil(count / 6), (index) =>
    Math.imul(start + index + 1, 0x9e3779b1)
      .toString(36)
      .slice(-6)
      .padStart(6, 'x'),
  )
    .join('')
    .slice(0, count);

/** A Yjs client whose changes return their updates. */
class YjsClient {
  readonly doc = new Y.Doc();

  async pull(): Promise<this> {
    const { update } = await pull({});
    Y.applyUpdate(this.doc, Buffer.from(update, 'base64'));
    return this;
  }

  change(change: (text: Y.Text) => void): Uint8Array {
    const before = Y.encodeStateVector(this.doc);
    this.doc.transact(() => change(this.doc.getText('content')));
    return Y.encodeStateAsUpdate(this.doc, before);
  }

  append(letters: string): Uint8Array {
    return this.change((content) => content.insert(content.length, letters));
  }
}

/** Adds an update like the endpoint does. If the log is then due for a compaction, compacts it at once. */
async function pushAndCompact(editor: ReturnType<typeof editorOf>, update: Uint8Array, now: number): Promise<Changed> {
  const changed = await editor.push(update, now);
  if (changed.isDueForCompaction) await compact(now);
  return changed;
}

describe('concurrent changes', () => {
  test('store every acknowledged push despite replacements, and give versions without gaps', async () => {
    await add('0');
    const pushers = await Promise.all(times(8, () => new YjsClient().pull()));
    const pushed: Uint8Array[] = [];
    const versions: number[] = [];
    const replaced = async () => {
      const own = editorOf();
      for (let i = 0; i < 6; i++) versions.push((await own.replace(text(`text ${i}`), START + i)).version);
    };
    await Promise.all([
      replaced(),
      replaced(),
      ...pushers.map(async (pusher, index) => {
        const own = editorOf();
        for (let i = 0; i < 5; i++) {
          const update = pusher.append(`${index}.${i} `);
          versions.push((await own.push(update, START + i)).version);
          pushed.push(update);
        }
      }),
    ]);
    const state = (await new EditorReader(tableOf()).find(context.scope, EDITOR))!;
    const snapshot = Y.snapshot(openDocument(state.updates));
    expect(pushed.every((update) => Y.snapshotContainsUpdate(snapshot, update))).toBe(true);
    const taken = new Set(versions);
    const log = (await items()).EditorUpdate!.map(({ version }) => version).sort();
    expect(log).toEqual(log.map((_version, index) => Number(log[0]) + index));
    expect(log).toHaveLength(1 + taken.size);
  });

  test('lead all clients to the stored value, by version, by state vector or from the start', async () => {
    await add('start ');
    const [byVersion, byVector] = [await new YjsClient().pull(), await new YjsClient().pull()];
    const reader = new EditorReader(tableOf());
    let { version } = await pull({}, reader);
    const [own, other] = [editorOf(), editorOf()];
    for (let round = 0; round < 12; round++) {
      const [mine, theirs] = [
        byVersion.append(`v${round} `),
        byVector.change((content) => content.insert(0, `s${round} `)),
      ];
      await Promise.all([
        own.push(mine),
        other.push(theirs),
        editorOf().replace(text(`${(await valueOf()) as string}r${round} `)),
      ]);
      const later = await pull({ version }, reader);
      expect(later.stateVector).toBeUndefined();
      version = later.version;
      Y.applyUpdate(byVersion.doc, Buffer.from(later.update, 'base64'));
      const { update } = await pull({ stateVector: Y.encodeStateVector(byVector.doc) }, reader);
      Y.applyUpdate(byVector.doc, Buffer.from(update, 'base64'));
    }
    const value = await valueOf();
    for (const client of [byVersion, byVector, await new YjsClient().pull()])
      expect(client.doc.getText('content').toJSON()).toBe(value);
  });

  test('make updates/get return the whole state if the later updates are larger than an editor can be', async () => {
    await add('');
    const reader = new EditorReader(tableOf());
    const { version } = await pull({}, reader);
    const [pusher, own] = [await new YjsClient().pull(), editorOf()];
    for (const letter of ['a', 'b']) {
      const paste = (content: Y.Text) => {
        content.delete(0, content.length);
        content.insert(0, letter.repeat(2_800_000));
      };
      await own.push(pusher.change(paste));
    }
    const { update, stateVector } = await pull({ version }, reader);
    expect(stateVector).toBeDefined();
    expect(Buffer.from(update, 'base64').length).toBeLessThan(2_900_000);
  });

  test('compute a replacement again after a conflict, so that no text is inserted twice', async () => {
    await add('one');
    await Promise.all(times(6, () => editorOf().replace(text('one two'))));
    expect(await valueOf()).toBe('one two');
    expect((await items()).EditorUpdate).toHaveLength(2);
  });
});

describe('compactLog', () => {
  /** Pushes texts of 2 KB at intervals of `apart` milliseconds. Returns the whole text. */
  async function write(count: number, apart: number, from = START): Promise<string> {
    const [pusher, own] = [await new YjsClient().pull(), editorOf()];
    for (let i = 0; i < count; i++)
      await pushAndCompact(own, pusher.append(letters(2_000, i * 1_000)), from + i * apart);
    return pusher.doc.getText('content').toJSON();
  }

  test('shortens the log and keeps the value, and makes updates/get return the whole state for an older version', async () => {
    await add('');
    const { version } = await pull({});
    const written = await write(100, 10_000);
    const { Editor, EditorUpdate, EditorPart } = await items();
    expect(EditorUpdate!.length).toBeLessThan(60);
    expect(EditorPart!.length).toBeLessThan(6);
    expect(Editor![0]!.snapshot.version).toBeGreaterThan(Number(Editor![0]!.first) + 50);
    expect(await valueOf()).toBe(written);
    expect((await new YjsClient().pull()).doc.getText('content').toJSON()).toBe(written);
    expect((await pull({ version })).stateVector).toBeDefined();
  });

  test('is due after about a hundred small changes', async () => {
    await add('');
    const [pusher, own] = [await new YjsClient().pull(), editorOf()];
    const isDue: number[] = [];
    for (let i = 1; i <= 130; i++) if ((await own.push(pusher.append('x'))).isDueForCompaction) isDue.push(i);
    expect(isDue).toHaveLength(1);
    expect(isDue[0]).toBeGreaterThan(80);
  });

  test('is due before changes that compress well take much memory', async () => {
    await add(letters(1_000_000));
    await compact(START);
    const [pusher, own] = [await new YjsClient().pull(), editorOf()];
    for (let i = 0; i < 10; i++) {
      await pushAndCompact(own, pusher.append('a'.repeat(1_000_000)), START);
      await pushAndCompact(
        own,
        pusher.change((content) => content.delete(1_000_000, 1_000_000)),
        START,
      );
    }
    const state = await new EditorReader(tableOf()).find(context.scope, EDITOR);
    const sizes = state!.updates.map(({ length }) => length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(3_000_000);
  });

  test('keeps an update that depends on a missing update', async () => {
    await add('');
    const pusher = await new YjsClient().pull();
    const [first, second] = [pusher.append('a'), pusher.append('b')];
    await editorOf().push(second);
    await write(30, 10_000, START + MINUTE);
    expect((await items()).Editor![0]!.snapshot).toBeDefined();
    await write(60, 10_000, START + 20 * MINUTE);
    await editorOf().push(first, START + 40 * MINUTE);
    expect(await valueOf()).toContain('ab');
  });

  test('keeps recent updates, so that a slow request cannot reuse the version of a removed update', async () => {
    await add('');
    const pusher = await new YjsClient().pull();
    const [reachesWrite, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    let isFirst = true;
    const send = async (command: Command) => {
      if (command.constructor.name === 'PutCommand' && isFirst) {
        isFirst = false;
        reachesWrite.resolve(undefined);
        await released.promise;
      }
      return client.send(command);
    };
    const slow = editorOf(new Table(asDocumentClient({ send }), TABLE_NAME)).push(pusher.append('slow'));
    await reachesWrite.promise;
    // These changes take 30 s, the longest time that a function can run. They start a compaction while the slow update
    // waits for its write.
    await write(60, 500);
    expect((await items()).Editor![0]!.snapshot).toBeDefined();
    released.resolve(undefined);
    await slow;
    expect(await valueOf()).toContain('slow');
  });

  test('never hides acknowledged changes from concurrent readers', async () => {
    await add('');
    let acknowledged = 0;
    let isOver = false;
    const write = async () => {
      const [pusher, own] = [await new YjsClient().pull(), editorOf()];
      for (let i = 0; i < 60; i++) {
        await pushAndCompact(own, pusher.append(letters(2_000, i * 1_000)), START + i * 20_000);
        acknowledged++;
      }
      isOver = true;
    };
    let reads = 0;
    const read = async (reader: () => EditorReader) => {
      while (!isOver) {
        const before = acknowledged;
        const state = (await reader().find(context.scope, EDITOR))!;
        expect(openDocument(state.updates).getText('content').length).toBeGreaterThanOrEqual(before * 2_000);
        reads++;
      }
    };
    const warm = new EditorReader(tableOf());
    await Promise.all([
      write(),
      read(() => new EditorReader(tableOf())),
      read(() => new EditorReader(tableOf())),
      read(() => warm),
    ]);
    expect(reads).toBeGreaterThan(20);
    expect(await valueOf()).toHaveLength(60 * 2_000);
  });

  test('makes a reader read again if the compaction runs between two pages of the reader', async () => {
    await add('');
    const pusher = await new YjsClient().pull();
    for (let i = 0; i < 30; i++) await editorOf().push(pusher.append(letters(2_000, i * 1_000)));
    const written = pusher.doc.getText('content').toJSON();
    const readers: ((table: Table) => Promise<unknown>)[] = [
      async (table) => listEditorRecords(new EditorReader(table), context.scope, { editorId: EDITOR }),
      async (table) => listEditorRecords(new EditorReader(table), context.scope, {}),
    ];
    for (const read of readers) {
      let queries = 0;
      const send = async (command: Command) => {
        if (command.constructor.name !== 'QueryCommand') return client.send(command);
        // Small pages, because DynamoDB can end a page at any item.
        const page = await client.send({
          ...command,
          constructor: command.constructor,
          input: { ...command.input, Limit: 5 },
        });
        if ((queries += 1) === 1) {
          await editorOf().push(pusher.append(letters(64_000, queries)));
          await compact(START + 10 * MINUTE);
        }
        return page;
      };
      const [{ data }] = (await read(new Table(asDocumentClient({ send }), TABLE_NAME))) as [{ data: string }];
      expect(data.slice(0, written.length) === written).toBe(true);
      expect(queries).toBeGreaterThan(2);
      expect((await items()).EditorUpdate!.length).toBe(1);
      for (let i = 0; i < 30; i++) await editorOf().push(pusher.append('x'));
    }
  });

  test('stores large changes and snapshots in parts', async () => {
    const random = letters(900_000);
    await add(random);
    expect((await items()).EditorPart!.length).toBeGreaterThan(1);
    const own = editorOf();
    let now = START;
    for (const data of [`a${random}`, random.slice(1_000), random.slice(500_000) + random.slice(0, 500_000), random]) {
      const changed = await own.replace(text(data), (now += 3 * MINUTE));
      if (changed.isDueForCompaction) await compact(now);
      expect((await valueOf()) === data).toBe(true);
    }
    expect((await items()).Editor![0]!.snapshot.blob.parts).toBeGreaterThan(1);
  });
});

/**
 * Runs `work` in a simulated process, in which one call may have a fault. Returns the calls, and whether `work`
 * succeeded.
 */
async function attempt(
  work: (table: Table) => Promise<unknown>,
  fault?: { occurrence: number; failure: Failure; when: 'before' | 'after' },
): Promise<{ done: boolean; calls: readonly string[] }> {
  const trial = new Trial(...(fault ? [fault] : []));
  const invocation = new Invocation(trial);
  const done = await Promise.race([invocation.crashed, work(tableOf(invocation))]).then(
    () => true,
    () => false,
  );
  return { done, calls: trial.calls };
}

describe('a change of an editor whose database calls fail', () => {
  const large = letters(48_000);

  /** Runs `work` once for each fault of each call, each time on a new document. */
  async function everyFault(
    prepare: () => Promise<void>,
    work: (table: Table) => Promise<unknown>,
    check: (done: boolean) => Promise<void>,
  ): Promise<void> {
    await prepare();
    const { done, calls } = await attempt(work);
    expect(done).toBe(true);
    expect(calls.length).toBeGreaterThan(1);
    await check(true);
    for (const [index] of calls.entries()) {
      for (const failure of allFailures) {
        context = newContext();
        await prepare();
        await check((await attempt(work, { occurrence: index + 1, ...failure })).done);
      }
    }
  }

  /** Expects that the editor can still be changed and compacted. */
  async function expectWorkingEditor(): Promise<void> {
    const own = editorOf();
    const { version } = await own.replace(text('well'), START + 5 * MINUTE);
    await compact(START + 60 * MINUTE);
    expect(await valueOf()).toBe('well');
    expect((await own.replace(text('well!'), START + 61 * MINUTE)).version).toBe(version + 1);
  }

  test('add stores the whole editor or nothing', async () => {
    await everyFault(
      async () => undefined,
      (table) => editorOf(table).add(text(large)),
      async (done) => {
        const value = await valueOf();
        if (done) expect(value === large).toBe(true);
        expect(await jobsOf('emitEditorUpdate')).toHaveLength(value === undefined ? 0 : 1);
        if (value === undefined) await add('again', START + MINUTE);
        await expectWorkingEditor();
      },
    );
  });

  test('replace stores the old or the new value, and the new one if the call succeeds', async () => {
    await everyFault(
      () => add('old').then(() => undefined),
      (table) => editorOf(table).replace(text(large), START + 1),
      async (done) => {
        const value = await valueOf();
        expect(value === large || (!done && value === 'old')).toBe(true);
        await expectWorkingEditor();
      },
    );
  });

  test('compaction loses no update, and the next compaction removes leftovers', async () => {
    const prepare = async () => {
      await add('');
      const [pusher, own] = [await new YjsClient().pull(), editorOf()];
      for (let i = 0; i < 12; i++) await own.push(pusher.append(large.slice(i * 4_000, (i + 1) * 4_000)), START + i);
    };
    await everyFault(
      prepare,
      (table) => compact(START + 10 * MINUTE, table),
      async () => {
        expect((await valueOf()) === large).toBe(true);
        const [pusher, own] = [await new YjsClient().pull(), editorOf()];
        for (let i = 0; i < 12; i++)
          await own.push(pusher.append(large.slice(i * 4_000, (i + 1) * 4_000)), START + 20 * MINUTE);
        await compact(START + 30 * MINUTE);
        expect((await valueOf()) === large + large).toBe(true);
        const { Editor, EditorUpdate, EditorPart } = await items();
        expect(EditorUpdate!.map(({ version }) => version)).toEqual([Editor![0]!.snapshot.version]);
        // Young parts of the previous snapshot may stay, because running reads may need them.
        expect(EditorPart!.filter(({ at: writtenAt }) => writtenAt < START + 10 * MINUTE)).toEqual([]);
      },
    );
  });

  test('delete removes the whole editor or nothing, and its job purges the items', async () => {
    await everyFault(
      () => add(large).then(() => undefined),
      (table) => new EditorDeleter(table).delete(context, [EDITOR], START + 1),
      async (done) => {
        const jobs = await jobsOf('purgeLeftover');
        const isDeleted = (await valueOf()) === undefined;
        expect(isDeleted || !done).toBe(true);
        expect(jobs).toHaveLength(isDeleted ? 1 : 0);
        if (!isDeleted) return;
        await add('again', START + MINUTE);
        await purgeLeftover(tableOf(), context.scope.tenant, JSON.parse(jobs[0]!.data));
        expect(await valueOf()).toBe('again');
        const { Editor, EditorUpdate, EditorPart } = await items();
        expect([Editor!.length, EditorUpdate!.length, EditorPart!.length]).toEqual([1, 1, 0]);
      },
    );
  });
});

describe('purgeEditors.purge', () => {
  test('removes all editors of a document in several steps, and none of another document', async () => {
    const log = new EditorLog(tableOf());
    const addTo = (of: DocumentContext, editorId: string) =>
      addEditor(log, of, { editorId, ...text('x'.repeat(20_000)) }, { now: START });
    for (let i = 0; i < 5; i++) await addTo(context, `editor-${i}`);
    await addTo(newContext(), EDITOR);
    while (!(await purgeEditors.purge(tableOf(), context.scope)));
    const remainingItems = await items();
    expect(purgeEditors.entities.flatMap(({ type }) => remainingItems[type] ?? [])).toEqual([]);
    expect((await itemsWith('PK', `#doc_${number}#`)).map(({ editorId }) => editorId)).toContain(EDITOR);
  });
});
