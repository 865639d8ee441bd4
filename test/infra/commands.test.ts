import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { projectDir } from '../../infra/build/build.ts';

const { CDK_REQUIRE_APPROVAL: _, CDK_YES: __, ...env } = process.env;

test.each([
  ['simulate.ts --rps', /^Unknown option '--rps'[^]*Usage: npm run simulate/],
  ['checkDeploy.ts --nonsense', /^Unknown option '--nonsense'[^]*Usage: npm run check:deploy/],
  // It ends before it builds anything.
  ['cdk.ts deploy', /^A deployment asks before it changes permissions, but there is no terminal/],
])('infra/commands/%s ends with exit code 1, and says what to do', (command, says) => {
  const args = `infra/commands/${command}`.split(' ');
  expect(spawnSync(process.execPath, args, { cwd: projectDir, env, encoding: 'utf8' })).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(says),
  });
});
