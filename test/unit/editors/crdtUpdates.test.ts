import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as Y from 'yjs';
import {
  encodeState,
  MalformedUpdate,
  openDocument,
  stateVectorOf,
  updateSince,
  withoutKnownChanges,
} from '../../../lib/editors/rules/yjs/document.ts';
import { readValue } from '../../../lib/editors/rules/yjs/readValue.ts';
import { replaceValue } from '../../../lib/editors/rules/yjs/replaceValue.ts';
import { findUpdateFault } from '../../../lib/editors/rules/yjs/updateFaults.ts';
import { crdtLimits, type CrdtType, crdtTypes, type CrdtValue } from '../../../lib/editors/rules/yjs/values.ts';
import { cpuMilliseconds } from '../../support/cpu.ts';
import { times } from '../../support/times.ts';
import { anyUpdate, contents, encodeUpdate, type Item, type UpdateParts } from '../../support/yjsUpdates.ts';

function stored(type: CrdtType, value: CrdtValue): Y.Doc {
  return openDocument([replaceValue(openDocument([]), type, 'content', value)!]);
}

/** Returns the update that a client sends after it has changed the document. */
function pushOf(doc: Y.Doc, change: (client: Y.Doc) => void, clientId?: number): Uint8Array {
  const client = openDocument([encodeState(doc)]);
  client.clientID = clientId ?? client.clientID;
  const stateVector = stateVectorOf(client);
  client.transact(() => change(client));
  return updateSince(client, stateVector);
}

const letter = { kind: 'item', content: contents.text('a') } as const;

type Structs = UpdateParts['clients'][number]['structs'];
const encodeStructs = (client: number, structs: Structs, clock = 0) =>
  encodeUpdate({ clients: [{ client, clock, structs }] });
const encodeDeletions = (client: number, ranges: readonly [number, number][]) =>
  encodeUpdate({ clients: [], deletions: [{ client, ranges }] });
/** Returns an update with items of one client. */
const itemsOf = (client: number, ...items: readonly Omit<Item, 'kind'>[]) =>
  encodeStructs(
    client,
    items.map((item) => ({ kind: 'item', ...item })),
  );

/** Returns the fault of an update under the content key `content`. */
const faultIn = (doc: Y.Doc, type: CrdtType, update: Uint8Array) => findUpdateFault(doc, type, 'content', update);
const faultOfPush = (doc: Y.Doc, type: CrdtType, change: (client: Y.Doc) => void) =>
  faultIn(doc, type, pushOf(doc, change));

const malformed = /^Update must be a Yjs update/;

describe('findUpdateFault for malformed updates', () => {
  const doc = stored('map', { a: { b: [1, 2, 3] }, c: 'text' });
  const state = encodeState(doc);

  const at = (clock: number, item: Item) => encodeStructs(1, [item], clock);
  const ranges = (...deleted: [number, number][]) => encodeDeletions(1, deleted);
  test.each<[string, Uint8Array]>([
    ['nothing', new Uint8Array()],
    ['text', new TextEncoder().encode('hello')],
    ['an update of format 2', Y.encodeStateAsUpdateV2(doc)],
    ['the first half of an update', state.subarray(0, state.length / 2)],
    ['an update with a byte behind it', new Uint8Array([...state, 0])],
    ['a larger number of structs than follow', new Uint8Array([1, 0xff, 0xff, 0xff, 0x7f, 1, 0])],
    ['a larger number of clients than follow', new Uint8Array([0xff, 0xff, 0xff, 0xff, 0x7f])],
    [
      'arrays nested deeper than any stack',
      Buffer.concat([Buffer.of(1, 1, 1, 0, 8, 1, 1, 97, 1), Buffer.alloc(2_000_000, Buffer.of(117, 1)), Buffer.of(0)]),
    ],
    // Yjs reads the following updates differently, or not at all, after they were stored.
    ['an empty struct', itemsOf(1, { content: contents.text('') })],
    ['a waiting struct that refers to a later one', at(5, { ...letter, origin: [1, 9] })],
    ['a waiting struct in a type that comes later', at(5, { ...letter, parent: [1, 9] })],
    ['a struct whose clock is too large to encode', at(2 ** 51, letter)],
    [
      'a reference to a clock that is too large to encode',
      itemsOf(1, { origin: [2, 2 ** 51], content: contents.text('a') }),
    ],
    [
      'clients in ascending order',
      encodeUpdate({ clients: [1, 2].map((client) => ({ client, clock: 0, structs: [letter] })) }),
    ],
    ['one client twice', encodeUpdate({ clients: [1, 1].map((client) => ({ client, clock: 0, structs: [letter] })) })],
    ['deletions in descending order', ranges([5, 1], [2, 1])],
    ['deletions that overlap', ranges([2, 3], [4, 1])],
    ['deletions with a length that is too large to encode', ranges([0, 2 ** 51])],
  ])('rejects %s and leaves the document unchanged', (_what, update) => {
    expect(faultIn(doc, 'map', update)).toMatch(malformed);
    expect(encodeState(doc)).toEqual(state);
  });
});

