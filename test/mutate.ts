import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installTool } from '../infra/tools/installTool.ts';

/** The part of Stryker that this command uses. Stryker's own types are not installed before the command runs. */
interface StrykerModule {
  readonly Stryker: new (options: object) => { runMutationTest(): Promise<readonly { readonly status: string }[]> };
}

/**
 * `npm run mutate -- lib/webhooks/rules` runs mutation tests of a folder or file. It makes many small changes to the
 * code, one at a time. It reports the changes that no unit test of the feature notices. A second argument names another
 * feature whose tests run.
 */
const [target, feature = /^lib\/(\w+)/.exec(target ?? '')?.[1]] = process.argv.slice(2);
if (target === undefined || feature === undefined) {
  console.error('Name a folder or file of rules, for example: npm run mutate -- lib/webhooks/rules');
  process.exit(2);
}

const entry = join(await installTool('stryker'), '@stryker-mutator/core/dist/src/index.js');
const { Stryker } = (await import(pathToFileURL(entry).href)) as StrykerModule;
const results = await new Stryker({
  mutate: statSync(target).isDirectory() ? globSync(`${target}/**/*.ts`) : [target],
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--no-warnings'],
  jest: {
    configFile: 'jest.config.mjs',
    config: { testMatch: [`<rootDir>/test/unit/${feature}/**/*.test.ts`] },
    enableFindRelatedTests: true,
  },
  // The tests run in their own Jest environment. It cannot record which test covers which change, so every change runs
  // all tests.
  coverageAnalysis: 'off',
  concurrency: 2,
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  tempDirName: 'dist/stryker',
  ignorePatterns: ['dist', 'cdk.out', '.local', 'coverage'],
}).runMutationTest();
const killed = results.filter(({ status }) => status === 'Killed' || status === 'Timeout').length;
console.log(`${target}: ${killed} of ${results.length} mutants killed`);
