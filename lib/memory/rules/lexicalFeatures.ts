/** Common words of English, German, French and Spanish, as `fold` returns them. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a about after all also am an and any are as at be been before but by can could did do does for from had has have he her here his how i if in into is it its just may me more most my',
    'no not now of off on once only or other our out over own same she should so some such than that the their them then there these they this those through to too under until up us very was we',
    'were what when where which while who whom why will with would you your',
    'aber als am an auch auf aus bei bis das dass dem den der des die durch ein eine einem einen einer eines er es fur hat ich ihr im in ist kann mit nach nicht noch nur ob oder ohne sein sich sie sind',
    'so uber um und uns unter vom von vor war was wenn wer wie wir wird zu zum zur',
    'au aux avec ce ces dans de des du elle en est et il ils je la le les leur ne nous on ou par pas pour qu que qui sa se ses son sur un une vous',
    'al como con del el en es esta este la las lo los no o para pero por que se si sin su sus un una y ya',
  ].flatMap((line) => line.split(' ')),
);

const WEIGHT = { stopWord: 0.1, short: 0.5, stem: 0.8, pieces: 0.9, pair: 0.5 } as const;

const PIECE_LENGTHS = [3, 4, 5] as const;

const MAX_WORD = 64;

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const RUNS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{M}]+|[\p{L}\p{N}\p{M}]+/gu;

const ENDINGS: readonly (readonly [ending: string, replacement: string])[] = [
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
const MIN_STEM = 4;

/**
 * Returns words, stems, pieces of words and pairs of neighbouring words with their weights. Through its pieces, a word
 * resembles its compounds and its forms with other endings or typos. Without letters and digits, the characters are the
 * features. An empty text has a feature of its own.
 */
export function features(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const count = (feature: string) => void counts.set(feature, (counts.get(feature) ?? 0) + 1);
  let before: string | undefined;
  for (const run of fold(text).match(RUNS) ?? []) {
    const unspaced = UNSPACED.test(run);
    for (const word of unspaced ? charactersAndPairs(run) : [run.slice(0, MAX_WORD)]) {
      count(word);
      if (before !== undefined && !unspaced && !STOP_WORDS.has(word)) count(`${before} ${word}`);
      before = unspaced || STOP_WORDS.has(word) ? undefined : word;
    }
  }
  return counts.size > 0 ? toWeights(counts) : charactersOf(text);
}

/** The weight grows with the logarithm of the count, so a repeated word does not dominate. */
function toWeights(counts: ReadonlyMap<string, number>): Map<string, number> {
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
    // Divided by the square root of their number, the pieces of each word have the same influence together, whatever
    // its length.
    for (const piece of pieces) add(`g:${piece}`, (weight * WEIGHT.pieces) / Math.sqrt(pieces.length));
  }
  return weights;
}

function weightOf(word: string): number {
  if (STOP_WORDS.has(word)) return WEIGHT.stopWord;
  return word.length < 3 ? WEIGHT.short : 1;
}

function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ß', 'ss');
}

function charactersAndPairs(run: string): string[] {
  const characters = Array.from(run);
  return [...characters, ...characters.slice(1).map((character, index) => `${characters[index]}${character}`)];
}

function stemOf(word: string): string {
  const [ending, replacement] = ENDINGS.find(([end]) => word.endsWith(end) && word.length - end.length >= MIN_STEM) ?? [
    '',
    '',
  ];
  return word.slice(0, word.length - ending.length) + replacement;
}

/** The ends are marked, as in `<contract>`, so that first and last pieces differ from inner ones. */
function piecesOf(word: string): string[] {
  const marked = `<${word}>`;
  const pieces: string[] = [];
  for (const size of PIECE_LENGTHS) {
    for (let start = 0; start + size <= marked.length; start++) pieces.push(marked.slice(start, start + size));
  }
  return pieces;
}

function charactersOf(text: string): Map<string, number> {
  const characters = Array.from(text).filter((character) => character.trim() !== '');
  return new Map(characters.length > 0 ? characters.map((character) => [`c:${character}`, 1]) : [['empty', 1]]);
}
