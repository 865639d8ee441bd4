import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { writeVarUint } from 'lib0/encoding';
import * as Y from 'yjs';
import { encodeState, MalformedUpdate, openDocument, stateVectorOf, updateSince } from '../../lib/domain/crdt/document.ts';
import { replaceValue } from '../../lib/domain/crdt/editing.ts';
import { faultOfUpdate, readValue } from '../../lib/domain/crdt/reading.ts';
import { crdtLimits, type CrdtType, type CrdtValue } from '../../lib/domain/crdt/values.ts';

function stored(type: CrdtType, value: CrdtValue): Y.Doc {
  return openDocument([replaceValue(openDocument([]), type, 'content', value)!]);
}

/** What a client sends that had the document and did this. */
function pushOf(doc: Y.Doc, change: (client: Y.Doc) => void): Uint8Array {
  const client = openDocument([encodeState(doc)]);
  const known = stateVectorOf(client);
  client.transact(() => change(client));
  return updateSince(client, known);
}

const malformed = /^Update must be a Yjs update/;

describe('an update that is none is refused, and the document stays as it is', () => {
  const doc = stored('map', { a: { b: [1, 2, 3] }, c: 'text' });
  const state = encodeState(doc);

  test.each([
    ['nothing', new Uint8Array()],
    ['text', new TextEncoder().encode('hello')],
    ['an update of format 2', Y.encodeStateAsUpdateV2(doc)],
    ['the first half of one', state.subarray(0, state.length / 2)],
    ['one with something behind it', new Uint8Array([...state, 0])],
    ['more structs than there are', new Uint8Array([1, 0xff, 0xff, 0xff, 0x7f, 1, 0])],
    ['more clients than there are', new Uint8Array([0xff, 0xff, 0xff, 0xff, 0x7f])],
    ['arrays in arrays, deeper than any stack', new Uint8Array([1, 1, 1, 0, 8, 1, 1, 97, 1, ...Array.from({ length: 2_000_000 }, (_, index) => (index % 2 ? 1 : 117)), 0])],
  ])('%s', (_what, update) => {
    expect(faultOfUpdate(doc, 'map', 'content', update)).toMatch(malformed);
    expect(encodeState(doc)).toEqual(state);
  });

  test('random bytes, and good updates with random faults, never throw; what is accepted leaves a document that can be read, changed and stored', () => {
    const push = pushOf(doc, (client) => {
      const map = client.getMap('content');
      map.set('c', 'other');
      map.set('d', new Y.Map([['e', new Y.Array()]]));
      (map.get('a') as Y.Map<Y.Array<number>>).get('b')!.delete(1, 1);
      client.getXmlFragment('other').insert(0, [new Y.XmlElement('p')]);
    });
    const faulty = fc.array(fc.tuple(fc.nat(push.length - 1), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 3 }).map((faults) => {
      const update = push.slice();
      for (const [at, byte] of faults) update[at] = byte;
      return update;
    });
    fc.assert(fc.property(fc.oneof(faulty, fc.uint8Array({ maxLength: 40 })), (update) => {
      if (faultOfUpdate(doc, 'map', 'content', update) !== undefined) return;
      const merged = openDocument([state, update]);
      expect(readValue(openDocument([encodeState(merged)]), 'map', 'content')).toEqual(readValue(merged, 'map', 'content'));
      const replaced = replaceValue(merged, 'map', 'content', { after: 1 });
      expect(readValue(openDocument([state, update, ...(replaced ? [replaced] : [])]), 'map', 'content')).toEqual({ after: 1 });
    }), { numRuns: 500 });
    expect(encodeState(doc)).toEqual(state);
  });
});

describe('an update that contradicts the type is refused', () => {
  const changes: Readonly<Record<CrdtType, (client: Y.Doc) => void>> = {
    text: (client) => client.getText('content').insert(0, 'x'),
    map: (client) => void client.getMap('content').set('x', 1),
    array: (client) => client.getArray('content').insert(0, [1]),
    xml: (client) => client.getXmlFragment('content').insert(0, [new Y.XmlElement('x')]),
  };
  const values: Readonly<Record<CrdtType, CrdtValue>> = { text: 'a', map: { a: 1 }, array: [1], xml: '<a></a>' };
  const others = (Object.keys(changes) as CrdtType[]).flatMap((type) => (Object.keys(changes) as CrdtType[]).map((other) => [type, other] as const));

  test.each(others)('type %s, a change as of type %s', (type, other) => {
    const doc = stored(type, values[type]);
    const update = pushOf(doc, changes[other]);
    // An array may hold any type; XML as Lexical keeps it is text at its root; keys of a text or a fragment are attributes, which no value shows.
    const isFine = type === other || `${type} ${other}` === 'array xml' || `${type} ${other}` === 'xml text' || (other === 'map' && type !== 'array');
    if (isFine) expect(faultOfUpdate(doc, type, 'content', update)).toBeUndefined();
    else expect(faultOfUpdate(doc, type, 'content', update)).toMatch(new RegExp(`^Update must hold a Y\\..* under "content", for type ${type}\\.$`));
  });

  test('what a client keeps under other names is its own', () => {
    expect(faultOfUpdate(stored('text', 'a'), 'text', 'content', pushOf(stored('text', 'a'), (client) => void client.getMap('meta').set('x', 1)))).toBeUndefined();
  });
});

