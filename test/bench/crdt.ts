/**
 * Measures the data of collaborative editors: the size of updates and states, and the time to process the largest
 * ones.
 */
import * as Y from 'yjs';
import { encodeState, openDocument, stateVectorOf } from '../../lib/editors/rules/yjs/document.ts';
import { readValue } from '../../lib/editors/rules/yjs/readValue.ts';
import { replaceValue } from '../../lib/editors/rules/yjs/replaceValue.ts';
import type { CrdtType, CrdtValue } from '../../lib/editors/rules/yjs/values.ts';
import { numbers } from '../support/numbers.ts';
import { times } from '../support/times.ts';
import { printTable, quantile, ratio, reached } from './report.ts';

const SIZE = 100_000;
const random = numbers(20);
const words = times(2_000, () => times(2 + random(8), () => String.fromCharCode(97 + random(26))).join(''));

function prose(length: number): string {
  let text = '';
  while (text.length < length) text += words[random(words.length)]! + (random(12) ? ' ' : random(5) ? '. ' : '.\n');
  return text.slice(0, length);
}

function stored(type: CrdtType, value: CrdtValue): Y.Doc {
  return openDocument([replaceValue(openDocument([]), type, 'content', value)!]);
}

printTable(
  'Text replace: 100 KB with 10 edits, bytes of the update; goal: at most 1.1× of the edits as they were made',
  ['edits', 'ours', 'made', 'ratio', 'reached'],
  (
    [
      ['a character', 1, 1],
      ['a word', 8, 8],
      ['a sentence', 80, 80],
      ['a paragraph', 300, 300],
      ['a deleted sentence', 80, 0],
    ] as const
  ).map(([label, remove, insert]) => {
    const before = prose(SIZE);
    const edits = times(10, (edit) => ({ at: edit * 10_000 + random(9_000), remove, insert: prose(insert) }));
    const after = edits.reduceRight(
      (text, { at, insert: inserted }) => text.slice(0, at) + inserted + text.slice(at + remove),
      before,
    );
    const doc = stored('text', before);
    const ours = replaceValue(doc, 'text', 'content', after)!.length;
    const theirs = updateOf(doc, edits);
    return [label, ours, theirs, ratio(ours, theirs), reached(ours / theirs, 1.1)];
  }),
);

const letters = () => times(SIZE, () => String.fromCharCode(97 + random(26))).join('');
printTable(
  'Text replace: two unrelated texts of 100 KB, milliseconds; goal: less than 100',
  ['texts', 'first', 'median', 'linear pass', 'reached'],
  (
    [
      ['words', prose(SIZE), prose(SIZE)],
      ['letters', letters(), letters()],
      ['repetitive', 'a'.repeat(SIZE), 'ab'.repeat(SIZE / 2)],
      ['lines in another order', ...reordered()],
    ] as [string, string, string][]
  ).map(([label, before, after]) => {
    const doc = stored('text', before);
    const replaces = times(9, () => timed(() => replaceValue(doc, 'text', 'content', after)));
    const pass = timed(() => {
      let same = 0;
      for (let index = 0; index < SIZE; index++) if (before.charCodeAt(index) === after.charCodeAt(index)) same++;
      return same;
    });
    return [
      label,
      replaces[0]!.toFixed(1),
      quantile(replaces, 0.5).toFixed(1),
      pass.toFixed(2),
      reached(quantile(replaces, 0.5), 100),
    ];
  }),
);

printTable(
  'State after 1,000 replaces of one key each, bytes; goal: at most 1.5× of a fresh document',
  ['map', 'ours', 'fresh', 'ratio', 'state vector', 'reached'],
  (
    [
      ['1 key, a counter', 1, 1, 0],
      ['100 keys, always the same', 100, 1, 0],
      ['10 keys of 100 bytes, in turn', 10, 10, 80],
      ['100 keys, in turn', 100, 100, 0],
      ['100 keys of 100 bytes, in turn', 100, 100, 80],
      ['1,000 keys, in turn', 1_000, 1_000, 0],
    ] as const
  ).map(([label, keys, changed, extra]) => {
    const valueOf = (round: number) => (keys === 1 ? round : `value ${round} ${'x'.repeat(extra)}`);
    let value: Record<string, unknown> = Object.fromEntries(times(keys, (key) => [`key${key}`, valueOf(key)]));
    let doc = stored('map', value);
    for (let round = 0; round < 1_000; round++) {
      value = { ...value, [`key${round % changed}`]: valueOf(1_000 + round) };
      doc = openDocument([encodeState(doc), replaceValue(doc, 'map', 'content', value)!]);
    }
    const [ours, fresh] = [
      encodeState(doc).length,
      encodeState(stored('map', readValue(doc, 'map', 'content'))).length,
    ];
    return [label, ours, fresh, ratio(ours, fresh), stateVectorOf(doc).length, reached(ours / fresh, 1.5)];
  }),
);

function timed(work: () => unknown): number {
  const from = performance.now();
  work();
  return performance.now() - from;
}

function reordered(): [string, string] {
  const lines = prose(SIZE).split('\n');
  return [lines.join('\n'), lines.toReversed().join('\n')];
}

/** Returns the size of the update of a user who makes these edits, which are in ascending order of their places. */
function updateOf(doc: Y.Doc, edits: readonly { at: number; remove: number; insert: string }[]): number {
  const copy = openDocument([encodeState(doc)]);
  copy.clientID = [...copy.store.clients.keys()][0]!;
  const stateVector = Y.encodeStateVector(copy);
  copy.transact(() => {
    for (const { at, remove, insert } of edits.toReversed()) {
      copy.getText('content').delete(at, remove);
      copy.getText('content').insert(at, insert);
    }
  });
  return Y.encodeStateAsUpdate(copy, stateVector).length;
}
