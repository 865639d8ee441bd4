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
  'Text replace: 100 KB with 10 edits, bytes of the update; goal: at most 1.1× of an unbounded Myers diff',
  ['edits', 'ours', 'Myers', 'ratio', 'reached'],
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
    let after = before;
    for (let edit = 9; edit >= 0; edit--) {
      const position = edit * 10_000 + random(9_000);
      after = after.slice(0, position) + prose(insert) + after.slice(position + remove);
    }
    const doc = stored('text', before);
    const ours = replaceValue(doc, 'text', 'content', after)!.length;
    const theirs = myersUpdate(doc, before, after);
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

/**
 * Returns the size of the update that makes the fewest insertions and deletions of characters. Needs memory quadratic
 * in their number.
 */
function myersUpdate(doc: Y.Doc, before: string, after: string): number {
  const copy = openDocument([encodeState(doc)]);
  copy.clientID = [...copy.store.clients.keys()][0]!;
  const stateVector = Y.encodeStateVector(copy);
  copy.transact(() => {
    for (const { at, remove, insert } of shortestScript(before, after).reverse()) {
      copy.getText('content').delete(at, remove);
      copy.getText('content').insert(at, insert);
    }
  });
  return Y.encodeStateAsUpdate(copy, stateVector).length;
}

function shortestScript(a: string, b: string): { at: number; remove: number; insert: string }[] {
  const traces: Int32Array[] = [];
  let reach = new Int32Array([0, 0, 0]);
  const script: { at: number; remove: number; insert: string }[] = [];
  for (let d = 0; ; d++) {
    const next = new Int32Array(2 * d + 5);
    next.set(reach, 1);
    reach = next;
    const middle = d + 2;
    for (let k = -d; k <= d; k += 2) {
      let x =
        k === -d || (k !== d && reach[middle + k - 1]! < reach[middle + k + 1]!)
          ? reach[middle + k + 1]!
          : reach[middle + k - 1]! + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach[middle + k] = x;
      if (x < a.length || x - k < b.length) continue;
      for (let y = x - k; d > 0; d--) {
        const trace = traces[d - 1]!;
        const reached = (diagonal: number) => (Math.abs(diagonal) < d ? trace[diagonal + d + 1]! : -1);
        const diagonal: number = x - y;
        const isInsertion = diagonal === -d || (diagonal !== d && reached(diagonal - 1) < reached(diagonal + 1));
        x = reached(isInsertion ? diagonal + 1 : diagonal - 1);
        y = x - (isInsertion ? diagonal + 1 : diagonal - 1);
        const last = script.at(-1);
        const [remove, insert] = isInsertion ? [0, b[y]!] : [1, ''];
        if (last && last.at === x + remove)
          script[script.length - 1] = { at: x, remove: last.remove + remove, insert: insert + last.insert };
        else script.push({ at: x, remove, insert });
      }
      return script.reverse();
    }
    traces.push(reach.slice());
  }
}
