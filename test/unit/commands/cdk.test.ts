import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { projectDir } from '../../../infra/build/build.ts';
import { missingApproval } from '../../../infra/commands/cdk.ts';

describe('missingApproval', () => {
  const session = { hasTerminal: false, environment: {}, config: { app: 'npx node infra/app.ts' } };

  test.each([[['deploy']], [['deploy', '--no-rollback', '-c', 'live=on']]])('refuses %j without a terminal', (args) => {
    expect(missingApproval(args, session)).toMatch(
      /there is no terminal[^]*npm run deploy -- --require-approval never$/,
    );
    expect(missingApproval(args, { ...session, hasTerminal: true })).toBeUndefined();
  });

  test.each([
    [['deploy', '--require-approval', 'never']],
    [['deploy', '--require-approval=never']],
    [['deploy', '--yes']],
    [['deploy', '-y']],
    [['deploy', '--help']],
    [['diff']],
    [['synth', '-q']],
    [[]],
  ])('accepts %j without a terminal', (args) => {
    expect(missingApproval(args, session)).toBeUndefined();
  });

  test('accepts a decision in the environment and in cdk.json', () => {
    const deploy = (decided: Partial<typeof session>) => missingApproval(['deploy'], { ...session, ...decided });
    expect(deploy({ environment: { CDK_REQUIRE_APPROVAL: 'never' } })).toBeUndefined();
    expect(deploy({ environment: { CDK_YES: 'true' } })).toBeUndefined();
    expect(
      deploy({ config: { ...session.config, requireApproval: 'never' } as typeof session.config }),
    ).toBeUndefined();
  });
});

test('`npm run deploy` without a terminal ends before it builds anything, and says how to deploy', async () => {
  const { CDK_REQUIRE_APPROVAL: _, CDK_YES: __, ...env } = process.env;
  const deploy = spawn(process.execPath, ['infra/commands/cdk.ts', 'deploy'], {
    cwd: projectDir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors, [code]] = await Promise.all([text(deploy.stdout), text(deploy.stderr), once(deploy, 'exit')]);
  expect([code, output]).toEqual([1, '']);
  expect(errors).toMatch(/^A deployment asks before it changes permissions, but there is no terminal/);
});
