import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build/build.ts';

// The type check is a test, so that the compiler runs in parallel with other tests.
test('`npm run check` finds no type errors', async () => {
  const { scripts } = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8')) as {
    scripts: { check: string };
  };
  const PATH = [join(projectDir, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  const check = spawn(scripts.check, {
    cwd: projectDir,
    env: { ...process.env, PATH },
    shell: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [findings, [code]] = await Promise.all([text(check.stdout), once(check, 'exit')]);
  expect([code, findings]).toEqual([0, '']);
});
