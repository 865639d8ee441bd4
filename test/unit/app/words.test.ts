import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import ts from 'typescript';
import { projectDir } from '../../../infra/build/build.ts';

/**
 * Patterns of sentences that are hard to read. The test finds only some of them and does not replace a review.
 */
const forbiddenForms: readonly { readonly name: string; readonly pattern: RegExp; readonly bad: string }[] = [
  {
    name: 'old or poetic words',
    pattern: /\b(anew|beneath|therein|thereof|lest|whence|whither|perchance|henceforth|hitherto|whoever|whomever)\b/i,
    bad: 'the worker begins anew',
  },
  {
    name: '"to lie" of data',
    pattern: /\b(lies|lying|lain)\b/i,
    bad: 'the document lies in a folder',
  },
  {
    name: 'code that is told, hears or minds',
    pattern: /\b((is|are|was|were|be) told|tells? of|hears? of|minds|sees to|knows of)\b/i,
    bad: 'who is told that a thread was added',
  },
  {
    name: 'absence as "gone"',
    pattern: /\b(is|are|was|were) gone\b/i,
    bad: 'what is gone stays gone',
  },
  {
    name: 'idioms',
    pattern: /\b(by hand of|of old|is at it|are at it|comes? to nothing|brings? about|(?<!\/)gets? on)\b/i,
    bad: 'whoever is at it goes on',
  },
  {
    name: 'pronouns without a noun',
    pattern: /\b(that which|those whom|of which there is|counts? no more|what (it|they) (is|are) told)\b/i,
    bad: 'what the user was given counts no more',
  },
  {
    name: 'sections of pages outside the repository',
    pattern: /\b(spec|design|facts|deliveries) [A-Z]?\d+(\.\d+)*\b/,
    bad: 'as spec 4.18 asks',
  },
];

/** Patterns of names that have a better word in the glossary. `good` is a name that the pattern must accept. */
const forbiddenNames: readonly {
  readonly name: string;
  readonly pattern: RegExp;
  readonly bad: string;
  readonly good: string;
}[] = [
  {
    name: 'limits that begin with another word than MAX or MIN',
    pattern: /\b(MOST|LONGEST|LARGEST|LEAST|SMALLEST|FEWEST)_/,
    bad: 'MOST_USERS',
    good: 'MAX_USERS',
  },
  {
    name: 'metaphors for steps, states and records',
    pattern:
      /\b_?(settle[ds]?|ailing|happenings?|hinting|delivering|simulation|circumstances|gate|belongings|cleanup|unname|forget)\b|takenDown|takeDown|inTrouble/,
    bad: 'settle',
    good: 'allSettled',
  },
];

interface Text {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

interface Source {
  readonly file: string;
  readonly source: string;
}

const readable = new Set([
  ts.SyntaxKind.SingleLineCommentTrivia,
  ts.SyntaxKind.MultiLineCommentTrivia,
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
]);
const names = new Set([ts.SyntaxKind.Identifier, ts.SyntaxKind.PrivateIdentifier]);

/** Returns the comments and string literals of a TypeScript file, or its identifiers, or the lines of a page. */
function wordsOf({ file, source }: Source, kinds: ReadonlySet<ts.SyntaxKind>): Text[] {
  if (file.endsWith('.md'))
    return kinds === names ? [] : source.split('\n').map((text, index) => ({ file, line: index + 1, text }));
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, source);
  const words: Text[] = [];
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    if (!kinds.has(kind)) continue;
    const line = source.slice(0, scanner.getTokenStart()).split('\n').length;
    words.push({ file, line, text: scanner.getTokenText() });
  }
  return words;
}

const files = globSync(['{functions,lib,infra,test}/**/*.{ts,md}', 'README.md'], { cwd: projectDir }).filter(
  (file) => file !== 'test/unit/app/words.test.ts' && file !== 'functions/NOTICES.md',
);
const project = files.map((file) => ({ file, source: readFileSync(join(projectDir, file), 'utf8') }));

/** Reads the words only of files with the pattern anywhere, because this takes most of the time. */
const placesOf = (sources: readonly Source[], kinds: ReadonlySet<ts.SyntaxKind>, pattern: RegExp) =>
  sources
    .filter(({ source }) => pattern.test(source))
    .flatMap((source) => wordsOf(source, kinds))
    .filter(({ text }) => pattern.test(text))
    .map(({ file, line, text }) => `${file}:${line} ${text.slice(0, 80)}`);

test.each(forbiddenForms)('$name appear in no comment, string or page, and are recognised', ({ pattern, bad }) => {
  expect(placesOf(project, readable, pattern)).toEqual([]);
  const source = `// ${bad}\nconst text = '${bad}';`;
  expect(placesOf([{ file: 'bad.ts', source }], readable, pattern)).toHaveLength(2);
});

test.each(forbiddenNames)('$name appear in no identifier, and are recognised', ({ pattern, bad, good }) => {
  expect(placesOf(project, names, pattern)).toEqual([]);
  const source = `const ${bad} = ${good};`;
  expect(placesOf([{ file: 'bad.ts', source }], names, pattern)).toEqual([`bad.ts:1 ${bad}`]);
});

test('test titles begin with what they are about', () => {
  const loose = /\b(?:test|it|describe)(?:\.each\([^)]*\))?\(\s*['"`](or|and|whose|but|that|which|nor|so|yet)\b/g;
  const titles = project
    .filter(({ file }) => file.endsWith('.test.ts'))
    .flatMap(({ file, source }) => [...source.matchAll(loose)].map(([title]) => `${file}: ${title}`));
  expect(titles).toEqual([]);
});

test('a comment has at most six sentences without a line break', () => {
  const isLong = (comment: string) =>
    comment.split(/\n\s*\*?\s*\n|\n\s*\* ?-/).some((part) => (part.match(/[.!?](?=\s+[A-Z`])/g) ?? []).length > 5);
  const longComments = project
    .filter(({ file, source }) => file.endsWith('.ts') && source.match(/\/\*[^]*?\*\/|\/\/.*/g)?.some(isLong))
    .flatMap((source) => wordsOf(source, readable))
    .filter(({ text }) => /^\/[/*]/.test(text) && isLong(text));
  expect(longComments.map(({ file, line }) => `${file}:${line}`)).toEqual([]);
});
