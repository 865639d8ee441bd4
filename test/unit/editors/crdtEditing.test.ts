import { deepStrictEqual } from 'node:assert';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as Y from 'yjs';
import { encodeState, openDocument } from '../../../lib/editors/rules/yjs/document.ts';
import { readValue } from '../../../lib/editors/rules/yjs/readValue.ts';
import { findValueFault, replaceValue } from '../../../lib/editors/rules/yjs/replaceValue.ts';
import { crdtLimits, type CrdtType, type CrdtValue } from '../../../lib/editors/rules/yjs/values.ts';
import { testProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';
import { codePoint, unicodeText } from '../../support/unicodeText.ts';

const anyText = unicodeText({ maxLength: 30 });
const json = fc
  .jsonValue({ stringUnit: codePoint, maxDepth: 4 })
  .filter((value) => findValueFault('array', [value]) === undefined);
const key = fc.oneof(fc.constantFrom('__proto__', '', 'constructor', 'toString', 'a', 'b', '0', '10'), anyText);
const map = fc
  .array(fc.tuple(key, json), { maxLength: 8 })
  .map(
    (entries) =>
      JSON.parse(
        `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`,
      ) as CrdtValue,
  );
const array = fc.array(json, { maxLength: 8 });
const values: Readonly<Record<Exclude<CrdtType, 'xml'>, fc.Arbitrary<CrdtValue>>> = { text: anyText, map, array };

/** A log of updates as the store keeps it. */
class Log {
  updates: Uint8Array[] = [];

  open(): Y.Doc {
    return openDocument(this.updates);
  }

  /** Replaces the value, which must leave the document unchanged. */
  replace(type: CrdtType, value: CrdtValue): Uint8Array | undefined {
    const doc = this.open();
    const state = encodeState(doc);
    const update = replaceValue(doc, type, 'content', value);
    expect(Buffer.compare(encodeState(doc), state)).toBe(0);
    if (update) this.updates.push(update);
    return update;
  }

  read(type: CrdtType): CrdtValue {
    return readValue(this.open(), type, 'content');
  }

  compact(): void {
    this.updates = [encodeState(this.open())];
  }
}

describe.each(['text', 'map', 'array'] as const)('replaceValue of type %s', (type) => {
  testProperty(
    'reads every value as it was written, after any other value and after compaction',
    [fc.array(values[type], { minLength: 1, maxLength: 5 })],
    (written) => {
      const log = new Log();
      for (const value of written) {
        log.replace(type, value);
        // In an object with its own key `constructor`, Jest would take the value for the object's class.
        deepStrictEqual(log.read(type), value);
        expect(log.replace(type, structuredClone(value))).toBeUndefined();
      }
      log.compact();
      deepStrictEqual(log.read(type), written.at(-1));
    },
    { numRuns: 80 },
  );
});

test('an array keeps -0 as JSON does', () => {
  const log = new Log();
  log.replace('array', [0, 1e300, 2 ** 53, 0.1]);
  log.replace('array', [-0, 1e300, 2 ** 53, 0.1]);
  expect(log.read('array')).toStrictEqual([-0, 1e300, 2 ** 53, 0.1]);
});

test('keys of a map keep the order in which they were first written', () => {
  const log = new Log();
  log.replace('map', { c: 1, a: 1, b: 1 });
  log.replace('map', { c: 2, a: 1, b: 1 });
  log.replace('map', { c: 2, a: 2, b: 1, d: 1 });
  log.compact();
  expect(Object.keys(log.read('map'))).toEqual(['c', 'a', 'b', 'd']);
});

test('replaceValue handles 300,000 numbers in an array and 10,000 keys in a map', () => {
  const log = new Log();
  const numbers = times(300_000, (index) => index % 10);
  log.replace('array', numbers);
  deepStrictEqual(log.read('array'), numbers);
  const other = new Log();
  const keys = Object.fromEntries(times(10_000, (index) => [`key ${index}`, { index }]));
  other.replace('map', keys);
  deepStrictEqual(other.read('map'), keys);
  const update = other.replace('map', { ...keys, 'key 5000': { index: -1 } });
  expect(update!.length).toBeLessThan(100);
});

describe('replaceValue during concurrent edits of a client', () => {
  /** Returns the value after a client edited the document without having received the replace. */
  function valueAfter(type: CrdtType, before: CrdtValue, after: CrdtValue, edit: (doc: Y.Doc) => void): CrdtValue {
    const log = new Log();
    log.replace(type, before);
    const client = log.open();
    const replaced = log.replace(type, after);
    const stateVector = Y.encodeStateVector(client);
    edit(client);
    const pushed = Y.encodeStateAsUpdate(client, stateVector);
    log.updates.push(pushed);
    if (replaced) Y.applyUpdate(client, replaced);
    expect(readValue(client, type, 'content')).toStrictEqual(log.read(type));
    return log.read(type);
  }

  test.each<[string, CrdtType, CrdtValue, CrdtValue, (doc: Y.Doc) => void, CrdtValue]>([
    [
      'elsewhere in a text',
      'text',
      'The cat sat. The dog ran.',
      'The black cat sat. The dog ran.',
      (doc) => doc.getText('content').insert(24, ' far'),
      'The black cat sat. The dog ran far.',
    ],
    [
      'of another key in an object of a map',
      'map',
      { a: { x: 1, y: 1 }, b: 1 },
      { a: { x: 2, y: 1 }, b: 1 },
      (doc) => (doc.getMap('content').get('a') as Y.Map<unknown>).set('y', 5),
      { a: { x: 2, y: 5 }, b: 1 },
    ],
    [
      'of objects in an array that moved or changed',
      'array',
      ['one', 'two', 'three'].map((text, index) => ({ id: index + 1, text })),
      [
        { id: 0, text: 'zero' },
        { id: 1, text: 'one' },
        { id: 3, text: 'THREE' },
      ],
      (doc) => {
        const list = doc.getArray('content');
        (list.get(0) as Y.Map<unknown>).set('done', true);
        (list.get(2) as Y.Map<unknown>).set('done', false);
      },
      [
        { id: 0, text: 'zero' },
        { id: 1, text: 'one', done: true },
        { id: 3, text: 'THREE', done: false },
      ],
    ],
    [
      'of the first of many objects that all changed',
      'array',
      times(120, (id) => ({ id, text: 'before' })),
      times(121, (id) => ({ id, text: `after ${id}` })),
      (doc) => (doc.getArray('content').get(0) as Y.Map<unknown>).set('done', true),
      [{ id: 0, text: 'after 0', done: true }, ...times(120, (n) => ({ id: n + 1, text: `after ${n + 1}` }))],
    ],
  ])('keeps an edit %s', (_where, type, before, after, edit, merged) => {
    expect(valueAfter(type, before, after, edit)).toStrictEqual(merged);
  });

  test('replaces bytes of a client in a map by null', () => {
    const log = new Log();
    const client = log.open();
    client.getMap('content').set('a', new Uint8Array([1]));
    log.updates.push(encodeState(client));
    log.replace('map', { a: null });
    expect(log.read('map')).toEqual({ a: null });
  });

  test('keeps an edit of a shared text in a map', () => {
    const log = new Log();
    const client = log.open();
    client.getMap('content').set('title', new Y.Text('Old title'));
    log.updates.push(encodeState(client));
    const replaced = log.replace('map', { title: 'Old long title' })!;
    (client.getMap('content').get('title') as Y.Text).insert(9, '!');
    log.updates.push(encodeState(client));
    Y.applyUpdate(client, replaced);
    expect(log.read('map')).toEqual({ title: 'Old long title!' });
    expect(readValue(client, 'map', 'content')).toEqual({ title: 'Old long title!' });
  });

  test('keeps an object that a client embedded in a text', () => {
    const log = new Log();
    const client = log.open();
    client.getText('content').applyDelta([{ insert: 'one ' }, { insert: { image: 'x' } }, { insert: ' two' }]);
    log.updates.push(encodeState(client));
    log.replace('text', 'ONE  two three');
    expect(log.read('text')).toBe('ONE  two three');
    expect(log.open().getText('content').toDelta()).toEqual([
      { insert: 'ONE ' },
      { insert: { image: 'x' } },
      { insert: ' two three' },
    ]);
  });
});

describe('the size of the stored state', () => {
  const entries = Object.fromEntries(
    times(10, (index) => [`key${index}`, `a value of some length, ${'x'.repeat(80)}`]),
  );

  function stateAfter(replaces: number, keyOf: (round: number) => string): { ratio: number; vector: number } {
    let doc = openDocument([]);
    let value: CrdtValue = entries;
    for (let round = 0; round <= replaces; round++) {
      doc = openDocument([encodeState(doc), replaceValue(doc, 'map', 'content', value)!]);
      value = { ...(value as object), [keyOf(round)]: `${round} ${'y'.repeat(90)}` };
    }
    const fresh = replaceValue(openDocument([]), 'map', 'content', readValue(doc, 'map', 'content'))!;
    return { ratio: encodeState(doc).length / fresh.length, vector: Y.encodeStateVector(doc).length };
  }

  test.each([
    ['the same key', () => 'key3'],
    ['ten keys alternately', (round: number) => `key${round % 10}`],
  ])('is at most 1.5 times a fresh document after 300 replaces of %s, with a short state vector', (_what, keyOf) => {
    const { ratio, vector } = stateAfter(300, keyOf);
    expect(ratio).toBeLessThan(1.5);
    expect(vector).toBeLessThan(100);
  });

  test('stays small because replaces use only a few client ids, which are specific to the document', () => {
    const log = new Log();
    for (let round = 0; round < 50; round++)
      log.replace('map', Object.fromEntries(times(50, (index) => [index, `${round} ${index}`])));
    const writers = [...log.open().store.clients.keys()];
    expect(writers.length).toBeLessThanOrEqual(32);
    expect(Math.min(...writers)).toBeGreaterThanOrEqual(2 ** 32);
    const other = new Log();
    other.replace('map', { a: 1 });
    expect(writers).not.toContain([...other.open().store.clients.keys()][0]);
  });
});

describe('findValueFault', () => {
  const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

  test.each<[CrdtType, string, unknown]>([
    ['text', 'Data must be a string for type text.', 1],
    ['xml', 'Data must be a string for type xml.', {}],
    ['map', 'Data must be an object for type map.', []],
    ['map', 'Data must be an object for type map.', null],
    ['array', 'Data must be an array for type array.', {}],
    ['text', 'Data must be valid Unicode: data has half of a surrogate pair.', 'a\ud800'],
    ['map', 'Data must be valid Unicode: data.a[0] has half of a surrogate pair.', { a: ['\udc00'] }],
    ['map', 'Data must be valid Unicode: a key of data.a has half of a surrogate pair.', { a: { '\udc00': 1 } }],
    ['array', 'Data must not be nested deeper than 100 levels.', deep(101)],
    ['array', 'Data must not be nested deeper than 100 levels.', deep(200_000)],
    ['array', 'Data must hold JSON values only: data[0][0] is none.', [[Infinity]]],
    ['array', 'Data must not have more than 100000 keys, objects and arrays in all.', times(100_001, () => [])],
    ['text', 'Data must not be larger than 4194304 bytes as JSON.', 'é'.repeat(crdtLimits.valueBytes / 2)],
  ])('rejects values of type %s: %s', (type, fault, value) => {
    expect(findValueFault(type, value)).toBe(fault);
  });

  test('accepts the empty text, {}, [] and values just within the limits', () => {
    expect([
      findValueFault('text', ''),
      findValueFault('xml', ''),
      findValueFault('map', {}),
      findValueFault('array', []),
      findValueFault('array', deep(100)),
      findValueFault('text', 'a'.repeat(crdtLimits.valueBytes - 2)),
    ]).toEqual(Array(6).fill(undefined));
  });
});
