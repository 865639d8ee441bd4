import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import * as Y from 'yjs';
import {
  encodeState,
  openDocument,
  stateVectorOf,
  updateSince,
  withoutKnownChanges,
} from '../../../lib/editors/rules/yjs/document.ts';
import { readText } from '../../../lib/editors/rules/yjs/plainText.ts';
import { readValue } from '../../../lib/editors/rules/yjs/readValue.ts';
import { findValueFault, replaceValue } from '../../../lib/editors/rules/yjs/replaceValue.ts';
import { findUpdateFault } from '../../../lib/editors/rules/yjs/updateFaults.ts';
import type { CrdtType, CrdtValue } from '../../../lib/editors/rules/yjs/values.ts';
import { times } from '../../support/times.ts';

type Random = (below: number) => number;

/** For each type of editor: how Yjs clients edit it, and which values a caller of the API writes. */
interface Behaviour {
  readonly edit: (doc: Y.Doc, random: Random) => void;
  readonly value: (random: Random) => CrdtValue;
}

const words = ['one', 'two', 'three', '😀', 'é', '\n'];
const phrase = (random: Random) => times(random(8), () => words[random(words.length)]).join(' ');

/**
 * Returns a random position between two characters. Yjs replaces a split surrogate pair by two U+FFFD, but not on all
 * clients at the same time.
 */
function positionIn(text: Y.Text, random: Random): number {
  const characters = readText(text as never);
  const position = random(characters.length + 1);
  return characters.slice(0, position).isWellFormed() ? position : position + 1;
}

function editText(text: Y.Text, random: Random): void {
  const [at, to] = [positionIn(text, random), positionIn(text, random)].sort((a, b) => a - b) as [number, number];
  if (random(3) > 0) text.insert(at, phrase(random));
  else text.delete(at, to - at);
}

const json = (random: Random, depth = 0): unknown => {
  const kind = random(depth > 2 ? 3 : 5);
  if (kind === 3) return times(random(4), () => json(random, depth + 1));
  if (kind === 4) return Object.fromEntries(times(random(4), () => ['abcd'[random(4)], json(random, depth + 1)]));
  return [random(5), phrase(random), null][kind];
};

function editJson(type: Y.Map<unknown> | Y.Array<unknown>, random: Random): void {
  const inner = [...(type instanceof Y.Map ? type.values() : type.toArray())].filter(
    (each) => each instanceof Y.Map || each instanceof Y.Array || each instanceof Y.Text,
  );
  const chosen = inner[random(inner.length + 1)];
  if (chosen instanceof Y.Text) {
    editText(chosen, random);
    return;
  }
  if (chosen) {
    editJson(chosen as Y.Map<unknown>, random);
    return;
  }
  const made = [
    random(9),
    { plain: [random(9)] },
    new Y.Map([['x', random(9)]]),
    Y.Array.from([1, 2]),
    new Y.Text('shared'),
  ][random(5)];
  if (type instanceof Y.Map) {
    if (random(4) === 0) type.delete('abcd'[random(4)]!);
    else type.set('abcd'[random(4)]!, made);
  } else if (random(3) === 0 && type.length > 0) type.delete(random(type.length), 1);
  else type.insert(random(type.length + 1), [made]);
}

const xml = (random: Random, depth = 0): string =>
  times(random(4), () => {
    const tag = ['paragraph', 'heading', 'list'][random(3)];
    const marked = ['bold', 'italic', 'link'][random(3)];
    if (depth < 2 && random(3) === 0) return `<${tag}>${xml(random, depth + 1)}</${tag}>`;
    return `<${tag} level="${random(3)}">${phrase(random)}<${marked}>${phrase(random)}x</${marked}><br/></${tag}>`;
  }).join('');

function editXml(fragment: Y.XmlFragment, random: Random): void {
  const inner = fragment.toArray();
  const chosen = inner[random(inner.length + 1)];
  if (chosen instanceof Y.XmlText && (random(2) > 0 || chosen.length === 0)) editText(chosen, random);
  else if (chosen instanceof Y.XmlText) {
    const [at, to] = [positionIn(chosen, random), positionIn(chosen, random)].sort((a, b) => a - b) as [number, number];
    chosen.format(at, to - at, { [['bold', 'italic'][random(2)]!]: random(2) > 0 ? {} : null });
  } else if (chosen instanceof Y.XmlElement) {
    if (random(3) === 0) chosen.setAttribute('level', String(random(3)));
    else editXml(chosen, random);
  } else if (random(3) === 0 && fragment.length > 0) fragment.delete(random(fragment.length), 1);
  else {
    const made = random(2) > 0 ? new Y.XmlElement('paragraph') : new Y.XmlText(phrase(random));
    fragment.insert(random(fragment.length + 1), [made]);
  }
}