describe('an update that findUpdateFault accepts', () => {
  const values: Readonly<Record<CrdtType, readonly [before: CrdtValue, after: CrdtValue]>> = {
    text: ['one two', 'two three'],
    map: [
      { a: { b: [1, 2, 3] }, c: 'text', d: { e: {} } },
      { a: { b: [3] }, after: 1 },
    ],
    array: [
      [{ a: 1 }, [1, 2, [3]], 'x', 4],
      [1, { a: 2 }],
    ],
    xml: ['<p a="1">one <bold>two</bold></p><q><r>x</r></q>', '<p>two</p>'],
  };
  const changes: Readonly<Record<CrdtType, (client: Y.Doc) => void>> = {
    text: (client) => {
      client.getText('content').insert(3, 'abc');
      client.getText('content').delete(0, 2);
      client.getText('content').format(0, 4, { bold: true });
    },
    map: (client) => {
      const map = client.getMap('content');
      map.set('c', 'other');
      map.set('f', new Y.Map([['e', new Y.Array()]]));
      (map.get('a') as Y.Map<Y.Array<number>>).get('b')!.delete(1, 1);
      map.set('x', new Y.XmlElement('p'));
      map.set('t', new Y.Text('shared'));
      map.delete('d');
    },
    array: (client) => {
      client.getArray('content').delete(0, 1);
      client.getArray('content').insert(1, [new Y.Text('t'), new Y.Map([['k', new Y.Array()]])]);
    },
    xml: (client) => {
      const element = new Y.XmlElement('li');
      element.insert(0, [new Y.XmlText('one')]);
      element.setAttribute('k', 'v');
      client.getXmlFragment('content').delete(0, 1);
      client.getXmlFragment('content').insert(1, [element]);
    },
  };

  /** Checks that the document with an accepted update has one value, however it is stored, sent and read. */
  function checkAccepted(log: readonly Uint8Array[], type: CrdtType, sent: Uint8Array): void {
    const doc = openDocument(log);
    if (faultIn(doc, type, sent) !== undefined) return;
    const update = withoutKnownChanges(doc, sent);
    const merged = openDocument([...log, update]);
    const value = readValue(merged, type, 'content');
    const state = encodeState(merged);
    const valueOf = (...updates: readonly Uint8Array[]) => readValue(openDocument(updates), type, 'content');
    expect(valueOf(state)).toEqual(value);
    expect(valueOf(encodeState(doc), update)).toEqual(value);
    expect(valueOf(Y.mergeUpdates([...log, update]))).toEqual(value);
    expect(valueOf(...log, updateSince(merged, stateVectorOf(doc)))).toEqual(value);
    expect(stateVectorOf(openDocument([state]))).toEqual(stateVectorOf(merged));
    for (const stored of [[state], [...log, update]]) {
      const after = values[type][1];
      const replaced = replaceValue(openDocument(stored), type, 'content', after);
      expect(valueOf(...stored, ...(replaced ? [replaced] : []))).toEqual(after);
    }
  }

  test.each(crdtTypes)('leaves a document of type %s that can be read, changed and stored', (type) => {
    const first = encodeState(stored(type, values[type][0]));
    const push = pushOf(openDocument([first]), changes[type], 101);
    const log = [first, push];
    const faulty = (update: Uint8Array) =>
      fc
        .array(fc.tuple(fc.nat(update.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 })
        .map((faults) => faults.reduce((damaged, [at, byte]) => damaged.with(at, byte), update));
    const [writer] = [...openDocument([first]).store.clients.keys()] as [number];
    fc.assert(
      fc.property(anyUpdate([101, 102, 103, writer, writer + 1]), (update) => checkAccepted(log, type, update)),
      { numRuns: 300 },
    );
    fc.assert(
      fc.property(fc.oneof(faulty(push), fc.uint8Array({ maxLength: 40 })), (update) =>
        checkAccepted([first], type, update),
      ),
      { numRuns: 200 },
    );
  });
});

describe('findUpdateFault for changes of a type', () => {
  const changes: Readonly<Record<CrdtType, (client: Y.Doc) => void>> = {
    text: (client) => client.getText('content').insert(0, 'x'),
    map: (client) => void client.getMap('content').set('x', 1),
    array: (client) => client.getArray('content').insert(0, [1]),
    xml: (client) => client.getXmlFragment('content').insert(0, [new Y.XmlElement('x')]),
  };
  const values: Readonly<Record<CrdtType, CrdtValue>> = { text: 'a', map: { a: 1 }, array: [1], xml: '<a></a>' };
  const others = (Object.keys(changes) as CrdtType[]).flatMap((type) =>
    (Object.keys(changes) as CrdtType[]).map((other) => [type, other] as const),
  );

  test.each(others)('accepts or rejects for type %s a change of type %s', (type, other) => {
    const doc = stored(type, values[type]);
    const update = pushOf(doc, changes[other]);
    // An array can hold every type. Lexical stores XML as a text. The attributes of a text or fragment are not part of
    // the value.
    const isFine =
      type === other ||
      `${type} ${other}` === 'array xml' ||
      `${type} ${other}` === 'xml text' ||
      (other === 'map' && type !== 'array');
    if (isFine) expect(faultIn(doc, type, update)).toBeUndefined();
    else
      expect(faultIn(doc, type, update)).toMatch(
        new RegExp(`^Update must hold a Y\\..* under "content", for type ${type}\\.$`),
      );
  });

  test('rejects a change of another root type and names it', () => {
    const doc = stored('xml', '<a x="1" />');
    const fault = (name: string) => faultOfPush(doc, 'xml', (client) => void client.getMap(name).set('x', 1));
    expect(fault('meta')).toBe('Update must change only what is under "content", and not "meta".');
    // For this root type, the service stores XML as it was written.
    expect(fault('spelling:content')).toBe(
      'Update must change only what is under "content", and not "spelling:content".',
    );
    expect(fault('n'.repeat(1_000))!.length).toBeLessThan(200);
  });

  test('accepts the whole document again, with the changes of the service', () => {
    const doc = openDocument([
      encodeState(stored('xml', '<a x="1" />')),
      pushOf(openDocument([]), (client) => void client.getMap('meta').set('x', 1)),
    ]);
    expect(faultIn(doc, 'xml', encodeState(doc))).toBeUndefined();
  });
});

describe('findUpdateFault for content that no client writes', () => {
  const misplaced = 'Update must put content only where a client of Yjs puts it.';
  const doc = stored('map', { array: [1, 2], map: { a: 1 } });
  const idOf = (key: string) => {
    const { client, clock } = doc.getMap('content')._map.get(key)!.id;
    return [client, clock] as const;
  };

  test.each<[string, Omit<Item, 'kind'>]>([
    ['several values under a key', { key: 'x', content: contents.values(1, 2) }],
    ['characters in an array', { parent: idOf('array'), content: contents.text('a') }],
    ['formatting in an array', { parent: idOf('array'), content: contents.format('bold', true) }],
    ['list elements in a map', { parent: idOf('map'), content: contents.values(1) }],
  ])('rejects %s', (_what, item) => {
    expect(faultIn(doc, 'map', itemsOf(1, item))).toBe(misplaced);
  });

  test('rejects an item that is not between its neighbours, or has neighbours in two lists', () => {
    const lists = stored('array', [1, 2, [3]]);
    const { client } = lists.getArray('content')._first!.id;
    const faultOf = (left: number, right: number) =>
      faultIn(
        lists,
        'array',
        itemsOf(1, { origin: [client, left], rightOrigin: [client, right], content: contents.values('x') }),
      );
    // Clocks 0 and 1 are the numbers, 2 is the inner array, and 3 is the number in it.
    expect(faultOf(0, 1)).toBeUndefined();
    expect([faultOf(1, 0), faultOf(1, 1), faultOf(0, 3), faultOf(3, 1)]).toEqual(Array(4).fill(misplaced));
  });

  test('rejects an attribute that cannot be converted to text', () => {
    const fault = faultOfPush(doc, 'map', (client) => {
      const element = new Y.XmlElement<Record<string, any>>('p');
      client.getMap('content').set('element', element);
      element.setAttribute('a', { toString: 1, valueOf: 1 });
    });
    expect(fault).toBe('Update must leave the document readable.');
  });

  test('rejects formatting that is nested deeper than any stack', () => {
    const levels = 100_000;
    const text = '['.repeat(levels) + ']'.repeat(levels);
    const update = itemsOf(1, { content: [6, { text: 'bold' }, { text }] });
    expect(faultIn(openDocument([]), 'text', update)).toMatch(malformed);
  });
});

test('withoutKnownChanges drops structs under ids that the document has, whatever their content is', () => {
  const doc = openDocument([itemsOf(1, letter, { origin: [1, 0], content: contents.text('b') })]);
  const other = encodeStructs(1, [
    { kind: 'gc', length: 2 },
    { ...letter, origin: [1, 1] },
  ]);
  const added = withoutKnownChanges(doc, other);
  expect(Y.decodeUpdate(added).structs.map(({ id }) => id.clock)).toEqual([2]);
  expect(readValue(openDocument([Y.mergeUpdates([encodeState(doc), added])]), 'text', 'content')).toBe('aba');
});

describe('findUpdateFault for limits of the document', () => {
  test('rejects an update of more than 4 MB', () => {
    expect(faultIn(openDocument([]), 'text', new Uint8Array(crdtLimits.stateBytes + 1))).toBe(
      'Update must not be larger than 4194304 bytes.',
    );
  });

  test('rejects an update that makes the state of the document larger than 4194304 bytes', () => {
    const doc = stored('text', 'a'.repeat(3_000_000));
    const faultOf = (length: number) =>
      faultOfPush(doc, 'text', (client) => client.getText('content').insert(0, 'b'.repeat(length)));
    expect([faultOf(1_000_000), faultOf(2_000_000)]).toEqual([
      undefined,
      'The document must not be larger than 4194304 bytes.',
    ]);
  });

  /** Writes a text with a long link, and with formatting marks at every second letter. */
  const format = (text: Y.XmlText, length: number, href: number) => {
    text.insert(0, 'ab'.repeat(length / 2), { link: { href: 'x'.repeat(href) } });
    text.applyDelta(times(length, (index) => ({ retain: 1, attributes: index % 2 === 0 ? { bold: {} } : {} })));
  };
  const inXml = (doc: Y.Doc, text: Y.XmlText) => doc.getXmlFragment('content').insert(0, [text]);
  const inMap = (doc: Y.Doc, text: Y.XmlText) => {
    const element = new Y.XmlElement('p');
    doc.getMap('content').set('a', element);
    element.insert(0, [text]);
  };
  test.each([
    ['a value', 'xml', inXml, 2_000, 100_000],
    // Yjs would write gigabytes.
    ['an element in a map', 'map', inMap, 5_000, 300_000],
  ] as const)(
    'rejects formatting marks that enlarge %s above 4 MB, though the state is small',
    (_what, type, insert, length, href) => {
      const update = pushOf(openDocument([]), (client) => {
        const text = new Y.XmlText();
        insert(client, text);
        format(text, length, href);
      });
      expect(update.length).toBeLessThan(500_000);
      expect(faultIn(openDocument([]), type, update)).toBe('Data must not be larger than 4194304 bytes as JSON.');
    },
  );

  const nest = (list: Y.Array<unknown>, levels: number) => {
    let outer = list;
    for (let level = 0; level < levels; level++) {
      const inner = new Y.Array<unknown>();
      outer.insert(0, [inner]);
      outer = inner;
    }
  };
  const tooDeep = 'Data must not be nested deeper than 100 levels.';
  test.each([
    [100, undefined],
    [101, tooDeep],
    [3_000, tooDeep],
  ])('limits nested types to 100 levels: %d levels', (levels, fault) => {
    expect(faultOfPush(openDocument([]), 'array', (client) => nest(client.getArray('content'), levels - 1))).toBe(
      fault,
    );
  });

  test('limits nested types in attributes, although no value contains attributes', () => {
    const fault = faultOfPush(openDocument([]), 'text', (client) => {
      const list = new Y.Array<unknown>();
      client.getText('content').setAttribute('lists', list);
      nest(list, 200);
    });
    expect(fault).toBe(tooDeep);
  });
});

/** Returns an update with the edits of many clients. Each inserts a letter at the start of the text. */
const manyClients = (count: number, first = 1) =>
  encodeUpdate({
    clients: times(count, (index) => ({ client: first + count - 1 - index, clock: 0, structs: [letter] })),
  });

/** Returns an update in which the structs of two clients alternate. */
function conflicting(count: number): Uint8Array {
  const embed = { kind: 'item', content: [5, { text: '1' }] } as const;
  return encodeUpdate({
    clients: [
      {
        client: 2_000,
        clock: 0,
        structs: times(count, (n) => ({ ...embed, origin: n === 0 ? null : [2_000, n - 1] })),
      },
      { client: 1_000, clock: 0, structs: times(count, (n) => ({ ...embed, rightOrigin: [2_000, count - 1 - n] })) },
    ],
  });
}

/** Returns an update with many subdocuments. Each takes about 40 bytes. */
const subdocuments = (count: number) =>
  encodeStructs(
    1,
    times(count, (n) => ({
      kind: 'item',
      content: [9, { text: `${String(n).padStart(7, '0')}-0000-0000-0000-000000000000` }, { value: {} }],
    })),
  );

describe('findUpdateFault for costly updates', () => {
  const refused = (doc: Y.Doc, update: Uint8Array, expectedFault: string, limit = 100) => {
    const state = encodeState(doc);
    let fault: string | undefined;
    const find = () => (fault = faultIn(doc, 'text', update));
    expect(cpuMilliseconds(find, { limit })).toBeLessThan(limit);
    expect(fault).toBe(expectedFault);
    expect(Buffer.compare(encodeState(doc), state)).toBe(0);
  };

  test('rejects in little time an update with one subdocument or 3.5 MB of them', () => {
    const doc = stored('text', 'a');
    refused(
      doc,
      pushOf(doc, (client) => client.getText('content').setAttribute('page', new Y.Doc())),
      'Update must not have subdocuments.',
    );
    refused(doc, subdocuments(70_000), 'Update must not have subdocuments.');
  });

  test('rejects in little time an update with more than 10,000 clients, also together with the document', () => {
    const tooMany = 'The document must not have changes of more than 10000 clients of Yjs.';
    refused(openDocument([]), manyClients(30_000), tooMany);
    const doc = openDocument([manyClients(9_999)]);
    expect(faultIn(doc, 'text', manyClients(1, 20_000))).toBeUndefined();
    refused(doc, manyClients(2, 20_000), tooMany);
  });

  test('rejects in little time an update with more than 400,000 structs or ranges of deletions', () => {
    const tooMany = 'The document must not have more than 400000 structs of Yjs.';
    refused(openDocument([]), encodeStructs(1, Array(600_000).fill({ kind: 'gc', length: 1 })), tooMany);
    refused(
      openDocument([]),
      encodeDeletions(
        1,
        times(500_000, (index) => [index * 2, 1]),
      ),
      tooMany,
    );
  });

  test('rejects in little time an update with more than 100,000 objects, arrays and keys within values', () => {
    refused(
      openDocument([]),
      itemsOf(1, { content: contents.values(times(300_000, () => [])) }),
      'Update must not have more than 100000 objects, arrays and keys in all.',
    );
  });

  test('rejects in little time concurrent changes in one place that take quadratic time to order', () => {
    refused(openDocument([]), conflicting(10_000), 'Update has too many concurrent changes in one place.', 1_500);
    expect(faultIn(openDocument([]), 'text', conflicting(500))).toBeUndefined();
  });

  test('rejects in little time an update of more than 64 KB that depends on missing updates', () => {
    const whole = stored('text', 'a');
    const client = openDocument([encodeState(whole)]);
    const [first, second] = [100, 100_000].map((length) => {
      const stateVector = stateVectorOf(client);
      client.getText('content').insert(0, 'x'.repeat(length));
      return updateSince(client, stateVector);
    });
    refused(
      whole,
      second!,
      'Update must not wait for others with more than 65536 bytes: send the missing updates first.',
    );
    expect(faultIn(openDocument([encodeState(whole), first!]), 'text', second!)).toBeUndefined();
  });

  test('accepts a large document that many clients edited one after the other', () => {
    const doc = new Y.Doc();
    const text = doc.getText('content');
    const edit = (index: number) => {
      doc.clientID = 1 + ((index * 7) % 300);
      text.insert((index * 31) % (text.length + 1), 'ab');
    };
    doc.transact(() => times(5_999, edit));
    const before = openDocument([encodeState(doc)]);
    edit(5_999);
    expect(faultIn(openDocument([]), 'text', encodeState(doc))).toBeUndefined();
    expect(faultIn(before, 'text', updateSince(doc, stateVectorOf(before)))).toBeUndefined();
  });
});

describe('findUpdateFault for changes with client ids of the service', () => {
  test('rejects changes to a deleted document of the same name', () => {
    const old = stored('text', 'old');
    const push = pushOf(old, (client) => client.getText('content').insert(3, '!'));
    const whole = openDocument([encodeState(old), push]);
    expect(faultIn(old, 'text', encodeState(whole))).toBeUndefined();
    for (const update of [encodeState(whole), push])
      expect(faultIn(stored('text', 'new'), 'text', update)).toBe(
        'Update has changes of another document: one of this name may have been deleted.',
      );
  });

  test('rejects content that refers to changes of the service that do not exist yet', () => {
    const doc = stored('map', { a: 1 });
    const [[client, clock]] = [...Y.decodeStateVector(stateVectorOf(doc))] as [[number, number]];
    const content = contents.values('x');
    const faultOf = (item: Omit<Item, 'kind' | 'content'>) => faultIn(doc, 'map', itemsOf(1, { ...item, content }));
    // The next replacement of the value would get this clock. The waiting change would then be applied without a check.
    for (const writer of [client, client + 1]) {
      const next: readonly [number, number] = [writer, writer === client ? clock : 0];
      expect(faultOf({ origin: next })).toMatch(/another document/);
      expect(faultOf({ rightOrigin: next })).toMatch(/another document/);
      expect(faultOf({ parent: next, key: 'x' })).toMatch(/another document/);
    }
    expect(faultOf({ origin: [client, clock - 1] })).toBeUndefined();
  });

  test('rejects deletions of changes that do not exist yet', () => {
    const doc = stored('text', 'one');
    const [[client, clock]] = [...Y.decodeStateVector(stateVectorOf(doc))] as [[number, number]];
    expect(faultIn(doc, 'text', encodeDeletions(client, [[clock, 1]]))).toMatch(/another document/);
  });

  test('rejects changes that the document does not have, even if they depend on missing updates', () => {
    const doc = stored('text', 'one');
    const later = openDocument([encodeState(doc)]);
    const second = replaceValue(later, 'text', 'content', 'one two')!;
    Y.applyUpdate(later, second);
    const third = replaceValue(later, 'text', 'content', 'one two three')!;
    expect(faultIn(doc, 'text', second)).toMatch(/another document/);
    expect(faultIn(doc, 'text', third)).toMatch(/another document/);
  });
});

test('findUpdateFault accepts an update that arrives before the update that it depends on', () => {
  const doc = stored('text', 'a');
  const client = openDocument([encodeState(doc)]);
  const updates: Uint8Array[] = [];
  client.on('update', (update: Uint8Array) => updates.push(update));
  client.getText('content').insert(1, 'b');
  client.getText('content').insert(2, 'c');
  const [first, second] = updates as [Uint8Array, Uint8Array];
  expect(faultIn(doc, 'text', second)).toBeUndefined();
  const waiting = openDocument([encodeState(openDocument([encodeState(doc), second]))]);
  expect(readValue(waiting, 'text', 'content')).toBe('a');
  expect(readValue(openDocument([encodeState(waiting), first]), 'text', 'content')).toBe('abc');
});

describe('updateSince', () => {
  test('returns the changes that a client lacks', () => {
    const doc = stored('text', 'one');
    const client = openDocument([updateSince(doc)]);
    const more = openDocument([encodeState(doc), replaceValue(doc, 'text', 'content', 'one two')!]);
    const missing = updateSince(more, stateVectorOf(client));
    expect(missing.length).toBeLessThan(encodeState(more).length);
    Y.applyUpdate(client, missing);
    expect(readValue(client, 'text', 'content')).toBe('one two');
  });

  test.each([
    ['nothing', []],
    ['text', [104, 101]],
    ['bytes behind it', [0, 0]],
    ['half of a state vector', [1, 5]],
    ['a larger number than follows', [255, 255, 255, 255, 127]],
  ])('rejects bytes that are not a state vector: %s', (_what, bytes) => {
    expect(() => updateSince(stored('text', 'one'), new Uint8Array(bytes))).toThrow(MalformedUpdate);
  });
});
