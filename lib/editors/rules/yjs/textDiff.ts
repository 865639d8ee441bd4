import { at, type Budget, diff, type Edit, mergeTouching } from './diff.ts';

/** Both numbers count UTF-16 units of the old text. */
export interface TextEdit {
  readonly index: number;
  readonly remove: number;
  readonly insert: string;
}

/** About 10 ms. After these steps, words are compared instead of the characters of whole texts. */
const MAX_STEPS = 1_000_000;
/** After these steps, each difference that the search has not reached becomes one edit. */
const MAX_STEPS_IN_PARTS = 400_000;
/**
 * About what an edit adds to an update. One edit over fewer unchanged characters than this is smaller than two edits.
 */
const EDIT_BYTES = 12;
const HIGH_SURROGATE = /[\uD800-\uDBFF]/;

/**
 * Edits ascend, and none splits a surrogate pair. If the texts differ little, characters are compared, otherwise words,
 * then the characters of the changed words.
 */
export function textEdits(before: string, after: string): TextEdit[] {
  if (before === after) return [];
  const [a, b] = [charactersOf(before), charactersOf(after)];
  const edits = mergeAcrossShortGaps(characterEdits(a.codes, b.codes, before, after));
  return edits.map(({ at: start, removed, from, added }) => ({
    index: a.offset(start),
    remove: a.offset(start + removed) - a.offset(start),
    insert: after.slice(b.offset(from), b.offset(from + added)),
  }));
}

function characterEdits(a: Int32Array, b: Int32Array, before: string, after: string): Edit[] {
  const wholeBudget: Budget = { steps: MAX_STEPS };
  const whole = diff(a, b, wholeBudget);
  if (wholeBudget.steps > 0 && !whole.some(isUnsearched)) return whole;
  const budget: Budget = { steps: MAX_STEPS_IN_PARTS };
  const numbers = new Map<string, number>();
  const [words, newWords] = [wordsOf(before, numbers), wordsOf(after, numbers)];
  const edits = diff(words.codes, newWords.codes, budget).map(({ at: start, removed, from, added }) => ({
    at: words.offset(start),
    removed: words.offset(start + removed) - words.offset(start),
    from: newWords.offset(from),
    added: newWords.offset(from + added) - newWords.offset(from),
  }));
  // An inserted blank can split one word into two. The characters of both parts are then compared with the word.
  return mergeAcrossShortGaps(edits).flatMap(({ at: start, removed, from, added }) =>
    diff(a.subarray(start, start + removed), b.subarray(from, from + added), budget).map((part) => ({
      ...part,
      at: part.at + start,
      from: part.from + from,
    })),
  );
}

/** The search probably ended before it reached such a large edit. */
function isUnsearched({ removed, added }: Edit): boolean {
  return removed > 0 && added > 0 && removed + added > 100;
}

interface Sequence {
  readonly codes: Int32Array;
  readonly offset: (index: number) => number;
}

function charactersOf(text: string): Sequence {
  const codes = new Int32Array(text.length);
  if (!HIGH_SURROGATE.test(text)) {
    for (let index = 0; index < text.length; index++) codes[index] = text.charCodeAt(index);
    return { codes, offset: (index) => index };
  }
  const starts = new Int32Array(text.length + 1);
  let count = 0;
  for (let start = 0; start < text.length; count++) {
    const code = text.codePointAt(start) ?? 0;
    codes[count] = code;
    starts[count] = start;
    start += code > 0xffff ? 2 : 1;
  }
  starts[count] = text.length;
  return { codes: codes.subarray(0, count), offset: (index) => at(starts, index) };
}

function wordsOf(text: string, numbers: Map<string, number>): Sequence {
  const words = text.match(/[\p{L}\p{N}_]+|\s+|[^]/gu) ?? [];
  const codes = new Int32Array(words.length);
  const starts = new Int32Array(words.length + 1);
  for (const [index, word] of words.entries()) {
    const number = numbers.get(word) ?? numbers.size;
    numbers.set(word, number);
    codes[index] = number;
    starts[index + 1] = at(starts, index) + (HIGH_SURROGATE.test(word) ? Array.from(word).length : word.length);
  }
  return { codes, offset: (index) => at(starts, index) };
}

/**
 * Merges edits over an unchanged gap that is short and no longer than either edit, because one edit then needs fewer
 * bytes.
 */
function mergeAcrossShortGaps(edits: readonly Edit[]): Edit[] {
  const merged: Edit[] = [];
  for (const edit of edits) {
    let next = edit;
    for (let last = merged.at(-1); last && isShortGap(last, next); last = merged.at(-1)) {
      merged.pop();
      next = {
        at: last.at,
        removed: next.at + next.removed - last.at,
        from: last.from,
        added: next.from + next.added - last.from,
      };
    }
    merged.push(next);
  }
  return mergeTouching(merged);
}

function isShortGap(left: Edit, right: Edit): boolean {
  const gap = right.at - left.at - left.removed;
  return gap < EDIT_BYTES && gap <= Math.max(left.removed, left.added) && gap <= Math.max(right.removed, right.added);
}
