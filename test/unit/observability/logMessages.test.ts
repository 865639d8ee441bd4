import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import * as logMessages from '../../../lib/observability/logMessages.ts';

const projectDir = join(import.meta.dirname, '../../..');
const code = globSync('{functions,lib}/**/*.ts', { cwd: projectDir })
  .map((file) => readFileSync(join(projectDir, file), 'utf8'))
  .join('\n');

test.each(Object.entries(logMessages))('%s is logged, and says what happened to which object', (name, message) => {
  expect(code).toContain(`logMessages.${name}`);
  expect(message).toMatch(/^[a-z]+(-[a-z]+)?( [a-z]+(-[a-z]+)?)+$/);
});

test('no two log messages are the same', () => {
  const messages = Object.values(logMessages);
  expect(new Set(messages).size).toBe(messages.length);
});