describe('an update beyond the limits is refused', () => {
  test('more than 4 MB of update', () => {
    expect(faultOfUpdate(openDocument([]), 'text', 'content', new Uint8Array(crdtLimits.stateBytes + 1))).toBe('Update must not be larger than 4 MB.');
  });

  test('more than 4 MB of state together', () => {
    const doc = stored('text', 'a'.repeat(3_000_000));
    expect(faultOfUpdate(doc, 'text', 'content', pushOf(doc, (client) => client.getText('content').insert(0, 'b'.repeat(1_000_000))))).toBeUndefined();
    expect(faultOfUpdate(doc, 'text', 'content', pushOf(doc, (client) => client.getText('content').insert(0, 'b'.repeat(2_000_000))))).toBe('The document must not be larger than 4 MB.');
  });

  test('a value that is larger than its state: formatting that is written for each run', () => {
    const doc = openDocument([]);
    const update = pushOf(doc, (client) => {
      const text = new Y.XmlText();
      client.getXmlFragment('content').insert(0, [text]);
      text.insert(0, 'ab'.repeat(1_000), { link: { href: 'x'.repeat(100_000) } });
      for (let at = 0; at < 2_000; at += 2) text.format(at, 1, { bold: {} });
    });
    expect(update.length).toBeLessThan(400_000);
    expect(faultOfUpdate(doc, 'xml', 'content', update)).toBe('Data must not be larger than 4 MB as JSON.');
  });

  test.each([[100, undefined], [101, 'Data must not be nested deeper than 100 levels.'], [3_000, 'Data must not be nested deeper than 100 levels.']])('types %d deep', (levels, fault) => {
    const doc = openDocument([]);
    const update = pushOf(doc, (client) => {
      let list = client.getArray<unknown>('content');
      for (let level = 1; level < levels; level++) {
        const inner = new Y.Array<unknown>();
        list.insert(0, [inner]);
        list = inner;
      }
    });
    expect(faultOfUpdate(doc, 'array', 'content', update)).toBe(fault);
  });

  test('types too deep under a name that is not the value', () => {
    const update = pushOf(openDocument([]), (client) => {
      let element: Y.XmlFragment = client.getXmlFragment('elsewhere');
      for (let level = 0; level < 200; level++) {
        const inner = new Y.XmlElement('a');
        element.insert(0, [inner]);
        element = inner;
      }
    });
    expect(faultOfUpdate(openDocument([]), 'text', 'content', update)).toBe('Data must not be nested deeper than 100 levels.');
  });
});

describe('changes of the service', () => {
  test('of a document that was deleted are refused in the new one of its name', () => {
    const old = stored('text', 'old');
    const push = pushOf(old, (client) => client.getText('content').insert(3, '!'));
    const whole = openDocument([encodeState(old), push]);
    expect(faultOfUpdate(old, 'text', 'content', encodeState(whole))).toBeUndefined();
    expect(faultOfUpdate(stored('text', 'new'), 'text', 'content', encodeState(whole))).toBe('Update has changes of another document: one of this name may have been deleted.');
  });

  test('cannot be deleted before they are made', () => {
    const doc = stored('text', 'one');
    const [[client, clock]] = [...Y.decodeStateVector(stateVectorOf(doc))] as [[number, number]];
    const encoder = new Y.UpdateEncoderV1();
    writeVarUint(encoder.restEncoder, 0);
    for (const number of [1, client, 1, clock, 1]) writeVarUint(encoder.restEncoder, number);
    expect(faultOfUpdate(doc, 'text', 'content', encoder.toUint8Array())).toMatch(/another document/);
  });

  test('that do not follow what the document has are refused as well, also when they wait', () => {
    const doc = stored('text', 'one');
    const later = openDocument([encodeState(doc)]);
    const second = replaceValue(later, 'text', 'content', 'one two')!;
    Y.applyUpdate(later, second);
    const third = replaceValue(later, 'text', 'content', 'one two three')!;
    expect(faultOfUpdate(doc, 'text', 'content', second)).toMatch(/another document/);
    expect(faultOfUpdate(doc, 'text', 'content', third)).toMatch(/another document/);
  });
});

test('a client\'s update that waits for an earlier one is accepted, and counts once that one comes', () => {
  const doc = stored('text', 'a');
  const client = openDocument([encodeState(doc)]);
  const updates: Uint8Array[] = [];
  client.on('update', (update: Uint8Array) => updates.push(update));
  client.getText('content').insert(1, 'b');
  client.getText('content').insert(2, 'c');
  const [first, second] = updates as [Uint8Array, Uint8Array];
  expect(faultOfUpdate(doc, 'text', 'content', second)).toBeUndefined();
  const waiting = openDocument([encodeState(openDocument([encodeState(doc), second]))]);
  expect(readValue(waiting, 'text', 'content')).toBe('a');
  expect(readValue(openDocument([encodeState(waiting), first]), 'text', 'content')).toBe('abc');
});

describe('updateSince', () => {
  test('gives what a client lacks', () => {
    const doc = stored('text', 'one');
    const client = openDocument([updateSince(doc)]);
    const more = openDocument([encodeState(doc), replaceValue(doc, 'text', 'content', 'one two')!]);
    const missing = updateSince(more, stateVectorOf(client));
    expect(missing.length).toBeLessThan(encodeState(more).length);
    Y.applyUpdate(client, missing);
    expect(readValue(client, 'text', 'content')).toBe('one two');
  });

  test.each([['nothing', []], ['text', [104, 101]], ['something behind it', [0, 0]], ['half of one', [1, 5]], ['more than there is', [255, 255, 255, 255, 127]]])('refuses a state vector that is none: %s', (_what, bytes) => {
    expect(() => updateSince(stored('text', 'one'), new Uint8Array(bytes))).toThrow(MalformedUpdate);
  });
});
