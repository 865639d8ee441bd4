import { type Budget, diff, type Edit, joined } from './diff.ts';

/** A change of a text, in UTF-16 units of the old one, as editors count. */
export interface TextEdit {
  readonly index: number;
  readonly remove: number;
  readonly insert: string;
}

/** Some 10 ms of search for the whole text, and for its parts: what is not found by then is replaced at once. */
const MOST_STEPS = 1_000_000;
const MOST_STEPS_IN_PARTS = 400_000;
/** What an edit of its own costs in an update, about: shorter islands between larger edits are written again. */
const EDIT_BYTES = 12;

/**
 * The changes that make one text of the other, in their order, small and never within a surrogate pair: characters compared when
 * they differ little, else words, and characters within what is left.
 */
export function textEdits(before: string, after: string): TextEdit[] {
  if (before === after) return [];
  const [a, b] = [charactersOf(before), charactersOf(after)];
  const edits = withoutIslands(characterEdits(a.codes, b.codes, before, after));
  return edits.map(({ at, removed, from, added }) => ({
    index: a.offset(at),
    remove: a.offset(at + removed) - a.offset(at),
    insert: after.slice(b.offset(from), b.offset(from + added)),
  }));
}

function characterEdits(a: Int32Array, b: Int32Array, before: string, after: string): Edit[] {
  const budget: Budget = { steps: MOST_STEPS_IN_PARTS };
  const first: Budget = { steps: MOST_STEPS };
  const whole = diff(a, b, first);
  if (first.steps > 0 && !whole.some(isLarge)) return whole;
  const [words, otherWords] = wordsOf(before, after);
  const edits = diff(words.codes, otherWords.codes, budget).map(({ at, removed, from, added }) => ({
    at: words.offset(at),
    removed: words.offset(at + removed) - words.offset(at),
    from: otherWords.offset(from),
    added: otherWords.offset(from + added) - otherWords.offset(from),
  }));
  // Islands first: two halves of a word with a blank between are found only together.
  return withoutIslands(edits).flatMap(({ at, removed, from, added }) =>
    diff(a.subarray(at, at + removed), b.subarray(from, from + added), budget).map((part) => ({
      ...part,
      at: part.at + at,
      from: part.from + from,
    })),
  );
}

/** Whether an edit is so large that it was not looked into. */
function isLarge({ removed, added }: Edit): boolean {
  return removed > 0 && added > 0 && removed + added > 100;
}

interface Sequence {
  readonly codes: Int32Array;
  /** Where the element with this index begins: a character in the text, a word among the characters. */
  readonly offset: (index: number) => number;
}

function charactersOf(text: string): Sequence {
  const codes = new Int32Array(text.length);
  if (!/[\uD800-\uDBFF]/.test(text)) {
    for (let at = 0; at < text.length; at++) codes[at] = text.charCodeAt(at);
    return { codes, offset: (index) => index };
  }
  const starts = new Int32Array(text.length + 1);
  let count = 0;
  for (let at = 0; at < text.length; count++) {
    const code = text.codePointAt(at)!;
    codes[count] = code;
    starts[count] = at;
    at += code > 0xffff ? 2 : 1;
  }
  starts[count] = text.length;
  return { codes: codes.subarray(0, count), offset: (index) => starts[index]! };
}

/** Both texts as words, blanks and single characters, equal ones under the same number. */
function wordsOf(...texts: readonly [string, string]): [Sequence, Sequence] {
  const numbers = new Map<string, number>();
  const split = (text: string): Sequence => {
    const words = text.match(/[\p{L}\p{N}_]+|\s+|[^]/gu) ?? [];
    const codes = new Int32Array(words.length);
    const starts = new Int32Array(words.length + 1);
    for (const [index, word] of words.entries()) {
      if (!numbers.has(word)) numbers.set(word, numbers.size);
      codes[index] = numbers.get(word)!;
      starts[index + 1] = starts[index]! + (/[\uD800-\uDBFF]/.test(word) ? [...word].length : word.length);
    }
    return { codes, offset: (index) => starts[index]! };
  };
  return [split(texts[0]), split(texts[1])];
}

/** Joins edits across few unchanged characters, when both are larger than what lies between: one edit is smaller than two. */
function withoutIslands(edits: readonly Edit[]): Edit[] {
  const result: Edit[] = [];
  for (const edit of edits) {
    let next = edit;
    for (let last = result.at(-1); last && isIsland(last, next); last = result.at(-1)) {
      result.pop();
      next = {
        at: last.at,
        removed: next.at + next.removed - last.at,
        from: last.from,
        added: next.from + next.added - last.from,
      };
    }
    result.push(next);
  }
  return joined(result);
}

function isIsland(left: Edit, right: Edit): boolean {
  const between = right.at - left.at - left.removed;
  return (
    between < EDIT_BYTES &&
    between <= Math.max(left.removed, left.added) &&
    between <= Math.max(right.removed, right.added)
  );
}
