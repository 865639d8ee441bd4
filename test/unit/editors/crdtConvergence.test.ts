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
import { readValue } from '../../../lib/editors/rules/yjs/readValue.ts';
import { findValueFault, replaceValue } from '../../../lib/editors/rules/yjs/replaceValue.ts';
import { findUpdateFault } from '../../../lib/editors/rules/yjs/updateFaults.ts';
import type { CrdtType, CrdtValue } from '../../../lib/editors/rules/yjs/values.ts';
import { times } from '../../support/times.ts';
import { edit, type Random, randomOf, roots } from '../../support/yjsEdits.ts';

const words = ['one', 'two', 'three', '😀', 'é', '\n'];
const phrase = (random: Random) => times(random(8), () => words[random(words.length)]).join(' ');

const json = (random: Random, depth = 0): unknown => {
  const kind = random(depth > 2 ? 3 : 5);
  if (kind === 3) return times(random(4), () => json(random, depth + 1));
  if (kind === 4) return Object.fromEntries(times(random(4), () => ['abcd'[random(4)], json(random, depth + 1)]));
  return [random(5), phrase(random), null][kind];
};

const xml = (random: Random, depth = 0): string =>
  times(random(4), () => {
    const tag = ['paragraph', 'heading', 'list'][random(3)];
    const marked = ['bold', 'italic', 'link'][random(3)];
    if (depth < 2 && random(3) === 0) return `<${tag}>${xml(random, depth + 1)}</${tag}>`;
    return `<${tag} level="${random(3)}">${phrase(random)}<${marked}>${phrase(random)}x</${marked}><br/></${tag}>`;
  }).join('');

/** The values that a caller of the API writes. */
const values: Readonly<Record<CrdtType, (random: Random) => CrdtValue>> = {
  text: phrase,
  map: (random) => Object.fromEntries(['a', 'b', 'c', 'd'].slice(random(3)).map((key) => [key, json(random)])),
  array: (random) => times(random(6), () => json(random)),
  xml,
};

/**
 * Simulates the store, three Yjs clients and callers that replace the value. In both directions, updates arrive late,
 * out of order and repeatedly. Clients also pull changes that they do not have. In the end, all updates have arrived
 * everywhere.
 */
function simulate(type: CrdtType, steps: readonly number[]): void {
  const random = randomOf(steps.reduce((mixed, step) => Math.imul(mixed ^ step, 0x01000193), steps.length));
  const log: Uint8Array[] = [];
  let snapshot: Uint8Array[] = [];
  let opened: Y.Doc | undefined;
  const stored = () => (opened ??= openDocument([...snapshot, ...log]));
  const editors = times(3, (index) => {
    const doc = new Y.Doc();
    doc.clientID = index + 1;
    const outbox: Uint8Array[] = [];
    doc.on('update', (update: Uint8Array, origin: unknown) => origin !== 'store' && outbox.push(update));
    return { doc, outbox, inbox: [] as Uint8Array[] };
  });
  const commit = (update: Uint8Array) => {
    log.push(update);
    opened = undefined;
    for (const { inbox } of editors) inbox.push(update);
  };
  const push = (update: Uint8Array) => {
    const doc = stored();
    expect(findUpdateFault(doc, type, 'content', update)).toBeUndefined();
    commit(withoutKnownChanges(doc, update));
  };
  for (const step of steps) {
    const editor = editors[(step + random(3)) % 3]!;
    const action = random(8);
    if (action < 3) editor.doc.transact(() => edit(roots[type](editor.doc), random));
    else if (action === 3 && editor.outbox.length > 0) {
      const [from, count] = [random(editor.outbox.length), 1 + random(3)];
      push(Y.mergeUpdates(editor.outbox.slice(from, from + count)));
      if (random(3) > 0) editor.outbox.splice(from, count);
    } else if (action === 4 && editor.inbox.length > 0)
      Y.applyUpdate(editor.doc, editor.inbox[random(editor.inbox.length)]!, 'store');
    else if (action === 5) {
      const target = values[type](random);
      expect(findValueFault(type, target)).toBeUndefined();
      const update = replaceValue(stored(), type, 'content', target);
      if (update) commit(update);
      expect(readValue(stored(), type, 'content')).toEqual(target);
    } else if (action === 6) Y.applyUpdate(editor.doc, updateSince(stored(), stateVectorOf(editor.doc)), 'store');
    else if (action === 7) {
      snapshot = [encodeState(stored())];
      log.length = 0;
      opened = undefined;
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
