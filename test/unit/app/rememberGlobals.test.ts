import vm from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { rememberGlobals } from '../../support/rememberGlobals.ts';

describe('rememberGlobals', () => {
  const context = vm.createContext(vm.constants.DONT_CONTEXTIFY);
  const run = (code: string): unknown => vm.runInContext(code, context);
  run('globalThis.process = { env: { STAGE: "test" } }; globalThis.kept = 1');
  const restore = rememberGlobals(run('globalThis') as typeof globalThis);

  it.each([
    ['adds a global', 'globalThis.added = 1', '"added" in globalThis', false],
    ['adds a global without a value', 'globalThis.added = undefined', '"added" in globalThis', false],
    ['replaces a global', 'Date = class {}', 'typeof Date.UTC', 'function'],
    ['deletes a global', 'delete globalThis.kept', 'globalThis.kept', 1],
    ['replaces a function of an object', 'Math.random = () => 2', 'Math.random() < 1', true],
    ['turns a global into a getter', 'Object.defineProperty(globalThis, "kept", { get: () => 2 })', 'kept', 1],
    ['adds a method to a class', 'Array.prototype.added = () => 1', '[].added', undefined],
    ['sets an environment variable', 'process.env.STAGE = "other"', 'process.env.STAGE', 'test'],
    ['adds an environment variable', 'process.env.ADDED = "1"', 'process.env.ADDED', undefined],
    ['deletes an environment variable', 'delete process.env.STAGE', 'process.env.STAGE', 'test'],
    ['replaces the environment', 'process.env = {}', 'process.env.STAGE', 'test'],
  ])('restores what a test file changes if it %s', (_title, change, look, expected) => {
    run(change);
    expect(run(look)).not.toEqual(expected);
    restore();
    expect(run(look)).toEqual(expected);
  });
});
