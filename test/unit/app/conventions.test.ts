import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const projectDir = join(import.meta.dirname, '../../..');

interface Source {
  readonly file: string;
  readonly text: string;
}

interface Rule {
  readonly says: string;
  /** The files to which the rule applies. */
  readonly in: RegExp;
  readonly except?: RegExp;
  /** Returns the numbers of the lines that break the rule. */
  readonly broken: (source: Source) => number[];
  /**
   * An example that breaks the rule, with the numbers of the bad lines. A test checks that the rule finds exactly
   * these.
   */
  readonly bad: Source & { readonly at: readonly number[] };
}

/**
 * Returns a check that finds the lines that match a pattern. Comments are ignored, except if `where` is `everything`.
 */
function matching(pattern: RegExp, where: 'code' | 'everything' = 'code'): Rule['broken'] {
  const isComment = /^\s*(\/\/|\/\*|\*)/;
  return ({ text }) =>
    text.split('\n').flatMap((line, index) => {
      const code = isComment.test(line) ? '' : line.replace(/ \/\/ .*$/, '');
      return pattern.test(where === 'everything' ? line : code) ? [index + 1] : [];
    });
}

/**
 * Returns a check that finds imports of forbidden modules. For a file of the project, `forbidden` gets its path from
 * the root.
 */
function importing(forbidden: (module: string, line: string) => boolean): Rule['broken'] {
  return ({ file, text }) =>
    text.split('\n').flatMap((line, index) => {
      const specifier = /\b(?:from |import |import\()'([^']+)'/.exec(line)?.[1];
      if (specifier === undefined) return [];
      const module = specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : specifier;
      return forbidden(module, line) ? [index + 1] : [];
    });
}

const everywhere = /^/;

const rules: readonly Rule[] = [
  {
    says: 'zod is imported as a namespace, which makes a bundle 350 kB smaller',
    in: /\.ts$/,
    broken: importing((module, line) => module === 'zod' && !/\bimport (type )?\* as z /.test(line)),
    bad: { file: 'lib/bad.ts', text: "import { z } from 'zod';", at: [1] },
  },
  {
    says: 'the environment is read in one place per function, and passed on',
    in: /^(functions|lib)\//,
    except: /^(lib\/http\/(asset|lambda|page)|lib\/workers\/lambda|lib\/observability\/log|functions\/default)\.ts$/,
    broken: matching(/process\.env\b/),
    bad: { file: 'lib/comments/bad.ts', text: 'const table = process.env.TABLE_NAME;', at: [1] },
  },
  {
    says: 'clients are made at the first request, never at import',
    in: /^(functions|lib)\//,
    broken: matching(/^(export )?(const|let|var) .*\bnew \w*Client\(/),
    bad: { file: 'lib/comments/bad.ts', text: 'export const client = new DynamoDBClient({});', at: [1] },
  },
  {
    says: 'a module has no side effects, so package.json lets bundles leave out modules that they do not use',
    in: /^(functions|lib)\/.*\.ts$/,
    broken: matching(/^(import '|(await|for|if|try|while) |[a-z$_][\w$.]*(\(| [?|&+]*= ))/),
    bad: { file: 'lib/comments/bad.ts', text: "import './other.ts';\nregister(one);\nlist.push(one);", at: [1, 2, 3] },
  },
  {
    says: 'the domain gets the time and its ids as values',
    in: /^lib\/\w+\/rules(\.ts$|\/)/,
    broken: matching(
      /Date\.now|new Date\(\)|performance\.now|hrtime|Math\.random|randomUUID|randomBytes|getRandomValues/,
    ),
    bad: { file: 'lib/comments/rules/bad.ts', text: 'const at = Date.now();', at: [1] },
  },
  {
    says: 'the domain knows neither AWS nor HTTP',
    in: /^lib\/\w+\/rules(\.ts$|\/)/,
    broken: importing((module) =>
      /^(@aws-sdk\/|@smithy\/|@aws-lambda-powertools\/|@middy\/|aws-lambda$|lib\/http\/)/.test(module),
    ),
    bad: {
      file: 'lib/comments/rules/bad.ts',
      text: "import { Logger } from '@aws-lambda-powertools/logger';",
      at: [1],
    },
  },
  {
    says: 'no function imports another one, or the registry: it would carry them in its bundle',
    in: /^(functions|lib)\/.*\.ts$/,
    except: /^functions\/(index|pages|workers\/index)\.ts$/,
    broken: importing((module, line) => module.startsWith('functions/') && !line.startsWith('import type')),
    bad: {
      file: 'functions/v2/users/bad.ts',
      text: "import { endpoint } from './add.ts';\nimport * as registry from '../../index.ts';\nimport type * as types from '../../index.ts';",
      at: [1, 2],
    },
  },
  {
    says: 'middy is known to the shared stack alone',
    in: /^(functions|lib|infra)\//,
    except: /^lib\/http\/stack\.ts$/,
    broken: (source) =>
      importing(
        (module, line) =>
          module.startsWith('@middy/') &&
          !(source.file === 'lib/http/middlewares.ts' && line.startsWith('import type')),
      )(source),
    bad: {
      file: 'lib/http/middlewares.ts',
      text: "import type { MiddlewareObj } from '@middy/core';\nimport middy from '@middy/core';",
      at: [2],
    },
  },
  {
    says: 'the file of an endpoint or a worker has at most 100 lines',
    in: /^functions\/(v\d+|workers)\//,
    broken: ({ text }) => (text.trimEnd().split('\n').length > 100 ? [101] : []),
    bad: { file: 'functions/v2/users/bad.ts', text: 'x\n'.repeat(101), at: [101] },
  },
  {
    says: 'exports have names',
    in: /^(functions|lib|infra)\/.*\.ts$/,
    broken: matching(/^export default\b|\bas default\b/),
    bad: { file: 'lib/bad.ts', text: 'export default {};', at: [1] },
  },
  {
    says: 'nothing is of type any',
    in: /^(functions|lib)\/.*\.ts$/,
    broken: matching(/(?:[:<|&,(]|\bas|=>)\s*any\b/),
    bad: {
      file: 'lib/bad.ts',
      text: 'function f(a: any) {}\nconst b = a as any;\nlet c: Promise<any>;',
      at: [1, 2, 3],
    },
  },
  {
    says: 'what is left to do is done, or written where it is planned',
    in: everywhere,
    broken: matching(/\b(TODO|FIXME|XXX|HACK)\b/, 'everything'),
    bad: { file: 'lib/bad.ts', text: '// TODO: later', at: [1] },
  },
  {
    says: 'no path of one machine',
    in: everywhere,
    broken: matching(/(?<![\w.)\]}>-])\/(home|root|work|Users|mnt)\/[\w.-]/, 'everything'),
    bad: { file: 'README.md', text: 'Look into /home/ada/project.\nor "/Users/ada/project"', at: [1, 2] },
  },
  {
    says: 'no package registry',
    in: everywhere,
    broken: matching(
      /"resolved": "https?:|\b(registry|npm|artifactory|nexus|verdaccio)[\w.-]*\.(com|org|net|io|dev|internal|local|lan)\b/i,
      'everything',
    ),
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
function violations(rule: Rule, all: readonly Source[]): string[] {
  return all
    .filter(({ file }) => rule.in.test(file) && !rule.except?.test(file))
    .flatMap((source) => rule.broken(source).map((line) => `${source.file}:${line}`));
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
