import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as Y from 'yjs';
import { purgeLeftover } from '../../../lib/comments/deleteThreads.ts';
import type { DocumentContext } from '../../../lib/content/documentScope.ts';
import { compact } from '../../../lib/editors/compaction.ts';
import { EditorPusher } from '../../../lib/editors/pushUpdates.ts';
import { EditorReader } from '../../../lib/editors/editorReader.ts';
import { editorPart, EditorRemover } from '../../../lib/editors/removeEditors.ts';
import { EditorReplacer } from '../../../lib/editors/replaceEditors.ts';
import { EditorUpdates } from '../../../lib/editors/editorUpdates.ts';
import { EditorValues } from '../../../lib/editors/editorValues.ts';
import type { Changed } from '../../../lib/editors/editorWriter.ts';
import { Table } from '../../../lib/table/table.ts';
import { openDocument } from '../../../lib/editors/rules/yjs/document.ts';
import { holds } from '../../../lib/editors/rules/editorUpdates.ts';
import { everyMishap, Invocation, type Mishap, Trial } from '../../support/crashes.ts';
import { type Engine, startEngine, TABLE_NAME } from '../../support/engine.ts';
import { asDocumentClient, type Command, LeanClient } from '../../support/leanClient.ts';

const START = Date.UTC(2026, 10, 20);
const MINUTE = 60_000;
const EDITOR = 'summary';

let engine: Engine;
let client: LeanClient;
let number = 0;
let at: DocumentContext;
beforeAll(async () => {
  engine = await startEngine();
  client = new LeanClient();
});
afterAll(async () => {
  client.destroy();
  await engine.stop();
});
beforeEach(() => {
  at = newPlace();
});

function newPlace(): DocumentContext {
  const internalId = `doc_${(number += 1)}`;
  const times = { createdAt: START, lastUpdated: START, disabled: false };
  return {
    organization: { organizationId: 'acme', internalId: 'org_1', ...times },
    document: { documentId: 'nda', internalId, accessType: 'public', ...times },
    scope: { tenant: 'key_1', organizationKey: 'org_1', documentKey: internalId },
  };
}

/** The table as a process sees it whose calls can go wrong. */
function tableOf(invocation = new Invocation()): Table {
  const send = (command: Command) =>
    invocation.call(command.constructor.name.replace(/Command$/, ''), () => client.send(command));
  return new Table(asDocumentClient({ send }), TABLE_NAME);
}
const writer = (table = tableOf()) => {
  const [replacer, pusher] = [new EditorReplacer(table), new EditorPusher(table)];
  return { add: replacer.add.bind(replacer), replace: replacer.replace.bind(replacer), push: pusher.push.bind(pusher) };
};
const text = (data: string) => ({ type: 'text', data }) as const;
const add = (data: string, now = START) => writer().add(at, EDITOR, text(data), { now });
const valueOf = async (scope = at.scope) => (await new EditorValues(tableOf()).one(scope, EDITOR))[0]?.data;
/** The items whose attribute contains a text. */
async function scanned(attribute: string, value: string): Promise<Record<string, any>[]> {
  const found: Record<string, any>[] = [];
  let from: object | undefined;
  do {
    const input = {
      TableName: TABLE_NAME,
      FilterExpression: 'contains(#a, :v)',
      ExpressionAttributeNames: { '#a': attribute },
      ExpressionAttributeValues: { ':v': value },
      ...(from && { ExclusiveStartKey: from }),
    };
    const { Items, LastEvaluatedKey } = await client.send({ constructor: { name: 'Scan' }, input });
    found.push(...Items);
    from = LastEvaluatedKey;
  } while (from);
  return found;
}
/** The items of the document's editors, by type. */
async function items(): Promise<Record<string, Record<string, any>[]>> {
  return {
    Editor: [],
    EditorUpdate: [],
    EditorPart: [],
    ...(Object.groupBy(await scanned('PK', `#${at.scope.documentKey}#`), ({ _t }) => _t) as Record<
      string,
      Record<string, any>[]
    >),
  };
}
/** The jobs of a kind that are about the document. */
const jobsOf = async (kind: string) =>
  (await scanned('data', `"${at.scope.documentKey}"`)).filter((job) => job.kind === kind);
