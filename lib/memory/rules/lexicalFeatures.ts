/**
 * What the lexical embedding sees of a text: words, their stems, pieces of words, and pairs of neighbours, each with its weight. Endings,
 * compounds and slips of the pen are met by the pieces.
 */

/** Words that say nothing of what a text is about, in the languages that reviewers mostly write here; as they are after folding. */
const COMMON: ReadonlySet<string> = new Set([
  ...words(
    'a about after all also am an and any are as at be been before but by can could did do does for from had has have he her here his how i if in into is it its just may me more most my',
  ),
  ...words(
    'no not now of off on once only or other our out over own same she should so some such than that the their them then there these they this those through to too under until up us very was we',
  ),
  ...words('were what when where which while who whom why will with would you your'),
  ...words(
    'aber als am an auch auf aus bei bis das dass dem den der des die durch ein eine einem einen einer eines er es fur hat ich ihr im in ist kann mit nach nicht noch nur ob oder ohne sein sich sie sind',
  ),
  ...words('so uber um und uns unter vom von vor war was wenn wer wie wir wird zu zum zur'),
  ...words(
    'au aux avec ce ces dans de des du elle en est et il ils je la le les leur ne nous on ou par pas pour qu que qui sa se ses son sur un une vous',
  ),
  ...words('al como con del el en es esta este la las lo los no o para pero por que se si sin su sus un una y ya'),
]);

/** Weights beside that of a word, which is 1. */
const WEIGHT = { common: 0.1, short: 0.5, stem: 0.8, pieces: 0.9, pair: 0.5 } as const;

/** Pieces of a word have so many characters. */
const PIECES = [3, 4, 5] as const;

/** A longer word is not one, but a code or an address: its beginning has to do. */
const LONGEST_WORD = 64;

/** Scripts that write words without spaces between them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const RUNS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}]+|[\p{L}\p{N}\p{M}]+/gu;

/** English endings, the longest first, and what stands in their place. */
const ENDINGS: readonly (readonly [ending: string, instead: string])[] = [
  ['ations', 'at'],
  ['ation', 'at'],
  ['ities', ''],
  ['ness', ''],
  ['ings', ''],
  ['ment', ''],
  ['ies', 'y'],
  ['ing', ''],
  ['ity', ''],
  ['ers', ''],
  ['ed', ''],
  ['er', ''],
  ['es', ''],
  ['ly', ''],
  ['s', ''],
  ['e', ''],
];
const SHORTEST_STEM = 4;

/** The features of a text with their weights, each once. A text without letters and digits has its characters, and an empty one the feature of having none. */
export function features(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (feature: string) => void counts.set(feature, (counts.get(feature) ?? 0) + 1);
  let before: string | undefined;
  for (const run of folded(text).match(RUNS) ?? []) {
    const unspaced = UNSPACED.test(run);
    for (const word of unspaced ? neighbours(run) : [run.slice(0, LONGEST_WORD)]) {
      count(word);
      if (before !== undefined && !unspaced && !COMMON.has(word)) count(`${before} ${word}`);
      before = unspaced || COMMON.has(word) ? undefined : word;
    }
  }
  return counts.size > 0 ? weighted(counts) : charactersOf(text);
}

/** Weights from counts. A word that comes ten times does not say ten times as much. */
function weighted(counts: ReadonlyMap<string, number>): Map<string, number> {
  const weights = new Map<string, number>();
  const add = (feature: string, weight: number) => void weights.set(feature, (weights.get(feature) ?? 0) + weight);
  for (const [word, times] of counts) {
    const frequency = 1 + Math.log(times);
    if (word.includes(' ')) {
      add(`p:${word}`, frequency * WEIGHT.pair);
      continue;
    }
    const weight = frequency * weightOf(word);
    add(`w:${word}`, weight);
    if (UNSPACED.test(word)) continue;
    add(`s:${stemOf(word)}`, weight * WEIGHT.stem);
    const pieces = piecesOf(word);
    // All pieces together weigh as much whatever the word's length.
    for (const piece of pieces) add(`g:${piece}`, (weight * WEIGHT.pieces) / Math.sqrt(pieces.length));
  }
  return weights;
}

function weightOf(word: string): number {
  if (COMMON.has(word)) return WEIGHT.common;
  return word.length < 3 ? WEIGHT.short : 1;
}

/** Without capitals, accents and the forms in which the same character can be written. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ß', 'ss');
}

/** Characters and pairs of neighbours, where nothing says where words begin. */
function neighbours(run: string): string[] {
  const characters = [...run];
  return [...characters, ...characters.slice(1).map((character, index) => `${characters[index]}${character}`)];
}

function stemOf(word: string): string {
  const found = ENDINGS.find(([ending]) => word.endsWith(ending) && word.length - ending.length >= SHORTEST_STEM);
  return found ? `${word.slice(0, -found[0].length)}${found[1]}` : word;
}

/** Pieces of a word with marks at its ends: `<contract>`. */
function piecesOf(word: string): string[] {
  const marked = `<${word}>`;
  const pieces: string[] = [];
  for (const size of PIECES) {
    for (let start = 0; start + size <= marked.length; start++) pieces.push(marked.slice(start, start + size));
  }
  return pieces;
}

function charactersOf(text: string): Map<string, number> {
  const characters = [...text].filter((character) => character.trim() !== '');
  return new Map(characters.length > 0 ? characters.map((character) => [`c:${character}`, 1]) : [['empty', 1]]);
}

function words(text: string): string[] {
  return text.split(' ');
}
