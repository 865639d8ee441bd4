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
    pattern: /^(MOST|LONGEST|LARGEST|LEAST|SMALLEST|FEWEST)_/,
    bad: 'MOST_USERS',
    good: 'MAX_USERS',
  },
  {
    name: 'metaphors for steps, states and records',
    pattern:
      /^[#_]?(settle[ds]?|ailing|happenings?|hinting|delivering|simulation|circumstances|gate|belongings|cleanup|unname|forget)$|takenDown|takeDown|inTrouble/,
    bad: 'settle',
    good: 'allSettled',
  },
];

interface Text {
  readonly file: string;
  readonly line: () => number;
  readonly text: string;
}

const readable = new Set([
  ts.SyntaxKind.SingleLineCommentTrivia,
  ts.SyntaxKind.MultiLineCommentTrivia,
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
]);
const names = new Set([ts.SyntaxKind.Identifier, ts.SyntaxKind.PrivateIdentifier]);

/** Returns the comments and string literals of a TypeScript file, and the first place of each identifier. */
function wordsOf(file: string, source: string): { texts: Text[]; identifiers: Text[] } {
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, source);
  const texts: Text[] = [];
  const identifiers = new Map<string, Text>();
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    const isName = names.has(kind);
    if (!isName && !readable.has(kind)) continue;
    const text = scanner.getTokenText();
    if (isName && identifiers.has(text)) continue;
    const start = scanner.getTokenStart();
    const word = { file, line: () => source.slice(0, start).split('\n').length, text };
    if (isName) identifiers.set(text, word);
    else texts.push(word);
  }
  return { texts, identifiers: [...identifiers.values()] };
}

const files = globSync(['{functions,lib,infra,test}/**/*.{ts,md}', 'README.md'], { cwd: projectDir }).filter(
  (file) => file !== 'test/unit/app/words.test.ts' && file !== 'functions/NOTICES.md',
);
const sources = files.map((file) => ({ file, source: readFileSync(join(projectDir, file), 'utf8') }));
const words = sources.map(({ file, source }) =>
  file.endsWith('.ts')
    ? wordsOf(file, source)
    : { texts: source.split('\n').map((text, index) => ({ file, line: () => index + 1, text })), identifiers: [] },
);
const project = words.flatMap(({ texts }) => texts);
const placesOf = (all: readonly Text[], pattern: RegExp) =>
  all.filter(({ text }) => pattern.test(text)).map(({ file, line, text }) => `${file}:${line()} ${text.slice(0, 80)}`);
const projectNames = words.flatMap(({ identifiers }) => identifiers);

test.each(forbiddenForms)('$name appear in no comment, string or page, and are recognised', ({ pattern, bad }) => {
  expect(placesOf(project, pattern)).toEqual([]);
  const example = wordsOf('bad.ts', `// ${bad}\nconst text = '${bad}';`);
  expect(placesOf(example.texts, pattern)).toHaveLength(2);
});

test.each(forbiddenNames)('$name appear in no identifier, and are recognised', ({ pattern, bad, good }) => {
  expect(placesOf(projectNames, pattern)).toEqual([]);
  expect(placesOf(wordsOf('bad.ts', `const ${bad} = ${good};`).identifiers, pattern)).toEqual([`bad.ts:1 ${bad}`]);
});

test('test titles begin with what they are about', () => {
  const loose = /\b(?:test|it|describe)(?:\.each\([^)]*\))?\(\s*['"`](or|and|whose|but|that|which|nor|so|yet)\b/g;
  const titles = sources
    .filter(({ file }) => file.endsWith('.test.ts'))
    .flatMap(({ file, source }) => [...source.matchAll(loose)].map(([title]) => `${file}: ${title}`));
  expect(titles).toEqual([]);
});

test('a comment has at most six sentences without a line break', () => {
  const longComments = project.filter(
    ({ file, text }) =>
      file.endsWith('.ts') &&
      /^\/[/*]/.test(text) &&
      text.split(/\n\s*\*?\s*\n|\n\s*\* ?-/).some((part) => (part.match(/[.!?](?=\s+[A-Z`])/g) ?? []).length > 5),
  );
  expect(longComments.map(({ file, line }) => `${file}:${line()}`)).toEqual([]);
});