/** So many letters that packing makes hardly smaller, different from each start on. */
const letters = (count: number, start = 0) =>
  Array.from({ length: Math.ceil(count / 6) }, (_each, index) =>
    Math.imul(start + index + 1, 0x9e3779b1)
      .toString(36)
      .slice(-6)
      .padStart(6, 'x'),
  )
    .join('')
    .slice(0, count);

/** A client of Yjs, with an update for each of its changes. */
class YjsClient {
  readonly doc = new Y.Doc();

  async pull(): Promise<this> {
    const { update } = await new EditorUpdates(tableOf()).since(at.scope, EDITOR, {});
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

/** What an endpoint does: the change, and what follows it, apart from the message. */
async function pushing(writers: ReturnType<typeof writer>, update: Uint8Array, now: number): Promise<Changed> {
  const changed = await writers.push(at, EDITOR, update, { now });
  if (changed.compact) await compact(tableOf(), at.scope, EDITOR, now);
  return changed;
}

describe('changes of many at the same time', () => {
  test('every acknowledged push survives, whatever is replaced in between, and versions have no gaps', async () => {
    await add('0');
    const pushers = await Promise.all(Array.from({ length: 8 }, () => new YjsClient().pull()));
    const pushed: Uint8Array[] = [];
    const versions: number[] = [];
    const replaced = async () => {
      const own = writer();
      for (let i = 0; i < 6; i++)
        versions.push((await own.replace(at, EDITOR, text(`text ${i}`), { now: START + i })).version);
    };
    await Promise.all([
      replaced(),
      replaced(),
      ...pushers.map(async (pusher, index) => {
        const own = writer();
        for (let i = 0; i < 5; i++) {
          const update = pusher.append(`${index}.${i} `);
          versions.push((await own.push(at, EDITOR, update, { now: START + i })).version);
          pushed.push(update);
        }
      }),
    ]);
    const state = (await new EditorReader(tableOf()).find(at.scope, EDITOR))!;
    expect(pushed.every((update) => holds(openDocument(state.updates), update))).toBe(true);
    const taken = new Set(versions);
    const log = (await items()).EditorUpdate!.map(({ version }) => version).sort();
    expect(log).toEqual(log.map((_version, index) => log[0] + index));
    expect(log).toHaveLength(1 + taken.size);
  });

  test('a client that follows by versions, one that follows by state vectors and a new one arrive at what get gives', async () => {
    await add('start ');
    const [byVersion, byVector] = [await new YjsClient().pull(), await new YjsClient().pull()];
    const reader = new EditorUpdates(tableOf());
    let { version } = await reader.since(at.scope, EDITOR, {});
    const [own, other] = [writer(), writer()];
    for (let round = 0; round < 12; round++) {
      const [mine, theirs] = [
        byVersion.append(`v${round} `),
        byVector.change((content) => content.insert(0, `s${round} `)),
      ];
      await Promise.all([
        own.push(at, EDITOR, mine, { now: START }),
        other.push(at, EDITOR, theirs, { now: START }),
        writer().replace(at, EDITOR, text(`${await valueOf()}r${round} `), { now: START }),
      ]);
      const later = await reader.since(at.scope, EDITOR, { version });
      expect(later.stateVector).toBeUndefined();
      version = later.version;
      Y.applyUpdate(byVersion.doc, Buffer.from(later.update, 'base64'));
      const { update } = await reader.since(at.scope, EDITOR, { stateVector: Y.encodeStateVector(byVector.doc) });
      Y.applyUpdate(byVector.doc, Buffer.from(update, 'base64'));
    }
    const value = await valueOf();
    for (const one of [byVersion, byVector, await new YjsClient().pull()])
      expect(one.doc.getText('content').toString()).toBe(value);
  });

  test('a replace that meets another is computed anew, so that nothing is there twice', async () => {
    await add('one');
    await Promise.all(Array.from({ length: 6 }, () => writer().replace(at, EDITOR, text('one two'), { now: START })));
    expect(await valueOf()).toBe('one two');
    expect((await items()).EditorUpdate).toHaveLength(2);
  });
});

describe('compaction', () => {
  /** Pushes so many texts of 2 KB, so many milliseconds apart; gives the text. */
  async function write(count: number, apart: number, from = START, prefix = ''): Promise<string> {
    const [pusher, own] = [await new YjsClient().pull(), writer()];
    for (let i = 0; i < count; i++)
      await pushing(own, pusher.append(prefix + letters(2_000, i * 1_000)), from + i * apart);
    return pusher.doc.getText('content').toString();
  }

  test('keeps the log short, and what is read the same', async () => {
    await add('');
    const written = await write(100, 10_000);
    const { Editor, EditorUpdate, EditorPart } = await items();
    expect(EditorUpdate!.length).toBeLessThan(60);
    expect(EditorPart!.length).toBeLessThan(6);
    expect(Editor![0]!.snapshot.version).toBeGreaterThan(Editor![0]!.first + 50);
    expect(await valueOf()).toBe(written);
    expect((await new YjsClient().pull()).doc.getText('content').toString()).toBe(written);
  });

  test('comes after a hundred small changes', async () => {
    await add('');
    const [pusher, own] = [await new YjsClient().pull(), writer()];
    const isDue: number[] = [];
    for (let i = 1; i <= 130; i++)
      if ((await own.push(at, EDITOR, pusher.append('x'), { now: START })).compact) isDue.push(i);
    expect(isDue).toHaveLength(1);
    expect(isDue[0]).toBeGreaterThan(80);
  });

  test('a version of before it leads to everything', async () => {
    await add('');
    const { version } = await new EditorUpdates(tableOf()).since(at.scope, EDITOR, {});
    await write(60, 10_000);
    const { stateVector } = await new EditorUpdates(tableOf()).since(at.scope, EDITOR, { version });
    expect(stateVector).toBeDefined();
  });

  test('keeps an update that waits for another', async () => {
    await add('');
    const pusher = await new YjsClient().pull();
    const [first, second] = [pusher.append('a'), pusher.append('b')];
    await writer().push(at, EDITOR, second, { now: START });
    await write(30, 10_000, START + MINUTE);
    expect((await items()).Editor![0]!.snapshot).toBeDefined();
    await write(60, 10_000, START + 20 * MINUTE);
    await writer().push(at, EDITOR, first, { now: START + 40 * MINUTE });
    expect(await valueOf()).toContain('ab');
  });

  test('removes no update so early that a slow request could take its version for free', async () => {
    await add('');
    const slow = new Invocation();
    const pusher = await new YjsClient().pull();
    let release = () => undefined as void;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const waiting = new Promise<void>((resolve) => {
      let isFirst = true;
      const send = async (command: Command) => {
        if (command.constructor.name === 'PutCommand' && isFirst) {
          isFirst = false;
          resolve();
          await released;
        }
        return client.send(command);
      };
      void slow
        .call('push', () =>
          writer(new Table(asDocumentClient({ send }), TABLE_NAME)).push(at, EDITOR, pusher.append('slow'), {
            now: START,
          }),
        )
        .then(() => finished());
    });
    let finished = () => undefined as void;
    const finish = new Promise<void>((resolve) => {
      finished = resolve;
    });
    await waiting;
    // As long as a function can run.
    await write(60, 500);
    expect((await items()).Editor![0]!.snapshot).toBeDefined();
    release();
    await finish;
    expect(await valueOf()).toContain('slow');
  });

  test('who reads at any moment reads the whole: what was acknowledged before is there, and more only follows', async () => {
    await add('');
    let acknowledged = 0;
    let isOver = false;
    const write = async () => {
      const [pusher, own] = [await new YjsClient().pull(), writer()];
      for (let i = 0; i < 60; i++) {
        await pushing(own, pusher.append(letters(2_000, i * 1_000)), START + i * 20_000);
        acknowledged++;
      }
      isOver = true;
    };
    let reads = 0;
    const read = async (reader: () => EditorReader) => {
      while (!isOver) {
        const before = acknowledged;
        const state = (await reader().find(at.scope, EDITOR))!;
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

  test('who meets it between two pages of a reading reads again', async () => {
    await add('');
    const pusher = await new YjsClient().pull();
    for (let i = 0; i < 30; i++)
      await writer().push(at, EDITOR, pusher.append(letters(2_000, i * 1_000)), { now: START });
    const written = pusher.doc.getText('content').toString();
    const readers: ((table: Table) => Promise<unknown>)[] = [
      async (table) => new EditorValues(table).one(at.scope, EDITOR),
      async (table) => new EditorValues(table).all(at.scope),
    ];
    for (const read of readers) {
      let queries = 0;
      const send = async (command: Command) => {
        if (command.constructor.name !== 'QueryCommand') return client.send(command);
        // A page ends where the engine wants it to.
        const page = await client.send({
          ...command,
          constructor: command.constructor,
          input: { ...command.input, Limit: 5 },
        });
        if ((queries += 1) === 1) {
          await writer().push(at, EDITOR, pusher.append(letters(64_000, queries)), { now: START });
          await compact(tableOf(), at.scope, EDITOR, START + 10 * MINUTE);
        }
        return page;
      };
      const [{ data }] = (await read(new Table(asDocumentClient({ send }), TABLE_NAME))) as [{ data: string }];
      expect(data.slice(0, written.length) === written).toBe(true);
      expect(queries).toBeGreaterThan(2);
      expect((await items()).EditorUpdate!.length).toBe(1);
      for (let i = 0; i < 30; i++) await writer().push(at, EDITOR, pusher.append('x'), { now: START });
    }
  });

  test('large changes and states lie in parts', async () => {
    const random = letters(900_000);
    await add(random);
    expect((await items()).EditorPart!.length).toBeGreaterThan(1);
    const own = writer();
    let now = START;
    for (const data of [`a${random}`, random.slice(1_000), random.slice(500_000) + random.slice(0, 500_000), random]) {
      const changed = await own.replace(at, EDITOR, text(data), { now: (now += 3 * MINUTE) });
      if (changed.compact) await compact(tableOf(), at.scope, EDITOR, now);
      expect((await valueOf()) === data).toBe(true);
    }
    expect((await items()).Editor![0]!.snapshot.blob.parts).toBeGreaterThan(1);
  });
});

/** Does something in a process of its own, which goes wrong at a call in some way; gives whether it said that it was done. */
async function attempted(
  work: (table: Table) => Promise<unknown>,
  fault?: { at: number; mishap: Mishap; when: 'before' | 'after' },
): Promise<{ done: boolean; calls: readonly string[] }> {
  const trial = new Trial(...(fault ? [fault] : []));
  const invocation = new Invocation(trial);
  const done = await Promise.race([invocation.crashed, work(tableOf(invocation))]).then(
    () => true,
    () => false,
  );
  return { done, calls: trial.calls };
}

describe('whatever call goes wrong, in whatever way', () => {
  const large = letters(48_000);

  /** Runs some work with every fault of each of its calls, on a new document each time. */
  async function everyFault(
    prepare: () => Promise<void>,
    work: (table: Table) => Promise<unknown>,
    check: (done: boolean) => Promise<void>,
  ): Promise<void> {
    await prepare();
    const { done, calls } = await attempted(work);
    expect(done).toBe(true);
    expect(calls.length).toBeGreaterThan(1);
    await check(true);
    for (const [index] of calls.entries()) {
      for (const mishap of everyMishap) {
        at = newPlace();
        await prepare();
        await check((await attempted(work, { at: index + 1, ...mishap })).done);
      }
    }
  }

  /** That the editor is alive: it can be changed and compacted, and then nothing is left that nobody needs. */
  async function isWell(): Promise<void> {
    const own = writer();
    const { version } = await own.replace(at, EDITOR, text('well'), { now: START + 5 * MINUTE });
    await compact(tableOf(), at.scope, EDITOR, START + 60 * MINUTE);
    expect(await valueOf()).toBe('well');
    expect((await own.replace(at, EDITOR, text('well!'), { now: START + 61 * MINUTE })).version).toBe(version + 1);
  }

  test('add: the editor is there whole or not at all', async () => {
    await everyFault(
      async () => undefined,
      (table) => writer(table).add(at, EDITOR, text(large), { now: START }),
      async (done) => {
        const value = await valueOf();
        if (done) expect(value === large).toBe(true);
        expect(await jobsOf('emitEditorUpdate')).toHaveLength(value === undefined ? 0 : 1);
        if (value === undefined) await add('again', START + MINUTE);
        await isWell();
      },
    );
  });

  test('replace: the value is the old or the new one, and the new one once it was acknowledged', async () => {
    await everyFault(
      () => add('old').then(() => undefined),
      (table) => writer(table).replace(at, EDITOR, text(large), { now: START + 1 }),
      async (done) => {
        const value = await valueOf();
        expect(value === large || (!done && value === 'old')).toBe(true);
        await isWell();
      },
    );
  });

  test('compaction: nothing is lost, and the next one removes what this one left', async () => {
    const prepare = async () => {
      await add('');
      const [pusher, own] = [await new YjsClient().pull(), writer()];
      for (let i = 0; i < 12; i++)
        await own.push(at, EDITOR, pusher.append(large.slice(i * 4_000, (i + 1) * 4_000)), { now: START + i });
    };
    await everyFault(
      prepare,
      (table) => compact(table, at.scope, EDITOR, START + 10 * MINUTE),
      async () => {
        expect((await valueOf()) === large).toBe(true);
        const [pusher, own] = [await new YjsClient().pull(), writer()];
        for (let i = 0; i < 12; i++)
          await own.push(at, EDITOR, pusher.append(large.slice(i * 4_000, (i + 1) * 4_000)), {
            now: START + 20 * MINUTE,
          });
        await compact(tableOf(), at.scope, EDITOR, START + 30 * MINUTE);
        expect((await valueOf()) === large + large).toBe(true);
        const { Editor, EditorUpdate, EditorPart } = await items();
        expect(EditorUpdate!.map(({ version }) => version)).toEqual([Editor![0]!.snapshot.version]);
        // Those of the snapshot of before this one are too young to be gone in some of the cases.
        expect(EditorPart!.filter(({ at: writtenAt }) => writtenAt < START + 10 * MINUTE)).toEqual([]);
      },
    );
  });

  test('delete: the editor is there or gone, and its job removes the rest', async () => {
    await everyFault(
      () => add(large).then(() => undefined),
      (table) => new EditorRemover(table).remove(at, [EDITOR], START + 1),
      async (done) => {
        const jobs = await jobsOf('removeRecords');
        const isGone = (await valueOf()) === undefined;
        expect(isGone || !done).toBe(true);
        expect(jobs).toHaveLength(isGone ? 1 : 0);
        if (!isGone) return;
        await add('again', START + MINUTE);
        await purgeLeftover(tableOf(), at.scope.tenant, JSON.parse(jobs[0]!.data));
        expect(await valueOf()).toBe('again');
        const { Editor, EditorUpdate, EditorPart } = await items();
        expect([Editor!.length, EditorUpdate!.length, EditorPart!.length]).toEqual([1, 1, 0]);
      },
    );
  });
});

test('issue 7: what was written is what is read, whatever it was before, also after compaction and restart', async () => {
  const any = fc.string({ unit: 'binary' });
  const values = {
    text: any,
    map: fc
      .dictionary(any, fc.jsonValue({ stringUnit: 'binary' }))
      .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>),
    array: fc
      .array(fc.jsonValue({ stringUnit: 'binary' }))
      .map((value) => JSON.parse(JSON.stringify(value)) as unknown[]),
  };
  for (const type of ['text', 'map', 'array'] as const) {
    at = newPlace();
    const [own, filler] = [writer(), new Y.Doc()];
    let now = START;
    await own.add(at, EDITOR, { type, data: { text: '', map: {}, array: [] }[type] }, { now });
    const fill = () => {
      const known = Y.encodeStateVector(filler);
      if (type === 'text') filler.getText('content').insert(0, letters(60_000, now));
      if (type === 'map') filler.getMap('content').set('large', letters(60_000, now));
      if (type === 'array') filler.getArray('content').insert(0, [letters(60_000, now)]);
      return Y.encodeStateAsUpdate(filler, known);
    };
    await fc.assert(
      fc.asyncProperty(values[type], async (data) => {
        // Long enough to be compacted.
        await own.push(at, EDITOR, fill(), { now });
        await own.replace(at, EDITOR, { type, data }, { now: (now += MINUTE) });
        expect(isDeepStrictEqual(await valueOf(), data)).toBe(true);
        await compact(tableOf(), at.scope, EDITOR, now);
        expect(isDeepStrictEqual(await valueOf(), data)).toBe(true);
      }),
      { seed: 20_261_122, numRuns: 20 },
    );
    expect((await items()).Editor![0]!.snapshot).toBeDefined();
  }
});

describe('removal', () => {
  test("a document's editors go, all of them, some at a time", async () => {
    for (let i = 0; i < 5; i++) await writer().add(at, `editor-${i}`, text('x'.repeat(20_000)), { now: START });
    await writer().add(newPlace(), EDITOR, text('stays'), { now: START });
    while (!(await editorPart.removeSome(tableOf(), at.scope, () => START)));
    const left = await items();
    expect(editorPart.entities.flatMap(({ type }) => left[type] ?? [])).toEqual([]);
    expect((await scanned('PK', `#doc_${number}#`)).map(({ editorId }) => editorId)).toContain(EDITOR);
  });
});
