import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const projectDir = join(import.meta.dirname, '../../..');

interface Source {
  readonly file: string;
  readonly text: string;
}

interface Rule {
  readonly says: string;
  /** Matches a line that breaks the rule. */
  readonly broken: RegExp;
  /**
   * An example that breaks the rule, with the numbers of the bad lines. A test checks that the rule finds exactly
   * these.
   */
  readonly bad: Source & { readonly at: readonly number[] };
}

const rules: readonly Rule[] = [
  {
    says: 'what is left to do is done, or written where it is planned',
    broken: /\b(TODO|FIXME|XXX|HACK)\b/,
    bad: { file: 'lib/bad.ts', text: '// TODO: later', at: [1] },
  },
  {
    says: 'no path of one machine',
    broken: /(?<![\w.)\]}>-])\/(home|root|work|Users|mnt)\/[\w.-]/,
    bad: { file: 'README.md', text: 'Look into /home/ada/project.\nor "/Users/ada/project"', at: [1, 2] },
  },
  {
    says: 'no package registry',
    broken:
      /"resolved": "https?:|\b(registry|npm|artifactory|nexus|verdaccio)[\w.-]*\.(com|org|net|io|dev|internal|local|lan)\b/i,
    bad: {
      file: 'package-lock.json',
      text: '"resolved": "https://registry.example.com/zod.tgz",\nnpm install --registry https://npm.example.io',
      at: [1, 2],
    },
  },
];

/** Returns the files of the project. This file is left out, because its examples break the rules. */
function sources(): Source[] {
  const files = [
    ...globSync('{functions,lib,infra,test}/**/*.{ts,mjs}', { cwd: projectDir }),
    ...globSync('{*.{json,md,mjs},.ci/*,.gitignore,{functions,lib,infra,test}/**/*.md}', { cwd: projectDir }),
  ];
  return files
    .filter((file) => file !== 'test/unit/app/conventions.test.ts')
    .map((file) => ({ file, text: readFileSync(join(projectDir, file), 'utf8') }));
}

/** Returns `file:line` of every line that breaks a rule. */
function violations({ broken }: Rule, all: readonly Source[]): string[] {
  return all.flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, index) => (broken.test(line) ? [`${file}:${index + 1}`] : [])),
  );
}

const project = sources();

describe.each(rules.map((rule) => [rule.says, rule] as const))('%s', (_says, rule) => {
  test('holds in the whole project', () => {
    expect(violations(rule, project)).toEqual([]);
  });

  test('reports a violation with its line', () => {
    expect(violations(rule, [rule.bad])).toEqual(rule.bad.at.map((line) => `${rule.bad.file}:${line}`));
  });
});

test('the rules check files of every part of the project', () => {
  const files = project.map(({ file }) => file);
  expect(files).toEqual(
    expect.arrayContaining([
      'functions/index.ts',
      'lib/app/endpoint.ts',
      'infra/stacks/backend.ts',
      'test/support/engine.ts',
      'package.json',
      'README.md',
    ]),
  );
});