const behaviours: Readonly<Record<CrdtType, Behaviour>> = {
  text: { edit: (doc, random) => editText(doc.getText('content'), random), value: phrase },
  map: {
    edit: (doc, random) => editJson(doc.getMap('content'), random),
    value: (random) => Object.fromEntries(['a', 'b', 'c', 'd'].slice(random(3)).map((key) => [key, json(random)])),
  },
  array: {
    edit: (doc, random) => editJson(doc.getArray('content'), random),
    value: (random) => times(random(6), () => json(random)),
  },
  xml: { edit: (doc, random) => editXml(doc.getXmlFragment('content'), random), value: (random) => xml(random) },
};

/**
 * Simulates the store, three Yjs clients and callers that replace the value. In both directions, updates arrive late,
 * out of order and repeatedly. Clients also pull changes that they do not have. In the end, all updates have arrived
 * everywhere.
 */
function simulate(type: CrdtType, steps: readonly number[]): void {
  let state = steps.length;
  const random: Random = (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return state % below;
  };
  const { edit, value } = behaviours[type];
  const log: Uint8Array[] = [];
  let snapshot: Uint8Array[] = [];
  const stored = () => openDocument([...snapshot, ...log]);
  const editors = times(3, (index) => {
    const doc = new Y.Doc();
    doc.clientID = index + 1;
    const outbox: Uint8Array[] = [];
    doc.on('update', (update: Uint8Array, origin: unknown) => origin !== 'store' && outbox.push(update));
    return { doc, outbox, inbox: [] as Uint8Array[] };
  });
  const commit = (update: Uint8Array) => {
    log.push(update);
    for (const { inbox } of editors) inbox.push(update);
  };
  const push = (update: Uint8Array) => {
    const doc = stored();
    expect(findUpdateFault(doc, type, 'content', update)).toBeUndefined();
    commit(withoutKnownChanges(doc, update));
  };
  for (const step of steps) {
    state ^= step;
    const editor = editors[random(3)]!;
    const action = random(8);
    if (action < 3) editor.doc.transact(() => edit(editor.doc, random));
    else if (action === 3 && editor.outbox.length > 0) {
      const [from, count] = [random(editor.outbox.length), 1 + random(3)];
      push(Y.mergeUpdates(editor.outbox.slice(from, from + count)));
      if (random(3) > 0) editor.outbox.splice(from, count);
    } else if (action === 4 && editor.inbox.length > 0)
      Y.applyUpdate(editor.doc, editor.inbox[random(editor.inbox.length)]!, 'store');
    else if (action === 5) {
      const target = value(random);
      expect(findValueFault(type, target)).toBeUndefined();
      const update = replaceValue(stored(), type, 'content', target);
      if (update) commit(update);
      expect(readValue(stored(), type, 'content')).toEqual(target);
    } else if (action === 6) Y.applyUpdate(editor.doc, updateSince(stored(), stateVectorOf(editor.doc)), 'store');
    else if (action === 7) {
      snapshot = [encodeState(stored())];
      log.length = 0;
    }
  }
  for (const { outbox } of editors) for (const update of outbox.toReversed()) push(update);
  const final = readValue(stored(), type, 'content');
  for (const { doc } of editors) {
    Y.applyUpdate(doc, updateSince(stored(), stateVectorOf(doc)), 'store');
    expect(readValue(doc, type, 'content')).toEqual(final);
    // Compares only state vectors, because the deletions may differ: each client removes redundant formatting itself.
    expect(Y.decodeStateVector(stateVectorOf(doc))).toEqual(Y.decodeStateVector(stateVectorOf(stored())));
  }
}

test.each(['text', 'map', 'array', 'xml'] as const)(
  'clients of a %s editor converge despite replaces, compaction and late, repeated or reordered updates',
  (type) => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 10, maxLength: 50 }), (steps) => simulate(type, steps)),
      { numRuns: 30 },
    );
  },
);
